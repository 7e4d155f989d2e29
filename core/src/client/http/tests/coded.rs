//! Responses that are compressed.

use super::*;
use crate::fuzz::gzip;
use std::vec;

fn compressed(kind: &str) -> ResponseHead {
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", kind);
    head.headers.push("Content-Encoding", "gzip");
    head
}

fn called() -> (Peer, Pending<crate::client::ToolReply>, Sent) {
    let limits = Limits { decompressed: 1 << 20, message: 2 << 20, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let (pending, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(sent.header("accept-encoding"), Some("gzip, deflate"));
    (peer, pending, sent)
}

/// B40: a body is read whether it comes compressed or not, in whichever pieces.
#[test]
fn a_compressed_body_is_read() {
    for piece in [1, 7, 10_000] {
        let (mut peer, pending, sent) = called();
        let body = gzip(response(&sent, "{'content':[{'type':'text','text':'x'}]}").as_bytes());
        peer.head(&sent, compressed("application/json"));
        for bytes in body.chunks(piece) {
            peer.http.handle_body(peer.now, sent.exchange, bytes);
        }
        peer.end(&sent);
        assert_eq!(peer.take(&pending).unwrap().text(), "x");
        peer.is_empty();
    }
}

/// B40: what is decompressed is bounded, at the bound and one past it, and the call is not made again.
#[test]
fn what_a_body_comes_to_is_bounded() {
    for over in [0, 1] {
        let (mut peer, pending, sent) = called();
        let mut body = response(&sent, "{'content':[]}");
        body.push_str(&" ".repeat((1 << 20) + over - body.len()));
        let bytes = gzip(body.as_bytes());
        assert!(bytes.len() < 10_000, "a small body that is large");
        peer.head(&sent, compressed("application/json"));
        peer.http.handle_body(peer.now, sent.exchange, &bytes);
        if over == 0 {
            peer.end(&sent);
            assert!(peer.take(&pending).is_ok());
        } else {
            assert_eq!(peer.aborted(), [sent.exchange]);
            assert_eq!(peer.take(&pending).unwrap_err(), CallError::TooLarge { limit: 1 << 20 });
        }
        peer.none();
        peer.is_empty();
    }
}

/// What `count` bytes of blanks come to: one of them, then copies of it, 258 at a time, 13 bits each.
fn bomb(count: usize) -> Vec<u8> {
    let (mut out, mut bits, mut held) = (vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], 0_u32, 0);
    let mut put = |out: &mut Vec<u8>, code: u32, length: u32| {
        // Huffman codes are written from their first bit on, into bytes from the last bit on.
        for place in (0..length).rev() {
            bits |= (code >> place & 1) << held;
            held += 1;
            if held == 8 {
                out.push(bits as u8);
                (bits, held) = (0, 0);
            }
        }
    };
    // The last block, of fixed codes; its kind is a number and not a code.
    put(&mut out, 0b110, 3);
    put(&mut out, 0b0011_0000 + u32::from(b' '), 8);
    // Eight copies are thirteen bytes, which are the same again from the second time on.
    (0..16).for_each(|_| put(&mut out, 0b1100_0101 << 5, 13));
    let eight: Vec<u8> = out.split_off(out.len() - 13);
    (0..count / 258 / 8).for_each(|_| out.extend_from_slice(&eight));
    out
}

/// A body of 1 GiB in 7 MiB is given up in the first hundredth of it, by the default bounds, and nothing is kept.
#[test]
fn a_gibibyte_in_a_small_body_is_refused_early() {
    let body = bomb(1 << 30);
    let mut peer = Peer::modern();
    let (pending, sent) = peer.start(&CallTool::new("a"));
    peer.head(&sent, compressed("application/json"));
    let pieces = body.chunks(1 << 14);
    let all = pieces.len();
    let taken = pieces.take_while(|piece| {
        peer.http.handle_body(peer.now, sent.exchange, piece);
        peer.http.take(&pending).is_none_or(|outcome| {
            assert_eq!(outcome.map(drop), Err(CallError::TooLarge { limit: Limits::default().message }));
            false
        })
    });
    assert!(taken.count() <= all / 100);
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.is_empty();
}

/// Events are told as they come, and a stream may come to more than the bound, but not between two messages.
#[test]
fn a_compressed_stream_goes_on() {
    let (mut peer, pending, sent) = called();
    peer.head(&sent, compressed("text/event-stream"));
    let filler = |len: usize| format!(":{}\n", " ".repeat(len));
    let log = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n";
    for _ in 0..3 {
        let bytes = gzip([&filler(700_000), log].concat().as_bytes());
        peer.http.handle_body(peer.now, sent.exchange, &bytes);
        assert!(peer.events().iter().any(|event| matches!(event, Event::Log(..))), "at once");
    }
    peer.http.handle_body(peer.now, sent.exchange, &gzip(filler(1 << 20).as_bytes()));
    assert_eq!(peer.take(&pending).unwrap_err(), CallError::TooLarge { limit: 1 << 20 });
}

/// Damage, an end too early, and what follows the end are errors of this call.
#[test]
fn damage_fails_the_call() {
    let damages: [fn(&mut Vec<u8>); 4] = [
        |body| body.truncate(body.len() / 2),
        |body| body.push(7),
        |body| *body.last_mut().unwrap() ^= 1,
        |body| body[0] = b'{',
    ];
    for damage in damages {
        let (mut peer, pending, sent) = called();
        let mut body = gzip(response(&sent, "{'content':[]}").as_bytes());
        damage(&mut body);
        peer.head(&sent, compressed("application/json"));
        peer.http.handle_body(peer.now, sent.exchange, &body);
        peer.end(&sent);
        assert!(matches!(peer.take(&pending), Err(CallError::Invalid { .. } | CallError::Broken { .. })));
        peer.is_empty();
    }
}

/// B40: one coding that is known, and no other on top of it.
#[test]
fn other_codings_are_named() {
    for coding in ["br", "gzip, br", "br, gzip", "gzip, gzip"] {
        let (mut peer, pending, sent) = called();
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Content-Encoding", coding);
        peer.whole(&sent, head, "x");
        assert!(
            matches!(peer.take(&pending), Err(CallError::Invalid { reason }) if reason.contains("coding"))
        );
    }
}

/// B43: a refusal is what its status says, whatever its body is compressed with and comes to: it may be the reason to try
/// the transport of before.
#[test]
fn a_refusal_is_one_however_it_is_compressed() {
    let refusal = |status: u16, coding: &str| {
        let mut head = ResponseHead::new(status);
        head.headers.push("Content-Encoding", coding);
        head
    };
    for (coding, body) in
        [("br", b"??".to_vec()), ("gzip", b"no gzip".to_vec()), ("gzip", gzip(&[b' '; 1 << 21]))]
    {
        let (mut peer, pending, sent) = called();
        peer.head(&sent, refusal(500, coding));
        peer.http.handle_body(peer.now, sent.exchange, &body);
        peer.end(&sent);
        let error = peer.take(&pending).unwrap_err();
        assert!(error.to_string().contains("HTTP status 500"), "{coding}: {error}");
        peer.none();
        peer.is_empty();
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.head(&initialize, refusal(405, coding));
        peer.http.handle_body(peer.now, initialize.exchange, &body);
        peer.end(&initialize);
        assert_eq!(peer.one().method(), "GET", "{coding}");
    }
}
