//! Servers that go on with what another one has begun: state that travels through the client, sealed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_driver::{Bound, Context, Error, Json, Now, Runtime, Server, StateCodec, StateError, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::asks::{ALL, Peer, accept};
use super::streams::ends;
use crate::kit::{Kit, Server as ServerOf, background};

#[derive(Deserialize, JsonSchema)]
struct Seat {
    seat: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    really: bool,
}

const NEW: [u8; 32] = [1; 32];
const OLD: [u8; 32] = [2; 32];
const OTHER: [u8; 32] = [3; 32];

/// One of several servers: asks for a seat, holds it, and asks whether that is right.
fn replica<R: Runtime>(name: &str, holds: &Arc<AtomicUsize>) -> Server<R> {
    let holds = holds.clone();
    let tool = Tool::new("book").input_schema(Json::parse(r#"{"type":"object"}"#).unwrap());
    Server::new(name, "1").on_error(|_| {}).tool(tool, move |_: Json, cx: Context| {
        let holds = holds.clone();
        async move {
            let seat = cx.elicit::<Seat>("seat", "seat").await?.seat;
            let hold = cx.step("hold", async || Ok(holds.fetch_add(1, Ordering::SeqCst))).await?;
            let confirm = cx.elicit::<Confirm>("confirm", "confirm").await?;
            Ok(format!("{seat} {hold} {}", confirm.really))
        }
    })
}

/// Makes one round of the call.
fn round(peer: &mut Peer, answers: &Value, state: Option<&str>) -> Value {
    let mut params = json!({ "name": "book", "arguments": {}, "inputResponses": answers });
    if let Some(state) = state {
        params["requestState"] = state.into();
    }
    peer.request("tools/call", params);
    peer.read()
}

/// The state of a call for which a seat is held.
fn begun<K: Kit>(server: ServerOf<K>) -> String {
    let mut peer = Peer::connect::<K>(server, None, ALL);
    let asked = round(&mut peer, &json!({ "seat": accept(json!({ "seat": "4A" })) }), None);
    assert!(asked["result"]["inputRequests"]["confirm"].is_object(), "{asked}");
    asked["result"]["requestState"].as_str().unwrap().to_owned()
}

/// What another server makes of that state and of the answer to the last question.
fn ended<K: Kit>(server: ServerOf<K>, state: &str) -> Result<String, (i64, String)> {
    let mut peer = Peer::connect::<K>(server, None, ALL);
    let done = round(&mut peer, &json!({ "confirm": accept(json!({ "really": true })) }), Some(state));
    match done["result"]["content"][0]["text"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let (code, message) = (&done["error"]["code"], &done["error"]["message"]);
            Err((code.as_i64().unwrap(), message.as_str().unwrap().to_owned()))
        }
    }
}

fn refused() -> Result<String, (i64, String)> {
    Err((-32602, "requestState is not valid".to_owned()))
}

/// MRTR-11, MRTR-12, RPC-34: whoever has the key that sealed a state goes on with the call, and nothing is done twice; to
/// everybody else it is no state at all.
pub fn a_call_goes_on_wherever_its_key_is<K: Kit>(_: &str) {
    let holds = Arc::default();
    let server = |keys: &[[u8; 32]]| replica("fleet", &holds).state_keys(keys.iter().copied());
    let (by_new, by_old) = (begun::<K>(server(&[NEW, OLD])), begun::<K>(server(&[OLD])));
    assert_eq!(holds.load(Ordering::SeqCst), 2);
    for (state, keys, outcome) in [
        (&by_new, &[NEW, OLD][..], Ok("4A 0 true".to_owned())),
        (&by_new, &[OLD, NEW], Ok("4A 0 true".to_owned())),
        (&by_old, &[NEW, OLD], Ok("4A 1 true".to_owned())),
        (&by_new, &[OLD], refused()),
        (&by_old, &[NEW], refused()),
        (&by_old, &[OTHER], refused()),
    ] {
        assert_eq!(ended::<K>(server(keys), state), outcome);
    }
    assert_eq!(holds.load(Ordering::SeqCst), 2);
    // Without keys a server has one of its own.
    assert_eq!(ended::<K>(replica("fleet", &holds), &by_new), refused());
}

/// A state is for one audience, which is the name of the server if nothing else is said.
pub fn a_state_is_for_its_audience<K: Kit>(_: &str) {
    let holds = Arc::default();
    let named = |name| replica::<K::Runtime>(name, &holds).state_keys([NEW]);
    let state = begun::<K>(named("one"));
    assert_eq!(ended::<K>(named("one"), &state).unwrap(), "4A 0 true");
    assert_eq!(ended::<K>(named("two"), &state), refused());
    assert_eq!(ended::<K>(named("one").state_audience("fleet"), &state), refused());

    let state = begun::<K>(named("one").state_audience("fleet"));
    assert_eq!(ended::<K>(named("two").state_audience("fleet"), &state).unwrap(), "4A 1 true");
    assert_eq!(ended::<K>(named("one"), &state), refused());
}

/// Keeps states, and hands out tickets for them, each of which is good for one use.
#[derive(Clone, Debug, Default)]
struct Tickets(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl StateCodec for Tickets {
    fn seal(&self, _: Now, bound: &Bound<'_>, state: &[u8]) -> Result<String, StateError> {
        let mut kept = self.0.lock().unwrap();
        let ticket = format!("{} of {} {}", bound.method, bound.target, kept.len());
        kept.insert(ticket.clone(), state.to_vec());
        Ok(ticket)
    }

    fn open(&self, _: Now, _: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, StateError> {
        self.0.lock().unwrap().remove(sealed).ok_or_else(|| StateError::new("there is no such ticket"))
    }
}

/// MRTR-17: a codec of one's own seals and opens, and can let a state be used once.
pub fn a_codec_of_ones_own_is_asked<K: Kit>(_: &str) {
    let (holds, tickets) = (Arc::default(), Tickets::default());
    let server = || replica("tickets", &holds).state_codec(tickets.clone());
    let state = begun::<K>(server());
    assert_eq!(state, "tools/call of book 0");
    assert_eq!(ended::<K>(server(), "tools/call of book 1"), refused());
    assert_eq!(ended::<K>(server(), &state).unwrap(), "4A 0 true");
    assert_eq!(ended::<K>(server(), &state), refused());
    // What the codec kept is checked all the same.
    let state = begun::<K>(server());
    assert_eq!(ended::<K>(server().state_audience("other"), &state), refused());
}

/// Keys that are none are a mistake of the application, which serving ends with.
pub fn a_ring_without_keys_does_not_serve<K: Kit>(_: &str) {
    let (_ours, theirs) = ends::<K>();
    let server = replica::<K::Runtime>("none", &Arc::default()).state_keys([[0; 32]; 0]);
    let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
    let error = served.join().unwrap_err();
    assert!(matches!(&error, Error::Misuse(misuse) if misuse.to_string().contains("state_keys")), "{error}");
}
