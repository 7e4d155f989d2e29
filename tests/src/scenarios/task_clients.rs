//! Calls that go on as tasks, with servers by hand, in both eras and over both transports.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::model::{
    DetailedTask, ElicitRequestFormParams, ElicitResult, SubscriptionFilter, TaskStatus, TaskSupport,
};
use mcp_driver::{
    Asked, CallError, Calls, ClientBuilder, Context, EraChoice, Group, GroupCall, GroupError, Json, Limits,
    Notice, Runtime, Server, TaskHandle, TaskOptions, Tool, ToolStart, Traffic, Unfinished, UpdateTask,
};
use serde_json::{Value, json};

use super::asks::Nothing;
use super::scripted::{against, discovered, exchanging, result};
use super::{ERAS, builder, call, hosted};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, Gate, Tell};

const DAY: &str = "2026-08-01T09:00:00Z";

fn form() -> Value {
    json!({
        "message": "Who?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    })
}

/// A workshop that overhauls one thing at a time: it asks who wants that, and goes on until it is told, or for ever.
#[derive(Default)]
struct Workshop {
    /// What was answered, or how it ended otherwise.
    name: Option<String>,
    cancelled: bool,
    /// It does not ask, and is never done.
    endless: bool,
    polls: usize,
    /// The request for the result of a task of 2025-11-25, until there is one.
    waiting: Option<Value>,
}

type Shared = Arc<Mutex<Workshop>>;

impl Workshop {
    fn status(&self) -> &'static str {
        match (&self.name, self.cancelled) {
            (_, true) => "cancelled",
            (Some(_), _) => "completed",
            (None, _) if self.endless || self.polls < 2 => "working",
            (None, _) => "input_required",
        }
    }

    fn result(&self) -> Value {
        let text = format!("overhauled for {}", self.name.as_deref().unwrap_or_default());
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    fn task(&self, modern: bool) -> Value {
        let (ttl, interval) = if modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        let mut task = json!({
            "taskId": "t-1", "status": self.status(), "createdAt": DAY, "lastUpdatedAt": DAY, ttl: null, interval: 1,
        });
        match self.status() {
            "input_required" if modern => {
                task["inputRequests"] =
                    json!({ "who": { "method": "elicitation/create", "params": form() } });
            }
            "completed" if modern => task["result"] = self.result(),
            _ => {}
        }
        task
    }

    /// What a server that speaks `2026-07-28` answers.
    fn modern(&mut self, message: &Value) -> Option<Value> {
        let capabilities = json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
        Some(match message["method"].as_str()? {
            "server/discover" => discovered(message, capabilities),
            "tools/call" => {
                let declared = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
                assert!(declared["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{declared}");
                let mut task = self.task(true);
                task["resultType"] = "task".into();
                result(message, task)
            }
            "tasks/get" => {
                self.polls += 1;
                result(message, self.task(true))
            }
            "tasks/update" => {
                let name = &message["params"]["inputResponses"]["who"]["content"]["name"];
                self.name = Some(name.as_str().unwrap_or("nobody").to_owned());
                result(message, json!({ "resultType": "complete" }))
            }
            "tasks/cancel" => {
                self.cancelled = true;
                result(message, json!({ "resultType": "complete" }))
            }
            _ => return None,
        })
    }

    /// What a server of `2025-11-25` says, on a byte stream.
    fn legacy(&mut self, message: &Value) -> Vec<Value> {
        let Some(method) = message["method"].as_str() else {
            // The answer to what was asked.
            let name = &message["result"]["content"]["name"];
            self.name = Some(name.as_str().unwrap_or("nobody").to_owned());
            return self.waiting.take().map(|request| result(&request, self.result())).into_iter().collect();
        };
        let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
        vec![match method {
            "initialize" => {
                let capabilities = json!({ "tools": {}, "tasks": tasks });
                result(message, json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities }))
            }
            "tools/list" => {
                let execution = json!({ "taskSupport": "required" });
                let tool = json!({ "name": "overhaul", "inputSchema": { "type": "object" }, "execution": execution });
                result(message, json!({ "tools": [tool] }))
            }
            "tools/call" => {
                assert!(message["params"]["task"].is_object(), "{message}");
                result(message, json!({ "task": self.task(false) }))
            }
            "tasks/get" => {
                self.polls += 1;
                result(message, self.task(false))
            }
            "tasks/list" => result(message, json!({ "tasks": [self.task(false)] })),
            "tasks/result" if self.name.is_some() => result(message, self.result()),
            "tasks/result" => {
                self.waiting = Some(message.clone());
                let mut params = form();
                params["_meta"] = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t-1" } });
                json!({ "jsonrpc": "2.0", "id": "s9", "method": "elicitation/create", "params": params })
            }
            "tasks/cancel" => {
                self.cancelled = true;
                result(message, self.task(false))
            }
            _ => return Vec::new(),
        }]
    }
}

fn asking<K: Kit>(era: EraChoice) -> ClientBuilder<K::Runtime> {
    let mut limits = Limits::default();
    limits.task_poll_min = Duration::from_millis(1);
    builder::<K>(era).limits(limits).tasks().on_elicit(async |_: ElicitRequestFormParams, _: Asked| {
        Ok(ElicitResult::accept(Json::new(&json!({ "name": "Ada" }))?))
    })
}

/// A client of a workshop on a byte stream, which tells what it is asked.
fn visiting<K: Kit>(builder: ClientBuilder<K::Runtime>, shop: &Shared, tell: Tell) -> Client<K> {
    let shop = shop.clone();
    let client = against::<K>(builder, move |message| {
        tell.tell(message["method"].as_str().unwrap_or("answer"));
        let mut shop = shop.lock().unwrap();
        let is_modern = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
        if is_modern { shop.modern(message).into_iter().collect() } else { shop.legacy(message) }
    });
    client.unwrap()
}

/// TASK-04, TASK-11, TASK-32, TASKL-09, TASKL-22: a call waits for the task that it becomes, what that asks reaches the
/// handlers, and its reply is that of any call.
pub fn a_call_waits_for_its_task<K: Kit>(_: &str) {
    for era in ERAS {
        let shop = Shared::default();
        let client = visiting::<K>(asking::<K>(era), &shop, Events::new().0);
        if era == EraChoice::Legacy {
            K::wait(client.list_tools()).unwrap();
        }
        let reply = call::<K>(&client, "overhaul", json!({})).unwrap();
        assert_eq!(reply.text(), "overhauled for Ada");
        assert!(shop.lock().unwrap().polls >= 2);
        K::wait(client.close()).unwrap();
    }
}

/// TASK-45, CAN-18: a call that is abandoned takes its task back, and is not cancelled otherwise.
pub fn an_abandoned_call_takes_its_task_back<K: Kit>(_: &str) {
    for era in ERAS {
        let shop = Shared::default();
        shop.lock().unwrap().endless = true;
        let (tell, events) = Events::new();
        let client = visiting::<K>(asking::<K>(era), &shop, tell);
        if era == EraChoice::Legacy {
            K::wait(client.list_tools()).unwrap();
        }
        let caller = client.clone();
        let abandon = K::abandonable(move |options| caller.call_tool_with("overhaul", json!({}), options));
        events.expect("tasks/get");
        abandon();
        events.expect("tasks/cancel");
        K::wait(client.close()).unwrap();
        assert!(!events.others().iter().any(|said| said == "notifications/cancelled"));
    }
}

/// TASK-21, TASK-37, TASK-45: a task that is held is looked at, answered by hand, waited for elsewhere and taken back.
pub fn a_task_is_held_and_found_again<K: Kit>(_: &str) {
    for era in ERAS {
        let shop = Shared::default();
        let client = visiting::<K>(asking::<K>(era), &shop, Events::new().0);
        let start = K::wait(client.call_tool_as_task("overhaul", json!({}))).unwrap();
        let ToolStart::Task { handle, task } = start else { panic!("{start:?}") };
        assert_eq!((task.status, handle.tool()), (TaskStatus::Working, Some("overhaul")));
        let kept = serde_json::to_string(&handle).unwrap();
        K::wait(client.close()).unwrap();

        let handle: TaskHandle = serde_json::from_str(&kept).unwrap();
        let client = visiting::<K>(asking::<K>(era), &shop, Events::new().0);
        let told: DetailedTask = K::wait(client.get_task(&handle)).unwrap();
        assert_eq!(told.task.status, TaskStatus::Working);
        let told = K::wait(client.get_task(&handle)).unwrap();
        assert_eq!(told.task.status, TaskStatus::InputRequired);
        let listed = K::wait(client.list_tasks());
        if era == EraChoice::Legacy {
            assert_eq!(listed.unwrap()[0].task_id, "t-1");
        } else {
            assert!(matches!(listed.unwrap_err().error, CallError::Unsupported { capability: None, .. }));
            let answer = ElicitResult::accept(Json::new(&json!({ "name": "Bob" })).unwrap());
            let update = UpdateTask::new(&handle, &told).answer("who", answer).unwrap();
            K::wait(client.update_task(&update)).unwrap();
        }
        let name = if era == EraChoice::Legacy { "Ada" } else { "Bob" };
        let reply = K::wait(client.wait_for_task(&handle)).unwrap();
        assert_eq!(reply.text(), format!("overhauled for {name}"));
        // It may have ended before, and says how it is now.
        K::wait(client.cancel_task(&handle)).unwrap();
        let error = K::wait(client.wait_for_task(&handle)).unwrap_err();
        let cancelled = |why: &Unfinished| matches!(why, Unfinished::Cancelled { .. });
        assert!(matches!(&error, CallError::Unfinished { why, .. } if cancelled(why)), "{error}");
        assert_eq!(error.task(), Some(&handle));
        K::wait(client.close()).unwrap();
    }
}

/// TASK-32: a task whose question nobody answers ends its call, which says what is missing; the task can be answered then.
pub fn a_question_without_an_answer_leaves_the_task<K: Kit>(_: &str) {
    let shop = Shared::default();
    let builder = asking::<K>(EraChoice::Modern).on_diagnostic(|_| {});
    let builder = builder.on_elicit(async |_: ElicitRequestFormParams, _: Asked| {
        Err::<ElicitResult, _>(std::io::Error::other("the screen is off").into())
    });
    let client = visiting::<K>(builder, &shop, Events::new().0);
    let error = call::<K>(&client, "overhaul", json!({})).unwrap_err();
    assert!(error.to_string().contains("needs input before it can go on"), "{error}");
    let handle = error.task().unwrap().clone();
    let told = K::wait(client.get_task(&handle)).unwrap();
    let answer = ElicitResult::accept(Json::new(&json!({ "name": "Eve" })).unwrap());
    let update = UpdateTask::new(&handle, &told).answer("who", answer).unwrap();
    K::wait(client.update_task(&update)).unwrap();
    assert_eq!(K::wait(client.wait_for_task(&handle)).unwrap().text(), "overhauled for Eve");
}

/// TASK-54: over HTTP, and with several servers, where the handle of a task says which one it is of.
pub fn tasks_go_to_the_server_that_has_them<K: Kit>(_: &str) {
    let _entered = K::enter();
    let shops = [Shared::default(), Shared::default()];
    let client = |shop: &Shared| {
        let shop = shop.clone();
        asking::<K>(EraChoice::Modern).exchanger(exchanging(move |message, outgoing| {
            let said = match message["method"].as_str() {
                Some("tools/list") => {
                    let tool = json!({ "name": "overhaul", "inputSchema": { "type": "object" } });
                    Some(result(message, json!({ "tools": [tool] })))
                }
                _ => shop.lock().unwrap().modern(message),
            };
            if message["method"].as_str().is_some_and(|method| method.starts_with("tasks/")) {
                assert_eq!(outgoing.head.headers.text("mcp-name"), Some("t-1"));
            }
            (200, None, said)
        }))
    };
    let group = Group::builder(builder::<K>(EraChoice::Modern))
        .server_with("kiln", "https://kiln.test/mcp", client(&shops[0]))
        .server_with("shop", "https://shop.test/mcp", client(&shops[1]));
    let group = K::wait(group.connect()).unwrap();
    let start = K::wait(group.call_as_task(GroupCall::new("shop__overhaul", json!({})))).unwrap();
    let handle = start.handle().unwrap().clone();
    assert_eq!((handle.server(), handle.tool()), (Some("shop"), Some("overhaul")));
    assert_eq!(K::wait(group.get_task(&handle)).unwrap().task.status, TaskStatus::Working);
    let reply = K::wait(group.wait_for_task(&handle, mcp_driver::Options::new())).unwrap();
    assert_eq!(reply.text(), "overhauled for Ada");
    K::wait(group.cancel_task(&handle)).unwrap();
    assert!(shops[1].lock().unwrap().cancelled && shops[0].lock().unwrap().polls == 0);
    let error = K::wait(group.get_task(&TaskHandle::new("t-1"))).unwrap_err();
    assert!(
        matches!(&error, GroupError::Misuse(misuse) if misuse.message.contains("with_server")),
        "{error}"
    );
    let error = K::wait(group.call_tool("shop__overhaul", json!({}))).unwrap_err();
    match error {
        GroupError::Call { error, .. } => assert_eq!(error.task().unwrap().server(), Some("shop")),
        other => panic!("{other}"),
    }
}

/// TASK-51, TASK-50: what a server tells of a task is heard by whoever listens.
pub fn what_is_told_of_a_task_is_heard<K: Kit>(_: &str) {
    let client = against::<K>(asking::<K>(EraChoice::Modern), |message| match message["method"].as_str() {
        Some("server/discover") => {
            vec![discovered(message, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }))]
        }
        Some("subscriptions/listen") => {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
            let told = |method: &str, mut params: Value| {
                params["_meta"] = meta.clone();
                json!({ "jsonrpc": "2.0", "method": method, "params": params })
            };
            let wanted = message["params"]["notifications"].clone();
            let mut task = Workshop { name: Some("Ada".into()), ..Workshop::default() }.task(true);
            task["taskId"] = "t-7".into();
            vec![
                told("notifications/subscriptions/acknowledged", json!({ "notifications": wanted })),
                told("notifications/tasks", task),
            ]
        }
        _ => Vec::new(),
    });
    let client = client.unwrap();
    let heard = background::<K, _>(move || {
        let subscription = K::wait(client.listen(SubscriptionFilter::new().tasks(["t-7"]))).unwrap();
        K::wait(subscription.next())
    });
    match heard.join().unwrap() {
        Some(Notice::Task(task)) => {
            assert_eq!((task.task.task_id.as_str(), task.task.status), ("t-7", TaskStatus::Completed));
            assert!(task.result.is_some());
        }
        other => panic!("{other:?}"),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn quick() -> TaskOptions {
    TaskOptions::new().poll_interval(Duration::from_millis(1))
}

/// A server of our own, whose tool asks as a task.
fn overhauling<R: Runtime>(tell: Tell) -> Server<R> {
    let wait = tell.clone();
    let task = |name| Tool::new(name).task_support(TaskSupport::Optional);
    Server::new("workshop", "1")
        .tool(task("overhaul"), async |_: Nothing, cx: Context| {
            cx.continue_as_task(quick()).await?;
            let asked = cx.elicit::<Name>("who", "Who?").await?;
            Ok(format!("overhauled for {}", asked.name))
        })
        .tool(task("wait"), move |_: Nothing, cx: Context| {
            let tell = wait.clone();
            async move {
                cx.continue_as_task(quick()).await?;
                let _dropped = Dropped(tell.clone());
                tell.tell("waits");
                std::future::pending::<()>().await;
                Ok(())
            }
        })
}

struct Dropped(Tell);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.tell("dropped");
    }
}

/// TASK-01, TASK-04, TASK-32, TASK-45, TASK-50, TASK-51: with our own servers: a call waits for its task, which asks; who
/// listens hears how far it is; one that is abandoned stops its task; and a client that knows no tasks has its reply all the same.
pub fn both_halves_agree<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let host = hosted::<K>(overhauling(tell.clone()), Gate::default(), Events::new().1);
    for is_http in [true, false] {
        let connect = |builder: ClientBuilder<K::Runtime>| match is_http {
            true => K::wait(builder.http(&host.url)).unwrap(),
            false => K::wait(builder.in_process(overhauling(tell.clone()))).unwrap(),
        };
        let polls = tell.clone();
        let watched = asking::<K>(EraChoice::Modern).on_traffic(move |traffic| match traffic {
            Traffic::Sent(bytes) if String::from_utf8_lossy(bytes).contains("tasks/get") => {
                polls.tell("polls")
            }
            _ => {}
        });
        let client = connect(watched);
        assert_eq!(call::<K>(&client, "overhaul", json!({})).unwrap().text(), "overhauled for Ada");
        let start = K::wait(client.call_tool_as_task("overhaul", json!({}))).unwrap();
        let handle = start.handle().unwrap();
        let wanted = SubscriptionFilter::new().tasks([handle.task_id()]);
        let subscription = K::wait(client.listen(wanted)).unwrap();
        assert_eq!(K::wait(client.wait_for_task(handle)).unwrap().text(), "overhauled for Ada");
        let mut told = TaskStatus::Working;
        while told != TaskStatus::Completed {
            match K::wait(subscription.next()).unwrap() {
                Some(Notice::Task(task)) => told = task.task.status,
                other => panic!("{other:?}"),
            }
        }
        drop(subscription);
        let caller = client.clone();
        let abandon = K::abandonable(move |options| caller.call_tool_with("wait", json!({}), options));
        // There is a task once it is polled: before, the call itself would be cancelled.
        events.expect("waits");
        events.expect("polls");
        abandon();
        events.expect("dropped");
        K::wait(client.close()).unwrap();
        let unknowing =
            builder::<K>(EraChoice::Modern).on_elicit(async |_: ElicitRequestFormParams, _: Asked| {
                Ok(ElicitResult::accept(Json::new(&json!({ "name": "Ada" }))?))
            });
        let client = connect(unknowing);
        assert_eq!(call::<K>(&client, "overhaul", json!({})).unwrap().text(), "overhauled for Ada");
        K::wait(client.close()).unwrap();
    }
    host.end();
}
