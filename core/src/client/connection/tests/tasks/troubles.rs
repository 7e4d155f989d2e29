//! Tasks of servers that fail, lag or say too much.

use super::*;
use crate::client::{CallToolAsTask, ToolStart};

/// The time of a call counts for each answer, and all of it for the whole: a server that does not answer a poll is asked
/// again, and nobody is told that a request was cancelled.
#[test]
fn a_poll_that_is_not_answered_is_made_again() {
    let mut peer = peer();
    let options = CallOptions::new().timeout(Duration::from_secs(5));
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    peer.after(500);
    peer.wait(5_000);
    assert!(peer.written().is_empty());
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert!(peer.outcome(&call).is_ok());
}

/// TASK-20: trouble of the server is not the end of the task, unless it lasts; each further try waits twice as long.
#[test]
fn a_poll_that_fails_is_made_again_for_a_while() {
    let trouble = "{'code':-32603,'message':'m'}";
    let limits = Limits { resume_total: Duration::from_secs(5), ..Limits::default() };
    let mut peer = peer_with(declaring().limits(limits));
    let call = peer.task();
    for _ in 0..2 {
        let mut poll = peer.after(500);
        for ms in [500, 1_000, 2_000] {
            peer.error(&poll, trouble);
            poll = peer.after(ms);
        }
        peer.result(&poll, &task("working", ""));
    }
    let mut poll = peer.after(500);
    for ms in [500, 1_000, 2_000, 1_500] {
        peer.error(&poll, trouble);
        poll = peer.after(ms);
    }
    peer.error(&poll, trouble);
    let (why, handle) = peer.unfinished(&call);
    assert_eq!((why, handle.task_id()), (lost(-32603), "t-1"));
    peer.is_idle();
}

/// TASK-21: that the task is not known is its end.
#[test]
fn a_poll_that_is_refused_is_not_made_again() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.error(&poll, "{'code':-32602,'message':'m'}");
    assert_eq!(peer.unfinished(&call).0, lost(-32602));
    peer.is_idle();
}

fn lost(code: i64) -> Unfinished {
    Unfinished::Lost(Box::new(CallError::Server { error: ErrorObject::new(code, "m"), status: None }))
}

/// TASK-21: a call that gives up a server which answers nothing leaves what is needed to find its task again.
#[test]
fn polls_that_are_never_answered_leave_the_handle() {
    let limits = Limits { resume_total: Duration::from_secs(30), ..Limits::default() };
    let mut peer = peer_with(declaring().limits(limits));
    let options = CallOptions::new().timeout(Duration::from_secs(20));
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    for ms in [500, 500, 1_000] {
        peer.after(ms);
        peer.wait(20_000);
    }
    let (why, handle) = peer.unfinished(&call);
    assert!(matches!(why, Unfinished::TimedOut { .. }), "{why:?}");
    assert_eq!(handle.task_id(), "t-1");
    peer.is_idle();
}

/// TASK-37: an answer to what the task has ceased to ask before it could be sent is not sent.
#[test]
fn an_answer_to_what_is_not_asked_any_more_is_not_sent() {
    let mut peer = peer();
    peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'who':{FORM},'dirs':{ROOTS}")));
    let asked = peer.puts();
    let poll = peer.after(500);
    peer.fill(asked["elicitation/create"]);
    peer.result(&poll, &asking(&format!("'dirs':{ROOTS}")));
    peer.name_roots(asked["roots/list"]);
    let update = peer.one();
    assert_eq!(params(&update)["inputResponses"].get(), json("{'dirs':{'roots':[]}}"));
    peer.result(&update, "{}");
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'other':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    let poll = peer.after(500);
    peer.fill(ask);
    peer.result(&poll, &task("working", ""));
    assert_eq!(method(&peer.after(500)), "tasks/get");
}

/// TASK-34: a question that was away for one poll, answered or not, and not sent, is put again.
#[test]
fn a_question_that_comes_back_is_put_again() {
    for answered in [false, true] {
        let mut peer = peer();
        peer.task();
        let poll = peer.after(500);
        peer.result(&poll, &asking(&format!("'who':{FORM}")));
        let ask = peer.puts()["elicitation/create"];
        let poll = peer.after(500);
        if answered {
            peer.fill(ask);
        }
        peer.result(&poll, &task("working", ""));
        let poll = peer.after(500);
        peer.result(&poll, &asking(&format!("'who':{FORM}")));
        let ask = peer.puts()["elicitation/create"];
        peer.fill(ask);
        assert_eq!(method(&peer.one()), "tasks/update");
    }
}

/// B20: a server that says twice that a call is a task now does not have the task taken back that is waited for.
#[test]
fn a_task_that_is_told_twice_goes_on() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("overhaul"));
    let line = peer.one();
    peer.result(&line, &created());
    peer.result(&line, &created());
    let poll = peer.after(500);
    assert_eq!(method(&poll), "tasks/get");
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert!(peer.outcome(&call).is_ok());
    let handed = peer.start(&CallToolAsTask::new("overhaul"));
    let line = peer.one();
    peer.result(&line, &created());
    peer.result(&line, &created());
    assert!(matches!(peer.connection.take(&handed), Some(Ok(ToolStart::Task { .. }))));
    peer.is_idle();
}

/// B20: what was never asked is reported and makes nobody write; a task that is to be taken back is so once.
#[test]
fn tasks_that_nobody_asked_for_are_reported() {
    let mut peer = peer();
    let unasked = |peer: &mut Peer| {
        let outputs = peer.drain();
        assert!(outputs.iter().any(|it| matches!(it, Output::Event(Event::Diagnostic(_)))), "{outputs:?}");
        peer.is_idle();
    };
    peer.says(&format!("{{'jsonrpc':'2.0','id':77,'result':{}}}", created()));
    unasked(&mut peer);
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.connection.cancel(peer.now, call.id());
    assert_eq!((peer.written().len(), peer.outcome(&call)), (1, Err(CallError::Cancelled)));
    peer.result(&line, &created());
    let cancel = peer.one();
    peer.result(&cancel, "{}");
    peer.drain();
    peer.result(&line, &created());
    unasked(&mut peer);
}

/// TASK-12, TASK-18: times that are no integers, or no times, cost nobody the task.
#[test]
fn odd_times_do_not_cost_the_task() {
    for (written, ms) in
        [("500.0", 500), ("1500.5", 1_500), ("-1", 1_000), ("'x'", 1_000), ("1e300", 300_000)]
    {
        let mut peer = peer();
        let call = peer.start(&CallTool::new("overhaul"));
        let line = peer.one();
        let odd = |task: String| {
            task.replace("60000", "-1")
                .replace("'pollIntervalMs':500", &format!("'pollIntervalMs':{written}"))
        };
        peer.result(&line, &odd(created()));
        let poll = peer.after(ms);
        peer.result(&poll, &odd(task("completed", &format!(",'result':{DONE}"))));
        assert!(peer.outcome(&call).is_ok());
    }
}

/// TASK-21: a task of which nothing but its id can be read leaves that.
#[test]
fn a_task_that_cannot_be_read_leaves_its_id() {
    for odd in [created().replace("working", "paused"), created().replace("lastUpdatedAt", "updated")] {
        let mut peer = peer();
        let call = peer.start(&CallTool::new("overhaul"));
        let line = peer.one();
        peer.result(&line, &odd);
        let (why, handle) = peer.unfinished(&call);
        assert!(matches!(why, Unfinished::Lost(error) if matches!(*error, CallError::Invalid { .. })));
        assert_eq!((handle.task_id(), handle.tool()), ("t-1", Some("overhaul")));
        peer.is_idle();
    }
}

/// TASK-45: a server that has made a task is told to stop it, also one that did not declare tasks.
#[test]
fn a_task_is_taken_back_from_a_server_that_declared_none() {
    let mut peer = Peer::new(declaring());
    let probe = peer.one();
    peer.result(&probe, "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}}}");
    peer.drain();
    let call = peer.task();
    peer.connection.cancel(peer.now, call.id());
    assert_eq!(method(&peer.one()), "tasks/cancel");
}

/// TASK-45: a task that is handed out to nobody, as its call is cancelled when it has settled already, is taken back.
#[test]
fn a_task_that_nobody_took_is_taken_back() {
    let mut peer = peer();
    let call = peer.start(&CallToolAsTask::new("overhaul"));
    let line = peer.one();
    peer.result(&line, &created());
    assert_eq!(settled(&peer.drain()), 1);
    peer.connection.cancel(peer.now, call.id());
    let cancel = peer.one();
    assert_eq!((method(&cancel), params(&cancel)["taskId"].get()), ("tasks/cancel".into(), "\"t-1\""));
    peer.connection.cancel(peer.now, call.id());
    assert!(peer.written().is_empty());
    peer.result(&cancel, "{}");
    assert_eq!(peer.connection.take(&call), Some(Err(CallError::Cancelled)));
    peer.is_idle();
}

/// TASK-40: a server that refuses answers because the task has ended is asked what came of it; only of one that goes on the
/// refusal counts.
#[test]
fn answers_that_are_refused_do_not_cost_the_outcome() {
    for ended in [true, false] {
        let mut peer = peer();
        let call = peer.task();
        let poll = peer.after(500);
        peer.result(&poll, &asking(&format!("'who':{FORM}")));
        let ask = peer.puts()["elicitation/create"];
        peer.fill(ask);
        let update = peer.one();
        peer.error(&update, "{'code':-32602,'message':'m'}");
        peer.wait(0);
        let poll = peer.one();
        assert_eq!(method(&poll), "tasks/get");
        if ended {
            peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
            assert_eq!(peer.outcome(&call).unwrap().text(), "done");
        } else {
            peer.result(&poll, &asking(&format!("'who':{FORM}")));
            assert_eq!(peer.unfinished(&call).0, lost(-32602));
        }
        peer.is_idle();
    }
}
