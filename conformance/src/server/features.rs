//! The prompts, resources and suggestions that the suite asks for.

use mcp_driver::model::{ContentBlock, PromptMessage, Role};
use mcp_driver::{Context, Prompt, Resource, ResourceTemplate, Runtime, Server, ToolError, Typed};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Nothing, PNG, resource};

pub(super) fn with_prompts<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .prompt(prompt("test_simple_prompt", "Says something simple."), async |_: Nothing, _: Context| {
            Ok("This is a simple prompt for testing.")
        })
        .prompt(prompt("test_prompt_with_arguments", "Repeats its arguments."), {
            async |Two { arg1, arg2 }: Two, _: Context| {
                Ok(format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))
            }
        })
        .complete_prompt("test_prompt_with_arguments", "arg1", async |typed: Typed, _: Context| {
            let values = ["test value", "testing", "other value"];
            Ok(values.into_iter().filter(|value| value.starts_with(&typed.value)).collect::<Vec<_>>())
        })
        .prompt(prompt("test_prompt_with_embedded_resource", "Embeds a resource."), embed)
        .prompt(prompt("test_prompt_with_image", "Shows an image."), async |_: Nothing, _: Context| {
            Ok(said([ContentBlock::image(PNG, "image/png"), ContentBlock::text("Please look at the image.")]))
        })
}

pub(super) fn with_resources<R: Runtime>(server: Server<R>) -> Server<R> {
    let text = Resource::new("test://static-text", "static-text").mime_type("text/plain");
    let image = Resource::new("test://static-binary", "static-binary").mime_type("image/png");
    let watched = Resource::new("test://watched-resource", "watched-resource").mime_type("text/plain");
    let template =
        ResourceTemplate::new("test://template/{id}/data", "template").mime_type("application/json");
    server
        .resource(text.description("Text."), "This is the content of the static text resource.")
        .resource(image.description("An image."), PIXEL)
        .resource(watched.description("Text to watch."), "Nothing happens here.")
        .resource_template(template.description("Data by id."), async |Data { id }: Data, _: Context| {
            let data = format!("Data for ID: {id}");
            Ok(serde_json::json!({ "id": id, "templateTest": true, "data": data }).to_string())
        })
}

/// The first bytes of a PNG file.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n";

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first one.
    arg1: String,
    /// The second one.
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embedded {
    /// The URI of the resource to embed.
    resource_uri: String,
}

#[derive(Deserialize)]
struct Data {
    id: String,
}

async fn embed(Embedded { resource_uri }: Embedded, _: Context) -> Result<Vec<PromptMessage>, ToolError> {
    let embedded = resource(&resource_uri, "text/plain", "Embedded resource content for testing.");
    Ok(said([embedded, ContentBlock::text("Please process the embedded resource.")]))
}

fn said<const N: usize>(blocks: [ContentBlock; N]) -> Vec<PromptMessage> {
    blocks.into_iter().map(|block| PromptMessage::new(Role::User, block)).collect()
}

fn prompt(name: &str, description: &str) -> Prompt {
    Prompt::new(name).description(description)
}
