//! For how long a server is judged by what it said of itself.

use super::*;
use crate::client::ListPrompts;

fn said(what: &str) -> String {
    format!(
        "{{'supportedVersions':['2026-07-28'],'capabilities':{{{what}}},'ttlMs':1000,'cacheScope':'public'}}"
    )
}

fn peer() -> Peer {
    let mut peer = Peer::new(config());
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
