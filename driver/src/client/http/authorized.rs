//! Requests on their way through the guard, and what the guard wants done.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::client::{ExchangeId, HttpRequest};
use mcp_proto::head::{Headers, RequestHead, ResponseHead};
use mcp_proto::time::Now;

use super::super::authorize::{Admitted, Answer, Done, Job, Next, Signing, Worker};
use super::super::desk::{self, Link};
use super::fetch::Fetcher;
use super::guarded::Guarded;
use super::{Carried, Carrier, HttpClient, Step};
use crate::runtime::Runtime;

/// What becomes of a request.
pub(super) enum Admission<'a> {
    Send(Cow<'a, RequestHead>),
    /// Something has to be done first.
    Step(Step),
    /// It waits for what is being done already.
    Held,
}

impl Guarded {
    /// The head of a request with its token, if it has not to wait for one.
    pub(super) fn admit<'a>(
        &mut self,
        now: Now,
        exchange: ExchangeId,
        request: &'a HttpRequest,
    ) -> Admission<'a> {
        let Some(guard) = &mut self.guard else { return Admission::Send(Cow::Borrowed(&request.head)) };
        match guard.admit(now, &mut self.http, exchange, request) {
            Admitted::Send(fields) => {
                let head = with(&request.head, &fields);
                self.http.authorized_with(exchange, fields);
                Admission::Send(Cow::Owned(head))
            }
            Admitted::Sign(signing) => Admission::Step(Step::Sign(exchange, signing)),
            Admitted::Held(Some(job)) => Admission::Step(Step::Authorize(job)),
            Admitted::Held(None) => Admission::Held,
        }
    }

    /// The next request that can go out since it is signed. Those that nobody waits for any more are left out.
    pub(super) fn signed(&mut self, now: Now) -> Option<(ExchangeId, Arc<HttpRequest>, RequestHead)> {
        while let Some((exchange, outcome)) = self.signed.pop_front() {
            let Some(request) = self.http.request_of(exchange).cloned() else {
                self.forget(exchange);
                continue;
            };
            // The token may have been taken back, or be another, by the time that the key has signed.
            if !self.is_current(exchange) {
                self.begin_anew(now, exchange);
                continue;
            }
            let fields = match outcome {
                Ok(fields) => fields,
                Err(reason) => {
                    let guard = self.guard.as_mut()?;
                    if guard.unauthorized(now, &mut self.http, exchange, &reason) {
                        continue;
                    }
                    Headers::new()
                }
            };
            let head = with(&request.head, &fields);
            self.http.authorized_with(exchange, fields);
            return Some((exchange, request, head));
        }
        None
    }

    /// Lets a request begin anew whose token is not the one that there is.
    pub(super) fn begin_anew(&mut self, now: Now, exchange: ExchangeId) {
        self.forget(exchange);
        if self.http.hold(now, exchange) {
            self.http.repeat(now, exchange);
        } else {
            // Nobody waits for it, such as for a message that a call is cancelled.
            self.http.handle_failed(now, exchange, "its token was taken back", true);
        }
    }

    pub(super) fn refused(&mut self, now: Now, exchange: ExchangeId, head: &ResponseHead) -> Option<Step> {
        let guard = self.guard.as_mut()?;
        guard.refused(now, &mut self.http, exchange, head).map(Step::Authorize)
    }
}

/// A head with fields in place of others of their names.
fn with(head: &RequestHead, fields: &Headers) -> RequestHead {
    let mut head = head.clone();
    for (name, _) in fields.iter() {
        head.headers.remove(name);
    }
    head.headers.append(fields);
    head
}

impl<R: Runtime> HttpClient<R> {
    /// Has a key sign, where that may block.
    pub(super) fn sign(&self, exchange: ExchangeId, signing: Box<Signing>) {
        let Some(client) = self.this.upgrade() else { return };
        let mut asked = Asked { client, exchange, fields: None };
        let job = Box::new(move || asked.sign(signing));
        // A job without a place is dropped, and what it holds says so.
        self.keys.run(job, |job| self.runtime.spawn_blocking(job));
    }

    /// Gives up the grant; `false` where there is nobody who would have one.
    pub(in crate::client) fn sign_out(&self, answer: Answer) -> bool {
        let job = {
            let machine = &mut self.lock().machine;
            let Some(guard) = &mut machine.guarded.guard else { return false };
            guard.sign_out(answer)
        };
        job.into_iter().for_each(|job| self.authorize(job));
        true
    }

    /// Does in the background what the guard wants done.
    pub(super) fn authorize(&self, job: Box<Job>) {
        let Some(client) = self.this.upgrade() else { return };
        let worker = {
            let machine = &client.lock().machine;
            let Some(guard) = &machine.guarded.guard else { return };
            let arrived = self.route.as_ref().and_then(|route| route.arrived());
            let fetcher = Fetcher::new(&self.runtime, &guard.limits, &self.means, &guard.url, arrived);
            Worker::new(&self.runtime, &self.hooks, guard, fetcher)
        };
        let work = Work { client, done: false };
        self.runtime.spawn(Box::pin(work.run(worker, job)));
    }
}

/// What a key was asked to sign. The request is told of it, also where nothing came of that.
struct Asked<R: Runtime> {
    client: Arc<HttpClient<R>>,
    exchange: ExchangeId,
    fields: Option<Result<Headers, String>>,
}

impl<R: Runtime> Asked<R> {
    fn sign(&mut self, signing: Box<Signing>) {
        self.fields = Some(signing.run(self.client.runtime.now()));
    }
}

impl<R: Runtime> Drop for Asked<R> {
    fn drop(&mut self) {
        let none = || {
            Err("no thread for the key that the token is bound to, or more than `Limits::blocking_jobs` wait for one"
                .to_owned())
        };
        let fields = self.fields.take().unwrap_or_else(none);
        self.client.lock().machine.guarded.signed.push_back((self.exchange, fields));
        self.client.advance(None);
    }
}

/// A job that is being done. Also one that comes to nothing, because the runtime has no place for it or shuts down,
/// must not be waited for.
struct Work<R: Runtime> {
    client: Arc<HttpClient<R>>,
    done: bool,
}

impl<R: Runtime> Work<R> {
    async fn run(mut self, worker: Worker<R>, job: Box<Job>) {
        let client = self.client.clone();
        let mut late = client.runtime.sleep_until(worker.until());
        let mut work = pin!(worker.run(job));
        let mut closed = pin!(desk::closed(&client));
        let done = poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            // Those who wait are given up by the machine, which keeps the same time.
            let over = closed.as_mut().poll(cx).is_ready() || late.as_mut().poll(cx).is_ready();
            if over { Poll::Ready(None) } else { Poll::Pending }
        })
        .await;
        if let Some(done) = done {
            self.end(done);
        }
    }

    fn end(&mut self, done: Done) {
        self.done = true;
        let now = self.client.runtime.now();
        let next = {
            let Carried { guarded, carrier, .. } = &mut self.client.lock().machine;
            let Guarded { http, guard, .. } = &mut *guarded;
            let next = guard.as_mut().map(|guard| guard.finish(now, http, done));
            if let Carrier::Pool(pooled) = carrier {
                pooled.recall(guarded, now);
            }
            next
        };
        if let Some(Next { job, answers }) = next {
            answers.into_iter().for_each(|(answer, outcome)| answer.set(outcome));
            job.into_iter().for_each(|job| self.client.authorize(job));
        }
        self.client.advance(None);
    }
}

impl<R: Runtime> Drop for Work<R> {
    fn drop(&mut self) {
        if !self.done {
            let reason = "authorization was given up before it came to an end".to_owned();
            self.end(Done::Failed { reason, record: String::new(), denied: false });
        }
    }
}
