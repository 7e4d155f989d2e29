use super::*;
use crate::server::testing::limits;

fn table(sessions: usize) -> SseSessions {
    SseSessions::new(&limits(|limits| limits.sessions = sessions), Seed::new([7; 32]))
}

fn of(owner: Option<&str>, origin: Option<&str>) -> Caller {
    let mut caller = Caller::default();
    (caller.owner, caller.origin) = (owner.map(Arc::from), origin.map(String::from));
    caller
}

fn open(table: &mut SseSessions, number: u64, caller: Caller) -> SseAnswer {
    table.handle_query(SseQuery::Open { exchange: ExchangeId::new(number), caller })
}

fn opened(table: &mut SseSessions, number: u64, caller: Caller) -> SessionId {
    match open(table, number, caller) {
        SseAnswer::Opened { session } => session,
        answer => panic!("{answer:?}"),
    }
}

fn send(table: &mut SseSessions, session: &SessionId, caller: Caller) -> SseAnswer {
    table.handle_query(SseQuery::Send {
        session: session.clone(),
        message: "{}".into(),
        caller,
        sender: None,
    })
}

/// SEC-12: 128 bits of chance, another for each stream.
#[test]
fn names_are_long_and_differ() {
    let mut table = table(9);
    let [a, b] = [1, 2].map(|number| opened(&mut table, number, Caller::default()));
    assert!(a != b && a.as_str().len() == 32 && a.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(session(&HttpSse::new("/sse", "/messages").endpoint(&a)), Some(a));
}

#[test]
fn the_session_is_read_from_the_query() {
    for (target, named) in [
        ("/messages?sessionId=a1", Some("a1")),
        ("/messages?x=1&sessionId=a1&sessionId=b2", Some("a1")),
        ("/messages?sessionId=", Some("")),
        ("/messages?sessionIds=a1", None),
        ("/messages?sessionId", None),
        ("/messages", None),
    ] {
        assert_eq!(session(target), named.map(SessionId::new), "{target}");
    }
}

/// A message goes to the stream of its session, until that is over.
#[test]
fn messages_find_their_stream() {
    let mut table = table(9);
    let [a, b] = [1, 2].map(|number| opened(&mut table, number, Caller::default()));
    assert_eq!(send(&mut table, &b, Caller::default()), SseAnswer::Done);
    assert_eq!(table.poll_output().map(|output| output.exchange), Some(ExchangeId::new(2)));
    table.handle_query(SseQuery::Close { session: b.clone() });
    assert_eq!(send(&mut table, &b, Caller::default()), SseAnswer::Missing);
    assert_eq!(send(&mut table, &SessionId::new("none"), Caller::default()), SseAnswer::Missing);
    table.handle_query(SseQuery::Takes { session: a.clone(), takes: false });
    assert_eq!(send(&mut table, &a, Caller::default()), SseAnswer::Stalled);
    table.handle_query(SseQuery::Takes { session: a.clone(), takes: true });
    assert_eq!(send(&mut table, &a, Caller::default()), SseAnswer::Done);
    assert!(table.poll_output().is_some() && table.poll_output().is_none() && table.len() == 1);
}

/// SEC-13: a session is for whoever opened it, from where it was opened. To others it is not there.
#[test]
fn a_session_is_of_whoever_opened_it() {
    let mut table = table(9);
    let page = Some("https://app.example");
    for (opener, sender, lets) in [
        (of(Some("ada"), None), of(Some("ada"), None), true),
        (of(Some("ada"), None), of(Some("bob"), None), false),
        (of(Some("ada"), None), of(None, None), false),
        (of(None, None), of(Some("ada"), None), false),
        (of(None, page), of(None, page), true),
        (of(None, page), of(None, Some("https://other.example")), false),
        (of(None, page), of(None, None), false),
        (of(None, None), of(None, page), true),
    ] {
        let session = opened(&mut table, 1, opener.clone());
        let expected = if lets { SseAnswer::Done } else { SseAnswer::Missing };
        assert_eq!(send(&mut table, &session, sender.clone()), expected, "{opener:?} {sender:?}");
    }
}

/// Limits::sessions: reached exactly, and passed by one.
#[test]
fn streams_are_bounded() {
    let mut table = table(2);
    let first = opened(&mut table, 1, Caller::default());
    opened(&mut table, 2, Caller::default());
    assert_eq!(open(&mut table, 3, Caller::default()), SseAnswer::Full);
    table.handle_query(SseQuery::Close { session: first });
    opened(&mut table, 4, Caller::default());
    assert_eq!(table.exchanges().count(), 2);
}

#[test]
fn paths_must_be_paths_and_differ() {
    let policy = HttpPolicy::default();
    assert!(HttpSse::new("/sse", "/messages").check(&policy).is_ok());
    assert!(HttpSse::new("/mcp", "/messages").check(&policy.clone().path(None)).is_ok());
    for (sse, messages) in [
        ("/sse", "/sse"),
        ("/mcp", "/messages"),
        ("/sse", "/mcp"),
        ("sse", "/m"),
        ("/sse", ""),
        ("/sse", "/m?a"),
    ] {
        assert!(HttpSse::new(sse, messages).check(&policy).is_err(), "{sse} {messages}");
    }
}
