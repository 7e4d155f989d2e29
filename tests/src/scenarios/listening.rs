//! Clients that listen for changes of their servers.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use mcp_driver::{
    CallError, Calls, Change, Context, Era, EraChoice, Json, Notice, Registry, Resource, Server,
    Subscription, SubscriptionFilter, Tool,
};
use serde_json::{Value, json};

use super::scripted::{against, discovered, result};
use super::streams::ends;
use super::{ERAS, Host, builder, call, command, hosted, spawn};
use crate::kit::{AsyncKit, Client, Kit, background};
use crate::support::{Events, Gate, SOON, eventually, within};

fn no_arguments(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

fn server<K: Kit>() -> (Server<K::Runtime>, Registry) {
    let server = Server::new("changeable", "1").tool(no_arguments("old"), |_: Json, _: Context| Ok("old"));
    let server = server.resource(Resource::new("kiln://state", "state"), "warm");
    let registry = server.registry();
    (server, registry)
}

fn host<K: Kit>(server: Server<K::Runtime>) -> Host<K> {
    let (_, events) = Events::new();
    hosted::<K>(server, Gate::default(), events)
}

fn everything() -> SubscriptionFilter {
    let filter = SubscriptionFilter::new().tools_list_changed(true).prompts_list_changed(true);
    filter.resources_list_changed(true).resource_subscriptions(["kiln://state".into(), "kiln://none".into()])
}

/// A client of a server over each transport in each era; `told` hears notifications.
fn served<K: Kit>(scenario: impl Fn(&Client<K>, &Registry, &Events)) {
    for era in ERAS {
        let connecting = || {
            let (tell, events) = Events::new();
            let told = move |method: &str, params: Option<&Json>| {
                tell.tell(format!("{method} {}", params.map_or("", Json::get)));
            };
            (builder::<K>(era).on_notification(told), events)
        };
        let (server, registry) = self::server::<K>();
        let (builder, events) = connecting();
        let host = host::<K>(server);
        let client = K::wait(builder.http(&host.url)).unwrap();
        scenario(&client, &registry, &events);
        K::wait(client.close()).unwrap();
        host.end();

        let (server, registry) = self::server::<K>();
        let (builder, events) = connecting();
        let (ours, theirs) = ends::<K>();
        let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
        let client = K::wait(builder.stream(ours)).unwrap();
        scenario(&client, &registry, &events);
        K::wait(client.close()).unwrap();
        served.join().unwrap();
    }
}

fn next<K: Kit>(subscription: &Subscription<K::Runtime>) -> Notice {
    K::wait(subscription.next()).unwrap().expect("the subscription goes on")
}

fn add_tool(registry: &Registry, name: &str) {
    registry.change(|offer| offer.tool(no_arguments(name), |_: Json, _: Context| Ok("x"))).unwrap();
}

/// SUB-07, SUB-10, SUBL-04, SUBL-05: whoever listens hears of changes, in either era and over each transport, and what the
/// server does not tell can be read. The application hears the notifications themselves as well.
pub fn changes_are_heard<K: Kit>(_: &str) {
    served::<K>(|client, registry, events| {
        let subscription = K::wait(client.listen(everything())).unwrap();
        let unsupported = subscription.unsupported();
        assert_eq!(unsupported.resource_subscriptions, ["kiln://none"]);
        assert_eq!(subscription.acknowledged().resource_subscriptions, ["kiln://state"]);
        assert!(subscription.is_active());
        add_tool(registry, "new");
        assert_eq!(next::<K>(&subscription), Notice::Changed(Change::Tools));
        registry.resource_updated("kiln://state");
        assert_eq!(next::<K>(&subscription), Notice::Changed(Change::Resource("kiln://state".into())));
        events.expect("notifications/tools/list_changed");
        events.expect("notifications/resources/updated");
        assert_eq!(subscription.left_out(), (0, 0));
    });
}

/// A subscription can be changed while it goes on, and ended: whoever waits is then free.
pub fn a_subscription_is_changed_and_ended<K: Kit>(_: &str) {
    served::<K>(|client, registry, _| {
        let wanted = SubscriptionFilter::new().tools_list_changed(true);
        let subscription = K::wait(client.listen(wanted)).unwrap();
        registry.resource_updated("kiln://state");
        K::wait(subscription.change(everything())).unwrap();
        registry.resource_updated("kiln://state");
        assert_eq!(next::<K>(&subscription), Notice::Changed(Change::Resource("kiln://state".into())));
        let subscription = std::sync::Arc::new(subscription);
        let waiting = {
            let subscription = subscription.clone();
            background::<K, _>(move || K::wait(subscription.next()))
        };
        subscription.end();
        assert_eq!(waiting.join().unwrap(), None);
        assert_eq!(K::wait(subscription.next()).unwrap(), None);
        assert!(!subscription.is_active());
    });
}

/// SUB-11: dropping a subscription ends it on the server, too: there is room for another.
pub fn dropping_a_subscription_ends_it<K: Kit>(_: &str) {
    let (server, _registry) = server::<K>();
    let mut limits = mcp_driver::Limits::default();
    limits.listens = 1;
    let host = host::<K>(server.limits(limits));
    let mut limits = mcp_driver::Limits::default();
    limits.resume_total = Duration::ZERO;
    let client = K::wait(builder::<K>(EraChoice::Modern).limits(limits).http(&host.url)).unwrap();
    let listen = || K::wait(client.listen(everything()));
    let first = listen().unwrap();
    assert!(matches!(listen(), Err(CallError::Broken { .. })), "one more is answered 503");
    drop(first);
    eventually("there is room", || listen().map(Some));
    K::wait(client.close()).unwrap();
    host.end();
}

/// Limits::connections: over HTTP a subscription to a modern server takes a connection, and leaves one for calls and one
/// for its own change; one more is refused.
pub fn subscriptions_leave_a_connection_for_calls<K: Kit>(_: &str) {
    let (server, registry) = server::<K>();
    let host = host::<K>(server);
    let mut limits = mcp_driver::Limits::default();
    limits.connections = 3;
    let client = K::wait(builder::<K>(EraChoice::Modern).limits(limits).http(&host.url)).unwrap();
    let subscription = K::wait(client.listen(SubscriptionFilter::new().tools_list_changed(true))).unwrap();
    let error = K::wait(client.listen(everything())).map(drop).unwrap_err();
    assert!(matches!(&error, CallError::Full(full) if full.limit == "connections"), "{error}");
    assert_eq!(super::text::<K>(&client, "old"), "old");
    K::wait(subscription.change(everything())).unwrap();
    assert_eq!(super::text::<K>(&client, "old"), "old");
    registry.resource_updated("kiln://state");
    assert_eq!(next::<K>(&subscription), Notice::Changed(Change::Resource("kiln://state".into())));
    K::wait(client.close()).unwrap();
    host.end();
}

/// SUB-13, SUB-15: the end in good order by the server is no error; that of the connection is one, told once.
pub fn the_end_in_good_order_is_told_apart<K: Kit>(_: &str) {
    let (server, _registry) = server::<K>();
    let host = host::<K>(server);
    let client = host.client(EraChoice::Modern);
    let subscription = K::wait(client.listen(everything())).unwrap();
    host.stop.stop();
    assert_eq!(K::wait(subscription.next()).unwrap(), None);
    host.end();
    K::wait(client.close()).unwrap();

    let (server, _registry) = self::server::<K>();
    let (ours, theirs) = ends::<K>();
    let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
    let client = K::wait(builder::<K>(EraChoice::Auto).stream(ours)).unwrap();
    let subscription = K::wait(client.listen(everything())).unwrap();
    K::wait(client.close()).unwrap();
    assert!(matches!(K::wait(subscription.next()), Err(CallError::Broken { .. })));
    assert_eq!(K::wait(subscription.next()).unwrap(), None);
    served.join().unwrap();
}

/// SUBL-01 to SUBL-04, SUB-01: single resources are watched in either era, together and apart; what is not there is an
/// error, and leaves the others.
pub fn resources_are_watched_one_by_one<K: Kit>(_: &str) {
    served::<K>(|client, registry, events| {
        registry.change(|offer| offer.resource(Resource::new("kiln://door", "door"), "shut")).unwrap();
        let told = |uri: &str| {
            registry.resource_updated(uri);
            events.expect(&format!("\"uri\":\"{uri}\""));
        };
        K::wait(client.subscribe_resource("kiln://state")).unwrap();
        told("kiln://state");
        K::wait(client.subscribe_resource("kiln://door")).unwrap();
        told("kiln://door");
        told("kiln://state");
        K::wait(client.subscribe_resource("kiln://none")).unwrap_err();
        told("kiln://door");
        K::wait(client.subscribe_resource("kiln://door")).unwrap();
        K::wait(client.unsubscribe_resource("kiln://state")).unwrap();
        // Taken back over HTTP by another request, so not at once.
        eventually("it is not watched any more", || {
            registry.resource_updated("kiln://state");
            registry.resource_updated("kiln://door");
            let before = events.expect("resources/updated");
            if before.contains("kiln://state") {
                events.expect("kiln://door");
                return Err("still watched");
            }
            Ok(Some(()))
        });
        K::wait(client.unsubscribe_resource("kiln://door")).unwrap();
    });
}

/// SUB-11: who waits for the server to watch a resource, which takes its time, ends when somebody takes that back.
pub fn what_is_taken_back_is_not_waited_for<K: Kit>(_: &str) {
    let watches = json!({ "resources": { "subscribe": true } });
    for (era, asked) in ERAS.into_iter().zip(["subscriptions/listen", "resources/subscribe"]) {
        let ((tell, events), capabilities) = (Events::new(), watches.clone());
        let answer = move |message: &Value| match message["method"].as_str() {
            Some("server/discover") => vec![discovered(message, capabilities.clone())],
            Some("initialize") => {
                let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
                vec![result(message, hello)]
            }
            method => {
                tell.tell(method.unwrap_or_default());
                Vec::new()
            }
        };
        let client = against::<K>(builder::<K>(era), answer).unwrap();
        let watching = client.clone();
        let watching =
            background::<K, _>(move || K::wait(watching.subscribe_resource("kiln://state")).unwrap_err());
        events.expect(asked);
        K::wait(client.unsubscribe_resource("kiln://state")).unwrap();
        assert_eq!(watching.join(), CallError::Cancelled);
        K::wait(client.close()).unwrap();
    }
}

/// What a modern server says first on a stream: what of the wanted it will tell.
fn acknowledged(listen: &Value, uris: &[&str]) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": meta, "notifications": { "resourceSubscriptions": uris } },
    })
}

/// SUB-07: a resource that the server grants no more, because another is asked for besides, is not watched any more;
/// that is told, and it is not asked for again.
pub fn what_is_granted_no_more_is_told<K: Kit>(_: &str) {
    let ((tell, diagnostics), (ask, asked)) = (Events::new(), Events::new());
    let answer = move |message: &Value| match message["method"].as_str() {
        Some("server/discover") => vec![discovered(message, json!({ "resources": { "subscribe": true } }))],
        Some("subscriptions/listen") => {
            let uris = message["params"]["notifications"]["resourceSubscriptions"].as_array().unwrap();
            ask.tell(Value::from(uris.clone()).to_string());
            // The last one only.
            vec![acknowledged(message, &[uris.last().unwrap().as_str().unwrap()])]
        }
        _ => Vec::new(),
    };
    let builder = builder::<K>(EraChoice::Modern).on_diagnostic(move |report| tell.tell(report.to_string()));
    let client = against::<K>(builder, answer).unwrap();
    K::wait(client.subscribe_resource("kiln://door")).unwrap();
    assert_eq!(client.subscribed_resources(), ["kiln://door"]);
    K::wait(client.subscribe_resource("kiln://state")).unwrap();
    let told = diagnostics.expect("the server tells of 1 watched resources no more");
    assert!(!told.contains("kiln://"), "{told}");
    assert_eq!(client.subscribed_resources(), ["kiln://state"]);
    for filter in [r#"["kiln://door"]"#, r#"["kiln://door","kiln://state"]"#, r#"["kiln://state"]"#] {
        assert_eq!(asked.expect("kiln"), filter);
    }
    K::wait(client.close()).unwrap();
    assert_eq!(client.subscribed_resources(), [""; 0]);
    assert_eq!(diagnostics.others(), [""; 0]);
}

/// SUB-16: resources that are watched again, after the server had ended that, may have changed meanwhile: they are told as
/// updated, and those that are new are not.
pub fn what_is_watched_again_may_have_changed<K: Kit>(_: &str) {
    let ((tell, diagnostics), (hear, heard)) = (Events::new(), Events::new());
    let mut listening = None;
    let answer = move |message: &Value| match message["method"].as_str() {
        Some("server/discover") => {
            let ended = listening.take().map(|listen| result(&listen, json!({ "resultType": "complete" })));
            let hello = discovered(message, json!({ "resources": { "subscribe": true } }));
            ended.into_iter().chain([hello]).collect()
        }
        Some("subscriptions/listen") => {
            listening = Some(message.clone());
            let uris = message["params"]["notifications"]["resourceSubscriptions"].as_array().unwrap();
            vec![acknowledged(message, &uris.iter().map(|uri| uri.as_str().unwrap()).collect::<Vec<_>>())]
        }
        _ => Vec::new(),
    };
    let builder = builder::<K>(EraChoice::Modern)
        .on_diagnostic(move |report| tell.tell(report.to_string()))
        .on_notification(move |method, params| {
            hear.tell(format!("{method} {}", params.map_or("", Json::get)))
        });
    let client = against::<K>(builder, answer).unwrap();
    K::wait(client.subscribe_resource("kiln://door")).unwrap();
    K::wait(client.ping()).unwrap();
    diagnostics.expect("watched resources are not told of any more");
    K::wait(client.subscribe_resource("kiln://state")).unwrap();
    assert_eq!(heard.expect("updated"), r#"notifications/resources/updated {"uri":"kiln://door"}"#);
    K::wait(client.close()).unwrap();
    assert!(!heard.others().iter().any(|it| it.contains("updated")), "{:?}", heard.others());
}

/// SUB-11: who asks for a resource and does not wait for the answer takes back what he has asked for, in either era.
pub fn who_does_not_wait_for_it_watches_nothing<K: AsyncKit>(_: &str) {
    let watches = json!({ "resources": { "subscribe": true } });
    for (era, asked, taken_back) in [
        (EraChoice::Modern, "subscriptions/listen", "notifications/cancelled"),
        (EraChoice::Legacy, "resources/subscribe", "resources/unsubscribe"),
    ] {
        let ((tell, events), capabilities) = (Events::new(), watches.clone());
        let mut late = None;
        let answer = move |message: &Value| match message["method"].as_str() {
            Some("server/discover") => vec![discovered(message, capabilities.clone())],
            Some("initialize") => {
                let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
                vec![result(message, hello)]
            }
            // Only a legacy server is asked like this; and answers what it was asked before.
            Some("ping") => late.take().into_iter().chain([result(message, json!({}))]).collect(),
            method => {
                late = Some(result(message, json!({})));
                tell.tell(method.unwrap_or_default());
                Vec::new()
            }
        };
        let client = against::<K>(builder::<K>(era), answer).unwrap();
        let mut watching = client.subscribe_resource("kiln://state");
        K::block_on(poll_fn(|cx| {
            assert!(Pin::new(&mut watching).poll(cx).is_pending());
            Poll::Ready(())
        }));
        events.expect(asked);
        drop(watching);
        if era == EraChoice::Legacy {
            K::wait(client.ping()).unwrap();
        }
        events.expect(taken_back);
        assert_eq!(client.subscribed_resources(), [""; 0]);
        K::wait(client.close()).unwrap();
    }
}

/// STDIO-19, SUB-16: a child that dies while somebody listens is started again, and that something may have been missed is
/// told; what it was told to watch, too. Calls under way fail, and the next ones reach the new process.
pub fn a_child_that_dies_is_started_again_for_listeners<K: Kit>(program: &str) {
    for era in ERAS {
        let (tell, diagnostics) = Events::new();
        let builder = builder::<K>(era).on_diagnostic(move |report| tell.tell(report.to_string()));
        let (client, _) = spawn::<K>(command::<K>(program).arg("--changeable"), builder).unwrap();
        let subscription = K::wait(client.listen(everything())).unwrap();
        let pid = super::text::<K>(&client, "pid");
        within(SOON, || {
            let error = call::<K>(&client, "die", json!({ "code": 3 })).unwrap_err();
            assert!(error.to_string().contains("exit status: 3"), "{error}");
            assert_eq!(next::<K>(&subscription), Notice::Missed);
        });
        assert_ne!(super::text::<K>(&client, "pid"), pid);
        assert_eq!(client.era() == Era::Modern, era == EraChoice::Modern);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the first is reaped");
        K::wait(client.close()).unwrap();
        assert!(matches!(K::wait(subscription.next()), Err(CallError::Broken { .. })));
        assert_eq!(diagnostics.others(), Vec::<String>::new());
    }
}

/// Limits::restarts: with none, a child that dies stays dead, whoever listens, and says why.
pub fn restarts_of_a_child_are_bounded<K: Kit>(program: &str) {
    let mut limits = mcp_driver::Limits::default();
    limits.restarts = 0;
    let (client, _) =
        spawn::<K>(command::<K>(program).arg("--changeable"), builder::<K>(EraChoice::Auto).limits(limits))
            .unwrap();
    let subscription = K::wait(client.listen(everything())).unwrap();
    within(SOON, || {
        call::<K>(&client, "die", json!({ "code": 3 })).unwrap_err();
        let error = K::wait(subscription.next()).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("panic: x"), "{error}");
    });
    K::wait(client.close()).unwrap();
}
