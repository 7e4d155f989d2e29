use super::*;
use crate::leniency::Leniency;

fn status(web: &mut Web, accept: Option<&str>) -> u16 {
    let head = with(modern_head("tools/list", None), &[("accept", accept)]);
    web.ask(head, &modern("1", "tools/list", "")).status()
}

/// B32, HTTP-08, `Leniency::partial_accept`
#[test]
fn a_partial_accept_is_served_unless_switched_off() {
    let mut lenient = Web::new(config());
    let mut strict = Web::new(config().leniency(Leniency::strict()));
    for accept in [None, Some("application/json"), Some("text/event-stream"), Some("application/*")] {
        assert_eq!((status(&mut lenient, accept), status(&mut strict, accept)), (200, 406), "{accept:?}");
    }
    for accept in ["text/event-stream, application/json", "*/*", "Application/JSON, text/*;q=0.5"] {
        assert_eq!(status(&mut strict, Some(accept)), 200, "{accept}");
    }
    // What the server itself prefers is no fault of the client.
    let json_responses = HttpPolicy::default().json_responses(true);
    let mut strict = Web::new(config().leniency(Leniency::strict()).http(json_responses));
    assert_eq!(status(&mut strict, Some("application/json, text/event-stream")), 200);
}

/// B24: requests of their own have no order, so one may come before the notification that should precede it.
#[test]
fn a_request_may_overtake_the_end_of_the_handshake() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let trip = web.ask(legacy_head(Some(&session)), LIST);
    assert_eq!((trip.status(), trip.body.contains("\"tools\":[")), (200, true));
    assert_eq!(web.ask(legacy_head(Some(&session)), INITIALIZED).status(), 202);
}

/// `null` for a member that may be absent is what some serializers write for nothing.
#[test]
fn null_counts_as_absent() {
    let mut web = Web::new(config());
    let list = modern("1", "tools/list", r#""cursor":null,"#);
    assert_eq!(web.ask(modern_head("tools/list", None), &list).status(), 200);
    let call = modern("1", "tools/call", r#""name":"add","arguments":null,"#);
    assert_eq!(web.ask(call_head(), &call).calls[0].1.arguments(), "{}");
    let session = web.open(V);
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":null,"_meta":null}}"#;
    assert_eq!(web.ask(legacy_head(Some(&session)), call).calls.len(), 1);
}
