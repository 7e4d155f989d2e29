use super::*;

#[test]
fn a_call_made_before_the_era_is_known_waits_for_it() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let first = peer.start(&CallTool::with("a", std::collections::BTreeMap::from([("x", 1)])));
    let second = peer.start(&ListTools::new());
    assert!(peer.written().is_empty());
    peer.result(&probe, DISCOVERED);
    let lines = peer.written();
    assert_eq!(lines.iter().map(|line| method(line)).collect::<Vec<_>>(), ["tools/call", "tools/list"]);
    assert!(lines[0].contains("\"params\":{\"name\":\"a\",\"arguments\":{\"x\":1},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\""));
    peer.result(&lines[1], "{'tools':[],'resultType':'complete'}");
    peer.result(&lines[0], "{'content':[{'type':'text','text':'hi'}],'resultType':'complete'}");
    assert_eq!(peer.connection.take(&first).unwrap().unwrap().text(), "hi");
    assert!(peer.connection.take(&second).unwrap().unwrap().tools.is_empty());
    assert_eq!(peer.connection.calls(), 0);
}

/// RPC-12: what a legacy server leaves out is "complete".
#[test]
fn a_legacy_call_has_no_metadata_and_its_result_no_type() {
    let mut peer = Peer::legacy();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    assert_eq!(
        line,
        json(&format!(
            "{{'jsonrpc':'2.0','id':{},'method':'tools/call','params':{{'name':'a'}}}}",
            id(&line)
        ))
    );
    peer.result(&line, "{'content':[],'structuredContent':{'n':1},'isError':true}");
    let reply = peer.connection.take(&call).unwrap().unwrap();
    assert!(reply.is_error());
    assert_eq!(reply.structured::<std::collections::BTreeMap<String, u8>>().unwrap()["n"], 1);
}

/// RPC-13, RPC-11, RPC-12, B21
#[test]
fn the_type_of_a_result_decides_what_it_is() {
    let mut peer = Peer::modern();
    let cases = ["{'content':[]}", "{'content':[],'resultType':'complete'}"];
    for result in cases {
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        peer.result(&line, result);
        assert!(peer.connection.take(&call).unwrap().is_ok(), "{result}");
    }
    for result in ["{'content':[],'resultType':'task'}", "{'content':[],'resultType':7}", "[]"] {
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        peer.result(&line, result);
        assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Invalid { .. }))), "{result}");
    }
    // MRTR-03: where the specification does not have it.
    let call = peer.start(&Custom::new("x/y", None).unwrap());
    let line = peer.one();
    peer.result(&line, "{'resultType':'input_required','requestState':'s'}");
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Invalid { .. }))));
}

/// B21: a custom result is kept whole, whatever it looks like.
#[test]
fn a_custom_call_returns_the_result_as_it_came() {
    let mut peer = Peer::legacy();
    let params = Json::parse(json("{ 'a':\n1 }")).unwrap();
    let call = peer.start(&Custom::new("x/y", Some(params)).unwrap());
    let line = peer.one();
    assert!(line.contains("\"params\":{\"a\":1}"), "{line}");
    peer.result(&line, "{'content':[],'x':1}");
    assert_eq!(peer.connection.take(&call).unwrap().unwrap().get(), json("{'content':[],'x':1}"));
    assert!(Custom::new("x", Some(Json::parse("[1]").unwrap())).is_err());
    assert!(Custom::new("x", Some(Json::parse("{\"_meta\":{}}").unwrap())).is_err());
}

/// RPC-06, RPC-05
#[test]
fn ids_are_never_used_again() {
    let mut peer = Peer::legacy();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let call = peer.start(&Ping);
        let line = peer.one();
        assert!(seen.insert(id(&line)));
        peer.result(&line, "{}");
        peer.connection.take(&call).unwrap().unwrap();
    }
}

/// STDIO-01: JSON written by hand may span lines; a message may not.
#[test]
fn a_request_is_one_line_whatever_the_arguments_look_like() {
    let mut peer = Peer::modern();
    let arguments = Json::parse("{\n \"a\": \"x\\ny\",\r\n \"b\": 1\n}").unwrap();
    peer.start(&CallTool::with("a", arguments));
    let line = peer.one();
    assert!(line.contains("\"a\":\"x\\ny\""), "{line}");
}

/// TOOL-42
#[test]
fn arguments_must_be_an_object() {
    let mut peer = Peer::modern();
    let list = peer.connection.start(peer.now, &CallTool::with("a", vec![1]), CallOptions::new());
    assert!(matches!(list, Err(CallError::Misuse(_))));
    assert!(peer.written().is_empty());
    assert_eq!(peer.connection.calls(), 0);
    peer.start(&CallTool::with("a", None::<u8>));
    assert!(!peer.one().contains("arguments"));
}

/// INIT-13, VER-23
#[test]
fn what_the_server_does_not_offer_is_not_sent() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, &DISCOVERED.replace("'ttlMs':0", "'ttlMs':1000"));
    for error in [
        peer.connection.start(peer.now, &Ping, CallOptions::new()).map(drop).unwrap_err(),
        peer.connection
            .start(peer.now, &SetLevel(LoggingLevel::Info), CallOptions::new())
            .map(drop)
            .unwrap_err(),
        peer.connection
            .start(peer.now, &Custom::new("prompts/list", None).unwrap(), CallOptions::new())
            .map(drop)
            .unwrap_err(),
    ] {
        assert!(matches!(error, CallError::Unsupported { .. }), "{error}");
    }
    assert!(peer.connection.start(peer.now, &Discover, CallOptions::new()).is_ok());
    let mut peer = Peer::legacy();
    assert!(peer.connection.start(peer.now, &Discover, CallOptions::new()).is_err());
    assert!(peer.connection.start(peer.now, &Ping, CallOptions::new()).is_ok());
}

#[test]
fn a_waiting_call_that_turns_out_to_be_unsupported_settles_so() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let call = peer.start(&Ping);
    peer.result(&probe, DISCOVERED);
    assert!(peer.written().is_empty());
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Unsupported { .. }))));
}

#[test]
fn capabilities_are_not_checked_when_that_is_configured() {
    let mut peer = Peer::modern_with(config().check_capabilities(false));
    peer.start(&Custom::new("prompts/list", None).unwrap());
    assert_eq!(method(&peer.one()), "prompts/list");
}

/// TOOL-35, ERR-11: a server's error is told apart from a local one.
#[test]
fn an_error_of_the_server_is_kept_with_code_text_and_data() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.error(&line, "{'code':-32602,'message':'Unknown tool','data':{'k':[1]}}");
    let Some(Err(CallError::Server { error, status: None })) = peer.connection.take(&call) else { panic!() };
    assert_eq!((error.code, &*error.message), (-32602, "Unknown tool"));
    assert_eq!(error.data.unwrap().get(), "{\"k\":[1]}");
}

/// B20: the first answer counts, and nothing is kept of others.
#[test]
fn unsolicited_and_repeated_responses_are_dropped() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    for number in 0..10_000 {
        peer.says(&format!("{{'jsonrpc':'2.0','id':'n{number}','result':{{}}}}"));
    }
    peer.result(&line, "{'content':[{'type':'text','text':'first'}]}");
    peer.result(&line, "{'content':[{'type':'text','text':'second'}]}");
    let outputs = peer.drain();
    assert_eq!(settled(&outputs), 1);
    assert!(outputs.len() <= Limits::default().notifications + 2, "{}", outputs.len());
    assert_eq!(peer.connection.take(&call).unwrap().unwrap().text(), "first");
    assert_eq!(peer.connection.take(&call).map(drop), None);
    assert_eq!(peer.connection.calls(), 0);
}

/// RPC-07: a string is not a number.
#[test]
fn a_response_with_an_id_of_another_type_answers_nothing() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let id = id(&peer.one());
    peer.says(&format!("{{'jsonrpc':'2.0','id':'{id}','result':{{'content':[]}}}}"));
    assert!(peer.connection.take(&call).is_none());
}

/// B03: noise is reported and never answered.
#[test]
fn noise_on_the_output_of_the_server_is_survived_in_silence() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    for noise in
        ["INFO listening", "{'level':'info','msg':'up'}", "42", "null", "[]", "{'jsonrpc':'2.0','id':{}}"]
    {
        peer.says(noise);
    }
    assert!(peer.written().is_empty());
    peer.result(&line, "{'content':[]}");
    assert_eq!(diagnostics(&peer.drain()), 6);
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// B03, during the probe.
#[test]
fn noise_before_the_answer_to_the_probe_does_no_harm() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.says("Server starting...");
    peer.says("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'info','data':1}}");
    peer.result(&probe, DISCOVERED);
    assert_eq!(peer.details().revision, Revision::V2026_07_28);
}

/// B18 on a byte stream: nobody's error is nobody's.
#[test]
fn an_error_without_id_leaves_calls_alone() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.says("{'jsonrpc':'2.0','id':null,'error':{'code':-32700,'message':'what?'}}");
    peer.says("{'jsonrpc':'2.0','error':{'code':-32700,'message':'what?'}}");
    peer.says("{'jsonrpc':'2.0','id':'server-error','error':{'code':-32600,'message':'no'}}");
    assert_eq!(diagnostics(&peer.drain()), 3);
    peer.result(&line, "{'content':[]}");
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

#[test]
fn a_malformed_response_ends_the_call_that_it_was_meant_for() {
    let deep = format!("'result':{}{}", "[".repeat(1_000), "]".repeat(1_000));
    for body in [
        "'result':{},'error':{'code':1,'message':'x'}",
        "'error':{'code':'x'}",
        "'error':{}",
        &deep,
        "'result':{'content':[",
        "'result':nonsense",
    ] {
        let mut peer = Peer::modern();
        let call = peer.start(&CallTool::new("a"));
        let id = id(&peer.one());
        peer.says(&format!("{{'jsonrpc':'2.0','id':{id},{body}}}"));
        assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Invalid { .. }))), "{body}");
    }
}

/// A reply that does not fit its method is the server's fault, and only that call's problem.
#[test]
fn a_result_of_another_shape_is_invalid() {
    let mut peer = Peer::modern();
    let call = peer.start(&ListTools::new());
    let line = peer.one();
    peer.result(&line, "{'tools':'none'}");
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Invalid { .. }))));
    assert!(!peer.connection.is_closed());
}

/// B57: content may be missing, and structured content of any kind is kept.
#[test]
fn a_tool_result_is_read_leniently() {
    let mut peer = Peer::legacy();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, "{'structuredContent':{'n':1}}");
    let reply = peer.connection.take(&call).unwrap().unwrap();
    assert!(reply.content().is_empty() && !reply.is_error());
    assert_eq!(reply.text(), "");
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(
        &line,
        "{'content':[{'type':'text','text':'7'},{'type':'text','text':'8'}],'structuredContent':7}",
    );
    let reply = peer.connection.take(&call).unwrap().unwrap();
    assert_eq!(reply.text(), "7\n8");
    assert_eq!(reply.structured::<u8>(), Ok(7));
    assert!(reply.structured::<String>().is_err());
}

/// The reason names the place and the types, and repeats nothing of what came.
#[test]
fn a_reason_holds_no_payload() {
    let mut peer = Peer::modern();
    let call = peer.start(&ListTools::new());
    let line = peer.one();
    peer.result(&line, "{'tools':'secret'}");
    let text = peer.connection.take(&call).unwrap().unwrap_err().to_string();
    assert!(text.contains("result.tools") && !text.contains("secret"), "{text}");
}

/// The message of a server is kept whole, and shown in part.
#[test]
fn a_long_error_message_is_shown_in_part() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    let long = "x".repeat(10_000);
    peer.error(&line, &format!("{{'code':1,'message':'{long}'}}"));
    let error = peer.connection.take(&call).unwrap().unwrap_err();
    assert!(error.to_string().len() < 400);
    assert!(matches!(error, CallError::Server { error, .. } if error.message == long));
}
