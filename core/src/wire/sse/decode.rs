//! Bytes to events.

use crate::time::Duration;
use crate::wire::bytes::{self, ByteOrderMark};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The longest event type that is kept; MCP's are `message` and `endpoint`.
const EVENT_TYPE: usize = 256;

/// Cuts an event stream into events, however it arrives in pieces.
///
/// ```
/// use mcp_proto::wire::sse::{Decoder, SseItem};
///
/// let mut decoder = Decoder::new(1 << 20, 1024);
/// let mut input: &[u8] = b"id: 7\ndata: {}\n\n";
/// let Some(SseItem::Event { event, data, id }) = decoder.next(&mut input) else { panic!() };
/// assert_eq!((event, data, id), ("message", "{}", Some("7")));
/// ```
///
/// Follows the WHATWG rules, with these deviations: what is not UTF-8 is reported, not replaced; an event
/// whose data is empty or blank is not dispatched although it has a `data` line (it sets the last event id,
/// which is what MCP uses it for); an id that is not printable ASCII is ignored.
///
/// An event left unfinished by the end of the stream is discarded: there is nothing to call then, short of
/// [`restart`](Self::restart) when the stream is taken up again.
///
/// Data that lies in the input with its whole event is lent from there. Holds at most one event's data, and
/// a few short values.
#[derive(Clone)]
pub struct Decoder {
    limit: usize,
    id_limit: usize,
    mark: ByteOrderMark,
    /// The last line ended with CR, so that an LF coming next belongs to its end.
    after_return: bool,
    place: Place,
    /// The value of an `event`, `id` or `retry` field, as far as it has come.
    value: Vec<u8>,
    /// The event under way.
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    size: Size,
    /// The last valid id field, in force once its event ends.
    id: String,
    last_id: String,
    /// The event was lent out; it goes at the next call.
    lent: bool,
}

/// Prints the length of what it holds only.
impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("limit", &self.limit)
            .field("data", &format_args!("{} bytes", self.data.len()))
            .field("value", &format_args!("{} bytes", self.value.len()))
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// What [`Decoder::next`] found.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'a> {
    /// An event with data.
    Event {
        /// Its type; `message` where the stream names none.
        event: &'a str,
        /// Its data lines, joined with LF.
        data: &'a str,
        /// The last event id as of this event, its own or an earlier one's.
        id: Option<&'a str>,
    },
    /// The server says how long to wait before connecting again. Not clamped to any floor or ceiling.
    Retry(Duration),
    /// A comment: the connection is alive.
    Comment,
    /// The data of an event passed the limit. Reported once and as soon as that is known; the event is
    /// skipped up to its end. Its id counts.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// An event cannot be used: its data or type is not UTF-8, or its type is longer than 256 bytes. Its id
    /// counts.
    Invalid,
}

/// Prints no data.
impl fmt::Debug for SseItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { event, data, id } => f
                .debug_struct("Event")
                .field("event", event)
                .field("data", &format_args!("{} bytes", data.len()))
                .field("id", id)
                .finish(),
            Self::Retry(after) => f.debug_tuple("Retry").field(after).finish(),
            Self::Comment => f.write_str("Comment"),
            Self::TooLong { limit } => write!(f, "TooLong({limit} bytes)"),
            Self::Invalid => f.write_str("Invalid"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the name of a field, or at the start of a line if there is none of it yet.
    Name(Name),
    /// In its value; `fresh` while a space would not be part of it.
    Value { field: Field, fresh: bool },
}

/// The beginning of a field's name: one byte more than the longest that means something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Name {
    bytes: [u8; 6],
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
    Comment,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Fits,
    /// Too long, and that is still to be reported.
    Passed,
    Reported,
}

impl Name {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len += 1;
        }
    }

    fn field(&self) -> Field {
        match self.bytes.get(..self.len).unwrap_or_default() {
            b"" => Field::Comment,
            b"data" => Field::Data,
            b"event" => Field::Event,
            b"id" => Field::Id,
            b"retry" => Field::Retry,
            _ => Field::Unknown,
        }
    }
}

const LINE_START: Place = Place::Name(Name { bytes: [0; 6], len: 0 });

impl Decoder {
    /// A decoder at the start of a stream, for events with at most `limit` bytes of data
    /// ([`Limits::message`](crate::limits::Limits::message)) and ids of at most `id_limit`
    /// ([`Limits::event_id`](crate::limits::Limits::event_id)).
    pub const fn new(limit: usize, id_limit: usize) -> Self {
        Self {
            limit,
            id_limit,
            mark: ByteOrderMark::new(),
            after_return: false,
            place: LINE_START,
            value: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Vec::new(),
            size: Size::Fits,
            id: String::new(),
            last_id: String::new(),
            lent: false,
        }
    }

    /// The next item. Takes what it used off the front of `input`; `None` means that all of it was used.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<SseItem<'a>> {
        if core::mem::take(&mut self.lent) {
            self.forget_event();
        }
        let no_mark = self.mark.skip(input);
        self.take(no_mark);
        // The first data line of an event, still in the input; copied only if the event is not over by the
        // time something else is returned.
        let mut in_place: Option<&'i [u8]> = None;
        loop {
            if self.after_return && !input.is_empty() {
                self.after_return = false;
                *input = input.strip_prefix(b"\n").unwrap_or(input);
            }
            let Some((line, end, rest)) = bytes::split(input, [b'\r', b'\n']) else {
                self.keep(in_place);
                self.take(core::mem::take(input));
                return self.too_long();
            };
            *input = rest;
            self.after_return = end == b'\r';
            if self.place == LINE_START {
                if line.is_empty() {
                    self.last_id.clone_from(&self.id);
                    if self.size == Size::Fits && !bytes::is_blank(in_place.unwrap_or(&self.data)) {
                        self.lent = true;
                        return Some(self.event(in_place));
                    }
                    in_place = None;
                    self.forget_event();
                    continue;
                }
                if !self.has_data
                    && let Some(value) = line.strip_prefix(b"data:")
                    && let value = value.strip_prefix(b" ").unwrap_or(value)
                    && value.len() <= self.limit
                {
                    in_place = Some(value);
                    self.has_data = true;
                    continue;
                }
            }
            if adds_data(line) {
                self.keep(in_place.take());
            }
            self.take(line);
            if let Some(item) = self.end_line().or_else(|| self.too_long()) {
                self.keep(in_place);
                return Some(item);
            }
        }
    }

    /// The id to resume after: of the last event that ended, whether or not it had data. `None` if there was
    /// none or the server took it back with an empty one.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(&*self.last_id).filter(|id| !id.is_empty())
    }

    /// The stream has ended and another takes it up: discards an unfinished event, keeps the last event id.
    pub fn restart(&mut self) {
        self.forget_event();
        self.id.clone_from(&self.last_id);
        self.mark = ByteOrderMark::new();
        self.after_return = false;
        self.place = LINE_START;
        self.lent = false;
    }

    fn event<'a>(&'a self, in_place: Option<&'a [u8]>) -> SseItem<'a> {
        let data = core::str::from_utf8(in_place.unwrap_or(&self.data));
        let event = core::str::from_utf8(&self.event);
        match (event, data) {
            (Ok(event), Ok(data)) if event.len() <= EVENT_TYPE => SseItem::Event {
                event: if event.is_empty() { "message" } else { event },
                data,
                id: self.last_event_id(),
            },
            _ => SseItem::Invalid,
        }
    }

    fn forget_event(&mut self) {
        bytes::empty(&mut self.data);
        self.has_data = false;
        self.event.clear();
        self.size = Size::Fits;
    }

    fn too_long(&mut self) -> Option<SseItem<'static>> {
        if self.size != Size::Passed {
            return None;
        }
        self.size = Size::Reported;
        Some(SseItem::TooLong { limit: self.limit })
    }

    /// Copies data that was only pointed at.
    fn keep(&mut self, in_place: Option<&[u8]>) {
        if let Some(data) = in_place {
            self.append_data(data);
        }
    }

    /// Takes a part of a line.
    fn take(&mut self, mut part: &[u8]) {
        while let Place::Name(mut name) = self.place {
            let Some((&byte, rest)) = part.split_first() else { return };
            part = rest;
            if byte == b':' {
                self.begin_value(name.field());
            } else {
                name.push(byte);
                self.place = Place::Name(name);
            }
        }
        let Place::Value { field, fresh } = self.place else { return };
        let Some(first) = part.first() else { return };
        if fresh {
            self.place = Place::Value { field, fresh: false };
            if *first == b' ' {
                part = part.get(1..).unwrap_or_default();
            }
        }
        match field {
            Field::Data => self.append_data(part),
            Field::Event | Field::Id | Field::Retry => {
                // One byte past the bound is enough to know that a value is too long.
                let room = (self.id_limit.max(EVENT_TYPE) + 1).saturating_sub(self.value.len());
                self.value.extend_from_slice(part.get(..room).unwrap_or(part));
            }
            Field::Comment | Field::Unknown => {}
        }
    }

    fn begin_value(&mut self, field: Field) {
        self.place = Place::Value { field, fresh: true };
        self.value.clear();
        if field == Field::Data {
            if self.has_data {
                self.append_data(b"\n");
            }
            self.has_data = true;
        }
    }

    fn append_data(&mut self, part: &[u8]) {
        if self.size != Size::Fits {
            return;
        }
        if self.data.len() + part.len() > self.limit {
            self.size = Size::Passed;
            self.data = Vec::new();
        } else {
            bytes::append(&mut self.data, part, self.limit);
        }
    }

    fn end_line(&mut self) -> Option<SseItem<'static>> {
        if let Place::Name(name) = self.place {
            // No colon: the whole line is the name, and the value is empty.
            self.begin_value(name.field());
        }
        let Place::Value { field, .. } = core::mem::replace(&mut self.place, LINE_START) else { return None };
        match field {
            Field::Comment => return Some(SseItem::Comment),
            Field::Retry => return retry(&self.value).map(SseItem::Retry),
            Field::Event => core::mem::swap(&mut self.event, &mut self.value),
            Field::Id => {
                let printable = self.value.iter().all(|byte| matches!(byte, b' '..=b'~'));
                if printable && self.value.len() <= self.id_limit {
                    self.id.clear();
                    // Printable ASCII, so it is UTF-8.
                    self.id.push_str(core::str::from_utf8(&self.value).unwrap_or_default());
                }
            }
            Field::Data | Field::Unknown => {}
        }
        None
    }
}

/// Whether a line adds to the data of its event.
fn adds_data(line: &[u8]) -> bool {
    line.strip_prefix(b"data").is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"))
}

/// Milliseconds, in digits only; beyond 64 bits the longest delay there is.
fn retry(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || value.len() > EVENT_TYPE || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |total: u64, digit: &u8| total.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Some(Duration::from_millis(value.iter().fold(0, add)))
}

#[cfg(test)]
mod tests;
