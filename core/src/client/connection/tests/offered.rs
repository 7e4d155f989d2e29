//! What is not asked of a server that did not declare it.

use super::*;
use crate::model::{Meta, TraceContext};

fn peer(capabilities: &str) -> Peer {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, &format!("{{'protocolVersion':'2025-11-25','capabilities':{capabilities}}}"));
    peer.written();
    peer
}

/// INIT-13, VER-23, PROMPT-15: nothing is sent for what the server did not declare, and the error names the capability.
#[test]
fn each_method_needs_its_capability() {
    for (method, capability, without, with) in [
        ("tools/list", "tools", "{}", "{'tools':{}}"),
        ("tools/call", "tools", "{}", "{'tools':{}}"),
        ("prompts/list", "prompts", "{}", "{'prompts':{}}"),
        ("prompts/get", "prompts", "{}", "{'prompts':{}}"),
        ("resources/list", "resources", "{}", "{'resources':{}}"),
        ("resources/templates/list", "resources", "{}", "{'resources':{}}"),
        ("resources/read", "resources", "{}", "{'resources':{}}"),
        (
            "resources/subscribe",
            "resources.subscribe",
            "{'resources':{}}",
            "{'resources':{'subscribe':true}}",
        ),
        (
            "resources/unsubscribe",
            "resources.subscribe",
            "{'resources':{'subscribe':false}}",
            "{'resources':{'subscribe':true}}",
        ),
        ("completion/complete", "completions", "{'prompts':{}}", "{'completions':{}}"),
        ("logging/setLevel", "logging", "{}", "{'logging':{}}"),
        ("tasks/list", "tasks.list", "{'tasks':{}}", "{'tasks':{'list':{}}}"),
        ("tasks/cancel", "tasks.cancel", "{'tasks':{'list':{}}}", "{'tasks':{'cancel':{}}}"),
    ] {
        let call = Custom::new(method, None).unwrap();
        let mut lacking = peer(without);
        let now = lacking.now;
        let error = lacking.connection.start(now, &call, CallOptions::new()).unwrap_err();
        let named =
            matches!(&error, CallError::Unsupported { capability: Some(it), .. } if *it == capability);
        assert!(named && error.to_string().contains(&format!("`{capability}`")), "{method}: {error}");
        assert!(lacking.written().is_empty(), "{method}");
        // Unless the application knows better.
        lacking.connection.start(now, &call, CallOptions::new().force()).unwrap();
        lacking.one();
        peer(with).start(&call);
    }
    // What needs none, and what is somebody's own.
    for method in ["ping", "acme/weigh"] {
        peer("{}").start(&Custom::new(method, None).unwrap());
    }
}

/// A method that the revision does not have is none of its capabilities, so it cannot be forced either.
#[test]
fn a_method_of_another_revision_is_not_sent() {
    let mut peer = peer("{}");
    let started = peer.connection.start(peer.now, &Discover, CallOptions::new().force());
    assert!(matches!(started, Err(CallError::Unsupported { capability: None, .. })));
    assert!(peer.written().is_empty());
}

/// A call that waits for the era keeps its leave.
#[test]
fn a_forced_call_may_wait() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let call = Custom::new("prompts/list", None).unwrap();
    peer.connection.start(peer.now, &call, CallOptions::new().force()).unwrap();
    peer.result(&probe, DISCOVERED);
    assert_eq!(method(&peer.one()), "prompts/list");
}

/// META-11: a modern server is asked for log messages with each request, from another level on once the
/// application wants that.
#[test]
fn the_level_of_log_messages_may_change() {
    let mut peer = Peer::modern();
    peer.start(&ListTools::new());
    assert!(!peer.one().contains("logLevel"));
    peer.connection.set_log_level(LoggingLevel::Error).unwrap();
    peer.start(&ListTools::new());
    assert!(peer.one().contains("\"io.modelcontextprotocol/logLevel\":\"error\""));
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, &DISCOVERED.replace(",'logging':{}", ""));
    let error = peer.connection.set_log_level(LoggingLevel::Error).unwrap_err();
    assert!(matches!(error, CallError::Unsupported { capability: Some("logging"), .. }));
}

/// META-02, META-03, META-07: what is no name for metadata is not sent as one.
#[test]
fn metadata_has_names() {
    let mut peer = Peer::modern();
    for key in ["", "x/y/z", "-a", "1a.b/c"] {
        let options = CallOptions::new().meta(Meta::new().with(key, Json::empty_object()));
        let started = peer.connection.start(peer.now, &ListTools::new(), options);
        assert_eq!(matches!(started, Err(CallError::Misuse(_))), !key.is_empty(), "{key}");
    }
    assert_eq!(peer.written().len(), 1);
    let options = CallOptions::new().meta(Meta::new().with("com.example/k", Json::empty_object()));
    peer.connection.start(peer.now, &ListTools::new(), options).unwrap();
    assert!(peer.one().contains("\"com.example/k\":{}"));
}

/// TRACE-01, TRACE-04: beside whatever else there is, under the names that all use.
#[test]
fn a_trace_travels_in_the_metadata() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new().with_traceparent(parent).unwrap().with_baggage("a=b").unwrap();
    let mut peer = Peer::legacy();
    let options = CallOptions::new().meta(Meta::new().with("k", Json::empty_object())).trace(&trace);
    peer.connection.start(peer.now, &ListTools::new(), options).unwrap();
    let said = format!("\"_meta\":{{\"baggage\":\"a=b\",\"k\":{{}},\"traceparent\":\"{parent}\"}}");
    assert!(peer.one().contains(&said));
}

/// META-01: those of a client are in every request, from the first one on and in both eras; a call may have others in their
/// place, and what the protocol sets is nobody's.
#[test]
fn metadata_of_a_client_is_in_every_request() {
    let entry = |text: &str| Json::parse(json(text)).unwrap();
    let meta = Meta::new()
        .with("com.example/from", entry("'kiln'"))
        .with("com.example/of", entry("1"))
        .with("progressToken", entry("'p'"))
        .with("io.modelcontextprotocol/protocolVersion", entry("'1999'"))
        .with("x/y/z", entry("2"));
    let ours = json("'com.example/from':'kiln','com.example/of':1");
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let mut peer = Peer::new(config().era(era).meta(meta.clone()));
        let opening = peer.one();
        assert!(opening.contains(&ours), "{opening}");
        peer.result(&opening, if era == EraChoice::Modern { DISCOVERED } else { INITIALIZED });
        peer.written();
        assert_eq!(diagnostics(&peer.drain()), 1, "one is no name");
        peer.start(&ListTools::new());
        let line = peer.one();
        assert!(line.contains(&ours), "{line}");
        let options = CallOptions::new().meta(Meta::new().with("com.example/of", entry("3")));
        peer.connection.start(peer.now, &ListTools::new(), options).unwrap();
        let changed = peer.one();
        assert!(changed.contains(&json("'com.example/from':'kiln','com.example/of':3")), "{changed}");
        for line in [opening, line, changed] {
            assert!(
                !line.contains("1999") && !line.contains("progressToken") && !line.contains("x/y/z"),
                "{line}"
            );
            assert_eq!(line.matches("_meta").count(), 1, "{line}");
        }
    }
}
