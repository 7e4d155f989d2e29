//! Listening on a byte stream.

use super::super::super::{Change, Notice, SubscriptionId};
use super::*;
use crate::error::Full;
use crate::model::subscriptions::SubscriptionFilter;
use std::vec::Vec;

const LEGACY: &str = "{'protocolVersion':'2025-11-25','serverInfo':{'name':'s','version':'1'},'capabilities':\
    {'tools':{'listChanged':true},'prompts':{},'resources':{'subscribe':true,'listChanged':true}}}";

fn tools() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed(true)
}

fn resources(uris: &[&str]) -> SubscriptionFilter {
    SubscriptionFilter::new()
        .resource_subscriptions(uris.iter().map(|uri| String::from(*uri)).collect::<Vec<_>>())
}

fn legacy() -> Peer {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, LEGACY);
    assert_eq!(method(&peer.one()), "notifications/initialized");
    peer.drain();
    peer
}

impl Peer {
    fn listen(&mut self, filter: SubscriptionFilter) -> SubscriptionId {
        self.connection.listen(self.now, filter).unwrap()
    }

    /// Acknowledges the subscription of a request.
    fn acknowledge(&mut self, request: &str, filter: &str) {
        self.tell(request, "notifications/subscriptions/acknowledged", &format!("'notifications':{filter}"));
    }

    fn tell(&mut self, request: &str, method: &str, params: &str) {
        let (id, comma) = (id(request), if params.is_empty() { "" } else { "," });
        self.says(&format!(
            "{{'jsonrpc':'2.0','method':'{method}','params':{{'_meta':{{'io.modelcontextprotocol/subscriptionId':{id}}}{comma}{params}}}}}"
        ));
    }

    /// A subscription that is acknowledged, and its request.
    fn listening(&mut self, filter: SubscriptionFilter, acknowledged: &str) -> (SubscriptionId, String) {
        let id = self.listen(filter);
        let request = self.one();
        self.acknowledge(&request, acknowledged);
        assert!(self.subscription(id).is_active());
        self.drain();
        (id, request)
    }

    fn subscription(&self, id: SubscriptionId) -> &super::super::super::Subscription {
        self.connection.subscription(id).unwrap()
    }

    fn notices(&mut self, id: SubscriptionId) -> Vec<Notice> {
        std::iter::from_fn(|| self.connection.take_notice(id)).collect()
    }

    fn news(&mut self) -> usize {
        let outputs = self.drain();
        outputs.iter().filter(|it| matches!(it, Output::Event(Event::Subscription(_)))).count()
    }

    fn notifications(&mut self) -> usize {
        let outputs = self.drain();
        outputs.iter().filter(|it| matches!(it, Output::Event(Event::Notification { .. }))).count()
    }

    /// The next process, which is asked again who it is, and answers.
    fn respawn(&mut self) {
        self.connection.handle_respawned(self.now);
        let opening = self.one();
        if method(&opening) == "initialize" {
            self.result(&opening, LEGACY);
        } else {
            self.result(&opening, DISCOVERED);
        }
    }
}

/// SUB-01, SUB-03, SUB-06, SUB-07: the request says what is wanted, the acknowledgement what will come; the rest can be
/// read. Values count: what is acknowledged as false, or as a list without the URI, is not supported.
#[test]
fn what_a_server_does_not_support_can_be_read() {
    let mut peer = Peer::modern();
    let wanted = tools().prompts_list_changed(true).resource_subscriptions(["a:1".into(), "a:2".into()]);
    let id = peer.listen(wanted.clone());
    let request = peer.one();
    assert_eq!(method(&request), "subscriptions/listen");
    assert!(
        request.contains(&json(
            "'notifications':{'toolsListChanged':true,'promptsListChanged':true,'resourceSubscriptions':['a:1','a:2']}"
        )),
        "{request}"
    );
    assert!(request.contains("io.modelcontextprotocol/protocolVersion"));
    assert!(peer.subscription(id).is_pending() && peer.subscription(id).acknowledged().is_none());
    assert_eq!(peer.subscription(id).unsupported(), SubscriptionFilter::new());
    peer.acknowledge(
        &request,
        "{'toolsListChanged':true,'promptsListChanged':false,'resourceSubscriptions':['a:2']}",
    );
    assert_eq!(peer.news(), 1);
    let subscription = peer.subscription(id);
    assert!(subscription.is_active() && !subscription.is_pending());
    let rest = SubscriptionFilter::new().prompts_list_changed(true).resource_subscriptions(["a:1".into()]);
    assert_eq!(subscription.unsupported(), rest);
    peer.connection.unlisten(peer.now, id);
    assert_eq!(peer.connection.subscriptions(), 0);
}

/// SUB-08, SUB-09, SUB-10, SUB-05: on one channel each subscription hears what carries its id, and nothing else; the
/// application hears all of it besides.
#[test]
fn notifications_find_their_subscription_by_its_id() {
    let mut peer = Peer::modern();
    let (first, one) = peer.listening(tools(), "{'toolsListChanged':true}");
    let wanted = resources(&["a:1"]).prompts_list_changed(true);
    let (second, other) =
        peer.listening(wanted, "{'promptsListChanged':true,'resourceSubscriptions':['a:1']}");
    peer.tell(&other, "notifications/resources/updated", "'uri':'a:1/b'");
    peer.tell(&one, "notifications/tools/list_changed", "");
    peer.tell(&other, "notifications/prompts/list_changed", "");
    peer.says("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    assert_eq!(peer.notices(first), [Notice::Changed(Change::Tools)]);
    let both = [Notice::Changed(Change::Resource("a:1/b".into())), Notice::Changed(Change::Prompts)];
    assert_eq!(peer.notices(second), both);
    assert_eq!(peer.notifications(), 4);
}

/// SUB-02: a server tells nothing on a stream that it was not asked for there; what it tells nevertheless is skipped.
#[test]
fn what_was_not_asked_for_is_skipped() {
    let mut peer = Peer::modern();
    let (id, request) = peer.listening(tools(), "{'toolsListChanged':true}");
    for method in ["prompts/list_changed", "resources/list_changed", "acme/other"] {
        peer.tell(&request, &format!("notifications/{method}"), "");
    }
    peer.tell(&request, "notifications/resources/updated", "'uri':'a:1'");
    assert_eq!(peer.notices(id), []);
    assert_eq!(diagnostics(&peer.drain()), 4);
}

/// SUB-23: what extensions add to a filter is asked for, compared and told like the rest.
#[test]
fn extensions_are_heard_on_the_stream() {
    let mut peer = Peer::modern();
    let mut wanted = SubscriptionFilter::new();
    wanted.extra.insert("acmeIds".into(), Json::parse(r#"["t1","t2"]"#).unwrap());
    let id = peer.listen(wanted);
    let request = peer.one();
    assert!(request.contains(r#""acmeIds":["t1","t2"]"#));
    peer.acknowledge(&request, "{'acmeIds':['t1']}");
    assert!(peer.subscription(id).unsupported().extra.contains_key("acmeIds"));
    for (task, status) in [("t1", 1), ("t2", 2), ("t1", 3)] {
        peer.tell(&request, "notifications/acme", &format!("'taskId':'{task}','status':{status}"));
    }
    let notices = peer.notices(id);
    let about = notices.iter().map(|notice| match notice {
        Notice::Other { about, params, .. } => (about.clone(), params.as_ref().unwrap().get().contains(":3")),
        other => panic!("{other:?}"),
    });
    let about: Vec<_> = about.collect();
    assert_eq!(about, [(Some("t2".into()), false), (Some("t1".into()), true)], "the newest of each");
}

/// SUB-13, SUB-14, SUB-15, CAN-06: a result ends a subscription in good order; so does a server that cancels its
/// request. Nothing is asked again.
#[test]
fn a_server_ends_a_subscription_in_good_order() {
    for by_result in [true, false] {
        let mut peer = Peer::modern();
        let (id, request) = peer.listening(tools(), "{'toolsListChanged':true}");
        peer.tell(&request, "notifications/tools/list_changed", "");
        let wire = super::id(&request);
        if by_result {
            peer.result(
                &request,
                &format!(
                    "{{'resultType':'complete','_meta':{{'io.modelcontextprotocol/subscriptionId':{wire}}}}}"
                ),
            );
        }
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/cancelled','params':{{'requestId':{wire}}}}}"
        ));
        assert_eq!(peer.notices(id), [Notice::Changed(Change::Tools)], "what came before is heard");
        assert_eq!(peer.subscription(id).ended(), Some(&Ok(())));
        peer.connection.unlisten(peer.now, id);
        assert_eq!(peer.written(), Vec::<String>::new());
        assert_eq!((peer.connection.subscriptions(), peer.connection.poll_timeout()), (0, None));
    }
}

/// A refusal, and a result that says that the request goes on, are failures.
#[test]
fn a_refused_subscription_fails() {
    let mut peer = Peer::modern();
    for (outcome, expected) in [
        ("'error':{'code':-32601,'message':'Method not found'}", "-32601"),
        ("'result':{'resultType':'input_required','requestState':'s'}", "complete result"),
        ("'result':7", "complete result"),
    ] {
        let id = peer.listen(tools());
        let request = peer.one();
        peer.says(&format!("{{'jsonrpc':'2.0','id':{},{outcome}}}", super::id(&request)));
        let Some(Err(error)) = peer.subscription(id).ended() else { panic!("{outcome}") };
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(peer.written(), Vec::<String>::new());
    }
}

/// SUB-11: whoever stops listening cancels the request, once.
#[test]
fn ending_a_subscription_cancels_its_request() {
    let mut peer = Peer::modern();
    let (id, request) = peer.listening(tools(), "{'toolsListChanged':true}");
    peer.connection.unlisten(peer.now, id);
    let notice = peer.one();
    assert_eq!(method(&notice), "notifications/cancelled");
    assert!(notice.contains(&format!("\"requestId\":{}", super::id(&request))));
    peer.tell(&request, "notifications/tools/list_changed", "");
    peer.connection.unlisten(peer.now, id);
    assert_eq!(peer.written(), Vec::<String>::new());
    assert_eq!((peer.connection.subscriptions(), peer.news()), (0, 0));
}

/// `Limits::acknowledgement`: reached exactly, and passed. The request is cancelled.
#[test]
fn a_subscription_that_is_not_acknowledged_is_given_up() {
    let limits = Limits { acknowledgement: Duration::from_secs(3), ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let id = peer.listen(tools());
    let request = peer.one();
    assert_eq!(peer.connection.wake_reason(), Some(crate::time::WakeReason::Resume));
    peer.wait(2_999);
    assert_eq!(peer.subscription(id).ended(), None);
    peer.wait(1);
    let ended = Err(CallError::TimedOut { after: Duration::from_secs(3) });
    assert_eq!(peer.subscription(id).ended(), Some(&ended));
    assert!(peer.one().contains(&format!("\"requestId\":{}", super::id(&request))));
    peer.acknowledge(&request, "{'toolsListChanged':true}");
    assert_eq!(peer.subscription(id).ended(), Some(&ended));
}

/// A change of what is wanted is a new request, and the stream before it ends when that is acknowledged: what comes in
/// between is heard.
#[test]
fn a_changed_filter_loses_nothing() {
    let mut peer = Peer::modern();
    let (id, old) = peer.listening(resources(&["a:1"]), "{'resourceSubscriptions':['a:1']}");
    peer.connection.relisten(peer.now, id, resources(&["a:1", "a:2"])).unwrap();
    let new = peer.one();
    assert_eq!(method(&new), "subscriptions/listen");
    assert!(peer.subscription(id).is_pending() && peer.subscription(id).is_active());
    peer.tell(&old, "notifications/resources/updated", "'uri':'a:1'");
    peer.acknowledge(&new, "{'resourceSubscriptions':['a:1','a:2']}");
    assert!(peer.one().contains(&format!("\"requestId\":{}", super::id(&old))));
    peer.tell(&new, "notifications/resources/updated", "'uri':'a:2'");
    peer.tell(&old, "notifications/resources/updated", "'uri':'a:1/late'");
    let changes = ["a:1", "a:2"].map(|uri| Notice::Changed(Change::Resource(uri.into())));
    assert_eq!(peer.notices(id), changes);
    assert!(!peer.subscription(id).is_pending());
}

/// A change that is refused, or not acknowledged in time, leaves what was there, and says why.
#[test]
fn a_refused_change_leaves_what_was_there() {
    for refused in [true, false] {
        let mut peer = Peer::modern();
        let (id, old) = peer.listening(resources(&["a:1"]), "{'resourceSubscriptions':['a:1']}");
        peer.connection.relisten(peer.now, id, resources(&["a:1", "a:2"])).unwrap();
        let new = peer.one();
        if refused {
            peer.error(&new, "{'code':-32602,'message':'too many'}");
        } else {
            peer.wait(60_000);
            assert!(peer.one().contains(&format!("\"requestId\":{}", super::id(&new))));
        }
        let subscription = peer.subscription(id);
        assert!(subscription.is_active() && !subscription.is_pending() && subscription.refusal().is_some());
        assert_eq!(subscription.unsupported(), SubscriptionFilter::new());
        peer.tell(&old, "notifications/resources/updated", "'uri':'a:1'");
        assert_eq!(peer.notices(id).len(), 1);
        assert_eq!(peer.written(), Vec::<String>::new());
    }
}

/// Limits::notifications and Limits::notification_bytes: reached exactly, and passed by one; the newest of each thing is
/// kept, repeats are counted, and what was lost is told.
#[test]
fn a_listener_who_reads_slowly_is_told_the_newest_of_each_thing() {
    let limits = Limits { notifications: 3, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let (id, request) = peer.listening(resources(&["a:"]), "{'resourceSubscriptions':['a:']}");
    let tell = |peer: &mut Peer, uri: &str| {
        peer.tell(&request, "notifications/resources/updated", &format!("'uri':'{uri}'"));
    };
    for uri in ["a:1", "a:2", "a:1", "a:1", "a:3"] {
        tell(&mut peer, uri);
    }
    assert_eq!(peer.subscription(id).left_out(), (2, 0));
    assert_eq!(peer.subscription(id).waiting(), (3, 3 * 163));
    assert_eq!(peer.news(), 1, "told once, until that is heard");
    let changed = |uri: &str| Notice::Changed(Change::Resource(uri.into()));
    assert_eq!(peer.notices(id), ["a:2", "a:1", "a:3"].map(changed));
    for uri in ["a:1", "a:2", "a:3", "a:4"] {
        tell(&mut peer, uri);
    }
    assert_eq!(peer.news(), 1);
    assert_eq!(peer.subscription(id).left_out(), (2, 1));
    assert_eq!(
        peer.notices(id),
        [Notice::Missed, changed("a:2"), changed("a:3"), changed("a:4")],
        "what was lost is told"
    );
    tell(&mut peer, "a:5");
    assert_eq!(peer.news(), 1, "and again after that");

    let limits = Limits { notification_bytes: 2 * 170, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let (id, request) = peer.listening(resources(&["a:"]), "{'resourceSubscriptions':['a:']}");
    for (uri, lost) in [("a:34567890", 0), ("b:34567890", 0), ("c", 1)] {
        peer.tell(&request, "notifications/resources/updated", &format!("'uri':'{uri}'"));
        assert_eq!(peer.subscription(id).left_out().1, lost, "{uri}");
    }
    assert_eq!(peer.notices(id), [Notice::Missed, changed("b:34567890"), changed("c")]);
    assert_eq!(peer.subscription(id).waiting(), (0, 0));

    // One that is larger than all of it has no place, and takes none from others.
    let large = format!("a:{}", "x".repeat(2 * 170 - 160 - 1));
    for (uri, lost) in [("a:1", 1), (&large, 2), ("a:2", 2)] {
        peer.tell(&request, "notifications/resources/updated", &format!("'uri':'{uri}'"));
        assert_eq!(peer.subscription(id).left_out().1, lost, "{uri}");
    }
    assert_eq!(peer.notices(id), [Notice::Missed, changed("a:1"), changed("a:2")]);
}

/// Limits::listens, Limits::watched and Limits::watched_bytes of a client: reached exactly, and passed by one.
#[test]
fn subscriptions_are_bounded() {
    let limits = Limits { listens: 2, watched: 2, watched_bytes: 8, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let first = peer.listen(resources(&["a:34", "b:34"]));
    let full = |limit, value| Err(CallError::Full(Full::new(limit, value)));
    let now = peer.now;
    assert_eq!(peer.connection.listen(now, resources(&["a", "b", "c"])), full("watched", 2));
    assert_eq!(
        peer.connection.relisten(now, first, resources(&["a:345", "b:34"])),
        Err(CallError::Full(Full::new("watched_bytes", 8)))
    );
    peer.listen(tools());
    assert_eq!(peer.connection.listen(now, tools()), full("listens", 2));
    peer.connection.unlisten(now, first);
    peer.listen(tools());
}

/// SUB-16, STDIO-19: a process that dies while somebody listens is started again, and asked again; that something may
/// have been missed is told once the new stream is there. Calls under way are lost.
#[test]
fn a_process_that_dies_is_started_again_and_asked_again() {
    let mut peer = Peer::modern();
    let (id, _) = peer.listening(tools(), "{'toolsListChanged':true}");
    let call = peer.start(&CallTool::new("a"));
    peer.written();
    peer.connection.handle_failed(peer.now, "exit status: 3");
    let Err(CallError::Broken { reason, unsent: false }) = peer.connection.take(&call).unwrap() else {
        panic!()
    };
    assert!(reason.contains("exit status: 3"));
    assert!(peer.drain().contains(&Output::Respawn { after: Duration::ZERO }));
    assert!(!peer.subscription(id).is_active() && peer.subscription(id).ended().is_none());
    let waiting = peer.start(&ListTools::new());
    peer.respawn();
    let [list, listen] = &peer.written()[..] else { panic!() };
    assert_eq!((method(list), method(listen)), ("tools/list".into(), "subscriptions/listen".into()));
    assert_eq!(peer.notices(id), []);
    peer.acknowledge(listen, "{'toolsListChanged':true}");
    assert_eq!(peer.notices(id), [Notice::Missed]);
    assert!(peer.subscription(id).is_active());
    peer.result(list, "{'resultType':'complete','tools':[],'ttlMs':0,'cacheScope':'private'}");
    peer.connection.take(&waiting).unwrap().unwrap();
    peer.tell(listen, "notifications/tools/list_changed", "");
    assert_eq!(peer.notices(id), [Notice::Changed(Change::Tools)]);
}

/// Limits::restarts: a process that dies time and again is started ever later, and no more often than that; one that
/// lived for a minute counts from the beginning.
#[test]
fn restarts_are_bounded() {
    let mut peer = Peer::modern();
    let (id, _) = peer.listening(tools(), "{'toolsListChanged':true}");
    for lived in [10, 61_000] {
        peer.wait(lived);
        for after in [0, 1_000, 2_000] {
            peer.connection.handle_failed(peer.now, "exit status: 3");
            let respawn = Output::Respawn { after: Duration::from_millis(after) };
            assert!(peer.drain().contains(&respawn), "{lived} {after}");
            peer.respawn();
            let listen = peer.one();
            peer.acknowledge(&listen, "{'toolsListChanged':true}");
        }
    }
    peer.connection.handle_failed(peer.now, "exit status: 3");
    assert!(peer.closed().unwrap().to_string().contains("exit status: 3"));
    let Some(Err(CallError::Broken { reason, .. })) = peer.subscription(id).ended() else { panic!() };
    assert!(reason.contains("exit status: 3"));
    peer.connection.unlisten(peer.now, id);
    assert_eq!((peer.connection.subscriptions(), peer.connection.poll_timeout()), (0, None));
}

/// B85: without anybody who listens a process that dies stays dead.
#[test]
fn without_listeners_nothing_is_started_again() {
    let mut peer = Peer::modern();
    let (id, request) = peer.listening(tools(), "{'toolsListChanged':true}");
    peer.result(&request, "{'resultType':'complete'}");
    assert_eq!(peer.subscription(id).ended(), Some(&Ok(())));
    peer.connection.handle_failed(peer.now, "exit status: 3");
    assert!(peer.closed().is_some());
}

/// A process that cannot be started again ends everything.
#[test]
fn a_process_that_cannot_be_started_again_is_the_end() {
    let mut peer = Peer::modern();
    let (id, _) = peer.listening(tools(), "{'toolsListChanged':true}");
    peer.connection.handle_failed(peer.now, "exit status: 3");
    peer.connection.handle_failed(peer.now, "cannot start it");
    assert!(peer.closed().is_some());
    assert!(matches!(peer.subscription(id).ended(), Some(Err(CallError::Broken { .. }))));
    assert!(peer.connection.listen(peer.now, tools()).is_err());
}

/// SUBL-01, SUBL-04 to SUBL-07: the same with a legacy server, which tells of its lists if it said so, and of resources
/// that it was asked to watch; the first who listens asks, and the last who stops takes it back.
#[test]
fn a_legacy_server_is_asked_to_watch() {
    let mut peer = legacy();
    let wanted = resources(&["a:1"]).tools_list_changed(true).prompts_list_changed(true);
    let first = peer.listen(wanted);
    let subscribe = peer.one();
    assert_eq!(method(&subscribe), "resources/subscribe");
    assert!(subscribe.contains(r#""params":{"uri":"a:1"}"#), "{subscribe}");
    assert!(peer.subscription(first).is_pending());
    let second = peer.listen(resources(&["a:1"]));
    assert_eq!(peer.written(), Vec::<String>::new());
    peer.result(&subscribe, "{}");
    assert_eq!(settled(&peer.drain()), 0, "nobody made that call");
    assert!(peer.subscription(first).is_active() && peer.subscription(second).is_active());
    assert_eq!(
        peer.subscription(first).unsupported(),
        SubscriptionFilter::new().prompts_list_changed(true),
        "it did not say that it tells of prompts"
    );
    peer.says("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}");
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'a:1'}}");
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'b:1'}}");
    let updated = Notice::Changed(Change::Resource("a:1".into()));
    assert_eq!(peer.notices(first), [Notice::Changed(Change::Tools), updated.clone()]);
    assert_eq!(peer.notices(second), [updated]);
    assert_eq!(peer.notifications(), 4);
    peer.connection.unlisten(peer.now, first);
    assert_eq!(peer.written(), Vec::<String>::new());
    peer.connection.unlisten(peer.now, second);
    let unsubscribe = peer.one();
    assert_eq!(method(&unsubscribe), "resources/unsubscribe");
    // Asked for again before that is answered: only then, so that the two cannot change places.
    let third = peer.listen(resources(&["a:1"]));
    assert_eq!(peer.written(), Vec::<String>::new());
    peer.result(&unsubscribe, "{}");
    let subscribe = peer.one();
    assert_eq!(method(&subscribe), "resources/subscribe");
    peer.connection.unlisten(peer.now, third);
    peer.result(&subscribe, "{}");
    let unsubscribe = peer.one();
    peer.result(&unsubscribe, "{}");
    assert_eq!((peer.connection.subscriptions(), peer.connection.calls()), (0, 0));
}

/// SUBL-01: a legacy server that did not declare subscriptions is not asked, and one that refuses a resource is believed.
#[test]
fn what_a_legacy_server_cannot_watch_is_unsupported() {
    let mut peer = Peer::legacy();
    let id = peer.listen(resources(&["a:1"]).tools_list_changed(true));
    assert_eq!(peer.written(), Vec::<String>::new());
    let unsupported = resources(&["a:1"]).tools_list_changed(true);
    assert_eq!(peer.subscription(id).unsupported(), unsupported);
    let mut peer = legacy();
    let id = peer.listen(resources(&["a:1", "a:2"]));
    let [one, two] = &peer.written()[..] else { panic!() };
    peer.error(one, "{'code':-32002,'message':'Resource not found'}");
    assert!(peer.subscription(id).is_pending());
    peer.result(two, "{}");
    assert_eq!(peer.subscription(id).unsupported(), resources(&["a:1"]));
    assert!(matches!(peer.subscription(id).refusal(), Some(CallError::Server { .. })));
    // Something else: what stays is not asked for again, what goes is taken back.
    peer.connection.relisten(peer.now, id, resources(&["a:2", "a:3"])).unwrap();
    let three = peer.one();
    assert!(three.contains("a:3") && peer.subscription(id).is_pending());
    peer.result(&three, "{}");
    assert_eq!(peer.subscription(id).acknowledged(), Some(&resources(&["a:2", "a:3"])));
    peer.connection.relisten(peer.now, id, tools()).unwrap();
    let gone = peer.written();
    assert!(gone.len() == 2 && gone.iter().all(|call| method(call) == "resources/unsubscribe"), "{gone:?}");
}

/// A legacy process that is started again is greeted the legacy way, and asked to watch again.
#[test]
fn a_legacy_process_is_asked_to_watch_again() {
    let mut peer = legacy();
    let id = peer.listen(resources(&["a:1"]));
    let subscribe = peer.one();
    peer.result(&subscribe, "{}");
    peer.connection.handle_failed(peer.now, "exit status: 3");
    peer.respawn();
    let [initialized, subscribe] = &peer.written()[..] else { panic!() };
    assert_eq!(method(initialized), "notifications/initialized");
    assert_eq!(peer.notices(id), []);
    peer.result(subscribe, "{}");
    assert_eq!(peer.notices(id), [Notice::Missed]);
    assert!(peer.subscription(id).is_active());
}

/// SUB-07, SUB-16: a server that is started again may grant less than before, in either era; the last answer counts.
#[test]
fn a_later_acknowledgement_may_be_narrower() {
    let both = resources(&["a:1", "a:2"]);
    let check = |peer: &mut Peer, id| {
        let subscription = peer.subscription(id);
        assert_eq!(subscription.acknowledged(), Some(&resources(&["a:2"])));
        assert_eq!(subscription.unsupported(), resources(&["a:1"]));
        assert!(subscription.is_active() && !subscription.is_pending() && subscription.ended().is_none());
        assert_eq!(peer.notices(id), [Notice::Missed]);
    };
    let mut peer = Peer::modern();
    let (id, _) = peer.listening(both.clone(), "{'resourceSubscriptions':['a:1','a:2']}");
    peer.connection.handle_failed(peer.now, "exit status: 3");
    peer.respawn();
    let listen = peer.one();
    assert!(peer.subscription(id).is_pending(), "nothing is known of the new one");
    peer.acknowledge(&listen, "{'resourceSubscriptions':['a:2']}");
    check(&mut peer, id);

    let mut peer = legacy();
    let id = peer.listen(both);
    for subscribe in peer.written() {
        peer.result(&subscribe, "{}");
    }
    peer.connection.handle_failed(peer.now, "exit status: 3");
    peer.respawn();
    let [_, first, second] = &peer.written()[..] else { panic!() };
    peer.error(first, "{'code':-32002,'message':'no such resource'}");
    assert!(peer.subscription(id).is_pending());
    peer.result(second, "{}");
    check(&mut peer, id);
    assert!(matches!(peer.subscription(id).refusal(), Some(CallError::Server { .. })));
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'a:1'}}");
    assert_eq!(peer.notices(id), []);
}

/// What is listened for before the era is known is asked for as soon as it is.
#[test]
fn listening_waits_for_the_era() {
    let mut peer = Peer::new(config());
    let id = peer.listen(tools());
    let probe = peer.one();
    assert_eq!(method(&probe), "server/discover");
    peer.result(&probe, DISCOVERED);
    assert_eq!(method(&peer.one()), "subscriptions/listen");
    peer.connection.close(peer.now);
    assert!(matches!(peer.subscription(id).ended(), Some(Err(CallError::Broken { .. }))));
    assert_eq!(peer.news(), 1);
}

/// Neither URIs nor what extensions tell are printed.
#[test]
fn what_is_listened_for_is_not_printed() {
    let mut peer = Peer::modern();
    let (id, request) = peer.listening(resources(&["a:s3cret"]), "{'resourceSubscriptions':['a:s3cret']}");
    peer.tell(&request, "notifications/resources/updated", "'uri':'a:s3cret'");
    let notices = peer.notices(id);
    let printed = format!("{:?} {notices:?}", peer.connection);
    assert!(!printed.contains("s3cret"), "{printed}");
}
