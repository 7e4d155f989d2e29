//! Bodies of the fuzz targets: any bytes give a value or an error, never a panic, never more than the bounds.
//!
//! Not part of the API. Each takes arbitrary bytes and panics where a property does not hold.

use crate::wire::header_value;
#[cfg(feature = "gzip")]
use crate::wire::inflate;
use crate::wire::jsonrpc::{self, Incoming, Message};
use crate::wire::lines::{Line, Lines};
use crate::wire::sse::{self, SseItem};
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The bounds that the targets work with: small, so that short inputs pass them.
const DEPTH: usize = 16;
const LIMIT: usize = 32;
const ID_LIMIT: usize = 8;

/// Compressed bodies: however they are cut, the same comes out. What is taken is what the decoder behind it makes of the
/// whole, and what was compressed comes back.
#[cfg(feature = "gzip")]
pub fn fuzz_inflate(data: &[u8]) {
    use crate::wire::inflate::Coding;
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    use miniz_oxide::inflate::{decompress_to_vec, decompress_to_vec_zlib};

    let Some((&choice, bytes)) = data.split_first() else { return };
    let (piece, level) = (1 + usize::from(choice >> 4), choice & 7);
    for coding in [Coding::Gzip, Coding::Deflate] {
        let whole = inflate_pieces(coding, bytes, usize::MAX);
        assert_eq!(inflate_pieces(coding, bytes, piece), whole, "split every {piece}");
        // As a whole the decoder refuses references to before the beginning, where a stream has zeros; a checksum would
        // tell.
        if let (Coding::Deflate, Ok((plain, true))) = (coding, whole)
            && let [first, second, ..] = *bytes
        {
            let is_zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
            let theirs = if is_zlib { decompress_to_vec_zlib(bytes) } else { decompress_to_vec(bytes) };
            assert!(
                theirs.is_ok_and(|theirs| theirs == plain) || plain.contains(&0),
                "the decoder sees it so"
            );
        }
    }
    for (coding, coded) in [
        (Coding::Gzip, gzip(bytes)),
        (Coding::Deflate, compress_to_vec_zlib(bytes, level)),
        (Coding::Deflate, compress_to_vec(bytes, level)),
    ] {
        assert!(inflate_pieces(coding, &coded, piece).is_ok_and(|(plain, over)| over && plain == bytes));
        // Without its end it is not over.
        let cut = coded.len() * usize::from(choice) / 256;
        let begun = coded.get(..cut).unwrap_or_default();
        assert!(
            inflate_pieces(coding, begun, piece)
                .is_ok_and(|(plain, over)| { bytes.starts_with(&plain) && over == begun.is_empty() })
        );
    }
}

/// A body as a server compresses it.
#[cfg(feature = "gzip")]
pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = alloc::vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    out.extend(miniz_oxide::deflate::compress_to_vec(plain, 6));
    out.extend(inflate::crc(0, plain).to_le_bytes());
    out.extend((plain.len() as u32).to_le_bytes());
    out
}

/// What comes out of bytes that come in pieces, and whether it may end there.
#[cfg(feature = "gzip")]
pub(crate) fn inflate_pieces(
    coding: inflate::Coding,
    bytes: &[u8],
    piece: usize,
) -> Result<(Vec<u8>, bool), String> {
    let mut inflater = inflate::Inflater::new(coding);
    let mut out = Vec::new();
    for mut input in bytes.chunks(piece.max(1)) {
        let mut room = [0; 7];
        loop {
            let count = inflater.next(&mut input, &mut room)?;
            if count == 0 {
                break;
            }
            out.extend_from_slice(room.get(..count).unwrap_or_default());
        }
        assert!(input.is_empty(), "nothing comes out as long as something is left");
    }
    Ok((out, inflater.is_complete()))
}

/// Reading: never takes what serde_json does not, and what it takes comes back the same when written.
pub fn fuzz_jsonrpc(data: &[u8]) {
    match jsonrpc::read(data, DEPTH) {
        Ok(Incoming::Message(message)) => {
            assert_json(data);
            assert_round_trip(&message);
        }
        Ok(Incoming::Batch(batch)) => {
            assert_json(data);
            let len = batch.len();
            assert!(len > 0, "a batch has messages");
            assert_eq!(batch.inspect(|message| message.iter().for_each(assert_round_trip)).count(), len);
        }
        Err(malformed) => {
            // Refused as JSON: it is none, or it nests too deep.
            let is_json =
                serde_json::from_slice::<IgnoredAny>(data).is_ok() && core::str::from_utf8(data).is_ok();
            let brackets = data.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
            let refused = malformed.error.code == crate::error::code::PARSE;
            assert!(is_json != refused || (refused && brackets > DEPTH));
        }
    }
    if let Ok(text) = core::str::from_utf8(data) {
        fuzz_decode(text);
    }
}

fn assert_json(data: &[u8]) {
    assert!(serde_json::from_slice::<IgnoredAny>(data).is_ok(), "only JSON is taken");
}

fn assert_round_trip(message: &Message<'_>) {
    let mut out = Vec::new();
    match message {
        Message::Request(call) => {
            jsonrpc::write_request(&mut out, &call.id, &call.method, call.params).unwrap_or_else(unreachable)
        }
        Message::Notification(call) => {
            jsonrpc::write_notification(&mut out, &call.method, call.params).unwrap_or_else(unreachable)
        }
        Message::Response(response) => match (&response.id, &response.outcome) {
            // Our writer takes objects only.
            (Some(id), Ok(result)) if result.get().starts_with('{') => {
                jsonrpc::write_result(&mut out, id, result).unwrap_or_else(unreachable)
            }
            (id, Err(error)) => jsonrpc::write_error(&mut out, id.as_ref(), error),
            _ => return,
        },
    }
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "a message is one line");
    let Ok(Incoming::Message(again)) = jsonrpc::read(&out, DEPTH) else { panic!("what was written is read") };
    assert_eq!(summary(message), summary(&again));
}

/// What identifies a message, its JSON compacted.
fn summary(message: &Message<'_>) -> (Option<String>, String, Vec<u8>) {
    let text = |id: &jsonrpc::RequestId| alloc::format!("{id}");
    let json = |raw: Option<&RawValue>| {
        let mut out = Vec::new();
        jsonrpc::compact(&mut out, raw.map_or("", RawValue::get));
        out
    };
    match message {
        Message::Request(call) => (Some(text(&call.id)), call.method.clone().into(), json(call.params)),
        Message::Notification(call) => (None, call.method.clone().into(), json(call.params)),
        Message::Response(response) => {
            let (word, json) = match &response.outcome {
                Ok(result) => (String::new(), json(Some(result))),
                Err(error) => (alloc::format!("{error}"), json(error.data.as_deref())),
            };
            (response.id.as_ref().map(text), word, json)
        }
    }
}

fn unreachable(error: crate::error::ApiMisuse) {
    panic!("what was read can be written: {error}");
}

/// Decoding a type: agrees with serde_json, but that an object is no array; its errors are short.
fn fuzz_decode(text: &str) {
    #[derive(serde::Deserialize)]
    #[allow(dead_code)]
    struct Params<'a> {
        id: jsonrpc::RequestId,
        #[serde(borrow)]
        raw: Option<&'a RawValue>,
        list: Option<Vec<(f64, Option<bool>)>>,
        map: Option<alloc::collections::BTreeMap<String, i8>>,
        text: Option<String>,
        any: Option<serde_json::Value>,
    }
    let theirs = serde_json::from_str::<Params<'_>>(text);
    match jsonrpc::decode_at::<Params<'_>>(text, "params") {
        Ok(ours) => {
            let Ok(theirs) = theirs else { panic!("only what serde_json takes is taken") };
            let raw = |params: &Params<'_>| params.raw.map(|raw| String::from(raw.get()));
            assert_eq!((&ours.id, &ours.map, &ours.text), (&theirs.id, &theirs.map, &theirs.text));
            assert_eq!(raw(&ours), raw(&theirs));
        }
        Err(error) => {
            assert!(theirs.is_err() || text.trim_start().starts_with('['));
            assert!(error.message.len() < 8192, "what is told is bounded");
        }
    }
}

/// Lines: the same however the input is cut, never longer than the limit.
pub fn fuzz_lines(data: &[u8]) {
    let (cuts, input) = data.split_at(data.len().min(4));
    let whole = lines([input]);
    assert_eq!(whole, lines(pieces(cuts, input)));
    assert_eq!(whole, lines(input.chunks(1)));
    for line in whole.iter().flatten() {
        assert!(line.len() <= LIMIT && !line.contains(&b'\n') && !is_blank(line));
    }
}

fn lines<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Option<Vec<u8>>> {
    let own = |line: Line<'_>| match line {
        Line::Line(line) => Some(line.to_vec()),
        Line::TooLong { .. } => None,
    };
    let mut decoder = Lines::new(LIMIT);
    let mut seen = Vec::new();
    for mut piece in pieces {
        while let Some(line) = decoder.next(&mut piece) {
            seen.push(own(line));
        }
    }
    seen.extend(decoder.end().map(own));
    seen
}

/// Event streams: the same however the input is cut, never longer than the limits, and every event comes
/// back the same when written.
pub fn fuzz_sse(data: &[u8]) {
    let (cuts, input) = data.split_at(data.len().min(4));
    let whole = events([input]);
    assert_eq!(whole, events(pieces(cuts, input)));
    assert_eq!(whole, events(input.chunks(1)));
    for event in whole.0 {
        let Item::Event(name, data, id) = event else { continue };
        assert!(data.len() <= LIMIT && !is_blank(data.as_bytes()));
        assert!(id.as_ref().is_none_or(|id| id.len() <= ID_LIMIT));
        let mut out = Vec::new();
        // A leading space in the type would be taken for the optional one, but one more is written.
        sse::write_event(&mut out, Some(&name), id.as_deref(), data.as_bytes());
        // The name and id of an event hold no line end; NUL is the one byte that cannot be written.
        if !name.contains('\0') {
            assert_eq!(events([&out[..]]).0, [Item::Event(name, data, id)]);
        }
    }
}

#[derive(Debug, PartialEq)]
enum Item {
    Event(String, String, Option<String>),
    Retry(core::time::Duration),
    Comment,
    TooLong,
    Invalid,
}

fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Item>, Option<String>) {
    let mut decoder = sse::Decoder::new(LIMIT, ID_LIMIT);
    let mut seen = Vec::new();
    for mut piece in pieces {
        while let Some(item) = decoder.next(&mut piece) {
            seen.push(match item {
                SseItem::Event { event, data, id } => {
                    Item::Event(event.into(), data.into(), id.map(Into::into))
                }
                SseItem::Retry(delay) => Item::Retry(delay),
                SseItem::Comment => Item::Comment,
                SseItem::TooLong { .. } => Item::TooLong,
                SseItem::Invalid => Item::Invalid,
            });
        }
    }
    (seen, decoder.last_event_id().map(Into::into))
}

/// Header values: what is encoded decodes to itself and is legal in a header.
pub fn fuzz_header_value(data: &[u8]) {
    let _ = header_value::decode(data);
    if let Ok(text) = core::str::from_utf8(data) {
        let value = header_value::encode(text);
        assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        assert_eq!(header_value::decode(value.as_bytes()).as_deref(), Ok(text));
    }
}

/// Nothing but JSON whitespace, to which form feed does not belong.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| b" \t\n\r".contains(byte))
}

/// Cuts the input into pieces whose lengths the first bytes choose.
fn pieces<'a>(cuts: &'a [u8], mut input: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut lengths = cuts.iter().cycle();
    core::iter::from_fn(move || {
        if input.is_empty() {
            return None;
        }
        let length = lengths.next().map_or(input.len(), |length| usize::from(length % 16) + 1);
        let (piece, rest) = input.split_at(length.min(input.len()));
        input = rest;
        Some(piece)
    })
}

#[cfg(test)]
mod tests;
