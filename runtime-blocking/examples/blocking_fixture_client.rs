//! The fixture client on threads: does what its flags say and prints what happens, one JSON object a line.

use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use mcp_blocking::model::{ElicitRequestFormParams, LoggingLevel};
use mcp_blocking::{Asked, Calls, Canceller, Client, Error, Options};
use mcp_fixtures::{ClientOptions, Events, Step, Target};

fn run(options: ClientOptions, events: &Events) -> Result<(), Error> {
    let mut builder = Client::builder("fixture-client", env!("CARGO_PKG_VERSION"))
        .era(options.era)
        .on_log(LoggingLevel::Debug, Events::log);
    if let Some(answers) = options.answers {
        builder = builder.on_elicit(move |form: ElicitRequestFormParams, _: Asked| answers.fill_in(&form));
    }
    let client = match options.target {
        Target::Url(url) => builder.http(url)?,
        Target::Sse(url) => builder.http_sse(url)?,
        Target::Command(command) => builder.spawn(command)?,
    };
    Events::connected(&client.details());
    for step in options.steps {
        match step {
            Step::ListTools => events.listed(client.list_tools()),
            Step::Call { name, arguments, timeout, cancel_after } => {
                let mut options = Options::new().on_progress(Events::progress);
                if let Some(timeout) = timeout {
                    options = options.timeout(timeout);
                }
                if let Some(after) = cancel_after {
                    let canceller = Canceller::new();
                    options = options.cancelled_by(&canceller);
                    thread::spawn(move || {
                        // Nobody ever sends: this is a wait.
                        let (_sender, never) = mpsc::channel::<()>();
                        let _ = never.recv_timeout(after);
                        canceller.cancel();
                    });
                }
                events.called(&name, client.call_tool_with(&name, arguments, options));
            }
            _ => {}
        }
    }
    client.close()
}

fn main() -> ExitCode {
    let events = Events::default();
    if let Err(error) = run(ClientOptions::from_args(), &events) {
        events.not_connected(&error);
    }
    events.closed()
}
