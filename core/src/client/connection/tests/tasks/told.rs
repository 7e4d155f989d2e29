//! What servers tell of tasks without being asked about each.

use super::*;
use crate::client::{Notice, SubscriptionId};
use crate::model::subscriptions::SubscriptionFilter;
use crate::model::tasks::TaskStatus;
use std::vec::Vec;

const TOLD: &str = "'createdAt':'2026-08-01T09:00:00Z','lastUpdatedAt':'2026-08-01T09:00:00Z'";

impl Peer {
    /// Listens for tasks; the request of the subscription, if there is one.
    fn hear_of(&mut self, ids: &[&str]) -> (SubscriptionId, Option<String>) {
        let wanted = SubscriptionFilter::new().tasks(ids.iter().copied());
        let id = self.connection.listen(self.now, wanted).unwrap();
        (id, self.written().pop())
    }

    fn announce(&mut self, stream: &str, method: &str, params: &str) {
        let meta = format!("'_meta':{{'io.modelcontextprotocol/subscriptionId':{}}}", id(stream));
        self.says(&format!("{{'jsonrpc':'2.0','method':'{method}','params':{{{meta},{params}}}}}"));
    }

    fn heard(&mut self, id: SubscriptionId) -> Vec<(String, TaskStatus, usize)> {
        let notices = std::iter::from_fn(|| self.connection.take_notice(id));
        let heard = notices.map(|notice| match notice {
            Notice::Task(task) => (task.task.task_id, task.task.status, task.input_requests.len()),
            other => panic!("{other:?}"),
        });
        heard.collect()
    }
}

/// TASK-50, TASK-51: who asks for tasks is told of those that the server has granted, the newest of each.
#[test]
fn tasks_that_are_listened_for_are_told() {
    let mut peer = peer();
    let (id, stream) = peer.hear_of(&["t-1", "t-2", "t-3"]);
    let stream = stream.unwrap();
    assert!(stream.contains(r#""notifications":{"taskIds":["t-1","t-2","t-3"]}"#), "{stream}");
    peer.announce(
        &stream,
        "notifications/subscriptions/acknowledged",
        "'notifications':{'taskIds':['t-1','t-2']}",
    );
    let subscription = peer.connection.subscription(id).unwrap();
    assert_eq!(subscription.acknowledged().unwrap().task_ids(), ["t-1", "t-2"]);
    assert_eq!(subscription.unsupported().task_ids(), ["t-3"]);
    peer.drain();
    for (task, status) in [("t-1", "working"), ("t-2", "working"), ("t-1", "completed")] {
        let params = format!("'taskId':'{task}','status':'{status}',{TOLD},'ttlMs':null");
        peer.announce(&stream, "notifications/tasks", &params);
    }
    let heard = [("t-2".into(), TaskStatus::Working, 0), ("t-1".into(), TaskStatus::Completed, 0)];
    assert_eq!(peer.heard(id), heard);
}

/// TASK-32, TASK-51: what is told drives nothing: questions are those of whoever waits for the task.
#[test]
fn what_is_told_of_a_task_drives_nothing() {
    let mut peer = peer();
    let call = peer.task();
    let (id, stream) = peer.hear_of(&["t-1"]);
    let stream = stream.unwrap();
    peer.announce(&stream, "notifications/subscriptions/acknowledged", "'notifications':{'taskIds':['t-1']}");
    peer.drain();
    let asks = format!(
        "'taskId':'t-1','status':'input_required',{TOLD},'ttlMs':null,'inputRequests':{{'who':{FORM}}}"
    );
    peer.announce(&stream, "notifications/tasks", &asks);
    assert!(peer.puts().is_empty());
    assert_eq!(peer.heard(id), [("t-1".into(), TaskStatus::InputRequired, 1)]);
    let done = format!("'taskId':'t-1','status':'completed',{TOLD},'ttlMs':null,'result':{DONE}");
    peer.announce(&stream, "notifications/tasks", &done);
    assert!(peer.connection.take(&call).is_none() && peer.written().is_empty());
    assert_eq!(method(&peer.after(500)), "tasks/get");
}

/// TASKL-37, TASKL-38: a server of 2025-11-25 tells whoever listens, if it likes, and nobody waits for that.
#[test]
fn a_legacy_server_may_tell_of_tasks() {
    for (tasks, granted) in [("'tasks':{}", true), ("'logging':{}", false)] {
        let mut peer = Peer::new(declaring().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.result(&initialize, &INITIALIZED.replace("'logging':{}", tasks));
        peer.written();
        let (id, stream) = peer.hear_of(&["t-1"]);
        assert_eq!(stream, None);
        let subscription = peer.connection.subscription(id).unwrap();
        assert_eq!(subscription.unsupported().task_ids().is_empty(), granted);
        for task in ["t-1", "t-2"] {
            peer.says(&format!(
                "{{'jsonrpc':'2.0','method':'notifications/tasks/status','params':\
                 {{'taskId':'{task}','status':'failed',{TOLD},'ttl':null}}}}"
            ));
        }
        assert_eq!(peer.heard(id), [("t-1".into(), TaskStatus::Failed, 0)]);
    }
}

/// TASK-67: what is told is not printed.
#[test]
fn what_is_told_prints_its_status_alone() {
    let task = crate::model::tasks::Task::new("secret", "2026-08-01T09:00:00Z");
    let notice = Notice::Task(Box::new(crate::model::tasks::DetailedTask::new(task)));
    assert_eq!(format!("{notice:?}"), "Task(working)");
}

/// SUB-02, TASK-50: what is told of a task that was not asked for, or cannot be read, is skipped, and reported.
#[test]
fn what_is_told_of_other_tasks_is_skipped() {
    let mut peer = peer();
    let (id, stream) = peer.hear_of(&["t-1"]);
    let stream = stream.unwrap();
    peer.announce(&stream, "notifications/subscriptions/acknowledged", "'notifications':{'taskIds':['t-1']}");
    peer.drain();
    let other = format!("'taskId':'t-2','status':'working',{TOLD},'ttlMs':null");
    for params in [&*other, "'taskId':'t-1','status':'paused'"] {
        peer.announce(&stream, "notifications/tasks", params);
        let outputs = peer.drain();
        assert!(outputs.iter().any(|it| matches!(it, Output::Event(Event::Diagnostic(_)))), "{outputs:?}");
        assert_eq!(peer.heard(id), []);
    }
}
