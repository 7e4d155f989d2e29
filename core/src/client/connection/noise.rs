//! What the server wrote that is no message: the one clue where it is no server.

use super::Connection;
use crate::text;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// Lines that are no messages.
#[derive(Default)]
pub(super) struct Noise {
    count: u64,
    /// The beginning of the first.
    first: String,
}

impl Connection {
    /// A line is no message. What is known to be a server may print what it likes.
    pub(super) fn hears_noise(&mut self, line: &[u8]) {
        if self.link.details.is_some() {
            return;
        }
        if self.noise.count == 0 {
            // A character is four bytes at the most, and more of them are not shown.
            let start = line.get(..line.len().min(1_024)).unwrap_or_default();
            self.noise.first = text::excerpt(&String::from_utf8_lossy(start));
        }
        self.noise.count = self.noise.count.saturating_add(1);
    }

    /// Why the stream ended, after what was heard on it if that was no server.
    pub(super) fn after_noise<'a>(&self, reason: &'a str) -> Cow<'a, str> {
        let lines = match self.noise.count {
            _ if self.link.details.is_some() => return reason.into(),
            0 => return reason.into(),
            1 => "a line that is none".into(),
            count => format!("{count} lines that are none, the first"),
        };
        let first = &self.noise.first;
        format!("expected messages, found {lines}: `{first}`; then {reason}").into()
    }
}
