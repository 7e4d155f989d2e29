//! Calls that go on as tasks, and what is asked of those.

use super::*;
use crate::change::TaskChange;
use crate::model::{CreateTaskResult, DetailedTask, Task, TaskStatus, TaskSupport};
use crate::server::tasks::TaskDetail;
use crate::server::testing::tool;
use crate::server::{
    Admission, Call, CallId, Change, Config, ListChanges, Target, TaskAction, TaskAnswer, Tools, Wanted,
};

const DECLARED: &str = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

/// What a client may say that has not declared the extension, the capability of 2025-11-25 among it (TASK-63).
const UNDECLARED: [&str; 5] = [
    "{}",
    r#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#,
    r#"{"extensions":{}}"#,
    r#"{"extensions":{"io.modelcontextprotocol/other":{}}}"#,
    r#"{"extensions":{"io.modelcontextprotocol/tasks":true}}"#,
];

/// A server with a tool that may be a task, one that must be, and one that is none.
fn offering() -> Config {
    let mut tools = Tools::new();
    for (name, support) in
        [("may", TaskSupport::Optional), ("must", TaskSupport::Required), ("add", TaskSupport::Forbidden)]
    {
        tools.insert(tool(name, r#"{"type":"object"}"#)).unwrap();
        tools.set_task_support(name, support);
    }
    config().tools(tools).tasks(true)
}

fn request(method: &str, params: &str, capabilities: &str) -> String {
    let meta = META.replace(r#"clientCapabilities":{}"#, &format!(r#"clientCapabilities":{capabilities}"#));
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params},{meta}}}}}"#)
}

fn call(web: &mut Web, name: &str, capabilities: &str) -> Trip {
    let params = format!(r#""name":"{name}""#);
    web.ask(modern_head("tools/call", Some(name)), &request("tools/call", &params, capabilities))
}

/// A request about the task `t`.
fn about(web: &mut Web, method: &str, params: &str, capabilities: &str) -> Trip {
    web.ask(modern_head(method, Some("t")), &request(method, params, capabilities))
}

fn handed(trip: &mut Trip) -> (CallId, Call) {
    assert_eq!(trip.calls.len(), 1, "{}", trip.body);
    trip.calls.remove(0)
}

fn created() -> CreateTaskResult {
    CreateTaskResult::new(Task::new("t", "2026-08-01T09:00:00Z").ttl_ms(5_u64))
}

const METHODS: [(&str, &str); 3] = [
    ("tasks/get", r#""taskId":"t""#),
    ("tasks/update", r#""taskId":"t","inputResponses":{}"#),
    ("tasks/cancel", r#""taskId":"t""#),
];

/// TASK-01, TASK-62, TASK-64: the extension is declared to modern clients, and nothing of tasks to legacy ones.
#[test]
fn the_extension_is_declared_in_the_modern_era() {
    for offers in [true, false] {
        let mut web = Web::new(offering().tasks(offers));
        let discovered = web.ask(modern_head("server/discover", None), &modern("1", "server/discover", ""));
        let declared = r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#;
        assert_eq!(discovered.body.contains(declared), offers, "{}", discovered.body);
        assert!(!discovered.body.contains(r#""tasks":"#));
        for version in ["2025-11-25", "2025-06-18"] {
            let greeted = web.ask(legacy_head(None), &initialize(version));
            assert!(greeted.status() == 200 && !greeted.body.contains("tasks"), "{}", greeted.body);
        }
    }
}

/// TASK-02, TASK-09: a call of a client that has declared the extension may be answered with a task, or not.
#[test]
fn a_call_may_be_answered_with_a_task() {
    let mut web = Web::new(offering());
    for name in ["may", "must"] {
        let mut trip = call(&mut web, name, DECLARED);
        let (id, call) = handed(&mut trip);
        assert!(call.may_be_task());
        trip.exchange.respond(now(), id, &created());
        web.drive(&mut trip);
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-08-01T09:00:00Z","lastUpdatedAt":"2026-08-01T09:00:00Z","ttlMs":5,{NAMED}}}}}"#
        );
        assert_eq!((trip.status(), &*trip.body, trip.ended), (200, &*expected, true));
    }
    let mut trip = call(&mut web, "may", DECLARED);
    let (id, _) = handed(&mut trip);
    trip.exchange.respond(now(), id, &text("at once"));
    web.drive(&mut trip);
    assert!(trip.body.contains(r#""resultType":"complete""#));
}

/// TASK-03, TASK-10: nobody is told of a task who has not declared the extension with this very request, nor for a tool
/// that is none; the server's program hears of its mistake.
#[test]
fn a_task_is_only_for_those_who_know_what_that_is() {
    let mut web = Web::new(offering());
    let (_, declared_before) = handed(&mut call(&mut web, "may", DECLARED));
    assert!(declared_before.may_be_task());
    let undeclared = UNDECLARED.map(|capabilities| ("may", capabilities));
    for (name, capabilities) in undeclared.into_iter().chain([("add", DECLARED)]) {
        let mut trip = call(&mut web, name, capabilities);
        let (id, call) = handed(&mut trip);
        assert!(!call.may_be_task(), "{capabilities}");
        trip.exchange.respond(now(), id, &created());
        web.drive(&mut trip);
        assert_eq!(code(&trip), -32603);
        assert!(trip.told.iter().any(|told| told.contains("cannot go on as a task")), "{:?}", trip.told);
    }
}

/// TASK-06, TASK-07, TASK-63: a tool that must be a task is for nobody else, and the error names the extension.
#[test]
fn a_tool_that_must_be_a_task_needs_the_extension() {
    let mut web = Web::new(offering());
    for capabilities in UNDECLARED {
        let trip = call(&mut web, "must", capabilities);
        assert_eq!((answered(&trip), trip.calls.len()), ((400, -32021), 0));
        let data = r#""data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
        assert!(trip.body.contains(data), "{}", trip.body);
    }
}

/// TASK-64: legacy clients have no such extension, so for them such tools are like others, whatever they declare.
#[test]
fn legacy_clients_are_served_plain_calls() {
    let mut web = Web::new(offering());
    let session = web.open_able("2025-11-25", DECLARED);
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"must"}}"#;
    let mut trip = web.ask(legacy_head(Some(&session)), body);
    let (id, call) = handed(&mut trip);
    assert!(!call.may_be_task());
    trip.exchange.respond(now(), id, &text("plain"));
    web.drive(&mut trip);
    assert!(trip.body.contains("plain"));
    for (method, params) in METHODS {
        let body = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"{method}","params":{{{params}}}}}"#);
        assert_eq!(code(&web.ask(legacy_head(Some(&session)), &body)), -32601);
    }
    let listed = web.ask(legacy_head(Some(&session)), LIST);
    assert!(!listed.body.contains("execution"), "{}", listed.body);
}

/// TASK-61: a member `task` in the parameters of a call means nothing.
#[test]
fn a_wish_for_a_task_is_not_heard() {
    let mut web = Web::new(offering());
    let body = request("tools/call", r#""name":"add","task":{"ttl":60000}"#, DECLARED);
    let (_, call) = handed(&mut web.ask(modern_head("tools/call", Some("add")), &body));
    assert!(!call.may_be_task());
}

/// TASK-28, TASK-38, TASK-39, TASK-46, TASK-47: what is asked of a task is handed out, and answered with a result that
/// says it is complete.
#[test]
fn what_is_asked_of_a_task_is_handed_out() {
    let mut web = Web::new(offering());
    for (method, params) in METHODS {
        let mut trip = about(&mut web, method, &params.replace("{}", r#"{"k":{"roots":[]}}"#), DECLARED);
        let (id, call) = handed(&mut trip);
        let Target::Task(asked) = call.target() else { panic!("{call:?}") };
        assert_eq!(
            (&*asked.task_id, call.target().method(), call.target().own_name()),
            ("t", method, method)
        );
        assert!(!call.target().may_require_input());
        match &asked.action {
            TaskAction::Update(responses) => assert_eq!(responses["k"].get(), r#"{"roots":[]}"#),
            action => assert_eq!(action.method(), method),
        }
        trip.exchange.respond(now(), id, &TaskAnswer::Acknowledged);
        web.drive(&mut trip);
        let expected = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete",{NAMED}}}}}"#);
        assert_eq!((trip.status(), &*trip.body), (200, &*expected));
    }
}

/// TASK-56, TASK-63: who has not declared the extension is told so before anybody looks for the task.
#[test]
fn what_is_asked_of_a_task_needs_the_extension() {
    let mut web = Web::new(offering());
    for (method, params) in METHODS {
        for capabilities in UNDECLARED {
            let trip = about(&mut web, method, params, capabilities);
            assert_eq!((answered(&trip), trip.calls.len()), ((400, -32021), 0), "{method} {capabilities}");
            assert!(trip.body.contains(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#));
        }
    }
}

/// TASK-58: parameters that lack something, or have it wrong, are named.
#[test]
fn what_is_asked_of_a_task_has_to_be_in_order() {
    let mut web = Web::new(offering());
    for (method, params, message) in [
        ("tasks/get", r#""x":1"#, "params.taskId: missing"),
        ("tasks/cancel", r#""taskId":null"#, "params.taskId: missing"),
        ("tasks/get", r#""taskId":7"#, "params.taskId: expected a string, found a number"),
        ("tasks/get", r#""taskId":"t","taskId":"u""#, "params.taskId: occurs twice"),
        ("tasks/update", r#""taskId":"t""#, "params.inputResponses: missing"),
        ("tasks/update", r#""taskId":"t","inputResponses":[]"#, "params.inputResponses: expected"),
    ] {
        let trip = about(&mut web, method, params, DECLARED);
        assert_eq!((code(&trip), trip.calls.len()), (-32602, 0), "{params}");
        assert!(trip.body.contains(message), "{}", trip.body);
    }
}

/// TASK-55: the headers have to name the method and the task, as the body does.
#[test]
fn headers_name_the_task() {
    let mut web = Web::new(offering());
    for (method, params) in METHODS {
        let body = request(method, params, DECLARED);
        for (says, name, works) in [
            (method, Some("t"), true),
            (method, Some("T"), false),
            (method, None, false),
            ("tasks/other", Some("t"), false),
        ] {
            let trip = web.ask(modern_head(says, name), &body);
            assert_eq!(trip.calls.len(), usize::from(works), "{says} {name:?}");
            if !works {
                assert_eq!(answered(&trip), (400, -32020));
            }
        }
    }
}

/// TASK-59, TASK-60: what 2025-11-25 has besides is unknown, and so is all of it where there are no tasks.
#[test]
fn other_methods_are_unknown() {
    for (config, methods) in [
        (offering(), &["tasks/result", "tasks/list"][..]),
        (
            offering().tasks(false),
            &["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"],
        ),
    ] {
        let mut web = Web::new(config);
        for method in methods {
            let trip = about(&mut web, method, r#""taskId":"t""#, DECLARED);
            assert_eq!(answered(&trip), (404, -32601), "{method}");
        }
    }
}

fn listening(web: &mut Web, filter: &str, capabilities: &str) -> Trip {
    let body = request("subscriptions/listen", &format!(r#""notifications":{filter}"#), capabilities);
    web.ask(modern_head("subscriptions/listen", None), &body)
}

fn changed(id: &str) -> TaskChange {
    TaskChange::new(id.into())
}

fn detail(id: &str, status: TaskStatus) -> TaskDetail {
    TaskDetail::new(DetailedTask::new(Task::new(id, "2026-08-01T09:00:00Z").status(status)), None)
}

/// The tasks that are to be read.
fn asked(exchange: &mut Exchange) -> Vec<String> {
    core::iter::from_fn(|| exchange.poll_output())
        .filter_map(|output| match output {
            ExchangeOutput::Task(task) => Some(task.id().into()),
            _ => None,
        })
        .collect()
}

/// One that listens, let in so, before what it says was looked at.
fn let_in(config: Config, ids: &str, admission: Admission, before: &[Change]) -> Trip {
    let mut web = Web::new(config);
    let body = request("subscriptions/listen", &format!(r#""notifications":{{"taskIds":{ids}}}"#), DECLARED);
    let mut trip = web.open_trip(modern_head("subscriptions/listen", None), &body);
    while let Some(output) = trip.exchange.poll_output() {
        if let ExchangeOutput::Listen(_) = output {
            before.iter().for_each(|change| trip.exchange.publish(now(), change));
            trip.exchange.handle_admission(now(), admission.clone());
            break;
        }
    }
    trip
}

fn only(ids: &[&str]) -> Admission {
    Admission::Partly(Wanted { tasks: ids.iter().map(|id| Arc::from(*id)).collect(), ..Wanted::new() })
}

/// TASK-50, TASK-51: who listens to tasks is told to which, then how each is, and then of each of their changes all that
/// there is to tell.
#[test]
fn who_listens_to_a_task_is_told_of_it() {
    let mut web = Web::new(offering());
    web.admission = only(&["t"]);
    let mut trip = listening(&mut web, r#"{"taskIds":["t","u","t"]}"#, DECLARED);
    let wanted: Vec<_> = trip.listens[0].wanted.tasks.iter().map(|id| &**id).collect();
    assert_eq!(wanted, ["t", "u"]);
    trip.exchange.handle_task(now(), &changed("t"), Some(&detail("t", TaskStatus::Working)));
    for change in [Change::Task(changed("t")), Change::Task(changed("u")), Change::Tools] {
        trip.exchange.publish(now(), &change);
    }
    assert_eq!(asked(&mut trip.exchange), ["t"]);
    trip.exchange.handle_task(now(), &changed("t"), Some(&detail("t", TaskStatus::Completed)));
    web.drive(&mut trip);
    let id = r#""_meta":{"io.modelcontextprotocol/subscriptionId":7}"#;
    let acknowledged = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"taskIds":["t"]}},{id}}}}}"#
    );
    let told = |status| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{"taskId":"t","status":"{status}","createdAt":"2026-08-01T09:00:00Z","lastUpdatedAt":"2026-08-01T09:00:00Z","ttlMs":null,{id}}}}}"#
        )
    };
    assert_eq!(trip.events(), [acknowledged, told("working"), told("completed")]);
}

/// A slow reader: of a task that changes faster than its listener reads, only how it is when it is its turn is told, and
/// nothing of it is kept until then; none is lost for want of room.
#[test]
fn a_slow_reader_hears_how_a_task_is_now() {
    let config = offering().limits(limits(|limits| {
        (limits.transmit, limits.notifications, limits.notification_bytes) = (1, 1, 1);
    }));
    let mut trip = let_in(config, r#"["t","u"]"#, only(&["t", "u"]), &[]);
    let mut told = Vec::new();
    for round in 0..4 {
        for id in ["t", "u", "t"] {
            trip.exchange.publish(now(), &Change::Task(changed(id)));
        }
        let sent = trip.exchange.transmit().to_vec();
        trip.exchange.advance(sent.len());
        let text = String::from_utf8(sent).unwrap();
        assert!(text.matches("notifications/tasks").count() < 2, "{text}");
        for id in asked(&mut trip.exchange) {
            trip.exchange.handle_task(now(), &changed(&id), Some(&detail(&id, TaskStatus::Completed)));
            told.push((round, id));
        }
    }
    assert_eq!(told.len(), 4);
    assert!(told.iter().any(|(_, id)| id == "t") && told.iter().any(|(_, id)| id == "u"), "{told:?}");
}

/// TASK-68: a listener is told of no task that it was not let in to, also not of what changed before; unless the table of
/// tasks says which are whose, it is let in to none.
#[test]
fn nobody_is_told_of_a_task_that_he_was_not_let_in_to() {
    for admission in [only(&[]), Admission::Granted] {
        let task = Change::Task(changed("t"));
        let mut trip = let_in(offering(), r#"["t"]"#, admission, core::slice::from_ref(&task));
        trip.exchange.publish(now(), &task);
        assert_eq!(asked(&mut trip.exchange), [""; 0]);
        trip.exchange.handle_task(now(), &changed("t"), Some(&detail("t", TaskStatus::Working)));
        let sent = String::from_utf8(trip.exchange.transmit().to_vec()).unwrap();
        assert!(sent.contains("acknowledged") && !sent.contains("taskId"), "{sent}");
    }
}

/// TASK-52, TASK-63: listening to tasks needs the extension; where the server has no tasks, nothing is listened to, and a
/// filter that does not name any asks for none.
#[test]
fn listening_to_tasks_needs_the_extension() {
    let mut web = Web::new(offering());
    for capabilities in UNDECLARED {
        let trip = listening(&mut web, r#"{"taskIds":["t"]}"#, capabilities);
        assert_eq!((answered(&trip), trip.listens.len()), ((400, -32021), 0), "{capabilities}");
        assert!(trip.body.contains(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#));
    }
    for (filter, config) in [
        (r#"{"taskIds":null}"#, offering()),
        ("{}", offering()),
        (r#"{"taskIds":["t"]}"#, offering().tasks(false).changes(ListChanges::ALL)),
    ] {
        let trip = listening(&mut Web::new(config), filter, "{}");
        assert!(trip.listens[0].wanted.tasks.is_empty() && !trip.body.contains("taskIds"), "{}", trip.body);
    }
    for (filter, message) in [
        (r#"{"taskIds":"t"}"#, "params.notifications.taskIds: expected"),
        (r#"{"taskIds":[7]}"#, "params.notifications.taskIds[0]: expected a string"),
    ] {
        let trip = listening(&mut web, filter, DECLARED);
        assert!(code(&trip) == -32602 && trip.body.contains(message), "{}", trip.body);
    }
    let mut few = Web::new(offering().limits(limits(|limits| limits.watched = 1)));
    assert_eq!(code(&listening(&mut few, r#"{"taskIds":["t","u"]}"#, DECLARED)), -32602);
}
