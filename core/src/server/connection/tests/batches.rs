use super::*;

/// B17, RPC-20, RPC-26, INIT-15, STDIO-22: what has no id in it is answered with an error of `null`.
#[test]
fn a_batch_is_answered_as_one_array_in_its_revision() {
    let mut client = Client::legacy(config(), "2025-03-26");
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},1]"#;
    let answer = &client.ask(batch)[0];
    let start = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#;
    assert!(answer.starts_with(start) && answer.ends_with(']'), "{answer}");
    let initialize = client.ask(&format!("[{}]", initialize("2025-03-26")));
    assert_eq!(initialize, [format!("[{}]", error("0", -32600, "`initialize` must not be in a batch"))]);
    assert_eq!(client.ask(r#"[{"jsonrpc":"2.0","method":"x"}]"#), [""; 0]);
    assert!(client.ask("[]")[0].starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#));
    let wrong = client.ask(r#"[{"id":5,"method":"ping"},2]"#).remove(0);
    assert!(wrong.starts_with(r#"[{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"#), "{wrong}");
    assert!(wrong.contains(r#"{"jsonrpc":"2.0","id":null,"error":"#), "{wrong}");
}

/// B17, RPC-28
#[test]
fn a_batch_is_one_error_in_every_other_revision() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::legacy(config(), version);
        for batch in [r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "[]", "[1,2]"] {
            let answers = client.ask(batch);
            assert!(answers.len() == 1 && answers[0].contains("-32600"), "{version} {answers:?}");
            assert_eq!(client.diagnostics().len(), 1);
        }
    }
    let mut client = Client::new(config());
    assert!(client.ask(&format!("[{}]", modern("1", "tools/list", "")))[0].contains("-32600"));
}

/// RPC-26
#[test]
fn a_batch_waits_for_its_calls_and_leaves_out_cancelled_ones() {
    let mut client = Client::legacy(config(), "2025-03-26");
    let (a, b) = (legacy_call("1"), legacy_call("2"));
    client.send(&format!(r#"[{a},{b},{{"jsonrpc":"2.0","id":3,"method":"ping"}}]"#));
    let calls = client.calls();
    assert_eq!(client.received(), [""; 0]);
    client.server.respond(now(), calls[1].0, &text("two"));
    assert_eq!(client.received(), [""; 0]);
    client.send(&cancel("1"));
    assert_eq!(
        client.received(),
        [
            r#"[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"two"}]}}]"#
        ]
    );
    client.send(&format!("[{a}]"));
    client.send(&cancel("1"));
    assert_eq!(client.received(), [""; 0]);
    assert!(!client.server.link.is_full());
}

/// A batch of small requests for large answers holds no more than the bound and one answer.
#[test]
fn the_answers_to_a_batch_are_bounded() {
    let limits = limits(|limits| limits.transmit = 1_000);
    let mut client = Client::legacy(config().limits(limits), "2025-03-26");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = client.ask(&format!("[{}{list}]", format!("{list},").repeat(9))).remove(0);
    assert!(answer.matches("the answers to this batch are too large").count() >= 7, "{answer}");
}

/// A batch of `Limits::in_flight` messages is read, and one of one more is not: its shortest messages are one
/// byte, and each is answered.
#[test]
fn the_messages_of_a_batch_are_bounded() {
    let limits = limits(|limits| limits.in_flight = 3);
    let mut client = Client::legacy(config().limits(limits), "2025-03-26");
    assert_eq!(client.ask("[1,2,3]")[0].matches("-32600").count(), 3);
    assert_eq!(client.diagnostics().len(), 3);
    let answer = client.ask("[1,2,3,4]").remove(0);
    assert!(answer.starts_with('{') && answer.contains("a batch may hold 3 messages, found 4"), "{answer}");
    assert_eq!(client.ask(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).len(), 1);
}
