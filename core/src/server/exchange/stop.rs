//! The end that a server puts to an exchange.

use super::{Exchange, ExchangeOutput, Stage};
use crate::dialect::Era;
use crate::error::code;
use crate::server::refusal::Refusal;
use crate::time::Now;

impl Exchange {
    /// The server stops, and waits no longer: what is running is given up, and whoever waits for it is answered
    /// with an error, 503 where no event stream has begun. A request that has not come to its end is refused, and so
    /// is one whose session was asked for.
    pub fn give_up(&mut self, now: Now) {
        self.end(now, "the server is shutting down");
    }

    /// The same for one whose client has left, since too many of those go on; see
    /// [`Limits::unattended`](crate::limits::Limits::unattended). A client that comes back is told.
    pub fn give_up_unattended(&mut self, now: Now) {
        self.end(now, "too many requests go on whose clients have left");
    }

    fn end(&mut self, now: Now, message: &'static str) {
        let refusal = Refusal::plain(code::INTERNAL, message).with_status(503);
        match self.stage {
            Stage::Connected(_) => {
                self.on_connection(now, |connection| connection.give_up(now));
            }
            Stage::Body | Stage::Bare(_) | Stage::Joining | Stage::Passing => {
                self.body = alloc::vec::Vec::new();
                // Nobody needs to know any more whose token that is.
                self.outputs.retain(|output| !matches!(output, ExchangeOutput::Authenticate(_)));
                self.refuse(None, Era::Modern, &refusal);
            }
            Stage::Asking(..) => {
                if let Stage::Asking(_, ask) = core::mem::replace(&mut self.stage, Stage::Answered) {
                    self.refuse(ask.id(), Era::Legacy, &refusal);
                }
            }
            _ => {
                self.shutdown(now);
                let error = refusal.error();
                while let Some(call) = self.calls.first() {
                    self.outputs.push_back(ExchangeOutput::Cancelled(call));
                    self.fail_with(now, call, &error, Some(503));
                }
            }
        }
    }
}
