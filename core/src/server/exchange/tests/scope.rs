//! What belongs to one exchange stays there.

use super::*;

/// LOG-04, PRG-12, TOOL-04: reports go on the stream of the request that they are about, and on no other.
#[test]
fn reports_travel_with_their_own_request() {
    let mut web = Web::new(config());
    let asked = r#""progressToken":"p","io.modelcontextprotocol/logLevel":"debug","#;
    let mut one = web.ask(call_head(), &modern_call(asked));
    let mut two = web.ask(call_head(), &modern_call(asked));
    let id = one.calls[0].0;
    let data = Json::parse("\"only one\"").unwrap();
    one.exchange.log(now(), id, &LoggingMessageNotificationParams::new(LoggingLevel::Error, data));
    one.exchange.progress(now(), id, &Progress::new(1.0));
    web.drive(&mut one);
    web.drive(&mut two);
    assert_eq!(one.events().len(), 2, "{}", one.body);
    assert!(two.body.is_empty() && two.head.is_none(), "{}", two.body);
    let other = two.calls[0].0;
    two.exchange.respond(now(), other, &text("x"));
    web.drive(&mut two);
    assert_eq!(two.field("content-type"), "application/json");
}
