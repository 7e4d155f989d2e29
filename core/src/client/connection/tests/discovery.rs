//! For how long a server is judged by what it said of itself.

use super::*;
use crate::client::{CacheUse, ListPrompts};

const MORE: &str = "'capabilities':{'tools':{},'prompts':{}}";
const TOOLS: &str = "'capabilities':{'tools':{}}";

fn said(what: &str) -> String {
    format!("{{'supportedVersions':['2026-07-28'],{what},'ttlMs':1000,'cacheScope':'public'}}")
}

/// A server that offers tools, and that for a second.
fn peer() -> Peer {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, &said(TOOLS));
    peer.drain();
    peer
}

fn is_unsupported<R>(outcome: Result<R, CallError>) -> bool {
    matches!(outcome, Err(CallError::Unsupported { capability: Some("prompts"), .. }))
}

/// INIT-13, VER-23: what a server said of itself a moment ago is not asked again.
#[test]
fn a_fresh_introduction_refuses_at_once() {
    let mut peer = peer();
    peer.wait(999);
    assert!(is_unsupported(peer.connection.start(peer.now, &ListPrompts::new(), CallOptions::new())));
    assert!(peer.written().is_empty());
}

/// CACHE-21, VER-23: it is asked once for all that would be refused, and what can be made goes out meanwhile.
#[test]
fn a_stale_introduction_is_asked_for_before_a_call_is_refused() {
    let mut peer = peer();
    peer.wait(1_000);
    let first = peer.start(&ListPrompts::new());
    let asked = peer.one();
    assert_eq!(method(&asked), "server/discover");
    let second = peer.start(&ListPrompts::new());
    assert!(peer.written().is_empty(), "it is asked already");
    peer.start(&ListTools::new());
    assert_eq!(method(&peer.one()), "tools/list");
    peer.drain();
    peer.result(&asked, &said(MORE));
    let calls = peer.written();
    assert_eq!(calls.iter().map(|line| method(line)).collect::<Vec<_>>(), ["prompts/list", "prompts/list"]);
    let outputs = peer.drain();
    assert!(matches!(&outputs[..], [Output::Event(Event::Connected(details))]
        if details.capabilities.prompts.is_some() && details.revision == Revision::LATEST));
    for (line, call) in calls.iter().zip([first, second]) {
        peer.result(line, "{'prompts':[]}");
        assert!(peer.connection.take(&call).unwrap().is_ok());
    }
    // That is what counts now, and from when on.
    peer.wait(999);
    peer.start(&ListPrompts::new());
    assert_eq!(method(&peer.one()), "prompts/list");
}

/// What it says then decides, or if it says nothing, what it said before.
#[test]
fn what_is_still_not_offered_is_refused() {
    for answer in [Some(said(TOOLS)), Some("{'supportedVersions':[]}".into()), None] {
        let mut peer = peer();
        peer.wait(1_000);
        let call = peer.start(&ListPrompts::new());
        let asked = peer.one();
        match answer {
            Some(answer) => peer.result(&asked, &answer),
            None => peer.error(&asked, "{'code':-32603,'message':'m'}"),
        }
        assert!(peer.written().is_empty());
        let outputs = peer.drain();
        assert_eq!((outputs.len(), settled(&outputs)), (1, 1), "nothing else has changed: {outputs:?}");
        assert!(is_unsupported(peer.connection.take(&call).unwrap()));
        assert_eq!((peer.connection.calls(), peer.connection.poll_timeout()), (0, None));
    }
}

/// It is a call like others: with its time, and with the end of the connection.
#[test]
fn nobody_waits_for_ever_for_an_introduction() {
    let mut silent = peer();
    silent.wait(1_000);
    let call = silent
        .connection
        .start(
            silent.now,
            &ListPrompts::new(),
            CallOptions::new().max(Duration::from_secs(600)).timeout(Duration::from_secs(600)),
        )
        .unwrap();
    silent.written();
    silent.wait(60_000);
    assert!(is_unsupported(silent.connection.take(&call).unwrap()));
    let mut gone = peer();
    gone.wait(1_000);
    let call = gone.start(&ListPrompts::new());
    gone.connection.handle_end(gone.now, End::Complete);
    assert!(matches!(gone.connection.take(&call), Some(Err(CallError::Broken { unsent: true, .. }))));
    let mut cancelled = peer();
    cancelled.wait(1_000);
    let call = cancelled.start(&ListPrompts::new());
    let asked = cancelled.one();
    cancelled.connection.cancel(cancelled.now, call.id());
    cancelled.result(&asked, &said(MORE));
    assert!(cancelled.written().is_empty(), "nobody wants it any more");
}

/// Whoever asks it to introduce itself, and whether that is kept or not: it is judged by what it said last.
#[test]
fn a_server_is_judged_by_its_last_introduction() {
    for cache in [CacheUse::Refresh, CacheUse::Off] {
        let mut peer = peer();
        let options = || CallOptions::new().cache(cache);
        peer.connection.start(peer.now, &Discover, options()).unwrap();
        peer.connection.start(peer.now, &Discover, options()).unwrap();
        let asked = peer.written();
        peer.result(&asked[1], &said(MORE));
        assert!(peer.details().capabilities.prompts.is_some());
        // It was asked for before the other one.
        peer.result(&asked[0], &said(TOOLS));
        assert!(peer.details().capabilities.prompts.is_some());
        peer.start(&ListPrompts::new());
        assert_eq!(method(&peer.one()), "prompts/list");
    }
}

/// However the bytes are cut, whenever it is polled, and whatever timeouts are none.
#[test]
fn an_introduction_counts_however_it_comes() {
    let visit = |cut: usize, drain: bool, spurious: bool| {
        let mut peer = peer();
        peer.wait(1_000);
        let call = peer.start(&ListPrompts::new());
        let tools = peer.start(&ListTools::new());
        let script = json(&format!(
            "{{'jsonrpc':'2.0','id':2,'result':{}}}\n{{'jsonrpc':'2.0','id':3,'result':{{'tools':[]}}}}\n\
             {{'jsonrpc':'2.0','id':4,'result':{{'prompts':[]}}}}\n",
            said(MORE)
        ));
        let mut outputs = Vec::new();
        let (head, tail) = script.as_bytes().split_at(cut.min(script.len()));
        for piece in [head, tail] {
            if spurious {
                peer.wait(0);
            }
            peer.connection.handle_bytes(peer.now, piece);
            if drain {
                outputs.extend(peer.drain());
            }
        }
        outputs.extend(peer.drain());
        let taken = (peer.connection.take(&call), peer.connection.take(&tools));
        assert!(taken.0.is_some_and(|it| it.is_ok()) && taken.1.is_some_and(|it| it.is_ok()), "cut at {cut}");
        (script.len(), outputs, peer.written())
    };
    let expected = visit(0, false, false);
    for cut in 0..expected.0 {
        assert_eq!(visit(cut, cut % 2 == 0, cut % 3 == 0), expected, "cut at {cut}");
    }
}

/// A process that is gone says nothing of the one that takes its place: calls wait for that.
#[test]
fn another_process_is_judged_by_what_it_says_itself() {
    let mut peer = peer();
    let listen =
        peer.connection.listen(peer.now, crate::model::SubscriptionFilter::new().tools_list_changed(true));
    assert!(listen.is_ok());
    peer.written();
    peer.connection.handle_end(peer.now, End::Complete);
    let call = peer.start(&ListPrompts::new());
    peer.connection.handle_respawned(peer.now);
    let probe = peer.one();
    peer.result(&probe, &said(MORE));
    let sent: Vec<_> = peer.written().iter().map(|line| method(line)).collect();
    assert!(sent.iter().any(|method| method == "prompts/list"), "{sent:?}");
    assert!(peer.connection.take(&call).is_none());
}

/// What waits for a question counts among the bytes that a server has yet to read.
#[test]
fn calls_that_wait_for_an_introduction_are_bounded_in_bytes() {
    let limits = Limits { transmit: 1_000, ..Limits::default() };
    let mut peer = Peer::new(config().limits(limits));
    let probe = peer.one();
    peer.result(&probe, &said(TOOLS));
    peer.wait(1_000);
    let cursor = "c".repeat(500);
    let mut waiting = Vec::new();
    let refused = loop {
        match peer.connection.start(peer.now, &ListPrompts::after(&cursor), CallOptions::new()) {
            Ok(call) => waiting.push(call),
            Err(error) => break error,
        }
        let asked = peer.written();
        assert_eq!(asked.len(), usize::from(waiting.len() == 1));
        assert!(waiting.len() < 4);
    };
    assert_eq!((waiting.len(), &refused), (2, &CallError::Full(crate::error::Full::new("transmit", 1_000))));
    // What nobody waits for takes no room.
    peer.connection.cancel(peer.now, waiting[0].id());
    let again = peer.start(&ListPrompts::after(&cursor));
    assert!(peer.connection.start(peer.now, &ListTools::new(), CallOptions::new()).is_err());
    for call in [&waiting[1], &again] {
        peer.connection.cancel(peer.now, call.id());
    }
    peer.start(&ListTools::new());
    assert_eq!(method(&peer.one()), "tools/list");
}
