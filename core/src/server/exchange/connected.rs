//! HTTP with SSE: an exchange whose response is the stream of a [`Connection`], and the exchanges that bring
//! messages for one.
//!
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{Exchange, ExchangeOutput, Stage};
use crate::dialect::Era;
use crate::error::code;
use crate::head::End;
use crate::server::connection::{Connection, Output};
use crate::server::http_sse::{SseAnswer, SseQuery};
use crate::server::principal::Principal;
use crate::server::refusal::Refusal;
use crate::server::sessions::SessionId;
use crate::time::Now;
use crate::wire::jsonrpc;

/// The server at the other end of an event stream. Prints without what it holds.
pub(super) struct Connected {
    pub(super) connection: Connection,
    session: SessionId,
    /// Whether the table knows that further messages are taken.
    takes: bool,
    /// Messages that came when no more were taken, and who sent each.
    held: VecDeque<(String, Option<Arc<Principal>>)>,
    held_bytes: usize,
}

impl Connected {
    fn hold(&mut self, message: &str, sender: Option<Arc<Principal>>) {
        self.held_bytes += message.len();
        self.held.push_back((String::from(message), sender));
    }

    /// Goes on with the next message, if there is one and the connection takes it.
    fn go_on(&mut self) -> bool {
        if !self.connection.wants_read() {
            return false;
        }
        let Some((message, sender)) = self.held.pop_front() else { return false };
        self.held_bytes -= message.len();
        self.connection.handle_message(&message, sender);
        true
    }

    fn takes_more(&self) -> bool {
        self.held.is_empty() && self.connection.wants_read()
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected").field("takes", &self.takes).finish_non_exhaustive()
    }
}

impl Exchange {
    /// The table of streams has answered. An answer that nobody waits for is ignored, and a stream that nobody waits for
    /// is closed.
    pub fn handle_sse(&mut self, now: Now, answer: SseAnswer) {
        if let SseAnswer::Opened { session } = &answer
            && !self.waits_for(session)
        {
            let session = session.clone();
            self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Close { session }));
        }
        let refused = |status, message: &'static str| {
            Refusal::plain(code::INVALID_REQUEST, message).with_status(status)
        };
        let refusal = match (core::mem::replace(&mut self.stage, Stage::Answered), answer) {
            (Stage::Joining, SseAnswer::Opened { session }) => return self.join(now, session),
            (Stage::Passing, SseAnswer::Done) => {
                let head = self.reply.accept();
                return self.outputs.extend(head);
            }
            (Stage::Passing, SseAnswer::Missing) => refused(404, "there is no such session; open a stream"),
            (Stage::Passing, SseAnswer::Stalled) => {
                refused(503, "the stream takes no more for now; read from it, and try again")
            }
            (Stage::Joining, SseAnswer::Full) => refused(503, "too many streams are open"),
            // The table answered something else than what was asked.
            (Stage::Joining | Stage::Passing, _) => refused(500, "the session could not be asked"),
            (stage, _) => return self.stage = stage,
        };
        self.refuse(None, Era::Legacy, &refusal);
    }

    /// Whether a stream that the table says is open is, or can become, that of this exchange.
    fn waits_for(&self, opened: &SessionId) -> bool {
        match &self.stage {
            Stage::Joining => true,
            Stage::Connected(connected) => connected.session == *opened,
            _ => false,
        }
    }

    /// The table of streams does not answer.
    pub(super) fn miss_sse(&mut self) {
        let refusal =
            Refusal::plain(code::INTERNAL, "the session could not be asked in time").with_status(503);
        self.refuse(None, Era::Legacy, &refusal);
    }

    /// A message for the server on this stream has come in another exchange, from this sender; see
    /// [`SseOutput`](crate::server::SseOutput). What comes of it is of the sender, whose token may have other scopes than
    /// the one that opened the stream. Without such a stream nothing happens.
    pub fn handle_message(&mut self, now: Now, message: &str, sender: Option<Arc<Principal>>) {
        let most = self.config.limits.message;
        let Stage::Connected(connected) = &mut self.stage else { return };
        if connected.held_bytes > most {
            // They came all at once, and the client does not read.
            self.reply.end(None);
            return self.disconnect(now);
        }
        connected.hold(message, sender);
        if self.relay() {
            self.quiet_since = now.mono;
        }
    }

    /// A GET asks for a stream.
    pub(super) fn connect(&mut self) {
        if let Err(refusal) = self.permit("", None) {
            return self.refuse(None, Era::Legacy, &refusal);
        }
        let (exchange, caller) = (self.id, self.caller());
        self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Open { exchange, caller }));
        self.stage = Stage::Joining;
    }

    /// A POST brings a message for a stream.
    pub(super) fn pass(&mut self, body: Vec<u8>) {
        match self.message(body) {
            Ok((session, message)) => {
                let (caller, sender) = (self.caller(), self.principal.clone());
                self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Send {
                    session,
                    message,
                    caller,
                    sender,
                }));
                self.stage = Stage::Passing;
            }
            Err(refusal) => self.refuse(None, Era::Modern, &refusal),
        }
    }

    fn message(&self, body: Vec<u8>) -> Result<(SessionId, String), Refusal> {
        self.permit("", None)?;
        let Some(session) = self.session.clone() else {
            let message = "the query must name the session, as the `endpoint` event has it";
            return Err(Refusal::plain(code::INVALID_REQUEST, message).with_status(400));
        };
        let unreadable = |_| Refusal::plain(code::PARSE, "the message is not UTF-8");
        let text = String::from_utf8(body).map_err(unreadable)?;
        jsonrpc::read_text(&text, self.config.limits.depth)
            .map_err(|malformed| Refusal::from(malformed.error))?;
        // In what is JSON they can only stand between its parts; on a stream they end a message.
        Ok((session, if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }))
    }

    fn join(&mut self, now: Now, session: SessionId) {
        let Some(paths) = self.config.http.http_sse.as_ref().filter(|_| !self.reply.has_left()) else {
            // Nobody will ever learn its name.
            return self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Close { session }));
        };
        let head = self.reply.event_stream(&paths.endpoint(&session));
        self.outputs.extend(head);
        let mut connection = Connection::over_http(Arc::clone(&self.config));
        if let Some(principal) = &self.principal {
            connection.handle_principal(now, Arc::clone(principal));
        }
        self.quiet_since = now.mono;
        self.stage = Stage::Connected(Box::new(Connected {
            connection,
            session,
            takes: true,
            held: VecDeque::new(),
            held_bytes: 0,
        }));
    }

    /// Says something to the connection, if there is one; `None` otherwise.
    pub(super) fn on_connection<T>(&mut self, now: Now, say: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let Stage::Connected(connected) = &mut self.stage else { return None };
        let said = say(&mut connected.connection);
        if self.relay() {
            self.quiet_since = now.mono;
        }
        Some(said)
    }

    /// Moves what the connection has to send onto the stream, as far as there is room, and goes on with what was held
    /// back. Whether there was anything to send.
    pub(super) fn relay(&mut self) -> bool {
        let Stage::Connected(connected) = &mut self.stage else { return false };
        let mut moved = false;
        loop {
            while self.reply.transmit.len() <= self.config.limits.transmit {
                let lines = connected.connection.transmit();
                // Each message is a line, and written whole.
                let Some(end) = lines.iter().position(|byte| *byte == b'\n') else { break };
                self.reply.message(lines.get(..end).unwrap_or_default());
                connected.connection.advance(end + 1);
                moved = true;
            }
            if !connected.go_on() {
                break;
            }
        }
        let takes = connected.takes_more();
        if core::mem::replace(&mut connected.takes, takes) != takes {
            let session = connected.session.clone();
            self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Takes { session, takes }));
        }
        if connected.connection.is_finished() {
            self.part();
        }
        moved
    }

    /// What the connection has to say.
    pub(super) fn poll_connection(&mut self) -> Option<ExchangeOutput> {
        loop {
            let Stage::Connected(connected) = &mut self.stage else { return None };
            let Some(output) = connected.connection.poll_output() else {
                let held = connected.held.len();
                self.relay();
                if let Some(output) = self.outputs.pop_front() {
                    return Some(output);
                }
                match &self.stage {
                    // That may have something to say.
                    Stage::Connected(connected) if connected.held.len() < held => continue,
                    _ => return None,
                }
            };
            if let Some(output) = self.as_own(output) {
                return Some(output);
            }
        }
    }

    fn as_own(&mut self, output: Output) -> Option<ExchangeOutput> {
        Some(match output {
            Output::Call(id, mut call) => {
                call.head = self.head.clone();
                ExchangeOutput::Call(id, call)
            }
            Output::Cancelled(id) => ExchangeOutput::Cancelled(id),
            Output::Answered(id, ask, answer) => ExchangeOutput::Answered(id, ask, answer),
            Output::Initialized => ExchangeOutput::Initialized,
            Output::Notification { method, params } => ExchangeOutput::Notification { method, params },
            Output::Diagnostic(diagnostic) => ExchangeOutput::Diagnostic(diagnostic),
            // Belongs to the era that this transport does not have.
            Output::Listen(..) | Output::Task(..) => return None,
        })
    }

    /// Nobody reads the stream any more: its calls are cancelled, and the session is over.
    pub(super) fn disconnect(&mut self, now: Now) {
        let Stage::Connected(connected) = &mut self.stage else { return };
        connected.connection.handle_end(now, End::Broken);
        self.part();
    }

    /// The stream is over, after what the connection still has to say to the application.
    fn part(&mut self) {
        let Stage::Connected(mut connected) = core::mem::replace(&mut self.stage, Stage::Answered) else {
            return;
        };
        // First, so that whoever sees a call end with the session does not find the session any more.
        let session = connected.session.clone();
        self.outputs.push_back(ExchangeOutput::Sse(SseQuery::Close { session }));
        while let Some(output) = connected.connection.poll_output() {
            let output = self.as_own(output);
            self.outputs.extend(output);
        }
        self.reply.end(None);
    }
}
