//! Tasks of 2025-11-25.

use super::*;
use crate::client::{
    CallToolAsTask, CancelTask, GetTask, ListTasks, TaskResult, ToolStart, UpdateTask, WaitForTask,
};
use crate::model::tasks::{DetailedTask, Task, TaskStatus};

const TASKS: &str = "{'list':{},'cancel':{},'requests':{'tools':{'call':{}}}}";

fn legacy(tasks: &str) -> Peer {
    let mut peer = Peer::new(declaring().era(EraChoice::Legacy));
    let initialize = peer.one();
    assert!(!initialize.contains("tasks"), "nothing is served, and the extension is of another revision");
    let capabilities = format!("'tools':{{}},'tasks':{tasks}");
    peer.result(&initialize, &INITIALIZED.replace("'tools':{}", &capabilities));
    assert_eq!(method(&peer.one()), "notifications/initialized");
    peer.drain();
    peer
}

fn list(peer: &mut Peer, execution: &str) {
    let listing = peer.start(&ListTools::new());
    let line = peer.one();
    let tool = format!("{{'name':'overhaul','inputSchema':{{'type':'object'}}{execution}}}");
    peer.result(&line, &format!("{{'tools':[{tool}]}}"));
    peer.connection.take(&listing).unwrap().unwrap();
}

/// A server whose tool `overhaul` says this of its execution.
fn knowing(execution: &str) -> Peer {
    let mut peer = legacy(TASKS);
    list(&mut peer, execution);
    peer
}

const REQUIRED: &str = ",'execution':{'taskSupport':'required'}";
const OPTIONAL: &str = ",'execution':{'taskSupport':'optional'}";

fn task(status: &str) -> String {
    format!(
        "{{'taskId':'t-1','status':'{status}','createdAt':'2025-12-01T08:00:00Z',\
         'lastUpdatedAt':'2025-12-01T08:00:03Z','ttl':60000,'pollInterval':500}}"
    )
}

fn created() -> String {
    format!("{{'task':{}}}", task("working"))
}

impl Peer {
    /// A call of a tool that must be a task.
    fn legacy_task(&mut self) -> Pending<ToolReply> {
        let call = self.start(&CallTool::with("overhaul", BTreeMap::from([("bike", "B-42")])));
        let line = self.one();
        assert_eq!(params(&line)["task"].get(), "{}");
        assert_eq!(params(&line)["arguments"].get(), json("{'bike':'B-42'}"));
        self.result(&line, &created());
        call
    }
}

/// TASKL-09, TASKL-12, TASKL-22, TASKL-29, TASKL-30, TASKL-31, TASKL-35: a tool that can be called as a task only is, and
/// the call ends with its result all the same.
#[test]
fn a_tool_that_must_be_a_task_is_called_as_one() {
    for last in ["completed", "failed", "input_required"] {
        let mut peer = knowing(REQUIRED);
        let call = peer.legacy_task();
        let poll = peer.after(500);
        assert_eq!((method(&poll), params(&poll).len()), ("tasks/get".into(), 1));
        peer.result(&poll, &task("working"));
        let poll = peer.after(500);
        peer.result(&poll, &task(last));
        peer.wait(0);
        let line = peer.one();
        assert_eq!((method(&line), params(&line)["taskId"].get()), ("tasks/result".into(), "\"t-1\""));
        peer.result(&line, "{'content':[{'type':'text','text':'done'}],'_meta':{'x/y':1}}");
        assert_eq!(peer.outcome(&call).unwrap().text(), "done");
        peer.is_idle();
    }
}

/// TASKL-09: also when it was called before anything was known of the server.
#[test]
fn a_call_from_before_the_era_was_known_becomes_a_task() {
    let mut peer = Peer::new(declaring().era(EraChoice::Legacy));
    let tool = "{'name':'overhaul','inputSchema':{'type':'object'},'execution':{'taskSupport':'required'}}";
    peer.connection.learn_tool(&serde_json::from_str(&json(tool)).unwrap());
    let call = peer.start(&CallTool::new("overhaul"));
    let initialize = peer.one();
    peer.result(&initialize, &INITIALIZED.replace("'tools':{}", &format!("'tools':{{}},'tasks':{TASKS}")));
    let line = peer.written().pop().unwrap();
    assert_eq!(params(&line)["task"].get(), "{}");
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.result(&poll, &task("completed"));
    peer.wait(0);
    let line = peer.one();
    peer.result(&line, DONE);
    assert!(peer.outcome(&call).is_ok());
}

/// TASKL-31: a JSON-RPC error that it came to is that of the call.
#[test]
fn the_error_of_a_task_is_that_of_the_call() {
    let mut peer = knowing(REQUIRED);
    let call = peer.legacy_task();
    let poll = peer.after(500);
    peer.result(&poll, &task("failed"));
    peer.wait(0);
    let line = peer.one();
    peer.error(&line, "{'code':-32007,'message':'no oil'}");
    let error = CallError::Server { error: ErrorObject::new(-32007, "no oil"), status: None };
    assert_eq!(peer.outcome(&call), Err(error));
    peer.is_idle();
}

/// TASKL-32: a server answers `tasks/result` when the task has ended: only the hard cap counts till then. What it asks in
/// between are requests as any other (TASKL-21, TASKL-23).
#[test]
fn a_result_may_take_as_long_as_its_task() {
    let mut peer = knowing(REQUIRED);
    let options = CallOptions::new().timeout(Duration::from_secs(5)).max(Duration::from_secs(100));
    let call = peer.connection.start(peer.now, &CallTool::new("overhaul"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.result(&poll, &task("input_required"));
    peer.wait(0);
    let line = peer.one();
    let related = "'_meta':{'io.modelcontextprotocol/related-task':{'taskId':'t-1'}}";
    let form = FORM.replace(
        "'method':'elicitation/create','params':{",
        &format!("'method':'elicitation/create','params':{{{related},"),
    );
    peer.says(&format!("{{'jsonrpc':'2.0','id':'s9',{}", &form[1..]));
    let ask = peer.puts()["elicitation/create"];
    peer.fill(ask);
    assert!(peer.one().contains("\"id\":\"s9\""));
    peer.wait(90_000);
    assert!(peer.written().is_empty());
    peer.result(&line, DONE);
    assert!(peer.outcome(&call).is_ok());
    peer.is_idle();
}

/// TASKL-20: a poll that fails is not the end of the task, nor is a result that is lost on the way.
#[test]
fn what_is_lost_on_the_way_is_asked_again() {
    let mut peer = knowing(REQUIRED);
    let options = CallOptions::new().timeout(Duration::from_secs(5));
    let call = peer.connection.start(peer.now, &CallTool::new("overhaul"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.error(&poll, "{'code':-32603,'message':'m'}");
    peer.after(500);
    peer.wait(5_000);
    assert!(peer.written().is_empty());
    let poll = peer.after(1_000);
    peer.result(&poll, &task("completed"));
    peer.wait(0);
    let line = peer.one();
    peer.result(&line, DONE);
    assert!(peer.outcome(&call).is_ok());
}

/// TASKL-15: a server that does not heed it answers as to any call.
#[test]
fn a_server_that_heeds_no_task_answers_as_ever() {
    let mut peer = knowing(REQUIRED);
    let call = peer.start(&CallTool::new("overhaul"));
    let line = peer.one();
    peer.result(&line, DONE);
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
    peer.is_idle();
}

/// TASKL-08: a tool that may be either is called as ever, unless its caller wants a task.
#[test]
fn a_tool_that_may_be_a_task_is_one_when_its_caller_wants_so() {
    let mut peer = knowing(OPTIONAL);
    peer.start(&CallTool::new("overhaul"));
    assert!(!params(&peer.one()).contains_key("task"));
    peer.start(&CallToolAsTask::new("overhaul"));
    assert!(params(&peer.one()).contains_key("task"));
}

/// TASKL-11, TASKL-12, TASKL-26: how long the task is to be kept is said, and how long it is heard.
#[test]
fn a_task_is_handed_out_with_its_time() {
    let mut peer = knowing(OPTIONAL);
    let call = peer.start(&CallToolAsTask::new("overhaul").ttl(Duration::from_secs(90)));
    let line = peer.one();
    assert_eq!(params(&line)["task"].get(), json("{'ttl':90000}"));
    peer.result(&line, &created());
    match peer.connection.take(&call).unwrap().unwrap() {
        ToolStart::Task { handle, task } => {
            assert_eq!((handle.task_id(), handle.tool()), ("t-1", Some("overhaul")));
            assert_eq!((task.ttl_ms, task.poll_interval_ms), (Some(60_000), Some(500)));
        }
        other => panic!("{other:?}"),
    }
    peer.is_idle();
}

fn refused(peer: &mut Peer, call: &impl Call) -> CallError {
    let error = peer.connection.start(peer.now, call, CallOptions::new()).map(drop).unwrap_err();
    assert!(peer.written().is_empty());
    error
}

/// TASKL-06: a tool that says that it may not be one, or does not say that it may, is not called as a task.
#[test]
fn a_tool_that_may_not_be_a_task_is_not_called_as_one() {
    for execution in ["", ",'execution':{}", ",'execution':{'taskSupport':'forbidden'}"] {
        let error = refused(&mut knowing(execution), &CallToolAsTask::new("overhaul"));
        assert!(matches!(error, CallError::Unsupported { capability: None, .. }), "{error}");
        assert!(error.to_string().contains("`overhaul` as a task"), "{error}");
    }
    // Of a tool that was never listed nothing is known: the server may say.
    let mut peer = knowing("");
    peer.start(&CallToolAsTask::new("other"));
    assert!(params(&peer.one()).contains_key("task"));
}

/// TASKL-01 to TASKL-05: without the capability no tool is called as a task, whatever the tool says, and nothing is asked
/// that the server did not declare.
#[test]
fn what_was_not_declared_is_not_asked() {
    let handle = TaskHandle::new("t-1");
    let capability = |error: CallError| match error {
        CallError::Unsupported { capability, .. } => capability,
        other => panic!("{other}"),
    };
    let mut peer = legacy("{}");
    list(&mut peer, REQUIRED);
    peer.start(&CallTool::new("overhaul"));
    assert!(!params(&peer.one()).contains_key("task"));
    let error = refused(&mut peer, &CallToolAsTask::new("overhaul"));
    assert_eq!(capability(error), Some("tasks.requests.tools.call"));
    assert_eq!(capability(refused(&mut peer, &ListTasks::new())), Some("tasks.list"));
    assert_eq!(capability(refused(&mut peer, &CancelTask::new(&handle))), Some("tasks.cancel"));
    let mut peer = Peer::legacy();
    for error in [
        refused(&mut peer, &GetTask::new(&handle)),
        refused(&mut peer, &WaitForTask::new(&handle)),
        refused(&mut peer, &TaskResult::new(&handle)),
    ] {
        assert_eq!(capability(error), Some("tasks"));
    }
    let mut peer = legacy(TASKS);
    let told = DetailedTask::new(Task::new("t-1", "2025-12-01T08:00:00Z"));
    assert_eq!(capability(refused(&mut peer, &UpdateTask::new(&handle, &told))), None);
}

/// PRG-13, PRG-14: the progress of a task is reported as that of its call, until it has ended.
#[test]
fn a_task_has_the_progress_of_its_call() {
    let mut peer = knowing(REQUIRED);
    let options = CallOptions::new().progress();
    let call = peer.connection.start(peer.now, &CallTool::new("overhaul"), options).unwrap();
    let line = peer.one();
    let token = id(&line);
    let reports = |peer: &mut Peer, progress: u8| {
        let params = format!("{{'progressToken':{token},'progress':{progress}}}");
        peer.says(&format!("{{'jsonrpc':'2.0','method':'notifications/progress','params':{params}}}"));
        let outputs = peer.drain();
        outputs
            .iter()
            .filter(|it| matches!(it, Output::Event(Event::Progress(id, _)) if *id == call.id()))
            .count()
    };
    peer.result(&line, &created());
    assert_eq!(reports(&mut peer, 1), 1);
    let poll = peer.after(500);
    assert!(!poll.contains("progressToken"));
    assert_eq!((reports(&mut peer, 1), reports(&mut peer, 2)), (0, 1));
    peer.result(&poll, &task("completed"));
    peer.wait(0);
    let line = peer.one();
    peer.result(&line, DONE);
    assert_eq!(reports(&mut peer, 3), 0);
    assert!(peer.outcome(&call).is_ok());
    peer.is_idle();
}

/// CAN-18, TASKL-04: a server that cannot stop tasks is not told to by a call that is given up.
#[test]
fn a_task_is_taken_back_where_that_can_be() {
    for cancels in [true, false] {
        let mut peer = legacy(if cancels { TASKS } else { "{'requests':{'tools':{'call':{}}}}" });
        list(&mut peer, REQUIRED);
        let call = peer.legacy_task();
        peer.connection.cancel(peer.now, call.id());
        assert_eq!(peer.outcome(&call), Err(CallError::Cancelled));
        let said = peer.written();
        assert_eq!(
            said.iter().map(|line| method(line)).collect::<Vec<_>>(),
            ["tasks/cancel"][..usize::from(cancels)]
        );
    }
}

/// TASKL-39, TASKL-40: tasks are listed page by page, and looked at.
#[test]
fn tasks_are_listed() {
    let mut peer = legacy(TASKS);
    let call = peer.start(&ListTasks::new());
    let line = peer.one();
    peer.result(&line, &format!("{{'tasks':[{}],'nextCursor':'c'}}", task("working")));
    let page = peer.connection.take(&call).unwrap().unwrap();
    assert_eq!((page.tasks[0].task_id.as_str(), page.tasks[0].status), ("t-1", TaskStatus::Working));
    peer.start(&ListTasks::after(page.next_cursor.unwrap().as_str()));
    assert_eq!(params(&peer.one())["cursor"].get(), "\"c\"");
}

/// TASKL-25, TASKL-27, TASKL-32: a task is looked at and its result read by hand, and held against the schema of its tool
/// when it is waited for.
#[test]
fn a_task_is_looked_at_by_hand() {
    let mut peer = legacy(TASKS);
    let handle = TaskHandle::new("t-1");
    let get = peer.start(&GetTask::new(&handle));
    let line = peer.one();
    peer.result(&line, &task("completed"));
    let told = peer.connection.take(&get).unwrap().unwrap();
    assert_eq!(
        (told.task.status, told.task.ttl_ms, told.result),
        (TaskStatus::Completed, Some(60_000), None)
    );
    let result = peer.start(&TaskResult::new(&handle));
    let line = peer.one();
    peer.result(&line, DONE);
    assert_eq!(peer.connection.take(&result).unwrap().unwrap().text(), "done");
    let call = peer.start(&WaitForTask::new(&handle));
    let line = peer.one();
    peer.result(&line, &task("completed"));
    peer.wait(0);
    let line = peer.one();
    assert_eq!(method(&line), "tasks/result");
    peer.result(&line, DONE);
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
}

/// TASKL-31, TOOL-29: what is fetched by hand is held against the definition of the tool that the handle names.
#[cfg(feature = "jsonschema")]
#[test]
fn a_result_that_is_fetched_is_checked() {
    let mut peer = legacy(TASKS);
    list(&mut peer, ",'outputSchema':{'type':'object','required':['n']}");
    for (handle, fits) in
        [(TaskHandle::new("t-1").with_tool("overhaul"), false), (TaskHandle::new("t-1"), true)]
    {
        let fetched = peer.start(&TaskResult::new(&handle));
        let line = peer.one();
        peer.result(&line, "{'content':[],'structuredContent':{}}");
        assert_eq!(peer.connection.take(&fetched).unwrap().unwrap().misfit.is_none(), fits);
    }
}

/// TASKL-01: in revisions that have no tasks there are none.
#[test]
fn revisions_before_have_no_tasks() {
    let mut peer = Peer::new(declaring().era(EraChoice::Pinned(Revision::V2025_06_18)));
    let initialize = peer.one();
    peer.result(&initialize, &INITIALIZED.replace("2025-11-25", "2025-06-18"));
    peer.written();
    peer.drain();
    for error in [
        refused(&mut peer, &CallToolAsTask::new("overhaul")),
        refused(&mut peer, &GetTask::new(&TaskHandle::new("t-1"))),
    ] {
        assert!(matches!(error, CallError::Unsupported { capability: None, .. }), "{error}");
    }
}

/// CAN-01, TASKL-32: who waits no longer for what a task comes to says so, or the server would hold the request until then.
#[test]
fn to_wait_no_longer_for_a_result_cancels_its_request() {
    for end in ["cancel", "stop", "time"] {
        let mut peer = legacy(TASKS);
        let options = CallOptions::new().max(Duration::from_secs(10));
        let wait = WaitForTask::new(&TaskHandle::new("t-1"));
        let call = peer.connection.start(peer.now, &wait, options).unwrap();
        let poll = peer.one();
        peer.result(&poll, &task("input_required"));
        peer.wait(0);
        let asked = peer.one();
        assert_eq!(method(&asked), "tasks/result");
        match end {
            "cancel" => peer.connection.cancel(peer.now, call.id()),
            "stop" => peer.connection.stop(peer.now, call.id()),
            _ => peer.wait(10_000),
        }
        let notice = peer.one();
        assert_eq!(method(&notice), "notifications/cancelled");
        assert_eq!(params(&notice)["requestId"].get(), id(&asked).to_string());
        assert!(peer.outcome(&call).is_err());
        peer.is_idle();
    }
}

/// CAN-18: a request that is to become a task is not cancelled; the task is, as soon as it is known.
#[test]
fn a_request_that_is_to_become_a_task_is_not_cancelled() {
    for times_out in [false, true] {
        let mut peer = knowing(REQUIRED);
        let call = peer.start(&CallTool::new("overhaul"));
        let line = peer.one();
        if times_out {
            peer.wait(60_000);
        } else {
            peer.connection.cancel(peer.now, call.id());
        }
        assert!(peer.written().is_empty());
        assert!(peer.outcome(&call).is_err());
        peer.result(&line, &created());
        let cancel = peer.one();
        assert_eq!((method(&cancel), params(&cancel)["taskId"].get()), ("tasks/cancel".into(), "\"t-1\""));
        peer.result(&cancel, &task("cancelled"));
        peer.is_idle();
    }
}

/// TASKL-31: an error that a server has for what a task came to may be that of the task, if that has ended; else it means
/// that it does not know the task, which leaves the handle.
#[test]
fn a_result_that_is_refused_is_asked_about_once() {
    let refusal = "{'code':-32602,'message':'m'}";
    for known in [true, false] {
        let mut peer = knowing(REQUIRED);
        let call = peer.legacy_task();
        let poll = peer.after(500);
        peer.result(&poll, &task("failed"));
        peer.wait(0);
        let asked = peer.one();
        peer.error(&asked, refusal);
        peer.wait(0);
        let poll = peer.one();
        assert_eq!(method(&poll), "tasks/get");
        if known {
            peer.result(&poll, &task("failed"));
            let error = ErrorObject::new(-32602, "m");
            assert_eq!(peer.outcome(&call), Err(CallError::Server { error, status: None }));
        } else {
            peer.error(&poll, refusal);
            let (why, handle) = peer.unfinished(&call);
            assert!(matches!(why, Unfinished::Lost(_)));
            assert_eq!(handle.task_id(), "t-1");
        }
        peer.is_idle();
    }
}
