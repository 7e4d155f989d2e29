//! Chunked and counted bodies: bounds, terminators, and every split.

use super::*;
use crate::wire::http1::buffer::Buffer;
use crate::wire::http1::head::Framing;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The body, and how much of the input was used, if the body is complete.
type Outcome = Result<(Vec<u8>, Option<usize>), u16>;

fn chunked(pieces: &[&[u8]], spare: usize, fields: usize) -> Outcome {
    let mut decoder = Decoder::new(Framing::Chunked, spare, fields).unwrap();
    let (mut body, mut total) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let piece = decoder.decode(rest).map_err(|fault| fault.status)?;
            assert!(piece.used > 0, "no progress");
            body.extend_from_slice(piece.data);
            total += piece.used;
            rest = &rest[piece.used..];
            if piece.done {
                return Ok((body, Some(total)));
            }
        }
    }
    Ok((body, None))
}

fn whole(input: &str) -> Outcome {
    chunked(&[input.as_bytes()], 100, 4)
}

#[test]
fn chunked_bodies_are_the_same_however_they_are_split() {
    let vectors = [
        "5\r\nhello\r\n0\r\n\r\n",
        "5;a=b;c=\"d\"\r\nhello\r\n1\r\n!\r\n000\r\nX: y\r\nZ:\r\n\r\nGET /",
        "a\r\n0123456789\r\n0\r\n\r\n0\r\n\r\n",
        "5\r\nhelloX\n",
        "5\r\nhel",
        "0\r\nX\r\n\r\n",
    ];
    for vector in vectors {
        let bytes = vector.as_bytes();
        let expected = whole(vector);
        let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(chunked(&bytewise, 100, 4), expected, "{vector:?}");
        for at in 0..bytes.len() {
            let (one, other) = bytes.split_at(at);
            assert_eq!(chunked(&[one, other], 100, 4), expected, "{vector:?} at {at}");
        }
    }
    assert_eq!(whole(vectors[1]), Ok((b"hello!".to_vec(), Some(vectors[1].len() - 5))));
}

#[test]
fn no_prefix_of_a_chunked_body_is_complete() {
    let vector = "5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n";
    for at in 0..vector.len() {
        assert!(matches!(whole(&vector[..at]), Ok((_, None))), "{at}");
    }
    assert!(matches!(whole(vector), Ok((_, Some(_)))));
}

#[test]
fn terminators_are_matched_and_not_skipped() {
    let broken = [
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "5\r\nhello\r\r0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\n\r\n",
        "5\r\nhello\r\n0\r\nX: y\n\r\n",
        "5;a\nb\r\nhello\r\n",
        "5;a\rb\r\nhello\r\n",
        "5 \r\nhello\r\n",
        " 5\r\nhello\r\n",
        "0x5\r\nhello\r\n",
        "-5\r\nhello\r\n",
        "\r\nhello\r\n",
        ";a\r\n",
        "g\r\n",
        "0\r\n: y\r\n\r\n",
        "0\r\n X: y\r\n\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\nX: \0\r\n\r\n",
        "10000000000000000\r\n",
        "00000000000000001\r\n",
    ];
    for vector in broken {
        assert_eq!(whole(vector), Err(400), "{vector:?}");
    }
    assert_eq!(whole("ffffffffffffffff\r\nx"), Ok((b"x".to_vec(), None)));
}

#[test]
fn extensions_and_trailers_share_one_bound_over_the_whole_body() {
    let body = |n: usize| format!("1;{}\r\na\r\n1;{}\r\nb\r\n0\r\nX:{}\r\n\r\n", "e", "f", "g".repeat(n));
    // `;e`, `;f`, `X:` are six bytes.
    assert!(chunked(&[body(10).as_bytes()], 16, 1).unwrap().1.is_some());
    assert_eq!(chunked(&[body(11).as_bytes()], 16, 1), Err(431));
    let fields: String = (0..4).map(|i| format!("X{i}: y\r\n")).collect();
    assert!(whole(&format!("0\r\n{fields}\r\n")).unwrap().1.is_some());
    assert_eq!(whole(&format!("0\r\n{fields}Z: y\r\n\r\n")), Err(431));
}

#[test]
fn a_counted_body_ends_with_its_last_byte() {
    let mut decoder = Decoder::new(Framing::Length(5), 9, 9).unwrap();
    let piece = decoder.decode(b"hel").unwrap();
    assert_eq!((piece.used, piece.data, piece.done), (3, &b"hel"[..], false));
    let piece = decoder.decode(b"loGET").unwrap();
    assert_eq!((piece.used, piece.data, piece.done), (2, &b"lo"[..], true));
    assert!(Decoder::new(Framing::Length(0), 9, 9).is_none());
}

#[test]
fn chunks_are_written_so_that_they_can_be_read() {
    for size in [1, 9, 10, 15, 16, 17, 255, 256, 4_095, 4_096, 65_536] {
        let data: Vec<u8> = (0..size).map(|i| i as u8).collect();
        let mut out = Buffer::default();
        let mut encoder = Encoder::Chunked;
        encoder.send(b"", &mut out);
        encoder.send(&data, &mut out);
        assert!(encoder.finish(&mut out));
        let read = chunked(&[out.as_slice()], 0, 0).unwrap();
        assert_eq!(read, (data, Some(out.len())));
    }
}

#[test]
fn a_counted_body_is_cut_at_its_length_and_incomplete_before() {
    let mut out = Buffer::default();
    let mut encoder = Encoder::Length(3);
    encoder.send(b"ab", &mut out);
    assert!(!encoder.finish(&mut out));
    encoder.send(b"cd", &mut out);
    assert!(encoder.finish(&mut out));
    assert_eq!(out.as_slice(), b"abc");
}
