//! Ways to say where a server is, and what is kept of how it was found to speak.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_driver::{
    Calls, ClientBuilder, Command, Era, EraChoice, Error, Revision, ServerFile, Target, Traffic, Transport,
    Verdict,
};
use serde_json::json;

use super::scripted::{exchanging, result};
use super::{builder, host, hosted, spawn, text};
use crate::kit::{Client, Kit, Server};
use crate::rig;
use crate::support::{Events, Gate};

fn echo<K: Kit>(client: &Client<K>) -> String {
    super::call::<K>(client, "echo", json!({ "text": "x" })).unwrap().text().into_owned()
}

/// SSEL-10: one string is enough, whether it is a command line or a URL, and of whichever transport.
pub fn a_string_says_where_a_server_is<K: Kit>(program: &str) {
    let gate = Gate::default();
    let server: Server<K> = rig::server(|_| {}, &gate).http_sse("/sse", "/messages");
    let host = hosted::<K>(server, gate, Events::new().1);
    let line = format!("'{program}' {} \"--stdio\"", K::NAME);
    let old = host.url.replace("/mcp", "/sse");
    for (target, transport) in [
        (line.clone(), Transport::Stream),
        (format!("stdio://{line}"), Transport::Stream),
        (host.url.clone(), Transport::StreamableHttp),
        (old, Transport::HttpSse),
    ] {
        let client = K::wait(builder::<K>(EraChoice::Auto).connect(&target)).unwrap();
        assert_eq!((echo::<K>(&client).as_str(), client.verdict().transport), ("x", transport), "{target}");
        K::wait(client.close()).unwrap();
    }
    for nowhere in ["", "ws://localhost/", "server | tee log"] {
        let error = K::wait(builder::<K>(EraChoice::Auto).connect(nowhere)).unwrap_err();
        assert!(matches!(error, Error::Misuse(_)), "{error}");
    }
    host.end();
}

/// What desktop hosts write is a program with arguments, environment and directory, or a URL.
pub fn a_file_of_servers_is_connected_to<K: Kit>(program: &str) {
    let host = host::<K>(|_| {});
    let script = "echo \"token $TOKEN in $(pwd)\" >&2; exec \"$@\"";
    let file = json!({ "mcpServers": {
        "local": {
            "command": "sh",
            "args": ["-c", script, "sh", "${PROGRAM}", K::NAME, "--stdio"],
            "env": { "TOKEN": "${SECRET:-none}" },
            "cwd": "/",
        },
        "remote": { "type": "http", "url": host.url },
        "broken": { "command": "${MISSING}" },
    }});
    let file =
        ServerFile::parse_with(&file.to_string(), |name| (name == "PROGRAM").then(|| program.to_owned()));
    let file = file.unwrap();
    let (tell, stderr) = Events::new();
    for name in ["local", "remote"] {
        let target = file.target(name).unwrap();
        let client = K::wait(builder::<K>(EraChoice::Auto).on_stderr(tell.lines()).connect(target)).unwrap();
        assert_eq!(echo::<K>(&client), "x");
        K::wait(client.close()).unwrap();
    }
    stderr.expect("token none in /");
    let error = Error::from(file.target("broken").unwrap_err()).to_string();
    assert!(error.contains("`broken`") && error.contains("`MISSING`"), "{error}");
    host.end();
}

/// SEC-24: what this program has in its environment is not for every server.
pub fn a_child_inherits_the_basics_of_the_environment<K: Kit>(program: &str) {
    // Cargo sets it for whoever runs tests.
    const OURS: &str = "CARGO_MANIFEST_DIR";
    let ours = std::env::var(OURS).unwrap();
    let command = || {
        let print = format!("echo \"[${{{OURS}-unset}}] $PATH\" >&2; exec \"$@\"");
        super::script::<K>(program, &print)
    };
    let path = std::env::var("PATH").unwrap();
    for (command, expected) in [
        (command(), "unset"),
        (command().inherit(OURS), &*ours),
        (command().inherit_all(), &*ours),
        (command().env(OURS, "mine").inherit_all(), "mine"),
    ] {
        let (client, stderr) = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap();
        stderr.expect(&format!("[{expected}] {path}"));
        K::wait(client.close()).unwrap();
    }
}

/// Counts the probes that a client sends.
fn counting<K: Kit>(verdict: Option<Verdict>) -> (ClientBuilder<K::Runtime>, Arc<AtomicUsize>) {
    let probes = Arc::new(AtomicUsize::new(0));
    let counter = probes.clone();
    let builder = builder::<K>(EraChoice::Auto).on_traffic(move |traffic| {
        if let Traffic::Sent(bytes) = traffic
            && String::from_utf8_lossy(bytes).contains("server/discover")
        {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (if let Some(verdict) = verdict { builder.verdict(verdict) } else { builder }, probes)
}

/// VER-19, VER-20: what was found out about a server is not found out again, and not believed for ever.
pub fn a_verdict_is_for_the_next_connection<K: Kit>(program: &str) {
    let legacy = Target::from(super::command::<K>(program).arg("--legacy-only"));
    let modern = Target::from(super::command::<K>(program));
    let connect = |target: &Target, verdict| {
        let (builder, probes) = counting::<K>(verdict);
        let client = K::wait(builder.connect(target)).unwrap();
        assert_eq!(echo::<K>(&client), "x");
        let found = client.verdict();
        K::wait(client.close()).unwrap();
        (found, probes.load(Ordering::SeqCst))
    };
    let (found, probes) = connect(&legacy, None);
    assert_eq!((found, probes), (Verdict::new(Transport::Stream, Revision::LATEST_LEGACY), 1));
    // Kept as text in between.
    let kept = Verdict::parse(&found.to_string());
    assert_eq!(connect(&legacy, kept), (found, 0));
    let (now, _) = connect(&modern, None);
    assert_eq!(now.era(), Era::Modern);
    assert_eq!(connect(&modern, Some(now)), (now, 1), "it asks what there is");
    assert_eq!(connect(&legacy, Some(now)), (found, 1), "wrong by now");
    // As wrong, and such a server ends when it is greeted.
    let strict = Target::from(super::script::<K>(
        program,
        r#"IFS= read -r line; case $line in
        *'"initialize"'*) exit 3;;
        *) { printf '%s\n' "$line"; cat; } | "$@";;
        esac"#,
    ));
    assert_eq!(connect(&strict, Some(found)), (now, 1));
}

/// A command that is given as one is taken as it is.
pub fn a_command_is_a_target<K: Kit>(program: &str) {
    let command = Command::new(program).args([K::NAME, "--stdio"]);
    let client = K::wait(builder::<K>(EraChoice::Auto).connect(command)).unwrap();
    assert!(text::<K>(&client, "pid").parse::<u32>().is_ok());
    K::wait(client.close()).unwrap();
}

/// A server that compresses what it says, by turns in either way.
fn compressing() -> String {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let (mut reader, mut writer) = (BufReader::new(socket.try_clone().unwrap()), socket);
                loop {
                    let (mut head, mut line) = (String::new(), String::new());
                    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                        head.push_str(&line.to_ascii_lowercase());
                        line.clear();
                    }
                    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                    if head.is_empty() || reader.read_exact(&mut body).is_err() {
                        return;
                    }
                    assert!(head.contains("accept-encoding: gzip, deflate\r\n"), "{head}");
                    let request: serde_json::Value = serde_json::from_slice(&body).unwrap();
                    let result = match request["method"].as_str().unwrap() {
                        "server/discover" => {
                            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
                        }
                        _ => json!({ "content": [{ "type": "text", "text": "x".repeat(50_000) }] }),
                    };
                    let plain =
                        json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
                    let (coding, body) = match request["id"].as_i64().unwrap() % 2 {
                        0 => ("deflate", deflated(plain.as_bytes())),
                        _ => ("gzip", gzipped(plain.as_bytes())),
                    };
                    let mut answer = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
                        body.len(),
                    )
                    .into_bytes();
                    answer.extend(body);
                    writer.write_all(&answer).unwrap();
                }
            });
        }
    });
    url
}

/// One stored block: compressed, if not much.
fn deflated(plain: &[u8]) -> Vec<u8> {
    let length = u16::try_from(plain.len()).unwrap();
    let mut out = vec![1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(plain);
    out
}

/// The same with the frame of RFC 1952.
fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(deflated(plain));
    let sum = plain.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    });
    out.extend((!sum).to_le_bytes());
    out.extend(u32::try_from(plain.len()).unwrap().to_le_bytes());
    out
}

/// B40: compressed responses are asked for and read, whichever way they are.
pub fn compressed_responses_are_read<K: Kit>(_: &str) {
    let client = K::wait(builder::<K>(EraChoice::Auto).http(compressing())).unwrap();
    for _ in 0..2 {
        assert_eq!(text::<K>(&client, "any"), "x".repeat(50_000));
    }
    K::wait(client.close()).unwrap();
}

/// HTTPL-50: a session that takes the place of a lost one may be with another version of the server, and what is told
/// of the server is what it said last.
pub fn details_are_those_of_the_present_session<K: Kit>(_: &str) {
    let _entered = K::enter();
    let mut sessions = 0;
    let server = exchanging(move |message, outgoing| {
        let current = ["", "s-1", "s-2"][sessions];
        match message["method"].as_str() {
            Some("initialize") => {
                sessions += 1;
                let (session, revision, name, offered) = match sessions {
                    1 => ("s-1", "2025-11-25", "first", json!({ "tools": {} })),
                    _ => ("s-2", "2025-06-18", "second", json!({ "tools": {}, "prompts": {} })),
                };
                let said = json!({
                    "protocolVersion": revision,
                    "capabilities": offered,
                    "serverInfo": { "name": name, "version": "1" },
                    "instructions": name,
                });
                (200, Some(session), Some(result(message, said)))
            }
            // The first session is lost as soon as it is used.
            Some("tools/list") if outgoing.head.headers.text("mcp-session-id") != Some("s-2") => {
                assert_eq!(current, "s-1");
                (404, None, None)
            }
            Some("tools/list") => (200, None, Some(result(message, json!({ "tools": [] })))),
            Some(_) => (202, None, None),
            None => (405, None, None),
        }
    });
    let client =
        K::wait(builder::<K>(EraChoice::Legacy).exchanger(server).http("http://h.test/mcp")).unwrap();
    let told = |client: &Client<K>| {
        let name = client.server_info().unwrap().name;
        assert_eq!(client.instructions().as_ref(), Some(&name));
        assert_eq!(client.details().info.as_ref().unwrap().name, name);
        assert_eq!((client.verdict().revision, client.era()), (client.revision(), Era::Legacy));
        (name, client.revision(), client.capabilities().prompts.is_some())
    };
    assert_eq!(told(&client), ("first".into(), Revision::V2025_11_25, false));
    K::wait(client.list_tools()).unwrap();
    assert_eq!(told(&client), ("second".into(), Revision::V2025_06_18, true));
    K::wait(client.close()).unwrap();
}
