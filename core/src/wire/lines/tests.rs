use super::*;
use std::string::String;
use std::vec;

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Line(String),
    /// With its beginning.
    TooLong(String),
}

fn drain(lines: &mut Lines, mut input: &[u8], seen: &mut Vec<Seen>) {
    while let Some(line) = lines.next(&mut input) {
        seen.push(own(line));
    }
    assert!(input.is_empty(), "`None` means that the input was used up");
}

fn own(line: Line<'_>) -> Seen {
    match line {
        Line::Line(line) => Seen::Line(String::from_utf8_lossy(line).into()),
        Line::TooLong { start, .. } => Seen::TooLong(String::from_utf8_lossy(start).into()),
    }
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Vec<Seen> {
    let mut lines = Lines::new(limit);
    let mut seen = Vec::new();
    for piece in pieces {
        drain(&mut lines, piece, &mut seen);
    }
    seen.extend(lines.end().map(own));
    assert_eq!(lines.end(), None, "the end happens once");
    seen
}

/// Whole, byte by byte, and at each split point: always the same.
#[track_caller]
fn reads(input: impl AsRef<[u8]>, limit: usize, expected: &[&str]) {
    let input = input.as_ref();
    let expected: Vec<Seen> = expected
        .iter()
        .map(|&line| match line.strip_prefix("TOO LONG: ") {
            Some(start) => Seen::TooLong(start.into()),
            None => Seen::Line(line.into()),
        })
        .collect();
    assert_eq!(read([input], limit), expected, "whole");
    assert_eq!(read(input.chunks(1), limit), expected, "byte by byte");
    for at in 0..=input.len() {
        let (left, right) = input.split_at(at);
        assert_eq!(read([left, right], limit), expected, "split at {at}");
    }
}

/// B02: CRLF, blank lines and a stray Enter.
#[test]
fn crlf_and_blank_lines_are_accepted() {
    reads("{\"id\":1}\r\n\n\r\n   \n\t\r\n{\"id\":2}\n", 64, &["{\"id\":1}", "{\"id\":2}"]);
}

/// B03: noise is delivered like any line; what to make of it is up to the reader of messages.
#[test]
fn noise_is_delivered() {
    reads(
        "INFO listening\n{\"level\":\"info\"}\n{}\n",
        64,
        &["INFO listening", "{\"level\":\"info\"}", "{}"],
    );
}

/// B05, RPC-02: a read boundary inside a character changes nothing.
#[test]
fn characters_may_be_cut() {
    reads("{\"id\":\"é😀\",\"method\":\"ping\"}\n", 64, &["{\"id\":\"é😀\",\"method\":\"ping\"}"]);
}

/// B02: only one carriage return belongs to the end of a line, and one inside is content.
#[test]
fn carriage_returns_inside_a_line_are_content() {
    reads("a\rb\r\r\nc", 64, &["a\rb\r", "c"]);
}

/// A byte order mark at the very start is skipped, a second one or a later one is content.
#[test]
fn byte_order_mark_is_skipped_at_the_start_only() {
    reads("\u{feff}a\n\u{feff}b\n", 64, &["a", "\u{feff}b"]);
    reads("\u{feff}\u{feff}a\n", 64, &["\u{feff}a"]);
    reads("\u{feff}\n", 64, &[]);
    reads("\u{feff}", 64, &[]);
    reads(b"\xEF\xBBx\n", 64, &["\u{fffd}x"]);
    reads(b"\xEF\xBB\n", 64, &["\u{fffd}"]);
    reads(b"\xEF\xBB", 64, &["\u{fffd}"]);
}

/// A mark does not count towards the limit.
#[test]
fn byte_order_mark_does_not_count() {
    reads("\u{feff}1234\n", 4, &["1234"]);
}

/// The last line needs no end of its own.
#[test]
fn unfinished_last_line_is_delivered() {
    reads("a\nb", 64, &["a", "b"]);
    reads("a\nb\r", 64, &["a", "b"]);
    reads("a\n  ", 64, &["a"]);
    reads("", 64, &[]);
}

/// The end of the stream may come at any offset, and is a line's end there.
#[test]
fn end_at_each_offset() {
    let input = "one\r\ntwo\n\nthree\n";
    for at in 0..input.len() {
        let expected: Vec<&str> = input[..at].lines().filter(|line| !line.trim().is_empty()).collect();
        let expected: Vec<&str> = expected.iter().map(|line| line.trim_end_matches('\r')).collect();
        reads(&input[..at], 64, &expected);
    }
}

/// B07: a line of exactly the limit passes, whatever its end; one byte more does not.
#[test]
fn limit_is_reached_exactly_and_passed_by_one() {
    reads("1234\n1234\r\n1234", 4, &["1234", "1234", "1234"]);
    reads("1234\r", 4, &["1234"]);
    reads("12345\na\n", 4, &["TOO LONG: 1234", "a"]);
    reads("12345\r\na\n", 4, &["TOO LONG: 1234", "a"]);
    reads("1234\r\r\na\n", 4, &["TOO LONG: 1234", "a"]);
    reads("1234\r5\na\n", 4, &["TOO LONG: 1234", "a"]);
    reads("12345", 4, &["TOO LONG: 1234"]);
    reads("     \na\n", 4, &["TOO LONG:     ", "a"]);
}

/// B07: reported once however long the line goes on, then the next line is read.
#[test]
fn long_line_is_reported_once() {
    let mut input = vec![b'a'; 1000];
    input.extend_from_slice(b"\n{}\n");
    reads(&input, 16, &["TOO LONG: aaaaaaaaaaaaaaaa", "{}"]);
    input.splice(1000..1000, vec![b'b'; 1000]);
    reads(&input[..1990], 16, &["TOO LONG: aaaaaaaaaaaaaaaa"]);
}

/// B07: reported before the line has ended.
#[test]
fn long_line_is_reported_as_soon_as_the_limit_is_passed() {
    let mut lines = Lines::new(4);
    let mut input: &[u8] = b"12345";
    assert_eq!(lines.next(&mut input), Some(Line::TooLong { limit: 4, start: b"1234" }));
}

/// B07: never holds more than the limit, the carriage return aside, and gives memory back.
#[test]
fn memory_is_bounded() {
    let limit = 1 << 20;
    let mut lines = Lines::new(limit);
    let piece = vec![b'a'; 16 << 10];
    let mut reports = 0;
    for _ in 0..(8 << 20) / piece.len() {
        let mut input = &piece[..];
        while let Some(line) = lines.next(&mut input) {
            assert_eq!(line, Line::TooLong { limit, start: &vec![b'a'; limit] });
            reports += 1;
        }
        assert!(lines.held.capacity() <= limit + 1);
    }
    assert_eq!((reports, lines.held.capacity()), (1, 0));
    let mut input: &[u8] = b"\nping\n";
    assert_eq!(lines.next(&mut input), Some(Line::Line(b"ping")));
}

/// A long line does not cost its memory for ever.
#[test]
fn memory_of_a_long_line_is_given_back() {
    let mut lines = Lines::new(1 << 20);
    let mut seen = Vec::new();
    drain(&mut lines, &vec![b'a'; 500_000], &mut seen);
    drain(&mut lines, b"\n", &mut seen);
    assert_eq!(seen.len(), 1);
    assert_eq!(lines.held.capacity(), 0);
}

/// A line that lies whole in the input is lent from it.
#[test]
fn whole_lines_are_not_copied() {
    let mut lines = Lines::new(64);
    let whole: &[u8] = b"one\ntwo\n";
    let mut input = whole;
    let Some(Line::Line(line)) = lines.next(&mut input) else { panic!("a line is there") };
    assert_eq!(line.as_ptr(), whole.as_ptr());
    while lines.next(&mut input).is_some() {}
    assert_eq!(lines.held.capacity(), 0);
}
