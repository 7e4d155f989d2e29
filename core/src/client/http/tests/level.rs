//! Calls wait until the server has taken note of the log level.

use super::*;
use crate::model::logging::LoggingLevel;

const WARNING: &str = "\"params\":{\"level\":\"warning\"}";

fn leveled() -> Config {
    config().era(EraChoice::Legacy).log_level(LoggingLevel::Warning)
}

/// A client that has just told the server the level, and what it told it.
fn telling(config: Config) -> (Peer, Sent) {
    let mut peer = Peer::new(config);
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let set = peer.one();
    assert!(set.body().contains(WARNING), "{}", set.body());
    (peer, set)
}

impl Peer {
    /// Begins a call that has to wait.
    fn waits(&mut self) -> Pending<Json> {
        let pending =
            self.http.start(self.now, &Custom::new("x/y", None).unwrap(), CallOptions::new()).unwrap();
        self.none();
        pending
    }

    /// The call that waited has gone out, and is answered.
    fn goes_on(&mut self, pending: &Pending<Json>) {
        let sent = self.one();
        assert_eq!(sent.method(), "x/y");
        self.result(&sent, "{}");
        self.take(pending).unwrap();
    }
}

/// LOG-06: on another connection the first call would overtake it, and bring messages that nobody wants.
#[test]
fn calls_wait_until_the_server_has_taken_note_of_the_log_level() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.stream(&set);
    peer.none();
    let body = response(&set, "{}");
    peer.event(&set, &body);
    peer.goes_on(&call);
    peer.end(&set);
    assert!(peer.diagnostics().is_empty());
    peer.is_empty();
}

/// LOG-06: the stream for messages of the server is opened meanwhile, and calls wait for both.
#[test]
fn calls_wait_for_the_stream_and_the_log_level_at_once() {
    for stream_first in [true, false] {
        let mut peer = Peer::new(leveled().listen(true));
        let initialize = peer.one();
        peer.initialized(&initialize, Some("s-1"));
        let [stream, set]: [Sent; 2] = peer.sent().try_into().unwrap();
        assert_eq!((stream.method().as_str(), set.method().as_str()), ("GET", "logging/setLevel"));
        let call = peer.waits();
        if stream_first {
            peer.stream(&stream);
            peer.none();
            peer.result(&set, "{}");
        } else {
            peer.result(&set, "{}");
            peer.none();
            peer.stream(&stream);
        }
        peer.goes_on(&call);
    }
}

/// LOG-06, LOG-09: a server that refuses the level sends what it likes. That is told, and is no reason to go without it.
#[test]
fn calls_go_on_when_the_log_level_is_refused() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.error(&set, 200, "{'code':-32603,'message':'the log is full'}");
    let noticed = peer.diagnostics();
    assert!(noticed.len() == 1 && noticed[0].contains("the log is full"), "{noticed:?}");
    peer.goes_on(&call);
    assert_eq!(peer.closed(), None);
    peer.is_empty();
}

/// LOG-06: a server that never answers holds up the calls as long as it would the probe, and no longer.
#[test]
fn calls_go_on_when_the_log_level_is_not_answered_in_time() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.wait(4_999);
    peer.none();
    peer.wait(1);
    assert_eq!(peer.aborted(), [set.exchange]);
    let [cancelled, sent]: [Sent; 2] = peer.sent().try_into().unwrap();
    assert!(cancelled.body().contains("notifications/cancelled"));
    assert_eq!(sent.method(), "x/y");
    assert!(peer.diagnostics()[0].contains("5s"));
    // Late, and of no interest to anybody.
    peer.result(&set, "{}");
    peer.result(&sent, "{}");
    peer.take(&call).unwrap();
    peer.whole(&cancelled, ResponseHead::new(202), "");
    assert_eq!(peer.closed(), None);
    peer.is_empty();
}

/// LOG-06: a server that could not be reached is told a little later.
#[test]
fn calls_wait_while_telling_the_log_level_is_tried_again() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.http.handle_failed(peer.now, set.exchange, "refused", true);
    peer.none();
    peer.wait(1_000);
    let again = peer.one();
    assert_eq!(again.body(), set.body());
    peer.result(&again, "{}");
    peer.goes_on(&call);
    peer.is_empty();
}

/// LOG-06, HTTPL-50: a session that is lost meanwhile is followed by one that is told the level first.
#[test]
fn a_session_lost_while_the_log_level_is_told_is_replaced() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.answer(&set, 404, "");
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize");
    peer.initialized(&initialize, Some("s-2"));
    let set = peer.one();
    assert!(set.body().contains(WARNING) && set.header("mcp-session-id") == Some("s-2"));
    peer.none();
    peer.result(&set, "{}");
    peer.goes_on(&call);
    assert!(peer.diagnostics().is_empty());
    peer.is_empty();
}

/// LOG-06: a server that answers so time and again refuses the call in its own way.
#[test]
fn a_log_level_that_costs_every_session_is_told_twice() {
    let (mut peer, set) = telling(leveled());
    let call = peer.waits();
    peer.answer(&set, 404, "");
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-2"));
    let set = peer.one();
    peer.answer(&set, 404, "");
    assert_eq!(peer.diagnostics().len(), 1);
    peer.goes_on(&call);
    peer.is_empty();
}

/// LOG-06, HTTPL-50: every session has to be told, before anything is asked in it.
#[test]
fn a_new_session_is_told_the_log_level_that_is_wanted_by_then() {
    let (mut peer, set) = telling(leveled());
    peer.result(&set, "{}");
    peer.http.set_log_level(LoggingLevel::Alert).unwrap();
    let pending = peer.http.start(peer.now, &Ping, CallOptions::new()).unwrap();
    let sent = peer.one();
    peer.answer(&sent, 404, "");
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-2"));
    let set = peer.one();
    assert!(set.body().contains("\"params\":{\"level\":\"alert\"}"), "{}", set.body());
    peer.none();
    peer.result(&set, "{}");
    let again = peer.one();
    assert_eq!(again.method(), "ping");
    peer.result(&again, "{}");
    peer.take(&pending).unwrap();
    peer.is_empty();
}

/// LOG-06, HTTPL-50: what was on its way in a session that the stream lost is not told twice.
#[test]
fn a_session_that_the_stream_lost_takes_the_log_level_along() {
    let mut peer = Peer::new(leveled().listen(true));
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let [stream, set]: [Sent; 2] = peer.sent().try_into().unwrap();
    peer.stream(&stream);
    peer.end(&stream);
    let call = peer.waits();
    peer.wait(1_000);
    let stream = peer.one();
    peer.whole(&stream, ResponseHead::new(404), "");
    assert_eq!(peer.aborted(), [set.exchange]);
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let [stream, set]: [Sent; 2] = peer.sent().try_into().unwrap();
    peer.whole(&stream, ResponseHead::new(405), "");
    peer.none();
    peer.result(&set, "{}");
    peer.goes_on(&call);
    assert!(peer.diagnostics().is_empty());
    peer.is_empty();
}

/// LOG-06, AUTH-05: telling the level may need authorization; the time of all that wait for it stands still.
#[test]
fn a_log_level_that_is_held_for_authorization_holds_the_calls() {
    let (mut peer, set) = telling(leveled().authorize(true));
    let call = peer.waits();
    let mut head = ResponseHead::new(401);
    head.headers.push("WWW-Authenticate", "Bearer");
    peer.whole(&set, head, "");
    peer.wait(100_000);
    let late = peer.waits();
    assert_eq!(peer.http.held(), 1);
    peer.http.repeat(peer.now, set.exchange);
    let again = peer.one();
    assert_eq!(again.request, set.request);
    peer.wait(4_999);
    peer.none();
    peer.result(&again, "{}");
    assert_eq!(peer.sent().len(), 2);
    // Both had 60 seconds; the first had used up none of them by then, the second neither.
    peer.wait(55_000);
    assert_eq!(peer.settled(), 0);
    peer.wait(1);
    for call in [call, late] {
        assert_eq!(peer.take(&call), Err(CallError::TimedOut { after: Duration::from_secs(60) }));
    }
}

/// LOG-06: a level that nobody may set is not worth more than one that is refused.
#[test]
fn calls_go_on_when_nobody_comes_by_authorization_for_the_log_level() {
    let (mut peer, set) = telling(leveled().authorize(true));
    let call = peer.waits();
    let mut head = ResponseHead::new(401);
    head.headers.push("WWW-Authenticate", "Bearer");
    peer.whole(&set, head, "");
    peer.http.give_up(peer.now, set.exchange, "no grant", "");
    assert_eq!(peer.diagnostics().len(), 1);
    peer.goes_on(&call);
    peer.is_empty();
}

/// INIT-18: a server may ask while it is told the level.
#[test]
fn requests_of_the_server_are_answered_meanwhile() {
    let (mut peer, set) = telling(leveled());
    peer.stream(&set);
    peer.event(&set, "{'jsonrpc':'2.0','id':9,'method':'ping'}");
    assert!(peer.one().body().contains("\"result\":{}"));
}

/// HTTPL-51: what waits when the client is closed was never sent.
#[test]
fn closing_while_the_log_level_is_told_ends_everything() {
    let (mut peer, _) = telling(leveled());
    let call = peer.waits();
    peer.http.close(peer.now);
    assert!(matches!(peer.take(&call), Err(CallError::Broken { unsent: true, .. })));
    let delete = peer.one();
    assert_eq!(delete.method(), "DELETE");
    peer.whole(&delete, ResponseHead::new(200), "");
    assert!(peer.diagnostics().is_empty());
    peer.is_empty();
}
