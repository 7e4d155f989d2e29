//! Event streams of legacy clients: those that they open with a GET, and those that outlive the response that
//! they began in.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server>

use alloc::string::{String, ToString};

use super::log::Log;
use super::serve::Ask;
use super::{Exchange, Stage};
use crate::dialect::{Era, Revision};
use crate::error::code;
use crate::head::Field;
use crate::server::call::CallId;
use crate::server::events::{Event, StreamId};
use crate::server::headers;
use crate::server::received::Received;
use crate::server::refusal::Refusal;
use crate::server::sessions::{Listening, SessionQuery, Then};
use crate::time::{Duration, Now};
use crate::wire::jsonrpc::RequestId;

/// How long a call may be silent until its client is given an id to come back with. Quicker ones are answered
/// with plain JSON, and cost no stream.
pub(super) const PRIME_AFTER: Duration = Duration::from_secs(1);

/// How long clients are asked to wait before they take up again a stream that the server has let go.
const RETRY: Duration = Duration::from_secs(1);

/// Who opens this in a browser is told what it is.
fn no_session() -> Refusal {
    Refusal::plain(
        code::INVALID_REQUEST,
        "this is an MCP endpoint: POST messages to it; a GET needs the `Mcp-Session-Id` header of a session",
    )
}

impl Exchange {
    /// A stream was taken up again or has something new: send it.
    pub fn handle_delivery(&mut self, now: Now, event: &Event) {
        if !matches!(self.stage, Stage::Carrying { .. }) {
            return;
        }
        self.quiet_since = now.mono;
        self.deliver(event);
        if event.last {
            self.stop_carrying(None, false);
        } else if self.is_full() {
            // A client that does not read comes back when it does, for what it has missed.
            self.stop_carrying(Some(RETRY), true);
        }
    }

    /// Let the stream go: the session has ended, or the client has come back elsewhere.
    pub fn handle_close(&mut self, _now: Now) {
        match self.stage {
            Stage::Carrying { .. } => self.stop_carrying(None, false),
            _ => self.reply.hand_over(),
        }
    }

    /// Ends the response to a call that goes on, and asks the client to come back for the rest after a
    /// while (HTTPL-18, HTTPL-19). Nothing happens where the client could not: in revisions before
    /// 2025-11-25, in the modern era, and where streams are not kept.
    pub fn close_stream(&mut self, _now: Now, call: CallId, retry: Duration) {
        if self.calls.get_mut(call).is_some() {
            let head = self.reply.part(retry);
            self.outputs.extend(head);
        }
    }

    /// The server is about to stop: a stream that others speak on ends, one of changes with its result (SUB-13),
    /// that of a connection once its calls are over. Calls may finish.
    pub fn shutdown(&mut self, now: Now) {
        match self.stage {
            Stage::Connected(_) => {
                self.on_connection(now, |connection| connection.shutdown(now));
            }
            Stage::Carrying { .. } => self.stop_carrying(Some(RETRY), true),
            Stage::Admitting(_) | Stage::Listening(_) => self.end_listening(),
            _ => {}
        }
    }

    /// A GET asks for the stream of its session, or for one that broke off.
    pub(super) fn open_stream(&mut self) {
        let session = self
            .permit("", None)
            .and_then(|()| headers::check_legacy_version(&self.head.headers, &self.config))
            .and_then(|()| self.session.clone().ok_or_else(no_session));
        match session {
            Ok(session) => {
                let headers = &self.head.headers;
                // What is no text, or several, is no id of ours either.
                let after = headers.has(Field::LastEventId).then(|| headers.sole_text_of(Field::LastEventId));
                let after = after.map(|id| String::from(id.unwrap_or("?")));
                self.ask_for(SessionQuery::Listen { session, exchange: self.id, after }, Ask::Listen);
            }
            Err(refusal) => self.refuse(None, Era::Legacy, &refusal),
        }
    }

    pub(super) fn carry(&mut self, listening: &Listening) {
        let revision = listening.state.revision;
        let ids = self.config.http.resumable && revision.dialect().http.resumption;
        self.stage = Stage::Carrying { ids };
        // Nothing of the request is looked at again, and it may be carried for days.
        self.head = Received::default();
        if self.reply.has_left() {
            return self.stop_carrying(None, true);
        }
        let after = listening.after.to_string();
        let head = self.reply.listen(Some(&*after).filter(|_| primes(revision) && ids));
        self.outputs.extend(head);
        for event in &listening.missed {
            self.deliver(event);
        }
        match listening.then {
            Then::GoesOn => {}
            Then::Ends => self.stop_carrying(None, false),
            Then::AskAgain => self.stop_carrying(Some(RETRY), false),
        }
    }

    fn deliver(&mut self, event: &Event) {
        let Stage::Carrying { ids } = self.stage else { return };
        let id = ids.then(|| event.id.to_string());
        self.reply.deliver(id.as_deref(), &event.message);
    }

    /// The stream ends here; `tell` the session so, unless it knows.
    pub(super) fn stop_carrying(&mut self, retry: Option<Duration>, tell: bool) {
        self.reply.end(retry);
        self.stage = Stage::Answered;
        if let (true, Some(session)) = (tell, self.session.clone()) {
            let exchange = self.id;
            self.tell(SessionQuery::Detach { session, exchange });
        }
    }

    /// The response to these requests may be a stream that can be taken up again.
    pub(super) fn keep(&mut self, stream: StreamId, revision: Revision, request: Option<RequestId>) {
        self.stream = Some(stream);
        let http = &self.config.http;
        let returns = http.resumable && http.session_streams && self.session.is_some();
        if returns && revision.dialect().http.resumption {
            let most = self.config.limits.event_bytes;
            self.reply.keep(Log::new(stream, primes(revision), request, most));
        }
    }

    /// Tells the session what was said on a stream that can be taken up again.
    pub(super) fn note(&mut self) {
        let events = self.reply.take_noted();
        let Some(session) = self.session.clone() else { return };
        for event in events {
            self.tell(SessionQuery::Record { session: session.clone(), event });
        }
    }
}

/// Whether streams of this revision begin with an event that is an id and nothing else.
fn primes(revision: Revision) -> bool {
    revision.dialect().http.priming_event
}
