//! The server: the tools that the suite calls by name, and beside them its [`features`].

mod asks;
mod changes;
mod features;
mod tasks;

use std::time::Duration;

use mcp_driver::model::{
    ClientCapabilities, ContentBlock, EmbeddedResource, Json, LoggingLevel, SamplingCapability,
    TextResourceContents,
};
use mcp_driver::proto::server::missing_capabilities;
use mcp_driver::{Context, Runtime, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Error, Program, Wait};

/// A red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// One sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Between two notifications of a tool.
const PAUSE: Duration = Duration::from_millis(50);

/// The keywords of JSON Schema 2020-12 that have to come through untouched.
const SCHEMA_2020_12: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        }
    },
    "properties": {
        "name": { "type": "string" },
        "address": { "$ref": "#/$defs/address" },
        "contactMethod": { "type": "string", "enum": ["phone", "email"] },
        "phone": { "type": "string" },
        "email": { "type": "string" }
    },
    "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
    "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
    "then": { "required": ["phone"] },
    "else": { "required": ["email"] },
    "additionalProperties": false
}"##;

/// Serves HTTP until it is killed.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The port on the loopback interface; 0 picks a free one.
    pub port: u16,
}

impl Program for Server {
    fn run<R: Runtime<Mode: Wait>>(self) -> Result<(), Error> {
        let server = with_tools(mcp_driver::Server::<R>::new("conformance", env!("CARGO_PKG_VERSION")))?;
        let server = tasks::with_tasks(changes::with_changes(server));
        let server = asks::with_asks(features::with_resources(features::with_prompts(server)))
            .logging()
            .on_error(|report| eprintln!("{report}"));
        let server = R::Mode::wait(server.bind_http(format!("127.0.0.1:{}", self.port)))?;
        println!("listening on {}", server.url());
        R::Mode::wait(server.serve())?;
        Ok(())
    }
}

fn with_tools<R: Runtime>(server: mcp_driver::Server<R>) -> Result<mcp_driver::Server<R>, Error> {
    // The suite calls the tool that comes first with no arguments, and wants a result.
    Ok(server
        .tool(tool("test_simple_text", "Answers with text."), async |_: Nothing, _| {
            Ok("This is a simple text response for testing.")
        })
        .tool(tool("test_image_content", "Answers with an image."), async |_: Nothing, _| {
            Ok(ContentBlock::image(PNG, "image/png"))
        })
        .tool(tool("test_audio_content", "Answers with audio."), async |_: Nothing, _| {
            Ok(ContentBlock::audio(WAV, "audio/wav"))
        })
        .tool(tool("test_embedded_resource", "Answers with a resource."), async |_: Nothing, _| {
            let text = "This is an embedded resource content.";
            Ok(resource("test://embedded-resource", "text/plain", text))
        })
        .tool(tool("test_multiple_content_types", "Answers with content of several kinds."), mixed)
        .tool(tool("test_error_handling", "Fails."), async |_: Nothing, _| {
            Err::<(), _>(ToolError::new("This tool intentionally returns an error for testing"))
        })
        .tool(tool("test_tool_with_logging", "Logs while it works."), log_thrice)
        .tool(tool("test_tool_with_progress", "Reports progress while it works."), report_thrice)
        .tool(tool("test_reconnection", "Lets its client come back."), async |_: Nothing, cx: Context| {
            cx.close_stream(PAUSE);
            cx.sleep(Duration::from_millis(100)).await;
            Ok("The answer survived the wait.")
        })
        .tool(tool("test_custom_header", "Has an argument that is repeated in a header."), {
            async |Mirrored { region }: Mirrored, _| Ok(region)
        })
        .tool(
            tool("json_schema_2020_12_tool", "Has a schema of many keywords.")
                .input_schema(Json::parse(SCHEMA_2020_12)?),
            async |_: serde_json::Value, _| Ok("The arguments are an object."),
        )
        .tool(tool("test_missing_capability", "Needs a client that samples."), need_sampling)
        .tool(tool("test_logging_tool", "Logs, if it is asked to."), async |_: Nothing, cx: Context| {
            cx.log(LoggingLevel::Info, "Only for those who asked for logs");
            Ok("done")
        })
        .tool(tool("test_streaming_elicitation", "Answers without asking anything."), {
            async |_: Nothing, _| Ok("There was nothing to ask.")
        }))
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn mixed(_: Nothing, _: Context) -> Result<Vec<ContentBlock>, ToolError> {
    let json = r#"{"test":"data","value":123}"#;
    Ok(vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        resource("test://mixed-content-resource", "application/json", json),
    ])
}

async fn log_thrice(_: Nothing, cx: Context) -> Result<&'static str, ToolError> {
    cx.log(LoggingLevel::Info, "Tool execution started");
    cx.sleep(PAUSE).await;
    cx.log(LoggingLevel::Info, "Tool processing data");
    cx.sleep(PAUSE).await;
    cx.log(LoggingLevel::Info, "Tool execution completed");
    Ok("logged")
}

async fn report_thrice(_: Nothing, cx: Context) -> Result<&'static str, ToolError> {
    for progress in [0.0, 50.0, 100.0] {
        cx.progress((progress, 100.0));
        cx.sleep(PAUSE).await;
    }
    Ok("done")
}

async fn need_sampling(_: Nothing, cx: Context) -> Result<&'static str, ToolError> {
    if cx.client().capabilities.sampling.is_none() {
        let needed = ClientCapabilities::new().sampling(SamplingCapability::new());
        return Err(ToolError::protocol(missing_capabilities(needed)));
    }
    Ok("The client samples.")
}

fn tool(name: &str, description: &str) -> Tool {
    Tool::new(name).description(description)
}

fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    EmbeddedResource::new(TextResourceContents::new(uri, text).mime_type(mime_type)).into()
}
