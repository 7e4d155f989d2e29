//! What an HTTP client sends once its user has signed out: at a server that watches resources and takes the tokens it
//! is given.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use mcp_driver::auth::{self, Authorize, Config, GrantStore, MemoryStore, Signer};
use mcp_driver::proto::head::ResponseHead;
use mcp_driver::{CallError, End, EraChoice, Limits, Outgoing, Response, Traffic};
use serde_json::{Value, json};

use super::scripted::{discovered, result};
use super::{builder, calling};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, Gate, Tell};

const SERVER: &str = "https://h.example/mcp";

/// Tells each request with what it was authorized by, and each refusal once it was heard.
fn exchanger(tell: Tell) -> impl Fn(Outgoing, Response) -> std::future::Ready<()> + Send + Sync {
    let streams = Mutex::new(Vec::new());
    move |outgoing: Outgoing, mut response: Response| {
        let token = outgoing.head.headers.text("authorization").unwrap_or("none").to_owned();
        let message: Value = serde_json::from_slice(outgoing.body()).unwrap_or_default();
        let (method, here) = (message["method"].as_str().unwrap_or_default(), outgoing.url() == SERVER);
        tell.tell(if here { format!("{method} {token}") } else { format!("elsewhere: {}", outgoing.url()) });
        if !here || token == "none" {
            response.head(ResponseHead::new(if here { 401 } else { 404 }));
            response.end(End::Complete);
            tell.tell("refused");
            return std::future::ready(());
        }
        let mut head = ResponseHead::new(200);
        if method == "subscriptions/listen" {
            let told = json!({
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {
                    "_meta": { "io.modelcontextprotocol/subscriptionId": message["id"] },
                    "notifications": message["params"]["notifications"],
                },
            });
            head.headers.push("Content-Type", "text/event-stream");
            response.head(head);
            response.body(format!("data: {told}\n\n").as_bytes());
            streams.lock().unwrap().push(response);
        } else {
            head.headers.push("Content-Type", "application/json");
            response.head(head);
            let capabilities = json!({ "tools": {}, "resources": { "subscribe": true } });
            response.body(discovered(&message, capabilities).to_string().as_bytes());
            response.end(End::Complete);
        }
        std::future::ready(())
    }
}

/// A token for a server, of this type.
fn grant(server: &str, issuer: &str, token_type: &str) -> String {
    format!(
        r#"{{"issuer":"{issuer}","resource":"{server}","registration":null,"access_token":"t-1",
            "token_type":"{token_type}","issued":0,"expires":null,"refresh_token":null,"scopes":null,"requested":null,
            "token_endpoint":"{issuer}/token"}}"#
    )
}

/// A client that has a token, of this type.
fn signed_in<K: Kit>(token_type: &str, config: Config) -> (Client<K>, Events) {
    signed_in_with::<K>(token_type, config, |_| {})
}

fn signed_in_with<K: Kit>(
    token_type: &str,
    config: Config,
    change: impl FnOnce(&mut Limits),
) -> (Client<K>, Events) {
    let mut limits = Limits::default();
    change(&mut limits);
    let (tell, events) = Events::new();
    let grant = grant(SERVER, "https://as.example", token_type);
    let store = MemoryStore::default();
    K::block_on(store.save(SERVER, &auth::Grant::from_json(&grant).unwrap())).unwrap();
    let authorize = Authorize::new(config).store(store);
    let builder = builder::<K>(EraChoice::Modern).limits(limits);
    let builder = builder.authorize(authorize).exchanger(exchanger(tell));
    (K::wait(builder.http(SERVER)).unwrap(), events)
}

/// AUTH-66: whoever takes something back does not wait for a token; whoever asks for more does.
pub fn taking_back_is_no_reason_to_sign_in<K: Kit>(_: &str) {
    let (client, events) = signed_in::<K>("bearer", Config::new("Spokes"));
    for uri in ["x:a", "x:b"] {
        K::wait(client.subscribe_resource(uri)).unwrap();
    }
    K::wait(client.sign_out()).unwrap();
    let elsewhere = || events.others().iter().filter(|event| event.starts_with("elsewhere")).count();
    let before = elsewhere();
    K::wait(client.unsubscribe_resource("x:a")).unwrap();
    events.expect("subscriptions/listen none");
    events.expect("refused");
    // It waits for a flow, if there is one.
    K::wait(client.sign_out()).unwrap();
    assert_eq!(elsewhere(), before, "{:?}", events.others());
    K::wait(client.subscribe_resource("x:c")).unwrap_err();
    assert!(elsewhere() > before);
}

struct Slow {
    tell: Tell,
    gate: Gate,
}

impl Signer for Slow {
    fn algorithm(&self) -> &str {
        "ES256"
    }

    fn public_jwk(&self) -> &str {
        r#"{"kty":"EC"}"#
    }

    fn sign(&self, _: &[u8]) -> Option<Vec<u8>> {
        self.tell.tell("signing");
        self.gate.block();
        Some(vec![1])
    }
}

/// AUTH-66, AUTHX-23: a token for which a key still signs when it is taken back is not sent.
pub fn a_key_that_is_slow_sends_no_token_that_was_taken_back<K: Kit>(_: &str) {
    let (tell, signing) = Events::new();
    let gate = Gate::default();
    gate.open();
    let key = Slow { tell, gate: gate.clone() };
    let (client, events) = signed_in::<K>("dpop", Config::new("Spokes").dpop(Arc::new(key)));
    signing.expect("signing");
    gate.close();
    let call = calling::<K>(&client, "who");
    signing.expect("signing");
    K::wait(client.sign_out()).unwrap();
    gate.open();
    let error = call.join().unwrap_err();
    assert!(error.to_string().contains("signed out"), "{error}");
    assert_eq!(events.expect("tools/call"), "tools/call none");
}

/// AUTHX-23: keys sign on as many threads as there may be, as many requests wait for one, and whichever is one too many
/// fails.
pub fn keys_sign_on_so_many_threads<K: Kit>(_: &str) {
    let (tell, signing) = Events::new();
    let gate = Gate::default();
    gate.open();
    let key = Slow { tell, gate: gate.clone() };
    let change = |limits: &mut Limits| (limits.blocking_threads, limits.blocking_jobs) = (1, 1);
    let (client, _events) = signed_in_with::<K>("dpop", Config::new("Spokes").dpop(Arc::new(key)), change);
    signing.expect("signing");
    gate.close();
    let (tell, outcomes) = Events::new();
    let call = || {
        let (client, tell) = (client.clone(), tell.clone());
        background::<K, _>(move || match super::call::<K>(&client, "who", json!({})) {
            Err(error @ CallError::Unauthorized { .. }) => tell.tell(error.to_string()),
            // Signed, sent and answered, with whatever.
            _ => tell.tell("done"),
        })
    };
    let first = call();
    signing.expect("signing");
    let others = [call(), call()];
    outcomes.expect("`Limits::blocking_jobs`");
    gate.open();
    for _ in 0..2 {
        outcomes.expect("done");
    }
    first.join();
    others.into_iter().for_each(|other| other.join());
}

/// A server on one connection that takes the token `t-1`, tells of each request with its token, and answers calls when the
/// gate is open.
fn on_one_connection(tell: Tell, gate: Gate) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let Ok((mut socket, _)) = listener.accept() else { return };
        let mut reader = BufReader::new(socket.try_clone().unwrap());
        loop {
            let (mut length, mut token) = (0, "none".to_owned());
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).is_err() || line.is_empty() {
                    return;
                }
                match line.trim_end().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap();
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                        value.clone_into(&mut token)
                    }
                    None if line.trim_end().is_empty() => break,
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or_default();
            tell.tell(format!("{method} {token}"));
            let (status, body) = match method {
                _ if token == "none" => ("401 Unauthorized\r\nWWW-Authenticate: Bearer", String::new()),
                "tools/call" => {
                    gate.block();
                    (
                        "200 OK",
                        result(&message, json!({ "resultType": "complete", "content": [] })).to_string(),
                    )
                }
                _ => ("200 OK", discovered(&message, json!({ "tools": {} })).to_string()),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            if socket.write_all(format!("{head}{body}").as_bytes()).is_err() {
                return;
            }
        }
    });
    url
}

/// AUTH-66: what waits for a connection with a token goes out without it, once that was taken back.
pub fn what_waits_for_a_connection_sends_no_token_that_was_taken_back<K: Kit>(_: &str) {
    let ((tell, events), gate) = (Events::new(), Gate::default());
    let url = on_one_connection(tell, gate.clone());
    let store = MemoryStore::default();
    let grant = grant(&url, "http://127.0.0.1:1", "bearer");
    K::block_on(store.save(&url, &auth::Grant::from_json(&grant).unwrap())).unwrap();
    let mut limits = Limits::default();
    limits.connections = 1;
    let (tell, sent) = Events::new();
    let builder = builder::<K>(EraChoice::Modern)
        .limits(limits)
        .authorize(Authorize::new(Config::new("Spokes")).store(store))
        .on_traffic(move |traffic| {
            if let Traffic::Sent(bytes) = traffic {
                tell.tell(String::from_utf8_lossy(bytes));
            }
        });
    let client = K::wait(builder.http(&url)).unwrap();
    let first = calling::<K>(&client, "first");
    events.expect("tools/call Bearer t-1");
    let second = calling::<K>(&client, "second");
    sent.expect("second");
    // It is gone, whatever the authorization server says, which is not there.
    drop(K::wait(client.sign_out()));
    gate.open();
    first.join().unwrap();
    assert_eq!(events.expect("tools/call"), "tools/call none");
    let error = second.join().unwrap_err();
    assert!(error.to_string().contains("signed out"), "{error}");
}
