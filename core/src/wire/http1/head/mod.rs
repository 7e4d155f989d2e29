//! Heads: found in the bytes, parsed, checked, written.

mod find;
mod parse;
mod write;

#[cfg(test)]
mod tests;

pub(super) use find::{Found, HeadBuffer};
pub(super) use parse::{Framing, parse_request, parse_response};
pub(super) use write::{Dated, Persistence, asks_to_close, error_response, write_request, write_response};

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// What a server answers.
    pub(super) status: u16,
    /// What is wrong, for people on this side.
    pub(super) what: &'static str,
}

impl Fault {
    pub(super) const fn new(status: u16, what: &'static str) -> Self {
        Self { status, what }
    }

    pub(super) const fn bad(what: &'static str) -> Self {
        Self::new(400, what)
    }
}
