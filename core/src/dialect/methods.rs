//! Every message of the protocol: who may send it, and in which revisions.

use super::Revision;
use super::Revision::{V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

/// A party of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Whether a message is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// It is.
    Request,
    /// It never is (RPC-21).
    Notification,
}

/// One row of [`METHODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// The name as it travels.
    pub name: &'static str,
    /// Who sends it.
    pub from: Side,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The first revision that has it.
    pub since: Revision,
    /// The last revision that has it.
    pub until: Revision,
    /// The extension that it belongs to; both peers have to declare it first.
    pub extension: Option<&'static str>,
}

const LEGACY: (Revision, Revision) = (V2024_11_05, Revision::LATEST_LEGACY);
const ALWAYS: (Revision, Revision) = (V2024_11_05, Revision::LATEST);
const MODERN: (Revision, Revision) = (V2026_07_28, Revision::LATEST);
const ONLY_2025_11_25: (Revision, Revision) = (V2025_11_25, V2025_11_25);
const TASKS: Option<&str> = Some(crate::model::TASKS_EXTENSION);

/// All messages. A name appears once for each side that sends it and each span of revisions.
///
/// `sampling/createMessage`, `roots/list` and `elicitation/create` exist in 2026-07-28 too, but not as
/// messages: there they are input requests inside a result, see [`Revision::knows_input_request`].
pub const METHODS: &[Method] = &[
    request(Side::Client, "initialize", LEGACY),
    request(Side::Client, "ping", LEGACY),
    request(Side::Server, "ping", LEGACY),
    request(Side::Client, "server/discover", MODERN),
    request(Side::Client, "tools/list", ALWAYS),
    request(Side::Client, "tools/call", ALWAYS),
    request(Side::Client, "prompts/list", ALWAYS),
    request(Side::Client, "prompts/get", ALWAYS),
    request(Side::Client, "resources/list", ALWAYS),
    request(Side::Client, "resources/templates/list", ALWAYS),
    request(Side::Client, "resources/read", ALWAYS),
    request(Side::Client, "resources/subscribe", LEGACY),
    request(Side::Client, "resources/unsubscribe", LEGACY),
    request(Side::Client, "subscriptions/listen", MODERN),
    request(Side::Client, "completion/complete", ALWAYS),
    request(Side::Client, "logging/setLevel", LEGACY),
    request(Side::Server, "sampling/createMessage", LEGACY),
    request(Side::Server, "roots/list", LEGACY),
    request(Side::Server, "elicitation/create", (V2025_06_18, Revision::LATEST_LEGACY)),
    request(Side::Client, "tasks/get", ONLY_2025_11_25),
    request(Side::Client, "tasks/result", ONLY_2025_11_25),
    request(Side::Client, "tasks/list", ONLY_2025_11_25),
    request(Side::Client, "tasks/cancel", ONLY_2025_11_25),
    request(Side::Server, "tasks/get", ONLY_2025_11_25),
    request(Side::Server, "tasks/result", ONLY_2025_11_25),
    request(Side::Server, "tasks/list", ONLY_2025_11_25),
    request(Side::Server, "tasks/cancel", ONLY_2025_11_25),
    Method { extension: TASKS, ..request(Side::Client, "tasks/get", MODERN) },
    Method { extension: TASKS, ..request(Side::Client, "tasks/update", MODERN) },
    Method { extension: TASKS, ..request(Side::Client, "tasks/cancel", MODERN) },
    notification(Side::Client, "notifications/initialized", LEGACY),
    notification(Side::Client, "notifications/cancelled", ALWAYS),
    notification(Side::Server, "notifications/cancelled", ALWAYS),
    notification(Side::Client, "notifications/progress", LEGACY),
    notification(Side::Server, "notifications/progress", ALWAYS),
    notification(Side::Server, "notifications/message", ALWAYS),
    notification(Side::Server, "notifications/tools/list_changed", ALWAYS),
    notification(Side::Server, "notifications/prompts/list_changed", ALWAYS),
    notification(Side::Server, "notifications/resources/list_changed", ALWAYS),
    notification(Side::Server, "notifications/resources/updated", ALWAYS),
    notification(Side::Server, "notifications/subscriptions/acknowledged", MODERN),
    notification(Side::Client, "notifications/roots/list_changed", LEGACY),
    notification(Side::Server, "notifications/elicitation/complete", ONLY_2025_11_25),
    notification(Side::Client, "notifications/tasks/status", ONLY_2025_11_25),
    notification(Side::Server, "notifications/tasks/status", ONLY_2025_11_25),
    Method { extension: TASKS, ..notification(Side::Server, "notifications/tasks", MODERN) },
];

impl Revision {
    /// The message `name` when sent by `from`, `None` when this revision does not have it.
    pub fn method(self, from: Side, name: &str) -> Option<&'static Method> {
        METHODS.iter().find(|method| {
            method.from == from && method.name == name && method.since <= self && self <= method.until
        })
    }

    /// Whether `from` may send the message `name` in this revision, extensions included.
    pub fn knows_method(self, from: Side, name: &str) -> bool {
        self.method(from, name).is_some()
    }

    /// Whether a result may ask the client for `name` as an input request.
    pub fn knows_input_request(self, name: &str) -> bool {
        self.dialect().result_type
            && matches!(name, "sampling/createMessage" | "roots/list" | "elicitation/create")
    }
}

const fn request(from: Side, name: &'static str, (since, until): (Revision, Revision)) -> Method {
    Method { name, from, kind: MethodKind::Request, since, until, extension: None }
}

const fn notification(from: Side, name: &'static str, (since, until): (Revision, Revision)) -> Method {
    Method { name, from, kind: MethodKind::Notification, since, until, extension: None }
}
