//! The fixture client on tokio: does what its flags say and prints what happens, one JSON object a line.

use std::process::ExitCode;

use mcp_fixtures::{ClientOptions, Events, Step, Target};
use mcp_tokio::model::{ElicitRequestFormParams, LoggingLevel};
use mcp_tokio::{Asked, CallError, Calls, Client, Error, Options};

async fn run(options: ClientOptions, events: &Events) -> Result<(), Error> {
    let mut builder = Client::builder("fixture-client", env!("CARGO_PKG_VERSION"))
        .era(options.era)
        .on_log(LoggingLevel::Debug, Events::log);
    if let Some(answers) = options.answers {
        builder = builder.on_elicit(move |form: ElicitRequestFormParams, _: Asked| {
            let filled_in = answers.fill_in(&form);
            async { filled_in }
        });
    }
    let client = match options.target {
        Target::Url(url) => builder.http(url).await?,
        Target::Sse(url) => builder.http_sse(url).await?,
        Target::Command(command) => builder.spawn(command).await?,
    };
    Events::connected(&client.details());
    for step in options.steps {
        match step {
            Step::ListTools => events.listed(client.list_tools().await),
            Step::Call { name, arguments, timeout, cancel_after } => {
                let mut options = Options::new().on_progress(Events::progress);
                if let Some(timeout) = timeout {
                    options = options.timeout(timeout);
                }
                let call = client.call_tool_with(&name, arguments, options);
                let reply = match cancel_after {
                    // Dropping the call cancels it.
                    Some(after) => {
                        tokio::time::timeout(after, call).await.unwrap_or(Err(CallError::Cancelled))
                    }
                    None => call.await,
                };
                events.called(&name, reply);
            }
            _ => {}
        }
    }
    client.close().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let events = Events::default();
    if let Err(error) = run(ClientOptions::from_args(), &events).await {
        events.not_connected(&error);
    }
    events.closed()
}
