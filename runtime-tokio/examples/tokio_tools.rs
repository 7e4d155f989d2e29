//! Tools with all that can be said about them: titles, an icon and hints for whoever shows them, a parameter that
//! travels as a header, arguments under a schema written by hand, a schema of results, every kind of content.
//!
//! `cargo run --example tokio_tools`

use mcp_tokio::model::{ContentBlock, Icon, TextResourceContents, ToolAnnotations};
use mcp_tokio::{Context, Error, Json, Resource, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    // What models read of an argument is its doc comment.
    /// Which town.
    town: String,
    // Modern clients send it as the header `Mcp-Param-Region`, too, so that a proxy can route by it.
    /// The part of the country.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    // What the type cannot say, the schema does: it is checked before the handler runs.
    /// How many days ahead.
    #[serde(default)]
    #[schemars(range(max = 7))]
    days: u8,
}

// Structured content, which clients can compute with. Those that cannot are sent the same as text.
/// What the weather will be like.
#[derive(Serialize, JsonSchema)]
struct Weather {
    sky: String,
    degrees: i8,
}

async fn forecast(Forecast { town, region, days }: Forecast, _: Context) -> Result<Weather, ToolError> {
    if region != "north" {
        // The model reads this, and can do better.
        return Err(ToolError::new(format!("there is no station for {town} in `{region}`; try `north`")));
    }
    Ok(Weather { sky: "clear".to_owned(), degrees: 20 - i8::try_from(days)? })
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A text, a picture, a sound, a link to something that can be read, and something that is there at once.
async fn observe(_: Nothing, _: Context) -> Result<Vec<ContentBlock>, ToolError> {
    Ok(vec![
        ContentBlock::text("The sky over the station:"),
        ContentBlock::image_from_bytes(b"\x89PNG...", "image/png"),
        ContentBlock::audio_from_bytes(b"RIFF...", "audio/wav"),
        ContentBlock::link("weather://archive", "archive"),
        ContentBlock::resource(TextResourceContents::new("weather://station", "A hut on a hill.")),
    ])
}

/// Arguments as they came: the schema by hand says what they are.
async fn query(filter: Json, _: Context) -> Result<String, ToolError> {
    Ok(format!("3 records match {}", filter.get()))
}

const FILTER: &str = r#"{
    "type": "object",
    "oneOf": [{ "required": ["since"] }, { "required": ["year"] }],
    "properties": {
        "since": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$" },
        "year": { "type": "integer", "minimum": 1900 }
    }
}"#;

/// A weather station.
pub fn server() -> Server {
    let looks_only = ToolAnnotations::new().read_only_hint(true).open_world_hint(false);
    let forecast_tool = Tool::new("forecast")
        .title("Weather forecast")
        .description("Forecasts the weather of a town")
        .annotations(looks_only.clone())
        .icon(Icon::from_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"))
        .output::<Weather>();
    let filter = Json::parse(FILTER).expect("it is JSON");
    let query_tool = Tool::new("query").description("Searches the archive").input_schema(filter);
    Server::new("weather", "1.0.0")
        .resource(Resource::new("weather://archive", "archive"), "1901-07: 31 °C")
        .tool(forecast_tool, forecast)
        .tool(Tool::new("observe").description("Looks at the sky").annotations(looks_only), observe)
        .tool(query_tool, query)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    server().serve_http("127.0.0.1:8000").await
}
