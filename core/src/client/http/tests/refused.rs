use super::*;

pub(super) fn challenged(status: u16) -> ResponseHead {
    let mut head = ResponseHead::new(status);
    head.headers.push("WWW-Authenticate", "Bearer");
    head
}

impl Peer {
    /// Refuses a request, and takes the refusal.
    pub(super) fn refuse(&mut self, to: &Sent, status: u16) {
        self.whole(to, challenged(status), "no");
        self.drain();
        assert_eq!(core::mem::take(&mut self.refused), [(to.exchange, status)]);
        self.none();
    }

    pub(super) fn repeat(&mut self, held: &Sent) -> Sent {
        self.http.repeat(self.now, held.exchange);
        let again = self.one();
        assert_ne!(again.exchange, held.exchange);
        again
    }

    pub(super) fn give_up(&mut self, held: &Sent) {
        self.http.give_up(self.now, held.exchange, "no grant", "a\nb\n");
    }
}

fn given_up(status: u16) -> CallError {
    CallError::Unauthorized { status: from(status), reason: "no grant".into(), record: "a\nb\n".into() }
}

fn authorizing() -> Config {
    config().authorize(true)
}

/// AUTH-05: a refused call is held, and goes on as the same request in another exchange.
#[test]
fn a_refused_call_is_repeated() {
    for status in [401, 403] {
        let mut peer = Peer::modern_with(authorizing());
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.refuse(&sent, status);
        assert!(
            peer.http.is_held(sent.exchange) && peer.http.request_of(sent.exchange) == Some(&sent.request)
        );
        assert_eq!(peer.settled(), 0);
        let again = peer.repeat(&sent);
        assert_eq!(again.request, sent.request);
        peer.result(&again, "{'content':[]}");
        peer.take(&call).unwrap();
        peer.http.repeat(peer.now, sent.exchange);
        peer.give_up(&sent);
        peer.none();
        peer.is_empty();
    }
}

/// AUTH-05: a refusal whose body does not end is cut off, and what was refused goes on all the same.
#[test]
fn a_refusal_without_an_end_is_cut_off() {
    let mut peer = Peer::modern_with(authorizing());
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.head(&sent, challenged(401));
    peer.wait(2_000);
    assert_eq!(peer.aborted(), [sent.exchange]);
    assert!(peer.http.is_held(sent.exchange));
    peer.refused.clear();
    let again = peer.repeat(&sent);
    peer.result(&again, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.is_empty();
}

/// AUTH-05: what is given up ends as it does without anybody who authorizes, and says why.
#[test]
fn a_refused_call_is_given_up() {
    let mut peer = Peer::modern_with(authorizing());
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.refuse(&sent, 401);
    peer.give_up(&sent);
    assert_eq!(peer.take(&call).unwrap_err(), given_up(401));
    assert!(given_up(401).to_string().ends_with("(HTTP status 401 from https://h.example/mcp): no grant"));
    peer.is_empty();
}

/// AUTH-05: without anybody who authorizes, the refusal is the outcome.
#[test]
fn without_anybody_who_authorizes_the_refusal_is_the_outcome() {
    for status in [401, 403] {
        let mut peer = Peer::modern_with(config());
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.whole(&sent, challenged(status), "");
        assert_eq!(peer.take(&call).unwrap_err(), unauthorized(status));
        assert!(peer.refused.is_empty());
    }
}

/// A 403 without a challenge is no want of authorization, whoever could get one: what the server says is told.
#[test]
fn a_refusal_without_a_challenge_is_the_servers_own() {
    let ours = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"not this host\"}}";
    let long = "go away ".repeat(1_000);
    for (body, words) in
        [(ours, "not this host (-32600)"), ("not this host", "not this host"), (&*long, "go away go")]
    {
        for config in [config(), authorizing()] {
            let told = |error: CallError| {
                let status = matches!(
                    &error,
                    CallError::Server { status: Some(status), .. } | CallError::Refused { status, .. }
                        if status.code == 403
                );
                let text = error.to_string();
                assert!(status && text.contains(words) && text.contains("https://h.example/"), "{text}");
                assert!(text.len() < 400 && !text.contains("authorization"), "{text}");
            };
            let mut peer = Peer::modern_with(config.clone());
            let (call, sent) = peer.start(&CallTool::new("a"));
            peer.answer(&sent, 403, body);
            told(peer.take(&call).unwrap_err());
            assert!(!peer.http.is_closed());
            // Nor is it one where a client begins, in either era, and says nothing about that.
            for era in [EraChoice::Auto, EraChoice::Legacy] {
                let mut peer = Peer::new(config.clone().era(era));
                let opening = peer.one();
                peer.answer(&opening, 403, body);
                peer.none();
                told(peer.closed().unwrap());
                peer.is_empty();
            }
            let endpoint = Endpoint::parse("https://h.example/mcp").unwrap();
            let http = Http::http_sse(at(0), Arc::new(config.clone()), endpoint, Seed::new([9; 32]));
            let mut peer = Peer { http, ..Peer::new(config) };
            let stream = peer.one();
            peer.answer(&stream, 403, body);
            told(peer.closed().unwrap());
            peer.is_empty();
        }
    }
}

/// Whoever has tried nothing is told what would help; whoever has is told that it did not.
#[test]
fn a_refusal_says_what_would_help() {
    let given = config().header("Authorization", "Bearer s3cret");
    for (config, status, words) in [
        (config(), 401, "`ClientBuilder::header`"),
        (config(), 403, "`ClientBuilder::authorize`"),
        (given.clone(), 401, "does not take the `Authorization` header"),
        (given, 403, "header that it was given does not allow this"),
    ] {
        for opening in [false, true] {
            let mut peer =
                if opening { Peer::new(config.clone()) } else { Peer::modern_with(config.clone()) };
            let call = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
            let sent = peer.one();
            peer.whole(&sent, challenged(status), "s3cret");
            let text = peer.take(&call).unwrap_err().to_string();
            assert!(text.contains(words) && text.contains("from https://h.example/mcp"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
}

/// AUTH-05: each exchange that somebody waits for is held, in both eras.
#[test]
fn every_step_of_the_opening_is_held() {
    let mut peer = Peer::new(authorizing());
    let probe = peer.one();
    peer.refuse(&probe, 401);
    let probe = peer.repeat(&probe);
    peer.answer(&probe, 404, "");
    let initialize = peer.one();
    peer.refuse(&initialize, 401);
    let initialize = peer.repeat(&initialize);
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", "application/json");
    head.headers.push("Mcp-Session-Id", "s-1");
    let body = response(&initialize, INITIALIZED);
    peer.whole(&initialize, head, &body);
    let initialized = peer.one();
    peer.refuse(&initialized, 401);
    let initialized = peer.repeat(&initialized);
    assert_eq!(initialized.method(), "notifications/initialized");
    peer.whole(&initialized, ResponseHead::new(202), "");
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.result(&sent, "{'content':[]}");
    peer.take(&call).unwrap();
}

/// AUTH-05: nobody waits for a session to be deleted, or for a message to have arrived.
#[test]
fn what_nobody_waits_for_is_not_held() {
    let mut peer = Peer::legacy_with(authorizing());
    let (call, _) = peer.start(&CallTool::new("a"));
    peer.http.cancel(peer.now, call.id());
    let notice = peer.one();
    assert_eq!(notice.method(), "notifications/cancelled");
    assert!(!peer.http.hold(peer.now, notice.exchange));
    peer.whole(&notice, challenged(401), "");
    peer.http.close(peer.now);
    let delete = peer.one();
    peer.whole(&delete, challenged(401), "");
    assert!(peer.refused.is_empty() && peer.http.is_closed());
}

/// AUTH-05: the stream of a legacy server is held, too, and there is one of it.
#[test]
fn the_stream_for_messages_is_held() {
    for give_up in [false, true] {
        let mut peer = Peer::new(authorizing().era(EraChoice::Legacy).listen(true));
        let initialize = peer.one();
        peer.initialized(&initialize, Some("s-1"));
        let listen = peer.one();
        peer.refuse(&listen, 401);
        peer.wait(5_000);
        peer.none();
        if give_up {
            peer.give_up(&listen);
            peer.wait(60_000);
            peer.none();
        } else {
            let again = peer.repeat(&listen);
            assert_eq!(again.request, listen.request);
        }
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.result(&sent, "{'content':[]}");
        peer.take(&call).unwrap();
    }
}

/// AUTH-05: so is the stream of HTTP with SSE, which everything else waits for.
#[test]
fn the_stream_of_the_old_transport_is_held() {
    for give_up in [false, true] {
        let endpoint = Endpoint::parse("https://h.example/mcp").unwrap();
        let http = Http::http_sse(at(0), Arc::new(authorizing()), endpoint, Seed::new([9; 32]));
        let mut peer = Peer { http, ..Peer::new(authorizing()) };
        let stream = peer.one();
        peer.refuse(&stream, 401);
        peer.wait(400_000);
        if give_up {
            peer.give_up(&stream);
            assert_eq!(peer.closed(), Some(given_up(401)));
            peer.is_empty();
        } else {
            let stream = peer.repeat(&stream);
            peer.stream(&stream);
            peer.body(&stream, "event: endpoint\ndata: /messages\n\n");
            assert_eq!(peer.one().method(), "initialize");
        }
    }
}

/// AUTH-05: a response that is taken up again is held like its call.
#[test]
fn a_resumption_is_held() {
    let mut peer = Peer::legacy_with(authorizing());
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.body(&sent, "id: 1\ndata:\n\n");
    peer.end(&sent);
    peer.wait(1_000);
    let resume = peer.one();
    peer.refuse(&resume, 401);
    // Longer than a resumption, and than a call, may take.
    peer.wait(400_000);
    let again = peer.repeat(&resume);
    assert_eq!(again.header("last-event-id"), Some("1"));
    peer.stream(&again);
    peer.end(&again);
    peer.wait(2_000);
    let third = peer.one();
    peer.stream(&third);
    let body = response(&sent, "{'content':[]}");
    peer.event(&third, &body);
    peer.take(&call).unwrap();
}

/// AUTH-05: while an exchange is held, its time stands still.
#[test]
fn time_stands_still_for_what_is_held() {
    let mut peer = Peer::modern_with(authorizing());
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.wait(40_000);
    peer.refuse(&sent, 401);
    peer.wait(599_999);
    let again = peer.repeat(&sent);
    peer.wait(19_999);
    assert_eq!(peer.settled(), 0);
    peer.wait(1);
    let after = Duration::from_secs(60);
    assert_eq!(peer.take(&call).unwrap_err(), CallError::TimedOut { after });
    assert_eq!(peer.aborted(), [again.exchange]);
    peer.wait(1_000);
    peer.is_empty();
}

/// AUTH-05: so it does for the negotiation, and for the calls that wait for its end.
#[test]
fn time_stands_still_for_a_negotiation_that_is_held() {
    let mut peer = Peer::new(authorizing());
    let early = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    let probe = peer.one();
    peer.wait(1_000);
    peer.refuse(&probe, 401);
    peer.wait(300_000);
    let late = peer.http.start(peer.now, &CallTool::new("b"), CallOptions::new()).unwrap();
    peer.wait(290_000);
    peer.none();
    let probe = peer.repeat(&probe);
    peer.wait(3_999);
    peer.none();
    peer.wait(1);
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize", "the probe had five seconds in all");
    peer.wait(54_999);
    assert_eq!(peer.settled(), 0);
    peer.wait(1);
    assert_eq!(peer.take(&early).unwrap_err(), CallError::TimedOut { after: Duration::from_secs(60) });
    assert_eq!(peer.settled(), 1);
    peer.wait(999);
    assert_eq!(peer.settled(), 0, "its time began later: it had waited for nothing else");
    let _ = (probe, late);
}

/// Limits::authorization: what nobody decides about is given up.
#[test]
fn what_is_held_for_too_long_is_given_up() {
    let limits = Limits { authorization: Duration::from_secs(7), ..Limits::default() };
    let mut peer = Peer::modern_with(authorizing().limits(limits));
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.refuse(&sent, 401);
    peer.wait(1_000);
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Authorization));
    peer.wait(5_999);
    assert_eq!(peer.settled(), 0);
    peer.wait(1);
    let error = peer.take(&call).unwrap_err();
    assert!(matches!(&error, CallError::Unauthorized { status, .. } if *status == from(401)));
    assert!(error.to_string().contains("within 7s; `Limits::authorization`"), "{error}");
    peer.is_empty();
}

/// AUTH-05: calls can be cancelled, and the client closed, while they are held; then nothing goes on.
#[test]
fn what_is_held_can_be_cancelled_and_closed() {
    let mut peer = Peer::legacy_with(authorizing());
    let (first, sent) = peer.start(&CallTool::new("a"));
    let (second, other) = peer.start(&CallTool::new("b"));
    peer.refuse(&sent, 401);
    peer.refuse(&other, 403);
    peer.http.cancel(peer.now, first.id());
    assert_eq!(peer.take(&first).unwrap_err(), CallError::Cancelled);
    peer.http.repeat(peer.now, sent.exchange);
    peer.none();
    assert_eq!(peer.http.held(), 1);
    peer.http.close(peer.now);
    peer.http.repeat(peer.now, other.exchange);
    peer.give_up(&other);
    assert!(matches!(peer.take(&second).unwrap_err(), CallError::Broken { .. }));
    let delete = peer.one();
    peer.whole(&delete, ResponseHead::new(200), "");
    peer.is_empty();
}

/// AUTH-05, HTTPL-50: a call that is held while its session is lost goes on in the next one: it was not carried out.
#[test]
fn a_call_outlives_its_session_while_it_is_held() {
    for before in [true, false] {
        let mut peer = Peer::legacy_with(authorizing());
        let (held, sent) = peer.start(&CallTool::new("a"));
        let (lost, other) = peer.start(&CallTool::new("b"));
        peer.refuse(&sent, 401);
        peer.answer(&other, 404, "");
        peer.take(&lost).unwrap_err();
        let initialize = peer.one();
        if before {
            peer.http.repeat(peer.now, sent.exchange);
            peer.none();
        }
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Mcp-Session-Id", "s-2");
        let body = response(&initialize, INITIALIZED);
        peer.whole(&initialize, head, &body);
        let initialized = peer.one();
        peer.whole(&initialized, ResponseHead::new(202), "");
        if !before {
            peer.none();
            peer.http.repeat(peer.now, sent.exchange);
        }
        let again = peer.one();
        assert_eq!((again.header("mcp-session-id"), again.body()), (Some("s-2"), sent.body()));
        peer.result(&again, "{'content':[]}");
        peer.take(&held).unwrap();
    }
}

/// AUTHX-08: what is not sent yet can be held, until there is a token for it.
#[test]
fn what_was_not_sent_can_be_held() {
    let mut peer = Peer::modern_with(authorizing());
    let (call, sent) = peer.start(&CallTool::new("a"));
    assert!(peer.http.hold(peer.now, sent.exchange));
    assert!(!peer.http.hold(peer.now, sent.exchange), "once");
    peer.head(&sent, ResponseHead::new(200));
    peer.wait(100_000);
    let again = peer.repeat(&sent);
    peer.result(&again, "{'content':[]}");
    peer.take(&call).unwrap();
    assert!(peer.aborted().is_empty());
    peer.is_empty();
}

/// AUTH-05: an opening that is given up ends the client, with the reason.
#[test]
fn an_opening_that_is_given_up_ends_the_client() {
    let mut peer = Peer::new(authorizing());
    let probe = peer.one();
    peer.refuse(&probe, 401);
    peer.give_up(&probe);
    assert_eq!(peer.closed(), Some(given_up(401)));
    peer.is_empty();
}

/// One transcript, whenever outputs are polled and however often time passes.
#[test]
fn the_order_of_polling_does_not_matter() {
    let visit = |drain: bool, spurious: bool| {
        let mut http = Http::new(
            at(0),
            Arc::new(authorizing()),
            Endpoint::parse("http://h/").unwrap(),
            Seed::new([9; 32]),
        );
        let call = http.start(at(0), &CallTool::new("a"), CallOptions::new()).unwrap();
        let mut outputs = Vec::new();
        for step in 0..6 {
            let now = at(step);
            match step {
                0 => http.handle_head(now, ExchangeId(1), challenged(401)),
                1 => http.repeat(now, ExchangeId(1)),
                2 => http.handle_head(now, ExchangeId(2), challenged(403)),
                3 => http.handle_end(now, ExchangeId(2), End::Broken),
                4 => http.give_up(now, ExchangeId(2), "r", ""),
                _ => http.handle_end(now, ExchangeId(1), End::Complete),
            }
            if spurious {
                http.handle_timeout(now);
                http.handle_timeout(at(0));
            }
            while drain && let Some(output) = http.poll_output() {
                outputs.push(output);
            }
        }
        outputs.extend(core::iter::from_fn(|| http.poll_output()));
        (outputs, http.take(&call).unwrap().unwrap_err())
    };
    let expected = visit(false, false);
    assert_eq!(visit(true, false), expected);
    assert_eq!(visit(true, true), expected);
    assert_eq!(visit(false, true), expected);
}

/// SUB-11: a stream that another replaces while it is held is not asked for again, and neither is one that is taken back;
/// nothing is kept of them.
#[test]
fn a_held_subscription_that_nobody_wants_is_let_go() {
    let wanted = || crate::model::subscriptions::SubscriptionFilter::new().tools_list_changed(true);
    for before_it_was_sent in [false, true] {
        let mut peer = Peer::modern_with(authorizing());
        let id = peer.http.listen(peer.now, wanted()).unwrap();
        let listen = peer.one();
        if before_it_was_sent {
            assert!(peer.http.hold(peer.now, listen.exchange));
        } else {
            peer.refuse(&listen, 401);
        }
        peer.http.relisten(peer.now, id, wanted().prompts_list_changed(true)).unwrap();
        let second = peer.one();
        assert_eq!(peer.http.held(), 0);
        peer.http.repeat(peer.now, listen.exchange);
        peer.none();
        peer.http.unlisten(peer.now, id);
        assert!(peer.aborted().contains(&second.exchange));
        peer.wait(2_000);
        peer.is_empty();
    }
}

/// AUTH-05: a subscription that is refused for want of authorization waits, too: the time for its acknowledgement
/// stands still, and whoever ends it meanwhile ends it.
#[test]
fn a_subscription_is_held() {
    for ends in [true, false] {
        let mut peer = Peer::modern_with(authorizing());
        let wanted = crate::model::subscriptions::SubscriptionFilter::new().tools_list_changed(true);
        let id = peer.http.listen(peer.now, wanted).unwrap();
        let listen = peer.one();
        peer.refuse(&listen, 401);
        peer.wait(200_000);
        assert_eq!(peer.http.subscription(id).unwrap().ended(), None);
        if ends {
            peer.http.unlisten(peer.now, id);
            assert_eq!((peer.http.subscriptions(), peer.http.held()), (0, 0));
            peer.is_empty();
            continue;
        }
        let again = peer.repeat(&listen);
        assert_eq!(again.method(), "subscriptions/listen");
        peer.wait(60_000);
        assert!(matches!(peer.http.subscription(id).unwrap().ended(), Some(Err(CallError::TimedOut { .. }))));
        assert_eq!(peer.aborted(), [again.exchange]);
    }
}

/// AUTH-66: what opens a session is put aside for as long as it takes, and the calls that wait for it end at once; when
/// it is sent again it has the time that it had, and serves those that begin then.
#[test]
fn an_opening_that_is_put_aside_ends_calls_and_no_client() {
    let mut peer = Peer::legacy_with(authorizing());
    let list = peer.start(&ListTools::new());
    peer.answer(&list.1, 404, "");
    let initialize = peer.one();
    let early = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.refuse(&initialize, 401);
    assert!(!peer.http.park(peer.now, list.1.exchange, "gone"), "it is not held");
    for _ in 0..2 {
        assert!(peer.http.park(peer.now, initialize.exchange, "gone"));
    }
    let error =
        || CallError::Unauthorized { status: from(401), reason: "gone".into(), record: String::new() };
    assert_eq!(peer.take(&list.0).unwrap_err(), error());
    assert_eq!(peer.take(&early).unwrap_err(), error());
    for ms in [600_000, 1, 5_000_000] {
        peer.wait(ms);
        peer.none();
        assert!(peer.http.is_held(initialize.exchange) && peer.closed().is_none());
    }
    peer.http.unpark(peer.now);
    let again = peer.one();
    assert_eq!(again.request, initialize.request);
    let call = peer.http.start(peer.now, &CallTool::new("b"), CallOptions::new()).unwrap();
    peer.wait(59_999);
    assert_eq!(peer.settled(), 0);
    peer.initialized(&again, Some("s-2"));
    let sent = peer.one();
    peer.result(&sent, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.http.unpark(peer.now);
    peer.none();
}

/// AUTH-66: however little time authorization has, none included.
#[test]
fn what_is_put_aside_waits_however_little_time_there_is() {
    let limits = Limits { authorization: Duration::ZERO, ..Limits::default() };
    let mut peer = Peer::legacy_with(authorizing().limits(limits));
    let list = peer.start(&ListTools::new());
    peer.answer(&list.1, 404, "");
    let initialize = peer.one();
    peer.refuse(&initialize, 401);
    assert!(peer.http.park(peer.now, initialize.exchange, "gone"));
    for ms in [0, 1, 60_000, 5_000_000] {
        peer.wait(ms);
        assert!(peer.http.is_held(initialize.exchange) && peer.closed().is_none());
        assert!(
            peer.http.poll_timeout().is_none_or(|at| at > peer.now.mono),
            "nobody is woken time and again"
        );
    }
    peer.http.unpark(peer.now);
    assert_eq!(peer.one().request, initialize.request);
}

/// AUTH-66: so is the stream of a session, whose calls go on; what a call waits for itself is not.
#[test]
fn a_stream_that_is_put_aside_holds_up_nobody() {
    let mut peer = Peer::new(authorizing().era(EraChoice::Legacy).listen(true));
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let listen = peer.one();
    peer.refuse(&listen, 401);
    assert!(peer.http.park(peer.now, listen.exchange, "gone"));
    peer.wait(1_300_000);
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.refuse(&sent, 401);
    assert!(!peer.http.park(peer.now, sent.exchange, "gone"));
    let again = peer.repeat(&sent);
    peer.result(&again, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.http.unpark(peer.now);
    assert_eq!(peer.one().request, listen.request);
}
