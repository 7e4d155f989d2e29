//! Calls that go on as tasks, with the extension of 2026-07-28.

mod asking;
mod handles;
mod legacy;
mod told;
mod troubles;

use super::*;
use crate::client::{AskId, Refusal, TaskHandle, ToolReply, Unfinished, Unmet};
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability, RootsCapability};
use crate::model::elicitation::ElicitResult;
use crate::model::roots::ListRootsResult;
use std::boxed::Box;
use std::collections::BTreeMap;

const FORM: &str = "{'method':'elicitation/create','params':{'message':'Who?','requestedSchema':\
    {'type':'object','properties':{'name':{'type':'string','default':'Ada'}},'required':['name']}}}";
const ROOTS: &str = "{'method':'roots/list'}";
const DONE: &str = "{'resultType':'complete','content':[{'type':'text','text':'done'}]}";

fn declaring() -> Config {
    let capabilities = ClientCapabilities::new()
        .elicitation(ElicitationCapability::new().form(Json::empty_object()))
        .roots(RootsCapability::new());
    config().capabilities(capabilities).tasks()
}

const DISCOVERED: &str = "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{},\
    'extensions':{'io.modelcontextprotocol/tasks':{}}}}";

fn peer() -> Peer {
    peer_with(declaring())
}

fn peer_with(config: Config) -> Peer {
    let mut peer = Peer::new(config);
    let probe = peer.one();
    peer.result(&probe, DISCOVERED);
    peer.drain();
    peer
}

/// A task as it comes, kept for a minute and polled twice a second.
fn task(status: &str, more: &str) -> String {
    format!(
        "{{'resultType':'complete','taskId':'t-1','status':'{status}','createdAt':'2026-08-01T09:00:00Z',\
         'lastUpdatedAt':'2026-08-01T09:00:00Z','ttlMs':60000,'pollIntervalMs':500{more}}}"
    )
}

fn created() -> String {
    task("working", "").replace("'complete'", "'task'")
}

fn asking(requests: &str) -> String {
    task("input_required", &format!(",'inputRequests':{{{requests}}}"))
}

fn params(line: &str) -> BTreeMap<String, Json> {
    let members: BTreeMap<String, Json> = serde_json::from_str(line).unwrap();
    members["params"].decode().unwrap()
}

impl Peer {
    /// A call of a tool that has become a task.
    fn task(&mut self) -> Pending<ToolReply> {
        let call = self.start(&CallTool::new("overhaul"));
        let line = self.one();
        self.result(&line, &created());
        call
    }

    /// What is asked of the server next, after so many milliseconds and not before.
    fn after(&mut self, ms: u64) -> String {
        self.wait(ms - 1);
        assert!(self.written().is_empty());
        self.wait(1);
        self.one()
    }

    fn puts(&mut self) -> BTreeMap<String, AskId> {
        let asked = self.drain().into_iter().filter_map(|output| match output {
            Output::Event(Event::Asked(id, request)) => Some((request.method().to_string(), id)),
            _ => None,
        });
        asked.collect()
    }

    fn fill(&mut self, ask: AskId) {
        self.connection.answer(self.now, ask, Ok(ElicitResult::accept(Json::empty_object()).into())).unwrap();
    }

    fn name_roots(&mut self, ask: AskId) {
        self.connection.answer(self.now, ask, Ok(ListRootsResult::default().into())).unwrap();
    }

    fn outcome(&mut self, call: &Pending<ToolReply>) -> Result<ToolReply, CallError> {
        let outcome = self.connection.take(call).expect("settled");
        assert_eq!(self.connection.asks(), 0);
        outcome
    }

    fn unfinished(&mut self, call: &Pending<ToolReply>) -> (Unfinished, TaskHandle) {
        match self.outcome(call) {
            Err(CallError::Unfinished { why, task }) => (*why, *task),
            other => panic!("{other:?}"),
        }
    }

    fn is_idle(&mut self) {
        assert!(self.written().is_empty());
        assert_eq!((self.connection.calls(), self.connection.poll_timeout()), (0, None));
    }
}

/// TASK-01: it is declared with each request, and only by who knows it.
#[test]
fn tasks_are_declared_with_each_request() {
    let declared = "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}";
    let mut peer = peer();
    peer.start(&CallTool::new("a"));
    peer.start(&ListTools::new());
    assert!(peer.written().iter().all(|line| line.contains(declared)));
    let mut peer = Peer::modern();
    peer.start(&CallTool::new("a"));
    assert!(!peer.one().contains("extensions"));
}

/// TASK-04, TASK-11, TASK-18, TASK-20: a call that becomes a task is polled as often as its server says, and ends as it
/// would have without.
#[test]
fn a_call_that_becomes_a_task_ends_with_its_result() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    assert_eq!((method(&poll), params(&poll)["taskId"].get()), ("tasks/get".into(), "\"t-1\""));
    peer.result(&poll, &task("working", "").replace("500", "2000"));
    let poll = peer.after(2_000);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert_eq!(settled(&peer.drain()), 1);
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
    peer.is_idle();
}

/// TASK-04: a server that answers at once is heard as ever.
#[test]
fn a_server_that_answers_at_once_is_heard() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, DONE);
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
}

/// TASK-04: a task may come of a call that was asked something first.
#[test]
fn a_round_may_end_with_a_task() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &format!("{{'resultType':'input_required','inputRequests':{{'w':{FORM}}}}}"));
    let ask = peer.puts()["elicitation/create"];
    peer.fill(ask);
    let line = peer.one();
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
}

/// TASK-05: a task for another method, or for a client that did not declare that it knows them, is an invalid response.
#[test]
fn a_task_where_there_are_none_is_invalid() {
    let mut peer = peer();
    let list = peer.start(&ListTools::new());
    let line = peer.one();
    peer.result(&line, &created());
    assert!(matches!(peer.connection.take(&list), Some(Err(CallError::Invalid { .. }))));
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &created());
    assert!(matches!(peer.outcome(&call), Err(CallError::Invalid { .. })));
    peer.is_idle();
}

/// TASK-18: a server that does not say how often is polled every second; one that wants it all the time is not, nor is one
/// forgotten that says years.
#[test]
fn the_pace_of_polls_has_a_default_and_bounds() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    for (interval, ms) in [("", 1_000), (",'pollIntervalMs':0", 100), (",'pollIntervalMs':99999999", 300_000)]
    {
        let task = task("working", interval).replace(",'pollIntervalMs':500", "").replace("60000", "null");
        let line = if ms == 1_000 { poll.clone() } else { peer.one() };
        peer.result(&line, &task);
        assert_eq!(peer.connection.poll_timeout(), Some(peer.now.mono + Duration::from_millis(ms)));
        peer.wait(ms);
    }
    assert!(peer.connection.take(&call).is_none());
}

/// TASK-13, TASK-26: the error of a task that has failed is that of the call.
#[test]
fn a_task_that_fails_ends_the_call_with_its_error() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &task("failed", ",'statusMessage':'m','error':{'code':-32007,'message':'no oil'}"));
    let error = peer.outcome(&call).unwrap_err();
    assert_eq!(error, CallError::Server { error: ErrorObject::new(-32007, "no oil"), status: None });
    peer.is_idle();
}

/// TASK-15: a tool that failed is a result.
#[test]
fn a_tool_that_fails_in_a_task_is_a_reply() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", ",'result':{'content':[],'isError':true}"));
    assert!(peer.outcome(&call).unwrap().is_error());
}

/// TASK-13: a task that somebody cancelled has no outcome, and the error says so.
#[test]
fn a_task_that_was_cancelled_elsewhere_is_told_as_that() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &task("cancelled", ",'statusMessage':'by the foreman'"));
    let (why, task) = peer.unfinished(&call);
    assert_eq!(why, Unfinished::Cancelled { message: Some("by the foreman".into()) });
    assert_eq!((task.task_id(), task.tool()), ("t-1", Some("overhaul")));
    peer.is_idle();
}

/// A task that comes without what its status brings along breaks the protocol, and so does another one's.
#[test]
fn a_task_that_makes_no_sense_is_invalid() {
    for answer in [task("completed", ""), task("failed", ""), task("working", "").replace("t-1", "t-2")] {
        let mut peer = peer();
        let call = peer.task();
        let poll = peer.after(500);
        peer.result(&poll, &answer);
        let (why, _) = peer.unfinished(&call);
        assert!(matches!(why, Unfinished::Lost(error) if matches!(*error, CallError::Invalid { .. })));
        peer.is_idle();
    }
}

/// TASK-29: when its server need not keep it any more, a task is asked about once more and then given up.
#[test]
fn a_task_is_given_up_when_its_time_has_passed() {
    for ends in [false, true] {
        let mut peer = peer();
        let call = peer.task();
        peer.wait(500);
        let poll = peer.one();
        peer.result(&poll, &task("working", "").replace("60000", "1200"));
        let poll = peer.after(500);
        peer.result(&poll, &task("working", "").replace("60000", "1200"));
        let poll = peer.after(200);
        if ends {
            peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
            assert!(peer.outcome(&call).is_ok());
        } else {
            peer.result(&poll, &task("working", "").replace("60000", "1200"));
            let ttl = Duration::from_millis(1_200);
            assert_eq!(peer.unfinished(&call).0, Unfinished::Expired { ttl });
        }
        peer.is_idle();
    }
}

/// TASK-45, TASK-49: who cancels a call that has become a task takes the task back, whatever is being asked about it; there
/// is no other word of it, and nothing more is asked.
#[test]
fn to_cancel_the_call_takes_the_task_back() {
    for polls in [false, true] {
        let mut peer = peer();
        let call = peer.task();
        if polls {
            peer.after(500);
        }
        peer.connection.cancel(peer.now, call.id());
        let cancel = peer.one();
        assert_eq!((method(&cancel), params(&cancel)["taskId"].get()), ("tasks/cancel".into(), "\"t-1\""));
        assert_eq!(peer.outcome(&call), Err(CallError::Cancelled));
        peer.result(&cancel, "{'resultType':'complete'}");
        peer.is_idle();
    }
}

/// CAN-02: until there is a task, the request is cancelled.
#[test]
fn to_cancel_the_call_before_there_is_a_task_cancels_the_request() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    peer.one();
    peer.connection.cancel(peer.now, call.id());
    assert_eq!(method(&peer.one()), "notifications/cancelled");
}

/// TASK-45: a task that the server had made when it was told so is taken back as soon as that is heard.
#[test]
fn a_task_of_a_call_that_was_cancelled_is_taken_back() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.connection.cancel(peer.now, call.id());
    peer.one();
    peer.result(&line, &created());
    let cancel = peer.one();
    assert_eq!((method(&cancel), params(&cancel)["taskId"].get()), ("tasks/cancel".into(), "\"t-1\""));
    assert_eq!(peer.outcome(&call), Err(CallError::Cancelled));
    peer.result(&cancel, "{}");
    peer.is_idle();
}

/// TASK-45: so does who has no more time for it.
#[test]
fn a_call_that_runs_out_of_time_takes_its_task_back() {
    let mut peer = peer();
    let max = Duration::from_secs(2);
    let options = CallOptions::new().max(max);
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.result(&poll, &task("working", "").replace("500", "60000"));
    let cancel = peer.after(1_500);
    assert_eq!(method(&cancel), "tasks/cancel");
    assert_eq!(peer.outcome(&call), Err(CallError::TimedOut { after: max }));
}

/// TASK-32: answers that did not arrive are sent again.
#[test]
fn answers_that_did_not_arrive_are_sent_again() {
    let mut peer = peer();
    peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    peer.fill(ask);
    let update = peer.one();
    peer.error(&update, "{'code':-32603,'message':'m'}");
    let again = peer.after(500);
    assert_eq!(params(&again)["inputResponses"].get(), params(&update)["inputResponses"].get());
}

/// TASK-21: a connection that is lost leaves what is needed to find the task again.
#[test]
fn a_connection_that_is_lost_leaves_the_handle() {
    for asks in [false, true] {
        let mut peer = peer();
        let call = peer.task();
        let poll = peer.after(500);
        if asks {
            peer.result(&poll, &asking(&format!("'who':{FORM}")));
            assert_eq!(peer.puts().len(), 1);
        }
        peer.connection.handle_end(peer.now, End::Broken);
        let (why, task) = peer.unfinished(&call);
        assert!(matches!(why, Unfinished::Lost(error) if matches!(*error, CallError::Broken { .. })));
        assert_eq!(task.task_id(), "t-1");
    }
}

/// TOOL-29: the result of a task is held against the definition that its call went out under.
#[cfg(feature = "jsonschema")]
#[test]
fn the_result_of_a_task_is_checked() {
    let mut peer = peer_with(declaring().check_output(crate::client::OutputCheck::Strict));
    let list = |peer: &mut Peer, kind: &str| {
        let call = peer.start(&ListTools::new());
        let line = peer.one();
        peer.result(
            &line,
            &format!(
                "{{'tools':[{{'name':'overhaul','inputSchema':{{'type':'object'}},\
                 'outputSchema':{{'type':'object','properties':{{'n':{{'type':'{kind}'}}}}}}}}]}}"
            ),
        );
        peer.connection.take(&call).unwrap().unwrap();
    };
    list(&mut peer, "integer");
    let call = peer.task();
    // Its definition is another one by now.
    list(&mut peer, "string");
    let poll = peer.after(500);
    let result = ",'result':{'content':[],'structuredContent':{'n':'x'}}";
    peer.result(&poll, &task("completed", result));
    assert!(matches!(peer.outcome(&call), Err(CallError::Misfit { .. })));
}

/// TASK-05: what is inside a task is complete.
#[test]
fn the_result_of_a_task_is_no_other_task() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{}", created())));
    assert!(matches!(peer.outcome(&call), Err(CallError::Invalid { .. })));
}

/// Whoever answers by hand is told that there is something to be answered, and it can be given up at once.
#[test]
fn a_call_can_leave_the_task_to_its_caller() {
    let mut peer = peer();
    let options = CallOptions::new().manual_input();
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.result(&line, &created());
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    assert!(peer.puts().is_empty());
    assert_eq!(peer.unfinished(&call).0, Unfinished::Input(Unmet::Manual));
    let call = peer.task();
    peer.connection.stop(peer.now, call.id());
    assert_eq!(peer.unfinished(&call).0, Unfinished::Input(Unmet::Stopped));
    peer.is_idle();
}
