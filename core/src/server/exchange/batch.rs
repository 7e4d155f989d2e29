//! Several messages in one body, which only revision 2025-03-26 allows.
//!
//! <https://modelcontextprotocol.io/specification/2025-03-26/basic/index#batching>

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ask::unexpected;
use super::serve::told;
use super::{Exchange, ExchangeOutput, Stage};
use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::error::code;
use crate::server::asks::ClientResponse;
use crate::server::config::{Config, Transport};
use crate::server::dispatch::{self, Notice, Plan};
use crate::server::params::Params;
use crate::server::refusal::{self, Refusal};
use crate::server::session::SessionState;
use crate::server::sessions::SessionQuery;
use crate::server::target::{ProtocolRequest, Target};
use crate::wire::jsonrpc::{self, Batch, Incoming, Malformed, Message, Notification, Request, RequestId};

impl Exchange {
    /// Reads the messages of a batch, whose session is in this state.
    pub(super) fn batch(&mut self, text: &str, state: SessionState) {
        let Ok(Incoming::Batch(messages)) = jsonrpc::read_text(text, self.config.limits.depth) else {
            return;
        };
        if !state.revision.dialect().batching {
            return self.refuse(None, Era::Legacy, &no_batches());
        }
        self.state = Some(state.clone());
        let batch = self.batches.begin();
        let mut noted = Vec::new();
        for message in messages {
            let refused = match message {
                Ok(Message::Request(request)) => {
                    let served = self.batched(&request, batch, &state);
                    if served.is_err() && dispatch::may_be_call(&self.config, &request.method) {
                        noted.push(request.id.clone());
                    }
                    served.map_err(|refusal| (Some(request.id), refusal))
                }
                Ok(Message::Notification(notification)) => {
                    self.batched_notice(&notification);
                    Ok(())
                }
                Ok(Message::Response(response)) => {
                    // Whether anybody waits for it, the table knows; what it says comes too late for a batch.
                    match (self.session.clone(), ClientResponse::new(response)) {
                        (Some(session), Some(response)) => {
                            self.query(SessionQuery::Answer { session, response });
                        }
                        _ => self.diagnose(unexpected()),
                    }
                    Ok(())
                }
                Err(Malformed { id, error, .. }) => Err((id, Refusal::from(error))),
            };
            if let Err((id, refusal)) = refused {
                self.batches.answer(batch, |out| refusal.write(out, id.as_ref(), Some(state.revision)));
                self.diagnose(Diagnostic::new("jsonrpc", refusal.detail));
            }
        }
        // Noted as calls when the batch came, and none: unless another message with the same id has become one.
        for request in noted {
            if !self.calls.contains(&request) {
                self.finish(request);
            }
        }
        if self.calls.is_empty() {
            // Its stage until the line below: a batch without calls is over now.
            self.stage = Stage::Answered;
        }
        self.batch_over(batch);
    }

    fn batched(&mut self, request: &Request<'_>, batch: u64, state: &SessionState) -> Result<(), Refusal> {
        if self.batches.len() > self.config.limits.transmit {
            return Err(Refusal::plain(code::INTERNAL, "the answers to this batch are too large"));
        }
        if request.method == "initialize" {
            return Err(Refusal::plain(code::INVALID_REQUEST, "`initialize` must not be in a batch"));
        }
        let config = Arc::clone(&self.config);
        let mut params = Params::of(request.params);
        params.check()?;
        let whole = request.params.map_or("", |params| params.get());
        let viewer = config.visible.is_some().then(|| state.viewer(self.principal.clone()));
        let way = (Era::Legacy, Transport::Http);
        let plan = dispatch::plan(&config, way, viewer.as_ref(), request, &params, whole);
        self.permit(&request.method, plan.as_ref().ok().and_then(Plan::target))?;
        match plan? {
            plan if config.http.stateless && plan.needs_session() => {
                return Err(dispatch::unknown_method(Era::Legacy, &request.method));
            }
            Plan::Call(draft) => {
                if self.calls.contains(&request.id) {
                    return Err(dispatch::id_in_use());
                }
                if self.calls.len() >= config.limits.in_flight {
                    return Err(dispatch::too_many(config.limits.in_flight));
                }
                let id = request.id.clone();
                let call = draft.call(
                    id,
                    state.revision,
                    Some(state),
                    config.logging && !config.http.stateless,
                    String::from(whole),
                );
                self.batches.wait(batch);
                self.begin(call, Some(batch), None);
            }
            plan if plan.needs_session() => {
                // Calls are above.
                let Ok(asked) = ProtocolRequest::new(plan) else { return Ok(()) };
                let asked = Arc::new(asked);
                let target = Target::Protocol(Arc::clone(&asked));
                self.batches.wait(batch);
                let call = self.calls.wait(request.id.clone(), state.revision, Some(batch), target);
                self.stage = Stage::Running;
                self.carry_out(call, &asked.plan);
            }
            plan => {
                let mut written = Ok(());
                self.batches.answer(batch, |out| {
                    written =
                        dispatch::answer(&config, Transport::Http, state.revision, &request.id, &plan, out);
                    if written.is_err() {
                        jsonrpc::write_error(out, Some(&request.id), &refusal::unwritable());
                    }
                });
                if let Err(misuse) = written {
                    self.diagnose(Diagnostic::misuse(misuse).request(&request.id));
                }
            }
        }
        Ok(())
    }

    fn batched_notice(&mut self, notification: &Notification<'_>) {
        let Some(session) = self.session.clone() else { return };
        if let Err(refusal) = self.permit(&notification.method, None) {
            return self.diagnose(Diagnostic::new("http", refusal.detail));
        }
        let told = match dispatch::notice(&self.config, notification) {
            Notice::Initialized => {
                self.query(SessionQuery::Initialized { session });
                ExchangeOutput::Initialized
            }
            Notice::Cancelled { request, .. } => {
                self.query(SessionQuery::Cancel { session, request });
                return;
            }
            Notice::Other => told(notification),
            Notice::Ignored(detail) => ExchangeOutput::Diagnostic(Diagnostic::new("jsonrpc", detail)),
        };
        self.outputs.push_back(told);
    }
}

/// The requests of a batch that may become calls, each once.
pub(super) fn calls_of(config: &Config, messages: Batch<'_>) -> Vec<RequestId> {
    let requests: BTreeSet<_> = messages
        .filter_map(|message| match message {
            Ok(Message::Request(request)) if dispatch::may_be_call(config, &request.method) => {
                Some(request.id)
            }
            _ => None,
        })
        .collect();
    requests.into_iter().collect()
}

pub(super) fn no_batches() -> Refusal {
    let message = "a message must be one object; only sessions of revision 2025-03-26 have batches";
    Refusal::plain(code::INVALID_REQUEST, message)
}
