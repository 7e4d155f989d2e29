//! Where legacy sessions live besides in this process.

use std::error::Error as StdError;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::limits::Limits;
use mcp_proto::server::{SessionAnswer, SessionId, SessionQuery, SessionState};

use super::gate::{Full, Gates, Pass};
use super::http::HttpService;
use crate::context::Report;
use crate::runtime::{BoxFuture, Runtime};

/// What a store can fail with.
pub type StoreError = Box<dyn StdError + Send + Sync>;

/// Where sessions live besides in this process, so that another one can go on with them; see
/// [`Server::session_store`](super::Server::session_store).
///
/// A state is one value that serde writes and reads as JSON. It is small, and changes seldom: when the client is
/// ready, when it asks for another level of log messages, and when it subscribes to a resource or no longer wants
/// to hear of one.
///
/// Within a process such changes are made one after the other. Other processes may make theirs at the same time, so
/// a state counts its [`changes`](SessionState::changes), and is kept only in the place of the one before it: who
/// comes second makes his change again, of what the first one left. A client is answered when its change is kept.
///
/// A request waits for the store for [`Limits::session_answer`](mcp_proto::limits::Limits::session_answer), in which so
/// many may that there are no more of one session than [`Limits::in_flight`](mcp_proto::limits::Limits::in_flight) and
/// of all than [`Limits::accepted`](mcp_proto::limits::Limits::accepted); a further one is answered 503. One that only
/// asks is given up with its connection.
pub trait SessionStore: Send + Sync + 'static {
    /// The state of a session; `None` if there is none, or if it has ended. Counts as use of it: the store is to
    /// forget what was neither loaded nor saved for as long as sessions may be idle
    /// ([`Limits::session_idle`](mcp_proto::limits::Limits::session_idle)). Sessions with a running call or an open
    /// stream are loaded in time.
    fn load(&self, session: &SessionId) -> BoxFuture<Result<Option<SessionState>, StoreError>>;

    /// Keeps a state in the place of the one that has changed as often as `expected` says, or, with `None`, of a
    /// session that begins. If another one is kept, or none where one is expected, nothing is, and the answer is
    /// [`Saved::Conflict`]. Looking and keeping must be one step: `UPDATE .. WHERE id = ? AND changes = ?`.
    fn save(
        &self,
        session: &SessionId,
        expected: Option<u64>,
        state: &SessionState,
    ) -> BoxFuture<Result<Saved, StoreError>>;

    /// The client has ended the session. From now on there is none of this name, whatever is saved.
    fn remove(&self, session: &SessionId) -> BoxFuture<Result<(), StoreError>>;
}

/// What became of a state that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is kept.
    Kept,
    /// Somebody else has changed the session, or ended it.
    Conflict,
}

/// How often a change is made again because others came first.
const TRIES: usize = 16;

/// A store, and who is asking it.
#[derive(Clone)]
pub(super) struct Stored {
    store: Arc<dyn SessionStore>,
    gates: Arc<Gates>,
}

impl Stored {
    pub(super) fn new(store: impl SessionStore) -> Self {
        Self { store: Arc::new(store), gates: Arc::default() }
    }

    /// Takes a place among those who ask for the session of a query. `Err` if there is none.
    pub(super) fn enter(&self, limits: &Limits, query: &SessionQuery) -> Result<Pass, Full> {
        let changes = query.changes_state() || query.ends().is_some();
        self.gates.enter(limits, query.session(), changes)
    }
}

/// What is to be done once the store has been asked.
pub(super) enum Found {
    /// The table is to answer: the session is there.
    Ask,
    /// This is the answer.
    Is(SessionAnswer),
}

/// A session that is being opened. Unless the store keeps it, it is not there; a store that says nothing for too
/// long, or panics, leaves its place to others as well.
struct Begun<'a, R: Runtime> {
    service: &'a HttpService<R>,
    session: &'a SessionId,
    kept: bool,
}

impl<R: Runtime> Drop for Begun<'_, R> {
    fn drop(&mut self) {
        if !self.kept {
            self.service.sessions().forget(self.session);
        }
    }
}

impl<R: Runtime> HttpService<R> {
    /// Asks the store on behalf of a query, and tells it what comes of that.
    pub(super) async fn look_up(&self, stored: &Stored, query: &SessionQuery, pass: Pass) -> Found {
        let Some(session) = query.session() else {
            return self.begin(stored, query).await;
        };
        pass.turn().await;
        if query.ends().is_some() {
            return Found::Is(self.end(stored, query, session, &pass).await);
        }
        if query.changes_state() {
            return Found::Is(self.change(stored, query, session, &pass).await);
        }
        match self.fetch(stored, session, &pass).await {
            Ok(()) => Found::Ask,
            Err(answer) => Found::Is(answer),
        }
    }

    /// Brings the session here as it is in the store. `Err` is what to answer if that is not possible.
    async fn fetch(&self, stored: &Stored, session: &SessionId, pass: &Pass) -> Result<(), SessionAnswer> {
        let loaded = stored.store.load(session).await.map_err(|error| self.unavailable(&error))?;
        let mut sessions = self.sessions();
        match loaded {
            // It was loaded before that.
            Some(_) if pass.has_ended() => Err(SessionAnswer::Missing),
            Some(state) => {
                let room = sessions.restore(self.now(), session, state);
                room.then_some(()).ok_or(SessionAnswer::Full)
            }
            None => {
                // It has ended elsewhere.
                sessions.forget(session);
                Err(SessionAnswer::Missing)
            }
        }
    }

    async fn begin(&self, stored: &Stored, query: &SessionQuery) -> Found {
        let answer = self.query(query.clone());
        let SessionAnswer::Opened { session } = &answer else { return Found::Is(answer) };
        let mut begun = Begun { service: self, session, kept: false };
        let state = self.sessions().state(session).cloned();
        let Some(state) = state else { return Found::Is(SessionAnswer::Missing) };
        let failed = match stored.store.save(session, None, &state).await {
            Ok(Saved::Kept) => {
                begun.kept = true;
                drop(begun);
                return Found::Is(answer);
            }
            Ok(Saved::Conflict) => self.unavailable(&"there is a session of a new name".into()),
            Err(error) => self.unavailable(&error),
        };
        Found::Is(failed)
    }

    async fn change(
        &self,
        stored: &Stored,
        query: &SessionQuery,
        session: &SessionId,
        pass: &Pass,
    ) -> SessionAnswer {
        for _ in 0..TRIES {
            if let Err(answer) = self.fetch(stored, session, pass).await {
                return answer;
            }
            let answer = self.sessions().foresee(self.now(), query);
            let SessionAnswer::Loaded { state } = &answer else { return answer };
            match stored.store.save(session, state.changes.checked_sub(1), state).await {
                Ok(Saved::Kept) => {
                    let room = self.sessions().restore(self.now(), session, state.clone());
                    return if room { answer } else { SessionAnswer::Full };
                }
                Ok(Saved::Conflict) => {}
                Err(error) => return self.unavailable(&error),
            }
        }
        self.unavailable(&"others change a session again and again".into())
    }

    async fn end(
        &self,
        stored: &Stored,
        query: &SessionQuery,
        session: &SessionId,
        pass: &Pass,
    ) -> SessionAnswer {
        if let Err(answer) = self.fetch(stored, session, pass).await {
            return answer;
        }
        // Whether whoever asks may.
        let answer = self.sessions().foresee(self.now(), query);
        if !matches!(answer, SessionAnswer::Done) {
            return answer;
        }
        if let Err(error) = stored.store.remove(session).await {
            return self.unavailable(&error);
        }
        let mut sessions = self.sessions();
        pass.end();
        sessions.handle_query(self.now(), query.clone())
    }

    /// A session is in use here, although its client says nothing: the store hears of it, and may know that it has
    /// ended.
    pub(super) fn refresh(&self, session: SessionId) {
        let (Some(stored), Some(service)) = (self.store.clone(), self.this.upgrade()) else { return };
        let pass = stored.gates.enter_aside(&session);
        self.run_for_store(Box::pin(async move {
            // What fails here is reported, and tried again in time.
            let _ = service.fetch(&stored, &session, &pass).await;
            service.route();
        }));
    }

    /// Runs what waits for the store, for as long as that may take. It is dropped then, and when the store panics.
    /// Whether it goes on.
    pub(super) fn run_for_store(&self, mut asking: BoxFuture<()>) -> bool {
        let Some(service) = self.this.upgrade() else { return false };
        let mut poll = move |cx: &mut std::task::Context<'_>| {
            catch_unwind(AssertUnwindSafe(|| asking.as_mut().poll(cx))).unwrap_or_else(|_| {
                service.unavailable(&"it panicked".into());
                Poll::Ready(())
            })
        };
        if poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready() {
            return false;
        }
        let runtime = self.runtime();
        let mut end = runtime.sleep_until(self.now().mono + self.config().limits.session_answer);
        runtime.spawn(Box::pin(poll_fn(move |cx| match poll(cx) {
            Poll::Pending => end.as_mut().poll(cx),
            ready => ready,
        })));
        true
    }

    fn unavailable(&self, error: &StoreError) -> SessionAnswer {
        self.shared().report(&Report::ours("the store of sessions", error.to_string()));
        SessionAnswer::Unavailable
    }
}
