//! What an exchange and its outputs print of themselves: what they are, and how long what they hold is. Never a
//! message, a query or the value of a field.

use core::fmt;

use super::{Exchange, ExchangeOutput};

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("id", &self.id)
            .field("head", &self.head)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("stage", &self.stage)
            .field("calls", &self.calls)
            .field("asks", &self.asks)
            .field("batches", &self.batches)
            .field("state", &self.state)
            .field("stream", &self.stream)
            .field("waiting", &self.waiting)
            .field("principal", &self.principal)
            .field("recognition", &self.recognition)
            .field("endpoint", &self.endpoint)
            .field("reply", &self.reply)
            .field("outputs", &self.outputs)
            .field("body_until", &self.body_until)
            .field("quiet_since", &self.quiet_since)
            .field("parted", &self.parted)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ExchangeOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head(head, length) => f.debug_tuple("Head").field(head).field(length).finish(),
            Self::Call(id, call) => f.debug_tuple("Call").field(id).field(call).finish(),
            Self::Cancelled(id) => f.debug_tuple("Cancelled").field(id).finish(),
            Self::Answered(id, ask, answer) => {
                f.debug_tuple("Answered").field(id).field(ask).field(answer).finish()
            }
            Self::Authenticate(token) => f.debug_tuple("Authenticate").field(token).finish(),
            Self::Session(id, query) => f.debug_tuple("Session").field(id).field(query).finish(),
            Self::Sse(query) => f.debug_tuple("Sse").field(query).finish(),
            Self::Initialized => f.write_str("Initialized"),
            Self::Notification { method, params } => f
                .debug_struct("Notification")
                .field("method", method)
                .field("params", &format_args!("{} bytes", params.len()))
                .finish(),
            Self::Listen(listen) => f.debug_tuple("Listen").field(listen).finish(),
            Self::Diagnostic(diagnostic) => f.debug_tuple("Diagnostic").field(diagnostic).finish(),
            Self::Parted => f.write_str("Parted"),
            Self::Task(task) => f.debug_tuple("Task").field(task).finish(),
            Self::End => f.write_str("End"),
        }
    }
}
