//! Starts a server, talks to it in raw bytes, and prints what that cost as one JSON object. No SDK is in here.

mod case;
mod framing;
mod lane;
mod measure;
mod options;
mod process;

use std::process::ExitCode;

use options::{Kind, Options};

fn main() -> ExitCode {
    let options = match Options::from_args() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("load: {problem}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let outcome = match options.kind {
        Kind::Start => measure::start(&options),
        Kind::Idle => measure::idle(&options),
        Kind::Echo | Kind::List | Kind::Burst | Kind::Change => measure::calls(&options),
    };
    match outcome {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("load: {problem}");
            ExitCode::FAILURE
        }
    }
}
