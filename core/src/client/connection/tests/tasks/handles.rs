//! Tasks that the application holds.

use super::*;
use crate::client::{
    CallToolAsTask, CancelTask, GetTask, ListTasks, TaskResult, ToolStart, UpdateTask, WaitForTask,
};
use crate::model::tasks::TaskStatus;

fn handle() -> TaskHandle {
    TaskHandle::new("t-1").with_tool("overhaul")
}

/// TASK-11, TASK-02: a task that is made to be held is handed out; what a server answers at once, too.
#[test]
fn a_task_is_handed_out() {
    let mut peer = peer();
    for is_task in [true, false] {
        let call = peer.start(&CallToolAsTask::with("overhaul", BTreeMap::from([("bike", "B-42")])));
        let line = peer.one();
        assert_eq!((method(&line), params(&line).contains_key("task")), ("tools/call".into(), false));
        peer.result(&line, &if is_task { created() } else { DONE.to_string() });
        match peer.connection.take(&call).unwrap().unwrap() {
            ToolStart::Task { handle: held, task } if is_task => {
                assert_eq!(held, handle());
                assert_eq!((task.status, task.ttl_ms), (TaskStatus::Working, Some(60_000)));
            }
            ToolStart::Done(reply) if !is_task => assert_eq!(reply.text(), "done"),
            other => panic!("{other:?}"),
        }
    }
    peer.is_idle();
}

/// TASK-21: a handle names the task in another process.
#[test]
fn a_handle_is_kept_and_waited_for_elsewhere() {
    let kept = serde_json::to_string(&handle().with_server("shop")).unwrap();
    assert_eq!(kept, json("{'taskId':'t-1','tool':'overhaul','server':'shop'}"));
    let handle: TaskHandle = serde_json::from_str(&kept).unwrap();
    let mut peer = peer();
    let call = peer.start(&WaitForTask::new(&handle));
    let poll = peer.one();
    assert_eq!((method(&poll), params(&poll)["taskId"].get()), ("tasks/get".into(), "\"t-1\""));
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    peer.fill(ask);
    let update = peer.one();
    peer.result(&update, "{}");
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
    peer.is_idle();
}

/// TASK-21: also by a call from before the server was known.
#[test]
fn a_task_is_waited_for_before_the_era_is_known() {
    let mut peer = Peer::new(declaring());
    let call = peer.start(&WaitForTask::new(&handle()));
    let probe = peer.one();
    peer.result(&probe, DISCOVERED);
    let poll = peer.one();
    peer.result(&poll, &task("working", ""));
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
}

/// TASK-45, TASK-20: who waits for a task that is not the call's own and gives that up leaves the task alone.
#[test]
fn to_wait_no_longer_leaves_the_task_alone() {
    let mut peer = peer();
    let call = peer.start(&WaitForTask::new(&handle()));
    let poll = peer.one();
    peer.result(&poll, &task("working", ""));
    peer.connection.cancel(peer.now, call.id());
    assert_eq!(peer.outcome(&call), Err(CallError::Cancelled));
    let options = CallOptions::new().max(Duration::from_millis(400));
    let call = peer.connection.start(peer.now, &WaitForTask::new(&handle()), options).unwrap();
    let poll = peer.one();
    peer.result(&poll, &task("working", ""));
    peer.wait(400);
    let (why, held) = peer.unfinished(&call);
    assert_eq!((why, held), (Unfinished::TimedOut { after: Duration::from_millis(400) }, handle()));
    peer.is_idle();
}

/// TOOL-29: what is waited for by a handle is held against the definition that its call went out under, or against that of
/// the tool that it names.
#[cfg(feature = "jsonschema")]
#[test]
fn a_result_by_a_handle_is_checked() {
    let mut peer = peer_with(declaring().check_output(crate::client::OutputCheck::Strict));
    let listing = peer.start(&ListTools::new());
    let line = peer.one();
    let tool = "{'name':'overhaul','inputSchema':{'type':'object'},'outputSchema':{'type':'object','required':['n']}}";
    peer.result(&line, &format!("{{'tools':[{tool}]}}"));
    peer.connection.take(&listing).unwrap().unwrap();
    let call = peer.start(&CallToolAsTask::new("overhaul"));
    let line = peer.one();
    peer.result(&line, &created());
    let held = peer.connection.take(&call).unwrap().unwrap().handle().unwrap().clone();
    let wrong = task("completed", ",'result':{'content':[],'structuredContent':{}}");
    for (handle, fits) in [(held, false), (handle(), false), (TaskHandle::new("t-1"), true)] {
        let call = peer.start(&WaitForTask::new(&handle));
        let poll = peer.one();
        peer.result(&poll, &wrong);
        let outcome = peer.outcome(&call);
        assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    }
}

/// TASK-22 to TASK-26, TASK-37, TASK-38: a task is looked at, and answered by hand: only what it asks.
#[test]
fn a_task_is_answered_by_hand() {
    let mut peer = peer();
    let get = peer.start(&GetTask::new(&handle()));
    let line = peer.one();
    peer.result(&line, &asking(&format!("'who':{FORM},'dirs':{ROOTS}")));
    let asked = peer.connection.take(&get).unwrap().unwrap();
    assert_eq!((asked.task.status, asked.input_requests.len()), (TaskStatus::InputRequired, 2));
    assert!(UpdateTask::new(&handle(), &asked).answer("what", ListRootsResult::default()).is_err());
    assert!(UpdateTask::new(&handle(), &asked).answer("who", ListRootsResult::default()).is_err());
    let update = UpdateTask::new(&handle(), &asked).answer("dirs", ListRootsResult::default()).unwrap();
    let update = peer.start(&update);
    let line = peer.one();
    assert_eq!(method(&line), "tasks/update");
    assert_eq!(params(&line)["inputResponses"].get(), json("{'dirs':{'roots':[]}}"));
    peer.result(&line, "{'resultType':'complete'}");
    assert_eq!(peer.connection.take(&update).unwrap(), Ok(()));
    let cancel = peer.start(&CancelTask::new(&handle()));
    let line = peer.one();
    assert_eq!((method(&line), params(&line)["taskId"].get()), ("tasks/cancel".into(), "\"t-1\""));
    peer.result(&line, "{'resultType':'complete'}");
    assert_eq!(peer.connection.take(&cancel).unwrap(), Ok(()));
}

/// TASK-59, TASK-60: what the extension does not have is not asked, and nothing of it of a server without it.
#[test]
fn what_there_is_not_is_not_asked() {
    let mut peer = peer();
    let start = |peer: &mut Peer, call: &dyn Fn(&mut Peer) -> Option<CallError>| {
        let error = call(peer);
        assert!(peer.written().is_empty());
        error.unwrap()
    };
    let now = at(0);
    let options = CallOptions::new;
    let list = start(&mut peer, &|peer| peer.connection.start(now, &ListTasks::new(), options()).err());
    assert!(matches!(list, CallError::Unsupported { capability: None, .. }), "{list}");
    let result =
        start(&mut peer, &|peer| peer.connection.start(now, &TaskResult::new(&handle()), options()).err());
    assert!(matches!(result, CallError::Unsupported { capability: None, .. }), "{result}");
    // A server without tasks.
    let mut peer = Peer::new(declaring());
    let probe = peer.one();
    let tools = "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}},'ttlMs':60000,'cacheScope':'private'}";
    peer.result(&probe, tools);
    let get = start(&mut peer, &|peer| peer.connection.start(now, &GetTask::new(&handle()), options()).err());
    let capability = Some("extensions.io.modelcontextprotocol/tasks");
    assert!(matches!(get, CallError::Unsupported { capability: found, .. } if found == capability), "{get}");
    // A client that has not declared them.
    let mut peer = peer_with(config());
    for error in [
        start(&mut peer, &|peer| peer.connection.start(now, &GetTask::new(&handle()), options()).err()),
        start(&mut peer, &|peer| peer.connection.start(now, &WaitForTask::new(&handle()), options()).err()),
        start(&mut peer, &|peer| peer.connection.start(now, &CallToolAsTask::new("a"), options()).err()),
    ] {
        assert!(matches!(&error, CallError::Misuse(misuse) if misuse.message.contains("Config::tasks")));
    }
}

/// TASK-67: neither ids nor answers are printed.
#[test]
fn tasks_print_without_ids() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &created().replace("t-1", "secret"));
    let poll = peer.after(500);
    peer.error(&poll, "{'code':-32602,'message':'m'}");
    let error = peer.connection.take(&call).unwrap().unwrap_err();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &created().replace("t-1", "secret"));
    let handle = TaskHandle::new("secret");
    let printed = format!(
        "{error} {error:?} {:?} {:?} {:?} {:?}",
        peer.connection,
        GetTask::new(&handle),
        WaitForTask::new(&handle),
        CallToolAsTask::with("a", BTreeMap::from([("b", "secret")])),
    );
    assert!(!printed.contains("secret"), "{printed}");
    assert!(peer.connection.take(&call).is_none());
}
