//! One message of each kind, in the revisions with a handshake: payloads decode and encode to the same JSON.

use super::round_trips;
use crate::dialect::Revision::*;
use crate::model::cancellation::CancelledNotificationParams;
use crate::model::completion::{CompleteRequestParams, CompleteResult};
use crate::model::elicitation::{ElicitRequestParams, ElicitResult, ElicitationCompleteNotificationParams};
use crate::model::error_data::{
    ResourceNotFoundData, UnsupportedProtocolVersionData, UrlElicitationRequiredData,
};
use crate::model::lifecycle::{InitializeRequestParams, InitializeResult};
use crate::model::logging::{LoggingMessageNotificationParams, SetLevelRequestParams};
use crate::model::progress::ProgressNotificationParams;
use crate::model::prompts::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use crate::model::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResult,
    ResourceUriParams,
};
use crate::model::result::EmptyResult;
use crate::model::roots::ListRootsResult;
use crate::model::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::model::tasks::{CreateTaskResult, GetTaskResult, ListTasksResult, TaskStatusNotificationParams};
use crate::model::tools::{CallToolRequestParams, CallToolResult, ListToolsResult, Tool};

round_trips! {
    initialize_request: InitializeRequestParams, V2025_11_25, r#"{
          "protocolVersion": "2025-11-25",
          "capabilities": {
            "elicitation": {"form": {}, "url": {}},
            "sampling": {"tools": {}},
            "roots": {"listChanged": true},
            "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}
          },
          "clientInfo": {"name": "kiln", "version": "0.3.0"}
        }"#;
    initialize_result: InitializeResult, V2025_11_25, r#"{
          "protocolVersion": "2025-11-25",
          "capabilities": {
            "tools": {"listChanged": true},
            "resources": {"subscribe": true},
            "prompts": {},
            "logging": {},
            "completions": {},
            "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
          },
          "serverInfo": {"name": "spokes", "version": "2.1.0"},
          "instructions": "Bike workshop tools."
        }"#;
    ping_result: EmptyResult, V2025_11_25, r#"{}"#;
    tools_list_result: ListToolsResult, V2025_11_25, r#"{
          "tools": [
            {
              "name": "book_slot",
              "inputSchema": {"type": "object"},
              "execution": {"taskSupport": "optional"}
            }
          ]
        }"#;
    tools_call_request: CallToolRequestParams, V2025_11_25, r#"{"name": "book_slot", "arguments": {"bike": "B-42"}}"#;
    tools_call_result: CallToolResult, V2025_11_25, r#"{
          "content": [{"type": "text", "text": "{\"slot\":\"09:30\"}"}],
          "structuredContent": {"slot": "09:30"},
          "isError": false
        }"#;
    prompts_list_result: ListPromptsResult, V2025_11_25, r#"{"prompts": [{"name": "ticket"}]}"#;
    prompts_get_request: GetPromptRequestParams, V2025_11_25, r#"{"name": "ticket", "arguments": {"bike": "B-42"}}"#;
    prompts_get_result: GetPromptResult, V2025_11_25, r#"{"messages": [{"role": "user", "content": {"type": "text", "text": "Summarise B-42"}}]}"#;
    resources_list_result: ListResourcesResult, V2025_11_25, r#"{"resources": [{"uri": "shop://bikes/42", "name": "bike 42"}]}"#;
    resources_templates_list_result: ListResourceTemplatesResult, V2025_11_25, r#"{"resourceTemplates": [{"uriTemplate": "shop://bikes/{id}", "name": "bike"}]}"#;
    resources_read_request: ReadResourceRequestParams, V2025_11_25, r#"{"uri": "shop://bikes/42"}"#;
    resources_read_result: ReadResourceResult, V2025_11_25, r#"{"contents": [{"uri": "shop://bikes/42", "text": "{\"gears\":11}"}]}"#;
    resources_subscribe_request: ResourceUriParams, V2025_11_25, r#"{"uri": "shop://bikes/42"}"#;
    resources_subscribe_result: EmptyResult, V2025_11_25, r#"{}"#;
    completion_complete_request: CompleteRequestParams, V2025_11_25, r#"{"ref": {"type": "ref/prompt", "name": "ticket"}, "argument": {"name": "bike", "value": "B"}}"#;
    completion_complete_result: CompleteResult, V2025_11_25, r#"{"completion": {"values": ["B-42"]}}"#;
    logging_setlevel_request: SetLevelRequestParams, V2025_11_25, r#"{"level": "notice"}"#;
    sampling_createmessage_request: CreateMessageRequestParams, V2025_11_25, r#"{
          "messages": [{"role": "user", "content": {"type": "text", "text": "Name this noise: clunk"}}],
          "maxTokens": 40
        }"#;
    sampling_createmessage_result: CreateMessageResult, V2025_11_25, r#"{
          "role": "assistant",
          "content": {"type": "text", "text": "bottom bracket"},
          "model": "m-1",
          "stopReason": "endTurn"
        }"#;
    roots_list_result: ListRootsResult, V2025_11_25, r#"{"roots": [{"uri": "file:///srv/bikes"}]}"#;
    elicitation_create_form_request: ElicitRequestParams, V2025_11_25, r#"{
          "mode": "form",
          "message": "Which day?",
          "requestedSchema": {
            "type": "object",
            "properties": {
              "day": {"type": "string", "format": "date", "default": "2026-08-03"},
              "rush": {"type": "boolean", "default": false},
              "hours": {"type": "integer", "minimum": 1, "maximum": 8},
              "wax": {
                "type": "string",
                "oneOf": [{"const": "d", "title": "Dry"}, {"const": "w", "title": "Wet"}]
              },
              "extras": {
                "type": "array",
                "items": {"type": "string", "enum": ["wash", "tape"]},
                "maxItems": 2
              }
            },
            "required": ["day"]
          }
        }"#;
    elicitation_create_form_result: ElicitResult, V2025_11_25, r#"{"action": "accept", "content": {"day": "2026-08-04", "extras": ["tape"]}}"#;
    elicitation_create_url_request: ElicitRequestParams, V2025_11_25, r#"{
          "mode": "url",
          "message": "Pay the deposit",
          "url": "https://pay.spokes.example/d/81",
          "elicitationId": "el-81"
        }"#;
    elicitation_create_url_result: ElicitResult, V2025_11_25, r#"{"action": "accept"}"#;
    notifications_cancelled: CancelledNotificationParams, V2025_11_25, r#"{"requestId": 3, "reason": "timeout"}"#;
    notifications_progress: ProgressNotificationParams, V2025_11_25, r#"{"progressToken": 7, "progress": 1, "total": 4}"#;
    notifications_message: LoggingMessageNotificationParams, V2025_11_25, r#"{"level": "info", "data": "bay 3 free"}"#;
    notifications_resources_updated: ResourceUriParams, V2025_11_25, r#"{"uri": "shop://bikes/42"}"#;
    notifications_elicitation_complete: ElicitationCompleteNotificationParams, V2025_11_25, r#"{"elicitationId": "el-81"}"#;
    tools_call_as_a_task: CallToolRequestParams, V2025_11_25, r#"{"name": "overhaul", "arguments": {"bike": "B-42"}, "task": {"ttl": 60000}}"#;
    create_task_result: CreateTaskResult, V2025_11_25, r#"{"task": {"taskId": "7c1e","createdAt": "2025-12-01T08:00:00Z","lastUpdatedAt": "2025-12-01T08:00:03Z","ttl": 60000, "status": "working", "pollInterval": 1500}}"#;
    tasks_get_result: GetTaskResult, V2025_11_25, r#"{"taskId": "7c1e","createdAt": "2025-12-01T08:00:00Z","lastUpdatedAt": "2025-12-01T08:00:03Z","ttl": 60000, "status": "working"}"#;
    tasks_list_result: ListTasksResult, V2025_11_25, r#"{"tasks": [{"taskId": "7c1e","createdAt": "2025-12-01T08:00:00Z","lastUpdatedAt": "2025-12-01T08:00:03Z","ttl": 60000, "status": "completed"}]}"#;
    tasks_status: TaskStatusNotificationParams, V2025_11_25, r#"{"taskId": "7c1e","createdAt": "2025-12-01T08:00:00Z","lastUpdatedAt": "2025-12-01T08:00:03Z","ttl": 60000, "status": "completed"}"#;
    tasks_result_result: CallToolResult, V2025_11_25, r#"{
          "content": [{"type": "text", "text": "done"}],
          "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "7c1e"}}
        }"#;
    resource_not_found: ResourceNotFoundData, V2025_11_25, r#"{"uri": "shop://bikes/999"}"#;
    url_elicitation_required: UrlElicitationRequiredData, V2025_11_25, r#"{
          "elicitations": [
            {
              "mode": "url",
              "message": "Pay the deposit",
              "url": "https://pay.spokes.example/d/81",
              "elicitationId": "el-81"
            }
          ]
        }"#;
    initialize_refused: UnsupportedProtocolVersionData, V2025_11_25, r#"{"supported": ["2024-11-05"], "requested": "1.0.0"}"#;
    initialize_request_2025_06_18: InitializeRequestParams, V2025_06_18, r#"{
          "protocolVersion": "2025-06-18",
          "capabilities": {"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}},
          "clientInfo": {"name": "kiln", "version": "0.3.0"}
        }"#;
    initialize_result_2025_06_18: InitializeResult, V2025_06_18, r#"{
          "protocolVersion": "2025-06-18",
          "capabilities": {"tools": {}, "logging": {}, "completions": {}},
          "serverInfo": {"name": "spokes", "version": "2.1.0"}
        }"#;
    tool_result_with_structured_object_and_resource_2025_06_18: CallToolResult, V2025_06_18, r#"{
          "content": [
            {"type": "text", "text": "{\"slot\":\"09:30\"}"},
            {"type": "resource_link", "uri": "shop://bikes/42", "name": "bike 42"}
          ],
          "structuredContent": {"slot": "09:30"}
        }"#;
    elicitation_create_request_2025_06_18: ElicitRequestParams, V2025_06_18, r#"{
          "message": "Wax?",
          "requestedSchema": {
            "type": "object",
            "properties": {"wax": {"type": "string", "enum": ["d", "w"], "enumNames": ["Dry", "Wet"]}}
          }
        }"#;
    elicitation_create_result_2025_06_18: ElicitResult, V2025_06_18, r#"{"action": "accept", "content": {"wax": "d"}}"#;
    initialize_request_2025_03_26: InitializeRequestParams, V2025_03_26, r#"{
          "protocolVersion": "2025-03-26",
          "capabilities": {"roots": {"listChanged": true}, "sampling": {}},
          "clientInfo": {"name": "kiln", "version": "0.3.0"}
        }"#;
    initialize_result_2025_03_26: InitializeResult, V2025_03_26, r#"{
          "protocolVersion": "2025-03-26",
          "capabilities": {"tools": {}, "logging": {}, "completions": {}},
          "serverInfo": {"name": "spokes", "version": "2.1.0"}
        }"#;
    tool_with_annotations_2025_03_26: Tool, V2025_03_26, r#"{
          "name": "book_slot",
          "inputSchema": {"type": "object"},
          "annotations": {
            "readOnlyHint": false,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false
          }
        }"#;
    initialize_request_2024_11_05: InitializeRequestParams, V2024_11_05, r#"{
          "protocolVersion": "2024-11-05",
          "capabilities": {"roots": {"listChanged": true}, "sampling": {}},
          "clientInfo": {"name": "kiln", "version": "0.3.0"}
        }"#;
    initialize_result_2024_11_05: InitializeResult, V2024_11_05, r#"{
          "protocolVersion": "2024-11-05",
          "capabilities": {"tools": {}, "logging": {}},
          "serverInfo": {"name": "spokes", "version": "2.1.0"}
        }"#;
    progress_2024_11_05: ProgressNotificationParams, V2024_11_05, r#"{"progressToken": "t", "progress": 1}"#;
}
