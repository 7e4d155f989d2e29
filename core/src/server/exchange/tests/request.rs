use super::*;
use crate::server::Principal;

const BATCH: &str = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add"}}]"#;

/// SEC-25: a call carries the head that it came with, the calls of a batch share one, and printing shows no
/// value of it.
#[test]
fn calls_carry_the_head_of_their_request() {
    let mut web = Web::new(config());
    let secret = [("X-Tenant", Some("kiln")), ("Authorization", Some("Basic aGk6dGhlcmU="))];
    let trip = web.ask(with(call_head(), &secret), &modern_call(""));
    let head = trip.calls[0].1.head().unwrap();
    assert_eq!((head.path(), head.headers.text("x-tenant")), ("/mcp", Some("kiln")));
    let printed = format!("{head:?} {:?} {:?}", trip.calls, trip.exchange);
    assert!(!printed.contains("kiln") && !printed.contains("aGk6"), "{printed}");

    let session = web.open("2025-03-26");
    let trip = web.ask(with(legacy_head(Some(&session)), &secret), BATCH);
    let heads = [0, 1].map(|call: usize| trip.calls[call].1.head().unwrap());
    assert_eq!(heads[1].headers.text("x-tenant"), Some("kiln"));
    assert!(core::ptr::eq(heads[0], heads[1]));
}

/// Who was recognised before the body came to its end is known to the call.
#[test]
fn calls_carry_who_makes_them() {
    let web = Web::new(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    exchange.handle_principal(now(), Arc::new(Principal::new("ada")));
    exchange.handle_body(now(), modern_call("").as_bytes());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Call(_, call)) = exchange.poll_output() else { panic!("no call") };
    assert_eq!(call.principal().unwrap().subject, "ada");
}
