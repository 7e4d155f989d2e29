use super::*;

/// RPC-05
#[test]
fn an_id_that_is_in_flight_is_refused_and_may_be_used_again_afterwards() {
    let mut client = Client::legacy(config(), V);
    let (id, _) = client.call(&legacy_call("1"));
    assert_eq!(
        client.ask(&legacy_call("1")),
        [error("1", -32600, "a request with this id is in flight already")]
    );
    client.server.respond(now(), id, &text("x"));
    client.received();
    client.call(&legacy_call("1"));
}

/// The bound on requests in flight is reached exactly, and passed by one; the connection lives on.
#[test]
fn in_flight_is_bounded() {
    let limits = limits(|limits| limits.in_flight = 2);
    let mut client = Client::legacy(config().limits(limits), V);
    let (first, _) = client.call(&legacy_call("1"));
    client.call(&legacy_call("2"));
    let refused = "more than 2 requests would be in flight; send it again when one is answered";
    assert_eq!(client.ask(&legacy_call("3")), [error("3", -32603, refused)]);
    assert_eq!(client.ask(r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#).len(), 1);
    client.server.respond(now(), first, &text("x"));
    client.call(&legacy_call("5"));
}

/// What requests in flight hold together is bounded, reached exactly and passed by one byte; the connection lives on,
/// and whatever ends a call makes room again.
#[test]
fn requests_in_flight_are_bounded_in_bytes() {
    let size = r#"{"name":"add","arguments":{"a":"x"}}"#.len();
    let limits = limits(|limits| limits.in_flight_bytes = 2 * size);
    let call = |id: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":"{text}"}}}}}}"#
        )
    };
    let refused = |id: &str| {
        let most = 2 * size;
        let message = format!(
            "the requests in flight would be longer than {most} bytes together; send it again when one is answered"
        );
        error(id, -32603, &message)
    };
    let mut client = Client::legacy(config().limits(limits), V);
    let (first, _) = client.call(&call("1", "x"));
    assert_eq!(client.ask(&call("2", "xx")), [refused("2")]);
    client.call(&call("3", "x"));
    assert_eq!(client.ask(&call("4", "")), [refused("4")]);
    assert_eq!(client.ask(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).len(), 1);
    client.server.respond(now(), first, &text("x"));
    client.received();
    client.call(&call("6", "x"));
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    client.outputs();
    client.call(&call("7", "x"));
    assert_eq!(client.ask(&call("8", "")), [refused("8")]);
}

/// Ids count as well, since they are kept as long.
#[test]
fn ids_count_among_what_requests_in_flight_hold() {
    let size = r#"{"name":"add","arguments":{}}"#.len();
    let call = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"add","arguments":{{}}}}}}"#
        )
    };
    let limits = limits(|limits| limits.in_flight_bytes = 2 * (size + 8));
    let mut client = Client::legacy(config().limits(limits), V);
    client.call(&call("12345678"));
    assert!(client.ask(&call("123456789"))[0].contains("would be longer than"));
    client.call(&call("87654321"));
    assert!(client.ask(&call(""))[0].contains("would be longer than"));
}

/// Tokens of progress do, too.
#[test]
fn tokens_count_among_what_requests_in_flight_hold() {
    let params =
        |token: &str| format!(r#"{{"_meta":{{"progressToken":"{token}"}},"name":"add","arguments":{{}}}}"#);
    let call = |id: u8, token: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{}}}"#, params(token))
    };
    let limits = limits(|limits| limits.in_flight_bytes = params("1234").len() + 4);
    let mut client = Client::legacy(config().limits(limits), V);
    assert!(client.ask(&call(1, "12345"))[0].contains("would be longer than"));
    client.call(&call(2, "1234"));
}

/// An id or a token of any length costs no more than its message does in passing. The bound is reached exactly and
/// passed by one byte, on calls and on what is answered here.
#[test]
fn ids_and_tokens_are_bounded() {
    let limits = limits(|limits| limits.id = 8);
    let call = |id: &str, token: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"progressToken":{token}}},"name":"add","arguments":{{}}}}}}"#
        )
    };
    let mut client = Client::legacy(config().limits(limits), V);
    client.call(&call("\"12345678\"", "\"\\u0061234567\""));
    for id in ["\"123456789\"", "12345678901234567890"] {
        for request in [call(id, "1"), format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)] {
            assert_eq!(client.ask(&request), [error(id, -32600, "the id is longer than 8 bytes")]);
        }
    }
    client.call(&call("1234567890123456789", "1"));
    let refused = error("1", -32602, "params._meta.progressToken: longer than 8 bytes");
    assert_eq!(client.ask(&call("1", "\"123456789\"")), [refused]);
}

/// Backpressure: a peer that does not read is not served until it does, and loses nothing.
#[test]
fn input_waits_while_too_much_is_to_be_sent() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.len() + 1;
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let limits = limits(|limits| limits.transmit = 2 * answer);
    let mut client = Client::new(config().limits(limits));
    client.server.handle_bytes(now(), ping.repeat(2).as_bytes());
    // Exactly the bound is still room.
    assert!(client.server.wants_read());
    client.server.handle_bytes(now(), ping.repeat(7).as_bytes());
    assert!(!client.server.wants_read());
    assert_eq!(client.server.transmit().len(), 3 * answer);
    client.server.handle_bytes(now(), ping.as_bytes());
    client.end(End::Complete);
    let mut all = 0;
    while !client.server.transmit().is_empty() {
        assert!(client.server.transmit().len() <= 3 * answer);
        assert!(!client.server.is_finished());
        all += 1;
        client.server.advance(answer);
    }
    assert_eq!(all, 10);
    assert!(client.server.is_finished());
}

/// A peer that floods with notifications fills no queue.
#[test]
fn input_waits_while_too_much_is_to_be_told() {
    let limits = limits(|limits| (limits.in_flight, limits.notifications) = (1, 2));
    let mut client = Client::new(config().limits(limits));
    client.server.handle_bytes(now(), "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n".repeat(10).as_bytes());
    assert!(!client.server.wants_read());
    assert_eq!(client.server.link.outputs.len(), 3);
    assert_eq!(client.outputs().len(), 10);
    assert!(client.server.wants_read());
}

/// Many lines in one input are answered in one buffer.
#[test]
fn many_lines_are_answered_in_one_buffer() {
    let mut client = Client::new(config());
    client
        .server
        .handle_bytes(now(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(100).as_bytes());
    assert_eq!(client.server.transmit().len(), 37 * 100);
}

/// `Limits::depth` is reached exactly, and passed by one.
#[test]
fn nesting_is_bounded() {
    let mut client = Client::new(config().limits(limits(|limits| limits.depth = 8)));
    let nested = |levels: usize| {
        // Two levels are the message and its parameters.
        let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{open}{close}}}}}"#)
    };
    assert!(client.ask(&nested(8))[0].contains("result"));
    assert!(client.ask(&nested(9))[0].contains("-32700"));
}
