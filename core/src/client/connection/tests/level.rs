//! Calls wait until the server has taken note of the log level.

use super::*;
use crate::model::subscriptions::SubscriptionFilter;

const LISTS: &str = "{'protocolVersion':'2025-11-25','capabilities':{'tools':{'listChanged':true},'logging':{}},\
    'serverInfo':{'name':'spokes','version':'2.1.0'}}";

/// A client that has just told the server the level, and what it told it.
fn telling() -> (Peer, String) {
    let mut peer = Peer::new(config().era(EraChoice::Legacy).log_level(LoggingLevel::Warning));
    let set = tells(&mut peer, "warning");
    (peer, set)
}

/// Goes through the handshake until the server is told the level.
fn tells(peer: &mut Peer, level: &str) -> String {
    let initialize = peer.one();
    assert_eq!(method(&initialize), "initialize");
    peer.result(&initialize, LISTS);
    let [initialized, set]: [String; 2] = peer.written().try_into().unwrap();
    assert_eq!(method(&initialized), "notifications/initialized");
    assert!(set.contains(&format!("\"method\":\"logging/setLevel\",\"params\":{{\"level\":\"{level}\"}}")));
    set
}

fn custom() -> Custom {
    Custom::new("x/y", None).unwrap()
}

/// The call that waited has gone out, and is answered.
fn goes_on(peer: &mut Peer, call: &Pending<Json>) {
    let sent = peer.one();
    assert_eq!(method(&sent), "x/y");
    peer.result(&sent, "{}");
    peer.connection.take(call).unwrap().unwrap();
    assert_eq!(peer.connection.calls(), 0);
}

/// LOG-06: a server that serves side by side what it reads may begin with the first call.
#[test]
fn calls_wait_until_the_server_has_taken_note_of_the_log_level() {
    let (mut peer, set) = telling();
    let call = peer.start(&custom());
    assert!(peer.written().is_empty());
    peer.result(&set, "{}");
    assert_eq!(diagnostics(&peer.drain()), 0);
    goes_on(&mut peer, &call);
}

/// LOG-06, LOG-09: a server that refuses the level sends what it likes. That is told, and is no reason to go without it.
#[test]
fn calls_go_on_when_the_log_level_is_refused() {
    for answer in ["'error':{'code':-32603,'message':'the log is full'}", "'result':7,'error':{}"] {
        let (mut peer, set) = telling();
        let call = peer.start(&custom());
        peer.drain();
        peer.says(&format!("{{'jsonrpc':'2.0','id':{},{answer}}}", id(&set)));
        assert_eq!(diagnostics(&peer.drain()), 1);
        goes_on(&mut peer, &call);
        assert!(!peer.connection.is_closed());
    }
}

/// LOG-06: a server that never answers holds up the calls as long as it would the probe, and no longer.
#[test]
fn calls_go_on_when_the_log_level_is_not_answered_in_time() {
    let (mut peer, set) = telling();
    let call = peer.start(&custom());
    peer.wait(4_999);
    assert!(peer.written().is_empty());
    peer.drain();
    peer.wait(1);
    let [cancelled, sent]: [String; 2] = peer.written().try_into().unwrap();
    assert!(method(&cancelled) == "notifications/cancelled" && method(&sent) == "x/y");
    assert_eq!(diagnostics(&peer.drain()), 1);
    peer.result(&sent, "{}");
    peer.connection.take(&call).unwrap().unwrap();
    peer.result(&set, "{}");
    assert_eq!(peer.connection.calls(), 0);
}

/// LOG-06, STDIO-19: a process that was started again is told the level that is wanted by then, before anything else.
#[test]
fn a_process_that_was_started_again_is_told_the_log_level() {
    let (mut peer, set) = telling();
    peer.result(&set, "{}");
    let filter = SubscriptionFilter::new().tools_list_changed(true);
    peer.connection.listen(peer.now, filter).unwrap();
    peer.connection.set_log_level(LoggingLevel::Alert).unwrap();
    for _ in 0..2 {
        // The second one dies before it has taken note.
        peer.drain();
        peer.connection.handle_end(peer.now, End::Complete);
        let call = peer.start(&custom());
        let outputs = peer.drain();
        assert!(outputs.iter().any(|output| matches!(output, Output::Respawn { .. })), "{outputs:?}");
        assert_eq!(diagnostics(&outputs), 0);
        peer.connection.handle_respawned(peer.now);
        let set = tells(&mut peer, "alert");
        if peer.connection.calls() == 2 {
            peer.connection.cancel(peer.now, call.id());
            peer.connection.take(&call).unwrap().unwrap_err();
            continue;
        }
        peer.result(&set, "{}");
        goes_on(&mut peer, &call);
    }
}

/// LOG-06, META-11: so is a modern one, with each request.
#[test]
fn a_modern_process_that_was_started_again_is_asked_for_the_level_that_was_set() {
    let mut peer = Peer::modern_with(config().log_level(LoggingLevel::Warning));
    peer.connection.listen(peer.now, SubscriptionFilter::new().tools_list_changed(true)).unwrap();
    peer.connection.set_log_level(LoggingLevel::Alert).unwrap();
    peer.written();
    peer.connection.handle_end(peer.now, End::Complete);
    peer.connection.handle_respawned(peer.now);
    let probe = peer.one();
    peer.result(&probe, DISCOVERED);
    peer.written();
    peer.start(&CallTool::new("a"));
    assert!(peer.one().contains("\"io.modelcontextprotocol/logLevel\":\"alert\""));
}

/// INIT-18: a server may ask while it is told the level.
#[test]
fn requests_of_the_server_are_answered_meanwhile() {
    let (mut peer, _) = telling();
    peer.says("{'jsonrpc':'2.0','id':9,'method':'ping'}");
    assert!(peer.one().contains("\"result\":{}"));
}

/// RPC-06: how the bytes of the answer are cut does not matter.
#[test]
fn what_follows_the_answer_comes_behind_the_calls_that_waited_for_it() {
    let mut transcripts = std::collections::BTreeSet::new();
    for size in [1, 7, 1_000] {
        let (mut peer, set) = telling();
        peer.start(&custom());
        let lines = format!(
            "{{'jsonrpc':'2.0','id':{},'result':{{}}}}\n{{'jsonrpc':'2.0','id':9,'method':'ping'}}\n",
            id(&set)
        );
        for piece in json(&lines).as_bytes().chunks(size) {
            peer.connection.handle_bytes(peer.now, piece);
        }
        transcripts.insert(peer.written());
    }
    assert_eq!(transcripts.len(), 1, "{transcripts:?}");
}
