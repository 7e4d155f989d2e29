//! The tools that are measured, on the official Rust SDK.
//!
//! `bench-rmcp --stdio | --pipes | --port P [--json] [--threads N] [--tools N]`: `--pipes` takes the transport that its
//! authors recommend for Linux, `--json` answers in JSON and without sessions, one thread is a current-thread runtime,
//! and `--tools` adds tools that do nothing.

use std::sync::Arc;

use axum::Router;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    Implementation, ProgressNotificationParam, RequestMetaObject, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};

type Failed = Box<dyn std::error::Error>;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Burst {
    count: u32,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(Clone)]
struct Bench {
    tools: Arc<ToolRouter<Self>>,
}

impl Bench {
    fn new(dummies: usize) -> Self {
        let mut tools = Self::tool_router();
        for number in 0..dummies {
            let mut dummy = Self::dummy_router();
            let mut route = dummy.map.remove("dummy").expect("it is the only one");
            route.attr.name = format!("dummy_{number:05}").into();
            tools.add_route(route);
        }
        Self { tools: Arc::new(tools) }
    }
}

#[tool_router]
impl Bench {
    #[tool(description = "Says the text back.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Reports progress as fast as it can.")]
    async fn burst(
        &self,
        Parameters(Burst { count }): Parameters<Burst>,
        meta: RequestMetaObject,
        peer: Peer<RoleServer>,
    ) -> Result<String, ErrorData> {
        if let Some(token) = meta.get_progress_token() {
            for step in 1..=count {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                let told = peer.notify_progress(progress).await;
                told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            }
        }
        Ok("done".to_owned())
    }
}

#[tool_router(router = dummy_router)]
impl Bench {
    #[tool(description = "Does nothing.")]
    async fn dummy(&self, Parameters(Nothing {}): Parameters<Nothing>) -> String {
        String::new()
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("bench-rmcp", "1.0.0"))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

fn main() -> Result<(), Failed> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
    let threads = value("--threads").map_or(Ok(1), |number| number.parse())?;
    let bench = Bench::new(value("--tools").map_or(Ok(0), |number| number.parse())?);
    let mut runtime = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.worker_threads(threads).enable_all().build()?;
    let given = |flag: &str| words.iter().any(|word| word == flag);
    runtime.block_on(async {
        match value("--port") {
            Some(port) => http(bench, port.parse()?, given("--json")).await,
            None if given("--pipes") => {
                bench.serve(rmcp::transport::stdio_pipes()).await?.waiting().await?;
                Ok(())
            }
            None => {
                bench.serve(rmcp::transport::stdio()).await?.waiting().await?;
                Ok(())
            }
        }
    })
}

async fn http(bench: Bench, port: u16, json: bool) -> Result<(), Failed> {
    let mut config = StreamableHttpServerConfig::default();
    if json {
        config = config.with_legacy_session_mode(false).with_json_response(true);
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bench.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    use axum::serve::ListenerExt;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
