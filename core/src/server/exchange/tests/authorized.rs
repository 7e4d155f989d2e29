use super::*;
use crate::server::testing::{ADD, tool};
use crate::server::{AuthRefusal, Grant, Principal, ResourceServer, Scopes};
use crate::time::Duration;
use alloc::borrow::ToOwned;

const RESOURCE: &str = "https://mcp.example/mcp";
const METADATA: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

fn resource_server() -> ResourceServer {
    ResourceServer::new(RESOURCE).authorization_server("https://auth.example").scopes(["use"])
}

fn protected_with(server: ResourceServer) -> Web {
    let mut config = config();
    let scopes: Scopes = ["write".to_owned(), "audit".to_owned()].into();
    config.tools.insert_for(tool("mow", ADD), scopes).unwrap();
    Web::new(config.http(HttpPolicy::default().resource_server(server)))
}

fn protected() -> Web {
    protected_with(resource_server())
}

fn bearing(head: RequestHead) -> RequestHead {
    with(head, &[("Authorization", Some("Bearer hush"))])
}

fn grant(scopes: &[&str]) -> Grant {
    Grant::new(Principal::new("ada").scopes(scopes.iter().copied())).audience(RESOURCE)
}

fn mow() -> (RequestHead, String) {
    (bearing(modern_head("tools/call", Some("mow"))), modern("7", "tools/call", r#""name":"mow","#))
}

/// Sends a request with a token that grants this.
fn ask(web: &mut Web, head: RequestHead, body: &str, grant: Grant) -> Trip {
    let mut trip = web.ask(head, body);
    assert!(trip.head.is_none() && trip.calls.is_empty(), "nothing before the token was checked");
    assert_eq!(trip.tokens.remove(0).as_str(), "hush");
    trip.exchange.handle_grant(now(), grant);
    web.drive(&mut trip);
    trip
}

/// AUTHS-03, AUTHS-04, AUTHS-05, AUTHS-12, AUTHS-19, SEC-10, HTTP-12, HTTP-13: whatever is asked or told, in either era, and before a byte of
/// it is read. A token in the query is none.
#[test]
fn a_request_without_a_token_is_challenged() {
    let mut web = protected();
    let challenge = format!(r#"Bearer resource_metadata="{METADATA}", scope="use""#);
    let mut query = call_head();
    query.target = "/mcp?access_token=hush".into();
    let basic = with(call_head(), &[("Authorization", Some("Basic aGk6dGhlcmU="))]);
    for (head, body) in [
        (call_head(), modern_call("")),
        (query, modern_call("")),
        (basic, modern_call("")),
        (modern_head("server/discover", None), modern("1", "server/discover", "")),
        (legacy_head(None), initialize(V)),
        (legacy_head(None), INITIALIZED.into()),
        (head("DELETE"), String::new()),
        (with(head("GET"), &[("Accept", Some("text/event-stream"))]), String::new()),
        (call_head(), "{".into()),
    ] {
        let trip = web.ask(head, &body);
        assert_eq!(answered(&trip), (401, -32600), "{body}");
        assert_eq!(trip.field("www-authenticate"), challenge);
        assert!(trip.calls.is_empty() && trip.tokens.is_empty());
    }
    assert_eq!(web.sessions.len(), 0);
}

/// AUTHS-13: 400 for what can be read in two ways.
#[test]
fn credentials_that_cannot_be_read_are_a_bad_request() {
    let mut web = protected();
    for value in ["Bearer", "Bearer a b", "Bearer a, Bearer b"] {
        let trip = web.ask(with(call_head(), &[("Authorization", Some(value))]), &modern_call(""));
        assert_eq!(answered(&trip), (400, -32600), "{value}");
        assert!(trip.field("www-authenticate").starts_with(r#"Bearer error="invalid_request", "#));
    }
    let mut twice = bearing(call_head());
    twice.headers.push("authorization", "Bearer other");
    assert_eq!(web.ask(twice, &modern_call("")).status(), 400);
}

/// AUTHS-07, AUTHS-11: the call waits for the check, carries who it is, and does not carry the token.
#[test]
fn a_valid_token_lets_the_request_in() {
    let mut web = protected();
    let trip = ask(&mut web, bearing(call_head()), &modern_call(""), grant(&["use"]));
    let call = &trip.calls[0].1;
    assert_eq!(call.principal().unwrap().subject, "ada");
    assert!(call.head().unwrap().headers.get("authorization").is_none());
    assert!(!format!("{:?} {:?}", trip.exchange, call).contains("hush"));

    let trip = ask(&mut web, bearing(legacy_head(None)), &initialize(V), grant(&["use"]));
    assert_eq!((trip.status(), web.sessions.len()), (200, 1));
    let session = SessionId::new(trip.field("mcp-session-id"));
    let trip = ask(&mut web, bearing(legacy_head(Some(&session))), INITIALIZED, grant(&["use"]));
    assert_eq!(trip.status(), 202);
    let delete = with(bearing(head("DELETE")), &[("mcp-session-id", Some(session.as_str()))]);
    let trip = ask(&mut web, delete, "", grant(&["use"]));
    assert_eq!((trip.status(), web.sessions.len()), (204, 0));
}

/// The check may come before the body, in the middle of it, or after it.
#[test]
fn the_check_may_end_before_the_body_does() {
    let web = protected();
    let body = modern_call("");
    for split in [0, 10, body.len()] {
        let config = Arc::clone(&web.config);
        let mut exchange = Exchange::new(now(), ExchangeId::new(1), config, bearing(call_head()));
        exchange.handle_body(now(), &body.as_bytes()[..split]);
        exchange.handle_grant(now(), grant(&["use"]));
        exchange.handle_grant(now(), Grant::new(Principal::new("eve")).audience(RESOURCE));
        exchange.handle_refusal(now(), &AuthRefusal::Invalid);
        exchange.handle_body(now(), &body.as_bytes()[split..]);
        exchange.handle_end(now(), End::Complete);
        let calls = core::iter::from_fn(|| exchange.poll_output());
        let mut calls = calls.filter_map(|output| match output {
            ExchangeOutput::Call(_, call) => call.principal().cloned(),
            _ => None,
        });
        assert_eq!(calls.next().unwrap().subject, "ada");
    }
}

/// AUTHS-08, AUTHS-09, AUTHS-10, AUTHS-12, SEC-16: 401 for what was issued for others, has ended, or is unknown.
#[test]
fn a_token_that_is_not_valid_is_challenged() {
    let mut web = protected();
    let text = format!(r#"Bearer error="invalid_token", resource_metadata="{METADATA}", scope="use""#);
    let ada = || Grant::new(Principal::new("ada").scopes(["use"]));
    for grant in [
        ada(),
        ada().audience("https://other.example/mcp"),
        ada().audience(RESOURCE).expires(Duration::from_secs(1_800_000_000)),
    ] {
        let trip = ask(&mut web, bearing(call_head()), &modern_call(""), grant);
        assert_eq!((answered(&trip), trip.field("www-authenticate")), ((401, -32600), &*text));
        assert!(trip.calls.is_empty());
    }
    for (refusal, status, challenge) in [
        (AuthRefusal::Invalid, 401, &*text),
        (AuthRefusal::Unavailable, 503, ""),
        (
            AuthRefusal::InsufficientScope { scopes: alloc::vec!["x".into(), "offline_access".into()] },
            403,
            &format!(r#"Bearer error="insufficient_scope", resource_metadata="{METADATA}", scope="x""#),
        ),
    ] {
        let mut trip = web.ask(bearing(call_head()), &modern_call(""));
        trip.exchange.handle_refusal(now(), &refusal);
        web.drive(&mut trip);
        assert_eq!((trip.status(), trip.field("www-authenticate")), (status, challenge));
        assert!(trip.ended && trip.calls.is_empty());
    }
}

/// AUTHS-06, AUTHS-13, AUTHS-14, AUTHS-15, AUTHS-16: everything that a call needs is told at once, in both eras and
/// in the same order.
#[test]
fn a_tool_is_for_callers_with_its_scopes() {
    let mut web = protected();
    let (head, body) = mow();
    let text = format!(
        r#"Bearer error="insufficient_scope", resource_metadata="{METADATA}", scope="audit use write""#
    );
    for scopes in [&[][..], &["use"], &["use", "write"], &["write", "audit"], &["Use", "write", "audit"]] {
        let trip = ask(&mut web, head.clone(), &body, grant(scopes));
        assert_eq!((answered(&trip), trip.field("www-authenticate")), ((403, -32600), &*text), "{scopes:?}");
        assert!(trip.body.contains(r#""id":7"#) && trip.calls.is_empty());
    }
    assert_eq!(ask(&mut web, head, &body, grant(&["use", "write", "audit"])).calls.len(), 1);

    let session = ask(&mut web, bearing(legacy_head(None)), &initialize(V), grant(&["use"]));
    let session = SessionId::new(session.field("mcp-session-id"));
    let legacy = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mow"}}"#;
    let head = || bearing(legacy_head(Some(&session)));
    assert_eq!(ask(&mut web, head(), legacy, grant(&["use"])).field("www-authenticate"), text);
    assert_eq!(ask(&mut web, head(), legacy, grant(&["use", "write", "audit"])).calls.len(), 1);
    // Others are not affected.
    assert_eq!(ask(&mut web, head(), LIST, grant(&["use"])).status(), 200);
}

/// AUTHS-15: who lacks what every request needs learns nothing else, not even that a tool does not exist.
#[test]
fn what_every_request_needs_is_asked_for_first() {
    let mut web = protected_with(resource_server().method_scopes("tools/list", ["list"]));
    let trip = |web: &mut Web, method: &str, params: &str, scopes: &[&str]| {
        let name = (method == "tools/call").then_some("no");
        let body = modern("1", method, params);
        let trip = ask(web, bearing(modern_head(method, name)), &body, grant(scopes));
        (trip.status(), trip.field("www-authenticate").split("scope=").nth(1).unwrap_or("").to_owned())
    };
    assert_eq!(trip(&mut web, "tools/call", r#""name":"no","#, &[]), (403, "\"use\"".into()));
    assert_eq!(trip(&mut web, "tools/call", r#""name":"no","#, &["use"]), (200, "".into()));
    assert_eq!(trip(&mut web, "tools/list", "", &["use"]), (403, "\"list use\"".into()));
    assert_eq!(trip(&mut web, "tools/list", "", &["use", "list"]), (200, "".into()));
    assert_eq!(trip(&mut web, "server/discover", "", &[]), (403, "\"use\"".into()));
}

/// AUTHS-17
#[test]
fn a_broader_scope_is_enough() {
    let mut web =
        protected_with(resource_server().implies("admin", ["use", "write"]).implies("write", ["audit"]));
    let (head, body) = mow();
    let trip = ask(&mut web, head, &body, grant(&["admin"]));
    assert!(trip.calls[0].1.principal().unwrap().has_scope("audit"));
}

/// AUTHS-13: what a call needs may turn out while it runs.
#[test]
fn a_handler_can_ask_for_more_scopes() {
    let mut web = protected();
    let mut trip = ask(&mut web, bearing(call_head()), &modern_call(""), grant(&["use"]));
    trip.exchange.forbid(now(), trip.calls[0].0, alloc::vec!["use".into(), "more".into()]);
    web.drive(&mut trip);
    assert_eq!(answered(&trip), (403, -32600));
    assert!(trip.field("www-authenticate").ends_with(r#"scope="use more""#));

    let mut trip =
        ask(&mut web, bearing(call_head()), &modern_call(r#""progressToken":1,"#), grant(&["use"]));
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    trip.exchange.forbid(now(), trip.calls[0].0, alloc::vec!["more".into()]);
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.events().len()), (200, 2));
}

/// Without a resource server, scopes are those of whomever the application recognised, and nobody has any.
#[test]
fn a_protected_tool_is_for_nobody_where_nobody_is_recognised() {
    let mut config = config();
    config.tools.insert_for(tool("mow", ADD), ["write".to_owned()].into()).unwrap();
    let mut web = Web::new(config);
    let (head, body) = mow();
    let trip = web.ask(head.clone(), &body);
    assert_eq!(answered(&trip), (403, -32600));
    assert_eq!(trip.field("www-authenticate"), r#"Bearer error="insufficient_scope", scope="write""#);
    let ada = Some(Arc::new(Principal::new("ada").scopes(["write"])));
    let mut exchange = Exchange::of(now(), ExchangeId::new(1), Arc::clone(&web.config), head, ada);
    exchange.handle_body(now(), body.as_bytes());
    exchange.handle_end(now(), End::Complete);
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::Call(..))));
}

/// Whom the application has recognised by other means needs no token.
#[test]
fn a_recognised_caller_is_not_asked_again() {
    let web = protected();
    let ada = || Arc::new(Principal::new("ada").scopes(["use"]));
    for given in [true, false] {
        let config = Arc::clone(&web.config);
        let head = if given { call_head() } else { bearing(call_head()) };
        let mut exchange = Exchange::of(now(), ExchangeId::new(1), config, head, given.then(ada));
        exchange.handle_body(now(), modern_call("").as_bytes());
        exchange.handle_end(now(), End::Complete);
        exchange.handle_principal(now(), ada());
        let Some(ExchangeOutput::Call(_, call)) = exchange.poll_output() else { panic!("no call") };
        assert_eq!(call.principal().unwrap().subject, "ada");
    }
}

/// AUTHS-01, AUTHS-03: at both places, to every page and without a token; other methods are not served there.
#[test]
fn the_metadata_is_served_to_everybody() {
    let mut web = protected();
    let root = "/.well-known/oauth-protected-resource";
    for (method, path, status) in [
        ("GET", root, 200),
        ("GET", "/.well-known/oauth-protected-resource/mcp", 200),
        ("HEAD", root, 200),
        ("POST", root, 405),
        ("OPTIONS", root, 405),
        ("GET", "/.well-known/oauth-protected-resource/other", 404),
    ] {
        for accept in ["text/html", "application/json"] {
            let fields = [("Origin", Some("https://any.example")), ("Accept", Some(accept))];
            let mut head = with(head(method), if status == 404 { &fields[1..] } else { &fields });
            head.target = path.into();
            let trip = web.ask(head, "");
            assert_eq!((trip.status(), trip.ended), (status, true), "{method} {path}");
            if status == 200 {
                assert!(trip.body.starts_with(r#"{"resource":"https://mcp.example/mcp","#), "{}", trip.body);
                assert_eq!(trip.field("content-type"), "application/json");
                assert_eq!(trip.field("access-control-allow-origin"), "*");
            } else if status == 405 {
                assert_eq!(trip.field("allow"), "GET, HEAD");
            }
        }
    }
    let fields = [("Origin", Some("https://any.example")), ("Access-Control-Request-Method", Some("GET"))];
    let mut preflight = with(head("OPTIONS"), &fields);
    preflight.target = root.into();
    let trip = web.ask(preflight, "");
    assert_eq!((trip.status(), trip.field("access-control-allow-headers")), (204, "*"));
    // Rebinding a name gets nobody in here, either; and without a resource server there is nothing.
    let mut foreign = with(head("GET"), &[("Host", Some("evil.example"))]);
    foreign.target = root.into();
    assert_eq!(web.ask(foreign, "").status(), 403);
    let mut nothing = head("GET");
    nothing.target = root.into();
    assert_eq!(Web::new(config()).ask(nothing, "").status(), 404);
}

/// A check that does not end is given up at its bound, and not before.
#[test]
fn a_check_that_takes_too_long_is_given_up() {
    let mut web = protected();
    let mut trip = web.ask(bearing(call_head()), &modern_call(""));
    assert_eq!(trip.exchange.poll_timeout(), Some(at(31_000).mono));
    assert_eq!(trip.exchange.wake_reason(), Some(crate::time::WakeReason::Authentication));
    trip.exchange.handle_timeout(at(30_999));
    web.drive(&mut trip);
    assert!(trip.head.is_none());
    trip.exchange.handle_timeout(at(31_000));
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.ended), (503, true));
    trip.exchange.handle_grant(now(), grant(&["use"]));
    assert!(trip.exchange.poll_output().is_none());
}

/// Whoever leaves during the check is not served after it.
#[test]
fn a_client_that_leaves_during_the_check_is_not_served() {
    let mut web = protected();
    let mut trip = web.ask(bearing(call_head()), &modern_call(""));
    trip.exchange.handle_abort(now());
    trip.exchange.handle_grant(now(), grant(&["use"]));
    web.drive(&mut trip);
    assert!(trip.ended && trip.head.is_none() && trip.calls.is_empty());
}

/// SEC-25: what a header says of the request grants nothing: it has to be what the request is, and the scopes are
/// those of the token, whatever a header names.
#[test]
fn mirrored_headers_grant_nothing() {
    let mut web = protected();
    let (_, mow) = mow();
    for (name, status) in [("mow", (403, -32600)), ("add", (400, -32020))] {
        let trip = ask(&mut web, bearing(modern_head("tools/call", Some(name))), &mow, grant(&["use"]));
        assert_eq!(answered(&trip), status, "{name}");
        assert!(trip.calls.is_empty());
    }
    let listed = with(bearing(modern_head("tools/list", None)), &[("Mcp-Name", Some("mow"))]);
    let trip = ask(&mut web, listed, &mow, grant(&["use"]));
    assert!(trip.status() >= 400 && trip.calls.is_empty());
    // A parameter in a header is no other than that of the body.
    let book = modern("1", "tools/call", r#""name":"book","arguments":{"region":"eu"},"#);
    let head = |region| {
        let named = bearing(modern_head("tools/call", Some("book")));
        with(named, &[("Mcp-Param-Region", Some(region))])
    };
    assert_eq!(answered(&ask(&mut web, head("us"), &book, grant(&["use"]))), (400, -32020));
    assert_eq!(ask(&mut web, head("eu"), &book, grant(&["use"])).calls.len(), 1);
}

/// AUTHS-15: notifications need the scopes of their methods, alone and in a batch.
#[test]
fn scopes_of_notifications_are_asked_for_everywhere() {
    let server = resource_server()
        .method_scopes("notifications/cancelled", ["write"])
        .method_scopes("acme/moved", ["write"]);
    let mut web = protected_with(server);
    let config = alloc::sync::Arc::get_mut(&mut web.config).unwrap();
    config.custom.notification("acme/moved").unwrap();
    let initialized = ask(&mut web, bearing(legacy_head(None)), &initialize("2025-03-26"), grant(&["use"]));
    let session = SessionId::new(initialized.field("mcp-session-id"));
    let head = || bearing(legacy_head(Some(&session)));
    let running = ask(&mut web, head(), CALL, grant(&["use"]));
    let moved = r#"{"jsonrpc":"2.0","method":"acme/moved"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    for (scopes, does) in [(&["use"][..], false), (&["use", "write"], true)] {
        let trip = ask(&mut web, head(), &format!("[{moved},{cancel}]"), grant(scopes));
        assert_eq!(trip.status(), 202, "{}", trip.body);
        assert_eq!(trip.told.iter().any(|told| told.starts_with("acme/moved")), does, "{:?}", trip.told);
        assert_eq!(web.sessions.poll_output().is_some(), does);
        if !does {
            assert_eq!(trip.told.iter().filter(|told| told.contains("scope")).count(), 2, "{:?}", trip.told);
            assert_eq!(ask(&mut web, head(), moved, grant(scopes)).status(), 403);
        }
    }
    assert!(running.cancelled.is_empty());
}
