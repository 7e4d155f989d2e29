//! Servers that ask their client in the middle of a call.

mod peer;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use mcp_driver::{Context, ElicitationHandle, Limits, Tool};
use serde_json::{Value, json};

pub use self::peer::{ALL, Outcome, Peer, SPEECHES, accept, did, roots, sampled};
pub use self::server::{Nothing, server};
use super::{hosted, http};
use crate::kit::{Kit, Server};
use crate::support::{DEADLINE, Events, Gate, Raw};

fn peer<K: Kit>(version: Option<&str>, capabilities: &str) -> (Peer, Arc<AtomicUsize>) {
    let holds = Arc::default();
    (Peer::connect::<K>(server(&holds).on_error(|_| {}), version, capabilities), holds)
}

fn seat_and_confirm(key: &str, _: &Value) -> Option<Value> {
    match key {
        "seat" => accept(json!({ "seat": "4A" })),
        "confirm" => accept(json!({ "really": true })),
        other => panic!("{other}"),
    }
}

/// MRTR-01, MRTR-19, ELIC-07, ELIC-10, RPC-25: the same handlers ask both clients and come to the same, and what is to be
/// done once is done once.
pub fn one_handler_asks_clients_of_both_eras<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, holds) = peer::<K>(version, ALL);
        for (count, tool) in ["book", "book_blocking"].into_iter().enumerate() {
            let outcome = peer.call(tool, json!({}), seat_and_confirm);
            assert_eq!(outcome.text(), format!("4A {count} true"), "{version:?}");
            assert_eq!((outcome.asked, holds.load(Ordering::SeqCst)), (2, count + 1), "{version:?} {tool}");
        }
    }
}

/// ELIC-30, ELIC-28: who says no or turns away is heard.
pub fn a_user_may_decline_or_turn_away<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        for (action, text) in
            [("decline", "the user declined to answer"), ("cancel", "the user dismissed the question")]
        {
            let outcome = peer.call("book", json!({}), |_, _| did(action));
            assert_eq!((outcome.text(), outcome.asked), (text, 1));
            assert_eq!(outcome.response["result"]["isError"], true);
            let outcome = peer.call("maybe", json!({}), |_, _| did(action));
            assert_eq!(outcome.text(), "standing");
        }
        assert_eq!(peer.call("maybe", json!({}), seat_and_confirm).text(), "4A");
    }
}

/// MRTR-07, SAMP-07, SAMP-21: several things are asked at once.
pub fn several_things_are_asked_in_one_round<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let mut methods = Vec::new();
        let outcome = peer.call("several", json!({}), |_, request| {
            methods.push(request["method"].as_str().unwrap().to_owned());
            match request["method"].as_str().unwrap() {
                "elicitation/create" => accept(json!({ "name": "Ada" })),
                "sampling/createMessage" => sampled("hello"),
                _ => roots(),
            }
        });
        methods.sort();
        assert_eq!(methods, ["elicitation/create", "roots/list", "sampling/createMessage"]);
        assert_eq!(outcome.text(), r#"{"name":"Ada"} "file:///srv" hello"#);
        assert_eq!(outcome.asked, if version.is_some() { 3 } else { 1 });
    }
}

/// MRTR-06: one key is one question, whatever happens.
pub fn a_key_is_asked_once<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let outcome = peer.call("twice", json!({}), seat_and_confirm);
        assert_eq!((outcome.text(), outcome.asked), ("4A4A", 1));
        let outcome = peer.call("confused", json!({}), seat_and_confirm);
        assert_eq!(outcome.error(), (-32603, "internal error"));
    }
}

/// MRTR-29, MRTR-31, MRTR-32, ELIC-33: a modern client is asked again, a legacy one fails the tool; what was not asked
/// for is ignored.
pub fn answers_that_do_not_fit_are_not_taken<K: Kit>(_: &str) {
    let wrong = |attempt: &mut usize| {
        *attempt += 1;
        match *attempt {
            1 => accept(json!({})),
            2 => accept(json!({ "seat": "4" })),
            3 => accept(json!({ "seat": 4 })),
            4 => Some(json!({ "roots": [] })),
            5 => Some(json!({ "action": "accept" })),
            _ => accept(json!({ "seat": "4A", "colour": "red" })),
        }
    };
    let (mut modern, _) = peer::<K>(None, ALL);
    let mut attempt = 0;
    let outcome = modern.call("maybe", json!({}), |_, _| wrong(&mut attempt));
    assert_eq!((outcome.text(), outcome.asked), ("4A", 6));
    let mut attempt = 0;
    let outcome = modern.call("maybe", json!({}), |_, _| {
        attempt += 1;
        if attempt < 3 { None } else { accept(json!({ "seat": "4A" })) }
    });
    assert_eq!((outcome.text(), outcome.asked), ("4A", 3));
    let params = json!({ "name": "maybe", "arguments": {}, "inputResponses": {
        "seat": { "action": "accept", "content": { "seat": "4A" } }, "other": 7,
    } });
    assert_eq!(modern.complete("tools/call", params, |_, _| None).text(), "4A");
    let mut attempt = 2;
    let outcome = modern.call("picky", json!({}), |_, _| {
        attempt += 1;
        accept(json!({ "number": attempt }))
    });
    assert_eq!((outcome.text(), outcome.asked), ("4", 2));

    let (mut legacy, _) = peer::<K>(Some("2025-11-25"), ALL);
    for (attempt, text) in [
        (0, "result.content: seat: missing"),
        (1, "result.content: seat: expected at least 2 characters"),
        (2, "result.content: seat: expected a string, found a number"),
        (3, "result.action: missing"),
        (4, "result.content: missing"),
    ] {
        let mut attempt = attempt;
        let outcome = legacy.call("maybe", json!({}), |_, _| wrong(&mut attempt));
        assert_eq!(outcome.text(), format!("the answer of the client does not fit: {text}"));
    }
    let outcome = legacy.call("maybe", json!({}), |_, _| None);
    assert_eq!(outcome.text(), "the client answered with error -1");
}

/// META-15, META-16, VER-23, MRTR-08, ELIC-05, SAMP-04, ROOT-09: nothing is asked of a client that did not declare it,
/// and it is told all that it lacks.
pub fn clients_are_told_what_they_lack<K: Kit>(_: &str) {
    let (mut modern, _) = peer::<K>(None, r#"{"elicitation":{"url":{}}}"#);
    let outcome = modern.refused("several");
    assert_eq!(outcome.error().0, -32021);
    let lacks = json!({ "roots": {}, "sampling": {}, "elicitation": { "form": {} } });
    assert_eq!(outcome.response["error"]["data"]["requiredCapabilities"], lacks);
    assert_eq!(modern.refused("manual").error().0, -32021);
    let (mut legacy, _) = peer::<K>(Some("2025-11-25"), "{}");
    for tool in ["book", "manual"] {
        let text = "the client cannot be asked: it did not declare `elicitation.form`";
        assert_eq!(legacy.refused(tool).text(), text);
    }
    let (mut old, _) = peer::<K>(Some("2025-03-26"), ALL);
    let text = "the client cannot be asked: its protocol version has no elicitation";
    assert_eq!(old.refused("book").text(), text);
}

/// MRTR-10, MRTR-11, MRTR-12, MRTR-16: a state that was altered, or belongs to another request, is refused with one
/// message, and nothing is asked or done.
pub fn states_are_taken_as_they_were_given_only<K: Kit>(_: &str) {
    let (mut peer, holds) = peer::<K>(None, ALL);
    let state = {
        let outcome = peer.call("book", json!({}), seat_and_confirm);
        outcome.state.unwrap()
    };
    assert_eq!(holds.load(Ordering::SeqCst), 1);
    let try_with = |peer: &mut Peer, tool: &str, arguments: Value, state: &str| {
        let params = json!({ "name": tool, "arguments": arguments, "requestState": state });
        peer.complete("tools/call", params, |key, _| panic!("asked for {key}"))
    };
    for (tool, arguments, state) in [
        ("book", json!({}), format!("{state}-TAMPERED")),
        ("book", json!({}), state[1..].to_owned()),
        ("book", json!({}), String::new()),
        ("book", json!({ "other": 1 }), state.clone()),
        ("book_blocking", json!({}), state.clone()),
        ("stubborn", json!({}), state.clone()),
        ("manual", json!({}), state.clone()),
    ] {
        let outcome = try_with(&mut peer, tool, arguments, &state);
        assert_eq!(outcome.error(), (-32602, "requestState is not valid"), "{tool}");
    }
    assert_eq!(holds.load(Ordering::SeqCst), 1);
}

/// RES-10, MRTR-02, PROMPT-12, TOOL-36: prompts and resources ask as tools do.
pub fn prompts_and_resources_ask<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let outcome = peer.complete("prompts/get", json!({ "name": "greet" }), seat_and_confirm);
        let message = &outcome.response["result"]["messages"][0];
        assert_eq!((&message["content"]["text"], outcome.asked), (&json!("Greet 4A"), 1));
        let outcome = peer.complete("resources/read", json!({ "uri": "x:dirs" }), |_, _| roots());
        assert_eq!(outcome.response["result"]["contents"][0]["text"], "file:///srv", "{outcome:?}");
        let outcome = peer.complete("prompts/get", json!({ "name": "greet" }), |_, _| did("decline"));
        assert_eq!(outcome.error(), (1, "the user declined to answer"));
    }
}

/// MRTR-18: a handler that ignores that it should leave does nothing that counts.
pub fn what_a_handler_returns_while_a_question_is_open_does_not_count<K: Kit>(_: &str) {
    let (mut peer, holds) = peer::<K>(None, ALL);
    let outcome = peer.call("stubborn", json!({}), seat_and_confirm);
    assert_eq!((outcome.text(), outcome.asked), ("4A 0", 1));
    assert_eq!(holds.load(Ordering::SeqCst), 1);
}

/// ELIC-17, ELIC-18, ELIC-19: users are sent to pages; the elicitation has a name where the revision has names.
pub fn users_are_sent_to_pages<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let outcome = peer.call("page", json!({}), |_, request| {
            let params = &request["params"];
            assert_eq!((&params["mode"], &params["url"]), (&json!("url"), &json!("https://example.com/pay")));
            let id = params["elicitationId"].as_str().map(str::len);
            assert_eq!(id, version.is_some().then_some(32));
            did("accept")
        });
        assert_eq!(outcome.text(), "on the way");
    }
    let (mut old, _) = peer::<K>(Some("2025-06-18"), ALL);
    assert!(old.refused("page").text().ends_with("has no elicitation by URL"));
}

/// ELIC-31: who agrees to visit a page has not visited it; the next round looks at what the server knows itself.
pub fn consent_to_visit_a_page_is_no_visit<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, paid) = peer::<K>(version, ALL);
        let mut asked = 0;
        let outcome = peer.call("deposit", json!({}), |_, request| {
            assert_eq!(request["params"]["url"], "https://example.com/pay/order-1");
            asked += 1;
            if asked == 3 {
                paid.store(1, Ordering::SeqCst);
            }
            did("accept")
        });
        assert_eq!((outcome.text(), outcome.asked), ("paid", 3), "{version:?}");
    }
}

/// SAMP-04, SAMP-12, SAMP-14, SAMP-15: a model uses tools of the server in the middle of a call, where its client
/// declared that it can.
pub fn a_model_uses_tools_of_the_server<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let mut modes = Vec::new();
        let outcome = peer.call("clock", json!({}), |_, request| {
            let params = &request["params"];
            assert_eq!(params["tools"][0]["name"], "now");
            modes.push(params["toolChoice"]["mode"].as_str().unwrap().to_owned());
            let Some(result) = params["messages"].get(2) else {
                let used = json!([{ "type": "tool_use", "id": "u1", "name": "now", "input": {} }]);
                return Some(
                    json!({ "role": "assistant", "content": used, "model": "m", "stopReason": "toolUse" }),
                );
            };
            assert_eq!(params["messages"][1]["content"][0]["id"], "u1");
            assert_eq!(result["content"][0]["toolUseId"], "u1");
            sampled(result["content"][0]["content"][0]["text"].as_str().unwrap())
        });
        assert_eq!((outcome.text(), outcome.asked), ("noon", 2), "{version:?}");
        assert_eq!(modes, ["required", "none"]);
    }
    let (mut modern, _) = peer::<K>(None, r#"{"sampling":{}}"#);
    let outcome = modern.refused("clock");
    assert_eq!(outcome.error().0, -32021);
    let lacks = &outcome.response["error"]["data"]["requiredCapabilities"];
    assert_eq!(lacks, &json!({ "sampling": { "tools": {} } }));
    let (mut legacy, _) = peer::<K>(Some("2025-11-25"), r#"{"sampling":{}}"#);
    let text = "the client cannot be asked: it did not declare `sampling.tools`";
    assert_eq!(legacy.refused("clock").text(), text);
}

/// SAMP-08: a conversation without a message is refused to the handler, and no client sees it.
pub fn a_conversation_without_a_message_is_not_sent<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let text = peer.refused("speechless").text().to_owned();
        assert!(text.ends_with("there is no message to continue"), "{text}");
    }
}

/// MRTR-05, MRTR-09, MRTR-22: a handler makes its rounds itself, in both eras.
pub fn handlers_may_make_the_rounds_themselves<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (mut peer, _) = peer::<K>(version, ALL);
        let outcome = peer.call("manual", json!({}), |key, _| {
            accept(json!({ "name": if key == "first" { "Ada" } else { "Lovelace" } }))
        });
        assert_eq!((outcome.text(), outcome.asked), ("Ada Lovelace", 2), "{version:?}");
        let outcome = peer.call("later", json!({}), |key, _| panic!("{key}"));
        assert_eq!(outcome.text(), "as it is");
        assert_eq!(peer.refused("nothing").error(), (-32603, "internal error"));
    }
    let (mut legacy, _) = peer::<K>(Some("2025-11-25"), ALL);
    let outcome = legacy.call("manual", json!({}), |_, _| None);
    assert_eq!((outcome.text(), outcome.asked), ("the client answered with error -1", 1));
}

/// `Limits::input_rounds` is reached exactly, and passed by one; with 0 legacy clients are not asked.
pub fn rounds_on_behalf_of_a_handler_are_bounded<K: Kit>(_: &str) {
    for (rounds, text) in [
        (8, "the client was asked 8 times, and that did not suffice"),
        (2, "the client was asked 2 times, and that did not suffice"),
        (0, "the client cannot be asked for input"),
    ] {
        let mut limits = Limits::default();
        limits.input_rounds = rounds;
        let server = server(&Arc::default()).limits(limits);
        let mut peer = Peer::connect::<K>(server, Some("2025-11-25"), ALL);
        let outcome = peer.call("insatiable", json!({}), |_, _| accept(json!({ "name": "x" })));
        assert_eq!((outcome.text(), outcome.asked), (text, rounds));
    }
}

/// ELIC-26, ELIC-27: that a page has to be visited first is an error of its own in one revision, a question in the
/// modern era, and an ordinary failure before both.
pub fn a_page_can_be_demanded<K: Kit>(_: &str) {
    let (mut peer_11, _) = peer::<K>(Some("2025-11-25"), ALL);
    let outcome = peer_11.refused("visit");
    assert_eq!(outcome.error().0, -32042);
    let page =
        json!({ "mode": "url", "message": "visit", "url": "https://example.com/v1", "elicitationId": "v1" });
    assert_eq!(outcome.response["error"]["data"]["elicitations"], json!([page]));
    for (version, capabilities) in [("2025-11-25", r#"{"elicitation":{}}"#), ("2025-06-18", ALL)] {
        let (mut other, _) = peer::<K>(Some(version), capabilities);
        let outcome = other.refused("visit");
        assert_eq!(outcome.text(), "visit: https://example.com/v1");
        assert_eq!(outcome.response["result"]["isError"], true);
    }
    let (mut modern, _) = peer::<K>(None, ALL);
    assert_eq!(modern.call("visit", json!({}), |_, _| did("accept")).text(), "visited");
    assert_eq!(modern.call("visit", json!({}), |_, _| did("decline")).text(), "the user declined to answer");
    let (mut unable, _) = peer::<K>(None, r#"{"elicitation":{}}"#);
    assert_eq!(unable.refused("visit").error().0, -32021);
}

/// A server that sends its clients to a page, and what the page tells it by.
fn paid<K: Kit>() -> (Server<K>, mpsc::Receiver<ElicitationHandle>) {
    let (handles, handed) = mpsc::channel();
    let server = Server::<K>::new("pages", "1").tool(Tool::new("pay"), move |_: Nothing, cx: Context| {
        let handles = handles.clone();
        async move {
            handles.send(cx.elicitation("e1")).unwrap();
            cx.elicit_url("pay", "pay", "https://example.com/pay").elicitation_id("e1").await?;
            Ok("on the way")
        }
    });
    (server, handed)
}

/// ELIC-19, ELIC-21, ELIC-22: whoever was sent to a page hears that it is done, once, while the call runs and after it;
/// in the modern era nothing is said.
pub fn clients_hear_that_a_page_has_done_its_part<K: Kit>(_: &str) {
    let complete = json!({
        "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": { "elicitationId": "e1" },
    });
    let (server, handed) = paid::<K>();
    let mut peer = Peer::connect::<K>(server, Some("2025-11-25"), ALL);
    for early in [true, false] {
        peer.request("tools/call", json!({ "name": "pay", "arguments": {} }));
        let asked = peer.read();
        assert_eq!(asked["params"]["elicitationId"], "e1");
        let page = handed.recv_timeout(DEADLINE).unwrap();
        if early {
            page.complete();
            assert_eq!(peer.read(), complete);
        }
        peer.send(json!({ "id": asked["id"], "result": did("accept") }));
        assert_eq!(peer.read()["result"]["content"][0]["text"], "on the way");
        if !early {
            page.clone().complete();
            assert_eq!(peer.read(), complete);
        }
        page.complete();
        peer.request("ping", json!({}));
        assert_eq!(peer.read()["result"], json!({}), "it was said twice");
    }
    drop(peer);

    let (server, handed) = paid::<K>();
    let mut modern = Peer::connect::<K>(server, None, ALL);
    let outcome = modern.call("pay", json!({}), |_, _| {
        handed.recv_timeout(DEADLINE).unwrap().complete();
        did("accept")
    });
    assert_eq!((outcome.text(), outcome.asked), ("on the way", 1));
    let page = handed.recv_timeout(DEADLINE).unwrap();
    page.complete();
    modern.request("ping", json!({}));
    assert_eq!(modern.read()["error"]["code"], -32601, "something was said before");
    drop(modern);
    // Nobody is there any more.
    page.clone().complete();
}

/// ELIC-22: over HTTP it is on the stream of the call while there is one, and on that of the session after it.
pub fn sessions_hear_that_a_page_has_done_its_part<K: Kit>(_: &str) {
    let complete = r#""method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}"#;
    let (server, handed) = paid::<K>();
    let host = hosted::<K>(server, Gate::default(), Events::new().1);
    let fields = http::session_with(&host.url, ALL);
    let mut stream = Raw::connect(&host.url);
    stream.bare("GET", &format!("{fields}Accept: text/event-stream\r\n"));
    for early in [true, false] {
        let mut call = Raw::connect(&host.url);
        call.post(&fields, &http::legacy(7, "pay"));
        let asked = call.expect("elicitation/create");
        let asked: Value = serde_json::from_str(asked.strip_prefix("data: ").unwrap()).unwrap();
        let page = handed.recv_timeout(DEADLINE).unwrap();
        if early {
            page.complete();
            call.expect(complete);
        }
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": did("accept") });
        let mut post = Raw::connect(&host.url);
        post.post(&fields, &answer.to_string());
        assert_eq!(post.answer().status, 202);
        call.expect(r#""result":{"content""#);
        if !early {
            page.complete();
            stream.expect(complete);
        }
    }
    host.end();
}

/// CAN-16: an ask ends with its time, and with its call; the client is told of both.
pub fn asks_end_with_their_time_and_their_call<K: Kit>(_: &str) {
    let (mut peer, _) = peer::<K>(Some("2025-11-25"), ALL);
    peer.request("tools/call", json!({ "name": "hurried", "arguments": {} }));
    let asked = peer.read();
    assert_eq!(asked["method"], "roots/list");
    let gone = peer.read();
    assert_eq!(gone["method"], "notifications/cancelled");
    assert_eq!(
        (&gone["params"]["requestId"], &gone["params"]["reason"]),
        (&asked["id"], &json!("no answer in time"))
    );
    assert_eq!(peer.read()["result"]["content"][0]["text"], "the client did not answer within 20ms");

    for tool in ["book", "book_blocking", "manual"] {
        let id = peer.request("tools/call", json!({ "name": tool, "arguments": {} }));
        let asked = peer.read();
        assert_eq!(asked["method"], "elicitation/create");
        peer.send(json!({ "method": "notifications/cancelled", "params": { "requestId": id } }));
        let gone = peer.read();
        assert_eq!(
            (&gone["method"], &gone["params"]["requestId"]),
            (&json!("notifications/cancelled"), &asked["id"])
        );
    }
    assert_eq!(peer.call("maybe", json!({}), seat_and_confirm).text(), "4A");
}

/// A question that nobody waits for any more is taken back, and the handler goes on.
pub fn a_question_that_is_dropped_is_taken_back<K: Kit>(_: &str) {
    let (mut peer, _) = peer::<K>(Some("2025-11-25"), ALL);
    peer.request("tools/call", json!({ "name": "impatient", "arguments": {} }));
    let asked = peer.read();
    let gone = peer.read();
    assert_eq!(
        (&gone["method"], &gone["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    assert_eq!(peer.read()["result"]["content"][0]["text"], "went on");
}

/// Hooks are around a call with all its rounds on a legacy connection, and around each round in the modern era.
pub fn hooks_are_around_handlers_that_ask<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (tell, events) = Events::new();
        let server = server(&Arc::default()).around(move |request, next| {
            let (tell, name) = (tell.clone(), request.name().to_owned());
            async move {
                let answer = next.run().await;
                tell.tell(format!("{name}: {}", answer.kind()));
                answer
            }
        });
        let mut peer = Peer::connect::<K>(server, version, ALL);
        for tool in ["book", "book_blocking", "manual"] {
            let outcome = peer.call(tool, json!({}), |key, request| match key {
                "first" | "last" => accept(json!({ "name": key })),
                key => seat_and_confirm(key, request),
            });
            assert_eq!(outcome.asked, 2);
            let rounds = if version.is_some() { 0 } else { 2 };
            for _ in 0..rounds {
                events.expect(&format!("{tool}: input required"));
            }
            events.expect(&format!("{tool}: ok"));
        }
        assert!(events.others().iter().all(|event| !event.contains("book")), "{:?}", events.others());
    }
}

/// VER-24: what is deprecated works, and is said once.
pub fn deprecated_questions_are_said_once<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let server = server(&Arc::default()).on_error(move |report| tell.tell(report.to_string()));
    let mut peer = Peer::connect::<K>(server, None, ALL);
    for _ in 0..2 {
        peer.call("several", json!({}), |key, _| match key {
            "who" => did("decline"),
            "say" => sampled("x"),
            _ => roots(),
        });
    }
    events.expect("sampling is deprecated by revision 2026-07-28");
    events.expect("roots are deprecated by revision 2026-07-28");
    assert!(events.others().is_empty(), "{:?}", events.others());
}

/// HTTPL-11, HTTPL-06: over HTTP the request is on the stream of its call, the answer a POST of its own.
pub fn asks_over_http_are_answered_by_a_post<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let server = server(&Arc::default()).on_error(move |report| tell.tell(report.to_string()));
    let host = hosted::<K>(server, Gate::default(), events);
    let fields = http::session_with(&host.url, ALL);
    for tool in ["book", "book_blocking", "manual"] {
        let mut call = Raw::connect(&host.url);
        call.post(&fields, &http::legacy(7, tool));
        let questions: &[(&str, Value)] = match tool {
            "manual" => &[("first", json!({ "name": "Ada" })), ("last", json!({ "name": "Lovelace" }))],
            _ => &[("seat", json!({ "seat": "4A" })), ("confirm", json!({ "really": false }))],
        };
        for (question, content) in questions {
            let lines = call.until(&format!(r#""message":"{question}""#));
            let line = lines.last().unwrap();
            let asked: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
            let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accept(content.clone()) });
            let mut post = Raw::connect(&host.url);
            post.post(&fields, &answer.to_string());
            assert_eq!(post.answer().status, 202);
        }
        call.expect(r#""result":{"content""#);
    }
    host.end();
}

/// B67: where nothing can be sent in the middle of a call, handlers of all kinds learn just that, and at once.
pub fn clients_without_a_way_back_are_not_asked<K: Kit>(_: &str) {
    for stateless in [false, true] {
        let server = server(&Arc::default()).on_error(|_| {});
        let server = if stateless { server.stateless() } else { server.json_responses() };
        let host = hosted::<K>(server, Gate::default(), Events::new().1);
        let fields = match stateless {
            true => "MCP-Protocol-Version: 2025-11-25\r\n".to_owned(),
            false => http::session_with(&host.url, ALL),
        };
        for tool in ["book", "book_blocking", "manual"] {
            let mut raw = Raw::connect(&host.url);
            raw.post(&fields, &http::legacy(7, tool));
            let answer = raw.answer();
            assert!(answer.body.contains("the client cannot be asked: it does not listen"), "{answer:?}");
        }
        host.end();
    }
}

/// META-16, HTTP-18: a modern client gets a status with what it lacks, and never a request.
pub fn modern_clients_over_http_are_asked_by_results<K: Kit>(_: &str) {
    let host = hosted::<K>(server(&Arc::default()).on_error(|_| {}), Gate::default(), Events::new().1);
    let mut raw = Raw::connect(&host.url);
    let (fields, body) = http::modern("several");
    raw.post(&fields, &body);
    let answer = raw.answer();
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("-32021"), "{}", answer.body);
    raw.post(&fields, &body.replace(r#"clientCapabilities":{}"#, &format!(r#"clientCapabilities":{ALL}"#)));
    let answer = raw.answer();
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
    assert!(answer.body.contains(r#""resultType":"input_required""#), "{}", answer.body);
    assert!(!answer.body.contains("requestState"), "nothing is to be remembered: {}", answer.body);
    host.end();
}
