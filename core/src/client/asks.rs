//! What servers ask of a client, in either era: by a request of their own, or inside a result.

use super::answer::{InputResponse, Refusal};
use super::calls::CallId;
use super::config::Config;
use super::event::{Event, Events};
use super::link::Link;
use crate::diagnostic::Diagnostic;
use crate::dialect::{ElicitationModes, Revision};
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability};
use crate::model::elicitation::ElicitRequestParams;
use crate::model::input_required::InputRequest;
use crate::time::Instant;
use crate::wire::jsonrpc::{self, Request, RequestId};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Something that a server asks of a client. Never used again for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(u64);

/// What is asked and not answered.
#[derive(Debug)]
pub(super) struct Asks {
    limit: usize,
    last: u64,
    open: BTreeMap<AskId, Open>,
    /// Who waits for answers that are on their way, where that is to be known.
    sent: BTreeMap<AskId, Asker>,
}

struct Open {
    by: Asker,
    request: Arc<InputRequest>,
}

impl core::fmt::Debug for Open {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Open({}, {:?})", self.request.method(), self.by)
    }
}

/// Who waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A legacy server, under this id; over HTTP on the stream of this call.
    Server(RequestId, Option<CallId>),
    /// A call that a modern server answered so, which named it so.
    Call(CallId, String),
}

impl Asks {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, last: 0, open: BTreeMap::new(), sent: BTreeMap::new() }
    }

    /// Whether so many more fit.
    pub(super) fn has_room(&self, more: usize) -> bool {
        more <= self.limit.saturating_sub(self.open.len())
    }

    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn begin(&mut self, events: &mut Events, by: Asker, request: InputRequest) {
        self.last += 1;
        let (id, request) = (AskId(self.last), Arc::new(request));
        events.push(Event::Asked(id, Arc::clone(&request)));
        self.open.insert(id, Open { by, request });
    }

    /// Nobody waits for these answers any more.
    pub(super) fn retract(&mut self, events: &mut Events, which: impl Fn(&Asker) -> bool) {
        self.open.retain(|&id, open| {
            let gone = which(&open.by);
            if gone {
                events.retract(id);
            }
            !gone
        });
        self.sent.retain(|_, by| !which(by));
    }

    /// An answer is on its way; that of the application, or one that nobody was asked for.
    pub(super) fn sends(&mut self, ask: Option<AskId>, to: Asker) -> AskId {
        let ask = ask.unwrap_or_else(|| {
            self.last += 1;
            AskId(self.last)
        });
        self.sent.insert(ask, to);
        ask
    }

    /// An answer has arrived, or will not.
    pub(super) fn sent(&mut self, ask: AskId) {
        self.sent.remove(&ask);
    }

    /// Whether somebody waits for an answer that is on its way.
    pub(super) fn is_awaited(&self, ask: AskId) -> bool {
        self.sent.contains_key(&ask)
    }

    /// Answers that are on their way.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.sent.len()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }
}

/// What is to be done about an answer.
pub(super) enum Answered {
    /// It is sent to a legacy server, which waits for it like this.
    Reply(Vec<u8>, Asker),
    /// It was the last one that a call waits for: the call is made again.
    Again(CallId),
}

impl Link {
    /// A request of a legacy server, on the stream of a call: it is handed out, or answered with this error.
    pub(super) fn ask(&mut self, request: &Request<'_>, on: Option<CallId>) -> Result<(), ErrorObject> {
        let Some(details) = self.details.as_deref() else {
            return Err(ErrorObject::new(code::INVALID_REQUEST, "Not initialized yet"));
        };
        may_be_asked(&self.config.capabilities, details.revision, &request.method)
            .map_err(Inadmissible::into_error)?;
        let asked = read(request)?;
        admit(&self.config, details.revision, &asked).map_err(Inadmissible::into_error)?;
        let is_same = |open: &Open| matches!(&open.by, Asker::Server(id, _) if *id == request.id);
        if self.asks.open.values().any(is_same) {
            // A stream that is taken up again may bring it twice: it is one question, and has one answer.
            let text = format!("`{}` was requested twice under one id", asked.method());
            self.events.diagnose(Diagnostic::new("client", text).request(&request.id));
            return Ok(());
        }
        if !self.asks.has_room(1) {
            // As servers say it who are asked too much.
            return Err(ErrorObject::new(code::INTERNAL, "Too many requests at once"));
        }
        self.asks.begin(&mut self.events, Asker::Server(request.id.clone(), on), asked);
        Ok(())
    }

    /// An answer of the application; `None` when nothing is to be done about it. When it is refused, the question
    /// stays open.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<Option<Answered>, ApiMisuse> {
        let (Some(open), Some(details)) = (self.asks.open.get(&ask), self.details.as_deref()) else {
            return Ok(None);
        };
        let outcome = match answer {
            Ok(response) => Ok(response.write(&open.request, details.revision)?),
            Err(refusal) => Err(refusal),
        };
        let Some(Open { by, .. }) = self.asks.open.remove(&ask) else { return Ok(None) };
        match by {
            Asker::Server(ref id, _) => {
                let mut message = Vec::new();
                match outcome {
                    Ok(result) => jsonrpc::write_result(&mut message, id, &result)?,
                    Err(refusal) => jsonrpc::write_error(&mut message, Some(id), &refusal.into_error()),
                }
                Ok(Some(Answered::Reply(message, by)))
            }
            Asker::Call(call, key) => {
                Ok(self.input(now, call, key, outcome).then_some(Answered::Again(call)))
            }
        }
    }

    /// The server does not wait for the answer to its request any more (CAN-16); unknown ones are nobody's fault
    /// (CAN-12).
    pub(super) fn server_cancels(&mut self, id: &RequestId) {
        self.asks.retract(&mut self.events, |by| matches!(by, Asker::Server(asked, _) if asked == id));
    }

    /// The server that asked is gone, or its session.
    pub(super) fn drop_requests(&mut self) {
        self.asks.retract(&mut self.events, |by| matches!(by, Asker::Server(..)));
    }

    /// A call is given up, and so is what the server asked in its course.
    pub(super) fn drop_requests_of(&mut self, call: CallId) {
        self.asks.retract(&mut self.events, |by| matches!(by, Asker::Server(_, Some(on)) if *on == call));
    }
}

/// What a request of a legacy server asks.
fn read(request: &Request<'_>) -> Result<InputRequest, ErrorObject> {
    Ok(match &*request.method {
        "elicitation/create" => InputRequest::Elicit(jsonrpc::decode(request.params, "params")?),
        "sampling/createMessage" => InputRequest::CreateMessage(jsonrpc::decode(request.params, "params")?),
        "roots/list" => InputRequest::ListRoots,
        _ => return Err(Inadmissible::Method.into_error()),
    })
}

/// Why something cannot be asked of this client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inadmissible {
    /// It did not declare that it can be asked that at all.
    Method,
    /// It did not declare that it shows forms.
    Form,
    /// It did not declare that it sends the user to a URL.
    Url,
    /// It did not declare that its model may use tools.
    Tools,
    /// Nobody can be asked that.
    Invalid(&'static str),
}

impl Inadmissible {
    /// ROOT-06, ELIC-06, SAMP-05, SAMP-24
    fn into_error(self) -> ErrorObject {
        match self {
            Self::Method => ErrorObject::new(code::METHOD_NOT_FOUND, "Method not found"),
            other => ErrorObject::new(code::INVALID_PARAMS, other.reason()),
        }
    }

    /// What is wrong, for people.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Method => "the capability for it was not declared",
            Self::Form => "the capability `elicitation.form` was not declared",
            Self::Url => "the capability `elicitation.url` was not declared",
            Self::Tools => "the capability `sampling.tools` was not declared",
            Self::Invalid(reason) => reason,
        }
    }
}

/// Whether this client may be asked that: it declared it, in this revision, and it makes sense.
pub(super) fn admit(config: &Config, revision: Revision, request: &InputRequest) -> Result<(), Inadmissible> {
    declared(&config.capabilities, revision, request)?;
    match request {
        // What a form holds that forms do not have is left to the application: servers in use send it.
        InputRequest::Elicit(ElicitRequestParams::Form(_)) => Ok(()),
        // So is a conversation in which nothing was said but the system prompt.
        InputRequest::CreateMessage(params) => params.check().map_err(Inadmissible::Invalid),
        request => request.check().map_err(Inadmissible::Invalid),
    }
}

/// Whether this client declared, in this revision, that it can be asked for `method` at all.
fn may_be_asked(
    capabilities: &ClientCapabilities,
    revision: Revision,
    method: &str,
) -> Result<(), Inadmissible> {
    let declared = match method {
        "elicitation/create" => match (&capabilities.elicitation, revision.dialect().elicitation) {
            (None, _) | (_, ElicitationModes::None) => false,
            (Some(has), ElicitationModes::Form) => has.supports_form(),
            (Some(_), ElicitationModes::FormAndUrl) => true,
        },
        "sampling/createMessage" => capabilities.sampling.is_some(),
        "roots/list" => capabilities.roots.is_some(),
        _ => false,
    };
    if declared { Ok(()) } else { Err(Inadmissible::Method) }
}

fn declared(
    capabilities: &ClientCapabilities,
    revision: Revision,
    request: &InputRequest,
) -> Result<(), Inadmissible> {
    may_be_asked(capabilities, revision, request.method())?;
    let dialect = revision.dialect();
    let (elicitation, sampling) = (capabilities.elicitation.as_ref(), capabilities.sampling.as_ref());
    match request {
        InputRequest::Elicit(ElicitRequestParams::Form(_))
            if !elicitation.is_some_and(ElicitationCapability::supports_form) =>
        {
            Err(Inadmissible::Form)
        }
        InputRequest::Elicit(ElicitRequestParams::Url(_))
            if dialect.elicitation != ElicitationModes::FormAndUrl
                || !elicitation.is_some_and(ElicitationCapability::supports_url) =>
        {
            Err(Inadmissible::Url)
        }
        InputRequest::CreateMessage(params)
            if (!params.tools.is_empty() || params.tool_choice.is_some())
                && (!dialect.sampling_tools || sampling.is_none_or(|has| has.tools.is_none())) =>
        {
            Err(Inadmissible::Tools)
        }
        _ => Ok(()),
    }
}
