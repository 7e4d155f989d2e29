//! Listening over HTTP.

use super::super::super::{Change, Notice, Subscription, SubscriptionId};
use super::*;
use crate::model::subscriptions::SubscriptionFilter;
use std::vec::Vec;

const LEGACY: &str = "{'protocolVersion':'2025-11-25','serverInfo':{'name':'s','version':'1'},'capabilities':\
    {'tools':{'listChanged':true},'resources':{'subscribe':true}}}";

fn tools() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed(true)
}

fn resource(uri: &str) -> SubscriptionFilter {
    SubscriptionFilter::new().resource_subscriptions([uri.into()])
}

impl Peer {
    fn listen(&mut self, filter: SubscriptionFilter) -> (SubscriptionId, Sent) {
        (self.http.listen(self.now, filter).unwrap(), self.one())
    }

    fn acknowledge(&mut self, to: &Sent) {
        self.stream(to);
        self.event(
            to,
            &format!(
                "{{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{{'notifications':{{'toolsListChanged':true}},\
                 '_meta':{{'io.modelcontextprotocol/subscriptionId':{}}}}}}}",
                to.id()
            ),
        );
    }

    fn tell(&mut self, to: &Sent) {
        self.event(to, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    }

    fn listening(&mut self) -> (SubscriptionId, Sent) {
        let (id, sent) = self.listen(tools());
        self.acknowledge(&sent);
        assert!(self.subscription(id).is_active() && self.notices(id).is_empty());
        (id, sent)
    }

    fn subscription(&self, id: SubscriptionId) -> &Subscription {
        self.http.subscription(id).unwrap()
    }

    fn notices(&mut self, id: SubscriptionId) -> Vec<Notice> {
        std::iter::from_fn(|| self.http.take_notice(id)).collect()
    }

    /// Waits for the next attempt, and how long that was.
    fn next(&mut self) -> (u64, Sent) {
        let at = self.http.poll_timeout().unwrap();
        let wait = u64::try_from(at.saturating_since(self.now.mono).as_millis()).unwrap() + 1;
        self.wait(wait);
        (wait, self.one())
    }
}

/// A legacy server with a session, and the stream that it is given because somebody listens.
fn legacy(filter: SubscriptionFilter) -> (Peer, SubscriptionId, Sent) {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    let id = peer.http.listen(peer.now, filter).unwrap();
    greet(&mut peer, &initialize, "s-1");
    let get = peer.one();
    assert_eq!(get.request.head.method, "GET");
    peer.stream(&get);
    (peer, id, get)
}

fn greet(peer: &mut Peer, initialize: &Sent, session: &str) {
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", "application/json");
    head.headers.push("Mcp-Session-Id", session);
    let body = response(initialize, LEGACY);
    peer.whole(initialize, head, &body);
    let notification = peer.one();
    peer.whole(&notification, ResponseHead::new(202), "");
}

/// SUB-01, SUB-22, HDR-01: a subscription is a POST whose response is the stream; whose it is follows from the stream.
#[test]
fn a_subscription_is_a_post_with_a_stream() {
    let mut peer = Peer::modern();
    let (id, sent) = peer.listening();
    assert_eq!(
        (sent.method(), sent.header("mcp-method")),
        ("subscriptions/listen".into(), Some("subscriptions/listen"))
    );
    assert_eq!(sent.header("mcp-protocol-version"), Some("2026-07-28"));
    let (other, second) = peer.listening();
    peer.tell(&second);
    assert_eq!((peer.notices(id).len(), peer.notices(other)), (0, [Notice::Changed(Change::Tools)].into()));
    let heard = peer.events().iter().filter(|event| matches!(event, Event::Notification { .. })).count();
    assert_eq!(heard, 1);
}

/// SUB-11: over HTTP the end of the stream ends the subscription, and no message says so.
#[test]
fn ending_a_subscription_closes_its_stream() {
    let mut peer = Peer::modern();
    let (id, sent) = peer.listening();
    peer.http.unlisten(peer.now, id);
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.none();
    peer.is_empty();
    assert_eq!(peer.http.subscriptions(), 0);
}

/// SUB-13, SUB-15: with its result a stream ends in good order, and is not opened again.
#[test]
fn a_result_ends_a_subscription_in_good_order() {
    let mut peer = Peer::modern();
    let (id, sent) = peer.listening();
    peer.tell(&sent);
    let body = response(&sent, "{'resultType':'complete'}");
    peer.event(&sent, &body);
    peer.end(&sent);
    assert_eq!(peer.notices(id), [Notice::Changed(Change::Tools)]);
    assert_eq!(peer.subscription(id).ended(), Some(&Ok(())));
    peer.is_empty();
}

/// SUB-15, HTTP-28, SSE-06: a stream that breaks is opened by a new request under a new id, later each time; that
/// something may have been missed is told once it is there again.
#[test]
fn a_stream_that_breaks_is_opened_again() {
    let mut peer = Peer::modern();
    let (id, first) = peer.listening();
    peer.body(&first, "id: e-1\nretry: 1\ndata:\n\n");
    peer.http.handle_end(peer.now, first.exchange, End::Broken);
    assert!(!peer.subscription(id).is_active() && peer.subscription(id).is_pending());
    let mut ids = Vec::from([first.id()]);
    for full in [1_000, 2_000, 4_000, 8_000] {
        let (wait, sent) = peer.next();
        assert!((full / 2..=full + 1).contains(&wait), "{wait}");
        assert_eq!((sent.request.head.method.as_str(), sent.header("last-event-id")), ("POST", None));
        assert!(!ids.contains(&sent.id()));
        ids.push(sent.id());
        peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true);
    }
    assert_eq!(peer.notices(id), []);
    let (_, sent) = peer.next();
    peer.acknowledge(&sent);
    assert_eq!(peer.notices(id), [Notice::Missed]);
    assert!(peer.subscription(id).is_active());
    peer.tell(&sent);
    assert_eq!(peer.notices(id).len(), 1);
    // It lasts, so the next time begins anew.
    peer.wait(30_000);
    peer.end(&sent);
    let (wait, _) = peer.next();
    assert!(wait <= 1_001);
}

/// Clients that lost the same server do not come back at once, and the same client comes back as it did.
#[test]
fn waits_follow_from_the_seed() {
    let wait = |seed: u8| {
        let endpoint = Endpoint::parse("https://h.example/mcp").unwrap();
        let http = Http::new(at(0), Arc::new(config()), endpoint, Seed::new([seed; 32]));
        let mut peer = Peer { http, ..Peer::new(config()) };
        let probe = peer.one();
        peer.result(&probe, DISCOVERED);
        let (_, sent) = peer.listening();
        peer.end(&sent);
        peer.next().0
    };
    assert_eq!(wait(1), wait(1));
    assert!((2..6).any(|seed| wait(seed) != wait(1)));
}

/// `Limits::resume_total`: a stream that cannot be had is given up, with the last reason.
#[test]
fn a_stream_that_cannot_be_had_is_given_up() {
    let mut peer = Peer::modern();
    let (id, sent) = peer.listening();
    peer.end(&sent);
    let begin = peer.now.mono;
    let mut attempts = 0;
    while peer.subscription(id).ended().is_none() {
        let (_, sent) = peer.next();
        peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true);
        attempts += 1;
    }
    assert!((10..30).contains(&attempts), "{attempts}");
    assert!(peer.now.mono.saturating_since(begin) <= Duration::from_secs(300));
    let Some(Err(CallError::Broken { reason, .. })) = peer.subscription(id).ended() else { panic!() };
    assert!(reason.contains("connection refused"));
    peer.is_empty();
}

/// Trouble of the server is no refusal; a refusal is, and so is an answer that is no stream.
#[test]
fn a_server_in_trouble_is_asked_again_and_a_refusal_is_the_end() {
    for status in [429, 500, 502, 503] {
        let mut peer = Peer::modern();
        let (id, sent) = peer.listen(tools());
        peer.error(&sent, status, "{'code':-32603,'message':'busy'}");
        assert!(peer.subscription(id).ended().is_none(), "{status}");
        let (_, again) = peer.next();
        peer.whole(&again, ResponseHead::new(status), "busy");
        assert!(peer.subscription(id).ended().is_none(), "{status}");
        peer.next();
    }
    for status in [400, 401, 403, 404, 405, 202] {
        let mut peer = Peer::modern();
        let (id, sent) = peer.listen(tools());
        peer.whole(&sent, ResponseHead::new(status), "no");
        assert!(matches!(peer.subscription(id).ended(), Some(Err(_))), "{status}");
        peer.wait(1_000);
        peer.none();
        peer.is_empty();
    }
    let mut peer = Peer::modern();
    let (id, sent) = peer.listen(tools());
    peer.error(&sent, 200, "{'code':-32601,'message':'Method not found'}");
    assert!(matches!(peer.subscription(id).ended(), Some(Err(CallError::Server { .. }))));
}

/// A changed filter is a second stream. When that breaks first, it is tried again while the first goes on; once it is
/// acknowledged, the first is given a second, for what was sent on it before and is still on its way.
#[test]
fn a_changed_filter_is_a_second_stream() {
    let mut peer = Peer::modern();
    let (id, first) = peer.listening();
    peer.http.relisten(peer.now, id, tools().prompts_list_changed(true)).unwrap();
    let second = peer.one();
    assert!(peer.aborted().is_empty() && peer.subscription(id).is_active());
    peer.http.handle_failed(peer.now, second.exchange, "connection refused", true);
    peer.tell(&first);
    let (_, third) = peer.next();
    peer.acknowledge(&third);
    assert_eq!(peer.notices(id), [Notice::Changed(Change::Tools)], "nothing was missed");
    peer.tell(&first);
    assert_eq!(peer.notices(id).len(), 1);
    assert!(peer.aborted().is_empty());
    peer.wait(1_000);
    assert_eq!(peer.aborted(), [first.exchange]);
    peer.tell(&first);
    assert_eq!(peer.notices(id), []);
    assert_eq!(peer.subscription(id).unsupported(), SubscriptionFilter::new().prompts_list_changed(true));
    peer.http.close(peer.now);
    assert!(peer.http.subscription(id).unwrap().ended().is_some());
    peer.is_empty();
}

/// A stream that was replaced may end as it likes, and ends with its subscription.
#[test]
fn what_becomes_of_a_replaced_stream_does_not_matter() {
    for how in 0..3 {
        let mut peer = Peer::modern();
        let (id, first) = peer.listening();
        peer.http.relisten(peer.now, id, tools().prompts_list_changed(true)).unwrap();
        let second = peer.one();
        peer.acknowledge(&second);
        match how {
            0 => peer.event(&first, &response(&first, "{'resultType':'complete'}")),
            1 => peer.http.handle_end(peer.now, first.exchange, End::Broken),
            _ => {
                peer.http.unlisten(peer.now, id);
                assert_eq!(peer.aborted(), [first.exchange, second.exchange]);
                peer.is_empty();
                continue;
            }
        }
        peer.wait(60_000);
        peer.none();
        assert!(peer.subscription(id).is_active());
    }
}

/// A redirect is followed to where the stream is.
#[test]
fn a_subscription_follows_redirects() {
    let mut peer = Peer::modern();
    let (id, sent) = peer.listen(tools());
    peer.whole(&sent, redirect(307, "/there"), "");
    let there = peer.one();
    assert_eq!(there.request.head.target, "/there");
    peer.acknowledge(&there);
    assert!(peer.subscription(id).is_active());
    peer.http.unlisten(peer.now, id);
    assert_eq!(peer.aborted(), [there.exchange]);
}

/// HTTPL-26, SUBL-04, SUBL-05: a legacy server is given a stream where somebody listens, and asked to watch.
#[test]
fn a_legacy_server_is_given_a_stream_to_tell_on() {
    let (mut peer, id, get) = legacy(resource("a:1").tools_list_changed(true));
    let subscribe = peer.one();
    assert_eq!(
        (subscribe.method(), subscribe.header("mcp-session-id")),
        ("resources/subscribe".into(), Some("s-1"))
    );
    peer.result(&subscribe, "{}");
    assert!(peer.subscription(id).is_active());
    peer.event(&get, "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'a:1'}}");
    peer.tell(&get);
    let changes = [Change::Resource("a:1".into()), Change::Tools].map(Notice::Changed);
    assert_eq!(peer.notices(id), changes);
    peer.http.unlisten(peer.now, id);
    assert_eq!(peer.one().method(), "resources/unsubscribe");
}

/// Whoever begins to listen later opens the stream then.
#[test]
fn the_stream_of_a_legacy_session_is_opened_when_it_is_needed() {
    let mut peer = Peer::legacy();
    peer.none();
    let (id, get) = peer.listen(tools());
    assert_eq!(get.request.head.method, "GET");
    peer.stream(&get);
    assert!(peer.subscription(id).acknowledged().is_some());
    let next = peer.http.listen(peer.now, tools()).unwrap();
    peer.none();
    assert!(peer.subscription(next).acknowledged().is_some());
}

/// SUBL-01: what a server tells before its stream is there is lost with some, so nobody is told before that they listen;
/// a server without a stream, or that has nothing to say on it for a second, is not waited for.
#[test]
fn a_subscription_of_a_legacy_session_waits_for_the_stream() {
    for how in 0..3 {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        greet(&mut peer, &initialize, "s-1");
        let id = peer.http.listen(peer.now, resource("a:1")).unwrap();
        let [get, subscribe] = &peer.sent()[..] else { panic!() };
        peer.result(subscribe, "{}");
        assert_eq!(peer.subscription(id).acknowledged(), None);
        match how {
            0 => peer.stream(get),
            1 => peer.whole(get, ResponseHead::new(405), ""),
            _ => {
                peer.wait(999);
                assert_eq!(peer.subscription(id).acknowledged(), None);
                peer.wait(1);
            }
        }
        assert!(peer.subscription(id).is_active(), "{how}");
        peer.http.unlisten(peer.now, id);
    }
}

/// HTTPL-50: a session that is lost takes its subscriptions with it; they are made again in the next one, and that
/// something may have been missed is told.
#[test]
fn subscriptions_go_on_in_the_next_session() {
    let (mut peer, id, _) = legacy(resource("a:1"));
    let subscribe = peer.one();
    peer.result(&subscribe, "{}");
    assert!(peer.notices(id).is_empty());
    let (call, list) = peer.start(&ListTools::new());
    peer.whole(&list, ResponseHead::new(404), "");
    let initialize = peer.one();
    assert!(!peer.subscription(id).is_active());
    greet(&mut peer, &initialize, "s-2");
    let get = peer.one();
    assert_eq!((get.request.head.method.as_str(), get.header("mcp-session-id")), ("GET", Some("s-2")));
    peer.stream(&get);
    let [list, subscribe] = &peer.sent()[..] else { panic!() };
    assert_eq!(subscribe.method(), "resources/subscribe");
    assert_eq!(peer.notices(id), []);
    peer.result(subscribe, "{}");
    peer.result(list, "{'tools':[]}");
    peer.take(&call).unwrap();
    assert_eq!(peer.notices(id), [Notice::Missed]);
    assert!(peer.subscription(id).is_active());
}

/// A stream of a session that is opened again behind the last event loses nothing; without one, something may be lost.
#[test]
fn an_interrupted_stream_of_a_session_is_told() {
    for (named, notices) in [(true, Vec::new()), (false, [Notice::Missed].into())] {
        let (mut peer, id, get) = legacy(tools());
        if named {
            peer.body(&get, "id: e-1\ndata:\n\n");
        }
        assert!(peer.notices(id).is_empty());
        peer.end(&get);
        peer.wait(1_000);
        let get = peer.one();
        assert_eq!(get.header("last-event-id"), named.then_some("e-1"));
        peer.stream(&get);
        assert_eq!(peer.notices(id), notices);
    }
}

/// CAN-06: a subscription that the server takes back by a notification gives its connection back, too.
#[test]
fn what_the_server_takes_back_is_closed() {
    let mut peer = Peer::modern_with(config());
    let (id, sent) = peer.listening();
    let cancelled = format!(
        "{{'jsonrpc':'2.0','method':'notifications/cancelled','params':{{'requestId':{}}}}}",
        sent.id()
    );
    peer.event(&sent, &cancelled);
    assert!(peer.subscription(id).ended().is_some());
    peer.wait(2_000);
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.http.unlisten(peer.now, id);
    peer.none();
    peer.is_empty();
}

fn connections(connections: usize) -> Config {
    config().limits(Limits { connections, ..Limits::default() })
}

/// Limits::connections: subscriptions leave a connection for calls and one for streams that take the place of others; one
/// too many is refused, and there is room again when another has ended.
#[test]
fn subscriptions_leave_connections_for_other_things() {
    let full = CallError::Full(Full::new("connections", 4));
    let mut peer = Peer::modern_with(connections(4));
    let (first, _) = peer.listening();
    let (second, stream) = peer.listening();
    assert_eq!(peer.http.listen(peer.now, tools()).unwrap_err(), full);
    peer.none();
    peer.http.unlisten(peer.now, first);
    peer.listening();
    let body = response(&stream, "{'resultType':'complete'}");
    peer.event(&stream, &body);
    assert_eq!(peer.subscription(second).ended(), Some(&Ok(())), "it is over, though nobody has looked");
    peer.listening();
    assert_eq!(peer.http.listen(peer.now, tools()).unwrap_err(), full);
    for too_few in 0..3 {
        let mut peer = Peer::modern_with(connections(too_few));
        let error = peer.http.listen(peer.now, tools()).unwrap_err();
        assert!(matches!(&error, CallError::Misuse(_)) && error.to_string().contains("Limits::connections"));
    }
    let mut peer = Peer::modern_with(connections(3));
    peer.listening();
    peer.http.listen(peer.now, tools()).unwrap_err();
}

/// Where it turns out later that the server is a modern one, the first subscriptions are those that stay.
#[test]
fn subscriptions_that_were_too_many_end() {
    let mut peer = Peer::new(connections(4));
    let ids = [(); 4].map(|()| peer.http.listen(peer.now, tools()).unwrap());
    let probe = peer.one();
    peer.result(&probe, DISCOVERED);
    assert_eq!(peer.sent().len(), 2);
    let full = Err(CallError::Full(Full::new("connections", 4)));
    assert_eq!(
        ids.map(|id| peer.subscription(id).ended().cloned()),
        [None, None, Some(full.clone()), Some(full)]
    );
}

/// A legacy server tells everything on one stream, so the bound is another there.
#[test]
fn subscriptions_to_a_legacy_server_share_a_connection() {
    let (mut peer, _, _) = legacy(tools());
    peer.http.link.config = Arc::new(connections(4));
    for _ in 0..9 {
        peer.http.listen(peer.now, tools()).unwrap();
    }
}

/// Changes that find no connection free wait for one, and what was taken back meanwhile is not sent.
#[test]
fn changes_take_turns() {
    let mut peer = Peer::modern_with(connections(5));
    let [(a, before), (b, _), (c, _)] = [(); 3].map(|()| peer.listening());
    for id in [a, b, c] {
        peer.http.relisten(peer.now, id, resource("x:a")).unwrap();
    }
    let first = peer.one();
    peer.http.unlisten(peer.now, b);
    let third = peer.one();
    peer.acknowledge(&first);
    peer.wait(1_000);
    assert!(peer.aborted().contains(&before.exchange));
    peer.acknowledge(&third);
    peer.http.relisten(peer.now, a, resource("x:b")).unwrap();
    let replaces = peer.one();
    peer.http.relisten(peer.now, c, resource("x:b")).unwrap();
    peer.http.relisten(peer.now, c, resource("x:c")).unwrap();
    assert!(replaces.body().contains("x:b"));
    peer.wait(1_000);
    let last = peer.one();
    assert!(last.body().contains("x:c"), "what was wanted in between is not asked for");
    assert!(peer.subscription(c).is_active());
}

/// Limits::acknowledgement: a server can only answer what it was asked, so the time of a change begins when it is sent and
/// not while it waits for a connection.
#[test]
fn a_change_has_its_time_from_when_it_is_sent() {
    let mut peer = Peer::modern_with(connections(4));
    let [(a, _), (b, _)] = [(); 2].map(|()| peer.listening());
    peer.http.relisten(peer.now, a, resource("x:a")).unwrap();
    let first = peer.one();
    peer.http.relisten(peer.now, b, resource("x:b")).unwrap();
    peer.none();
    // The server leaves the one before it without an answer.
    peer.wait(60_000);
    assert!(matches!(peer.subscription(a).refusal(), Some(CallError::TimedOut { .. })));
    assert_eq!(peer.subscription(b).refusal(), None, "nobody was asked");
    assert!(peer.subscription(b).is_pending());
    assert_eq!(peer.aborted(), [first.exchange]);
    let second = peer.one();
    assert!(second.body().contains("x:b"));
    peer.wait(59_999);
    assert_eq!(peer.subscription(b).refusal(), None);
    peer.wait(1);
    assert!(matches!(peer.subscription(b).refusal(), Some(CallError::TimedOut { .. })));
}

/// Limits::connections, AUTH-05: a change that waits for the place of one which is held goes out when that is given up.
#[test]
fn a_change_goes_out_when_what_was_held_is_given_up() {
    let mut peer = Peer::modern_with(connections(4).authorize(true));
    let [(a, _), (b, _)] = [(); 2].map(|()| peer.listening());
    peer.http.relisten(peer.now, a, resource("x:a")).unwrap();
    let first = peer.one();
    peer.refuse(&first, 401);
    peer.http.relisten(peer.now, b, resource("x:b")).unwrap();
    peer.none();
    peer.http.give_up(peer.now, first.exchange, "no", "");
    assert!(peer.one().body().contains("x:b"));
}
