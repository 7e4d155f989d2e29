use super::*;
use crate::wire::sse::{write_comment, write_event, write_retry};
use alloc::format;
use std::string::ToString;
use std::vec;

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Event(String, String, Option<String>),
    Retry(u64),
    Comment,
    TooLong,
    Invalid,
}

fn own(item: SseItem<'_>) -> Seen {
    match item {
        SseItem::Event { event, data, id } => Seen::Event(event.into(), data.into(), id.map(Into::into)),
        SseItem::Retry(delay) => Seen::Retry(u64::try_from(delay.as_millis()).unwrap()),
        SseItem::Comment => Seen::Comment,
        SseItem::TooLong { .. } => Seen::TooLong,
        SseItem::Invalid => Seen::Invalid,
    }
}

fn event(event: &str, data: &str, id: &str) -> Seen {
    Seen::Event(event.into(), data.into(), Some(id).filter(|id| !id.is_empty()).map(Into::into))
}

fn message(data: &str) -> Seen {
    event("message", data, "")
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> (Vec<Seen>, Option<String>) {
    let mut decoder = Decoder::new(limit, 8);
    let mut seen = Vec::new();
    for mut piece in pieces {
        while let Some(item) = decoder.next(&mut piece) {
            seen.push(own(item));
        }
        assert!(piece.is_empty(), "`None` means that the input was used up");
        assert!(decoder.data.len() <= limit);
    }
    (seen, decoder.last_event_id().map(Into::into))
}

/// Whole, byte by byte, at each split point, and with an unfinished event behind it: always the same.
#[track_caller]
fn reads_within(limit: usize, input: impl AsRef<[u8]>, expected: &[Seen], last_id: &str) {
    let input = input.as_ref();
    let expected = (expected.to_vec(), Some(last_id).filter(|id| !id.is_empty()).map(Into::into));
    assert_eq!(read([input], limit), expected, "whole");
    assert_eq!(read(input.chunks(1), limit), expected, "byte by byte");
    for at in 0..=input.len() {
        let (left, right) = input.split_at(at);
        assert_eq!(read([left, right], limit), expected, "split at {at}");
    }
    if input.ends_with(b"\n\n") {
        let trailing = [input, b"id: no\ndata: x\n"].concat();
        assert_eq!(read([&trailing[..]], limit), expected, "an unfinished event behind it");
    }
}

#[track_caller]
fn reads(input: impl AsRef<[u8]>, expected: &[Seen]) {
    reads_within(1000, input, expected, "");
}

/// B47, SSE-07: several data lines, one without a colon, unknown fields.
#[test]
fn data_lines_are_joined() {
    reads(
        "foo: 1\ndata:{\"id\":1,\ndata\ndata: \"result\":{}}\n\n",
        &[message("{\"id\":1,\n\n\"result\":{}}")],
    );
}

/// SSE-07: one space after the colon is not part of the value.
#[test]
fn one_space_is_optional() {
    reads("data:a\n\ndata: b\n\ndata:  c\n\n", &[message("a"), message("b"), message(" c")]);
}

/// SSE-07: LF, CR and CRLF end lines, also mixed.
#[test]
fn all_line_ends_count() {
    for end in ["\n", "\r", "\r\n"] {
        let input = format!("event: x{end}data: a{end}data: b{end}{end}data: c{end}{end}");
        reads(input, &[event("x", "a\nb", ""), message("c")]);
    }
    reads("data: a\r\ndata: b\n\r\ndata: c\r\n\rdata: d\n\n", &[message("a\nb"), message("c"), message("d")]);
}

/// An event ended by CR does not wait for the LF that may follow.
#[test]
fn carriage_return_ends_an_event_at_once() {
    let mut decoder = Decoder::new(100, 8);
    let mut input: &[u8] = b"data: a\r\r";
    assert!(matches!(decoder.next(&mut input), Some(SseItem::Event { data: "a", .. })));
}

/// A byte order mark at the very start is skipped, elsewhere it is part of a field name.
#[test]
fn byte_order_mark_is_skipped_at_the_start_only() {
    reads("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[message("a")]);
    reads("\u{feff}\u{feff}data: b\n\ndata: c\n\n", &[message("c")]);
    reads(b"\xEF\xBBdata: b\n\ndata: c\n\n", &[message("c")]);
}

/// SSE-03: a comment is the sign of life it is meant as, wherever it stands.
#[test]
fn comments_are_no_events() {
    reads(": keep-alive\n\n:\n\n", &[Seen::Comment, Seen::Comment]);
    reads("data: a\n:x\ndata: b\n\n", &[Seen::Comment, message("a\nb")]);
}

/// B48, SSE-05: an event without data, or with empty data, is not dispatched, and its id counts.
#[test]
fn priming_events_set_the_last_id_only() {
    let input = ": keep-alive\n\nid: p1\ndata:\n\nid: p2\n\n";
    reads_within(1000, input, &[Seen::Comment], "p2");
    reads_within(1000, "id: p1\ndata:\n\ndata: {}\n\n", &[event("message", "{}", "p1")], "p1");
    reads_within(1000, "id: p1\ndata\ndata: \n\n", &[], "p1");
}

/// An event without data leaves no event type behind.
#[test]
fn event_type_belongs_to_one_event() {
    reads(
        "event: x\n\ndata: a\n\nevent: y\ndata: b\n\ndata: c\n\n",
        &[message("a"), event("y", "b", ""), message("c")],
    );
    reads(
        "event: x\nevent: y\ndata: a\n\nevent: x\nevent\ndata: a\n\n",
        &[event("y", "a", ""), message("a")],
    );
}

/// The id stays in force until another one comes; an empty one takes it back.
#[test]
fn id_persists() {
    let input = "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n";
    reads_within(1000, input, &[event("message", "a", "1"), event("message", "b", "1"), message("c")], "");
}

/// An id that is too long, not printable ASCII, or holds NUL is ignored; the limit itself is not too long.
#[test]
fn bad_ids_are_ignored() {
    for bad in ["123456789", "a\0b", "é", "a\tb", "a\u{7f}"] {
        reads_within(1000, format!("id: ok\n\nid: {bad}\ndata: a\n\n"), &[event("message", "a", "ok")], "ok");
    }
    reads_within(1000, "id: 12345678\ndata: a\n\n", &[event("message", "a", "12345678")], "12345678");
    let long = "x".repeat(10_000);
    reads_within(1000, format!("id: {long}\ndata: a\n\n"), &[message("a")], "");
}

/// B50, SSE-08: digits only, no overflow, with or without data.
#[test]
fn retry_is_digits_only() {
    reads("retry: 250\n\n", &[Seen::Retry(250)]);
    reads("retry: 0\n\nretry:007\n\n", &[Seen::Retry(0), Seen::Retry(7)]);
    reads("retry: 12x\nretry\nretry: \nretry: -1\nretry: +1\nretry:  1\n\n", &[]);
    reads("retry: 99999999999999999999\n\n", &[Seen::Retry(u64::MAX)]);
    reads(format!("retry: {}\n\n", "9".repeat(5000)), &[]);
    reads("data: a\nretry: 5\ndata: b\n\n", &[Seen::Retry(5), message("a\nb")]);
}

/// B52: what the end of the stream leaves unfinished is no event, at whatever offset it comes.
#[test]
fn unfinished_event_is_discarded() {
    let input = "id: 1\ndata: a\n\nid: 2\nevent: e\ndata: b\ndata: c\n\n";
    for at in 0..input.len() - 1 {
        let (seen, last_id) = read([&input.as_bytes()[..at]], 1000);
        let first_is_over = at >= "id: 1\ndata: a\n\n".len();
        assert_eq!(seen.len(), usize::from(first_is_over), "end at {at}");
        assert_eq!(last_id.as_deref(), first_is_over.then_some("1"));
    }
    assert_eq!(read([input.as_bytes()], 1000).0.len(), 2);
}

/// B52: a stream that is taken up again begins anew, but for the last event id.
#[test]
fn restart_keeps_the_last_id_only() {
    let mut decoder = Decoder::new(100, 8);
    let mut input: &[u8] = b"id: 1\ndata: a\n\nid: 2\nevent: e\ndata: b\nda";
    while decoder.next(&mut input).is_some() {}
    decoder.restart();
    let mut input: &[u8] = b"\xEF\xBB\xBFdata: c\n\n";
    let item = decoder.next(&mut input);
    assert_eq!(item, Some(SseItem::Event { event: "message", data: "c", id: Some("1") }));
}

/// B49: foreign events are items like any other; a long run of them costs neither stack nor memory.
#[test]
fn many_foreign_events_are_read_one_by_one() {
    let mut input = "event: ping\ndata: now\n\n".repeat(50_000);
    input.push_str("id: 1\n\n".repeat(50_000).as_str());
    input.push_str("event: message\ndata:{}\n\n");
    let mut decoder = Decoder::new(100, 8);
    let mut bytes = input.as_bytes();
    let mut foreign = 0;
    while let Some(item) = decoder.next(&mut bytes) {
        match item {
            SseItem::Event { event: "ping", .. } => foreign += 1,
            other => assert_eq!(other, SseItem::Event { event: "message", data: "{}", id: Some("1") }),
        }
    }
    assert_eq!(foreign, 50_000);
    assert_eq!(decoder.data.capacity(), 0, "data was lent from the input");
}

/// The bound on an event is reached exactly, and passed by one.
#[test]
fn limit_is_reached_exactly_and_passed_by_one() {
    reads_within(4, "data: 1234\n\n", &[message("1234")], "");
    reads_within(4, "data: 12345\n\n", &[Seen::TooLong], "");
    reads_within(4, "data: 12\ndata:4\n\n", &[message("12\n4")], "");
    reads_within(4, "data: 12\ndata:45\n\n", &[Seen::TooLong], "");
    reads_within(4, "data: 1234\ndata\n\n", &[Seen::TooLong], "");
    reads_within(4, "data: 1234\n:\n\n", &[Seen::Comment, message("1234")], "");
}

/// An event that is too long is reported once and skipped whole; its id counts, so that a resumption does
/// not ask for it again, and the next event is read.
#[test]
fn long_event_is_skipped_once() {
    let input = "id: 1\ndata: 12345\ndata: 1\ndata: 12345\n\ndata: {}\n\n";
    reads_within(4, input, &[Seen::TooLong, event("message", "{}", "1")], "1");
}

/// Reported before the line is over, and nothing of it is held.
#[test]
fn long_event_is_reported_as_soon_as_the_limit_is_passed() {
    let limit = 1 << 20;
    let mut decoder = Decoder::new(limit, 8);
    let mut reports = 0;
    let piece = vec![b'a'; 16 << 10];
    for mut piece in core::iter::once(&b"data:"[..]).chain(core::iter::repeat_n(&piece[..], 512)) {
        while let Some(item) = decoder.next(&mut piece) {
            assert_eq!(item, SseItem::TooLong { limit });
            reports += 1;
        }
        assert!(decoder.data.capacity() <= limit);
    }
    assert_eq!((reports, decoder.data.capacity()), (1, 0));
}

/// Comments, unknown fields, ids and types hold no memory however long they are.
#[test]
fn other_fields_are_bounded() {
    for start in [":", "foo:", "foo", "id:", "event:", "retry:"] {
        let mut decoder = Decoder::new(100, 8);
        for mut piece in
            core::iter::once(start.as_bytes()).chain(core::iter::repeat_n(&[b'x'; 4096][..], 100))
        {
            assert_eq!(decoder.next(&mut piece), None);
        }
        assert!(
            decoder.value.capacity() + decoder.data.capacity() + decoder.event.capacity() < 2000,
            "{start}"
        );
    }
}

/// RPC-02: what is not UTF-8 is reported, never replaced; the stream goes on and the id counts.
#[test]
fn invalid_utf8_is_reported() {
    let input = b"id: 1\ndata: a\xFFb\n\nevent: x\xFF\ndata: a\n\ndata: \xC3\ndata: \xA9\n\ndata: {}\n\n";
    let expected = [Seen::Invalid, Seen::Invalid, Seen::Invalid, event("message", "{}", "1")];
    reads_within(1000, input, &expected, "1");
}

/// An event type of any length is bounded, and never mistaken for a shorter one.
#[test]
fn long_event_type_is_invalid() {
    let (fits, too_long) = ("x".repeat(EVENT_TYPE), "x".repeat(EVENT_TYPE + 1));
    reads(format!("event: {fits}\ndata: a\n\n"), &[event(&fits, "a", "")]);
    reads(format!("event: {too_long}\ndata: a\n\n"), &[Seen::Invalid]);
}

/// RPC-02: a read boundary inside a character changes nothing.
#[test]
fn characters_may_be_cut() {
    reads("data: é😀\n\n", &[message("é😀")]);
}

/// SSE-04: what the encoder writes, the decoder reads.
#[test]
fn round_trip() {
    let mut out = Vec::new();
    write_retry(&mut out, Duration::from_millis(250));
    write_event(&mut out, None, Some("s1:1"), b"");
    write_event(&mut out, Some("message"), Some("s1:2"), b"{\"a\":1,\r\n\"b\":\r2}\n");
    write_comment(&mut out, "keep-alive");
    let text = "{\"a\":1,\n\"b\":\n2}\n".to_string();
    reads_within(1000, &out, &[Seen::Retry(250), event("message", &text, "s1:2"), Seen::Comment], "s1:2");
}
