//! What servers say.

use super::tasks;
use alloc::string::String;

pub(super) const ELICIT: &str = "\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\",\
    \"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}";
pub(super) const INPUT_REQUIRED: &str = "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\",\
    \"inputRequests\":{\"a\":{\"method\":\"roots/list\"},\"b\":{\"method\":\"roots/list\"}}}";
pub(super) const LATER: &str = "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\"}";

pub(super) const GREETING: &str = "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true}}}";
pub(super) const PAGES: &str = "\"error\":{\"code\":-32042,\"message\":\"m\",\"data\":{\"elicitations\":[{\"mode\":\"url\",\"elicitationId\":\"i\",\"url\":\"https://h.example/\",\"message\":\"m\"}]}}";
pub(super) const TOOL: &str = "{\"name\":\"t\",\"inputSchema\":{\"properties\":\
    {\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}},\"outputSchema\":{\"type\":\"object\"}}";

/// What a kind server would answer to a request, which wants input first or not; nothing to other messages.
pub(super) fn answer(request: &[u8], choice: u8) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Request {
        id: i64,
        method: String,
    }
    let Request { id, method } = serde_json::from_slice(request).ok()?;
    Some(match &*method {
        "server/discover" => format(
            id,
            "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true}}}",
        ),
        "initialize" if choice & 24 == 24 => format(id, GREETING).replace("\"tools\"", tasks::LEGACY),
        "initialize" if choice & 8 == 8 => format(id, GREETING),
        "initialize" => format(id, GREETING).replace("2025-11-25", "2025-03-26"),
        "tools/call" if choice & 48 == 48 => tasks::created(id),
        "tasks/get" => tasks::told(id, choice),
        "tools/call" if choice & 11 == 11 => format(id, PAGES),
        "tools/call" if choice % 4 == 1 => format(id, INPUT_REQUIRED),
        "tools/call" if choice % 4 == 2 => format(id, LATER),
        "subscriptions/listen" if !choice.is_multiple_of(4) => acknowledgement(id),
        _ => {
            let rest = "],\"contents\":[],\"nextCursor\":\"n\",\"ttlMs\":900}";
            format(id, &["\"result\":{\"content\":[],\"tools\":[", TOOL, rest].concat())
        }
    })
}

pub(super) fn format(id: i64, rest: &str) -> String {
    alloc::format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}")
}

pub(super) fn acknowledgement(id: i64) -> String {
    alloc::format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"notifications\":\
         {{\"toolsListChanged\":true}},\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}}}"
    )
}
