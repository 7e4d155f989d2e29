use std::sync::Arc;

use mcp_proto::auth::{Signer, TokenType};
use mcp_proto::client::{self, CallOptions, CallTool, Endpoint, EraChoice, HttpOutput, Pending, ToolReply};
use mcp_proto::error::CallError;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::model::{Implementation, SubscriptionFilter};

use super::*;

mod signing_out;

const SERVER: &str = "https://h.example/mcp";

fn at(seconds: u64) -> Now {
    let time = Duration::from_secs(seconds);
    Now::new(Instant::ZERO + time, time)
}

/// A guard with its machine, whose opening request is to go out.
struct World {
    guard: Guard,
    http: Http,
}

impl World {
    fn new(config: Config) -> Self {
        let mut client = client::Config::new(Implementation::new("c", "1")).era(EraChoice::Modern);
        client.authorize = true;
        let endpoint = Endpoint::parse(SERVER).unwrap();
        Self {
            guard: Guard::new(Seed::new([1; 32]), config.into(), &Limits::default(), SERVER).unwrap(),
            http: Http::new(at(0), Arc::new(client), endpoint, Seed::new([2; 32])),
        }
    }

    /// One that has been told what was stored.
    fn with(config: Config, grant: Option<Grant>) -> Self {
        let mut world = Self::new(config);
        let (_, admitted) = world.admit(at(0));
        let Admitted::Held(Some(job)) = admitted else { panic!("held until the store was asked") };
        assert_eq!(job.way, Way::Load);
        world.finish(at(0), Done::Loaded(grant));
        world
    }

    /// One that is connected, with a token that lasts, which somebody agreed to.
    fn connected() -> Self {
        let mut world = Self::with(Config::new("c"), Some(*lasting("t-1")));
        let (exchange, _) = world.admit(at(0));
        world.answer(exchange, DISCOVERED);
        world
    }

    /// The server answers with a result.
    fn answer(&mut self, exchange: ExchangeId, result: &str) {
        let request = self.http.request_of(exchange).unwrap();
        let id: Id = serde_json::from_slice(&request.body).unwrap();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.id);
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        self.guard.head(&self.http, exchange, &head);
        self.http.handle_head(at(0), exchange, head);
        self.http.handle_body(at(0), exchange, body.as_bytes());
        self.http.handle_end(at(0), exchange, End::Complete);
    }

    /// The application calls a tool.
    fn call(&mut self) -> Pending<ToolReply> {
        self.call_tool("who")
    }

    fn call_tool(&mut self, name: &str) -> Pending<ToolReply> {
        self.guard.asked(at(0), &mut self.http);
        self.http.start(at(0), &CallTool::new(name), CallOptions::new()).unwrap()
    }

    /// The job that is under way brings a token.
    fn grant(&mut self, token: &str, renewed: bool) {
        self.finish(at(0), Done::Granted { grant: lasting(token), renewed });
    }

    /// The next request.
    fn next(&mut self) -> ExchangeId {
        let (exchange, admitted) = self.admit(at(0));
        assert!(matches!(admitted, Admitted::Send(_)));
        exchange
    }

    /// The next request, which goes out without a token.
    fn bare(&mut self) -> ExchangeId {
        let (exchange, admitted) = self.admit(at(0));
        assert_eq!(token(&admitted), "none");
        exchange
    }

    /// Somebody signs out, which takes until `finish`.
    fn leave(&mut self) {
        assert_eq!(way(self.guard.sign_out(Answer::default())), Some(Way::SignOut));
    }

    fn left(&mut self) {
        self.finish(at(0), Done::SignedOut(Ok(SignedOut::Revoked)));
    }

    /// The next request, and what becomes of it.
    fn admit(&mut self, now: Now) -> (ExchangeId, Admitted) {
        loop {
            match self.http.poll_output() {
                Some(HttpOutput::Send { exchange, request }) => {
                    return (exchange, self.guard.admit(now, &mut self.http, exchange, &request));
                }
                Some(_) => {}
                None => panic!("nothing is to be sent"),
            }
        }
    }

    fn finish(&mut self, now: Now, done: Done) -> Next {
        self.guard.finish(now, &mut self.http, done)
    }

    /// The server refuses an exchange that went out.
    fn refuse(&mut self, now: Now, exchange: ExchangeId) -> Option<Box<Job>> {
        self.refuse_with(now, exchange, ResponseHead::new(401))
    }

    /// It wants the scope `write` as well.
    fn lack_scope(&mut self, exchange: ExchangeId) -> Option<Box<Job>> {
        let mut head = ResponseHead::new(403);
        head.headers.push("WWW-Authenticate", r#"Bearer error="insufficient_scope", scope="write""#);
        self.refuse_with(at(0), exchange, head)
    }

    fn refuse_with(&mut self, now: Now, exchange: ExchangeId, head: ResponseHead) -> Option<Box<Job>> {
        self.http.handle_head(now, exchange, head);
        self.http.handle_end(now, exchange, End::Complete);
        loop {
            match self.http.poll_output() {
                Some(HttpOutput::Refused { exchange, head }) => {
                    return self.guard.refused(now, &mut self.http, exchange, &head);
                }
                Some(_) => {}
                None => panic!("it was not refused"),
            }
        }
    }
}

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],
    "capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}"#;

#[derive(Deserialize)]
struct Id {
    id: i64,
}

fn lasting(token: &str) -> Box<Grant> {
    Box::new(changed(token, |grant| grant.expires = None))
}

/// A grant that ends at 100 s, with a refresh token.
fn grant(token: &str) -> Grant {
    changed(token, |_| {})
}

fn changed(token: &str, change: impl FnOnce(&mut Grant)) -> Grant {
    let mut grant = Grant::from_json(&format!(
        r#"{{"issuer":"https://as.example","resource":"{SERVER}","registration":null,"access_token":"{token}",
            "token_type":"bearer","issued":0,"expires":100,"refresh_token":"r","scopes":null,"requested":null,
            "token_endpoint":"https://as.example/token"}}"#
    ))
    .unwrap();
    change(&mut grant);
    grant
}

fn token(admitted: &Admitted) -> &str {
    let Admitted::Send(fields) = admitted else { panic!("it is not sent") };
    fields.text("authorization").unwrap_or("none")
}

fn way(job: Option<Box<Job>>) -> Option<Way> {
    job.map(|job| job.way)
}

/// AUTH-55: nothing goes out until it is known whether there is a token; then it goes along.
#[test]
fn what_is_stored_is_used_from_the_first_request() {
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    assert_eq!(token(&world.admit(at(0)).1), "Bearer t-1");
    let mut world = World::with(Config::new("c"), None);
    world.bare();
}

/// AUTHX-08: renewed before it ends; who waited goes out with the new one.
#[test]
fn a_token_that_is_about_to_end_is_renewed_first() {
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    let Admitted::Held(Some(job)) = world.admit(at(90)).1 else { panic!() };
    assert_eq!((job.way, job.refusal.is_none()), (Way::Renew, true));
    let renewed = changed("t-2", |grant| grant.expires = Some(Duration::from_secs(200)));
    world.finish(at(91), Done::Granted { grant: Box::new(renewed), renewed: true });
    assert_eq!(token(&world.admit(at(91)).1), "Bearer t-2");
}

/// AUTHX-08: whatever a renewal ahead of a refusal comes to, what waited goes out with the token there is, and the next try
/// has its time: also where there was no place for the job.
#[test]
fn a_renewal_that_comes_to_nothing_is_not_tried_at_once() {
    let failed = || Done::Failed { reason: "no place".to_owned(), record: String::new(), denied: false };
    let kept = || Done::Kept(Some(Box::new(grant("t-1"))));
    let ended = || Done::Granted { grant: Box::new(grant("t-1")), renewed: true };
    for done in [failed(), kept(), ended()] {
        let mut world = World::with(Config::new("c"), Some(grant("t-1")));
        assert!(matches!(world.admit(at(90)).1, Admitted::Held(Some(_))));
        assert!(world.finish(at(90), done).job.is_none());
        let (exchange, admitted) = world.admit(at(90));
        assert_eq!(token(&admitted), "Bearer t-1");
        // It may still be refused: that is looked into at once.
        assert_eq!(way(world.refuse(at(91), exchange)), Some(Way::Renew));
        world.finish(at(91), kept());
        assert_eq!(token(&world.admit(at(91)).1), "Bearer t-1");
    }
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    world.guard.pause = Some(at(90).mono + PAUSE);
    assert!(world.guard.early(at(99)).is_none());
    assert_eq!(world.guard.early(at(100)), Some(Way::Renew), "later it is tried again");
}

/// AUTH-65, B78: renewed, asked for, given up.
#[test]
fn a_refused_token_is_renewed_then_asked_for_then_given_up() {
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    let (exchange, _) = world.admit(at(0));
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
    world.finish(at(0), Done::Granted { grant: lasting("t-2"), renewed: true });
    let (exchange, _) = world.admit(at(0));
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
    world.finish(at(0), Done::Granted { grant: lasting("t-3"), renewed: false });
    let (exchange, admitted) = world.admit(at(0));
    assert_eq!(token(&admitted), "Bearer t-3");
    assert_eq!(way(world.refuse(at(0), exchange)), None);
    assert!(!world.http.is_held(exchange));
}

/// AUTH-65, B78: what is given up is an operation, with all calls of it that are under way: those of others are refused for
/// reasons of their own, and what goes out later is another try.
#[test]
fn who_is_given_up_takes_only_its_like_along() {
    let mut world = World::connected();
    let first = world.call();
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
    world.grant("t-2", false);
    let exchange = world.next();
    let (same, other) = (world.call(), world.call_tool("mow"));
    let [same_exchange, other_exchange] = [world.next(), world.next()];
    assert_eq!(way(world.refuse(at(0), exchange)), None);
    assert_eq!(way(world.refuse(at(0), same_exchange)), None);
    for given_up in [&first, &same] {
        assert!(matches!(world.http.take(given_up), Some(Err(CallError::Unauthorized { .. }))));
    }
    assert_eq!(way(world.refuse(at(0), other_exchange)), Some(Way::Renew));
    world.grant("t-3", true);
    let exchange = world.next();
    world.answer(exchange, r#"{"resultType":"complete","content":[]}"#);
    assert!(matches!(world.http.take(&other), Some(Ok(_))));
    let _later = world.call();
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
}

/// AUTH-65: nothing is remembered of what was given up but as long as something from before is under way.
#[test]
fn what_was_given_up_is_forgotten_with_what_went_out_before() {
    let mut world = World::connected();
    for _ in 0..3 {
        let _pending = world.call();
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
        world.grant("t-2", false);
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), None);
        assert!(world.guard.given_up.is_empty() && world.guard.sent.is_empty());
    }
}

/// A refusal of a token that has been replaced by then is no news.
#[test]
fn a_late_refusal_is_sent_again() {
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    let (exchange, _) = world.admit(at(0));
    world.guard.number += 1;
    assert_eq!(way(world.refuse(at(0), exchange)), None);
    assert_eq!(token(&world.admit(at(0)).1), "Bearer t-1");
}

/// AUTH-65: that it comes late does not make it no refusal of the request: its next one is the second, whoever is first
/// then.
#[test]
fn a_late_refusal_counts_for_its_request() {
    let mut world = World::connected();
    let _pending = [world.call(), world.call()];
    let [first, second] = [world.next(), world.next()];
    assert_eq!(way(world.refuse(at(0), first)), Some(Way::Renew));
    world.grant("t-2", true);
    let first = world.next();
    assert_eq!(way(world.refuse(at(0), second)), None);
    let second = world.next();
    assert_eq!(way(world.refuse(at(0), second)), Some(Way::Authorize));
    assert_eq!(way(world.refuse(at(0), first)), None);
    world.grant("t-3", false);
    for exchange in [world.next(), world.next()] {
        assert_eq!(way(world.refuse(at(0), exchange)), None);
        assert!(!world.http.is_held(exchange));
    }
}

/// AUTH-65: a token that somebody else has stored is another one: what was refused of the one before is no news.
#[test]
fn a_token_that_was_found_in_the_store_is_another() {
    for (found, expected) in [("t-1", Some(Way::Renew)), ("t-2", None)] {
        let mut world = World::connected();
        world.guard.grant = Some(Arc::new(grant("t-1")));
        let _pending = [world.call(), world.call()];
        let sent = world.next();
        assert!(matches!(world.admit(at(90)).1, Admitted::Held(Some(_))));
        world.finish(at(90), Done::Kept(Some(Box::new(grant(found)))));
        assert_eq!(token(&world.admit(at(90)).1), format!("Bearer {found}"));
        assert_eq!(way(world.refuse(at(90), sent)), expected);
        if expected.is_none() {
            assert_eq!(token(&world.admit(at(90)).1), "Bearer t-2");
        }
    }
}

/// AUTH-66: who signs out waits for what is under way, and what comes then has no token.
#[test]
fn signing_out_takes_its_turn() {
    let mut world = World::new(Config::new("c"));
    assert!(matches!(world.admit(at(0)).1, Admitted::Held(Some(_))));
    let answers = [Answer::default(), Answer::default()];
    for answer in &answers {
        assert!(world.guard.sign_out(answer.clone()).is_none(), "somebody is at work");
    }
    let next = world.finish(at(0), Done::Loaded(Some(grant("t-1"))));
    assert_eq!(way(next.job), Some(Way::SignOut));
    assert!(world.guard.sign_out(Answer::default()).is_none(), "that is under way");
    assert!(matches!(world.admit(at(0)).1, Admitted::Held(None)));
    let next = world.finish(at(0), Done::SignedOut(Ok(SignedOut::Revoked)));
    assert!(next.job.is_none());
    assert_eq!(next.answers.len(), 3);
    assert!(next.answers.iter().all(|(_, outcome)| *outcome == Ok(SignedOut::Revoked)));
    assert_eq!(token(&world.admit(at(0)).1), "none");
    assert_eq!(way(world.guard.sign_out(Answer::default())), Some(Way::SignOut));
    let next = world
        .finish(at(0), Done::Failed { reason: "closed".to_owned(), record: String::new(), denied: false });
    assert_eq!(next.answers[0].1, Err("closed".to_owned()));
}

fn post(target: &str) -> RequestHead {
    RequestHead::new("POST", target)
}

/// AUTH-55, AUTH-57: what cannot be given its token is given up, and says why.
#[test]
fn a_request_that_leads_nowhere_is_not_sent() {
    let mut world = World::with(Config::new("c"), Some(grant("t-1")));
    let (exchange, _) = world.admit(at(0));
    for (target, sent) in [("/mcp", true), ("/messages?s=1", true), ("/a/../b", false)] {
        match world.guard.send(at(0), &mut world.http, exchange, &post(target)) {
            Admitted::Send(fields) => assert!(sent && fields.text("authorization") == Some("Bearer t-1")),
            _ => assert!(!sent, "{target}"),
        }
    }
    assert!(world.http.request_of(exchange).is_none(), "what waited for it has failed");
}

struct Slow(bool);

impl Signer for Slow {
    fn algorithm(&self) -> &str {
        "ES256"
    }

    fn public_jwk(&self) -> &str {
        r#"{"kty":"EC"}"#
    }

    fn sign(&self, _: &[u8]) -> Option<Vec<u8>> {
        assert!(self.0, "out of order");
        Some(vec![1])
    }
}

/// AUTHX-23: a key signs elsewhere, each proof by itself; one that panics is an error like others.
#[test]
fn proofs_are_made_where_they_may_take_time() {
    for works in [true, false] {
        let bound = changed("t-1", |grant| grant.token_type = TokenType::Dpop);
        let mut world = World::with(Config::new("c").dpop(Arc::new(Slow(works))), Some(bound));
        let (exchange, admitted) = world.admit(at(0));
        let Admitted::Sign(first) = admitted else { panic!("a proof is needed") };
        let second = world.guard.send(at(0), &mut world.http, exchange, &post("/mcp"));
        let Admitted::Sign(second) = second else { panic!("another proof is needed") };
        match (first.run(at(0)), second.run(at(0))) {
            (Ok(first), Ok(second)) => {
                assert!(works && first.text("authorization") == Some("DPoP t-1"));
                assert_ne!(first.text("dpop"), second.text("dpop"));
            }
            (first, _) => assert!(!works && first.unwrap_err().contains("panicked")),
        }
    }
}

/// AUTH-65: an operation is a method, and which tool, prompt or resource.
#[test]
fn operations_are_told_apart() {
    for (body, expected) in [
        (r#"{"method":"tools/call","params":{"name":"mow"}}"#, "tools/call mow"),
        (r#"{"method":"resources/read","params":{"uri":"a:b"}}"#, "resources/read a:b"),
        (r#"{"method":"tools/list"}"#, "tools/list "),
        ("", "POST"),
    ] {
        assert_eq!(operation(&post("/mcp"), body.as_bytes()), expected);
    }
    let mut named = post("/mcp");
    named.headers.push("Mcp-Method", "tools/call");
    named.headers.push("Mcp-Name", "mow");
    assert_eq!(operation(&named, b""), "tools/call mow");
}

/// AUTHX-24: each request is sent again once with another proof, however many are refused together and whatever nonces the
/// server names meanwhile: a server that is never content is asked twice by each.
#[test]
fn a_request_has_one_more_proof_however_many_there_are() {
    let bound = changed("t-1", |grant| grant.token_type = TokenType::Dpop);
    let mut world = World::with(Config::new("c").dpop(Arc::new(Slow(true))), Some(bound));
    let (first, _) = world.admit(at(0));
    let mut nonce = 0;
    let mut refuse = |world: &mut World, exchange| {
        nonce += 1;
        let mut head = ResponseHead::new(401);
        head.headers.push("WWW-Authenticate", r#"DPoP error="use_dpop_nonce""#);
        head.headers.push("DPoP-Nonce", format!("n-{nonce}"));
        world.guard.head(&world.http, exchange, &head);
        assert_eq!(way(world.refuse_with(at(0), exchange, head)), None);
    };
    refuse(&mut world, first);
    let (again, _) = world.admit(at(0));
    world.answer(again, DISCOVERED);
    let calls = [(); 5].map(|()| world.call());
    let sent = [(); 5].map(|()| world.admit(at(0)).0);
    let again = sent.map(|exchange| {
        refuse(&mut world, exchange);
        world.admit(at(0))
    });
    for (exchange, admitted) in again {
        assert!(matches!(admitted, Admitted::Sign(_)));
        refuse(&mut world, exchange);
        assert!(!world.http.is_held(exchange));
    }
    for call in calls {
        assert!(matches!(world.http.take(&call), Some(Err(CallError::Unauthorized { .. }))));
    }
}

/// B75: a refusal that nothing followed, because nobody waited for the call any more, is nothing to the next call of the
/// same tool: a token that has ended since is renewed, with nobody asked, whoever it came of.
#[test]
fn a_call_that_was_cancelled_while_it_was_held_spoils_no_other() {
    for renewed in [true, false] {
        let mut world = World::connected();
        let pending = world.call();
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
        world.http.cancel(at(0), pending.id());
        world.grant("t-2", renewed);
        let _pending = world.call();
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew), "renewed: {renewed}");
        // It is this call that has had its renewal.
        world.grant("t-3", true);
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
    }
}

/// B75: so is one that ended with another refusal than for want of a token.
#[test]
fn a_status_of_another_kind_ends_a_request() {
    let mut world = World::connected();
    let _pending = world.call();
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
    world.grant("t-2", true);
    let exchange = world.next();
    world.guard.head(&world.http, exchange, &ResponseHead::new(405));
    assert!(world.guard.tried.is_empty());
}

/// AUTH-65, B78: scopes that were refused for good are not asked for again because a server redirects first, or says
/// something ahead of its answer.
#[test]
fn only_success_shows_that_scopes_suffice() {
    for (status, expected) in
        [(307, None), (308, None), (103, None), (404, None), (202, Some(Way::Authorize))]
    {
        let mut world = World::connected();
        let _pending = world.call();
        let exchange = world.next();
        assert_eq!(way(world.lack_scope(exchange)), Some(Way::Authorize));
        world.grant("t-2", false);
        let exchange = world.next();
        world.guard.head(&world.http, exchange, &ResponseHead::new(status));
        let _next = world.call();
        let exchange = world.next();
        assert_eq!(way(world.lack_scope(exchange)), expected, "{status}");
    }
}

/// AUTH-65: scopes that nobody was asked for, because the browser was closed, say, were not refused; those that the
/// user said no to were.
#[test]
fn a_step_up_that_nobody_answers_is_none() {
    for (denied, expected) in [(false, Some(Way::Authorize)), (true, None)] {
        let mut world = World::connected();
        let first = world.call();
        let exchange = world.next();
        assert_eq!(way(world.lack_scope(exchange)), Some(Way::Authorize));
        world.finish(at(0), Done::Failed { reason: "no".to_owned(), record: String::new(), denied });
        assert!(matches!(world.http.take(&first), Some(Err(CallError::Unauthorized { .. }))));
        let _again = world.call();
        let exchange = world.next();
        assert_eq!(way(world.lack_scope(exchange)), expected);
    }
}

/// AUTH-65: a redirect is no new request: its refusal is that of the one before.
#[test]
fn a_redirect_brings_no_further_renewal() {
    let mut world = World::connected();
    let _pending = world.call();
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Renew));
    world.grant("t-2", true);
    let exchange = world.next();
    let mut head = ResponseHead::new(307);
    head.headers.push("Location", "/other");
    world.guard.head(&world.http, exchange, &head);
    world.http.handle_head(at(0), exchange, head);
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
}

/// AUTH-65: however many requests are refused meanwhile, what was tried for one that goes on is remembered.
#[test]
fn what_was_tried_for_a_request_that_goes_on_is_remembered() {
    let mut world = World::connected();
    let _long = world.call_tool("long");
    let long = world.next();
    assert_eq!(way(world.refuse(at(0), long)), Some(Way::Renew));
    world.grant("t-2", true);
    let long = world.next();
    for _ in 0..2 * REQUESTS {
        let pending = world.call_tool("other");
        let exchange = world.next();
        if world.refuse(at(0), exchange).is_some() {
            world
                .finish(at(0), Done::Failed { reason: "no".to_owned(), record: String::new(), denied: true });
        }
        assert!(world.http.take(&pending).unwrap().is_err());
    }
    assert!(world.guard.tried.len() <= REQUESTS);
    assert_eq!(way(world.refuse(at(0), long)), Some(Way::Authorize));
}
