//! For how long a server is judged by what it said of itself.

use super::*;
use crate::client::ListPrompts;
use crate::error::Full;
use crate::model::prompts::ListPromptsResult;
use crate::model::tools::ListToolsResult;

fn said(what: &str) -> String {
    format!(
        "{{'supportedVersions':['2026-07-28'],'capabilities':{{{what}}},'ttlMs':1000,'cacheScope':'public'}}"
    )
}

fn peer() -> Peer {
    peer_with(config())
}

fn peer_with(config: Config) -> Peer {
    let mut peer = Peer::new(config);
    let probe = peer.one();
    peer.result(&probe, &said("'tools':{}"));
    peer.events();
    // The exchange of the probe has its time to end.
    peer.wait(999);
    peer
}

fn is_unsupported<R>(outcome: Result<R, CallError>) -> bool {
    matches!(outcome, Err(CallError::Unsupported { capability: Some("prompts"), .. }))
}

/// INIT-13, VER-23: refused at once while that is fresh, and asked again before that when it is not.
#[test]
fn a_stale_introduction_is_asked_for_before_a_call_is_refused() {
    let mut peer = peer();
    assert!(is_unsupported(peer.http.start(peer.now, &ListPrompts::new(), CallOptions::new())));
    peer.none();
    peer.wait(1);
    let (call, asked) = peer.start(&ListPrompts::new());
    assert_eq!(asked.method(), "server/discover");
    assert_eq!(asked.header("mcp-method"), Some("server/discover"));
    let (tools, listed) = peer.start(&ListTools::new());
    assert_eq!(listed.method(), "tools/list");
    peer.result(&asked, &said("'tools':{},'prompts':{}"));
    let sent = peer.one();
    assert_eq!((sent.method(), sent.header("mcp-method")), ("prompts/list".into(), Some("prompts/list")));
    peer.result(&sent, "{'prompts':[]}");
    peer.result(&listed, "{'tools':[]}");
    assert!(peer.take(&call).is_ok() && peer.take(&tools).is_ok());
    peer.is_empty();
}

/// INIT-13, CACHE-18: whoever has another token may be offered something else.
#[test]
fn another_token_asks_for_another_introduction() {
    let mut peer = peer();
    assert!(is_unsupported(peer.http.start(peer.now, &ListPrompts::new(), CallOptions::new())));
    peer.http.set_header("authorization", "Bearer two");
    let (call, asked) = peer.start(&ListPrompts::new());
    assert_eq!(asked.method(), "server/discover");
    peer.result(&asked, &said("'tools':{},'prompts':{}"));
    let sent = peer.one();
    peer.result(&sent, "{'prompts':[]}");
    assert!(peer.take(&call).is_ok());
}

/// Whatever becomes of it, nobody waits for it any longer.
#[test]
fn what_is_still_not_offered_is_refused() {
    for nth in 0..4 {
        let mut peer = peer();
        peer.wait(1);
        let (call, asked) = peer.start(&ListPrompts::new());
        match nth {
            0 => peer.result(&asked, &said("'tools':{}")),
            1 => peer.error(&asked, 200, "{'code':-32603,'message':'m'}"),
            2 => peer.answer(&asked, 500, ""),
            _ => peer.http.handle_failed(peer.now, asked.exchange, "it broke", false),
        }
        peer.none();
        assert!(is_unsupported(peer.take(&call)), "{nth}");
        peer.is_empty();
    }
}

/// Closing ends it with everything else.
#[test]
fn a_client_that_closes_asks_for_nothing() {
    let mut peer = peer();
    peer.wait(1);
    let (call, _) = peer.start(&ListPrompts::new());
    peer.http.close(peer.now);
    assert!(matches!(peer.take(&call), Err(CallError::Broken { .. })));
    peer.none();
    peer.is_empty();
}

/// The question is a call like others: it has a place, or is not asked.
#[test]
fn the_question_for_an_introduction_has_its_place_among_calls() {
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let full = CallError::Full(Full::new("in_flight", 2));
    let mut peer = peer_with(config().limits(limits));
    peer.wait(1);
    let (tools, listed) = peer.start(&ListTools::new());
    let refused = peer.http.start(peer.now, &ListPrompts::new(), CallOptions::new()).map(drop);
    assert_eq!(refused, Err(full.clone()));
    peer.none();
    peer.result(&listed, "{'tools':[]}");
    peer.take(&tools).unwrap();
    let (prompts, asked) = peer.start(&ListPrompts::new());
    let refused = peer.http.start(peer.now, &ListTools::new(), CallOptions::new()).map(drop);
    assert_eq!((refused, asked.method().as_str()), (Err(full), "server/discover"));
    peer.result(&asked, &said("'tools':{},'prompts':{}"));
    let sent = peer.one();
    peer.result(&sent, "{'prompts':[]}");
    peer.take(&prompts).unwrap();
    peer.is_empty();
}

/// A call that waits for a question which waits for a user itself, and a call that does not.
fn held() -> (Peer, Pending<ListPromptsResult>, Sent, (Pending<ListToolsResult>, Sent)) {
    let mut peer = peer_with(config().authorize(true));
    peer.wait(1);
    let (call, asked) = peer.start(&ListPrompts::new());
    let tools = peer.start(&ListTools::new());
    peer.refuse(&asked, 401);
    (peer, call, asked, tools)
}

/// AUTH-05: the time of those that wait for it stands still as its own does, whenever they began, and that of others
/// goes on.
#[test]
fn calls_wait_with_an_introduction_that_waits_for_authorization() {
    let (mut peer, call, asked, (tools, listed)) = held();
    let later = peer.http.start(peer.now, &ListPrompts::new(), CallOptions::new()).unwrap();
    peer.wait(59_999);
    peer.result(&listed, "{'tools':[]}");
    peer.take(&tools).unwrap();
    let (timed, _) = peer.start(&ListTools::new());
    peer.wait(60_000);
    assert!(matches!(peer.take(&timed), Err(CallError::TimedOut { .. })));
    assert!(peer.http.take(&call).is_none() && peer.http.take(&later).is_none());
    let again = peer.repeat(&asked);
    peer.result(&again, &said("'tools':{},'prompts':{}"));
    for sent in peer.sent() {
        peer.result(&sent, "{'prompts':[]}");
    }
    assert!(peer.take(&call).is_ok() && peer.take(&later).is_ok());
    peer.wait(1_000);
    peer.is_empty();
}

/// AUTH-05: what it was refused for is what those hear that waited for it, and not what an older introduction said.
#[test]
fn calls_hear_why_an_introduction_was_refused() {
    let (mut peer, call, asked, (tools, listed)) = held();
    peer.give_up(&asked);
    let error = peer.take(&call).unwrap_err();
    assert!(matches!(&error, CallError::Unauthorized { reason, .. } if reason == "no grant"), "{error}");
    peer.result(&listed, "{'tools':[]}");
    peer.take(&tools).unwrap();
    peer.is_empty();
}

/// Nobody need sign in for an introduction that nobody waits for any more, in whichever way that came to be.
#[test]
fn an_introduction_that_nobody_waits_for_is_not_held() {
    for cancelled in [false, true] {
        let (mut peer, call, asked, (tools, listed)) = held();
        let options = CallOptions::new().max(Duration::from_secs(1));
        let later = peer.http.start(peer.now, &ListPrompts::new(), options).unwrap();
        peer.result(&listed, "{'tools':[]}");
        peer.take(&tools).unwrap();
        peer.http.cancel(peer.now, call.id());
        assert!(peer.http.is_held(asked.exchange), "somebody still waits");
        if cancelled {
            peer.http.cancel(peer.now, later.id());
        } else {
            peer.wait(601_000);
        }
        assert!(!peer.http.is_held(asked.exchange));
        assert!(peer.take(&call).is_err() && peer.take(&later).is_err());
        peer.none();
        peer.is_empty();
    }
}

/// AUTH-05, CACHE-18: requests that go on with one token are not told apart, whichever of them is first, so what is answered
/// to one of them counts.
#[test]
fn an_introduction_counts_whoever_else_gets_the_same_token() {
    for discovered_first in [true, false] {
        let (mut peer, call, asked, (tools, listed)) = held();
        peer.refuse(&listed, 401);
        let (again, listed) = if discovered_first {
            let again = peer.repeat(&asked);
            (again, peer.repeat(&listed))
        } else {
            let listed = peer.repeat(&listed);
            (peer.repeat(&asked), listed)
        };
        peer.result(&again, &said("'tools':{},'prompts':{}"));
        let sent = peer.one();
        assert_eq!(sent.method(), "prompts/list");
        peer.result(&sent, "{'prompts':[]}");
        peer.result(&listed, "{'tools':[]}");
        assert!(peer.take(&call).is_ok() && peer.take(&tools).is_ok());
        peer.wait(1_000);
        peer.is_empty();
    }
}

/// CACHE-18: what is refused with a token that is not the present one any more goes on with that, which is no other one.
#[test]
fn a_late_refusal_of_an_old_token_is_no_other_authorization() {
    let (mut peer, call, asked, (tools, listed)) = held();
    let again = peer.repeat(&asked);
    peer.refuse(&listed, 401);
    let listed = peer.repeat(&listed);
    peer.result(&again, &said("'tools':{},'prompts':{}"));
    let sent = peer.one();
    peer.result(&sent, "{'prompts':[]}");
    peer.result(&listed, "{'tools':[]}");
    assert!(peer.take(&call).is_ok() && peer.take(&tools).is_ok());
}
