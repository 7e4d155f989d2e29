//! Answers to what a legacy server asks, where they need authorization.

use super::asks::config;
use super::refused::challenged;
use super::*;
use crate::client::ToolReply;

const QUESTION: &str = "{'jsonrpc':'2.0','id':'s1','method':'roots/list'}";
const CANCELLED: &str = "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'s1'}}";

/// A client whose user has just answered what was asked on the stream of a call: the call, and the answer.
fn answered() -> (Peer, Pending<ToolReply>, Sent, Sent) {
    let mut peer = Peer::legacy_with(config().authorize(true));
    peer.listens();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, QUESTION);
    let ask = peer.asked()[0];
    peer.roots(ask);
    let answer = peer.one();
    (peer, call, sent, answer)
}

/// AUTH-05: the answer to a request of the server is held when it is refused, and is sent again as it was; the call that
/// waits for it has so much more time.
#[test]
fn an_answer_that_was_refused_is_sent_again() {
    let (mut peer, call, sent, answer) = answered();
    peer.refuse(&answer, 401);
    peer.wait(500_000);
    let again = peer.repeat(&answer);
    assert_eq!(again.request, answer.request);
    peer.whole(&again, ResponseHead::new(202), "");
    peer.wait(59_000);
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
    assert_eq!((peer.http.held(), peer.http.link.asks.under_way()), (0, 0));
}

/// AUTH-05: answers that are held side by side stop the time of their call once.
#[test]
fn answers_side_by_side_stop_the_time_once() {
    let (mut peer, call, sent, first) = answered();
    peer.event(&sent, &QUESTION.replace("s1", "s2"));
    let ask = peer.asked()[0];
    peer.roots(ask);
    let second = peer.one();
    peer.refuse(&first, 401);
    peer.wait(20_000);
    peer.refuse(&second, 401);
    peer.wait(480_000);
    for answer in [&first, &second] {
        let again = peer.repeat(answer);
        peer.whole(&again, ResponseHead::new(202), "");
    }
    peer.wait(59_999);
    assert_eq!(peer.settled(), 0);
    peer.wait(1);
    assert!(matches!(peer.take(&call), Err(CallError::TimedOut { .. })));
}

/// AUTHX-08: it is held before it is sent, too, while a token is renewed early.
#[test]
fn an_answer_can_be_held_before_it_is_sent() {
    let (mut peer, _, _, answer) = answered();
    assert!(peer.http.hold(peer.now, answer.exchange));
    assert_eq!(peer.http.held(), 1);
    let again = peer.repeat(&answer);
    assert_eq!(again.request, answer.request);
    peer.whole(&again, ResponseHead::new(202), "");
    assert_eq!(peer.http.link.asks.under_way(), 0);
}

/// Answers that nobody was asked for are answers: to a ping, and that something is not supported.
#[test]
fn what_the_machine_answers_itself_is_held() {
    for (method, answer) in [("ping", "'result':{}"), ("x/y", "-32601")] {
        let mut peer = Peer::legacy_with(config().authorize(true));
        let get = peer.listens();
        peer.event(&get, &format!("{{'jsonrpc':'2.0','id':7,'method':'{method}'}}"));
        let sent = peer.one();
        assert!(sent.body().contains(&json(answer)), "{}", sent.body());
        peer.refuse(&sent, 401);
        let again = peer.repeat(&sent);
        peer.whole(&again, ResponseHead::new(202), "");
        assert_eq!(peer.http.link.asks.under_way(), 0);
    }
}

/// CAN-16: an answer that nobody waits for any more is not sent: the server has taken its question back, the call ended in
/// whose course it was asked, or the session was lost. It does not matter whether it was on its way then, or held.
#[test]
fn an_answer_goes_with_its_question() {
    for held in [false, true] {
        for how in 0..4 {
            let (mut peer, call, sent, answer) = answered();
            if held {
                peer.refuse(&answer, 401);
                assert_eq!(peer.http.held(), 1);
            }
            match how {
                0 => peer.event(&sent, CANCELLED),
                1 => peer.http.cancel(peer.now, call.id()),
                2 => peer.wait(660_000),
                _ => {
                    let (_, lost) = peer.start(&CallTool::new("b"));
                    peer.answer(&lost, 404, "{}");
                }
            }
            peer.sent();
            assert_eq!((peer.http.held(), peer.http.link.asks.under_way()), (0, 0), "{how}");
            if !held {
                peer.head(&answer, challenged(401));
                peer.drain();
                assert!(peer.refused.is_empty(), "{how}");
            }
            peer.http.repeat(peer.now, answer.exchange);
            peer.none();
        }
    }
}

/// AUTH-05: an answer that is given up is lost, which is said; nothing else ends.
#[test]
fn an_answer_can_be_given_up() {
    let (mut peer, call, sent, answer) = answered();
    peer.refuse(&answer, 403);
    peer.give_up(&answer);
    let said = peer.diagnostics();
    assert!(
        said.iter().any(|said| said.contains("the answer to a request was refused with HTTP status 403"))
    );
    assert_eq!((peer.http.held(), peer.http.link.asks.under_way()), (0, 0));
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
}

/// Limits::in_flight: answers that are held count as those that are on their way.
#[test]
fn answers_that_are_held_are_bounded() {
    let mut peer =
        Peer::legacy_with(config().authorize(true).limits(Limits { in_flight: 3, ..Limits::default() }));
    let get = peer.listens();
    for id in 0..6 {
        peer.event(&get, &format!("{{'jsonrpc':'2.0','id':{id},'method':'ping'}}"));
        let sent = peer.sent();
        assert_eq!(sent.len(), usize::from(id < 5), "{id}");
        for sent in sent {
            assert!(peer.http.hold(peer.now, sent.exchange));
        }
    }
    assert_eq!(peer.http.held(), 5);
    assert!(peer.diagnostics().iter().any(|said| said.contains("too many requests of the server at once")));
    peer.http.close(peer.now);
    assert_eq!((peer.http.held(), peer.http.link.asks.under_way()), (0, 0));
}

/// Closing lets go of all of them.
#[test]
fn answers_end_with_the_client() {
    for held in [false, true] {
        let (mut peer, call, _, answer) = answered();
        if held {
            peer.refuse(&answer, 401);
        }
        peer.http.close(peer.now);
        let delete = peer.one();
        peer.whole(&delete, ResponseHead::new(200), "");
        peer.take(&call).unwrap_err();
        peer.is_empty();
    }
}

/// B35, HTTPL-50: a request that is redirected stays in the session that it names: when that is lost by then, the new one
/// is not.
#[test]
fn a_redirected_request_stays_in_its_session() {
    let mut peer = Peer::legacy();
    let (first, old) = peer.start(&ListTools::new());
    let (_, lost) = peer.start(&ListTools::new());
    peer.answer(&lost, 404, "{}");
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-2"));
    let again = peer.one();
    assert_eq!(again.header("mcp-session-id"), Some("s-2"));
    peer.whole(&old, redirect(307, "/mcp/"), "");
    let moved = peer.one();
    assert_eq!(moved.header("mcp-session-id"), Some("s-1"));
    peer.answer(&moved, 404, "{}");
    let next = peer.one();
    assert_eq!((next.method().as_str(), next.header("mcp-session-id")), ("tools/list", Some("s-2")));
    peer.result(&next, "{'tools':[]}");
    peer.take(&first).unwrap();
}

/// Limits::request: a message that is not answered has the time of a call also when it was redirected.
#[test]
fn a_redirected_message_does_not_wait_for_ever() {
    let (mut peer, _, _, answer) = answered();
    peer.whole(&answer, redirect(307, "/mcp/"), "");
    let moved = peer.one();
    peer.wait(60_000);
    assert!(peer.aborted().contains(&moved.exchange));
    assert_eq!(peer.http.link.asks.under_way(), 0);
}
