//! The surface of calls, written once for those who await and those who block.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_proto::client::{
    CacheUse, Call, CallId, CallOptions, CallTool, Complete, Custom, Discover, GetPrompt, ListPrompts,
    ListResourceTemplates, ListResources, ListTools, Pending, Progress, ReadResource, SetLevel, ToolReply,
};
use mcp_proto::dialect::Era;
use mcp_proto::error::CallError;
use mcp_proto::model::{
    CompleteResult, Cursor, GetPromptResult, Json, LoggingLevel, LoggingMessageNotificationParams, Meta,
    Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool, TraceContext,
};
use serde::Serialize;

use super::Client;
use super::alive::Alive;
use super::collection::Incomplete;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;

/// Calls to a server. `Reply<T>` is a future of a `Result<T, CallError>`, or that result after blocking.
///
/// A future is under way as soon as it exists, and dropping it cancels the call on the wire. Arguments are
/// written while the connection is locked: a `Serialize` of theirs must not make calls on the same client.
pub trait Calls {
    /// What a call returns.
    type Reply<T: Send + 'static>;
    /// What reading a whole collection returns. Its error, [`Incomplete`], has what was read before it.
    type Collection<T: Send + 'static>;

    /// Makes any call.
    fn start<C: Call>(&self, call: &C, options: Options) -> Self::Reply<C::Reply>
    where
        C::Reply: Send + 'static;

    /// Reads a whole collection: `page` makes the call for the page behind a cursor, `split` takes its reply
    /// apart. Bounded by `Limits::pages`; `options` are for each page, but for [`Options::max`], which is for all of
    /// them together. When a cursor dies on the way it begins again, once.
    ///
    /// # Errors
    /// As of a call, with what was read till then.
    fn collect<C, T>(
        &self,
        page: impl Fn(Option<Cursor>) -> C + Send + 'static,
        split: impl Fn(C::Reply) -> (Vec<T>, Option<Cursor>) + Send + 'static,
        options: Options,
    ) -> Self::Collection<T>
    where
        C: Call + Send + 'static,
        C::Reply: Send + 'static,
        T: Send + 'static;

    /// Calls a tool. A tool that fails is a reply, too: see [`ToolReply::is_error`].
    ///
    /// # Errors
    /// [`CallError::Server`] for an unknown tool (-32602) and other protocol errors, and however else a call can
    /// end without a reply. Where somebody has answered what the server asked before that, the answers are in
    /// [`CallError::continuation`], and [`CallError::cause`] is how it ended.
    fn call_tool<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
    ) -> Self::Reply<ToolReply> {
        self.call_tool_with(name, arguments, Options::new())
    }

    /// Calls a tool, with options.
    fn call_tool_with<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
        options: Options,
    ) -> Self::Reply<ToolReply> {
        self.start(&CallTool::with(name, arguments), options)
    }

    /// All tools of the server, page by page.
    fn list_tools(&self) -> Self::Collection<Tool> {
        self.list_tools_with(Options::new())
    }

    /// All tools of the server, page by page, with options.
    fn list_tools_with(&self, options: Options) -> Self::Collection<Tool> {
        let page = after(ListTools::new, ListTools::after);
        self.collect(page, |reply| (reply.tools, reply.next_cursor), options)
    }

    /// All prompts of the server, page by page.
    fn list_prompts(&self) -> Self::Collection<Prompt> {
        self.list_prompts_with(Options::new())
    }

    /// All prompts of the server, page by page, with options.
    fn list_prompts_with(&self, options: Options) -> Self::Collection<Prompt> {
        let page = after(ListPrompts::new, ListPrompts::after);
        self.collect(page, |reply| (reply.prompts, reply.next_cursor), options)
    }

    /// A prompt, filled in.
    ///
    /// # Errors
    /// [`CallError::Server`] for an unknown prompt and missing arguments (-32602) and other protocol errors, and
    /// however else a call can end without a reply.
    fn get_prompt(&self, name: &str, arguments: &[(&str, &str)]) -> Self::Reply<GetPromptResult> {
        let call = GetPrompt::new(name).arguments(arguments.iter().copied());
        self.start(&call, Options::new())
    }

    /// All resources of the server, page by page. What templates make is not among them.
    fn list_resources(&self) -> Self::Collection<Resource> {
        self.list_resources_with(Options::new())
    }

    /// All resources of the server, page by page, with options.
    fn list_resources_with(&self, options: Options) -> Self::Collection<Resource> {
        let page = after(ListResources::new, ListResources::after);
        self.collect(page, |reply| (reply.resources, reply.next_cursor), options)
    }

    /// All resource templates of the server, page by page.
    fn list_resource_templates(&self) -> Self::Collection<ResourceTemplate> {
        self.list_resource_templates_with(Options::new())
    }

    /// All resource templates of the server, page by page, with options.
    fn list_resource_templates_with(&self, options: Options) -> Self::Collection<ResourceTemplate> {
        let page = after(ListResourceTemplates::new, ListResourceTemplates::after);
        self.collect(page, |reply| (reply.resource_templates, reply.next_cursor), options)
    }

    /// What is at a URI.
    ///
    /// # Errors
    /// [`CallError::Server`] when nothing is, see [`CallError::is_resource_not_found`], and for other protocol
    /// errors, and however else a call can end without a reply.
    fn read_resource(&self, uri: &str) -> Self::Reply<ReadResourceResult> {
        self.start(&ReadResource::new(uri), Options::new())
    }

    /// Suggestions while somebody fills in a prompt or a resource template.
    fn complete(&self, complete: &Complete) -> Self::Reply<CompleteResult> {
        self.start(complete, Options::new())
    }

    /// Asks whether the server is there: by `ping`, or in the modern era, which has none, by `server/discover`.
    fn ping(&self) -> Self::Reply<()> {
        self.ping_with(Options::new())
    }

    /// Asks whether the server is there, with options. [`Options::cache`] makes no difference: the server is asked in
    /// any case.
    fn ping_with(&self, options: Options) -> Self::Reply<()>;

    /// Asks for log messages from `level` on: a legacy server at once and at the beginning of each later session, a modern
    /// one with each request from now on. They go to [`ClientBuilder::on_log`](super::ClientBuilder::on_log).
    fn set_level(&self, level: LoggingLevel) -> Self::Reply<()> {
        self.set_level_with(level, Options::new())
    }

    /// Asks for log messages from `level` on, with options for the request to a legacy server. A modern one is sent
    /// nothing now, so there they make no difference.
    fn set_level_with(&self, level: LoggingLevel, options: Options) -> Self::Reply<()>;

    /// Sends a request of any method.
    fn request(&self, request: &Custom) -> Self::Reply<Json> {
        self.start(request, Options::new())
    }
}

impl<R: Runtime> Calls for Client<R> {
    type Reply<T: Send + 'static> = <R::Mode as Mode>::Reply<T, CallError>;
    type Collection<T: Send + 'static> = <R::Mode as Mode>::Reply<Vec<T>, Incomplete<T>>;

    fn start<C: Call>(&self, call: &C, options: Options) -> Self::Reply<C::Reply>
    where
        C::Reply: Send + 'static,
    {
        self.runtime.run(Running::call(self.start_call(call, options)))
    }

    fn collect<C, T>(
        &self,
        page: impl Fn(Option<Cursor>) -> C + Send + 'static,
        split: impl Fn(C::Reply) -> (Vec<T>, Option<Cursor>) + Send + 'static,
        options: Options,
    ) -> Self::Collection<T>
    where
        C: Call + Send + 'static,
        C::Reply: Send + 'static,
        T: Send + 'static,
    {
        self.runtime.run(Running::task(self.clone().read_all(page, split, options)))
    }

    fn ping_with(&self, options: Options) -> Self::Reply<()> {
        self.start(&Alive(self.era()), options.cache(CacheUse::Off))
    }

    fn set_level_with(&self, level: LoggingLevel, options: Options) -> Self::Reply<()> {
        let done = self.set_log_level(level);
        match (self.era(), done) {
            (Era::Legacy, Ok(())) => self.start(&SetLevel(level), options),
            // What speaks against it is of the past: like a call, it is judged once the server has introduced itself again.
            (Era::Legacy, Err(CallError::Unsupported { .. })) if self.is_outdated() => {
                let (client, told) = (self.clone(), self.start_call(&SetLevel(level), options));
                self.runtime.run(Running::task(async move {
                    told.await?;
                    client.set_log_level(level)
                }))
            }
            (Era::Modern, Err(CallError::Unsupported { .. })) if self.is_outdated() => {
                let asked = self.start_call(&Discover, options.cache(CacheUse::Refresh));
                let client = self.clone();
                self.runtime.run(Running::task(async move {
                    match asked.await {
                        Err(cancelled @ CallError::Cancelled) => Err(cancelled),
                        // If it says nothing, what it said before decides.
                        _ => client.set_log_level(level),
                    }
                }))
            }
            (_, done) => self.runtime.run(Running::task(async move { done })),
        }
    }
}

/// The call for the page behind a cursor, if any.
pub(super) fn after<C>(
    first: fn() -> C,
    after: fn(String) -> C,
) -> impl Fn(Option<Cursor>) -> C + Send + 'static
where
    C: 'static,
{
    move |cursor| match cursor {
        Some(cursor) => after(cursor.as_str().to_owned()),
        None => first(),
    }
}

/// How one call is to be made.
#[derive(Clone, Default)]
pub struct Options {
    pub(super) call: CallOptions,
    pub(super) on_progress: Option<ProgressHook>,
    pub(super) on_log: Option<LogHook>,
    pub(super) canceller: Option<Canceller>,
}

pub(super) type ProgressHook = Arc<dyn Fn(&Progress) + Send + Sync>;
pub(super) type LogHook = Arc<dyn Fn(&LoggingMessageNotificationParams) + Send + Sync>;

impl Options {
    /// The defaults: no progress, 60 s, at most 600 s.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long the call may wait; progress, if [`on_progress`](Self::on_progress) asks for it, starts it
    /// again. Default `Limits::request`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// How long the call may wait whatever progress it makes. Default `Limits::request_max`.
    #[must_use]
    pub fn max(mut self, max: Duration) -> Self {
        self.call = self.call.max(max);
        self
    }

    /// Asks for progress, and hears it as it arrives, before the reply.
    #[must_use]
    pub fn on_progress(mut self, hook: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.call = self.call.progress();
        self.on_progress = Some(Arc::new(hook));
        self
    }

    /// Lets another thread or task cancel the call.
    #[must_use]
    pub fn cancelled_by(mut self, canceller: &Canceller) -> Self {
        self.canceller = Some(canceller.clone());
        self
    }

    /// Asks for log messages from `level` on, for this call alone. Modern servers only.
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.call = self.call.log_level(level);
        self
    }

    /// A server that wants input ends the call, with [`CallError::InputRequired`]; its [`Continuation`] can be kept,
    /// answered by hand, and gone on with by [`Resume`], also in another process.
    ///
    /// ```
    /// # use mcp_driver::{Async, CallError, CallTool, Calls, Client, Json, Options, Resume, Runtime};
    /// # use mcp_driver::model::ElicitAction;
    /// # use mcp_driver::model::ElicitResult;
    /// # async fn book<R: Runtime<Mode = Async>>(client: Client<R>) -> Result<(), Box<dyn std::error::Error>> {
    /// let call = client.call_tool_with("book", (), Options::new().manual_input()).await;
    /// if let Err(CallError::InputRequired { mut continuation, .. }) = call {
    ///     for key in continuation.input_required()?.input_requests.into_keys() {
    ///         continuation.answer(&key, ElicitResult::new(ElicitAction::Decline))?;
    ///     }
    ///     let reply = client.start(&Resume::<CallTool<Json>>::new(*continuation), Options::new()).await?;
    ///     println!("{}", reply.text());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Continuation`]: super::Continuation
    /// [`Resume`]: super::Resume
    #[must_use]
    pub fn manual_input(mut self) -> Self {
        self.call = self.call.manual_input();
        self
    }

    /// Whether the call may be answered with a result that was kept, and whether its own is kept. Default
    /// [`ClientBuilder::cache`](super::ClientBuilder::cache).
    ///
    /// ```
    /// # use mcp_driver::{Async, CacheUse, CallError, Calls, Client, Fetch, ListTools, Options, Runtime};
    /// # async fn look<R: Runtime<Mode = Async>>(client: Client<R>) -> Result<(), CallError> {
    /// let options = Options::new().cache(CacheUse::Refresh);
    /// let page = client.start(&Fetch(ListTools::new()), options).await?;
    /// println!("{} tools, {:?}", page.reply.tools.len(), page.freshness);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cache(mut self, cache: CacheUse) -> Self {
        self.call = self.call.cache(cache);
        self
    }

    /// Makes the call although the server did not declare the capability that it needs. For all calls, see
    /// `Config::check_capabilities`, which [`ClientBuilder::configure`](super::ClientBuilder::configure) reaches.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.call = self.call.force();
        self
    }

    /// More entries for the request's `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.call = self.call.meta(meta);
        self
    }

    /// Tells the server which trace the call belongs to, beside whatever else is in `_meta`.
    #[must_use]
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        self.call = self.call.trace(trace);
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("call", &self.call).finish_non_exhaustive()
    }
}

/// Cancels calls from elsewhere: those made with [`Options::cancelled_by`], before and after the fact.
/// A future is cancelled by dropping it; this is for calls that block a thread.
#[derive(Clone, Default)]
pub struct Canceller(Arc<Mutex<Cancelling>>);

#[derive(Default)]
struct Cancelling {
    cancelled: bool,
    calls: BTreeMap<u64, (Weak<dyn Cancel>, CallId)>,
    last: u64,
}

/// What can cancel a call on the wire.
pub(super) trait Cancel: Send + Sync {
    fn cancel(&self, call: CallId);
}

impl Canceller {
    /// One that has not cancelled anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels: the calls settle as [`CallError::Cancelled`], and the server is told. Those made with it from
    /// now on are cancelled as they begin.
    pub fn cancel(&self) {
        let calls = {
            let mut state = self.lock();
            state.cancelled = true;
            std::mem::take(&mut state.calls)
        };
        for (link, call) in calls.into_values() {
            if let Some(link) = link.upgrade() {
                link.cancel(call);
            }
        }
    }

    /// Cancels the call with the others, for as long as what this returns is kept.
    pub(super) fn watch(self, link: Weak<dyn Cancel>, call: CallId) -> Watch {
        let mut state = self.lock();
        state.last += 1;
        let key = state.last;
        if state.cancelled {
            drop(state);
            if let Some(link) = link.upgrade() {
                link.cancel(call);
            }
        } else {
            state.calls.insert(key, (link, call));
            drop(state);
        }
        Watch { canceller: self, key }
    }

    fn lock(&self) -> MutexGuard<'_, Cancelling> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that a canceller knows of.
pub(super) struct Watch {
    canceller: Canceller,
    key: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.canceller.lock().calls.remove(&self.key);
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cancelled = self.lock().cancelled;
        f.debug_struct("Canceller").field("cancelled", &cancelled).finish()
    }
}

/// What a call waits at.
pub(super) trait Owner<T>: Send + Sync {
    /// The reply, once it is there and everything before it was heard.
    fn poll_take(&self, pending: &Pending<T>, waker: &Waker) -> Poll<Result<T, CallError>>;

    /// Nobody waits for the call any more.
    fn abandon(&self, call: CallId);
}

/// Where a call is waited for, and which it is.
pub(super) type Place<T> = (Arc<dyn Owner<T>>, Pending<T>);

/// A call under way. Dropping it cancels the call on the wire.
pub struct CallFuture<T> {
    state: State<T>,
    watch: Option<Watch>,
}

enum State<T> {
    Waiting(Arc<dyn Owner<T>>, Pending<T>),
    Failed(CallError),
    Done,
}

impl<T> CallFuture<T> {
    pub(super) fn new(
        owner: Arc<dyn Owner<T>>,
        started: Result<Pending<T>, CallError>,
        watch: Option<Watch>,
    ) -> Self {
        let state = match started {
            Ok(pending) => State::Waiting(owner, pending),
            Err(error) => State::Failed(error),
        };
        Self { state, watch }
    }

    /// For whoever waits for it in another way, and abandons it.
    pub(super) fn into_parts(mut self) -> (Result<Place<T>, CallError>, Option<Watch>) {
        let waiting = match std::mem::replace(&mut self.state, State::Done) {
            State::Waiting(owner, pending) => Ok((owner, pending)),
            State::Failed(error) => Err(error),
            State::Done => Err(CallError::Cancelled),
        };
        (waiting, self.watch.take())
    }
}

// Nothing in it is pinned.
impl<T> Unpin for CallFuture<T> {}

impl<T> Future for CallFuture<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let output = match &self.state {
            State::Waiting(owner, pending) => match owner.poll_take(pending, cx.waker()) {
                Poll::Ready(output) => output,
                Poll::Pending => return Poll::Pending,
            },
            State::Failed(error) => Err(error.clone()),
            // Polled again after it was ready.
            State::Done => Err(CallError::Cancelled),
        };
        self.state = State::Done;
        Poll::Ready(output)
    }
}

impl<T> Drop for CallFuture<T> {
    fn drop(&mut self) {
        if let State::Waiting(owner, pending) = &self.state {
            owner.abandon(pending.id());
        }
    }
}

impl<T> fmt::Debug for CallFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallFuture")
    }
}
