//! The fixture client on smol: does what its flags say and prints what happens, one JSON object a line.

use std::process::ExitCode;

use mcp_fixtures::{ClientOptions, Events, Step, Target};
use mcp_smol::model::{ElicitRequestFormParams, LoggingLevel};
use mcp_smol::{Asked, CallError, Calls, Client, Error, Options};
use smol::Timer;
use smol::future::or;

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
                        let patience = async {
                            Timer::after(after).await;
                            Err(CallError::Cancelled)
                        };
                        or(call, patience).await
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

fn main() -> ExitCode {
    let events = Events::default();
    if let Err(error) = smol::block_on(run(ClientOptions::from_args(), &events)) {
        events.not_connected(&error);
    }
    events.closed()
}
