//! The fixture tools on the official Rust SDK, over stdio.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, RequestMetaObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sleep {
    ms: u64,
}

#[derive(Clone, Default)]
struct Fixture {
    cancelled: Arc<AtomicBool>,
}

#[tool_router]
impl Fixture {
    #[tool(description = "Returns its text")]
    async fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }

    #[tool(description = "Adds two numbers")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Waits, and remembers having been cancelled")]
    async fn sleep(
        &self,
        Parameters(Sleep { ms }): Parameters<Sleep>,
        context: RequestContext<RoleServer>,
    ) -> String {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(ms)) => "slept".to_owned(),
            () = context.ct.cancelled() => {
                self.cancelled.store(true, Ordering::SeqCst);
                "cancelled".to_owned()
            }
        }
    }

    #[tool(description = "Whether a sleep was cancelled")]
    async fn seen(&self) -> String {
        self.cancelled.load(Ordering::SeqCst).to_string()
    }

    #[tool(description = "Reports progress 1, 2, 3")]
    async fn steps(&self, meta: RequestMetaObject, peer: Peer<RoleServer>) -> Result<String, ErrorData> {
        if let Some(token) = meta.get_progress_token() {
            for step in 1..=3u8 {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step)).with_total(3.0);
                peer.notify_progress(progress)
                    .await
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        }
        Ok("done".to_owned())
    }

    #[tool(description = "Fails")]
    async fn fail(&self, Parameters(Text { text }): Parameters<Text>) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(text)])
    }
}

#[tool_handler]
impl ServerHandler for Fixture {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Fixture::default().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
