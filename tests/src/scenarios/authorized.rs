//! A server for holders of access tokens, and clients with and without one.

use std::time::Duration;

use mcp_driver::proto::server::CustomMethod;
use mcp_driver::{
    AuthRefusal, BearerToken, Context, Grant, Json, Limits, Principal, Prompt, Resource, ResourceServer,
    Tool, ToolError, Verify,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::http::{legacy, modern};
use super::{Host, hosted};
use crate::kit::{Kit, Server};
use crate::support::{Answer, Events, Raw};

const RESOURCE: &str = "https://rig.example/mcp";
const METADATA: &str = "https://rig.example/.well-known/oauth-protected-resource/mcp";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Tokens are `NAME:SCOPE+SCOPE`, and there are no others.
fn look_up(token: &BearerToken) -> Result<Grant, AuthRefusal> {
    let (name, scopes) = token.as_str().split_once('.').ok_or(AuthRefusal::Invalid)?;
    let audience = if name == "stray" { "https://elsewhere.example/mcp" } else { RESOURCE };
    Ok(Grant::new(Principal::new(name).scopes(scopes.split('+'))).audience(audience))
}

/// A server with something that every holder may use, and something that not every one may.
fn host<K: Kit, M>(verifier: impl Verify<M>, change: impl FnOnce(&mut Limits)) -> Host<K> {
    let mut limits = Limits::default();
    change(&mut limits);
    let (tell, events) = Events::new();
    let protected = ResourceServer::new(RESOURCE)
        .authorization_server("https://auth.example")
        .scopes(["use"])
        .implies("owner", ["use", "write"]);
    let server = Server::<K>::new("authorized", "1")
        .on_error(move |report| tell.tell(format!("{report} {report:?}")))
        .limits(limits)
        .tool(Tool::new("who"), async |_: Nothing, cx: Context| {
            let token = cx.headers().and_then(|fields| fields.get("authorization")).is_some();
            let who = cx.principal().map_or("nobody", |principal| &principal.subject);
            Ok(format!("{who}, {token}, {cx:?} {:?}", cx.principal()))
        })
        .tool(Tool::new("mow").scopes(["write"]), |_: Nothing, _: Context| Ok("mown"))
        .tool(Tool::new("dig"), |_: Nothing, _: Context| {
            Err::<(), _>(ToolError::insufficient_scope(["use", "dig"]))
        })
        .prompt(Prompt::new("plan").scopes(["write"]), |_: Nothing, _: Context| Ok("Plan"))
        .resource(Resource::new("rig://shed", "shed").scopes(["write"]), "Spades")
        .method(CustomMethod::new("acme/mow").scopes(["write"]), |_: Json, _: Context| Ok(()))
        .resource_server(protected, verifier);
    hosted(server, Default::default(), events)
}

fn post<K: Kit>(host: &Host<K>, token: Option<&str>, (fields, body): &(String, String)) -> Answer {
    let mut raw = Raw::connect(&host.url);
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    raw.post(&format!("{token}{fields}"), body);
    raw.answer()
}

fn challenge(answer: &Answer) -> &str {
    answer.header("WWW-Authenticate").unwrap_or_default()
}

/// HTTP-06, AUTHS-01, AUTHS-03, AUTHS-07, AUTHS-09, AUTHS-12, AUTHS-19, SEC-10: with a verifier of either sort, in either era.
pub fn a_token_is_demanded_and_checked<K: Kit>(_: &str) {
    let hosts: [Host<K>; 2] = [
        host(async |token: BearerToken| look_up(&token), |_| {}),
        host(|token: BearerToken| look_up(&token), |_| {}),
    ];
    for host in hosts {
        for request in [modern("who"), (String::new(), INITIALIZE.to_owned())] {
            let answer = post(&host, None, &request);
            let text = format!(r#"Bearer resource_metadata="{METADATA}", scope="use""#);
            assert_eq!((answer.status, challenge(&answer)), (401, &*text));
            for token in ["unknown", "stray.use"] {
                let answer = post(&host, Some(token), &request);
                assert_eq!(answer.status, 401, "{token}");
                assert!(challenge(&answer).starts_with(r#"Bearer error="invalid_token", "#), "{answer:?}");
            }
            assert_eq!(post(&host, Some("ada.use"), &request).status, 200);
        }
        assert!(post(&host, Some("ada.use"), &modern("who")).body.contains("ada, false, "));

        let mut raw = Raw::connect(&host.url);
        for path in ["", "/mcp"] {
            raw.write(&format!(
                "GET /.well-known/oauth-protected-resource{path} HTTP/1.1\r\nHost: rig.example\r\nOrigin: https://any.example\r\n\r\n"
            ));
            let answer = raw.answer();
            assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (200, Some("*")));
            assert!(answer.body.starts_with(&format!(r#"{{"resource":"{RESOURCE}""#)), "{answer:?}");
        }
        host.end();
    }
}

/// AUTHX-09, AUTHS-13 to AUTHS-17: what a tool, a prompt or a resource needs, and what turns out while a
/// call runs.
pub fn scopes_are_checked<K: Kit>(_: &str) {
    let host: Host<K> = host(async |token: BearerToken| look_up(&token), |_| {});
    let get = |method: &str, name: &str, params: &str| {
        let (fields, body) = modern(name);
        let arguments = format!(r#""name":"{name}","arguments":{{}}"#);
        (fields.replace("tools/call", method), body.replace("tools/call", method).replace(&arguments, params))
    };
    let requests = [
        modern("mow"),
        get("prompts/get", "plan", r#""name":"plan""#),
        get("resources/read", "rig://shed", r#""uri":"rig://shed""#),
        get("acme/mow", "mow", r#""acre":1"#),
    ];
    for request in &requests {
        for (token, status) in
            [("ada.use", 403), ("ada.write", 403), ("ada.use+write", 200), ("ada.owner", 200)]
        {
            let answer = post(&host, Some(token), request);
            assert_eq!(answer.status, status, "{token} {answer:?}");
            if status == 403 {
                let text = format!(
                    r#"Bearer error="insufficient_scope", resource_metadata="{METADATA}", scope="use write""#
                );
                assert_eq!(challenge(&answer), text);
            }
        }
    }
    let answer = post(&host, Some("ada.use"), &modern("dig"));
    assert_eq!(answer.status, 403);
    assert!(challenge(&answer).ends_with(r#"scope="use dig""#), "{answer:?}");
    host.end();
}

/// A check that fails, breaks or does not end lets nobody in, and the server goes on.
pub fn a_check_that_fails_lets_nobody_in<K: Kit>(_: &str) {
    fn check(token: &BearerToken) -> Result<Grant, AuthRefusal> {
        match token.as_str() {
            "panic" => panic!("as asked"),
            "away" => Err(AuthRefusal::Unavailable),
            _ => look_up(token),
        }
    }
    let check_async = async |token: BearerToken| {
        if token.as_str() == "never" {
            std::future::pending::<()>().await;
        }
        check(&token)
    };
    let refuses = |host: &Host<K>, token: &str| {
        let answer = post(host, Some(token), &modern("who"));
        assert_eq!((answer.status, challenge(&answer)), (503, ""), "{token}");
    };
    let hosts: [Host<K>; 2] = [host(check_async, |_| {}), host(|token: BearerToken| check(&token), |_| {})];
    for host in hosts {
        refuses(&host, "panic");
        refuses(&host, "away");
        host.events.expect("the verifier panicked");
        assert_eq!(post(&host, Some("ada.use"), &modern("who")).status, 200);
        host.end();
    }
    let host: Host<K> = host(check_async, |limits| limits.authentication = Duration::from_millis(80));
    refuses(&host, "never");
    refuses(&host, "never");
    host.end();
}

/// SEC-16: no token in what is reported, printed or handed to handlers.
pub fn tokens_are_told_to_nobody<K: Kit>(_: &str) {
    let host: Host<K> = host(async |token: BearerToken| look_up(&token), |_| {});
    for token in ["secret", "secret.use", "secret.other"] {
        let answer = post(&host, Some(token), &modern("who"));
        let told = answer.body.replace("secret, false", "").replace(r#"subject: \"secret\""#, "");
        let told = told.replace(r#"subject: \\\"secret\\\""#, "");
        assert!(!told.contains("secret.") && !told.contains("Bearer"), "{answer:?}");
    }
    let events = host.events.others();
    assert!(!events.is_empty() && events.iter().all(|event| !event.contains("secret")), "{events:?}");
    host.end();
}

/// SEC-11, SEC-13: a session is its opener's, whoever else learns its name.
pub fn a_session_belongs_to_whoever_opened_it<K: Kit>(_: &str) {
    let host: Host<K> = host(|token: BearerToken| look_up(&token), |_| {});
    let answer = post(&host, Some("ada.use"), &(String::new(), INITIALIZE.to_owned()));
    let session = answer.header("Mcp-Session-Id").unwrap();
    let fields = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    for (token, status) in [("eve.use", 404), ("ada.use", 200), ("ada.use+more", 200)] {
        assert_eq!(post(&host, Some(token), &(fields.clone(), legacy(2, "who"))).status, status, "{token}");
    }
    assert_eq!(post(&host, None, &(fields, legacy(3, "who"))).status, 401);
    host.end();
}
