//! Subscriptions with a modern server: a stream for each, opened by a request that is answered when it ends.

use super::{Notice, SubscriptionId, Todo, filter};
use crate::change::Change;
use crate::client::calls::timed_out;
use crate::client::link::Link;
use crate::diagnostic::Diagnostic;
use crate::error::CallError;
use crate::model::Json;
use crate::model::result::ResultType;
use crate::model::subscriptions::{SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams};
use crate::model::tasks::{DetailedTask, TaskStatusNotificationParams};
use crate::time::{Duration, Instant};
use crate::wire::jsonrpc::RequestId;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A stream that lasted so long was a good one: when it breaks, trying begins anew.
const LASTING: Duration = Duration::from_secs(30);

/// As much of the parameters of a notification as tells what it is about, and for whom.
#[derive(Default, Deserialize)]
pub(in crate::client) struct About {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default, rename = "taskId")]
    task: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: Option<AboutMeta>,
}

#[derive(Deserialize)]
struct AboutMeta {
    #[serde(default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<RequestId>,
}

/// Whether a notification tells how far a task is.
fn about_tasks(method: &str) -> bool {
    matches!(method, "notifications/tasks" | "notifications/tasks/status")
}

impl About {
    pub(in crate::client) fn of(params: Option<&RawValue>) -> Self {
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
    }

    fn wire(&self) -> Option<i64> {
        self.meta.as_ref()?.subscription.as_ref()?.as_i64()
    }

    /// The task or resource that it is about.
    pub(in crate::client) fn subject(self) -> Option<String> {
        self.task.or(self.uri)
    }

    /// The task whose state the notification tells (TASK-50, TASKL-37).
    pub(in crate::client) fn task_of(&self, method: &str, params: Option<&RawValue>) -> Option<DetailedTask> {
        let params = params.filter(|_| about_tasks(method) && self.task.is_some())?;
        serde_json::from_str::<TaskStatusNotificationParams>(params.get()).ok().map(|params| params.task)
    }

    /// The change that the notification tells of.
    pub(in crate::client) fn change(&self, method: &str) -> Option<Change> {
        Some(match method {
            "notifications/tools/list_changed" => Change::Tools,
            "notifications/prompts/list_changed" => Change::Prompts,
            "notifications/resources/list_changed" => Change::Resources,
            "notifications/resources/updated" => Change::Resource(self.uri.as_deref()?.into()),
            _ => return None,
        })
    }
}

impl Link {
    /// Asks for a stream. Whoever carries the request says when it is [sent](Self::stream_asked).
    pub(super) fn open_stream(&mut self, id: SubscriptionId, wanted: Arc<SubscriptionFilter>) {
        let wire = self.calls.next_wire();
        let table = &mut self.subscriptions;
        let Some(entry) = table.entries.get_mut(&id) else { return };
        entry.opening = Some(wire);
        table.wires.insert(wire, id);
        table.todo.push_back(Todo::Listen(wire, wanted));
        table.wake_at(id, None);
    }

    /// The request for a stream is on its way: from now on the server has time to acknowledge it. One that waits for a
    /// connection has none to lose.
    pub(in crate::client) fn stream_asked(&mut self, now: Instant, wire: i64) {
        let table = &mut self.subscriptions;
        let Some(&id) = table.wires.get(&wire) else { return };
        if table.entries.get(&id).is_some_and(|entry| entry.opening == Some(wire)) {
            table.wake_at(id, Some(now + self.config.limits.acknowledgement));
        }
    }

    /// The first message of a stream (SUB-03). `on` is the request whose stream it came on, where there are several.
    /// Whether anybody had asked for it.
    pub(in crate::client) fn stream_acknowledged(
        &mut self,
        now: Instant,
        on: Option<i64>,
        params: Option<&RawValue>,
    ) -> bool {
        let table = &mut self.subscriptions;
        let Some(wire) = on.or_else(|| About::of(params).wire()) else { return false };
        let Some(&id) = table.wires.get(&wire) else { return false };
        let Some(params) = params.and_then(|params| {
            serde_json::from_str::<SubscriptionsAcknowledgedNotificationParams>(params.get()).ok()
        }) else {
            let reason = "expected what is acknowledged of a subscription, found something else".to_owned();
            self.stream_failed(id, wire, CallError::Invalid { reason });
            return true;
        };
        let Some(entry) = table.entries.get_mut(&id) else { return false };
        if entry.opening != Some(wire) {
            // Repeated, or of a stream that another has replaced.
            return true;
        }
        let replaced = entry.current.replace(wire);
        (entry.opening, entry.since, entry.until) = (None, Some(now), None);
        table.wake_at(id, None);
        // Not before the new one is there, so that nothing falls between them.
        table.todo.extend(replaced.map(Todo::Retire));
        self.acknowledge(id, params.notifications);
        true
    }

    /// A notification of a modern server, for whoever listens on its stream (SUB-08, SUB-09).
    pub(in crate::client) fn tell_listener(
        &mut self,
        on: Option<i64>,
        method: &str,
        params: Option<&RawValue>,
        about: About,
    ) {
        let Some(wire) = on.or_else(|| about.wire()) else { return };
        let Some(&id) = self.subscriptions.wires.get(&wire) else { return };
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        let notice = match about.change(method) {
            Some(change) if filter::asked_for(&entry.wanted, &change) => Notice::Changed(change),
            None if let Some(task) = about.task_of(method, params)
                && entry.wanted.task_ids().contains(&task.task.task_id) =>
            {
                Notice::Task(Box::new(task))
            }
            None if !about_tasks(method) && entry.wanted.has_others() => Notice::Other {
                method: method.to_owned(),
                params: params.map(Json::from),
                about: about.subject(),
            },
            // The filter has changed, and the stream is still the one before.
            _ if entry.before.is_some() || entry.current != Some(wire) => return,
            _ => {
                let method = crate::text::excerpt(method);
                let text =
                    format!("`{method}` came on a stream that it was not asked for on, and is skipped");
                return self.events.diagnose(Diagnostic::new("subscription", text));
            }
        };
        self.deliver(id, notice);
    }

    /// The request that opened a stream was answered: the stream is over (SUB-13), or never came about.
    pub(in crate::client) fn stream_answered(&mut self, wire: i64, outcome: Result<&RawValue, CallError>) {
        let Some(id) = self.subscriptions.wires.remove(&wire).filter(|id| self.is_stream_of(*id, wire))
        else {
            return;
        };
        match outcome {
            Ok(result) => match ResultType::of(result) {
                Ok(ResultType::Complete) => self.stream_ended(id, wire),
                _ => {
                    let reason =
                        "expected a complete result at the end of a subscription, found another".to_owned();
                    self.stream_failed(id, wire, CallError::Invalid { reason });
                }
            },
            Err(error) => self.stream_failed(id, wire, error),
        }
    }

    /// The server takes a subscription back by cancelling its request, instead of answering it (CAN-06). Whether it
    /// was one.
    pub(in crate::client) fn stream_cancelled(&mut self, request: &RequestId) -> bool {
        let Some(wire) = request.as_i64() else { return false };
        let Some(&id) = self.subscriptions.wires.get(&wire) else { return false };
        if self.is_stream_of(id, wire) {
            self.stream_ended(id, wire);
        }
        self.subscriptions.todo.push_back(Todo::Over(wire));
        true
    }

    /// Whether a stream is the one of a subscription or to become it, and not one that another has replaced.
    fn is_stream_of(&self, id: SubscriptionId, wire: i64) -> bool {
        let entry = self.subscriptions.entries.get(&id);
        entry.is_some_and(|entry| [entry.current, entry.opening].contains(&Some(wire)))
    }

    /// In good order.
    fn stream_ended(&mut self, id: SubscriptionId, wire: i64) {
        self.subscriptions.wires.remove(&wire);
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        if entry.current == Some(wire) && entry.opening.is_some() {
            // It is about to be replaced anyway.
            (entry.current, entry.gap) = (None, true);
            return;
        }
        self.end_subscription(id, Ok(()));
    }

    /// The server does not give this stream. If it was to replace another, that goes on.
    fn stream_failed(&mut self, id: SubscriptionId, wire: i64, error: CallError) {
        let entry = self.subscriptions.entries.get_mut(&id);
        if let Some(entry) = entry.filter(|entry| entry.opening == Some(wire)) {
            entry.opening = None;
            self.subscriptions.close_stream(Some(wire));
        }
        self.give_up_stream(id, error);
    }

    /// There will be no further stream. If it was to replace one, that goes on.
    fn give_up_stream(&mut self, id: SubscriptionId, error: CallError) {
        let entry = self.subscriptions.entries.get_mut(&id);
        let Some(entry) = entry.filter(|entry| entry.opening.is_none() && entry.current.is_some()) else {
            return self.end_subscription(id, Err(error));
        };
        if let Some(before) = entry.before.take() {
            entry.wanted = before;
        }
        (entry.refusal, entry.until) = (Some(error), None);
        self.subscriptions.wake_at(id, None);
        self.tell(id);
    }

    /// The time for the acknowledgement is over.
    pub(super) fn not_acknowledged(&mut self, id: SubscriptionId, wire: i64) {
        self.stream_failed(id, wire, timed_out(self.config.limits.acknowledgement));
    }

    /// The stream of a request broke off, or could not be had (SUB-15): it is opened again, later each time. `after` is
    /// how long the server wants to be left alone.
    pub(in crate::client) fn stream_broke(
        &mut self,
        now: Instant,
        wire: i64,
        reason: &str,
        after: Option<Duration>,
    ) {
        let Some(id) = self.subscriptions.wires.remove(&wire).filter(|id| self.is_stream_of(*id, wire))
        else {
            return;
        };
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        if entry.current.is_none_or(|current| current == wire) {
            entry.gap |= entry.acknowledged.is_some();
        }
        if entry.current == Some(wire) {
            entry.current = None;
            let lasted = entry.since.take().is_some_and(|since| now.saturating_since(since) >= LASTING);
            if lasted {
                entry.fruitless = 0;
            }
            if entry.opening.is_some() {
                return;
            }
        } else {
            entry.opening = None;
        }
        let total = self.config.limits.resume_total;
        let until = *entry.until.get_or_insert(now + total);
        let wait = self.backoff.wait(entry.fruitless).max(after.unwrap_or_default());
        entry.fruitless = entry.fruitless.saturating_add(1);
        let at = now + wait;
        if at > until {
            let reason = format!(
                "the subscription broke off and could not be opened again within {total:?}: {reason}"
            );
            return self.give_up_stream(id, CallError::Broken { reason, unsent: false });
        }
        self.subscriptions.wake_at(id, Some(at));
        self.tell(id);
    }
}
