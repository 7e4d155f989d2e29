//! One tool on an older release of the official Rust SDK, which knows no era but the handshake's and
//! exits on any request that comes before `initialize`.

use rmcp1::model::{CallToolRequestParams, CallToolResult, Content, ServerCapabilities, ServerInfo};
use rmcp1::service::RequestContext;
use rmcp1::{ErrorData, RoleServer, ServerHandler, ServiceExt};

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerInfo {
        ServerInfo::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let text = request.arguments.unwrap_or_default().remove("text").unwrap_or_default();
        Ok(CallToolResult::success(vec![Content::text(text.as_str().unwrap_or_default())]))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Echo.serve(rmcp1::transport::stdio()).await?.waiting().await?;
    Ok(())
}
