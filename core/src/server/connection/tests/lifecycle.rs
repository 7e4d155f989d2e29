use super::*;

/// INIT-03, INIT-09, P07
#[test]
fn initialize_echoes_a_spoken_version_and_tells_who_and_what() {
    let mut client = Client::new(config().instructions("Bike tools."));
    assert_eq!(
        client.ask(&initialize("2025-06-18")),
        [
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{}},"serverInfo":{"name":"spokes","version":"2.1.0"},"instructions":"Bike tools."}}"#
        ]
    );
}

/// INIT-16, B26, INIT-10, INIT-11
#[test]
fn initialize_answers_its_newest_legacy_version_to_what_it_does_not_speak() {
    for asked in ["2026-07-28", "1.0", "", "2031-01-01"] {
        let mut client = Client::new(config());
        assert!(client.ask(&initialize(asked))[0].contains(r#""protocolVersion":"2025-11-25""#), "{asked}");
    }
    let old = config().revisions(Revisions::of([Revision::V2024_11_05, Revision::V2025_03_26]));
    assert!(Client::new(old).ask(&initialize(V))[0].contains(r#""protocolVersion":"2025-03-26""#));
}

/// B22, INIT-18
#[test]
fn ping_is_answered_before_the_handshake_which_then_works() {
    let mut client = Client::new(config());
    assert_eq!(
        client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]
    );
    assert!(client.ask(&initialize(V))[0].contains("protocolVersion"));
}

/// INIT-01, META-12
#[test]
fn a_request_without_metadata_before_the_handshake_is_told_what_is_missing() {
    let mut client = Client::new(config());
    let answer = &client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)[0];
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"#), "{answer}");
    assert!(answer.contains("io.modelcontextprotocol/protocolVersion"), "{answer}");

    let mut legacy = Client::new(config().revisions(Revisions::era(Era::Legacy)));
    let answer = legacy.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(answer, [error("1", -32600, "`initialize` must come first")]);
}

/// B24
#[test]
fn a_request_before_initialized_is_served() {
    let mut client = Client::new(config());
    client.ask(&initialize(V));
    assert!(client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)[0].contains("\"tools\":["));
}

/// INIT-04
#[test]
fn initialized_is_told_once() {
    let mut client = Client::new(config());
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.send(&initialize(V));
    let initialized = |client: &mut Client| {
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client.outputs().iter().filter(|output| matches!(output, Output::Initialized)).count()
    };
    assert_eq!((initialized(&mut client), initialized(&mut client)), (1, 0));
}

/// DISC-01, DISC-03, DISC-04, CACHE-01
#[test]
fn discover_tells_versions_capabilities_hints_and_identity() {
    let mut client = Client::new(config());
    assert_eq!(
        client.ask(&modern("\"d\"", "server/discover", "")),
        [format!(
            r#"{{"jsonrpc":"2.0","id":"d","result":{{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{{"logging":{{}},"tools":{{}}}},"ttlMs":0,"cacheScope":"private",{NAMED}}}}}"#
        )]
    );
}

/// VER-01
#[test]
fn a_version_that_is_not_spoken_is_answered_with_those_that_are() {
    let mut client =
        Client::new(config().revisions(Revisions::of([Revision::V2026_07_28, Revision::V2025_11_25])));
    for version in ["2099-01-01", "2025-11-25"] {
        let request = modern("1", "tools/list", "").replace("2026-07-28", version);
        assert_eq!(
            client.ask(&request),
            [format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32022,"message":"Unsupported protocol version","data":{{"supported":["2026-07-28","2025-11-25"],"requested":"{version}"}}}}}}"#
            )]
        );
    }
}

/// META-12, META-14
#[test]
fn modern_metadata_is_required_but_for_the_client_info() {
    let mut client = Client::new(config());
    for (meta, missing) in [
        (r#""io.modelcontextprotocol/clientCapabilities":{}"#, "io.modelcontextprotocol/protocolVersion"),
        (
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#,
            "io.modelcontextprotocol/clientCapabilities",
        ),
    ] {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{meta}}}}}}}"#
        );
        let answer = &client.ask(&request)[0];
        assert!(answer.contains("-32602") && answer.contains(missing), "{answer}");
    }
    let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}"#;
    assert!(client.ask(wrong)[0].contains("expected a string, found a number"));
}

/// VER-22, VER-21
#[test]
fn a_modern_only_server_refuses_initialize_and_names_its_versions() {
    let mut client = Client::new(config().revisions(Revisions::era(Era::Modern)));
    let answer = &client.ask(&modern("1", "initialize", ""))[0];
    assert!(answer.contains("-32601") && answer.contains(r#""supported":["2026-07-28"]"#), "{answer}");
    // A real one has no metadata.
    let answer = &client.ask(&initialize(V))[0];
    assert!(answer.contains(r#""supported":["2026-07-28"]"#), "{answer}");
}

/// INIT-22, LOG-10, DISC-01, ERR-02
#[test]
fn methods_of_the_other_era_and_unknown_ones_are_not_found() {
    let mut client = Client::legacy(config(), V);
    for request in [
        modern("1", "ping", ""),
        modern("1", "logging/setLevel", r#""level":"info","#),
        modern("1", "initialize", ""),
        modern("1", "unknown/method", ""),
        modern("1", "subscriptions/listen", ""),
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#.into(),
    ] {
        assert_eq!(client.ask(&request), [error("1", -32601, "Method not found")], "{request}");
    }
    let mut bare = config();
    bare.tools = crate::server::Tools::new();
    bare.logging = false;
    let mut client = Client::legacy(bare, V);
    for method in ["tools/list", "tools/call", "logging/setLevel"] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        assert_eq!(client.ask(&request), [error("1", -32601, "Method not found")]);
    }
    assert!(client.ask(&modern("2", "server/discover", ""))[0].contains(r#""capabilities":{}"#));
}

/// VER-06, VER-07, VER-08, VER-09, RPC-31, META-18
#[test]
fn eras_interleave_on_one_stream_and_share_nothing() {
    let mut client = Client::new(config());
    assert!(client.ask(&modern("1", "tools/list", ""))[0].contains("resultType"));
    client.ask(&initialize(V).replace(r#""capabilities":{}"#, r#""capabilities":{"sampling":{}}"#));
    let (legacy, call) = client.call(&legacy_call("2"));
    assert_eq!(
        (call.revision(), call.client().capabilities.sampling.is_some()),
        (Revision::V2025_11_25, true)
    );
    assert_eq!(call.client().info.as_ref().unwrap().name, "kiln");
    let (modern, call) = client.call(&modern_call("3"));
    assert_eq!(
        (call.revision(), call.client().capabilities.clone()),
        (Revision::V2026_07_28, ClientCapabilities::new())
    );
    assert_eq!(call.client().info, None);
    client.server.respond(now(), modern, &text("m"));
    client.server.respond(now(), legacy, &text("l"));
    assert_eq!(
        client.received(),
        [
            format!(
                r#"{{"jsonrpc":"2.0","id":3,"result":{{"resultType":"complete","content":[{{"type":"text","text":"m"}}],{NAMED}}}}}"#
            ),
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"l"}]}}"#.into(),
        ]
    );
}

/// META-19
#[test]
fn the_server_is_not_named_when_configured_off() {
    let mut client = Client::new(config().name_in_results(false));
    for method in ["server/discover", "tools/list"] {
        assert!(!client.ask(&modern("1", method, ""))[0].contains("_meta"));
    }
    let (id, _) = client.call(&modern_call("1"));
    client.server.respond(now(), id, &text("m"));
    assert!(!client.received()[0].contains("_meta"));
}

/// The bound on what is kept of a client is reached exactly, and passed by one; pictures are not kept.
#[test]
fn the_details_of_a_client_are_bounded() {
    let kept = r#"{"name":"kiln","version":"0.3.0"}{}"#.len();
    let icons = r#""version":"0.3.0","icons":[{"src":"data:image/png;base64,iVBORw0KGgo="}]"#;
    let hello = initialize(V).replace(r#""version":"0.3.0""#, icons);
    for (limit, opened) in [(kept, true), (kept - 1, false)] {
        let mut client = Client::new(config().limits(limits(|limits| limits.client_details = limit)));
        let answer = &client.ask(&hello)[0];
        assert_eq!(answer.contains("protocolVersion"), opened, "{answer}");
        assert_eq!(answer.contains("-32602"), !opened, "{answer}");
    }
}

/// META-18: what a client can do is what this request says, not what one before it has said, either way.
#[test]
fn capabilities_are_those_of_the_request() {
    let mut client = Client::new(config());
    let able = |id: &str, capabilities: &str| {
        modern_call(id)
            .replace(r#"clientCapabilities":{}"#, &format!(r#"clientCapabilities":{capabilities}"#))
    };
    for (id, capabilities, elicits, roots) in [
        ("1", r#"{"elicitation":{}}"#, true, false),
        ("2", "{}", false, false),
        ("3", r#"{"roots":{}}"#, false, true),
        ("4", "{}", false, false),
    ] {
        let (_, call) = client.call(&able(id, capabilities));
        let can = &call.client().capabilities;
        assert_eq!((can.elicitation.is_some(), can.roots.is_some()), (elicits, roots), "{id}");
    }
}
