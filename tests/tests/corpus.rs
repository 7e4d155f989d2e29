//! Every input of the fuzz corpus, through the body that it is for: what a fuzzer has found stays found, and
//! `cargo test` needs no fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mcp_proto::wire::http1;
use mcp_proto::{auth, client, fuzz, schema, server};

/// One test a target, so that a failure names it.
macro_rules! targets {
    ($($target:ident => $body:path,)*) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];

        $(
            #[test]
            fn $target() {
                replay(stringify!($target), $body);
            }
        )*
    };
}

targets! {
    jsonrpc => fuzz::fuzz_jsonrpc,
    inflate => fuzz::fuzz_inflate,
    lines => fuzz::fuzz_lines,
    sse => fuzz::fuzz_sse,
    header_value => fuzz::fuzz_header_value,
    http1_server => http1::fuzz::fuzz_server,
    http1_client => http1::fuzz::fuzz_client,
    server_connection => server::fuzz::fuzz_connection,
    server_exchange => server::fuzz::fuzz_exchange,
    server_template => server::fuzz::fuzz_template,
    auth => auth::fuzz::fuzz,
    schema => schema::fuzz::fuzz,
    tasks => server::fuzz::fuzz_tasks,
    seal => server::fuzz::fuzz_seal,
    client_connection => client::fuzz::fuzz_connection,
    client_http => client::fuzz::fuzz_http,
    beside_hyper_requests => mcp_differential::fuzz_requests,
    beside_hyper_responses => mcp_differential::fuzz_responses,
    beside_eventsource => mcp_differential::fuzz_events,
}

/// What `fuzz/` runs, what it starts from and what is replayed here are the same.
#[test]
fn every_target_has_a_corpus() {
    let targets: BTreeSet<String> = TARGETS.iter().map(ToString::to_string).collect();
    assert_eq!(stems("fuzz_targets"), targets);
    assert_eq!(stems("corpus"), targets);
}

fn replay(target: &str, body: fn(&[u8])) {
    let folder = fuzz_folder().join("corpus").join(target);
    let mut inputs: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    body(b"");
    for input in inputs {
        // Shown only if the body panics.
        println!("{}", input.display());
        body(&fs::read(&input).unwrap());
    }
}

fn stems(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fuzz_folder().join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn fuzz_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}
