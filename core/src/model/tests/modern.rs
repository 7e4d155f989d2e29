//! One message of each kind, 2026-07-28: payloads decode and encode to the same JSON.

use super::round_trips;
use crate::dialect::Revision::*;
use crate::model::cancellation::CancelledNotificationParams;
use crate::model::capabilities::ClientCapabilities;
use crate::model::completion::{CompleteRequestParams, CompleteResult};
use crate::model::error_data::{
    MissingRequiredClientCapabilityData, ResourceNotFoundData, UnsupportedProtocolVersionData,
};
use crate::model::input_required::InputRequiredResult;
use crate::model::lifecycle::DiscoverResult;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::model::pagination::PaginatedRequestParams;
use crate::model::progress::ProgressNotificationParams;
use crate::model::prompts::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use crate::model::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResult,
    ResourceUriParams,
};
use crate::model::result::EmptyResult;
use crate::model::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::model::subscriptions::{
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
};
use crate::model::tasks::{CreateTaskResult, GetTaskResult, TaskStatusNotificationParams};
use crate::model::tools::{CallToolRequestParams, CallToolResult, ListToolsResult, Tool};

round_trips! {
    server_discover_result: DiscoverResult, V2026_07_28, r#"{
          "resultType": "complete",
          "supportedVersions": ["2026-07-28"],
          "capabilities": {
            "tools": {"listChanged": true},
            "resources": {"subscribe": true},
            "prompts": {},
            "completions": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}}
          },
          "instructions": "Bike workshop tools.",
          "ttlMs": 600000,
          "cacheScope": "public",
          "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "spokes", "version": "2.1.0"}}
        }"#;
    tools_list_result: ListToolsResult, V2026_07_28, r#"{
          "resultType": "complete",
          "tools": [
            {
              "name": "book_slot",
              "description": "Book a repair slot",
              "inputSchema": {
                "type": "object",
                "properties": {
                  "bike": {"type": "string"},
                  "bay": {"type": "integer", "x-mcp-header": "Bay"}
                },
                "required": ["bike"]
              }
            }
          ],
          "nextCursor": "p2",
          "ttlMs": 60000,
          "cacheScope": "public",
          "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "spokes", "version": "2.1.0"}}
        }"#;
    tools_list_next_page: PaginatedRequestParams, V2026_07_28, r#"{"cursor": "p2"}"#;
    tools_call_request: CallToolRequestParams, V2026_07_28, r#"{"name": "book_slot", "arguments": {"bike": "B-42", "bay": 3}}"#;
    tools_call_result: CallToolResult, V2026_07_28, r#"{
          "resultType": "complete",
          "content": [{"type": "text", "text": "{\"slot\":\"09:30\"}"}],
          "structuredContent": {"slot": "09:30"},
          "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "spokes", "version": "2.1.0"}}
        }"#;
    tools_call_all_content_kinds_and_scalar_structur: CallToolResult, V2026_07_28, r#"{
          "resultType": "complete",
          "content": [
            {"type": "text", "text": "7"},
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "shop://bikes/42", "name": "bike 42"},
            {
              "type": "resource",
              "resource": {"uri": "shop://notes/1", "mimeType": "text/plain", "text": "true wheel"}
            }
          ],
          "structuredContent": 7
        }"#;
    tools_call_tool_execution_error: CallToolResult, V2026_07_28, r#"{
          "resultType": "complete",
          "content": [{"type": "text", "text": "bay must be 1-4"}],
          "isError": true
        }"#;
    prompts_list_result: ListPromptsResult, V2026_07_28, r#"{
          "resultType": "complete",
          "prompts": [{"name": "ticket", "arguments": [{"name": "bike", "required": true}]}],
          "ttlMs": 60000,
          "cacheScope": "public"
        }"#;
    prompts_get_request: GetPromptRequestParams, V2026_07_28, r#"{"name": "ticket", "arguments": {"bike": "B-42"}}"#;
    prompts_get_result: GetPromptResult, V2026_07_28, r#"{
          "resultType": "complete",
          "messages": [
            {
              "role": "user",
              "content": {"type": "text", "text": "Summarise repairs for B-42."}
            }
          ]
        }"#;
    resources_list_request: PaginatedRequestParams, V2026_07_28, r#"{}"#;
    resources_list_result: ListResourcesResult, V2026_07_28, r#"{
          "resultType": "complete",
          "resources": [{"uri": "shop://bikes/42", "name": "bike 42", "mimeType": "application/json"}],
          "ttlMs": 60000,
          "cacheScope": "public"
        }"#;
    resources_templates_list_result: ListResourceTemplatesResult, V2026_07_28, r#"{
          "resultType": "complete",
          "resourceTemplates": [{"uriTemplate": "shop://bikes/{id}", "name": "bike"}],
          "ttlMs": 60000,
          "cacheScope": "public"
        }"#;
    resources_read_request: ReadResourceRequestParams, V2026_07_28, r#"{"uri": "shop://bikes/42"}"#;
    resources_read_result: ReadResourceResult, V2026_07_28, r#"{
          "resultType": "complete",
          "contents": [
            {
              "uri": "shop://bikes/42",
              "mimeType": "application/json",
              "text": "{\"gears\":11}"
            },
            {
              "uri": "shop://bikes/42/photo",
              "mimeType": "image/png",
              "blob": "iVBORw0KGgo="
            }
          ],
          "ttlMs": 0,
          "cacheScope": "private"
        }"#;
    completion_complete_prompt_request: CompleteRequestParams, V2026_07_28, r#"{
          "ref": {"type": "ref/prompt", "name": "ticket"},
          "argument": {"name": "bike", "value": "B-"},
          "context": {"arguments": {"shop": "north"}}
        }"#;
    completion_complete_prompt_result: CompleteResult, V2026_07_28, r#"{
          "resultType": "complete",
          "completion": {"values": ["B-41", "B-42"], "total": 2, "hasMore": false}
        }"#;
    completion_complete_resource_template_request: CompleteRequestParams, V2026_07_28, r#"{
          "ref": {"type": "ref/resource", "uri": "shop://bikes/{id}"},
          "argument": {"name": "id", "value": "4"}
        }"#;
    listen_request: SubscriptionsListenRequestParams, V2026_07_28, r#"{
          "notifications": {
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": ["shop://bikes/42"]
          }
        }"#;
    acknowledgement: SubscriptionsAcknowledgedNotificationParams, V2026_07_28, r#"{
          "_meta": {"io.modelcontextprotocol/subscriptionId": "sub-7"},
          "notifications": {
            "toolsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": ["shop://bikes/42"]
          }
        }"#;
    notifications_resources_updated: ResourceUriParams, V2026_07_28, r#"{"_meta": {"io.modelcontextprotocol/subscriptionId": "sub-7"}, "uri": "shop://bikes/42"}"#;
    graceful_end_by_the_server: EmptyResult, V2026_07_28, r#"{"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": "sub-7"}}"#;
    server_teardown_on_stdio: CancelledNotificationParams, V2026_07_28, r#"{"requestId": "sub-7", "reason": "shutdown"}"#;
    notifications_progress: ProgressNotificationParams, V2026_07_28, r#"{"progressToken": "pt-1", "progress": 2.5, "total": 10, "message": "checking bay"}"#;
    opting_in_to_logs: CallToolRequestParams, V2026_07_28, r#"{"name": "book_slot", "arguments": {"bike": "B-42"}}"#;
    notifications_message: LoggingMessageNotificationParams, V2026_07_28, r#"{"level": "error", "logger": "bays", "data": {"bay": 3, "why": "lift stuck"}}"#;
    notifications_cancelled_from_the_client: CancelledNotificationParams, V2026_07_28, r#"{"requestId": 3, "reason": "user left"}"#;
    round_1_answer_input_required_all_three_kinds: InputRequiredResult, V2026_07_28, r#"{
          "resultType": "input_required",
          "inputRequests": {
            "day": {
              "method": "elicitation/create",
              "params": {
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
              }
            },
            "pay": {
              "method": "elicitation/create",
              "params": {
                "mode": "url",
                "message": "Pay the deposit",
                "url": "https://pay.spokes.example/d/81"
              }
            },
            "noise": {
              "method": "sampling/createMessage",
              "params": {
                "messages": [
                  {
                    "role": "user",
                    "content": {"type": "text", "text": "Name this noise: clunk"}
                  }
                ],
                "maxTokens": 40
              }
            },
            "dirs": {"method": "roots/list"}
          },
          "requestState": "v1.Zm9v.c2ln"
        }"#;
    round_2_retry_new_id_same_params_bare_results_st: CallToolRequestParams, V2026_07_28, r#"{
          "name": "book_slot",
          "arguments": {"bike": "B-42"},
          "inputResponses": {
            "day": {
              "action": "accept",
              "content": {"day": "2026-08-04", "rush": true, "extras": ["wash"]}
            },
            "pay": {"action": "accept"},
            "noise": {
              "role": "assistant",
              "content": {"type": "text", "text": "bottom bracket"},
              "model": "m-1",
              "stopReason": "endTurn"
            },
            "dirs": {"roots": [{"uri": "file:///srv/bikes", "name": "bikes"}]}
          },
          "requestState": "v1.Zm9v.c2ln"
        }"#;
    state_only: InputRequiredResult, V2026_07_28, r#"{"resultType": "input_required", "requestState": "busy-7"}"#;
    declined_elicitation_inside_a_retry: GetPromptRequestParams, V2026_07_28, r#"{"name": "ticket", "inputResponses": {"day": {"action": "decline"}}}"#;
    resources_read_retry: ReadResourceRequestParams, V2026_07_28, r#"{"uri": "shop://bikes/42", "inputResponses": {"pay": {"action": "cancel"}}, "requestState": "q"}"#;
    sampling_with_tools: CreateMessageRequestParams, V2026_07_28, r#"{
          "messages": [
            {"role": "user", "content": {"type": "text", "text": "Tyre pressure?"}},
            {
              "role": "assistant",
              "content": [
                {
                  "type": "tool_use",
                  "id": "tu1",
                  "name": "gauge",
                  "input": {"wheel": "rear"}
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "toolUseId": "tu1",
                  "content": [{"type": "text", "text": "5.1 bar"}]
                }
              ]
            }
          ],
          "tools": [{"name": "gauge", "inputSchema": {"type": "object"}}],
          "toolChoice": {"mode": "auto"},
          "maxTokens": 60
        }"#;
    sampling_answer_asking_for_a_tool: CreateMessageResult, V2026_07_28, r#"{
          "role": "assistant",
          "content": [{"type": "tool_use", "id": "tu2", "name": "gauge", "input": {"wheel": "front"}}],
          "model": "m-1",
          "stopReason": "toolUse"
        }"#;
    resource_not_found: ResourceNotFoundData, V2026_07_28, r#"{"uri": "shop://bikes/999"}"#;
    missing_client_capability: MissingRequiredClientCapabilityData, V2026_07_28, r#"{"requiredCapabilities": {"sampling": {}}}"#;
    unsupported_version: UnsupportedProtocolVersionData, V2026_07_28, r#"{"supported": ["2026-07-28", "2025-11-25"], "requested": "2031-01-01"}"#;
    modern_only_server_answering_initialize: UnsupportedProtocolVersionData, V2026_07_28, r#"{"supported": ["2026-07-28"]}"#;
    create_task_result: CreateTaskResult, V2026_07_28, r#"{"resultType": "task", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "working", "pollIntervalMs": 2000}"#;
    tasks_get_working: GetTaskResult, V2026_07_28, r#"{"resultType": "complete", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "working", "statusMessage": "stripping frame"}"#;
    tasks_get_input_required: GetTaskResult, V2026_07_28, r#"{"resultType": "complete", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "input_required",
        "inputRequests": {"q1": {"method": "elicitation/create", "params": {"mode": "form", "message": "Replace chain?",
        "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}}}}"#;
    tasks_get_completed: GetTaskResult, V2026_07_28, r#"{"resultType": "complete", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "completed",
        "result": {"content": [{"type": "text", "text": "done"}], "isError": false}}"#;
    tasks_get_failed: GetTaskResult, V2026_07_28, r#"{"resultType": "complete", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "failed",
        "statusMessage": "bay lost power", "error": {"code": -32603, "message": "bay lost power"}}"#;
    tasks_get_cancelled: GetTaskResult, V2026_07_28, r#"{"resultType": "complete", "taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "cancelled"}"#;
    notification_of_a_task: TaskStatusNotificationParams, V2026_07_28, r#"{"taskId": "tk-9f3c","createdAt": "2026-08-01T09:00:00Z","lastUpdatedAt": "2026-08-01T09:00:05Z","ttlMs": 900000, "status": "working",
        "_meta": {"io.modelcontextprotocol/subscriptionId": "sub-8"}}"#;
    tasks_update_ack: EmptyResult, V2026_07_28, r#"{"resultType": "complete"}"#;
    listen_for_task_status: SubscriptionsListenRequestParams, V2026_07_28, r#"{"notifications": {"taskIds": ["tk-9f3c"]}}"#;
    caller_did_not_declare_the_extension: MissingRequiredClientCapabilityData, V2026_07_28, r#"{"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}"#;
    client_capability: ClientCapabilities, V2026_07_28, r#"{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}"#;
    tool_with_ui_link: Tool, V2026_07_28, r#"{
          "name": "bay_board",
          "inputSchema": {"type": "object"},
          "_meta": {"ui": {"resourceUri": "ui://spokes/board", "visibility": ["model", "app"]}}
        }"#;
    ui_resource_content: ReadResourceResult, V2026_07_28, r#"{
          "resultType": "complete",
          "contents": [
            {
              "uri": "ui://spokes/board",
              "mimeType": "text/html;profile=mcp-app",
              "text": "<!doctype html><title>Bays</title>",
              "_meta": {
                "ui": {
                  "csp": {"connectDomains": ["https://api.spokes.example"]},
                  "prefersBorder": true
                }
              }
            }
          ],
          "ttlMs": 60000,
          "cacheScope": "public"
        }"#;
}
