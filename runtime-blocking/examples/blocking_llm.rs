//! Tools as functions of a language model: declared to three providers, called as a model would, and answered. Nothing is
//! sent to anybody. `cargo run --features llm --example blocking_llm`

use mcp_blocking::llm::{Functions, anthropic, google, openai};
use mcp_blocking::{CallToolResult, Calls, Client, Context, Json, Server, Tool, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// Where to look.
    town: String,
    /// In days from today; today if left out.
    day: Option<u8>,
}

fn server() -> Server {
    Server::new("weather", "1.0.0").tool(
        Tool::new("weather.at").description("The weather in a town"),
        |Place { town, day }: Place, _: Context| match &*town {
            "Kiruna" => Ok(format!("Snow in {} days", day.unwrap_or_default())),
            _ => Err(ToolError::new("nobody looks out of a window there; try Kiruna")),
        },
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(&mut |line| println!("{line}"))
}

/// Shows it all, line by line.
pub fn run(say: &mut dyn FnMut(&str)) -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::in_process(server())?;
    let tools = client.list_tools()?;
    let functions = Functions::new(&tools);

    say("What goes into `tools` of a request:");
    let strict = openai::chat_tools(&functions, openai::Strict::WherePossible);
    say(&format!("OpenAI, Chat Completions: {}", strict.get()));
    say(&format!("OpenAI, Responses: {}", openai::responses_tools(&functions, openai::Strict::Off).get()));
    say(&format!("Anthropic: {}", anthropic::tools(&functions).get()));
    say(&format!("Google: {}", google::tools(&functions).get()));

    // The `content` of an answer, in which a model wants two things.
    let name = functions.function("weather.at").unwrap_or_default();
    let content = format!(
        r#"[{{"type":"tool_use","id":"1","name":"{name}","input":{{"town":"Kiruna","day":2}}}},
            {{"type":"tool_use","id":"2","name":"{name}","input":{{"town":"Rome"}}}}]"#
    );
    let calls = anthropic::calls(&functions, &Json::parse(content)?)?;
    let results: Vec<CallToolResult> = calls.iter().map(|call| result(&client, call)).collect();
    say(&format!("What answers it: {}", anthropic::results(calls.iter().zip(&results)).get()));
    Ok(client.close()?)
}

/// Whatever a call comes to is for the model to hear, also that it cannot be made.
fn result(client: &Client, call: &mcp_blocking::llm::FunctionCall) -> CallToolResult {
    match &call.request {
        Ok(request) => match client.call_tool(&*request.tool, &request.arguments) {
            Ok(reply) => reply.result,
            Err(error) => CallToolResult::error(error.to_string()),
        },
        Err(reason) => CallToolResult::error(reason.to_string()),
    }
}
