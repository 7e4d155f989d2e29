use super::*;

/// PRG-04, PRG-05, PRG-07 to PRG-09, PRG-11
#[test]
fn progress_is_sent_under_its_token_while_it_goes_forward() {
    let mut client = Client::new(config());
    let meta = META.replace("\"_meta\":{", "\"_meta\":{\"progressToken\":0,");
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add",{meta}}}}}"#);
    let (id, _) = client.call(&line);
    for progress in [0.0, 1.0, 1.0, 0.5, f64::NAN, f64::INFINITY, 2.5] {
        client.server.progress(now(), id, &Progress::new(progress).total(10.0).message("m"));
    }
    let progress = |progress: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":0,"progress":{progress},"total":10,"message":"m"}}}}"#
        )
    };
    assert_eq!(client.received(), [progress("0"), progress("1"), progress("2.5")]);
    client.server.respond(now(), id, &text("x"));
    client.received();
    client.server.progress(now(), id, &Progress::new(3.0));
    assert_eq!(client.received(), [""; 0]);

    let (unasked, _) = client.call(&modern_call("2"));
    client.server.progress(now(), unasked, &Progress::new(1.0));
    assert_eq!(client.received(), [""; 0]);
}

/// PRG-06
#[test]
fn progress_has_no_message_where_the_revision_has_none() {
    let mut client = Client::legacy(config(), "2024-11-05");
    let (id, _) = client.call(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"p"}}}"#,
    );
    client.server.progress(now(), id, &Progress::new(1.0).message("m"));
    assert_eq!(
        client.received(),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#
        ]
    );
}

/// LOG-02, LOG-03, B65
#[test]
fn a_modern_request_gets_the_log_messages_that_it_asks_for() {
    let mut client = Client::legacy(config(), V);
    client.ask(r#"{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"debug"}}"#);
    let meta = META.replace("\"_meta\":{", "\"_meta\":{\"io.modelcontextprotocol/logLevel\":\"warning\",");
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add",{meta}}}}}"#);
    let (asked, _) = client.call(&line);
    let (silent, _) = client.call(&modern_call("2"));
    for level in [LoggingLevel::Info, LoggingLevel::Warning, LoggingLevel::Emergency] {
        client.server.log(now(), asked, &message(level));
        client.server.log(now(), silent, &message(level));
    }
    let sent = |level| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"d"}}}}"#
        )
    };
    assert_eq!(client.received(), [sent("warning"), sent("emergency")]);
}

/// LOG-07, LOG-08, LOG-09, B65
#[test]
fn a_legacy_session_has_a_level_that_setlevel_changes_at_once() {
    let mut client = Client::legacy(config(), V);
    let (id, _) = client.call(&legacy_call("1"));
    let count = |client: &mut Client| {
        for level in LoggingLevel::ALL {
            client.server.log(now(), id, &message(level));
        }
        client.received().len()
    };
    assert_eq!(count(&mut client), 7);
    let set = |level: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{{"level":{level}}}}}"#)
    };
    assert_eq!(client.ask(&set("\"warning\"")), [r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
    assert_eq!(count(&mut client), 5);
    for wrong in ["\"warn\"", "\"WARNING\"", "5", "null"] {
        assert!(client.ask(&set(wrong))[0].contains("-32602"), "{wrong}");
    }
    assert_eq!(count(&mut client), 5);
}

/// LOG-01
#[test]
fn a_server_that_does_not_declare_logging_sends_none() {
    let mut client = Client::legacy(config().logging(false), V);
    let (id, call) = client.call(&legacy_call("1"));
    client.server.log(now(), id, &message(LoggingLevel::Emergency));
    assert_eq!(client.received(), [""; 0]);
    assert!(!call.wants_log(LoggingLevel::Emergency));
}

/// STDIO-13, STDIO-14, CAN-08, CAN-09, CAN-11, CAN-13, CAN-16, CAN-17, B12
#[test]
fn a_cancelled_call_is_told_once_and_nothing_more_is_sent_for_it() {
    for id in ["0", "\"\"", "\"0\"", "7"] {
        let mut client = Client::legacy(config(), V);
        let mut others = Vec::new();
        for other in ["0", "\"\"", "\"0\"", "7"].into_iter().filter(|other| *other != id) {
            others.push(client.call(&legacy_call(other)).0);
        }
        let (call, _) = client.call(&legacy_call(id));
        assert_eq!(client.ask(&cancel(id)), [""; 0]);
        let outputs = client.outputs();
        assert!(matches!(outputs[0], Output::Cancelled(cancelled) if cancelled == call), "{outputs:?}");
        assert!(matches!(&outputs[1], Output::Diagnostic(it) if it.detail.contains("user left")));
        client.server.respond(now(), call, &text("late"));
        client.server.fail(now(), call, &ErrorObject::new(1, "late"));
        client.server.progress(now(), call, &Progress::new(1.0));
        client.server.log(now(), call, &message(LoggingLevel::Emergency));
        client.send(&cancel(id));
        assert_eq!(client.received(), [""; 0]);
        assert!(client.outputs().is_empty());
        for other in others {
            client.server.respond(now(), other, &text("x"));
        }
        assert_eq!(client.received().len(), 3);
    }
}
