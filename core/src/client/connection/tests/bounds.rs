use super::*;

/// B85
#[test]
fn the_end_of_the_server_ends_every_call_with_the_reason() {
    let mut peer = Peer::modern();
    let calls: Vec<_> = (0..3).map(|_| peer.start(&CallTool::new("a"))).collect();
    peer.connection.handle_failed(peer.now, "the server exited with status 3; stderr ends with `panic: x`");
    for call in &calls {
        let Some(Err(CallError::Broken { reason, unsent: false })) = peer.connection.take(call) else {
            panic!()
        };
        assert!(reason.contains("panic: x"));
    }
    let error =
        peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new()).map(drop).unwrap_err();
    assert!(error.to_string().contains("panic: x"));
    assert_eq!(peer.connection.calls(), 0);
    assert_eq!(peer.connection.poll_timeout(), None);
}

#[test]
fn a_last_line_without_its_end_still_counts() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let id = id(&peer.one());
    let line = json(&format!("{{'jsonrpc':'2.0','id':{id},'result':{{'content':[]}}}}"));
    peer.connection.handle_bytes(peer.now, line.as_bytes());
    peer.connection.handle_end(peer.now, End::Complete);
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// B85: a server that dies within a line has not answered; what its call is told is that it died.
#[test]
fn a_last_line_that_was_cut_off_is_no_answer() {
    let mut cut = 1;
    loop {
        let mut peer = Peer::modern();
        let call = peer.start(&CallTool::new("a"));
        let id = id(&peer.one());
        let line = json(&format!("{{'jsonrpc':'2.0','id':{id},'result':{{'content':[]}}}}"));
        if cut == line.len() {
            break;
        }
        peer.connection.handle_bytes(peer.now, &line.as_bytes()[..cut]);
        peer.connection.handle_end(peer.now, End::Broken);
        let outcome = peer.connection.take(&call).unwrap();
        assert!(matches!(outcome, Err(CallError::Broken { .. })), "{cut}: {outcome:?}");
        cut += 1;
    }
}

#[test]
fn closing_settles_everything_and_is_the_last_event() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    peer.connection.close(peer.now);
    peer.connection.close(peer.now);
    let outputs = peer.drain();
    assert!(
        matches!(outputs[..], [Output::Event(Event::Settled(_)), Output::Event(Event::Closed(_))]),
        "{outputs:?}"
    );
    assert!(peer.connection.take(&call).unwrap().is_err());
    peer.says("{'jsonrpc':'2.0','method':'x/y'}");
    assert!(peer.drain().is_empty());
}

/// Not even what was read together with the fatal line, or the count of what was dropped, comes behind the end.
#[test]
fn nothing_is_told_after_the_end() {
    let limits = Limits { notifications: 2, ..Limits::default() };
    let mut peer = Peer::new(config().era(EraChoice::Legacy).limits(limits));
    let id = id(&peer.one());
    let fatal = format!("{{'jsonrpc':'2.0','id':{id},'error':{{'code':1,'message':'no'}}}}");
    let noise = "{'jsonrpc':'2.0','method':'x/y'}";
    peer.says(&[noise, noise, noise, &fatal, noise, "noise"].join("\n"));
    let outputs = peer.drain();
    assert!(matches!(outputs.last(), Some(Output::Event(Event::Closed(_)))), "{outputs:?}");
    assert_eq!((outputs.len(), diagnostics(&outputs)), (4, 1));
}

#[test]
fn calls_in_flight_are_bounded() {
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let first = peer.start(&CallTool::new("a"));
    peer.start(&CallTool::new("a"));
    let error =
        peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new()).map(drop).unwrap_err();
    assert_eq!(error, CallError::Full(Full::new("in_flight", 2)));
    let line = peer.written().remove(0);
    peer.result(&line, "{'content':[]}");
    peer.connection.take(&first).unwrap().unwrap();
    peer.start(&CallTool::new("a"));
}

#[test]
fn bytes_that_the_server_does_not_read_are_bounded() {
    let limits = Limits { transmit: 100, ..Limits::default() };
    let mut peer = Peer::legacy_with(config().limits(limits));
    while peer.connection.wants_read() {
        peer.says("{'jsonrpc':'2.0','id':1,'method':'ping'}");
    }
    let error = peer.connection.start(peer.now, &Ping, CallOptions::new()).map(drop).unwrap_err();
    assert_eq!(error, CallError::Full(Full::new("transmit", 100)));
    // One byte below the bound there is room again.
    peer.connection.advance(peer.connection.transmit().len() - 100);
    assert!(!peer.connection.wants_read());
    peer.connection.advance(1);
    assert!(peer.connection.wants_read());
    peer.start(&Ping);
}

/// `Limits::depth` is reached exactly, and passed by one.
#[test]
fn nesting_is_bounded() {
    let limits = Limits { depth: 8, ..Limits::default() };
    for (levels, read) in [(8, true), (9, false)] {
        let mut peer = Peer::modern_with(config().limits(limits.clone()));
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        // Two levels are the message and its result.
        let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
        peer.result(&line, &format!("{{'content':[],'structuredContent':{open}{close}}}"));
        assert_eq!(peer.connection.take(&call).is_some_and(|taken| taken.is_ok()), read, "{levels}");
    }
}

/// B07
#[test]
fn a_line_that_is_too_long_is_reported_and_the_next_one_read() {
    let limits = Limits { message: 1_000, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.says(&"x".repeat(2_000));
    peer.result(&line, "{'content':[]}");
    assert_eq!(diagnostics(&peer.drain()), 1);
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// A response that is too long ends its call and no other; one whose id was not reached is nobody's.
#[test]
fn a_response_that_is_too_long_ends_its_call() {
    let limits = Limits { message: 1_000, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let (call, other) = (peer.start(&CallTool::new("a")), peer.start(&CallTool::new("b")));
    let lines = peer.written();
    let long = "x".repeat(2_000);
    peer.says(&format!("{{'jsonrpc':'2.0','result':{{'a':'{long}'}},'id':{}}}", id(&lines[1])));
    peer.says(&format!("{{'jsonrpc':'2.0','id':{},'result':{{'a':'{long}'}}}}", id(&lines[0])));
    assert_eq!(peer.connection.take(&call).unwrap().unwrap_err(), CallError::TooLarge { limit: 1_000 });
    peer.result(&lines[1], "{'content':[]}");
    assert!(peer.connection.take(&other).unwrap().is_ok());
}

/// What waits when nobody has polled since those came, in short: what has changed, what was logged, what was counted.
fn left(limits: Limits, news: &[&str]) -> Vec<String> {
    let mut peer = Peer::modern_with(config().limits(limits));
    let call = peer.start(&CallTool::new("a"));
    let asked = peer.one();
    peer.result(&asked, "{'content':[]}");
    for it in news {
        match it.split_once(' ') {
            Some(("log", data)) => {
                peer.says(&format!("{{'jsonrpc':'2.0','method':'notifications/message','params':{{'level':'info','data':'{data}'}}}}"));
            }
            Some((method, uri)) => {
                peer.says(&format!(
                    "{{'jsonrpc':'2.0','method':'notifications/{method}','params':{{'uri':'{uri}'}}}}"
                ));
            }
            None => peer.says(&format!("{{'jsonrpc':'2.0','method':'notifications/{it}'}}")),
        }
    }
    let mut outputs = peer.drain();
    assert_eq!(outputs.remove(0), Output::Event(Event::Settled(call.id())), "has a bound of its own");
    let shorten = |output| match output {
        Output::Event(Event::Log(_, params)) => format!("log {}", params.data.decode::<String>().unwrap()),
        Output::Event(Event::Notification { method, params }) => {
            let uri = params.map(|params| params.get().split('\"').nth(3).unwrap().to_string());
            [method.strip_prefix("notifications/").unwrap(), &uri.unwrap_or_default()]
                .join(" ")
                .trim()
                .to_string()
        }
        Output::Event(Event::Diagnostic(it)) => {
            it.detail.split(": ").nth(1).unwrap_or(&it.detail).to_string()
        }
        other => panic!("{other:?}"),
    };
    outputs.into_iter().map(shorten).collect()
}

fn counted(repeats: usize, lost: usize, limits: &Limits) -> String {
    let Limits { notifications, notification_bytes, .. } = limits;
    format!(
        "{repeats} notifications that repeat others were left out, {lost} lost (`Limits::notifications` is \
         {notifications}, `Limits::notification_bytes` {notification_bytes})"
    )
}

/// Limits::notifications: reached exactly, and passed by one. What repeats others gives way first, then the oldest that
/// tells of no change, then the oldest; how many is told behind the rest.
#[test]
fn notifications_that_nobody_polls_are_bounded_and_counted() {
    const TOOLS: &str = "tools/list_changed";
    const PROMPTS: &str = "prompts/list_changed";
    const RESOURCES: &str = "resources/list_changed";
    const UPDATED: &str = "resources/updated x:1";
    let limits = Limits { notifications: 3, ..Limits::default() };
    for at_the_bound in [["log a", TOOLS, "log a"], [TOOLS, TOOLS, TOOLS], [UPDATED, "log a", UPDATED]] {
        assert_eq!(left(limits.clone(), &at_the_bound), at_the_bound, "each is told");
    }
    let past: [(&[&str], [&str; 3], usize, usize); 8] = [
        (&["log a", TOOLS, "log b", "log a"], [TOOLS, "log b", "log a"], 0, 1),
        (&[TOOLS, "log a", "log b", TOOLS], ["log a", "log b", TOOLS], 1, 0),
        (
            &[UPDATED, "log a", "resources/updated x:2", UPDATED],
            ["log a", "resources/updated x:2", UPDATED],
            1,
            0,
        ),
        (
            &[UPDATED, "log a", "log b", "resources/updated x:2"],
            [UPDATED, "log b", "resources/updated x:2"],
            0,
            1,
        ),
        (&[TOOLS, PROMPTS, "log a", RESOURCES], [TOOLS, PROMPTS, RESOURCES], 0, 1),
        (&[TOOLS, PROMPTS, RESOURCES, "log a"], [TOOLS, PROMPTS, RESOURCES], 0, 1),
        (&[TOOLS, PROMPTS, RESOURCES, UPDATED], [PROMPTS, RESOURCES, UPDATED], 0, 1),
        (&["a", "b x:1", "b x:2", "b x:1"], ["a", "b x:2", "b x:1"], 1, 0),
    ];
    for (told, kept, repeats, lost) in past {
        let all = [&kept.map(String::from)[..], &[counted(repeats, lost, &limits)]].concat();
        assert_eq!(left(limits.clone(), told), all, "{told:?}");
    }
    let many: Vec<_> = (0..1_000).map(|n| format!("log {n}")).collect();
    let many: Vec<_> = [TOOLS].into_iter().chain(many.iter().map(String::as_str)).collect();
    let all = [TOOLS.into(), "log 998".into(), "log 999".into(), counted(0, 998, &limits)];
    assert_eq!(left(limits, &many), all, "a flood of what is logged hides no change");
}

/// Limits::notification_bytes: reached exactly, and passed by one byte. One that is larger than all has no place, and takes
/// none from others.
#[test]
fn notifications_that_nobody_polls_are_bounded_in_bytes() {
    let each = 256 + "'1234'".len();
    let within = |bytes: usize| Limits { notification_bytes: bytes, ..Limits::default() };
    let three = ["log 1111", "log 2222", "log 3333"];
    assert_eq!(left(within(3 * each), &three), three);
    let limits = within(3 * each - 1);
    assert_eq!(left(limits.clone(), &three), ["log 2222", "log 3333", &counted(0, 1, &limits)]);
    let limits = within(each);
    assert_eq!(left(limits.clone(), &["log 1111", "log 55555"]), ["log 1111", &counted(0, 1, &limits)]);
    let long = "x".repeat(40);
    let method = "resources/updated";
    let updated = |uri: &str| format!("{method} {uri}{long}");
    let each =
        256 + "notifications/".len() + method.len() + "{'uri':'x:1'}".len() + "x:1".len() + 2 * long.len();
    let (one, two) = (updated("x:1"), updated("x:2"));
    assert_eq!(left(within(2 * each), &[&one, &two]), [&*one, &two]);
    let limits = within(2 * each - 1);
    assert_eq!(left(limits.clone(), &[&one, &two]), [&*two, &counted(0, 1, &limits)]);
    assert_eq!(
        left(limits.clone(), &[&one, "tools/list_changed", &one]),
        ["tools/list_changed", &*one, &counted(1, 0, &limits)]
    );
}

/// Limits::notifications: of progress the furthest is left, and what is said again and again is said once; how many were
/// left out is told before the end, and nothing is told behind it.
#[test]
fn what_was_left_out_is_told_before_the_end() {
    let limits = Limits { notifications: 2, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let options = CallOptions::new().progress();
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let token = id(&peer.one());
    for step in 1..=3 {
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':{step}}}}}"
        ));
        peer.says("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':1}}");
    }
    peer.connection.handle_failed(peer.now, "exit status: 3");
    peer.says("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    let [progress, diagnostic, settled, count, closed] = &peer.drain()[..] else { panic!() };
    let Output::Event(Event::Progress(id, progress)) = progress else { panic!("{progress:?}") };
    assert_eq!((*id, progress.progress), (call.id(), 3.0));
    let Output::Event(Event::Diagnostic(diagnostic)) = diagnostic else { panic!("{diagnostic:?}") };
    assert!(diagnostic.detail.contains("notifications/message"));
    assert_eq!(*settled, Output::Event(Event::Settled(call.id())));
    let Output::Event(Event::Diagnostic(count)) = count else { panic!("{count:?}") };
    assert!(count.detail.contains("4 notifications that repeat others were left out, 0 lost"), "{count}");
    assert!(matches!(closed, Output::Event(Event::Closed(_))));
}
