//! Calls that fail after their server has asked for input: what was answered is not lost.

use super::*;
use crate::client::{Continuation, Resume, ToolReply};
use crate::model::capabilities::{ClientCapabilities, RootsCapability};
use crate::model::roots::ListRootsResult;

const ASKS: &str = "{'resultType':'input_required','requestState':'s','inputRequests':\
    {'a':{'method':'roots/list'},'b':{'method':'roots/list'}}}";
const ANSWERS: &str = "'inputResponses':{'a':{'roots':[]},'b':{'roots':[]}}";

fn peer() -> Peer {
    peer_with(Limits::default())
}

fn peer_with(limits: Limits) -> Peer {
    let capabilities = ClientCapabilities::new().roots(RootsCapability::new());
    Peer::modern_with(config().capabilities(capabilities).limits(limits))
}

/// A call that was asked two questions, of which so many are answered.
fn asked(peer: &mut Peer, answers: usize) -> Pending<ToolReply> {
    let call = peer.start(&CallTool::with("book", Json::parse("{\"seat\":\"4A\"}").unwrap()));
    let line = peer.one();
    peer.result(&line, ASKS);
    let asks = peer.drain().into_iter().filter_map(|output| match output {
        Output::Event(Event::Asked(ask, _)) => Some(ask),
        _ => None,
    });
    for ask in asks.take(answers) {
        peer.connection.answer(peer.now, ask, Ok(ListRootsResult::default().into())).unwrap();
    }
    call
}

fn ended(peer: &mut Peer, call: &Pending<ToolReply>) -> CallError {
    peer.connection.take(call).unwrap().unwrap_err()
}

/// MRTR-20, MRTR-24: in another process, what goes out is what would have gone out.
fn goes_on(mut continuation: Continuation) {
    for key in ["a", "b"] {
        if !continuation.responses().contains_key(key) {
            continuation.answer(key, ListRootsResult::default()).unwrap();
        }
    }
    let kept = serde_json::to_string(&continuation).unwrap();
    let mut there = peer();
    there.start(&Resume::<CallTool<'_, Json>>::new(serde_json::from_str(&kept).unwrap()));
    let line = there.one();
    for member in [ANSWERS, "'requestState':'s'", "'arguments':{'seat':'4A'}"] {
        assert!(line.contains(&json(member)), "{line}");
    }
}

/// MRTR-33: an error in a later round is told as what it is, with the answers that people have given.
#[test]
fn an_error_of_the_server_in_a_later_round_leaves_the_answers() {
    let mut peer = peer();
    let call = asked(&mut peer, 2);
    let line = peer.one();
    peer.error(&line, "{'code':-32603,'message':'down'}");
    let error = ended(&mut peer, &call);
    assert!(matches!(error.cause(), CallError::Server { error, .. } if error.code == -32603), "{error}");
    assert!(error.to_string().starts_with("the server answered with an error: down"), "{error}");
    let continuation = error.continuation().unwrap();
    assert_eq!((continuation.rounds(), continuation.responses().len()), (1, 2));
    goes_on(continuation.clone());
}

/// CAN-20, MRTR-33: so does a later round that is not answered in time.
#[test]
fn a_later_round_that_is_not_answered_in_time_leaves_the_answers() {
    let mut peer = peer_with(Limits { request: Duration::from_secs(1), ..Limits::default() });
    let call = asked(&mut peer, 2);
    peer.one();
    peer.wait(1_000);
    let error = ended(&mut peer, &call);
    assert!(matches!(error.cause(), CallError::TimedOut { .. }), "{error}");
    goes_on(error.continuation().unwrap().clone());
}

/// MRTR-33: so does a connection that is lost, on the way and while somebody has not answered yet.
#[test]
fn a_connection_that_is_lost_leaves_the_answers() {
    for answers in [0, 1, 2] {
        let mut peer = peer();
        let call = asked(&mut peer, answers);
        peer.connection.handle_end(peer.now, End::Broken);
        let error = ended(&mut peer, &call);
        assert!(matches!(error.cause(), CallError::Broken { .. }), "{error}");
        let continuation = error.continuation().unwrap();
        assert_eq!(continuation.responses().len(), answers);
        goes_on(continuation.clone());
    }
}

/// CAN-02, MRTR-33: so does a call that is cancelled.
#[test]
fn a_call_that_is_cancelled_leaves_the_answers() {
    for answers in [1, 2] {
        let mut peer = peer();
        let call = asked(&mut peer, answers);
        peer.connection.cancel(peer.now, call.id());
        let error = ended(&mut peer, &call);
        assert_eq!(error.cause(), &CallError::Cancelled);
        goes_on(error.continuation().unwrap().clone());
    }
}

/// MRTR-25: what was answered in an earlier round is of the past once the server has asked anew.
#[test]
fn the_last_round_is_what_is_gone_on_with() {
    let mut peer = peer();
    let call = asked(&mut peer, 2);
    let line = peer.one();
    peer.result(&line, "{'resultType':'input_required','requestState':'t'}");
    peer.connection.cancel(peer.now, call.id());
    let error = ended(&mut peer, &call);
    let continuation = error.continuation().unwrap();
    assert_eq!((continuation.rounds(), continuation.responses().len()), (2, 0));
    let asked = continuation.input_required().unwrap();
    assert_eq!(asked.request_state.as_deref(), Some("t"));
}

/// A call of which nothing was asked ends as it did, and an error is no larger for what it may carry.
#[test]
fn a_call_that_was_asked_nothing_has_nothing_to_go_on_with() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.error(&line, "{'code':-32603,'message':'down'}");
    let error = ended(&mut peer, &call);
    assert!(matches!(error, CallError::Server { .. }) && error.continuation().is_none());
    assert!(size_of::<CallError>() <= 96, "{}", size_of::<CallError>());
}
