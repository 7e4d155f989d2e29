use super::*;

/// B09, RPC-07
#[test]
fn ids_are_echoed_with_type_and_digits() {
    let mut client = Client::new(config());
    for (sent, echoed) in [
        ("\"1\"", "\"1\""),
        ("1774232524389", "1774232524389"),
        ("9007199254740991", "9007199254740991"),
        ("-7", "-7"),
        ("0", "0"),
        ("\"\"", "\"\""),
        ("\"\\u0031\"", "\"1\""),
        ("\"é😀\"", "\"é😀\""),
    ] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{sent},"method":"ping"}}"#);
        assert_eq!(client.ask(&ping), [format!(r#"{{"jsonrpc":"2.0","id":{echoed},"result":{{}}}}"#)]);
    }
}

/// B02, B05
#[test]
fn line_ends_blank_lines_and_cut_characters_are_no_matter() {
    let mut client = Client::new(config());
    let input = "{\"jsonrpc\":\"2.0\",\"id\":\"é😀\",\"method\":\"ping\"}\r\n\n\r\n   \n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
    for byte in input.as_bytes() {
        client.server.handle_bytes(now(), &[*byte]);
    }
    assert_eq!(
        client.received(),
        [r#"{"jsonrpc":"2.0","id":"é😀","result":{}}"#, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]
    );
}

/// B04, B11, B16, P03
#[test]
fn a_malformed_line_is_answered_once_and_the_next_is_served() {
    for (line, start) in [
        (r#"{"jsonrpc":"2.0","id":1,"#, r#"{"jsonrpc":"2.0","error":{"code":-32700,"#),
        (r#"{"id":99,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32600,"#),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"#,
        ),
        ("42", r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
        ("null", r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
        ("\"hi\"", r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
    ] {
        let mut client = Client::new(config());
        let answers = client.ask(line);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].starts_with(start), "{line} {answers:?}");
        assert_eq!(client.diagnostics().len(), 1);
        assert_eq!(client.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).len(), 1);
    }
}

/// P03, B07: the bound on a line is reached exactly, and passed by one.
#[test]
fn a_line_of_the_longest_length_is_served_and_a_longer_one_is_not() {
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let limits = limits(|limits| limits.message = ping.len());
    let mut client = Client::new(config().limits(limits));
    assert_eq!(client.ask(ping), [r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
    let answers = client.ask(&format!("{ping} "));
    assert_eq!(
        answers,
        [r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"the message is longer than 40 bytes"}}"#]
    );
    assert_eq!(client.ask(ping).len(), 1);
}

/// P03
#[test]
fn nesting_without_end_is_one_parse_error() {
    let mut client = Client::new(config());
    let answers = client.ask(&"[".repeat(100_000));
    assert!(answers.len() == 1 && answers[0].contains("-32700"), "{answers:?}");
    assert_eq!(client.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).len(), 1);
}

/// B15, RPC-21, CAN-12
#[test]
fn notifications_are_never_answered() {
    let mut client = Client::legacy(config(), V);
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"x/y"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        &cancel("77"),
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}"#,
    ] {
        assert_eq!(client.ask(line), [""; 0], "{line}");
    }
    let told = client.outputs();
    let first = &told[0];
    assert!(
        matches!(first, Output::Notification { method, params } if method == "notifications/roots/list_changed" && params == "{}")
    );
    assert!(told[1..].iter().all(|output| matches!(output, Output::Diagnostic(_))));
}

/// RPC-24: an answer to an answer would never end.
#[test]
fn responses_are_not_answered() {
    let mut client = Client::legacy(config(), V);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
    ] {
        assert_eq!(client.ask(line), [""; 0]);
        assert_eq!(client.diagnostics().len(), 1);
    }
}

/// B04: answering what is no message is a matter of policy; a request with a readable id is answered anyway.
#[test]
fn noise_is_not_answered_when_configured_off() {
    let mut client = Client::new(config().answer_noise(false));
    for noise in ["INFO listening", "42", "{", "[]", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#] {
        assert_eq!(client.ask(noise), [""; 0], "{noise}");
        assert_eq!(client.diagnostics().len(), 1);
    }
    assert_eq!(client.ask(r#"{"id":99,"method":"ping"}"#).len(), 1);
}

/// RPC-20, B04: what has no readable id is answered with an error without one, which in sessions whose revision demands
/// an id is `null`. This side is told of it everywhere, and what comes next is served.
#[test]
fn errors_lack_an_id_only_where_the_revision_allows_it() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(400));
    let (absent, null) =
        (r#"{"jsonrpc":"2.0","error":{"code":-32"#, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32"#);
    for (version, start) in [
        (None, absent),
        (Some("2024-11-05"), null),
        (Some("2025-03-26"), null),
        (Some("2025-06-18"), null),
        (Some("2025-11-25"), absent),
    ] {
        let config = config().limits(limits(|limits| limits.message = 400));
        let mut client = match version {
            Some(version) => Client::legacy(config, version),
            None => Client::new(config),
        };
        let batch = if version == Some("2025-03-26") {
            "[]"
        } else {
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#
        };
        for line in
            ["{", "42", "INFO listening", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &long, batch]
        {
            let said = client.ask(line);
            assert!(said.len() == 1 && said[0].starts_with(start), "{version:?} {line}: {said:?}");
            assert_eq!(client.diagnostics().len(), 1, "{version:?} {line}");
        }
        assert_eq!(client.ask(r#"{"id":99,"method":"ping"}"#).len(), 1);
        assert_eq!(client.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).len(), 1);
    }
}

/// Of two members nobody can tell which one somebody in between has acted on, wherever in a request they are.
#[test]
fn what_is_said_twice_is_refused() {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    for (params, path) in [
        (format!(r#""name":"add","name":"add","_meta":{{{meta}}}"#), "params.name"),
        (format!(r#""name":null,"n\u0061me":"add","_meta":{{{meta}}}"#), "params.name"),
        (format!(r#""name":"add","_meta":{{{meta}}},"_meta":{{{meta}}}"#), "params._meta"),
        (format!(r#""name":"add","_meta":{{{meta},"progressToken":1,"progressToken":1}}"#), "progressToken"),
    ] {
        let mut client = Client::new(config());
        let answers =
            client.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#));
        assert!(answers[0].contains("-32602") && answers[0].contains(path), "{answers:?}");
    }
}
