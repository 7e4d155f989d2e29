use super::*;

/// CAN-10, CAN-14, CAN-19, TOOL-41, B54, CAN-02, CAN-20, CAN-21, STDIO-12
#[test]
fn a_call_times_out_with_one_cancellation_and_a_late_reply_is_dropped() {
    let mut peer = Peer::modern();
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.wait(999);
    assert!(peer.drain().is_empty());
    peer.wait(1);
    assert_eq!(
        peer.one(),
        json(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/cancelled','params':{{'requestId':{},'reason':'no answer within 1s'}}}}",
            id(&line)
        ))
    );
    peer.wait(0);
    assert!(peer.written().is_empty());
    assert_eq!(
        peer.connection.take(&call).unwrap().unwrap_err(),
        CallError::TimedOut { after: Duration::from_secs(1) }
    );
    peer.wait(2_000);
    peer.result(&line, "{'content':[]}");
    assert_eq!(settled(&peer.drain()), 1);
    assert_eq!(peer.connection.calls(), 0);
    let next = peer.start(&CallTool::new("b"));
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    assert!(peer.connection.take(&next).unwrap().is_ok());
    assert_eq!(peer.connection.poll_timeout(), None);
}

/// CAN-23, CAN-24, PRG-01, PRG-02, PRG-04
#[test]
fn progress_gives_more_time_up_to_a_maximum() {
    let mut peer = Peer::modern();
    let options = CallOptions::new().timeout(Duration::from_secs(1)).max(Duration::from_secs(3)).progress();
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    assert!(line.contains(&format!("\"progressToken\":{}", id(&line))), "{line}");
    let token = id(&line);
    let mut reports = Vec::new();
    for step in [1, 2, 2, 5] {
        peer.wait(700);
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':{step},'total':9,'message':'m'}}}}"
        ));
        reports.extend(peer.drain());
    }
    let progress: Vec<_> = reports
        .iter()
        .filter_map(|output| match output {
            Output::Event(Event::Progress(id, Progress { progress, total, message })) => {
                assert_eq!((*id, *total, message.as_deref()), (call.id(), Some(9.0), Some("m")));
                Some(*progress)
            }
            _ => None,
        })
        .collect();
    // The report that was no news kept the call alive all the same.
    assert_eq!(progress, [1.0, 2.0, 5.0]);
    assert_eq!(peer.connection.poll_timeout(), Some(at(3_000).mono));
    peer.wait(200);
    assert_eq!(
        peer.connection.take(&call).unwrap().unwrap_err(),
        CallError::TimedOut { after: Duration::from_secs(3) }
    );
}

/// PRG-09, PRG-07, PRG-11
#[test]
fn progress_of_unknown_or_finished_calls_is_nothing() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    peer.connection.take(&call).unwrap().unwrap();
    peer.drain();
    for token in [&*id(&line), "99", "'x'"] {
        peer.says(&format!("{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':1}}}}"));
    }
    assert!(peer.drain().is_empty());
}

#[test]
fn a_call_that_waits_for_the_era_times_out_without_a_word() {
    let mut peer = Peer::new(config());
    peer.one();
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let call = peer.connection.start(peer.now, &ListTools::new(), options).unwrap();
    peer.wait(1_000);
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::TimedOut { .. }))));
    assert!(peer.written().is_empty());
}

/// CAN-02, CAN-04, CAN-11
#[test]
fn cancelling_tells_the_server_once_and_only_for_calls_under_way() {
    let mut peer = Peer::legacy();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.connection.cancel(peer.now, call.id());
    peer.connection.cancel(peer.now, call.id());
    assert_eq!(method(&peer.one()), "notifications/cancelled");
    assert_eq!(peer.connection.take(&call).unwrap().unwrap_err(), CallError::Cancelled);
    peer.result(&line, "{'content':[]}");
    peer.error(&line, "{'code':-32800,'message':'Request cancelled'}");
    assert_eq!(settled(&peer.drain()), 1);
    peer.connection.cancel(peer.now, call.id());
    assert!(peer.written().is_empty());

    let done = peer.start(&CallTool::new("b"));
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    peer.connection.cancel(peer.now, done.id());
    assert!(peer.written().is_empty());
    assert!(peer.connection.take(&done).unwrap().is_ok());
}

#[test]
fn a_forgotten_call_leaves_nothing_behind() {
    let mut peer = Peer::modern();
    let before = peer.start(&CallTool::new("a"));
    peer.connection.forget(before.id());
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    let after = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    assert_eq!(settled(&peer.drain()), 1);
    peer.connection.forget(after.id());
    assert_eq!(peer.connection.calls(), 0);
    assert!(peer.connection.take(&before).is_none());
}

#[test]
fn what_wakes_a_connection_is_named() {
    let mut peer = Peer::new(config());
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    peer.connection.start(peer.now, &ListTools::new(), options).unwrap();
    assert_eq!(peer.connection.wake_reason(), Some(WakeReason::Call));
    peer.wait(1_000);
    assert_eq!(peer.connection.wake_reason(), Some(WakeReason::Probe));
    peer.wait(4_000);
    assert_eq!(peer.connection.wake_reason(), Some(WakeReason::Handshake));
    peer.connection.close(peer.now);
    assert_eq!(peer.connection.wake_reason(), None);
}

/// CAN-22: `Limits::request` and `Limits::request_max`, each to the millisecond; CAN-23, CAN-24
#[test]
fn limits_say_how_long_a_call_may_wait() {
    let mut limits = Limits::default();
    (limits.request, limits.request_max) = (Duration::from_secs(2), Duration::from_secs(3));
    let mut peer = Peer::modern_with(config().limits(limits));
    let silent = peer.start(&CallTool::new("a"));
    let busy = peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new().progress()).unwrap();
    let token = id(&peer.written()[1]);
    peer.wait(1_999);
    peer.says(&format!(
        "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':1}}}}"
    ));
    assert!(peer.connection.take(&silent).is_none());
    peer.wait(1);
    let timed_out = |seconds| Some(CallError::TimedOut { after: Duration::from_secs(seconds) });
    assert_eq!(peer.connection.take(&silent).and_then(Result::err), timed_out(2));
    peer.wait(999);
    assert!(peer.connection.take(&busy).is_none());
    peer.wait(1);
    assert_eq!(peer.connection.take(&busy).and_then(Result::err), timed_out(3));
}
