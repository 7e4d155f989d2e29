//! What a client sends and takes: `Content-Type`, `Content-Length` and `Accept`.

use crate::head::{Field, Headers};

/// Values of `Accept` that list both kinds.
const USUAL: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];

/// The kinds of answer that a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Reads the `Accept` fields. Without one everything is accepted (RFC 9110, 12.5.1), although clients
    /// must send one.
    pub(super) fn read(headers: &Headers) -> Self {
        // Most clients write what the specification has for them, which need not be taken apart.
        let usual = headers.sole_text_of(Field::Accept).is_some_and(|value| USUAL.contains(&value));
        if usual || !headers.has(Field::Accept) {
            return Self { json: true, events: true };
        }
        Self {
            json: quality(headers, "application", "json") > 0,
            events: quality(headers, "text", "event-stream") > 0,
        }
    }

    pub(super) const fn neither(self) -> bool {
        !self.json && !self.events
    }
}

/// Whether the client lists both kinds of answer, as it must (HTTP-08).
pub(super) fn accepts_both(headers: &Headers) -> bool {
    let accepts = Accepts::read(headers);
    headers.has(Field::Accept) && accepts.json && accepts.events
}

/// The quality, in thousandths, that the most specific matching range gives to a media type.
fn quality(headers: &Headers, kind: &str, subtype: &str) -> u32 {
    let mut best = (0, 0);
    let ranges = headers.all_of(Field::Accept).filter_map(|value| core::str::from_utf8(value).ok());
    for range in ranges.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(|part| part.trim_matches([' ', '\t']));
        let Some((range_kind, range_subtype)) = parts.next().and_then(|name| name.split_once('/')) else {
            continue;
        };
        let precision = match (range_kind, range_subtype) {
            ("*", "*") => 1,
            (range_kind, "*") if range_kind.eq_ignore_ascii_case(kind) => 2,
            _ if range_kind.eq_ignore_ascii_case(kind) && range_subtype.eq_ignore_ascii_case(subtype) => 3,
            _ => continue,
        };
        let weight = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(1000, |(_, value)| thousandths(value.trim()));
        if precision >= best.0 {
            best = (precision, weight);
        }
    }
    best.1
}

/// A `qvalue`; one that is unreadable counts as if it were absent.
fn thousandths(value: &str) -> u32 {
    match value.parse::<f32>() {
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * 1000.0) as u32,
        _ => 1000,
    }
}

/// Whether the body is declared as JSON: the media type is compared, not a part of the text.
pub(super) fn is_json(headers: &Headers) -> bool {
    headers.sole_text_of(Field::ContentType).is_some_and(|value| {
        // As nearly everybody writes it.
        if value == "application/json" {
            return true;
        }
        let media = value.split(';').next().unwrap_or_default();
        media.trim_matches([' ', '\t']).eq_ignore_ascii_case("application/json")
    })
}

/// Whether the body is as it is, and not compressed or otherwise coded: nothing here decodes.
pub(super) fn is_plain(headers: &Headers) -> bool {
    headers.all_of(Field::ContentEncoding).all(|value| {
        let mut codings = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> Headers {
        fields.iter().fold(Headers::new(), |headers, (name, value)| headers.with(name, value))
    }

    /// B32
    #[test]
    fn accept_is_read_as_media_ranges_with_qualities() {
        let both = Accepts { json: true, events: true };
        for (value, expected) in [
            ("*/*", both),
            ("Application/JSON, text/*;q=0.5", both),
            ("text/event-stream,application/json", both),
            ("application/json;q=1, text/event-stream;q=0", Accepts { json: true, events: false }),
            ("text/html", Accepts { json: false, events: false }),
            ("*/*;q=0.1, application/json;q=0", Accepts { json: false, events: true }),
            ("text/event-stream", Accepts { json: false, events: true }),
            ("application/json;charset=utf-8;q=0.000", Accepts { json: false, events: false }),
            ("", Accepts { json: false, events: false }),
        ] {
            assert_eq!(Accepts::read(&head(&[("Accept", value)])), expected, "{value}");
        }
        assert_eq!(Accepts::read(&head(&[])), both);
        assert_eq!(Accepts::read(&head(&[("accept", "text/event-stream"), ("accept", "*/*")])), both);
    }

    /// B33
    #[test]
    fn content_type_is_compared_as_a_media_type() {
        for (value, expected) in [
            ("text/plain; a=application/json", false),
            ("APPLICATION/JSON; charset=\"UTF-8\"", true),
            ("application/json-patch+json", false),
            ("application/json", true),
        ] {
            assert_eq!(is_json(&head(&[("content-type", value)])), expected, "{value}");
        }
        assert!(!is_json(&head(&[])));
        let twice = [("content-type", "application/json"), ("Content-Type", "text/plain")];
        assert!(!is_json(&head(&twice)), "which one counts?");
    }
}
