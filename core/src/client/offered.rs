//! What a server must have declared before something is asked of it.

use super::details::ServerDetails;
use crate::dialect::{METHODS, MethodKind, Side, Tasks};
use crate::error::CallError;
use crate::model::Json;
use crate::model::tasks::TASKS_EXTENSION;
use alloc::format;
use serde::Deserialize;

/// Whether a server has `method`, and declared the capability for it if that is looked at (INIT-13, VER-23,
/// PROMPT-15).
pub(super) fn offered(details: &ServerDetails, method: &str, look: bool) -> Result<(), CallError> {
    let revision = details.revision;
    let known = METHODS
        .iter()
        .any(|known| known.name == method && known.from == Side::Client && known.kind == MethodKind::Request);
    if known && !revision.knows_method(Side::Client, method) {
        return Err(CallError::Unsupported {
            what: format!("`{method}`, which revision {revision} does not have"),
            capability: None,
        });
    }
    match needed(details, method).filter(|_| look) {
        Some((capability, false)) => Err(CallError::Unsupported {
            what: format!("`{method}`: it did not declare the capability `{capability}`"),
            capability: Some(capability),
        }),
        _ => Ok(()),
    }
}

/// The capability that a method needs, and whether it was declared; `None` for a method that needs none.
fn needed(details: &ServerDetails, method: &str) -> Option<(&'static str, bool)> {
    let has = &details.capabilities;
    Some(match method {
        "resources/subscribe" | "resources/unsubscribe" => {
            let subscribe = has.resources.as_ref().and_then(|resources| resources.subscribe);
            ("resources.subscribe", subscribe.unwrap_or_default())
        }
        "tasks/get" | "tasks/update" | "tasks/cancel"
            if details.revision.dialect().tasks == Tasks::Extension =>
        {
            ("extensions.io.modelcontextprotocol/tasks", has.extension(TASKS_EXTENSION).is_some())
        }
        "tasks/get" | "tasks/result" => ("tasks", has.tasks.is_some()),
        "tasks/list" => ("tasks.list", task_capability(has.tasks.as_ref()).list.is_some()),
        "tasks/cancel" => ("tasks.cancel", task_capability(has.tasks.as_ref()).cancel.is_some()),
        "logging/setLevel" => ("logging", has.logging.is_some()),
        // The first revision has it without a capability.
        "completion/complete" => {
            ("completions", has.completions.is_some() || !details.revision.dialect().completions)
        }
        _ => match method.split_once('/')?.0 {
            "tools" => ("tools", has.tools.is_some()),
            "prompts" => ("prompts", has.prompts.is_some()),
            "resources" => ("resources", has.resources.is_some()),
            _ => return None,
        },
    })
}

#[derive(Default, Deserialize)]
struct TaskCapability {
    list: Option<Json>,
    cancel: Option<Json>,
    #[serde(default)]
    requests: TaskRequests,
}

#[derive(Default, Deserialize)]
struct TaskRequests {
    #[serde(default)]
    tools: ToolRequests,
}

#[derive(Default, Deserialize)]
struct ToolRequests {
    call: Option<Json>,
}

/// Whether a server of 2025-11-25 takes calls of tools as tasks (TASKL-02).
pub(super) fn calls_tools_as_tasks(details: &ServerDetails) -> bool {
    task_capability(details.capabilities.tasks.as_ref()).requests.tools.call.is_some()
}

fn task_capability(tasks: Option<&Json>) -> TaskCapability {
    tasks.and_then(|tasks| tasks.decode().ok()).unwrap_or_default()
}
