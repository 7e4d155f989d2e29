//! A call that is heard item by item: what comes on the way, and at last its reply.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use mcp_proto::client::{Call, CallTool, Progress, ToolReply};
use mcp_proto::error::CallError;
use mcp_proto::limits::Limits;
use mcp_proto::model::LoggingMessageNotificationParams;
use serde::Serialize;

use super::Client;
use super::calls::{CallFuture, Options, Place, Watch};
use crate::reply::{Blocking, Mode, Running};
use crate::runtime::Runtime;
use crate::wake::waker_fn;

/// What a call has brought.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update<T> {
    /// How far it has come.
    Progress(Progress),
    /// What the server logs for it.
    Log(LoggingMessageNotificationParams),
    /// Its reply, the last one.
    Reply(T),
}

impl<R: Runtime> Client<R> {
    /// Calls a tool, and hears what comes on the way: see [`stream`](Self::stream).
    ///
    /// ```
    /// # use mcp_driver::{Async, CallError, Client, Runtime, Update};
    /// # async fn build<R: Runtime<Mode = Async>>(client: Client<R>) -> Result<(), CallError> {
    /// let call = client.call_tool_streaming("build", serde_json::json!({ "release": true }));
    /// while let Some(update) = call.next().await? {
    ///     match update {
    ///         Update::Progress(progress) => println!("{}: {:?}", progress.progress, progress.message),
    ///         Update::Log(message) => println!("{message}"),
    ///         Update::Reply(reply) => println!("{}", reply.text()),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_tool_streaming<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
    ) -> CallStream<R, ToolReply> {
        self.call_tool_streaming_with(name, arguments, Options::new())
    }

    /// Calls a tool, with options, and hears what comes on the way: see [`stream`](Self::stream).
    pub fn call_tool_streaming_with<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
        options: Options,
    ) -> CallStream<R, ToolReply> {
        self.stream(&CallTool::with(name, arguments), options)
    }

    /// Makes any call, and hears what comes on the way. It is under way when this returns, and asks for progress.
    ///
    /// Log messages have to be asked for: from a modern server by [`Options::log_level`] or
    /// [`ClientBuilder::on_log`](super::ClientBuilder::on_log), from a legacy one by the latter or
    /// [`Calls::set_level`](super::Calls::set_level). Those of other calls are not heard here; on a byte stream, where a
    /// message does not say which call it is of, that means those that come while no other call is under way.
    ///
    /// Who is slow misses the oldest: [`Limits::notifications`] and [`Limits::notification_bytes`] bound what waits,
    /// and progress gives way before what was logged. The reply is never lost.
    pub fn stream<C: Call>(&self, call: &C, mut options: Options) -> CallStream<R, C::Reply>
    where
        C::Reply: Send + 'static,
    {
        let heard = Arc::new(Heard::new(&self.config.limits));
        let (hear, before) = (heard.clone(), options.on_progress.take());
        options = options.on_progress(move |progress| {
            if let Some(before) = &before {
                before(progress);
            }
            hear.push(Way::Progress(progress.clone()));
        });
        let hear = heard.clone();
        options.on_log = Some(Arc::new(move |message| hear.push(Way::Log(message.clone()))));
        let (waiting, watch) = CallFuture::into_parts(self.start_call(call, options));
        let waker = {
            let heard = heard.clone();
            waker_fn(move || heard.wake())
        };
        let (call, reply) = match waiting {
            Ok(waiting) => (Some(waiting), None),
            Err(error) => (None, Some(Err(error))),
        };
        let inner = Inner { heard, call, waker, reply: Mutex::new(Settled { reply, over: false }) };
        CallStream { runtime: self.runtime.clone(), inner: Arc::new(inner), _watch: watch }
    }
}

/// A call under way that is heard item by item. Dropping it cancels the call on the wire, unless its reply was heard.
pub struct CallStream<R: Runtime, T: 'static> {
    runtime: R,
    inner: Arc<Inner<T>>,
    _watch: Option<Watch>,
}

impl<R: Runtime, T: Send + 'static> CallStream<R, T> {
    /// What comes next; `None` behind the reply. Who waits may stop waiting: nothing is lost by that.
    ///
    /// # Errors
    /// How the call ended without a reply, once; after that `None`.
    pub fn next(&self) -> <R::Mode as Mode>::Reply<Option<Update<T>>, CallError> {
        let inner = self.inner.clone();
        let next = poll_fn(move |cx| inner.poll_next(cx.waker()));
        self.runtime.run(Running::task(async move { next.await.transpose() }))
    }

    /// The same for whoever polls.
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Update<T>, CallError>>> {
        self.inner.poll_next(cx.waker())
    }

    /// How many updates were lost because too many waited.
    pub fn left_out(&self) -> u64 {
        self.inner.heard.lock().left_out
    }
}

/// Blocks until there is something to hear.
impl<R: Runtime<Mode = Blocking>, T: Send + 'static> Iterator for CallStream<R, T> {
    type Item = Result<Update<T>, CallError>;

    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self).transpose()
    }
}

impl<R: Runtime, T: 'static> Drop for CallStream<R, T> {
    fn drop(&mut self) {
        let over = std::mem::replace(&mut self.inner.settled().over, true);
        if let (false, Some((owner, pending))) = (over, &self.inner.call) {
            owner.abandon(pending.id());
        }
        // Whoever still waits hears that there is nothing more.
        self.inner.heard.wake();
    }
}

impl<R: Runtime, T: 'static> fmt::Debug for CallStream<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallStream").field("waiting", &self.inner.heard.lock().queue.len()).finish()
    }
}

struct Inner<T: 'static> {
    heard: Arc<Heard>,
    /// `None` if it could not be made.
    call: Option<Place<T>>,
    /// Wakes all who wait.
    waker: Waker,
    reply: Mutex<Settled<T>>,
}

struct Settled<T> {
    /// How the call ended, until that is told.
    reply: Option<Result<T, CallError>>,
    /// That was told, or nobody listens any more.
    over: bool,
}

impl<T> Inner<T> {
    fn poll_next(&self, waker: &Waker) -> Poll<Option<Result<Update<T>, CallError>>> {
        if self.settled().over {
            return Poll::Ready(None);
        }
        if let Some(update) = self.heard.pop(waker) {
            return Poll::Ready(Some(Ok(update.into())));
        }
        if self.settled().reply.is_none()
            && let Some((owner, pending)) = &self.call
        {
            // With no lock held: this may hand out events, and run hooks.
            match owner.poll_take(pending, &self.waker) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(reply) => self.settled().settle(reply),
            }
        }
        // What has come meanwhile came before the reply.
        if let Some(update) = self.heard.pop(waker) {
            return Poll::Ready(Some(Ok(update.into())));
        }
        let mut settled = self.settled();
        settled.over = true;
        Poll::Ready(settled.reply.take().map(|reply| reply.map(Update::Reply)))
    }

    fn settled(&self) -> MutexGuard<'_, Settled<T>> {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Settled<T> {
    /// Of two who look at the same time, the first has it.
    fn settle(&mut self, reply: Result<T, CallError>) {
        if !self.over && self.reply.is_none() {
            self.reply = Some(reply);
        }
    }
}

/// What has come and was not heard yet, and who waits for more.
struct Heard {
    limits: (usize, usize),
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Way>,
    bytes: usize,
    left_out: u64,
    wakers: Vec<Waker>,
}

/// What comes on the way.
enum Way {
    Progress(Progress),
    Log(LoggingMessageNotificationParams),
}

impl<T> From<Way> for Update<T> {
    fn from(way: Way) -> Self {
        match way {
            Way::Progress(progress) => Self::Progress(progress),
            Way::Log(message) => Self::Log(message),
        }
    }
}

impl Way {
    /// About how much memory it takes.
    fn size(&self) -> usize {
        let texts = match self {
            Self::Progress(progress) => progress.message.as_ref().map_or(0, String::len),
            Self::Log(LoggingMessageNotificationParams { logger, data, meta, .. }) => {
                let meta: usize = meta.iter().map(|(key, value)| key.len() + value.get().len()).sum();
                data.get().len() + logger.as_ref().map_or(0, String::len) + meta
            }
        };
        size_of::<Self>() + texts
    }
}

impl Heard {
    fn new(limits: &Limits) -> Self {
        Self { limits: (limits.notifications, limits.notification_bytes), waiting: Mutex::default() }
    }

    /// Adds one, and makes room for it.
    fn push(&self, way: Way) {
        let (number, bytes) = self.limits;
        let mut waiting = self.lock();
        waiting.bytes += way.size();
        waiting.queue.push_back(way);
        while waiting.queue.len() > number || waiting.bytes > bytes {
            let progress = waiting.queue.iter().position(|way| matches!(way, Way::Progress(_)));
            let Some(lost) = waiting.queue.remove(progress.unwrap_or(0)) else { break };
            waiting.bytes -= lost.size();
            waiting.left_out += 1;
        }
        drop(waiting);
        self.wake();
    }

    /// The oldest, or whom to wake when there is one.
    fn pop(&self, waker: &Waker) -> Option<Way> {
        let mut waiting = self.lock();
        let way = waiting.queue.pop_front();
        match &way {
            Some(way) => waiting.bytes -= way.size(),
            None if waiting.wakers.iter().any(|known| known.will_wake(waker)) => {}
            None => waiting.wakers.push(waker.clone()),
        }
        way
    }

    fn wake(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::model::{Json, LoggingLevel};

    use super::*;

    fn heard(number: usize, bytes: usize) -> Heard {
        let mut limits = Limits::default();
        (limits.notifications, limits.notification_bytes) = (number, bytes);
        Heard::new(&limits)
    }

    fn log(text: &str) -> Way {
        Way::Log(LoggingMessageNotificationParams::new(LoggingLevel::Info, Json::new(text).unwrap()))
    }

    fn progress(step: u8) -> Way {
        Way::Progress(Progress::new(step.into()))
    }

    fn all(heard: &Heard) -> String {
        let ways = std::iter::from_fn(|| heard.pop(Waker::noop()));
        let texts = ways.map(|way| match way {
            Way::Progress(progress) => progress.progress.to_string(),
            Way::Log(message) => message.data.get().trim_matches('"').to_owned(),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Exactly as many wait as may; of more the newest are kept, and progress gives way before what was logged.
    #[test]
    fn the_newest_updates_wait() {
        let heard = heard(3, 1 << 20);
        [log("a"), progress(1), progress(2)].into_iter().for_each(|way| heard.push(way));
        assert_eq!(heard.lock().left_out, 0);
        [progress(3), log("b"), log("c")].into_iter().for_each(|way| heard.push(way));
        assert_eq!(all(&heard), "a b c");
        assert_eq!(heard.lock().left_out, 3);
        ["a", "b", "c", "d"].into_iter().for_each(|text| heard.push(log(text)));
        assert_eq!(all(&heard), "b c d");
    }

    /// The same in bytes.
    #[test]
    fn so_many_bytes_wait() {
        let size = log("a").size();
        let heard = heard(100, 2 * size);
        ["a", "b", "c"].into_iter().for_each(|text| heard.push(log(text)));
        assert_eq!(all(&heard), "b c");
        heard.push(log(&"x".repeat(2 * size)));
        assert_eq!((all(&heard).as_str(), heard.lock().bytes), ("", 0));
    }
}
