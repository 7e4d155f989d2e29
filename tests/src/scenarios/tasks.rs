//! Calls that go on as tasks.

mod client;

use std::time::Duration;

use mcp_driver::model::{LoggingLevel, TaskSupport};
use mcp_driver::{
    AuthRefusal, BearerToken, Context, Grant, Limits, Next, Principal, Request, ResourceServer, Runtime,
    Server, TaskOptions, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::client::{Client, KNOWING, UNKNOWING, WAYS, Way, meta, post};
use super::asks::{Nothing, Peer};
use super::{hosted, limited};
use crate::kit::Kit;
use crate::support::{Events, Gate, Raw, SOON, Tell, within};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Tells when it is dropped, as with a handler.
struct Dropped(Tell);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.tell("dropped");
    }
}

const OPTIONAL: TaskSupport = TaskSupport::Optional;

fn options() -> TaskOptions {
    TaskOptions::new().ttl(Duration::from_secs(600)).poll_interval(Duration::from_millis(5))
}

/// A server whose tools go on as tasks: at work until `gate` opens, asking, failing.
fn server<R: Runtime>(tell: &Tell, gate: &Gate) -> Server<R> {
    let task = |name: &str| Tool::new(name).task_support(OPTIONAL);
    let (working, blocking) = ((tell.clone(), gate.clone()), (tell.clone(), gate.clone()));
    let listening = tell.clone();
    Server::new("tasks", "1")
        .logging()
        .on_error({
            let tell = tell.clone();
            move |report| tell.tell(report.to_string())
        })
        .tool(task("work"), move |_: Nothing, cx: Context| {
            let (tell, gate) = working.clone();
            async move {
                let _dropped = Dropped(tell.clone());
                cx.continue_as_task(options()).await?;
                cx.status_message("working hard");
                tell.tell(format!("works: {}", cx.is_task()));
                gate.wait().await;
                Ok("worked")
            }
        })
        .tool(task("work_blocking"), move |_: Nothing, cx: Context| {
            let (tell, gate) = blocking.clone();
            cx.continue_as_task(options()).wait()?;
            cx.status_message("working hard");
            tell.tell(format!("works: {}", cx.is_task()));
            gate.block();
            Ok("worked")
        })
        .tool(task("listen_blocking"), move |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).wait()?;
            listening.tell("works: blocking");
            if cx.wait(Duration::from_secs(3_600)) {
                listening.tell("dropped");
            }
            Ok(())
        })
        .tool(task("ask"), async |_: Nothing, cx: Context| {
            // Over before there is a task.
            let first = cx.elicit::<Name>("first", "And you are?").await?;
            cx.continue_as_task(options()).await?;
            let asks = (cx.elicit::<Name>("name", "Who?"), cx.elicit::<Name>("name2", "And who?"));
            let (one, two) = cx.all(asks).await?;
            let again = cx.elicit::<Name>("name", "Who?").await?;
            Ok(format!("{} {} {} {}", first.name, one.name, two.name, again.name))
        })
        .tool(task("ask_blocking"), |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).wait()?;
            Ok(cx.elicit::<Name>("name", "Who?").wait()?.name)
        })
        .tool(task("fail"), async |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).await?;
            Err::<(), _>(ToolError::new("it did not work"))
        })
        .tool(task("break"), async |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).await?;
            Err::<(), _>(ToolError::internal("a secret of ours"))
        })
        .tool(task("panic"), async |_: Nothing, cx: Context| -> Result<(), ToolError> {
            cx.continue_as_task(options()).await?;
            panic!("as asked")
        })
        .tool(task("report"), async |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).await?;
            cx.log(LoggingLevel::Error, "nobody hears this");
            cx.progress((1.0, 2.0));
            cx.progress(mcp_driver::proto::server::Progress::new(2.0).message("half way"));
            Ok("reported")
        })
        .tool(Tool::new("never"), async |_: Nothing, cx: Context| {
            cx.continue_as_task(options()).await?;
            Ok(())
        })
        .tool(task("short"), {
            let tell = tell.clone();
            move |_: Nothing, cx: Context| {
                let tell = tell.clone();
                async move {
                    cx.continue_as_task(options().ttl(Duration::from_millis(20))).await?;
                    let _dropped = Dropped(tell);
                    std::future::pending::<()>().await;
                    Ok(())
                }
            }
        })
}

fn start<K: Kit>(way: Way) -> (Client<K>, Gate, Events) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    (Client::of(way, server(&tell, &gate), KNOWING), gate, events)
}

/// TASK-02, TASK-09, TASK-16, TASK-22, TASK-24, TASK-66: a call is answered with a task that is there at once, and what its handler
/// returns is the result of that, as of the call.
pub fn a_call_goes_on_as_a_task<K: Kit>(_: &str) {
    for way in WAYS {
        let (mut client, gate, events) = start::<K>(way);
        for tool in ["work", "work_blocking"] {
            gate.close();
            let task = client.begin(tool);
            events.expect("works: true");
            let working = client.get(&task);
            assert_eq!((&working["status"], &working["ttlMs"]), (&json!("working"), &json!(600_000)));
            assert_eq!(working["pollIntervalMs"], 5);
            assert_eq!(working["statusMessage"], "working hard");
            gate.open();
            let done = client.becomes(&task, "completed");
            assert_eq!(
                done["result"],
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": "worked" }] })
            );
            for none in ["requestState", "error", "inputRequests"] {
                assert!(done.get(none).is_none(), "{done}");
            }
        }
        client.end();
    }
}

/// TASK-03, TASK-64: for who does not know tasks, the same handler serves a plain call.
pub fn who_knows_no_tasks_gets_a_plain_answer<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    gate.open();
    for way in WAYS {
        let mut client = Client::<K>::of(way, server(&tell, &gate), UNKNOWING);
        for tool in ["work", "work_blocking"] {
            let response = client.call(tool);
            assert_eq!(response["result"]["resultType"], "complete");
            assert_eq!(response["result"]["content"][0]["text"], "worked", "{response}");
            events.expect("works: false");
        }
        client.end();
    }
    let mut legacy = Peer::connect::<K>(server(&tell, &gate), Some("2025-11-25"), KNOWING);
    assert_eq!(legacy.refused("work").text(), "worked");
}

/// TASK-17, TASK-23, TASK-35, TASK-36, TASK-38, TASK-42, MRTR-29: what is asked before is asked in rounds, what a task asks is
/// waited for; answers may come one by one, and one that does not fit is asked for again, under another key.
pub fn a_task_asks_its_client<K: Kit>(_: &str) {
    let accept = |name: &str| json!({ "action": "accept", "content": { "name": name } });
    for way in WAYS {
        let (mut client, _, _) = start::<K>(way);
        let round = client.call("ask");
        assert_eq!(round["result"]["resultType"], "input_required", "{round}");
        let response = client.request(
            "tools/call",
            json!({
                "name": "ask", "arguments": {}, "inputResponses": { "first": accept("Ada") },
                "requestState": round["result"]["requestState"],
            }),
        );
        assert_eq!(response["result"]["resultType"], "task", "{response}");
        let task = response["result"]["taskId"].as_str().unwrap().to_owned();
        // One question is asked after the other.
        let asked = client.asks(&task, 2);
        let keys: Vec<_> = asked["inputRequests"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["name.1", "name2.2"]);
        assert_eq!(asked["inputRequests"]["name.1"]["params"]["message"], "Who?");

        client.update(&task, json!({ "name2.2": { "action": "accept", "content": { "name": 7 } }, "x": 1 }));
        let keys: Vec<_> = client.get(&task)["inputRequests"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["name.1", "name2.3"]);
        client.update(&task, json!({ "name2.3": accept("Grace") }));
        assert_eq!(client.get(&task)["status"], "input_required");
        client.update(&task, json!({ "name.1": accept("Jean") }));
        client.update(&task, json!({ "name.1": accept("late") }));
        let done = client.becomes(&task, "completed");
        // The same question under the same name has the same answer, as in any call.
        assert_eq!(done["result"]["content"][0]["text"], "Ada Jean Grace Jean");

        let task = client.begin("ask_blocking");
        client.becomes(&task, "input_required");
        client.update(&task, json!({ "name.1": { "action": "decline" } }));
        let done = client.becomes(&task, "completed");
        assert_eq!(done["result"]["content"][0]["text"], "the user declined to answer");
        assert_eq!(done["result"]["isError"], true);
        client.end();
    }
}

/// TASK-25, TASK-46: a handler is dropped, or told, when its task is cancelled; cancelling again changes nothing.
pub fn a_task_can_be_cancelled<K: Kit>(_: &str) {
    for way in WAYS {
        let (mut client, _, events) = start::<K>(way);
        for tool in ["work", "listen_blocking"] {
            let task = client.begin(tool);
            events.expect("works");
            client.cancel(&task);
            assert_eq!(client.get(&task)["status"], "cancelled");
            events.expect("dropped");
            client.cancel(&task);
            assert_eq!(client.get(&task)["status"], "cancelled");
        }
        let task = client.begin("ask_blocking");
        client.becomes(&task, "input_required");
        client.cancel(&task);
        assert!(client.get(&task).get("inputRequests").is_none());
        client.end();
    }
}

/// TASK-14, TASK-15, TASK-26, TASK-27, TASK-57: a failure that the model may read completes a task, an error fails it; of what is the
/// server's own business nothing is told.
pub fn tasks_fail_as_calls_do<K: Kit>(_: &str) {
    for way in WAYS {
        let (mut client, _, events) = start::<K>(way);
        let task = client.begin("fail");
        let done = client.becomes(&task, "completed");
        assert_eq!((&done["result"]["isError"], done.get("error")), (&json!(true), None));
        assert_eq!(done["result"]["content"][0]["text"], "it did not work");
        for (tool, told) in [("break", "a secret of ours"), ("panic", "as asked")] {
            let task = client.begin(tool);
            let failed = client.becomes(&task, "failed");
            assert_eq!(failed["error"], json!({ "code": -32603, "message": "internal error" }));
            assert_eq!((&failed["statusMessage"], failed.get("result")), (&json!("internal error"), None));
            events.expect(told);
        }
        client.end();
    }
}

/// TASK-53: of a task, no progress and no logs are sent; a word on the progress is its status.
pub fn tasks_report_by_their_status<K: Kit>(_: &str) {
    for way in WAYS {
        let (mut client, _, _) = start::<K>(way);
        let task = client.begin("report");
        assert_eq!(client.becomes(&task, "completed")["statusMessage"], "half way");
        client.end();
    }
}

/// TASK-43, TASK-44, TASK-68: to everybody else, a task is not there.
pub fn a_task_is_its_callers_alone<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let protected =
        ResourceServer::new("https://rig.example/mcp").authorization_server("https://auth.example");
    let server = server(&tell, &gate).resource_server(protected, async |token: BearerToken| {
        let principal = Principal::new(token.as_str());
        Ok::<_, AuthRefusal>(Grant::new(principal).audience("https://rig.example/mcp"))
    });
    let host = hosted::<K>(server, gate, events);
    let by = |who: &str, method: &str, params| {
        post(&host.url, &format!("Authorization: Bearer {who}\r\n"), KNOWING, method, params)
    };
    let created = by("ada", "tools/call", json!({ "name": "work", "arguments": {} }));
    let task = created["result"]["taskId"].as_str().unwrap();
    for (method, responses) in
        [("tasks/get", json!(null)), ("tasks/update", json!({})), ("tasks/cancel", json!(null))]
    {
        let params = |task: &str| json!({ "taskId": task, "inputResponses": responses });
        let never = by("ada", method, params("never"));
        assert_eq!(never["error"]["code"], -32602, "{never}");
        assert_eq!(by("bob", method, params(task)), never);
    }
    assert_eq!(by("ada", "tasks/get", json!({ "taskId": task }))["result"]["status"], "working");
    host.end();
}

/// TASK-50, TASK-51, TASK-68: who listens to a task is told how it is and what becomes of it, all that there is to know; to
/// tasks that there are not, nobody listens.
pub fn who_listens_to_a_task_hears_its_end<K: Kit>(_: &str) {
    let listen = |task: &str| json!({ "notifications": { "taskIds": ["never", task] } });
    let expected = json!([{ "type": "text", "text": "worked" }]);

    let (gate, (tell, _)) = (Gate::default(), Events::new());
    let mut peer = Peer::connect::<K>(server(&tell, &gate), None, KNOWING);
    peer.request("tools/call", json!({ "name": "work", "arguments": {} }));
    let task = peer.read()["result"]["taskId"].as_str().unwrap().to_owned();
    let id = peer.request("subscriptions/listen", listen(&task));
    let acknowledged = peer.read();
    assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": [task] }), "{acknowledged}");
    gate.open();
    let mut told = peer.read();
    while told["params"]["status"] == "working" {
        told = peer.read();
    }
    assert_eq!((&told["method"], &told["params"]["taskId"]), (&json!("notifications/tasks"), &json!(task)));
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    assert_eq!(
        (&told["params"]["status"], &told["params"]["result"]["content"]),
        (&json!("completed"), &expected)
    );
    // One who comes later is told, too.
    peer.request("subscriptions/listen", listen(&task));
    assert_eq!(peer.read()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(peer.read()["params"]["status"], "completed");
    drop(peer);

    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let host = hosted::<K>(server(&tell, &gate), gate, events);
    let created = post(&host.url, "", KNOWING, "tools/call", json!({ "name": "work", "arguments": {} }));
    let task = created["result"]["taskId"].as_str().unwrap();
    let mut raw = Raw::connect(&host.url);
    let mut params = listen(task);
    params["_meta"] = meta(KNOWING);
    raw.post(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
        &json!({ "jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params }).to_string(),
    );
    assert!(!raw.expect("acknowledged").contains("never"));
    raw.expect(r#""status":"working""#);
    host.gate.open();
    assert!(raw.expect(r#""status":"completed""#).contains("worked"));
    host.end();
}

/// Over HTTP a task outlives the connection that it was begun on, and the cancellation of its request; on a byte stream it
/// is there for that one alone, and ends with it.
pub fn tasks_live_as_long_as_they_can_be_reached<K: Kit>(_: &str) {
    let (mut client, gate, _) = start::<K>(Way::Http);
    // Each request has a connection of its own.
    let task = client.begin("work");
    gate.open();
    client.becomes(&task, "completed");
    client.end();

    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let mut peer = Peer::connect::<K>(server(&tell, &gate), None, KNOWING);
    let id = peer.request("tools/call", json!({ "name": "work", "arguments": {} }));
    let task = peer.read()["result"]["taskId"].clone();
    events.expect("works");
    peer.send(json!({ "method": "notifications/cancelled", "params": { "requestId": id } }));
    peer.request("tasks/get", json!({ "taskId": task }));
    assert_eq!(peer.read()["result"]["status"], "working");
    drop(peer);
    events.expect("dropped");
}

/// `Limits::shutdown`: a server that stops waits for its tasks as for calls, and then no longer.
pub fn stopping_ends_tasks<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let host = hosted::<K>(server(&tell, &gate), gate, events);
    let begin = || {
        let params = json!({ "name": "work", "arguments": {} });
        post(&host.url, "", KNOWING, "tools/call", params)["result"]["taskId"].clone()
    };
    begin();
    host.events.expect("works");
    host.stop.drain(Duration::from_millis(80));
    within(SOON, || host.served.join().unwrap());
    host.events.expect("dropped");

    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let host = hosted::<K>(server(&tell, &gate), gate, events);
    let params = json!({ "name": "work", "arguments": {} });
    post(&host.url, "", KNOWING, "tools/call", params);
    host.events.expect("works");
    host.stop.drain(SOON);
    assert!(host.served.peek().is_none());
    host.gate.open();
    within(SOON, || host.served.join().unwrap());
}

/// TASK-30: a task that still runs when its time is over fails, and its handler is dropped.
pub fn a_task_that_takes_too_long_fails<K: Kit>(_: &str) {
    for way in WAYS {
        let (mut client, _, events) = start::<K>(way);
        let task = client.begin("short");
        events.expect("dropped");
        let failed = client.get(&task);
        assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
        client.end();
    }
}

/// `Limits::tasks`: of too many, one more fails; a tool that does not support tasks cannot begin one.
pub fn tasks_are_bounded<K: Kit>(_: &str) {
    let few = |limits: &mut Limits| limits.tasks = 1;
    for way in WAYS {
        let (gate, (tell, events)) = (Gate::default(), Events::new());
        let mut client = Client::<K>::of(way, server(&tell, &gate).limits(limited(few)), KNOWING);
        let task = client.begin("work");
        assert_eq!(client.call("work")["error"]["code"], -32603);
        events.expect("`Limits::tasks` is reached (1)");
        assert_eq!(client.call("never")["error"]["code"], -32603);
        events.expect("only a tool with `Tool::task_support` can go on as a task");
        gate.open();
        client.becomes(&task, "completed");
        client.end();
    }
}

/// A hook is around the request, which is answered with a task; what becomes of that is no business of its. Where it
/// answers otherwise, nobody knows of the task, and it ends.
pub fn hooks_are_around_the_request<K: Kit>(_: &str) {
    for way in WAYS {
        let (gate, (tell, events)) = (Gate::default(), Events::new());
        let noted = tell.clone();
        let server = server(&tell, &gate).around(move |request: Request, next: Next| {
            let noted = noted.clone();
            async move {
                let answer = next.run().await;
                noted.tell(format!("{} was answered: {}", request.name(), answer.kind()));
                let refuses = request.name() == "listen_blocking" || request.params().contains("refuse");
                if refuses { mcp_driver::Answer::refuse(7, "no") } else { answer }
            }
        });
        let mut client = Client::<K>::of(way, server, KNOWING);
        for tool in ["work", "work_blocking"] {
            gate.close();
            let task = client.begin(tool);
            events.expect(&format!("{tool} was answered: task"));
            gate.open();
            assert_eq!(client.becomes(&task, "completed")["result"]["content"][0]["text"], "worked");
        }
        events.expect("tasks/get was answered: ok");
        gate.close();
        let refused = json!({ "name": "work", "arguments": {}, "refuse": true });
        for params in [refused, json!({ "name": "listen_blocking", "arguments": {} })] {
            let response = client.request("tools/call", params);
            assert_eq!(response["error"]["code"], 7, "{response}");
            events.expect("dropped");
        }
        client.end();
    }
}
