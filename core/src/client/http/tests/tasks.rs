//! Calls that go on as tasks, over HTTP.

use super::*;
use crate::client::{CallToolAsTask, TaskHandle, ToolReply, Unfinished, WaitForTask};

const DONE: &str = "{'content':[{'type':'text','text':'done'}]}";

fn peer() -> Peer {
    peer_with(config().tasks())
}

fn peer_with(config: Config) -> Peer {
    let mut peer = Peer::new(config);
    let probe = peer.one();
    let capabilities = "'tools':{},'extensions':{'io.modelcontextprotocol/tasks':{}}";
    peer.result(&probe, &DISCOVERED.replace("'tools':{}", capabilities));
    peer.events();
    peer
}

fn task(status: &str, more: &str) -> String {
    format!(
        "{{'taskId':'t 1','status':'{status}','createdAt':'2026-08-01T09:00:00Z',\
         'lastUpdatedAt':'2026-08-01T09:00:00Z','ttlMs':null,'pollIntervalMs':500{more}}}"
    )
}

fn completed() -> String {
    task("completed", &format!(",'result':{DONE}"))
}

impl Peer {
    fn task(&mut self) -> Pending<ToolReply> {
        let (call, sent) = self.start(&CallTool::new("overhaul"));
        self.result(&sent, &task("working", ",'resultType':'task'"));
        call
    }

    fn poll(&mut self) -> Sent {
        self.wait(500);
        self.one()
    }
}

/// TASK-54, TASK-20: what is asked about a task carries its id where those on the way see it, not the name of the tool.
#[test]
fn a_poll_names_its_task_in_a_header() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.poll();
    assert_eq!((poll.header("mcp-method"), poll.header("mcp-name")), (Some("tasks/get"), Some("t 1")));
    peer.result(&poll, &completed());
    assert_eq!(peer.take(&call).unwrap().text(), "done");
    peer.is_empty();
}

/// TASK-45: who cancels the call takes the task back, by a request of its own; the poll is of no interest any more.
#[test]
fn to_cancel_the_call_takes_the_task_back() {
    for polls in [false, true] {
        let mut peer = peer();
        let call = peer.task();
        let poll = polls.then(|| peer.poll());
        peer.http.cancel(peer.now, call.id());
        let cancel = peer.one();
        assert_eq!(
            (cancel.header("mcp-method"), cancel.header("mcp-name")),
            (Some("tasks/cancel"), Some("t 1"))
        );
        assert_eq!(peer.aborted(), poll.map(|poll| poll.exchange).as_slice());
        assert_eq!(peer.take(&call), Err(CallError::Cancelled));
        peer.result(&cancel, "{}");
        peer.is_empty();
    }
}

/// CAN-01: until there is a task, the response stream is closed.
#[test]
fn to_cancel_the_call_before_there_is_a_task_closes_the_stream() {
    let mut peer = peer();
    let (call, sent) = peer.start(&CallTool::new("overhaul"));
    peer.http.cancel(peer.now, call.id());
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.none();
}

/// TASK-20: a poll that fails on the way, or is not answered in time, is made again; the task goes on.
#[test]
fn a_poll_that_fails_is_made_again() {
    let mut peer = peer();
    let options = CallOptions::new().timeout(Duration::from_secs(5));
    let call = peer.http.start(peer.now, &CallTool::new("overhaul"), options).unwrap();
    let sent = peer.one();
    peer.result(&sent, &task("working", ",'resultType':'task'"));
    let poll = peer.poll();
    peer.answer(&poll, 502, "");
    let poll = peer.poll();
    peer.wait(5_000);
    assert_eq!(peer.aborted(), [poll.exchange]);
    peer.wait(500);
    peer.none();
    let poll = peer.poll();
    peer.result(&poll, &completed());
    assert_eq!(peer.take(&call).unwrap().text(), "done");
    peer.is_empty();
}

/// TASK-19: a server that has no time for a poll says when it has.
#[test]
fn a_server_that_is_asked_too_often_is_left_alone() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.poll();
    let mut head = ResponseHead::new(429);
    head.headers.push("Retry-After", "7");
    peer.whole(&poll, head, "");
    peer.wait(6_999);
    peer.none();
    peer.wait(1);
    let poll = peer.one();
    assert_eq!(poll.header("mcp-method"), Some("tasks/get"));
    peer.result(&poll, &completed());
    assert!(peer.take(&call).is_ok());
}

/// TASK-21: a client that is closed leaves what is needed to find the task again.
#[test]
fn a_client_that_is_closed_leaves_the_handle() {
    let mut peer = peer();
    let call = peer.task();
    peer.poll();
    peer.http.close(peer.now);
    let error = peer.take(&call).unwrap_err();
    assert_eq!(error.task().map(TaskHandle::task_id), Some("t 1"), "{error}");
}

/// Whoever waits by a handle and stops leaves nothing behind.
#[test]
fn to_wait_no_longer_leaves_nothing_behind() {
    let mut peer = peer();
    for stops in [false, true] {
        let (call, poll) = peer.start(&WaitForTask::new(&TaskHandle::new("t 1")));
        if stops {
            peer.http.stop(peer.now, call.id());
            let error = peer.take(&call).unwrap_err();
            assert!(
                matches!(&error, CallError::Unfinished { why, .. } if matches!(**why, Unfinished::Input(_)))
            );
        } else {
            peer.http.cancel(peer.now, call.id());
            assert_eq!(peer.take(&call), Err(CallError::Cancelled));
        }
        assert_eq!(peer.aborted(), [poll.exchange]);
        peer.none();
        peer.is_empty();
    }
}

/// TASK-45: a task is taken back for nobody's sake, so nobody is asked to sign in for that.
#[test]
fn to_take_a_task_back_asks_nobody_to_sign_in() {
    let mut peer = peer_with(config().tasks().authorize(true));
    let call = peer.task();
    peer.http.cancel(peer.now, call.id());
    let cancel = peer.one();
    assert!(!peer.http.hold(peer.now, cancel.exchange));
    peer.whole(&cancel, super::refused::challenged(401), "no");
    peer.drain();
    assert!(peer.refused.is_empty());
    assert_eq!(peer.take(&call), Err(CallError::Cancelled));
    peer.none();
    peer.is_empty();
}

/// TASK-19: so does one that says it by an error of the protocol, without saying when.
#[test]
fn a_server_that_refuses_a_poll_for_its_rate_is_asked_again() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.poll();
    let error =
        format!("{{'jsonrpc':'2.0','id':{},'error':{{'code':-32000,'message':'slower'}}}}", poll.id());
    peer.answer(&poll, 429, &error);
    let poll = peer.poll();
    peer.result(&poll, &completed());
    assert!(peer.take(&call).is_ok());
    peer.is_empty();
}

/// TASK-45: a task that is handed out to nobody, as its call is cancelled when it has settled already, is taken back.
#[test]
fn a_task_that_nobody_took_is_taken_back() {
    let mut peer = peer();
    let (call, sent) = peer.start(&CallToolAsTask::new("overhaul"));
    peer.result(&sent, &task("working", ",'resultType':'task'"));
    peer.http.cancel(peer.now, call.id());
    let cancel = peer.one();
    assert_eq!(cancel.header("mcp-method"), Some("tasks/cancel"));
    assert_eq!(peer.take(&call).map(|_| ()), Err(CallError::Cancelled));
    peer.result(&cancel, "{}");
    peer.is_empty();
}

fn legacy() -> Peer {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    let tasks = "'tools':{},'tasks':{'cancel':{},'requests':{'tools':{'call':{}}}}";
    peer.result(&initialize, &INITIALIZED.replace("'tools':{}", tasks));
    let initialized = peer.one();
    peer.whole(&initialized, ResponseHead::new(202), "");
    peer.events();
    peer.sent();
    peer
}

fn legacy_task(status: &str) -> String {
    task(status, "").replace("ttlMs", "ttl").replace("pollIntervalMs", "pollInterval")
}

/// CAN-18: a request of 2025-11-25 that is to become a task is not cancelled; its answer is heard, and the task cancelled.
#[test]
fn a_request_that_is_to_become_a_task_is_not_cancelled() {
    for answers in [true, false] {
        let mut peer = legacy();
        let (call, sent) = peer.start(&CallToolAsTask::new("overhaul"));
        peer.http.cancel(peer.now, call.id());
        peer.none();
        assert!(peer.aborted().is_empty());
        assert_eq!(peer.take(&call).map(|_| ()), Err(CallError::Cancelled));
        if answers {
            peer.result(&sent, &format!("{{'task':{}}}", legacy_task("working")));
            peer.wait(0);
            let cancel = peer.one();
            assert_eq!(cancel.method(), "tasks/cancel");
            peer.result(&cancel, &legacy_task("cancelled"));
        } else {
            peer.wait(60_000);
            peer.none();
            assert_eq!(peer.aborted(), [sent.exchange]);
        }
        peer.events();
        assert_eq!((peer.http.calls(), peer.http.held()), (0, 0));
    }
}

/// CAN-01, TASKL-32: who waits no longer for what a task comes to says so, or the server would hold the request until then.
#[test]
fn to_wait_no_longer_for_a_result_cancels_its_request() {
    for end in ["cancel", "stop", "time"] {
        let mut peer = legacy();
        let options = CallOptions::new().max(Duration::from_secs(10));
        let wait = WaitForTask::new(&TaskHandle::new("t 1"));
        let call = peer.http.start(peer.now, &wait, options).unwrap();
        let poll = peer.one();
        peer.result(&poll, &legacy_task("completed"));
        peer.wait(0);
        let asked = peer.one();
        assert_eq!(asked.method(), "tasks/result");
        match end {
            "cancel" => peer.http.cancel(peer.now, call.id()),
            "stop" => peer.http.stop(peer.now, call.id()),
            _ => peer.wait(10_000),
        }
        let notice = peer.one();
        assert_eq!(notice.method(), "notifications/cancelled");
        assert_eq!(peer.aborted(), [asked.exchange]);
        assert!(peer.take(&call).is_err());
    }
}

/// TASK-67: who has signed out waits for no task any more, and whoever signs in next neither asks about it nor answers it.
#[test]
fn to_sign_out_ends_the_waits_for_tasks() {
    for polls in [false, true] {
        let mut peer = peer();
        let call = peer.task();
        let poll = polls.then(|| peer.poll());
        peer.http.leave_tasks(peer.now, "gone");
        assert_eq!(peer.aborted(), poll.map(|poll| poll.exchange).as_slice());
        let error = peer.take(&call).unwrap_err();
        assert_eq!(error.task().map(TaskHandle::task_id), Some("t 1"));
        assert!(matches!(error, CallError::Unfinished { why, .. }
            if matches!(&*why, Unfinished::Lost(error) if matches!(**error, CallError::Unauthorized { .. }))));
        peer.wait(500);
        peer.none();
        peer.is_empty();
    }
}
