use super::*;
use crate::server::{Change, ListChanges, ListenId};

const ALL: &str = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["test://static"]}"#;
const CHANGES: [fn() -> Change; 4] =
    [|| Change::Tools, || Change::Prompts, || Change::Resources, || Change::Resource("test://static".into())];

fn acknowledged(id: &str, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{filter},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

fn told(id: &str, method: &str, rest: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}{rest}}}}}"#
    )
}

fn ended(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id},"io.modelcontextprotocol/serverInfo":{{"name":"spokes","version":"2.1.0"}}}}}}}}"#
    )
}

fn cancelled(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// How often each subscription or session was told something, by the id that messages carry.
fn publish_all(client: &mut Client) -> Vec<String> {
    CHANGES.iter().for_each(|change| client.server.publish(now(), &change()));
    client.received()
}

/// SUB-03, SUB-08, SUB-19, SUB-20, SUB-21: the acknowledgement first, then each kind of change, all with the id
/// of the request in its own JSON type.
#[test]
fn a_subscription_is_acknowledged_and_told_of_each_kind_of_change() {
    for id in ["1", "9007199254740991", r#""sub-7""#] {
        let mut client = Client::new(changing());
        client.listen(id, ALL);
        assert_eq!(client.received(), [acknowledged(id, ALL)]);
        let expected = [
            told(id, "tools/list_changed", ""),
            told(id, "prompts/list_changed", ""),
            told(id, "resources/list_changed", ""),
            told(id, "resources/updated", r#","uri":"test://static""#),
        ];
        assert_eq!(publish_all(&mut client), expected);
    }
}

/// SUB-04: nothing is told of before the acknowledgement, and before it there is none without leave.
#[test]
fn what_changes_before_the_acknowledgement_is_told_after_it() {
    let mut client = Client::new(changing());
    client.send(&listen("1", ALL));
    assert_eq!(publish_all(&mut client), [""; 0]);
    let outputs = client.outputs();
    let [Output::Listen(id, asked)] = &*outputs else { panic!("{outputs:?}") };
    assert!(asked.wanted.tools && asked.wanted.watched.covers("test://static"));
    client.server.handle_admission(now(), *id, Admission::Granted);
    let lines = client.received();
    assert_eq!(lines[..2], [acknowledged("1", ALL), told("1", "tools/list_changed", "")]);
    let others = publish_all(&mut client).len();
    assert_eq!(lines.len(), 1 + others);
    // A second answer is none.
    client.server.handle_admission(now(), *id, Admission::Full);
    client.server.handle_admission(now(), ListenId(9), Admission::Granted);
    assert_eq!(client.received(), [""; 0]);
}

/// SUB-02: what was not asked for, or with `false`, does not come.
#[test]
fn only_what_was_asked_for_is_told() {
    let mut client = Client::new(changing());
    client.listen("1", r#"{"toolsListChanged":false,"promptsListChanged":true}"#);
    assert_eq!(client.received(), [acknowledged("1", r#"{"promptsListChanged":true}"#)]);
    assert_eq!(publish_all(&mut client), [told("1", "prompts/list_changed", "")]);
    client.listen("2", "{}");
    assert_eq!(client.received(), [acknowledged("2", "{}")]);
    assert_eq!(publish_all(&mut client).len(), 1);
}

/// SUB-06, SUB-23: what the server does not support, does not know, or cannot read, is left out.
#[test]
fn what_is_not_supported_is_left_out_of_the_acknowledgement() {
    let mut changes = ListChanges::NONE;
    changes.tools = true;
    let mut client = Client::new(full().changes(changes));
    client.listen("1", ALL);
    assert_eq!(client.received(), [acknowledged("1", r#"{"toolsListChanged":true}"#)]);
    assert_eq!(publish_all(&mut client), [told("1", "tools/list_changed", "")]);

    let mut client = Client::new(full().subscriptions(true));
    client.listen(
        "1",
        r#"{"taskIds":["t"],"toolsListChanged":true,"resourceSubscriptions":["test://nothing","test://item/7","test://static"]}"#,
    );
    let honoured = r#"{"resourceSubscriptions":["test://item/7","test://static"]}"#;
    assert_eq!(client.received(), [acknowledged("1", honoured)]);
}

/// SUB-18: a resource below one that was named is told of by its own URI; others are not.
#[test]
fn resources_are_told_of_that_were_named_or_lie_below() {
    let mut client = Client::new(changing());
    client.listen("1", r#"{"resourceSubscriptions":["test://item/7","test://static"]}"#);
    client.received();
    for uri in ["test://item/7", "test://item/77", "test://item/7/part", "test://item/", "test://other"] {
        client.server.publish(now(), &Change::Resource(uri.into()));
    }
    let updated = |uri: &str| told("1", "resources/updated", &format!(r#","uri":"{uri}""#));
    assert_eq!(client.received(), [updated("test://item/7"), updated("test://item/7/part")]);
}

/// SUB-05, SUB-10, SUB-12: several subscriptions share the stream, each with its own id, until it is cancelled.
#[test]
fn subscriptions_share_a_stream_and_end_one_by_one() {
    let mut client = Client::new(changing());
    client.listen("1", r#"{"toolsListChanged":true}"#);
    client.listen(r#""1""#, r#"{"toolsListChanged":true,"promptsListChanged":true}"#);
    client.received();
    client.server.publish(now(), &Change::Tools);
    let both = [told("1", "tools/list_changed", ""), told(r#""1""#, "tools/list_changed", "")];
    assert_eq!(client.received(), both);
    client.send(&cancel("1"));
    assert_eq!(client.received(), [""; 0]);
    assert_eq!(
        publish_all(&mut client),
        [told(r#""1""#, "tools/list_changed", ""), told(r#""1""#, "prompts/list_changed", "")]
    );
    client.send(&cancel(r#""1""#));
    assert_eq!(publish_all(&mut client), [""; 0]);
}

/// SUB-13, SUB-14, CAN-05, CAN-06: a server that stops, or whose client sends nothing more, ends each subscription
/// with its result, and then with a cancellation that names its request in its own JSON type.
#[test]
fn subscriptions_end_with_a_result_and_a_cancellation() {
    for by_shutdown in [true, false] {
        let mut client = Client::new(changing());
        client.listen("1", r#"{"toolsListChanged":true}"#);
        client.listen(r#""b""#, "{}");
        client.send(&listen("3", "{}"));
        client.received();
        if by_shutdown {
            client.server.shutdown(now());
        } else {
            client.end(End::Complete);
        }
        let [first, second] = ["1", r#""b""#].map(|id| [ended(id), cancelled(id)]);
        let refused = error("3", -32603, "the server is shutting down");
        assert_eq!(client.received(), [&first[..], &second[..], &[refused]].concat());
        client.server.publish(now(), &Change::Tools);
        client.end(End::Complete);
        assert!(client.received().is_empty() && client.server.is_finished());
    }
}

/// CAN-07: nothing else makes a server send a cancellation to a modern client: not a cancelled call, a call that is
/// given up, a listen that is refused, a subscription that the client ends, or a stream that breaks.
#[test]
fn nothing_but_the_end_of_a_subscription_is_told_by_a_cancellation() {
    let mut client = Client::new(changing());
    client.send(&modern_call("7"));
    client.send(&cancel("7"));
    client.send(&listen("1", "{}"));
    let outputs = client.outputs();
    let id =
        outputs.iter().find_map(|output| if let Output::Listen(id, _) = output { Some(*id) } else { None });
    client.server.handle_admission(now(), id.expect("a listen"), Admission::Full);
    client.listen("2", "{}");
    client.send(&cancel("2"));
    client.send(&modern_call("8"));
    client.end(End::Complete);
    client.server.handle_timeout(at(3_600_000));
    let mut broken = Client::new(changing());
    broken.listen("3", "{}");
    let mut lines = broken.received();
    broken.end(End::Broken);
    lines.extend(broken.received());
    lines.extend(client.received());
    assert!(lines.len() >= 3 && !lines.concat().contains("notifications/cancelled"), "{lines:?}");
    assert!(client.server.is_finished() && broken.server.is_finished());
}

/// SUB-16: a stream that breaks leaves nothing of its subscriptions.
#[test]
fn a_broken_stream_ends_its_subscriptions() {
    let mut client = Client::new(changing());
    client.listen("1", ALL);
    client.end(End::Broken);
    assert_eq!(publish_all(&mut client), [""; 0]);
    assert!(client.server.is_finished());
}

/// SUB-01: a filter is needed, of booleans and URIs.
#[test]
fn a_listen_without_a_proper_filter_is_refused() {
    let mut client = Client::new(changing());
    let missing = modern("1", "subscriptions/listen", "");
    let wrong = [
        missing,
        listen("1", "7"),
        listen("1", r#"{"toolsListChanged":"yes"}"#),
        listen("1", r#"{"resourceSubscriptions":["no uri"]}"#),
    ];
    for line in wrong {
        let answer = client.ask(&line);
        assert!(answer[0].contains(r#""code":-32602"#), "{line} {answer:?}");
    }
}

/// A refusal of the application is the error that it gives, in the revision's codes.
#[test]
fn who_may_not_listen_is_told_so() {
    let mut client = Client::new(changing());
    client.send(&listen("1", ALL));
    let Some(Output::Listen(id, _)) = client.outputs().pop() else { panic!() };
    let refusal = ErrorObject::new(7, "not you");
    client.server.handle_admission(now(), id, Admission::Refused(refusal));
    assert_eq!(client.received(), [error("1", 7, "not you")]);
    assert_eq!(publish_all(&mut client), [""; 0]);
}

/// RPC-08: the id of a subscription is in use as long as that is open.
#[test]
fn a_subscription_uses_its_id() {
    let mut client = Client::new(changing());
    client.listen("1", ALL);
    client.received();
    for line in [listen("1", ALL), modern_call("1")] {
        assert!(client.ask(&line)[0].contains("in flight already"));
    }
    client.call(&modern_call("2"));
    assert!(client.ask(&listen("2", ALL))[0].contains("in flight already"));
}

/// Limits::listens: reached exactly, and passed by one.
#[test]
fn subscriptions_of_one_stream_are_bounded() {
    let mut client = Client::new(changing().limits(limits(|limits| limits.listens = 2)));
    client.listen("1", ALL);
    client.listen("2", ALL);
    client.received();
    assert_eq!(client.ask(&listen("3", ALL)), [error("3", -32603, "too many subscriptions are open")]);
    client.send(&cancel("1"));
    client.listen("3", ALL);
    assert_eq!(publish_all(&mut client).len(), 1 + 2 * 4);
}

/// Limits::watched: a filter with one URI more is refused.
#[test]
fn resources_of_one_subscription_are_bounded() {
    let mut client = Client::new(changing().limits(limits(|limits| limits.watched = 2)));
    let filter = |count: usize| {
        let uris: Vec<_> = (0..count).map(|number| format!(r#""test://item/{number}""#)).collect();
        format!(r#"{{"resourceSubscriptions":[{}]}}"#, uris.join(","))
    };
    client.listen("1", &filter(2));
    client.received();
    assert!(client.ask(&listen("2", &filter(3)))[0].contains(r#""code":-32602"#));
}

/// Limits::notifications, Limits::notification_bytes: what a client does not read waits, each thing once and as
/// late as the last of its repeats; past the bound the oldest are lost. Both are told on this side.
#[test]
fn what_a_slow_reader_is_to_be_told_is_merged_and_bounded() {
    let slow = |limits: crate::limits::Limits| {
        let mut client = Client::new(changing().limits(limits));
        client.listen("1", ALL);
        // The acknowledgement is on its way and fills all the room there is.
        for change in [3, 0, 1, 0, 2, 3] {
            client.server.publish(now(), &CHANGES[change]());
        }
        let methods: Vec<_> =
            core::iter::from_fn(|| Some(client.received()).filter(|lines| !lines.is_empty()))
                .flatten()
                .map(|line| {
                    line.split("notifications/").nth(1).unwrap().split('"').next().unwrap().to_string()
                })
                .collect();
        (methods, client.diagnostics())
    };
    let (methods, diagnostics) = slow(limits(|limits| limits.transmit = 1));
    let merged = ["subscriptions/acknowledged", "prompts/list_changed", "tools/list_changed"];
    let rest = ["resources/list_changed", "resources/updated"];
    assert_eq!(methods, [&merged[..], &rest[..]].concat());
    assert!(diagnostics[0].contains("2 notifications that repeat others were left out, 0 lost"));

    for bound in [
        limits(|limits| (limits.transmit, limits.notifications) = (1, 2)),
        limits(|limits| (limits.transmit, limits.notification_bytes) = (1, 2 * 160 + 13)),
    ] {
        let (methods, diagnostics) = slow(bound);
        assert_eq!(methods, ["subscriptions/acknowledged", "resources/list_changed", "resources/updated"]);
        assert!(diagnostics[0].contains("1 notifications that repeat others were left out, 3 lost"));
    }
}

/// INIT-06, SUBL-05, SUBL-06, SUBL-07: a legacy client that is ready is told of lists unasked, without an id.
#[test]
fn a_legacy_session_is_told_of_lists_once_it_is_ready() {
    let mut client = Client::new(changing());
    client.send(&initialize(V));
    client.received();
    assert_eq!(publish_all(&mut client), [""; 0]);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let told = |kind: &str| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{kind}/list_changed"}}"#);
    assert_eq!(publish_all(&mut client), [told("tools"), told("prompts"), told("resources")]);
}

/// SUBL-02, SUBL-03, SUBL-04: a resource is told of from its subscribe to its unsubscribe; both answer an empty
/// result, also when repeated.
#[test]
fn a_legacy_client_is_told_of_the_resources_that_it_subscribed_to() {
    let mut client = Client::legacy(full().subscriptions(true), V);
    let request = |method: &str, uri: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#)
    };
    let empty = [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#];
    for _ in 0..2 {
        assert_eq!(client.ask(&request("subscribe", "test://static")), empty);
    }
    let updated =
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://static"}}"#;
    assert_eq!(publish_all(&mut client), [updated]);
    for _ in 0..2 {
        assert_eq!(client.ask(&request("unsubscribe", "test://static")), empty);
    }
    assert_eq!(publish_all(&mut client), [""; 0]);
    assert!(client.ask(&request("subscribe", "test://nothing"))[0].contains(r#""code":-32002"#));
    assert!(client.ask(&request("subscribe", "no uri"))[0].contains(r#""code":-32602"#));
    assert!(client.ask(&request("unsubscribe", "no uri"))[0].contains(r#""code":-32602"#));
}

/// Limits::watched: reached exactly, and passed by one.
#[test]
fn resources_of_a_legacy_session_are_bounded() {
    let mut client = Client::legacy(changing().limits(limits(|limits| limits.watched = 1)), V);
    let subscribe = |uri: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#)
    };
    assert!(client.ask(&subscribe("test://static"))[0].contains("result"));
    assert!(client.ask(&subscribe("test://item/1"))[0].contains(r#""code":-32602"#));
}

/// SUBL-08: each era has its own way, and a legacy session and modern subscriptions share a stream.
#[test]
fn each_era_listens_in_its_own_way() {
    let mut client = Client::legacy(changing(), V);
    client.listen("1", ALL);
    client.received();
    assert_eq!(publish_all(&mut client).len(), 3 + 4);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = client.ask(&modern("2", method, r#""uri":"test://static","#));
        assert!(answer[0].contains(r#""code":-32601"#));
    }
    let legacy = r#"{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{}}}"#;
    assert!(client.ask(legacy)[0].contains(r#""code":-32601"#));
}

/// RES-02, DISC-07: what is declared is what is delivered, and nothing is delivered that is not declared.
#[test]
fn what_is_not_declared_is_not_delivered() {
    let mut client = Client::legacy(full(), V);
    assert_eq!(publish_all(&mut client), [""; 0]);
    for line in [
        listen("1", ALL),
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://static"}}"#.into(),
    ] {
        assert!(client.ask(&line)[0].contains(r#""code":-32601"#));
    }
    let mut lists = ListChanges::NONE;
    (lists.tools, lists.prompts) = (true, true);
    for (config, declared) in [
        (config(), r#""tools":{}}"#),
        (config().changes(lists), r#""prompts":{"listChanged":true},"tools":{"listChanged":true}}"#),
        (full().subscriptions(true), r#""prompts":{},"resources":{"subscribe":true},"tools":{}}"#),
        (
            full().changes(ListChanges::ALL),
            r#""prompts":{"listChanged":true},"resources":{"listChanged":true},"tools":{"listChanged":true}}"#,
        ),
    ] {
        let mut client = Client::new(config);
        for line in [initialize(V), modern("1", "server/discover", "")] {
            let answer = client.ask(&line).remove(0);
            assert!(answer.contains(declared), "{declared} {answer}");
        }
    }
}

/// RES-03: a list that may change is there while it is empty.
#[test]
fn an_empty_list_that_may_change_is_listed() {
    let mut client = Client::new(config().changes(ListChanges::ALL));
    assert!(client.ask(&modern("1", "prompts/list", ""))[0].contains(r#""prompts":[]"#));
    assert!(
        client.ask(&modern("1", "resources/templates/list", ""))[0].contains(r#""resourceTemplates":[]"#)
    );
}

/// What comes after a change is served by the changed server, what runs goes on.
#[test]
fn a_server_changes_while_it_serves() {
    let mut client = Client::new(config());
    let (running, _) = client.call(&modern_call("1"));
    let mut changed = config();
    changed.tools.remove("add");
    client.server.handle_config(now(), Arc::new(changed));
    assert!(client.ask(&modern_call("2"))[0].contains("unknown tool"));
    client.server.respond(now(), running, &text("x"));
    assert!(client.received()[0].contains(r#""id":1,"result""#));
}
