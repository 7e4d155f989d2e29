use super::*;
use crate::server::Cors;

const APP: &str = "https://app.example";

fn web(policy: HttpPolicy) -> Web {
    Web::new(config().http(policy.allow_origin(APP)))
}

fn with_cors() -> Web {
    web(HttpPolicy::default().cors(Cors::new()))
}

fn preflight(origin: &str) -> RequestHead {
    let asked = "content-type, authorization, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, mcp-param-region, last-event-id";
    with(
        head("OPTIONS"),
        &[
            ("Origin", Some(origin)),
            ("Access-Control-Request-Method", Some("POST")),
            ("Access-Control-Request-Headers", Some(asked)),
        ],
    )
}

/// B44: a browser is told what pages may send, with no body and without being asked who it is.
#[test]
fn a_preflight_is_answered() {
    let server = crate::server::ResourceServer::new("https://mcp.example/mcp");
    let trip = web(HttpPolicy::default().cors(Cors::new()).resource_server(server)).ask(preflight(APP), "");
    assert_eq!((trip.status(), &*trip.body, trip.ended), (204, "", true));
    assert_eq!(trip.field("access-control-allow-origin"), APP);
    assert!(trip.field("access-control-allow-methods").starts_with("POST"));
    let allowed = trip.field("access-control-allow-headers");
    for name in ["authorization", "mcp-session-id", "mcp-param-region", "last-event-id"] {
        assert!(allowed.contains(name), "{allowed}");
    }
}

/// B44: off unless it is asked for; a page from elsewhere is refused; what is no preflight is another method.
#[test]
fn no_other_preflight_is_answered() {
    let mut off = web(HttpPolicy::default());
    assert_eq!(off.ask(preflight(APP), "").status(), 405);
    let trip = off.ask(with(modern_head("tools/list", None), &[("Origin", Some(APP))]), "");
    assert!(trip.head.unwrap().0.headers.iter().all(|(name, _)| !name.starts_with("Access-Control")));

    let mut on = with_cors();
    let trip = on.ask(preflight("https://evil.example"), "");
    assert_eq!((trip.status(), trip.field("access-control-allow-origin")), (403, ""));
    assert_eq!(on.ask(with(preflight(APP), &[("Access-Control-Request-Method", None)]), "").status(), 405);
    assert_eq!(on.ask(with(preflight(APP), &[("Origin", None)]), "").status(), 405);
}

/// B44: pages can read every answer, errors among them.
#[test]
fn answers_and_errors_can_be_read_by_pages() {
    let mut web = with_cors();
    let from = |head: RequestHead| with(head, &[("Origin", Some(APP))]);
    let list = modern("1", "tools/list", "");
    let mut elsewhere = modern_head("tools/list", None);
    elsewhere.target = "/other".into();
    for (head, body, status) in [
        (modern_head("tools/list", None), &*list, 200),
        (modern_head("tools/list", None), "{", 400),
        (with(modern_head("tools/list", None), &[("content-type", None)]), &list, 415),
        (elsewhere, &list, 404),
        (legacy_head(None), &initialize(V), 200),
        (head("PUT"), "", 405),
    ] {
        let trip = web.ask(from(head), body);
        assert_eq!(trip.status(), status);
        assert_eq!(trip.field("access-control-allow-origin"), APP);
        assert_eq!(trip.field("access-control-expose-headers"), "Mcp-Session-Id, WWW-Authenticate");
        assert_eq!(trip.field("vary"), "Origin");
    }
    // A stream, too.
    let mut trip = web.ask(from(call_head()), &modern_call(r#""progressToken":1,"#));
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    web.drive(&mut trip);
    assert_eq!(
        (trip.field("content-type"), trip.field("access-control-allow-origin")),
        ("text/event-stream", APP)
    );
    // Who does not come from a page is told nothing of pages.
    let trip = web.ask(modern_head("tools/list", None), &list);
    assert_eq!((trip.field("vary"), trip.field("access-control-allow-origin")), ("Origin", ""));
}
