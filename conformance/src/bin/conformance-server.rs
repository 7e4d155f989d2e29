//! `conformance-server --runtime tokio|smol|blocking --port P`: serves until it is killed.

use std::env;

use mcp_conformance::{Error, Server, run_on};

fn main() -> Result<(), Error> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--runtime", runtime, "--port", port] => run_on(runtime.parse()?, Server { port: port.parse()? }),
        _ => Err("usage: conformance-server --runtime tokio|smol|blocking --port P".into()),
    }
}
