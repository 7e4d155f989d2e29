//! What the connection tells the layer above.

use crate::head::RequestHead;
use crate::wire::http1::buffer::Lend;
use core::fmt;

/// What [`ServerConnection::poll_output`](super::ServerConnection::poll_output) gives out.
///
/// Each exchange is a `Request`, then any number of `Body`, then `End` when the request is complete.
/// `Aborted` comes once, at any point after `Request`, if the exchange died before its response was
/// finished; nothing follows it. If the body of a request whose response is finished already is cut short,
/// nothing more is said of it.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerOutput<'a> {
    /// A request to be answered.
    Request {
        /// Its head. The target is a path with its query, or `*`; the authority of an absolute target has
        /// taken the place of the `Host` field.
        head: RequestHead,
        /// The declared length of the body, in bytes; `None` when it is chunked.
        body: Option<u64>,
        /// Whether a body that is not empty may follow.
        has_body: bool,
    },
    /// Bytes of the request body.
    Body(&'a [u8]),
    /// The request is complete.
    End,
    /// The request is dead: the peer went away, stalled, or broke the framing. Cancel the work on it.
    Aborted,
}

/// Prints the length of a part of a body only.
impl fmt::Debug for ServerOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { head, body, .. } => f.debug_tuple("Request").field(head).field(body).finish(),
            Self::Body(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Self::End => f.write_str("End"),
            Self::Aborted => f.write_str("Aborted"),
        }
    }
}

/// What was read and not yet given out, in this order.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) request: Option<(RequestHead, Option<u64>)>,
    pub(super) body: Lend,
    pub(super) end: bool,
    pub(super) aborted: bool,
}

/// Which part comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Request,
    Body,
    End,
    Aborted,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.next().is_none()
    }

    pub(super) fn next(&self) -> Option<Next> {
        if self.request.is_some() {
            Some(Next::Request)
        } else if !self.body.is_empty() {
            Some(Next::Body)
        } else if self.end {
            Some(Next::End)
        } else if self.aborted {
            Some(Next::Aborted)
        } else {
            None
        }
    }

    /// Gives out one part. The caller has marked the body as lent, or cleared `end`, which may have been set
    /// again meanwhile.
    pub(super) fn give(&mut self, next: Next) -> Option<ServerOutput<'_>> {
        match next {
            Next::Request => {
                let (head, body) = self.request.take()?;
                Some(ServerOutput::Request { head, body, has_body: body != Some(0) })
            }
            Next::Body => Some(ServerOutput::Body(self.body.lent())),
            Next::End => Some(ServerOutput::End),
            Next::Aborted => {
                self.aborted = false;
                Some(ServerOutput::Aborted)
            }
        }
    }
}
