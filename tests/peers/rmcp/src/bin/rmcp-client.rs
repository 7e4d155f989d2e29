//! The official Rust SDK's client behind the command line of our own `.._fixture_client` (see ../../../README.md).

use std::process::ExitCode;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, JsonObject, ProgressNotificationParam, ProtocolVersion,
    ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
    ServiceError,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};

enum Step {
    List,
    Call { name: String, arguments: JsonObject, cancel_after: Option<Duration> },
}

enum Place {
    Url(String),
    Command(tokio::process::Command),
}

/// Fills in whatever form comes, and prints what comes.
#[derive(Clone, Default)]
struct Host {
    answers: Option<JsonObject>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.answers {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("rmcp-client", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (ElicitRequestParams::FormElicitationParams { message, requested_schema, .. }, Some(answers)) =
            (request, &self.answers)
        else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        show(json!({ "event": "asked", "message": message }));
        let fields = requested_schema.properties.keys();
        let content = fields.map(|field| (field.clone(), answers.get(field).cloned().unwrap_or_default()));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content.collect())))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        show(json!({ "event": "progress", "progress": params.progress, "message": params.message }));
    }
}

fn show(event: Value) {
    println!("{event}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (mut host, mut mode, mut steps, mut place, mut cancel_after) =
        (Host::default(), String::new(), Vec::new(), None, None);
    let mut words = std::env::args().skip(1);
    while let Some(option) = words.next() {
        let value = words.next().expect("a value behind every option");
        match option.as_str() {
            "--connect" => place = Some(Place::Url(value)),
            "--spawn" => {
                let mut command = tokio::process::Command::new(value);
                command.args(&mut words);
                place = Some(Place::Command(command));
            }
            "--era" => mode = value,
            "--answers" => host.answers = Some(serde_json::from_str(&value).expect("an object")),
            "--cancel-after" => cancel_after = Some(Duration::from_millis(value.parse().expect("milliseconds"))),
            "--list" => steps.push(Step::List),
            "--call" => {
                let arguments = serde_json::from_str(&words.next().expect("arguments")).expect("an object");
                steps.push(Step::Call { name: value, arguments, cancel_after: cancel_after.take() });
            }
            other => panic!("unknown option {other}"),
        }
    }
    match run(host, &mode, steps, place.expect("a place")).await {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::FAILURE,
        Err(error) => {
            show(json!({ "event": "error", "message": error.to_string() }));
            ExitCode::FAILURE
        }
    }
}

async fn run(host: Host, mode: &str, steps: Vec<Step>, place: Place) -> Result<bool, Box<dyn std::error::Error>> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        "modern" => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
    };
    let client = match place {
        Place::Url(url) => {
            host.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), lifecycle).await?
        }
        Place::Command(command) => host.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?,
    };
    let server = client.peer_info().map(|server| (server.protocol_version.to_string(), server.server_info.clone()));
    let (revision, info) = server.unzip();
    let era = if revision.as_deref() >= Some("2026") { "modern" } else { "legacy" };
    show(json!({ "event": "connected", "era": era, "revision": revision, "server": info }));
    let mut failed = false;
    for step in steps {
        let outcome = match step {
            Step::List => client.list_all_tools().await.map(|tools| {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
                json!({ "event": "result", "method": "tools/list", "tools": names })
            }),
            Step::Call { name, arguments, cancel_after } => call(&client, name, arguments, cancel_after).await,
        };
        show(outcome.unwrap_or_else(|error| {
            failed = true;
            let code = match &error {
                ServiceError::McpError(error) => Some(error.code.0),
                _ => None,
            };
            json!({ "event": "error", "message": error.to_string(), "code": code })
        }));
    }
    client.cancel().await?;
    show(json!({ "event": "closed" }));
    Ok(failed)
}

async fn call(
    client: &RunningService<RoleClient, Host>,
    name: String,
    arguments: JsonObject,
    cancel_after: Option<Duration>,
) -> Result<Value, ServiceError> {
    let params = CallToolRequestParams::new(name.clone()).with_arguments(arguments);
    let result = match cancel_after {
        None => serde_json::to_value(client.call_tool(params).await?),
        // A time-out of a request is what cancels it.
        Some(after) => {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let options = PeerRequestOptions::with_timeout(after);
            let handle = client.peer().send_cancellable_request(request, options).await?;
            match handle.await_response().await? {
                ServerResult::CallToolResult(result) => serde_json::to_value(result),
                _ => return Err(ServiceError::UnexpectedResponse),
            }
        }
    };
    let result = result.expect("a result is JSON");
    Ok(json!({ "event": "result", "method": "tools/call", "name": name, "result": result }))
}
