//! The rig as a program of its own: `mcp-rig tokio|smol|blocking --stdio|--http|--parent|--clients URL|--starved URL|--reach URL [--legacy-only|--asks|--changeable|--soak]`.

use std::io::Write;
use std::sync::Arc;

use mcp_driver::{CallError, Calls, Era, EraChoice, Error, Limits, Runtime};
use mcp_tests::kit::{Client, Kit, Reply};
use mcp_tests::rig::{Census, server};
use mcp_tests::scenarios::{asks, faults};
use mcp_tests::soak;
use mcp_tests::support::{Gate, eventually};
use mcp_tests::{OnBlocking, OnSmol, OnTokio};
use serde_json::json;

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tokio", "--clients", url] => clients::<OnTokio>(url),
        ["tokio", "--starved", url] => starved::<OnTokio>(url),
        ["tokio", "--parent"] => parent::<OnTokio>(),
        ["tokio", "--reach", url] => reach::<OnTokio>(url),
        ["tokio", flags @ ..] => {
            // One thread: what blocks it blocks everything.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = rig::<mcp_tokio::Tokio>(flags);
                match bind(flags) {
                    true => announce(server.bind_http("127.0.0.1:0").await?).serve().await,
                    false => server.serve_stdio().await,
                }
            })
        }
        ["smol", "--clients", url] => clients::<OnSmol>(url),
        ["smol", "--starved", url] => starved::<OnSmol>(url),
        ["smol", "--parent"] => parent::<OnSmol>(),
        ["smol", "--reach", url] => reach::<OnSmol>(url),
        ["smol", flags @ ..] => smol::block_on(async {
            let server = rig::<mcp_smol::Smol>(flags);
            match bind(flags) {
                true => announce(server.bind_http("127.0.0.1:0").await?).serve().await,
                false => server.serve_stdio().await,
            }
        }),
        ["blocking", "--clients", url] => clients::<OnBlocking>(url),
        ["blocking", "--starved", url] => starved::<OnBlocking>(url),
        ["blocking", "--parent"] => parent::<OnBlocking>(),
        ["blocking", "--reach", url] => reach::<OnBlocking>(url),
        ["blocking", flags @ ..] => {
            let server = rig::<mcp_blocking::Threads>(flags);
            match bind(flags) {
                true => announce(server.bind_http("127.0.0.1:0")?).serve(),
                false => server.serve_stdio(),
            }
        }
        _ => panic!("usage: mcp-rig tokio|smol|blocking --stdio|--http|--clients URL [--legacy-only]"),
    }
}

fn rig<R: Runtime>(flags: &[&str]) -> mcp_driver::Server<R> {
    if flags.contains(&"--asks") {
        return asks::server(&Arc::default()).on_error(|report| eprintln!("{report}"));
    }
    let mut server = if flags.contains(&"--soak") {
        soak::server().on_error(|report| eprintln!("{report}"))
    } else {
        server(|event| eprintln!("{event}"), &Gate::default())
    };
    if let [.., "--transmit", most] = flags {
        let mut limits = Limits::default();
        limits.transmit = most.parse().unwrap();
        server = server.limits(limits);
    }
    if bind(flags) {
        server = server.http_sse("/sse", "/messages");
    }
    if flags.contains(&"--changeable") {
        // With a registry there is something to listen for.
        drop(server.registry());
    }
    if flags.contains(&"--legacy-only") { server.only(Era::Legacy) } else { server }
}

fn bind(flags: &[&str]) -> bool {
    flags.contains(&"--http")
}

fn announce<R: Runtime>(server: mcp_driver::HttpServer<R>) -> mcp_driver::HttpServer<R> {
    println!("{}", server.url());
    std::io::stdout().flush().unwrap();
    server
}

/// A client with nothing configured, whose server has something to say to people.
fn parent<K: Kit>() -> Result<(), Error> {
    let _entered = K::enter();
    let program = std::env::current_exe().unwrap();
    let say = "echo 'no more, no less' >&2; exec \"$@\"";
    let child =
        mcp_driver::Command::new("sh").args(["-c", say, "sh"]).arg(program).args([K::NAME, "--stdio"]);
    let client = K::wait(Client::<K>::builder("parent", "1").spawn(child))?;
    K::wait(client.close())
}

/// A client with nothing configured, that reaches a server.
fn reach<K: Kit>(url: &str) -> Result<(), Error> {
    let _entered = K::enter();
    let client = K::wait(Client::<K>::http(url))?;
    talk::<K>(&client)?;
    K::wait(client.close())?;
    println!("reached");
    Ok(())
}

/// Opens and closes clients until the process holds no more than before.
fn clients<K: Kit>(url: &str) -> Result<(), Error> {
    let _entered = K::enter();
    let program = std::env::current_exe().unwrap();
    let once = |era: EraChoice, close: bool| -> Result<(), Error> {
        let builder = || Client::<K>::builder("clients", "1").era(era);
        let child = mcp_driver::Command::new(&program).args([K::NAME, "--stdio"]);
        for client in [K::wait(builder().http(url))?, K::wait(builder().spawn(child))?] {
            talk::<K>(&client)?;
            if close {
                K::wait(client.close())?;
            }
        }
        Ok(())
    };
    // What a runtime starts once, it keeps.
    once(EraChoice::Auto, true)?;
    let mut before = Census::take();
    eventually("the first clients are gone", || {
        let earlier = std::mem::replace(&mut before, Census::take());
        if earlier == before { Ok(()) } else { Err(earlier) }
    });
    for round in 0..8 {
        let era = if round % 2 == 0 { EraChoice::Modern } else { EraChoice::Legacy };
        once(era, round % 4 < 2)?;
    }
    eventually(&format!("no more is held than {before:?}"), || {
        let now = Census::take();
        if now.is_within(&before) { Ok(()) } else { Err(now) }
    });
    println!("nothing left");
    Ok(())
}

/// A client in a process that has no descriptors left for a while.
fn starved<K: Kit>(url: &str) -> Result<(), Error> {
    let _entered = K::enter();
    let builder = || Client::<K>::builder("starved", "1").era(EraChoice::Modern);
    let client = K::wait(builder().http(url))?;
    talk::<K>(&client)?;
    let mut taken = vec![faults::Exhausted::take()];
    talk::<K>(&client)?;
    let child = || mcp_driver::Command::new(std::env::current_exe().unwrap()).args([K::NAME, "--stdio"]);
    let attempts: [&dyn Fn() -> Result<Client<K>, Error>; 2] =
        [&|| K::wait(builder().http(url)), &|| K::wait(builder().spawn(child()))];
    for attempt in attempts {
        let mut lucky = Vec::new();
        let error = loop {
            match attempt() {
                Err(error) => break error.to_string(),
                // What went before has given some back, a moment late.
                Ok(client) => lucky.push(client),
            }
            taken.push(faults::Exhausted::take());
        };
        assert!(error.contains("Too many open files"), "{error}");
    }
    drop(taken);
    let again = K::wait(builder().http(url))?;
    talk::<K>(&again)?;
    K::wait(again.close())?;
    K::wait(client.close())
}

fn talk<K: Kit>(client: &Client<K>) -> Result<(), CallError> {
    let reply: Reply<K, _, _> = client.call_tool("echo", json!({ "text": "hello" }));
    assert_eq!(K::wait(reply)?.text(), "hello");
    Ok(())
}
