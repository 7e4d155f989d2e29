//! What an HTTP client sends once its user has signed out: at a server that watches resources and takes the tokens it is given.

use std::sync::{Arc, Mutex};

use mcp_driver::auth::{self, Authorize, Config, GrantStore, MemoryStore, Signer};
use mcp_driver::proto::head::ResponseHead;
use mcp_driver::{End, EraChoice, Outgoing, Response};
use serde_json::{Value, json};

use super::scripted::discovered;
use super::{builder, calling};
use crate::kit::{Client, Kit};
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

/// A client that has a token, of this type.
fn signed_in<K: Kit>(token_type: &str, config: Config) -> (Client<K>, Events) {
    let (tell, events) = Events::new();
    let grant = format!(
        r#"{{"issuer":"https://as.example","resource":"{SERVER}","registration":null,"access_token":"t-1",
            "token_type":"{token_type}","issued":0,"expires":null,"refresh_token":null,"scopes":null,"requested":null,
            "token_endpoint":"https://as.example/token"}}"#
    );
    let store = MemoryStore::default();
    K::block_on(store.save(SERVER, &auth::Grant::from_json(&grant).unwrap())).unwrap();
    let authorize = Authorize::new(config).store(store);
    let builder = builder::<K>(EraChoice::Modern).authorize(authorize).exchanger(exchanger(tell));
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
