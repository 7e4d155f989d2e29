use super::*;
use std::string::String;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn event_has_its_fields_in_order() {
    let event = written(|out| write_event(out, Some("endpoint"), Some("7"), b"/messages"));
    assert_eq!(event, "event: endpoint\nid: 7\ndata: /messages\n\n");
}

/// SSE-04: JSON is written in place, with nothing but the framing around it.
#[test]
fn data_can_be_written_in_place() {
    let event = written(|out| {
        begin_data(out, None, None);
        out.extend_from_slice(b"{}");
        end_event(out);
    });
    assert_eq!(event, "data: {}\n\n");
}

#[test]
fn data_lines_are_split_at_every_line_end() {
    let event = written(|out| write_event(out, None, None, b"a\nb\rc\r\nd\n\r"));
    assert_eq!(event, "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: \n\n");
}

/// A field that would break out of its line is left out.
#[test]
fn fields_cannot_be_injected() {
    for bad in ["a\ndata: x", "a\rb", "a\0b"] {
        assert_eq!(written(|out| write_event(out, Some(bad), Some(bad), b"{}")), "data: {}\n\n");
    }
}

/// SSE-02
#[test]
fn comments_stay_comments() {
    assert_eq!(written(|out| write_comment(out, "keep-alive")), ": keep-alive\n\n");
    assert_eq!(written(|out| write_comment(out, "a\n\ndata: x")), ": a\n: \n: data: x\n\n");
}

/// B50
#[test]
fn retry_is_in_milliseconds() {
    assert_eq!(written(|out| write_retry(out, Duration::from_micros(250_900))), "retry: 250\n");
}
