use super::*;
use crate::dialect::Revision;
use crate::model::capabilities::ClientCapabilities;
use crate::model::lifecycle::{Implementation, InitializeRequestParams};
use crate::model::logging::LoggingLevel;
use crate::server::testing::at;

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.sessions, limits.in_flight, limits.session_idle) = (2, 2, Duration::from_secs(10));
    limits
}

fn sessions() -> Sessions {
    Sessions::new(&limits(), Seed::new([7; 32]))
}

fn state() -> SessionState {
    let client = Implementation::new("kiln", "0.3.0");
    let params = InitializeRequestParams::new("2025-11-25", ClientCapabilities::new(), client);
    SessionState::open(Revision::V2025_11_25, params)
}

fn open(sessions: &mut Sessions, millis: u64) -> SessionId {
    match sessions.handle_query(at(millis), SessionQuery::Open { state: state() }) {
        SessionAnswer::Opened { session } => session,
        answer => panic!("{answer:?}"),
    }
}

fn load(sessions: &mut Sessions, millis: u64, session: &SessionId) -> Option<SessionState> {
    match sessions.handle_query(at(millis), SessionQuery::Load { session: session.clone() }) {
        SessionAnswer::Loaded { state } => Some(state),
        SessionAnswer::Missing => None,
        answer => panic!("{answer:?}"),
    }
}

fn begin(sessions: &mut Sessions, session: &SessionId, request: i64) -> SessionAnswer {
    let exchange = ExchangeId::new(request.unsigned_abs());
    let query = SessionQuery::Begin { session: session.clone(), request: request.into(), exchange };
    sessions.handle_query(at(1), query)
}

fn outputs(sessions: &mut Sessions) -> Vec<SessionOutput> {
    core::iter::from_fn(|| sessions.poll_output()).collect()
}

/// HTTPL-43, HTTPL-44, SEC-12
#[test]
fn names_are_visible_ascii_differ_and_follow_from_the_seed() {
    let (mut one, mut two) = (sessions(), sessions());
    let names = [open(&mut one, 0), open(&mut one, 0)];
    assert_ne!(names[0], names[1]);
    assert_eq!(names, [open(&mut two, 0), open(&mut two, 0)]);
    assert!(names.iter().all(|name| name.as_str().len() == 32));
    assert!(names[0].as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
    let other = open(&mut Sessions::new(&limits(), Seed::new([8; 32])), 0);
    assert_ne!(other, names[0]);
    assert_eq!(alloc::format!("{other:?}"), "SessionId(..)");
}

/// The bound is reached exactly, and passed by one; an idle session makes room.
#[test]
fn as_many_sessions_are_open_as_allowed() {
    let mut sessions = sessions();
    open(&mut sessions, 0);
    open(&mut sessions, 5_000);
    let full = sessions.handle_query(at(9_999), SessionQuery::Open { state: state() });
    assert!(matches!(full, SessionAnswer::Full));
    open(&mut sessions, 10_000);
    assert_eq!(sessions.len(), 2);
}

/// B45
#[test]
fn sessions_that_end_or_fall_silent_are_removed_with_all_that_belongs_to_them() {
    let mut sessions = sessions();
    for _ in 0..1_000 {
        let session = open(&mut sessions, 0);
        let end = SessionQuery::End { session: session.clone() };
        assert!(matches!(sessions.handle_query(at(0), end.clone()), SessionAnswer::Done));
        assert!(matches!(sessions.handle_query(at(0), end), SessionAnswer::Missing));
        assert!(load(&mut sessions, 0, &session).is_none());
    }
    assert!(sessions.is_empty() && sessions.checks.is_empty());
    for round in 0..1_000 {
        open(&mut sessions, round * 10_000);
        sessions.handle_timeout(at((round + 1) * 10_000));
        assert!(sessions.is_empty() && sessions.poll_timeout().is_none());
    }
}

/// HTTPL-48, HTTPL-49
#[test]
fn use_keeps_a_session_and_silence_ends_it() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    assert_eq!(sessions.poll_timeout(), Some(at(5_000).mono));
    sessions.handle_timeout(at(5_000));
    assert_eq!(sessions.poll_timeout(), Some(at(10_000).mono));
    assert!(load(&mut sessions, 9_999, &session).is_some());
    sessions.handle_timeout(at(10_000));
    assert_eq!(sessions.poll_timeout(), Some(at(15_000).mono));
    sessions.handle_timeout(at(15_000));
    assert_eq!(sessions.poll_timeout(), Some(at(19_999).mono));
    assert!(load(&mut sessions, 19_998, &session).is_some());
    assert!(load(&mut sessions, 29_998, &session).is_none());
}

/// A timeout before its time, or repeated, changes nothing.
#[test]
fn spurious_timeouts_change_nothing() {
    let mut sessions = sessions();
    open(&mut sessions, 5_000);
    for (moment, next) in [(0, 10_000), (1, 10_000), (9_999, 10_000), (10_000, 15_000), (14_999, 15_000)] {
        sessions.handle_timeout(at(moment));
        assert_eq!((sessions.len(), sessions.poll_timeout()), (1, Some(at(next).mono)));
    }
}

#[test]
fn a_session_with_a_running_request_is_not_idle() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    begin(&mut sessions, &session, 1);
    sessions.handle_timeout(at(60_000));
    assert_eq!(sessions.len(), 1);
    sessions.handle_query(
        at(61_000),
        SessionQuery::Finish { session, request: 1.into(), exchange: ExchangeId::new(1) },
    );
    sessions.handle_timeout(at(70_999));
    assert_eq!(sessions.len(), 1);
    sessions.handle_timeout(at(71_000));
    assert!(sessions.is_empty());
}

/// The bound is reached exactly, and passed by one.
#[test]
fn requests_in_flight_are_bounded_and_their_ids_differ() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::Begun { .. }));
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::InUse));
    assert!(matches!(begin(&mut sessions, &session, 2), SessionAnswer::Begun { .. }));
    assert!(matches!(begin(&mut sessions, &session, 3), SessionAnswer::Busy));
    sessions.handle_query(
        at(1),
        SessionQuery::Finish { session: session.clone(), request: 1.into(), exchange: ExchangeId::new(1) },
    );
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::Begun { .. }));
    assert!(matches!(begin(&mut sessions, &SessionId::new("x"), 1), SessionAnswer::Missing));
}

/// CAN-12, CAN-14, SEC-11: a session cancels its own requests and nobody else's.
#[test]
fn a_cancellation_finds_the_exchange_of_its_own_session() {
    let mut sessions = sessions();
    let (mine, other) = (open(&mut sessions, 0), open(&mut sessions, 0));
    begin(&mut sessions, &mine, 1);
    let cancel = |session: &SessionId, request: i64| SessionQuery::Cancel {
        session: session.clone(),
        request: request.into(),
    };
    for query in [cancel(&other, 1), cancel(&mine, 2)] {
        assert!(matches!(sessions.handle_query(at(1), query), SessionAnswer::Done));
    }
    assert_eq!(outputs(&mut sessions), []);
    sessions.handle_query(at(1), cancel(&mine, 1));
    sessions.handle_query(at(1), cancel(&mine, 1));
    let expected = SessionOutput::Cancel { exchange: ExchangeId::new(1), request: 1.into() };
    assert_eq!(outputs(&mut sessions), [expected]);
    assert!(matches!(sessions.handle_query(at(1), cancel(&SessionId::new("x"), 1)), SessionAnswer::Missing));
}

#[test]
fn the_end_of_a_session_cancels_what_it_runs() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    begin(&mut sessions, &session, 4);
    sessions.handle_query(at(1), SessionQuery::End { session });
    assert_eq!(outputs(&mut sessions).len(), 1);
}

/// B65
#[test]
fn levels_and_readiness_belong_to_one_session() {
    let mut sessions = sessions();
    let (one, two) = (open(&mut sessions, 0), open(&mut sessions, 0));
    sessions.handle_query(at(1), SessionQuery::SetLevel { session: one.clone(), level: LoggingLevel::Error });
    sessions.handle_query(at(1), SessionQuery::Initialized { session: two.clone() });
    let (one, two) = (load(&mut sessions, 2, &one).unwrap(), load(&mut sessions, 2, &two).unwrap());
    assert_eq!((one.level, one.initialized), (LoggingLevel::Error, false));
    assert_eq!((two.level, two.initialized), (LoggingLevel::Info, true));
    let gone = SessionId::new("gone");
    for query in [
        SessionQuery::SetLevel { session: gone.clone(), level: LoggingLevel::Error },
        SessionQuery::Initialized { session: gone },
    ] {
        assert!(matches!(sessions.handle_query(at(2), query), SessionAnswer::Missing));
    }
}

#[test]
fn what_wakes_the_table_is_named() {
    let mut sessions = sessions();
    assert_eq!(sessions.wake_reason(), None);
    open(&mut sessions, 0);
    assert_eq!(sessions.wake_reason(), Some(WakeReason::Session));
}

/// The same seed and the same queries give the same table, whenever its outputs are taken.
#[test]
fn a_table_can_be_replayed_and_does_not_depend_on_when_it_is_drained() {
    let run = |drains_each: bool| {
        let mut table = sessions();
        let mut said = Vec::new();
        let names = [open(&mut table, 0), open(&mut table, 1)];
        for step in 0..40_u64 {
            let session = names[(step % 2) as usize].clone();
            let request = RequestId::from((step % 3) as i64);
            let exchange = ExchangeId::new(step);
            let query = match step % 7 {
                0..=3 => SessionQuery::Begin { session, request, exchange },
                4 | 5 => SessionQuery::Cancel { session, request },
                _ => SessionQuery::Finish { session, request, exchange },
            };
            said.push(alloc::format!("{:?}", table.handle_query(at(step * 100), query)));
            if drains_each {
                table.handle_timeout(at(0));
            }
            said.push(alloc::format!("{:?}", table.poll_timeout()));
        }
        let mut told = Vec::new();
        for session in names {
            table.handle_query(at(5_000), SessionQuery::End { session });
            if drains_each {
                told.extend(outputs(&mut table));
            }
        }
        told.extend(outputs(&mut table));
        (said, told)
    };
    assert_eq!(run(true), run(false));
    assert!(!run(true).1.is_empty());
}

/// The calls of a batch count like any others: all of them fit, or none begins.
#[test]
fn a_batch_begins_whole_or_not_at_all() {
    let mut sessions = sessions();
    let mut old = state();
    old.revision = Revision::V2025_03_26;
    let answer = sessions.handle_query(at(0), SessionQuery::Open { state: old });
    let SessionAnswer::Opened { session } = answer else { panic!("{answer:?}") };
    let batch = |session: &SessionId, requests: &[i64]| SessionQuery::BeginBatch {
        session: session.clone(),
        requests: requests.iter().map(|request| (*request).into()).collect(),
        exchange: ExchangeId::new(9),
    };
    let busy = sessions.handle_query(at(1), batch(&session, &[1, 2, 3]));
    assert!(matches!(busy, SessionAnswer::Busy));
    let begun = sessions.handle_query(at(1), batch(&session, &[1, 2]));
    assert!(matches!(begun, SessionAnswer::Begun { .. }));
    let again = sessions.handle_query(at(1), batch(&session, &[2]));
    assert!(matches!(again, SessionAnswer::InUse));
    let missing = sessions.handle_query(at(1), batch(&SessionId::new("x"), &[2]));
    assert!(matches!(missing, SessionAnswer::Missing));
    sessions.handle_query(at(1), SessionQuery::End { session });
    assert_eq!(outputs(&mut sessions).len(), 2);
    // Where there are no batches, the exchange refuses it, and nothing runs.
    let newer = open(&mut sessions, 1);
    let loaded = sessions.handle_query(at(1), batch(&newer, &[1]));
    assert!(matches!(loaded, SessionAnswer::Begun { .. }));
    sessions.handle_query(at(1), SessionQuery::End { session: newer });
    assert_eq!(outputs(&mut sessions), []);
}

/// A session that is in use is looked at in time for whoever keeps it elsewhere, however short its time is.
#[test]
fn whoever_keeps_a_session_elsewhere_hears_that_it_is_in_use() {
    let mut sessions = sessions();
    let (used, idle) = (open(&mut sessions, 0), open(&mut sessions, 0));
    begin(&mut sessions, &used, 1);
    for half in 1..=6 {
        sessions.handle_timeout(at(half * 5_000));
        assert_eq!(outputs(&mut sessions), [SessionOutput::Refresh { session: used.clone() }]);
    }
    assert!(sessions.state(&used).is_some() && sessions.state(&idle).is_none());

    let mut limits = limits();
    limits.session_idle = Duration::ZERO;
    let mut brief = Sessions::new(&limits, Seed::new([7; 32]));
    let session = SessionId::new("s");
    brief.insert(at(1).mono, session.clone(), state());
    brief.open.get_mut(&session).unwrap().running.push((1.into(), ExchangeId::new(1)));
    brief.handle_timeout(at(2));
    assert!(brief.poll_timeout() > Some(at(2).mono) && brief.len() == 1);
}

/// A request that is over takes nothing from another one with its id, and an exchange that leaves takes all of its own.
#[test]
fn a_request_ends_with_its_own_exchange() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    begin(&mut sessions, &session, 1);
    let finish = |exchange| SessionQuery::Finish {
        session: session.clone(),
        request: 1.into(),
        exchange: ExchangeId::new(exchange),
    };
    sessions.handle_query(at(1), finish(2));
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::InUse));
    sessions.handle_query(at(1), finish(1));
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::Begun { .. }));
    let left = SessionQuery::Detach { session: session.clone(), exchange: ExchangeId::new(1) };
    sessions.handle_query(at(1), left);
    assert!(matches!(begin(&mut sessions, &session, 1), SessionAnswer::Begun { .. }));
}

/// What a query would do is not done, and is done by its outcome; an older state changes nothing.
#[test]
fn a_change_can_be_foreseen_and_comes_when_it_is_restored() {
    let mut sessions = sessions();
    let session = open(&mut sessions, 0);
    let before = load(&mut sessions, 0, &session).unwrap();
    let level = SessionQuery::SetLevel { session: session.clone(), level: LoggingLevel::Error };
    let ready = SessionQuery::Initialized { session: session.clone() };
    let watch = |uri: &str| SessionQuery::Watch { session: session.clone(), uri: uri.into() };
    for query in [
        &level,
        &ready,
        &watch("a:1"),
        &SessionQuery::Unwatch { session: session.clone(), uri: "a:1".into() },
    ] {
        let answer = sessions.foresee(at(0), query);
        let SessionAnswer::Loaded { state } = answer else { panic!("{answer:?}") };
        assert_eq!(state.changes, 1);
    }
    assert_eq!(load(&mut sessions, 0, &session).unwrap().changes, 0);
    let SessionAnswer::Loaded { state } = sessions.foresee(at(0), &watch("a:1")) else { panic!() };
    assert!(sessions.restore(at(0), &session, state));
    sessions.restore(at(0), &session, before);
    let now = load(&mut sessions, 0, &session).unwrap();
    assert!(now.changes == 1 && now.watched.covers("a:1"));
    // The end, and what is not there.
    assert!(matches!(
        sessions.foresee(at(0), &SessionQuery::End { session: session.clone() }),
        SessionAnswer::Done
    ));
    assert!(load(&mut sessions, 0, &session).is_some());
    let gone = SessionQuery::Initialized { session: SessionId::new("gone") };
    assert!(matches!(sessions.foresee(at(0), &gone), SessionAnswer::Missing));
    let other = level.owned_by(Some("bob".into()));
    assert!(matches!(sessions.foresee(at(0), &other), SessionAnswer::Missing));
}
