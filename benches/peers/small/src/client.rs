//! One call over HTTP.

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_default();
    let client = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;
    let mut echo = CallToolRequestParams::new("echo");
    echo.arguments = serde_json::json!({ "text": "hello" }).as_object().cloned();
    for content in client.call_tool(echo).await?.content {
        println!("{}", content.as_text().map_or("", |content| &content.text));
    }
    client.cancel().await?;
    Ok(())
}
