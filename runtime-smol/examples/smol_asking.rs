//! A server that asks for more than forms: where it may work, what the client's model makes of a text, and that the
//! user visits a page. `tokio_elicit` shows forms.
//!
//! `cargo run --example smol_asking`

use mcp_smol::model::{CreateMessageRequestParams, Role, SamplingContent, SamplingMessage};
use mcp_smol::{Context, Server, Tool, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Publish {
    /// What to publish.
    text: String,
}

async fn publish(Publish { text }: Publish, cx: Context) -> Result<String, ToolError> {
    // Two questions that do not depend on each other are asked at once: in the modern era that is one round.
    let prompt = format!("A title of at most five words for: {text}");
    let prompt = CreateMessageRequestParams::new(
        vec![SamplingMessage::new(Role::User, SamplingContent::text(prompt))],
        20,
    );
    let (roots, sampled) = cx.all((cx.roots("folders"), cx.sample("title", prompt))).await?;
    let folder = roots.first().ok_or_else(|| ToolError::new("there is no folder to publish in"))?;
    let title = sampled.content.as_text().unwrap_or("Untitled");

    // Opened once, however often this runs. The ticket says to the page who is meant; it is no secret.
    let ticket = cx.step("ticket", async || open_ticket().await).await?;
    let page = format!("https://press.example/sign-in?ticket={ticket}");
    // Passwords and payments belong to a page of ours: nothing of them passes the client.
    cx.elicit_url("sign in", "Sign in to publish", page).await?;

    // The user is willing to go there, which is not to say that they have been.
    Ok(format!("`{title}` from {} is published once you have signed in, ticket {ticket}", folder.uri))
}

/// Stands for a table of tickets that belong to one user each.
async fn open_ticket() -> Result<u32, ToolError> {
    Ok(7)
}

/// A press.
pub fn server() -> Server {
    Server::new("press", "1.0.0").tool(Tool::new("publish").description("Publishes a text"), publish)
}

fn main() -> Result<(), mcp_smol::Error> {
    smol::block_on(server().serve_http("127.0.0.1:8000"))
}
