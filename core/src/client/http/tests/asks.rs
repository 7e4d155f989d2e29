use super::*;
use crate::client::{AskId, InputResponse};
use crate::model::capabilities::{ClientCapabilities, RootsCapability};
use crate::model::roots::ListRootsResult;

pub(super) fn config() -> Config {
    super::config().capabilities(ClientCapabilities::new().roots(RootsCapability::new()))
}

const DIRS: &str =
    "{'resultType':'input_required','requestState':'s','inputRequests':{'d':{'method':'roots/list'}}}";

impl Peer {
    /// Gives the client the stream that it wants first.
    pub(super) fn listens(&mut self) -> Sent {
        let get = self.one();
        assert_eq!(get.request.head.method, "GET");
        self.stream(&get);
        get
    }

    pub(super) fn asked(&mut self) -> Vec<AskId> {
        let events = self.events().into_iter();
        events.filter_map(|event| if let Event::Asked(id, _) = event { Some(id) } else { None }).collect()
    }

    pub(super) fn roots(&mut self, ask: AskId) {
        let roots = InputResponse::from(ListRootsResult::default());
        self.http.answer(self.now, ask, Ok(roots)).unwrap();
    }
}

/// HTTPL-11, HTTPL-46: what is asked on the stream of a call is answered by a message of its own, in the session.
#[test]
fn a_question_on_the_stream_of_a_call_is_answered_by_a_post() {
    let mut peer = Peer::legacy_with(config());
    peer.listens();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s1','method':'roots/list'}");
    peer.none();
    let ask = peer.asked()[0];
    peer.roots(ask);
    let answer = peer.one();
    assert_eq!(answer.request.head.method, "POST");
    assert_eq!(answer.body(), json("{'jsonrpc':'2.0','id':'s1','result':{'roots':[]}}"));
    assert_eq!(answer.header("mcp-session-id"), Some("s-1"));
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
}

/// CAN-16: with a call that is given up goes what was asked on its stream, where nothing more is heard.
#[test]
fn questions_end_with_a_call_that_is_given_up() {
    let mut peer = Peer::legacy_with(config());
    peer.listens();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s1','method':'roots/list'}");
    let ask = peer.asked()[0];
    peer.http.cancel(peer.now, call.id());
    assert!(peer.events().contains(&Event::Retracted(ask)));
    assert_eq!(peer.one().method(), "notifications/cancelled");
    peer.roots(ask);
    peer.none();
}

/// HTTPL-50: an answer to a lost session goes nowhere.
#[test]
fn questions_are_lost_with_their_session() {
    let mut peer = Peer::legacy_with(config());
    peer.listens();
    let (_, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s1','method':'roots/list'}");
    let ask = peer.asked()[0];
    let (_, lost) = peer.start(&CallTool::new("b"));
    peer.answer(&lost, 404, "{}");
    assert!(peer.events().contains(&Event::Retracted(ask)));
    assert_eq!(peer.one().method(), "initialize");
    peer.roots(ask);
    peer.none();
}

/// MRTR-23, MRTR-27, HDR-07: a round is an exchange of its own, with the headers of a call.
#[test]
fn a_round_is_another_exchange() {
    let mut peer = Peer::modern_with(config());
    let (call, first) = peer.start(&CallTool::new("a"));
    peer.result(&first, DIRS);
    peer.none();
    let ask = peer.asked()[0];
    peer.roots(ask);
    let second = peer.one();
    assert_ne!(first.id(), second.id());
    assert_eq!((second.header("mcp-method"), second.header("mcp-name")), (Some("tools/call"), Some("a")));
    assert!(second.body().contains("\"requestState\":\"s\""));
    assert!(second.body().contains(&json("'inputResponses':{'d':{'roots':[]}}")));
    peer.stream(&second);
    let body = response(&second, "{'content':[]}");
    peer.event(&second, &body);
    peer.end(&second);
    peer.take(&call).unwrap();
    peer.is_empty();
}

/// The stream on which the server asked is not waited for.
#[test]
fn a_round_begins_before_the_stream_has_ended() {
    let mut peer = Peer::modern_with(config());
    let (call, first) = peer.start(&CallTool::new("a"));
    peer.stream(&first);
    let body = response(&first, DIRS);
    peer.event(&first, &body);
    let ask = peer.asked()[0];
    peer.roots(ask);
    let second = peer.one();
    peer.http.handle_failed(peer.now, first.exchange, "cut", false);
    peer.result(&second, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.is_empty();
}

/// CAN-03: between rounds there is no stream to close.
#[test]
fn a_call_between_rounds_is_cancelled_quietly() {
    let mut peer = Peer::modern_with(config());
    let (call, first) = peer.start(&CallTool::new("a"));
    peer.result(&first, DIRS);
    let ask = peer.asked()[0];
    peer.http.cancel(peer.now, call.id());
    assert!(peer.aborted().is_empty());
    assert_eq!(peer.take(&call).unwrap_err().cause(), &CallError::Cancelled);
    peer.roots(ask);
    peer.none();
    peer.is_empty();
}

/// MRTR-22
#[test]
fn a_server_that_asks_nothing_is_called_again() {
    let mut peer = Peer::modern();
    let (call, first) = peer.start(&CallTool::new("a"));
    peer.result(&first, "{'resultType':'input_required','requestState':'s'}");
    peer.none();
    peer.wait(250);
    let second = peer.one();
    peer.result(&second, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.is_empty();
}

/// ROOT-03, ROOT-04: a legacy server is told that the roots have changed, once the handshake is over.
#[test]
fn a_change_of_the_roots_is_told_to_legacy_servers() {
    let roots = |changes| ClientCapabilities::new().roots(RootsCapability::new().list_changed(changes));
    for (changes, told) in [(true, 1), (false, 0)] {
        let mut peer = Peer::new(super::config().era(EraChoice::Legacy).capabilities(roots(changes)));
        let initialize = peer.one();
        peer.http.roots_changed(peer.now);
        let body = response(&initialize, INITIALIZED);
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        peer.whole(&initialize, head, &body);
        let initialized = peer.one();
        peer.http.roots_changed(peer.now);
        peer.none();
        peer.whole(&initialized, ResponseHead::new(202), "");
        let get = peer.one();
        peer.http.roots_changed(peer.now);
        peer.none();
        peer.whole(&get, ResponseHead::new(405), "");
        peer.http.roots_changed(peer.now);
        let sent = peer.sent();
        let notices = sent.iter().filter(|sent| sent.method() == "notifications/roots/list_changed");
        assert_eq!(notices.count(), told * 2, "{sent:?}");
    }
    let mut peer = Peer::modern_with(super::config().capabilities(roots(true)));
    peer.http.roots_changed(peer.now);
    peer.none();
}
