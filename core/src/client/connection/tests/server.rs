use super::*;

/// INIT-18, RPC-25
#[test]
fn a_legacy_server_is_answered() {
    let mut peer = Peer::legacy();
    peer.says("{'jsonrpc':'2.0','id':'p','method':'ping'}");
    assert_eq!(peer.one(), json("{'jsonrpc':'2.0','id':'p','result':{}}"));
    peer.says("{'jsonrpc':'2.0','id':7,'method':'roots/list'}");
    assert_eq!(
        peer.one(),
        json("{'jsonrpc':'2.0','id':7,'error':{'code':-32601,'message':'Method not found'}}")
    );
}

/// B22, from the other side: a ping may come before the handshake is answered.
#[test]
fn a_ping_during_the_handshake_is_answered() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    peer.one();
    peer.says("{'jsonrpc':'2.0','id':1,'method':'ping'}");
    assert_eq!(peer.one(), json("{'jsonrpc':'2.0','id':1,'result':{}}"));
}

/// RPC-24, STDIO-07
#[test]
fn a_modern_server_is_never_answered() {
    let mut peer = Peer::modern();
    peer.says("{'jsonrpc':'2.0','id':'p','method':'ping'}");
    peer.says("{'jsonrpc':'2.0','id':7,'method':'elicitation/create','params':{}}");
    assert!(peer.written().is_empty());
    assert_eq!(diagnostics(&peer.drain()), 2);
}

/// LOG-11, LOG-15
#[test]
fn log_messages_and_notifications_reach_the_application() {
    let mut peer = Peer::legacy();
    peer.says("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'error','logger':'l','data':{'a':1}}}");
    peer.says("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    peer.says("{'jsonrpc':'2.0','method':'x/y','params':{'z':1}}");
    peer.says("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'loud','data':1}}");
    let outputs = peer.drain();
    let [
        Output::Event(Event::Log(_, log)),
        Output::Event(Event::Notification { method, params: None }),
        Output::Event(Event::Notification { params: Some(params), .. }),
        Output::Event(Event::Diagnostic(_)),
    ] = &outputs[..]
    else {
        panic!("{outputs:?}")
    };
    assert_eq!(log.level, LoggingLevel::Error);
    assert_eq!(method, "notifications/tools/list_changed");
    assert_eq!(params.get(), "{\"z\":1}");
    assert!(peer.written().is_empty());
}

/// LOG-04: a message on the stream that everything comes on is one of the call on its way, where there is only one.
#[test]
fn a_log_message_is_of_the_only_call_there_is() {
    let message = "{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'error','data':1}}";
    for mut peer in [Peer::modern(), Peer::legacy()] {
        let logged = |peer: &mut Peer| {
            peer.says(message);
            peer.drain().into_iter().find_map(|output| match output {
                Output::Event(Event::Log(call, _)) => Some(call),
                _ => None,
            })
        };
        assert_eq!(logged(&mut peer), Some(None));
        let first = peer.start(&CallTool::new("a"));
        let line = peer.one();
        assert_eq!(logged(&mut peer), Some(Some(first.id())));
        let second = peer.start(&CallTool::new("b"));
        assert_eq!(logged(&mut peer), Some(None));
        peer.result(&line, "{'content':[]}");
        assert_eq!(logged(&mut peer), Some(Some(second.id())));
    }
}

/// META-11, LOG-02
#[test]
fn a_modern_server_is_told_the_log_level_with_each_request() {
    let mut peer = Peer::modern_with(config().log_level(LoggingLevel::Warning));
    peer.start(&CallTool::new("a"));
    assert!(peer.one().contains("\"io.modelcontextprotocol/logLevel\":\"warning\""));
    let options = CallOptions::new().log_level(LoggingLevel::Debug);
    peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    assert!(peer.one().contains("\"io.modelcontextprotocol/logLevel\":\"debug\""));
}

/// LOG-06
#[test]
fn a_legacy_server_is_told_the_log_level_once() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy).log_level(LoggingLevel::Warning));
    let initialize = peer.one();
    peer.result(&initialize, INITIALIZED);
    let lines = peer.written();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].contains("\"method\":\"logging/setLevel\",\"params\":{\"level\":\"warning\"}"));
    peer.result(&lines[1], "{}");
    assert_eq!(peer.connection.calls(), 0);
    assert_eq!(settled(&peer.drain()), 0);
    peer.start(&CallTool::new("a"));
    assert!(!peer.one().contains("logLevel"));
}

/// META-10: configured off.
#[test]
fn the_identity_can_be_kept_back() {
    let mut peer = Peer::new(config().announce_identity(false));
    let probe = peer.one();
    assert!(!probe.contains("clientInfo") && probe.contains("clientCapabilities"));
}

#[test]
fn metadata_of_the_application_is_added_and_cannot_replace_that_of_the_protocol() {
    let mut peer = Peer::modern();
    let meta = crate::model::Meta::new()
        .with("traceparent", Json::parse("\"00-1\"").unwrap())
        .with("progressToken", Json::parse("\"mine\"").unwrap())
        .with("io.modelcontextprotocol/protocolVersion", Json::parse("\"1\"").unwrap());
    peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new().meta(meta)).unwrap();
    let line = peer.one();
    assert!(line.contains("\"traceparent\":\"00-1\"") && !line.contains("mine"));
    assert_eq!(line.matches("protocolVersion").count(), 1);
}

/// STDIO-22, RPC-26, RPC-28: a batch of responses, in the one revision that has them.
#[test]
fn batches_are_read_in_one_revision_only() {
    for (revision, read) in [("2025-03-26", true), ("2025-06-18", false)] {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.result(&initialize, &INITIALIZED.replace("2025-11-25", revision));
        peer.one();
        let a = peer.start(&CallTool::new("a"));
        let b = peer.start(&CallTool::new("b"));
        let lines = peer.written();
        let answer = |line: &str| format!("{{'jsonrpc':'2.0','id':{},'result':{{'content':[]}}}}", id(line));
        peer.says(&format!("[{},7,{}]", answer(&lines[0]), answer(&lines[1])));
        for call in [a, b] {
            assert_eq!(peer.connection.take(&call).is_some_and(|reply| reply.is_ok()), read, "{revision}");
        }
        assert_eq!(diagnostics(&peer.drain()), 1);
    }
}
