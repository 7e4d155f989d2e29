//! `conformance-client --runtime tokio|smol|blocking URL`: plays the scenario that the environment names.

use std::env;

use mcp_conformance::{Client, Error, run_on};

fn main() -> Result<(), Error> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--runtime", runtime, url] => run_on(runtime.parse()?, Client::from_env(url.into())?),
        _ => Err("usage: conformance-client --runtime tokio|smol|blocking URL".into()),
    }
}
