//! Which request goes out with which token, and what is done about a refusal. Nothing here waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::auth::{Attempts, Config, Dpop, Grant, Presented, Refusal, TokenType, Tried, Url, Verdict};
use mcp_proto::client::{ExchangeId, Http, HttpRequest};
use mcp_proto::entropy::Seed;
use mcp_proto::error::ApiMisuse;
use mcp_proto::head::{Headers, RequestHead, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::{Duration, Instant, Now};
use serde::Deserialize;

use super::Authorize;
use super::flow::Told;
use super::sign_out::{Answer, SignedOut};
use crate::hook;

/// How long nothing is renewed early after that failed, or brought a token that has ended already.
const PAUSE: Duration = Duration::from_secs(10);
/// Operations that were given up, and requests that were refused, of which it is remembered without asking whether they
/// go on.
const REQUESTS: usize = 1_024;

/// The grant of one client, and the exchanges that wait for it.
pub(in crate::client) struct Guard {
    pub(super) options: Authorize,
    pub(in crate::client) limits: Limits,
    /// The server as the application names it, which grants are stored by.
    pub(super) server: String,
    pub(in crate::client) url: Url,
    grant: Option<Arc<Grant>>,
    /// How many grants there were: the refusal of an earlier one says nothing about the one there is.
    number: u64,
    /// The grant came without anybody being asked.
    renewed: bool,
    dpop: Option<Dpop>,
    attempts: Attempts,
    /// For which operation more scopes are being asked for.
    stepping: Option<String>,
    /// What was refused of requests, by the first exchange of each; and with how many those are left out that are over.
    tried: BTreeMap<ExchangeId, Tried>,
    room: usize,
    state: State,
    waiting: Vec<Waiting>,
    /// With which grant exchanges went out that are not answered yet.
    sent: BTreeMap<ExchangeId, u64>,
    /// Operations that were given up, whatever was done about their refusals, each with the last exchange that had gone
    /// out by then: what went out before is given up with them, what goes out later is another try.
    given_up: BTreeMap<String, ExchangeId>,
    /// Until when nothing is renewed early.
    pause: Option<Instant>,
    /// What was reported of renewals that failed.
    pub(super) told: Arc<Told>,
    /// Those who sign out, and whether that is under way.
    leaving: Vec<Answer>,
    is_leaving: bool,
    /// Somebody has signed out, and nothing was asked for since: no token is to be got for what goes on by itself.
    signed_out: bool,
    /// Something was asked for since somebody last began to sign out.
    asked_since: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is not known whether a grant is stored.
    Unread,
    Idle,
    /// A grant is on its way.
    Busy,
}

struct Waiting {
    exchange: ExchangeId,
    refused: bool,
}

/// What becomes of a request.
pub(in crate::client) enum Admitted {
    /// It goes out, with these fields in place of others of their names.
    Send(Headers),
    /// It goes out when this is done.
    Sign(Box<Signing>),
    /// It waits, for this to be done where nothing is yet.
    Held(Option<Box<Job>>),
}

/// The fields of a request for which a key has to sign, wherever that is: done with no lock held, and where it may block.
pub(in crate::client) struct Signing {
    grant: Arc<Grant>,
    dpop: Option<Dpop>,
    server: Url,
    method: String,
    target: String,
}

impl Signing {
    pub(in crate::client) fn run(mut self, now: Now) -> Result<Headers, String> {
        let mut outcome = None;
        hook::call(|| {
            let dpop = self.dpop.as_mut();
            outcome = Some(self.grant.authorize_request(now, &self.method, &self.server, &self.target, dpop));
        });
        match outcome {
            Some(fields) => fields.map_err(|error| error.to_string()),
            None => Err("the key that the token is bound to panicked".to_owned()),
        }
    }
}

/// Something that takes time, and ends with [`Guard::finish`].
pub(in crate::client) struct Job {
    pub(super) way: Way,
    pub(super) grant: Option<Grant>,
    /// What the server said; `None` ahead of any refusal.
    pub(super) refusal: Option<Refusal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Load,
    Renew,
    Authorize,
    SignOut,
}

/// What a job came to.
pub(in crate::client) enum Done {
    /// What was stored.
    Loaded(Option<Grant>),
    /// A grant, and whether it came without anybody being asked.
    Granted { grant: Box<Grant>, renewed: bool },
    /// Nothing, ahead of any refusal: the grant there was may do for a while.
    Kept(Option<Box<Grant>>),
    /// Nothing, and why; and whether that is an answer: the user, or the authorization server, has said no.
    Failed { reason: String, record: String, denied: bool },
    /// There is no grant any more.
    SignedOut(Result<SignedOut, String>),
}

/// What comes of the end of a job.
pub(in crate::client) struct Next {
    pub(in crate::client) job: Option<Box<Job>>,
    pub(in crate::client) answers: Vec<(Answer, Result<SignedOut, String>)>,
}

impl Guard {
    /// Of a client that says nothing without having asked its store.
    pub(in crate::client) fn new(
        seed: Seed,
        mut options: Authorize,
        limits: &Limits,
        server: &str,
    ) -> Result<Self, ApiMisuse> {
        options.config = Arc::new(Config::clone(&options.config).limits(limits.clone()));
        let url =
            Url::parse(server).map_err(|why| ApiMisuse::new(format!("the URL of the server is {why}")))?;
        let dpop = options.config.proofs(seed);
        Ok(Self {
            options,
            limits: limits.clone(),
            server: server.to_owned(),
            url,
            grant: None,
            number: 0,
            renewed: false,
            dpop,
            attempts: Attempts::new(),
            stepping: None,
            tried: BTreeMap::new(),
            room: REQUESTS,
            state: State::Unread,
            waiting: Vec::new(),
            sent: BTreeMap::new(),
            given_up: BTreeMap::new(),
            pause: None,
            told: Arc::default(),
            leaving: Vec::new(),
            is_leaving: false,
            signed_out: false,
            asked_since: false,
        })
    }

    /// The application asks for something: from here on somebody waits for a token, if one is needed.
    pub(in crate::client) fn asked(&mut self, now: Now, http: &mut Http) {
        self.asked_since = true;
        if std::mem::take(&mut self.signed_out) {
            http.unpark(now);
        }
    }

    /// A request is to go out.
    pub(in crate::client) fn admit(
        &mut self,
        now: Now,
        http: &mut Http,
        exchange: ExchangeId,
        request: &HttpRequest,
    ) -> Admitted {
        let way = match self.state {
            State::Unread => Some(Way::Load),
            State::Busy => None,
            State::Idle => match self.early(now) {
                Some(way) => Some(way),
                None => return self.send(now, http, exchange, &request.head),
            },
        };
        // What nobody waits for goes out with what there is.
        if !http.hold(now, exchange) {
            return self.send(now, http, exchange, &request.head);
        }
        self.wait(http, exchange, false);
        Admitted::Held(way.map(|way| self.begin(way, None)))
    }

    fn send(&mut self, now: Now, http: &mut Http, exchange: ExchangeId, head: &RequestHead) -> Admitted {
        self.sent.insert(exchange, self.number);
        let Some(grant) = &self.grant else { return Admitted::Send(Headers::new()) };
        let (method, target) = (&head.method, &head.target);
        if grant.token_type == TokenType::Dpop {
            return Admitted::Sign(Box::new(Signing {
                grant: grant.clone(),
                dpop: self.dpop.as_mut().map(Dpop::fork),
                server: self.url.clone(),
                method: method.clone(),
                target: target.clone(),
            }));
        }
        // The target may be another than that of the URL: the server has named it.
        match grant.authorize_request(now, method, &self.url, target, None) {
            Ok(fields) => Admitted::Send(fields),
            Err(error) => match self.unauthorized(now, http, exchange, &error.to_string()) {
                true => Admitted::Held(None),
                false => Admitted::Send(Headers::new()),
            },
        }
    }

    /// Whether an exchange goes out with the token that there is.
    pub(in crate::client) fn is_current(&self, exchange: ExchangeId) -> bool {
        self.sent.get(&exchange).is_none_or(|&number| number == self.number)
    }

    /// Gives up a request that cannot be given its token: without, it would be refused, and the user asked for another that
    /// helps as little. `false` for one that nobody waits for.
    pub(in crate::client) fn unauthorized(
        &mut self,
        now: Now,
        http: &mut Http,
        exchange: ExchangeId,
        reason: &str,
    ) -> bool {
        let held = http.hold(now, exchange);
        if held {
            self.sent.remove(&exchange);
            http.give_up(now, exchange, reason, "");
        }
        held
    }

    /// How to get another token before the one there is ends (AUTHX-08).
    fn early(&self, now: Now) -> Option<Way> {
        let grant = self.grant.as_ref().filter(|grant| grant.is_expiring(now))?;
        if self.pause.is_some_and(|until| now.mono < until) {
            return None;
        }
        match grant.refresh_token {
            Some(_) => Some(Way::Renew),
            None => (!self.options.config.asks_user()).then_some(Way::Authorize),
        }
    }

    fn wait(&mut self, http: &Http, exchange: ExchangeId, refused: bool) {
        // Calls may be cancelled while they wait.
        if self.waiting.len() > http.held() {
            self.waiting.retain(|waiting| http.is_held(waiting.exchange));
        }
        self.waiting.push(Waiting { exchange, refused });
    }

    fn begin(&mut self, way: Way, refusal: Option<Refusal>) -> Box<Job> {
        self.state = State::Busy;
        Box::new(Job { way, grant: self.grant.as_deref().cloned(), refusal })
    }

    /// The head of a response is there.
    pub(in crate::client) fn head(&mut self, http: &Http, exchange: ExchangeId, head: &ResponseHead) {
        if let Some(dpop) = &mut self.dpop {
            dpop.learn(&self.url, &head.headers);
        }
        if matches!(head.status, 100..=199 | 401 | 403) {
            return;
        }
        self.sent.remove(&exchange);
        // Behind a redirect the same request may be refused yet.
        if !matches!(head.status, 300..=399)
            && let Some(origin) = http.origin_of(exchange)
        {
            self.tried.remove(&origin);
        }
        if (200..300).contains(&head.status)
            && !self.attempts.is_empty()
            && let Some(request) = http.request_of(exchange)
        {
            self.attempts.forget(&operation(&request.head, &request.body));
        }
    }

    /// An exchange is over.
    pub(in crate::client) fn forget(&mut self, http: &Http, exchange: ExchangeId) {
        if !http.is_held(exchange) {
            self.sent.remove(&exchange);
        }
    }

    /// The server has refused an exchange.
    pub(in crate::client) fn refused(
        &mut self,
        now: Now,
        http: &mut Http,
        exchange: ExchangeId,
        head: &ResponseHead,
    ) -> Option<Box<Job>> {
        let number = self.sent.remove(&exchange);
        let origin = http.origin_of(exchange)?;
        let request = http.request_of(exchange)?;
        let operation = operation(&request.head, &request.body);
        let Some(refusal) = Refusal::read(head) else {
            http.give_up(now, exchange, "it asks for no other scopes", "");
            return None;
        };
        let is_current = number == Some(self.number);
        let is_plain = !refusal.is_insufficient_scope() && !refusal.wants_nonce();
        // One refusal of a token, however many calls of the same kind meet it.
        if is_plain && self.given_up.get(&operation).is_some_and(|&last| exchange <= last) {
            self.give_up(now, http, exchange, &refusal);
            return None;
        }
        let renewed = self.renewed;
        let presented = |number| Presented::new(number).renewed(renewed);
        // Another token is on its way, or there already; that this one was refused here counts all the same.
        if is_plain && let Some(number) = number.filter(|_| !is_current || self.state == State::Busy) {
            self.judge(http, &operation, origin, presented(number), &refusal);
        }
        if self.state == State::Busy {
            self.wait(http, exchange, true);
            return None;
        }
        if !is_current {
            http.repeat(now, exchange);
            return None;
        }
        if self.signed_out {
            // Nobody has asked for this since.
            let reason = "the user has signed out, and nothing was called since";
            if !http.park(now, exchange, reason) {
                http.give_up(now, exchange, reason, "");
            }
            return None;
        }
        let verdict = self.judge(http, &operation, origin, presented(self.number), &refusal);
        let way = match verdict {
            Verdict::Prove if self.dpop.is_some() => {
                http.repeat(now, exchange);
                return None;
            }
            Verdict::Renew if self.grant.as_ref().is_some_and(|grant| grant.refresh_token.is_some()) => {
                Way::Renew
            }
            Verdict::Renew | Verdict::Authorize | Verdict::StepUp => Way::Authorize,
            _ => {
                if is_plain {
                    self.have_given_up(operation);
                }
                self.give_up(now, http, exchange, &refusal);
                return None;
            }
        };
        self.stepping = (verdict == Verdict::StepUp).then_some(operation);
        self.wait(http, exchange, true);
        Some(self.begin(way, Some(refusal)))
    }

    fn judge(
        &mut self,
        http: &Http,
        operation: &str,
        origin: ExchangeId,
        with: Presented,
        refusal: &Refusal,
    ) -> Verdict {
        if self.tried.len() >= self.room {
            // Requests that go on are as many as the client allows. None of them is forgotten, or it would begin anew with
            // each refusal.
            let live = http.origins();
            self.tried.retain(|origin, _| live.contains(origin));
            self.room = REQUESTS.max(2 * self.tried.len());
        }
        self.attempts.refused(operation, self.tried.entry(origin).or_default(), with, refusal)
    }

    /// What is under way of an operation is given up with it.
    fn have_given_up(&mut self, operation: String) {
        let under_way = self.sent.first_key_value().zip(self.sent.last_key_value());
        let Some(((&first, _), (&last, _))) = under_way else { return self.given_up.clear() };
        self.given_up.retain(|_, last| *last >= first);
        if self.given_up.len() >= REQUESTS {
            self.given_up.pop_first();
        }
        self.given_up.insert(operation, last);
    }

    fn give_up(&self, now: Now, http: &mut Http, exchange: ExchangeId, refusal: &Refusal) {
        let (reason, record) = self.words(refusal);
        http.give_up(now, exchange, &reason, &record);
    }

    /// It was tried, and this is the answer.
    fn words(&self, refusal: &Refusal) -> (String, String) {
        let reason = match &refusal.scopes {
            _ if refusal.wants_nonce() => "it wants another proof than the one that it was given".to_owned(),
            Some(scopes) if refusal.is_insufficient_scope() => {
                let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
                // They are ASCII, whoever names them.
                let mut scopes = scopes.join(" ");
                scopes.truncate(200);
                format!("it wants the scopes `{scopes}`, which were asked for already")
            }
            _ => "it does not take the token that it was given".to_owned(),
        };
        let record = self.grant.as_ref().map(|grant| grant.record.to_string());
        (reason, record.unwrap_or_default())
    }

    /// Somebody signs out.
    pub(in crate::client) fn sign_out(&mut self, answer: Answer) -> Option<Box<Job>> {
        self.leaving.push(answer);
        self.asked_since = false;
        self.leave()
    }

    /// One job at a time.
    fn leave(&mut self) -> Option<Box<Job>> {
        let due = self.state != State::Busy && !self.leaving.is_empty();
        // One that is under way is not forgotten: whoever signs out meanwhile hears what came of it.
        self.is_leaving |= due;
        due.then(|| self.begin(Way::SignOut, None))
    }

    /// A job is done: whoever waits goes on. What is to be said once the lock is free, and what is to be done next.
    pub(in crate::client) fn finish(&mut self, now: Now, http: &mut Http, mut done: Done) -> Next {
        let mut answers = Vec::new();
        if std::mem::take(&mut self.is_leaving) {
            let outcome = match done {
                Done::SignedOut(outcome) => outcome,
                // Whoever signs out is signed out here, also where that was cut off.
                Done::Failed { reason, .. } => Err(reason),
                _ => Err("nothing came of it".to_owned()),
            };
            done = Done::SignedOut(outcome.clone());
            answers.extend(self.leaving.drain(..).map(|answer| (answer, outcome.clone())));
        }
        self.conclude(now, http, done);
        Next { job: self.leave(), answers }
    }

    fn conclude(&mut self, now: Now, http: &mut Http, done: Done) {
        self.state = State::Idle;
        let stepping = self.stepping.take();
        let mut failed = None;
        match done {
            Done::Loaded(grant) => {
                self.grant = grant.map(Arc::new);
                http.reauthorized();
            }
            Done::Granted { grant, renewed } => {
                self.grant = Some(Arc::from(grant));
                self.renewed = renewed;
                self.number += 1;
                // Even if nobody waits for it any more.
                http.reauthorized();
                // One that ends as it comes is used all the same, for as long as the server takes it.
                let ends = self.grant.as_ref().is_some_and(|grant| grant.is_expiring(now));
                self.pause = ends.then(|| now.mono + PAUSE);
            }
            Done::Kept(grant) => {
                let token = |grant: &Grant| grant.access_token.clone();
                if self.grant.as_deref().map(token) != grant.as_deref().map(token) {
                    // Somebody else has stored it meanwhile.
                    self.renewed = true;
                    self.number += 1;
                    http.reauthorized();
                }
                self.grant = grant.map(Arc::from);
                self.pause = Some(now.mono + PAUSE);
            }
            Done::Failed { reason, record, denied } => {
                // Whose browser was closed may be asked again.
                if let Some(operation) = stepping.filter(|_| !denied) {
                    self.attempts.forget(&operation);
                }
                self.pause = Some(now.mono + PAUSE);
                failed = Some((reason, record));
            }
            Done::SignedOut(_) => {
                self.grant = None;
                // Nobody was asked for none.
                self.renewed = true;
                self.number += 1;
                self.attempts = Attempts::new();
                self.tried.clear();
                self.signed_out = !self.asked_since;
                http.clear_cache();
                // Nor is what is on its way for who has left, and their tasks are nobody else's.
                http.reauthorized();
                http.leave_tasks(now, "whoever waited for the task has signed out");
            }
        }
        for Waiting { exchange, refused } in std::mem::take(&mut self.waiting) {
            match &failed {
                // What was not refused may be let in with the token there is.
                Some((reason, record)) if refused || self.grant.is_none() => {
                    http.give_up(now, exchange, reason, record);
                }
                _ => http.repeat(now, exchange),
            }
        }
    }
}

/// What a request is, as far as scopes go: its method, and which tool, prompt or resource (AUTH-65).
fn operation(head: &RequestHead, body: &[u8]) -> String {
    let headers = &head.headers;
    if let Some(method) = headers.text("mcp-method") {
        return format!("{method} {}", headers.text("mcp-name").unwrap_or_default());
    }
    #[derive(Deserialize)]
    struct Message {
        method: String,
        params: Option<Params>,
    }
    #[derive(Deserialize)]
    struct Params {
        name: Option<String>,
        uri: Option<String>,
    }
    match serde_json::from_slice::<Message>(body) {
        Ok(Message { method, params }) => {
            let name = params.and_then(|params| params.name.or(params.uri));
            format!("{method} {}", name.unwrap_or_default())
        }
        Err(_) => head.method.clone(),
    }
}

#[cfg(test)]
mod tests;
