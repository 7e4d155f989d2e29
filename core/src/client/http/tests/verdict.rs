//! What was found out is not found out again.

use super::*;
use crate::client::{Transport, Verdict};

const OLD: Verdict = Verdict::new(Transport::HttpSse, Revision::V2024_11_05);
const LEGACY: Verdict = Verdict::new(Transport::StreamableHttp, Revision::V2025_06_18);
const MODERN: Verdict = Verdict::new(Transport::StreamableHttp, Revision::LATEST);

fn peer(verdict: Verdict) -> Peer {
    Peer::new(config().verdict(verdict))
}

/// Opens the stream of an old server and greets it.
fn greet(peer: &mut Peer, stream: &Sent) {
    peer.stream(stream);
    peer.body(stream, "event: endpoint\ndata: /m\n\n");
    let initialize = peer.one();
    peer.whole(&initialize, ResponseHead::new(202), "");
    peer.event(stream, &response(&initialize, "{'protocolVersion':'2024-11-05','capabilities':{}}"));
    let notice = peer.one();
    peer.whole(&notice, ResponseHead::new(202), "");
}

/// VER-19, VER-20: a legacy server is greeted without a probe, in the revision that was agreed on, and the verdict about
/// it stays what it was.
#[test]
fn a_known_legacy_server_is_not_probed() {
    let mut known = peer(LEGACY);
    let initialize = known.one();
    assert!(initialize.body().contains("2025-06-18") && initialize.method() == "initialize");
    let body = INITIALIZED.replace("2025-11-25", "2025-06-18");
    known.result(&initialize, &body);
    assert_eq!(known.http.verdict(), Some(LEGACY));

    let mut known = peer(OLD);
    let stream = known.one();
    assert_eq!(stream.method(), "GET");
    assert_eq!(known.http.verdict(), None);
    greet(&mut known, &stream);
    assert_eq!(known.http.verdict(), Some(OLD));
}

/// A modern server is asked what it offers in any case, and has the time of a request for that.
#[test]
fn a_known_modern_server_may_take_its_time() {
    let mut known = peer(MODERN);
    let discover = known.one();
    assert_eq!(discover.method(), "server/discover");
    known.wait(Limits::default().probe.as_millis() as u64 + 1);
    known.none();
    known.result(&discover, DISCOVERED);
    assert_eq!(known.http.verdict(), Some(MODERN));
}

/// VER-20: a verdict that is wrong by now costs a round trip, and nothing else.
#[test]
fn a_wrong_verdict_is_corrected() {
    // Legacy, now modern.
    for refuse in [
        |peer: &mut Peer, to: &Sent| {
            peer.error(to, 400, "{'code':-32022,'message':'m','data':{'supported':['2026-07-28']}}")
        },
        |peer: &mut Peer, to: &Sent| peer.error(to, 404, "{'code':-32601,'message':'m'}"),
        |peer: &mut Peer, to: &Sent| peer.whole(to, ResponseHead::new(400), ""),
        |peer: &mut Peer, _: &Sent| peer.wait(Limits::default().request.as_millis() as u64),
    ] {
        let mut wrong = peer(LEGACY);
        let initialize = wrong.one();
        refuse(&mut wrong, &initialize);
        let probe = wrong.one();
        assert_eq!(probe.method(), "server/discover");
        wrong.result(&probe, DISCOVERED);
        assert_eq!(wrong.http.verdict(), Some(MODERN));
    }
    // Modern, now legacy.
    let mut wrong = peer(MODERN);
    let discover = wrong.one();
    wrong.whole(&discover, ResponseHead::new(404), "");
    let initialize = wrong.one();
    wrong.result(&initialize, INITIALIZED);
    assert!(wrong.http.verdict().is_some_and(|found| found.era() == Era::Legacy));
    // HTTP with SSE, now modern.
    for refuse in [
        |peer: &mut Peer, to: &Sent| peer.whole(to, ResponseHead::new(405), ""),
        |peer: &mut Peer, to: &Sent| {
            peer.stream(to);
            peer.wait(Limits::default().probe.as_millis() as u64);
        },
        |peer: &mut Peer, to: &Sent| peer.answer(to, 200, "{}"),
    ] {
        let mut wrong = peer(OLD);
        let stream = wrong.one();
        refuse(&mut wrong, &stream);
        let probe = wrong.one();
        assert_eq!(probe.method(), "server/discover");
        wrong.result(&probe, DISCOVERED);
        assert_eq!(wrong.http.verdict(), Some(MODERN));
    }
    // Streamable HTTP, now HTTP with SSE.
    let mut wrong = peer(LEGACY);
    for _ in 0..3 {
        let refused = wrong.one();
        wrong.whole(&refused, ResponseHead::new(404), "");
    }
    let stream = wrong.one();
    greet(&mut wrong, &stream);
    assert_eq!(wrong.http.verdict(), Some(OLD));
}

/// What the application demands counts, whatever was found before.
#[test]
fn a_demand_is_stronger_than_a_verdict() {
    let mut peer = Peer::new(config().verdict(LEGACY).era(EraChoice::Modern));
    assert_eq!(peer.one().method(), "server/discover");
    let mut peer = Peer::new(config().verdict(MODERN).era(EraChoice::Legacy));
    assert_eq!(peer.one().method(), "initialize");
}
