//! What handlers see of the request around their arguments.

use mcp_driver::{Context, EraChoice, Principal, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::http::{legacy, modern, session};
use super::streams::{client, ends};
use super::{ERAS, Host, hosted, text};
use crate::kit::{Kit, Server, background};
use crate::support::{Events, Raw};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

struct Region(&'static str);

/// A server whose tool, of both sorts, tells what it sees.
fn server<K: Kit>() -> Server<K> {
    fn seen(cx: &Context) -> String {
        let tenant = cx.headers().map_or("no head", |fields| fields.text("x-tenant").unwrap_or("no tenant"));
        let who = cx.principal().map_or("nobody", |principal| &principal.subject);
        let region = cx.extensions().get::<Region>().map_or("nowhere", |region| region.0);
        format!("{tenant}, {who}, {region}, {:?}", cx.headers())
    }
    Server::<K>::new("request", "1")
        .tool(Tool::new("see"), async |_: Nothing, cx: Context| Ok(seen(&cx)))
        .tool(Tool::new("look"), |_: Nothing, cx: Context| Ok(seen(&cx)))
}

/// SEC-25: over HTTP a handler sees the head, but printing it shows no value; nobody is recognised there.
pub fn handlers_see_the_head_of_their_request<K: Kit>(_: &str) {
    let server = server::<K>().principal(Principal::new("ada")).attach(Region("north"));
    let host: Host<K> = hosted(server, Default::default(), Events::new().1);
    let legacy_fields = session(&host.url);
    for tool in ["see", "look"] {
        let modern = modern(tool);
        for (fields, body) in [modern, (legacy_fields.clone(), legacy(7, tool))] {
            let mut raw = Raw::connect(&host.url);
            raw.post(&format!("X-Tenant: kiln\r\n{fields}"), &body);
            let answer = raw.answer().body;
            assert!(answer.contains("kiln, nobody, north, "), "{answer}");
            assert!(answer.contains("X-Tenant") && answer.matches("kiln").count() == 1, "{answer}");
        }
    }
    host.end();
}

/// On a byte stream there is no head; who the client is, and what else handlers need, is said to the server.
pub fn handlers_find_what_the_application_attached<K: Kit>(_: &str) {
    for era in ERAS {
        let (ours, theirs) = ends::<K>();
        let server = server::<K>().principal(Principal::new("ada")).attach(Region("north"));
        let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
        let client = client::<K>(ours, era);
        for tool in ["see", "look"] {
            assert_eq!(text::<K>(&client, tool), "no head, ada, north, None");
        }
        K::wait(client.close()).unwrap();
        served.join().unwrap();
    }
    let (ours, theirs) = ends::<K>();
    let served = background::<K, _>(move || K::wait(server::<K>().serve_stream(theirs)));
    let client = client::<K>(ours, EraChoice::Modern);
    assert_eq!(text::<K>(&client, "see"), "no head, nobody, nowhere, None");
    K::wait(client.close()).unwrap();
    served.join().unwrap();
}
