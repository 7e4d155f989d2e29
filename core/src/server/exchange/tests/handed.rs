//! Requests that are handed out although they need no application: they go on as if they had not been.

use super::*;
use crate::server::SessionAnswer;
use crate::server::testing::full;

const ORIGIN: &str = "http://localhost:3000";

/// Two servers alike, of which one hands everything out, in the middle of a conversation.
struct Both {
    watched: Web,
    plain: Web,
    session: Option<SessionId>,
}

impl Both {
    fn new(change: impl Fn(&mut Config)) -> Self {
        let web = |all| {
            let mut config = changing().limits(limits(|limits| limits.watched = 1));
            change(&mut config);
            config.hand_out_all = all;
            Web::new(config)
        };
        Self { watched: web(true), plain: web(false), session: None }
    }

    fn open(version: &str) -> Self {
        let mut both = Self::new(|_| {});
        let trip = both.same(&initialize(version));
        both.session = Some(SessionId::new(trip.field("mcp-session-id")));
        both.same(INITIALIZED);
        both
    }

    fn head(&self) -> RequestHead {
        with(legacy_head(self.session.as_ref()), &[("Origin", Some(ORIGIN))])
    }

    /// Both answer the same, and come to the same state.
    #[track_caller]
    fn same(&mut self, body: &str) -> Trip {
        self.same_with(self.head(), body)
    }

    #[track_caller]
    fn same_with(&mut self, head: RequestHead, body: &str) -> Trip {
        let mut trip = self.watched.ask(head.clone(), body);
        let handed = self.watched.let_proceed(&mut trip);
        let expected = self.plain.ask(head, body);
        assert!(handed > 0 || !body.contains("\"id\":"), "{body}: not handed out");
        assert!(expected.calls.is_empty());
        let heads = [&trip, &expected].map(|trip| trip.head.as_ref().map(|(head, _)| head.clone()));
        assert_eq!((&heads[0], &trip.body, trip.ended), (&heads[1], &expected.body, true), "{body}");
        if let Some(session) = &self.session {
            let state =
                |web: &Web| web.sessions.state(session).map(|state| serde_json::to_string(state).unwrap());
            assert_eq!(state(&self.watched), state(&self.plain), "{body}");
        }
        trip
    }
}

fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn subscribe(id: u32, uri: &str) -> String {
    request(id, "resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#))
}

const ONE: &str = "test://static";
const TWO: &str = "test://item/special";

/// SUBL-02, LOG-03, HTTPL-49: whatever a legacy client asks of its session, it is told what the table says, and the
/// session of a web page is found as its own.
#[test]
fn a_legacy_session_is_the_same_whoever_watches() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", V] {
        let mut both = Both::open(version);
        let session = both.session.clone().unwrap();
        both.same(PING);
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            both.same(&request(1, method, "{}"));
        }
        both.same(&request(1, "logging/setLevel", r#"{"level":"error"}"#));
        assert_eq!(both.watched.sessions.state(&session).unwrap().level, LoggingLevel::Error);
        assert_eq!(both.same(&subscribe(1, ONE)).body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(both.watched.sessions.state(&session).unwrap().watched.covers(ONE));
        let full = both.same(&subscribe(1, TWO));
        assert!(full.body.contains(r#""error""#), "{}", full.body);
        both.same(&request(1, "resources/unsubscribe", &format!(r#"{{"uri":"{ONE}"}}"#)));
        both.same(&subscribe(1, TWO));
        for web in [&mut both.watched, &mut both.plain] {
            let delete =
                with(head("DELETE"), &[("Origin", Some(ORIGIN)), ("Mcp-Session-Id", Some(session.as_str()))]);
            assert_eq!(web.ask(delete, "").status(), 204);
        }
    }
}

/// The same in a batch, in which each request has the answer that is its own.
#[test]
fn a_batch_is_the_same_whoever_watches() {
    let mut both = Both::open("2025-03-26");
    let level = request(1, "logging/setLevel", r#"{"level":"error"}"#);
    let (one, two) = (subscribe(2, ONE), subscribe(3, TWO));
    let trip = both.same(&format!("[{level},{one},{two},{}]", request(4, "ping", "{}")));
    assert!(trip.body.contains(r#""id":3,"error""#), "{}", trip.body);
    assert_eq!(trip.body.matches(r#""result":{}"#).count(), 3, "{}", trip.body);
}

/// A table that cannot do what it is asked is heard, with and without somebody who watches, alone and in a batch, and
/// in whatever order its answers come.
#[test]
fn what_the_table_says_is_told() {
    let (level, watch) = (request(1, "logging/setLevel", r#"{"level":"error"}"#), subscribe(2, ONE));
    for watched in [false, true] {
        let mut config = changing();
        config.hand_out_all = watched;
        for (answer, status) in [(SessionAnswer::Unavailable, 503), (SessionAnswer::Missing, 404)] {
            let mut web = Web::new(config.clone());
            let session = web.open(V);
            let (mut trip, query) = asked(&mut web, &session, &watch, watched);
            trip.exchange.handle_session(now(), query, answer);
            web.drive(&mut trip);
            assert_eq!((trip.status(), trip.ended), (status, true), "{}", trip.body);
            assert!(trip.body.contains(r#""id":2,"error""#), "{}", trip.body);
        }
        let mut web = Web::new(config);
        let session = web.open("2025-03-26");
        let (mut trip, first) = asked(&mut web, &session, &format!("[{level},{watch}]"), watched);
        let Some(ExchangeOutput::Session(second, _)) = trip.exchange.poll_output() else { panic!() };
        trip.exchange.handle_session(now(), second, SessionAnswer::TooManyWatched);
        let state = web.sessions.state(&session).unwrap().clone();
        trip.exchange.handle_session(now(), first, SessionAnswer::Loaded { state });
        web.drive(&mut trip);
        assert!(
            trip.body.contains(r#""id":2,"error""#) && trip.body.contains(r#""id":1,"result""#),
            "{}",
            trip.body
        );
        assert!(trip.ended);
    }
}

/// An exchange whose request the table is being asked about.
fn asked(web: &mut Web, session: &SessionId, body: &str, watched: bool) -> (Trip, QueryId) {
    let mut trip = web.open_trip(legacy_head(Some(session)), body);
    if watched || body.starts_with('[') {
        let Some(ExchangeOutput::Session(id, query)) = trip.exchange.poll_output() else { panic!() };
        let answer = web.sessions.handle_query(now(), query);
        trip.exchange.handle_session(now(), id, answer);
    }
    while watched && let Some(ExchangeOutput::Call(id, _)) = trip.exchange.poll_output() {
        trip.exchange.proceed(now(), id);
        trip.exchange.proceed(now(), id);
        if !body.starts_with('[') || id == CallId(2) {
            break;
        }
    }
    let Some(ExchangeOutput::Session(id, _)) = trip.exchange.poll_output() else { panic!() };
    (trip, id)
}

/// Modern requests, and those without sessions.
#[test]
fn what_needs_no_session_is_the_same_whoever_watches() {
    let mut both = Both::new(|_| {});
    for method in
        ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    {
        both.same_with(modern_head(method, None), &modern("1", method, ""));
    }
    let mut both = Both::new(|config| config.http.stateless = true);
    both.same(&initialize(V));
    both.same(PING);
    both.same(LIST);
    // Refused before anybody watches.
    for body in [subscribe(1, ONE), request(1, "logging/setLevel", r#"{"level":"error"}"#)] {
        let [watched, plain] =
            [&mut both.watched, &mut both.plain].map(|web| web.ask(legacy_head(None), &body));
        assert_eq!((watched.status(), &watched.body), (plain.status(), &plain.body));
        assert!(plain.ended && plain.body.contains("-32601"), "{}", plain.body);
    }
}

/// A handshake opens its session when it proceeds, and none when it is refused or given up.
#[test]
fn a_handshake_waits_for_the_application() {
    let mut config = full();
    config.hand_out_all = true;
    let mut web = Web::new(config);
    let mut trip = web.ask(legacy_head(None), &initialize(V));
    let (id, call) = trip.calls.pop().unwrap();
    assert_eq!((call.target().method(), call.revision().as_str()), ("initialize", V));
    assert_eq!(call.client().info.as_ref().unwrap().name, "kiln");
    assert!(web.sessions.is_empty() && trip.exchange.poll_timeout().is_none());
    // The head is to name the session, so nothing may come before it.
    trip.exchange.log(
        now(),
        id,
        &LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::empty_object()),
    );
    trip.exchange.notify(now(), id, "acme/x", &Json::empty_object());
    trip.exchange.handle_timeout(at(1_000_000));
    web.drive(&mut trip);
    assert!(trip.head.is_none());
    trip.exchange.fail(now(), id, &ErrorObject::new(7, "not today"));
    web.drive(&mut trip);
    assert_eq!((trip.status(), code(&trip), trip.ended), (200, 7, true));
    let mut trip = web.ask(legacy_head(None), &initialize(V));
    let (id, _) = trip.calls.pop().unwrap();
    trip.exchange.handle_abort(now());
    web.drive(&mut trip);
    assert_eq!((trip.cancelled.as_slice(), trip.ended), (&[id][..], true));
    assert!(web.sessions.is_empty());
}

/// SUB-03: a subscription begins when it proceeds, with its acknowledgement, and not when it is refused.
#[test]
fn a_subscription_waits_for_the_application() {
    let mut config = changing();
    config.hand_out_all = true;
    let mut web = Web::new(config);
    let listen = || (modern_head("subscriptions/listen", None), listen("1", r#"{"toolsListChanged":true}"#));
    let (head, body) = listen();
    let mut trip = web.ask(head, &body);
    let (id, call) = trip.calls.pop().unwrap();
    assert_eq!((call.target().method(), trip.listens.len()), ("subscriptions/listen", 0));
    trip.exchange.notify(now(), id, "acme/x", &Json::empty_object());
    trip.exchange.handle_timeout(at(1_000_000));
    trip.exchange.proceed(now(), id);
    web.drive(&mut trip);
    assert_eq!(trip.listens.len(), 1);
    trip.exchange.publish(now(), &crate::server::Change::Tools);
    web.drive(&mut trip);
    let events = trip.events();
    assert!(events[0].contains("acknowledged") && events[1].contains("tools/list_changed"), "{events:?}");
    trip.exchange.shutdown(now());
    web.drive(&mut trip);
    assert!(trip.ended && trip.events().len() == 3);

    let (head, body) = listen();
    let mut trip = web.ask(head, &body);
    let (id, _) = trip.calls.pop().unwrap();
    trip.exchange.fail(now(), id, &ErrorObject::new(7, "not today"));
    web.drive(&mut trip);
    assert_eq!((trip.status(), code(&trip), trip.ended, trip.listens.len()), (200, 7, true, 0));

    let (head, body) = listen();
    let mut trip = web.ask(head, &body);
    trip.exchange.give_up(now());
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.ended), (503, true));
}

/// A result that the application makes up for a handshake would promise a session that there is not.
#[test]
fn a_handshake_is_not_answered_with_a_result_of_ones_own() {
    let mut both = Both::new(|_| {});
    let mut trip = both.watched.ask(both.head(), &initialize(V));
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("welcome"));
    both.watched.drive(&mut trip);
    assert!(trip.body.contains(r#""code":-32603"#), "{}", trip.body);
    assert!(trip.head.unwrap().0.headers.text("mcp-session-id").is_none());
    assert_eq!(both.watched.sessions.len(), 0);
}
