//! The client: what each scenario of the suite wants a client to do.

use std::env;

use mcp_driver::model::{ElicitRequestFormParams, ElicitResult, Json, Tool};
use mcp_driver::{Asked, Calls, Custom, EraChoice, Revision, Runtime, ToolReply};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::authorize::authorize;
use crate::{Error, Program, Wait};

/// Connects to the suite's server and plays one scenario.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    revision: Revision,
    scenario: String,
    context: Option<Json>,
}

impl Client {
    /// A client for the server at `url`; the suite puts the scenario into the environment.
    ///
    /// # Errors
    /// When the environment does not name a scenario and a revision.
    pub fn from_env(url: String) -> Result<Self, Error> {
        Ok(Self {
            url,
            revision: variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?,
            scenario: variable("MCP_CONFORMANCE_SCENARIO")?,
            context: env::var("MCP_CONFORMANCE_CONTEXT").ok().map(Json::parse).transpose()?,
        })
    }
}

fn variable(name: &str) -> Result<String, Error> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}

impl Program for Client {
    fn run<R: Runtime<Mode: Wait>>(self) -> Result<(), Error> {
        let mut builder = mcp_driver::Client::<R>::builder("conformance", env!("CARGO_PKG_VERSION"))
            .era(EraChoice::Pinned(self.revision))
            .on_diagnostic(|report| eprintln!("{report}"));
        if let Some(content) = filled_in(&self.scenario) {
            builder = builder.on_elicit(move |_: ElicitRequestFormParams, _: Asked| {
                Ok(ElicitResult::accept(Json::new(&content)?))
            });
        }
        if let Some(authorize) = authorize::<R>(&self.scenario, self.context.as_ref())? {
            builder = builder.authorize(authorize);
        }
        let client = R::Mode::wait(builder.http(self.url))?;
        let tools = match client.capabilities().tools {
            Some(_) => R::Mode::wait(client.list_tools())?,
            None => Vec::new(),
        };
        for Call { name, arguments } in calls(&self.scenario, self.context.as_ref(), &tools)? {
            let reply: ToolReply = R::Mode::wait(client.call_tool(&name, arguments))?;
            println!("{name}: {}", reply.text());
        }
        for request in requests(&self.scenario)? {
            R::Mode::wait(client.request(&request))?;
        }
        R::Mode::wait(client.close())?;
        Ok(())
    }
}

/// A call to make.
#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Json,
}

impl Call {
    fn new(name: &str, arguments: &impl Serialize) -> Result<Self, Error> {
        Ok(Self { name: name.into(), arguments: Json::new(arguments)? })
    }
}

/// What the user of a scenario fills in, where there is one.
fn filled_in(scenario: &str) -> Option<serde_json::Value> {
    match scenario {
        // The rest are defaults.
        "elicitation-sep1034-client-defaults" => Some(json!({})),
        "sep-2322-client-request-state" => Some(json!({ "confirmed": true })),
        _ => None,
    }
}

/// The calls that belong to a scenario.
fn calls(scenario: &str, context: Option<&Json>, tools: &[Tool]) -> Result<Vec<Call>, Error> {
    match scenario {
        "elicitation-sep1034-client-defaults" => {
            Ok(vec![Call::new("test_client_elicitation_defaults", &json!({}))?])
        }
        "sep-2322-client-request-state" => {
            let names = ["echo_state", "unrelated", "no_state", "no_result_type"];
            names.iter().map(|name| Call::new(&format!("test_mrtr_{name}"), &json!({}))).collect()
        }
        "tools_call" => Ok(vec![Call::new("add_numbers", &json!({ "a": 5, "b": 3 }))?]),
        "sse-retry" => Ok(vec![Call::new("test_reconnection", &json!({}))?]),
        // Those that are left after the invalid ones were dropped.
        "http-standard-headers" | "http-invalid-tool-headers" => {
            tools.iter().map(|tool| Call::new(&tool.name, &json!({ "region": "us" }))).collect()
        }
        "http-custom-headers" => {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Context {
                tool_calls: Vec<Call>,
            }
            let context: Context = context.ok_or("the scenario has no context")?.decode()?;
            Ok(context.tool_calls)
        }
        "json-schema-2020-12-preservation" => {
            let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = &tool.ok_or("the tool with the schema is not listed")?.input_schema;
            Ok(vec![Call::new("json_schema_echo", &json!({ "schema": schema }))?])
        }
        scenario if scenario.starts_with("auth/") => {
            tools.iter().map(|tool| Call::new(&tool.name, &json!({}))).collect()
        }
        // The rest is about connecting and listing.
        _ => Ok(Vec::new()),
    }
}

/// What a scenario wants to see of methods other than those of tools.
fn requests(scenario: &str) -> Result<Vec<Custom>, Error> {
    if scenario != "http-standard-headers" {
        return Ok(Vec::new());
    }
    let read = Json::new(&json!({ "uri": "file:///path/to/file%20name.txt" }))?;
    let get = Json::new(&json!({ "name": "test_prompt" }))?;
    Ok(vec![
        Custom::new("resources/list", None)?,
        Custom::new("resources/read", Some(read))?,
        Custom::new("prompts/list", None)?,
        Custom::new("prompts/get", Some(get))?,
    ])
}
