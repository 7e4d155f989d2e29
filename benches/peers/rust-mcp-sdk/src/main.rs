//! The tools that are measured, on rust-mcp-sdk: `bench-rust-mcp-sdk --stdio | --port P [--tools N]`. Only the modern
//! era: its 2.x has no handshake.

use std::sync::Arc;

use async_trait::async_trait;
use rust_mcp_axum::{AxumServerOptions, create_axum_server};
use rust_mcp_sdk::error::SdkResult;
use rust_mcp_sdk::macros::{JsonSchema, mcp_tool};
use rust_mcp_sdk::mcp_server::{McpServerOptions, ServerHandler, server_runtime};
use rust_mcp_sdk::schema::schema_utils::CallToolError;
use rust_mcp_sdk::schema::{
    CallToolRequestParams, CallToolResult, Implementation, ListToolsResult, ListToolsResultCacheScope,
    PaginatedRequestParams, RpcError, ServerCapabilities, ServerCapabilitiesTools, ServerResult, TextContent,
};
use rust_mcp_sdk::{
    McpServer, RequestContext, ServerDetails, StdioTransport, ToMcpServerHandler, TransportOptions,
};

#[mcp_tool(name = "echo", description = "Says the text back.")]
#[derive(Debug, serde::Deserialize, serde::Serialize, JsonSchema)]
struct Echo {
    text: String,
}

#[mcp_tool(name = "burst", description = "Reports progress as fast as it can.")]
#[derive(Debug, serde::Deserialize, serde::Serialize, JsonSchema)]
struct Burst {
    count: u32,
}

#[mcp_tool(name = "dummy", description = "Does nothing.")]
#[derive(Debug, serde::Deserialize, serde::Serialize, JsonSchema)]
struct Dummy {}

struct Bench {
    dummies: usize,
}

#[async_trait]
impl ServerHandler for Bench {
    async fn handle_list_tools_request(
        &self,
        _: Option<PaginatedRequestParams>,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ListToolsResult, RpcError> {
        let mut tools = vec![Echo::tool(), Burst::tool()];
        tools.extend((0..self.dummies).map(|number| {
            let mut tool = Dummy::tool();
            tool.name = format!("dummy_{number:05}");
            tool
        }));
        Ok(ListToolsResult {
            tools,
            meta: None,
            next_cursor: None,
            cache_scope: ListToolsResultCacheScope::Public,
            result_type: "complete".to_owned(),
            ttl_ms: 0,
        })
    }

    async fn handle_call_tool_request(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext,
        server: Arc<dyn McpServer>,
    ) -> Result<ServerResult, CallToolError> {
        let arguments = serde_json::Value::Object(params.arguments.unwrap_or_default());
        let text = match params.name.as_str() {
            "echo" => serde_json::from_value::<Echo>(arguments).map_err(CallToolError::new)?.text,
            "burst" => {
                let Burst { count } = serde_json::from_value(arguments).map_err(CallToolError::new)?;
                for step in 1..=count {
                    let token = context.progress_token.clone();
                    let told = server.report_progress(token, f64::from(step), None, None).await;
                    told.map_err(CallToolError::new)?;
                }
                "done".to_owned()
            }
            name if name.starts_with("dummy_") => String::new(),
            _ => return Err(CallToolError::unknown_tool(params.name)),
        };
        Ok(CallToolResult::text_content(vec![TextContent::from(text)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> SdkResult<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1).and_then(|word| word.parse().ok());
    let handler = Bench { dummies: value("--tools").unwrap_or(0) }.to_mcp_server_handler();
    let details = ServerDetails {
        server_info: Implementation {
            name: "bench-rust-mcp-sdk".to_owned(),
            version: "1.0.0".to_owned(),
            title: None,
            description: None,
            icons: Vec::new(),
            website_url: None,
        },
        capabilities: ServerCapabilities {
            tools: Some(ServerCapabilitiesTools { list_changed: Some(true) }),
            ..Default::default()
        },
        instructions: None,
        meta: None,
    };
    match value("--port") {
        None => {
            let transport = StdioTransport::new(TransportOptions::default())?;
            let options =
                McpServerOptions { server_details: details, transport, handler, message_observer: None };
            server_runtime::create_server(options).start().await
        }
        // It does not say which port it got, so it is given one that was free a moment ago.
        Some(wanted) => {
            let listener = std::net::TcpListener::bind(("127.0.0.1", wanted as u16))?;
            let port = listener.local_addr()?.port();
            drop(listener);
            let options = AxumServerOptions { host: "127.0.0.1".to_owned(), port, ..Default::default() };
            let server = create_axum_server(details, handler, options);
            // `load` tries to connect until it listens.
            println!("listening on http://127.0.0.1:{port}/mcp");
            server.start().await?;
            Ok(())
        }
    }
}
