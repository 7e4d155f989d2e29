//! What servers say of tasks.

use super::messages::format;
use crate::client::TaskHandle;
use alloc::string::String;

/// What a server of 2025-11-25 declares that has tasks, in front of its tools.
pub(super) const LEGACY: &str = "\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}},\"tools\"";

const TASK: &str = "\"taskId\":\"k\",\"createdAt\":\"c\",\"lastUpdatedAt\":\"l\"";

pub(super) fn handle() -> TaskHandle {
    TaskHandle::new("k").with_tool("t")
}

/// A call goes on as a task, in the form of either era.
pub(super) fn created(id: i64) -> String {
    let task = [TASK, ",\"status\":\"working\""].concat();
    format(id, &["\"result\":{\"resultType\":\"task\",", &task, ",\"task\":{", &task, "}}"].concat())
}

/// How far one is.
pub(super) fn told(id: i64, choice: u8) -> String {
    let rest = match choice / 4 % 8 {
        0 => "\"status\":\"completed\",\"result\":{\"content\":[]}",
        1 => "\"status\":\"failed\",\"error\":{\"code\":1,\"message\":\"m\"}",
        2 => "\"status\":\"cancelled\"",
        3 => "\"status\":\"completed\"",
        4 => {
            "\"status\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"roots/list\"},\"b\":{\"method\":\"x\"}}"
        }
        5 => "\"status\":\"input_required\",\"inputRequests\":{\"c\":{\"method\":\"roots/list\"}}",
        6 => "\"status\":\"working\",\"ttlMs\":700",
        _ => "\"status\":\"working\",\"pollIntervalMs\":0",
    };
    format(id, &["\"result\":{", TASK, ",", rest, "}"].concat())
}
