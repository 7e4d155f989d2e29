//! What differs between the runtimes for whoever writes scenarios: how one waits.

use std::any::Any;
use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;

use mcp_driver::{CallError, Mode, Runtime};

use crate::support::{DEADLINE, Gate};

/// What a call of the API returns on a runtime.
pub type Reply<K, T, E> = <<<K as Kit>::Runtime as Runtime>::Mode as Mode>::Reply<T, E>;
/// A client on a runtime.
pub type Client<K> = mcp_driver::Client<<K as Kit>::Runtime>;
/// A server on a runtime.
pub type Server<K> = mcp_driver::Server<<K as Kit>::Runtime>;

/// A runtime, and how to wait for it on a plain thread.
pub trait Kit: 'static {
    type Runtime: Runtime;
    /// Its name, as `mcp-rig` knows it.
    const NAME: &'static str;

    /// Makes the calling thread one of the runtime, until what this returns is dropped.
    fn enter() -> Box<dyn Any>;

    fn wait<T: Send + 'static, E: Send + 'static>(reply: Reply<Self, T, E>) -> Result<T, E>
    where
        Self: Sized;

    fn block_on<T>(future: impl Future<Output = T>) -> T;

    /// Makes a call, and returns a way to abandon it: a future is dropped, a blocked thread is freed by a
    /// canceller.
    fn abandonable<T: Send + 'static>(
        start: impl FnOnce(mcp_driver::Options) -> Reply<Self, T, CallError> + Send + 'static,
    ) -> Box<dyn FnOnce()>
    where
        Self: Sized;
}

pub struct OnTokio;

impl OnTokio {
    fn runtime() -> &'static tokio::runtime::Runtime {
        static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
        RUNTIME.get_or_init(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            // Few threads that may block: nothing of ours is to depend on those.
            builder.worker_threads(2).max_blocking_threads(16).enable_all().build().unwrap()
        })
    }
}

impl Kit for OnTokio {
    type Runtime = mcp_tokio::Tokio;
    const NAME: &'static str = "tokio";

    fn enter() -> Box<dyn Any> {
        Box::new(Self::runtime().enter())
    }

    fn wait<T: Send + 'static, E: Send + 'static>(reply: Reply<Self, T, E>) -> Result<T, E> {
        Self::block_on(reply)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        Self::runtime().block_on(future)
    }

    fn abandonable<T: Send + 'static>(
        start: impl FnOnce(mcp_driver::Options) -> Reply<Self, T, CallError> + Send + 'static,
    ) -> Box<dyn FnOnce()> {
        let reply = start(mcp_driver::Options::new());
        Box::new(|| drop(reply))
    }
}

pub struct OnSmol;

impl Kit for OnSmol {
    type Runtime = mcp_smol::Smol;
    const NAME: &'static str = "smol";

    fn enter() -> Box<dyn Any> {
        Box::new(())
    }

    fn wait<T: Send + 'static, E: Send + 'static>(reply: Reply<Self, T, E>) -> Result<T, E> {
        Self::block_on(reply)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        smol::block_on(future)
    }

    fn abandonable<T: Send + 'static>(
        start: impl FnOnce(mcp_driver::Options) -> Reply<Self, T, CallError> + Send + 'static,
    ) -> Box<dyn FnOnce()> {
        let reply = start(mcp_driver::Options::new());
        Box::new(|| drop(reply))
    }
}

pub struct OnBlocking;

impl Kit for OnBlocking {
    type Runtime = mcp_blocking::Threads;
    const NAME: &'static str = "blocking";

    fn enter() -> Box<dyn Any> {
        Box::new(())
    }

    fn wait<T: Send + 'static, E: Send + 'static>(reply: Reply<Self, T, E>) -> Result<T, E> {
        reply
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        mcp_driver::block_on(future)
    }

    fn abandonable<T: Send + 'static>(
        start: impl FnOnce(mcp_driver::Options) -> Reply<Self, T, CallError> + Send + 'static,
    ) -> Box<dyn FnOnce()> {
        let canceller = mcp_driver::Canceller::new();
        let options = mcp_driver::Options::new().cancelled_by(&canceller);
        let call = background::<Self, _>(move || start(options).map(drop));
        Box::new(move || {
            canceller.cancel();
            // The server may have asked for something before.
            assert_eq!(call.join().unwrap_err().cause(), &CallError::Cancelled);
        })
    }
}

/// A runtime whose servers are futures, so that they can be dropped.
pub trait AsyncKit: Kit<Runtime: Runtime<Mode = mcp_driver::Async>> {
    /// Serves until the gate is open, then drops the server.
    fn serve_until(server: Server<Self>, stream: <Self::Runtime as Runtime>::Stream, gate: &Gate)
    where
        Self: Sized,
    {
        Self::block_on(until(server.serve_stream(stream), gate));
    }
}

impl<K: Kit<Runtime: Runtime<Mode = mcp_driver::Async>>> AsyncKit for K {}

/// Polls what serves until the gate is open, then drops it.
async fn until(mut serving: mcp_driver::Running<(), mcp_driver::Error>, gate: &Gate) {
    let mut opened = std::pin::pin!(gate.wait());
    std::future::poll_fn(|cx| {
        assert!(std::pin::Pin::new(&mut serving).poll(cx).is_pending(), "it serves");
        opened.as_mut().poll(cx)
    })
    .await;
}

/// Something that waits on a thread of its own.
pub struct Background<T>(mpsc::Receiver<T>);

impl<T> Background<T> {
    /// Its result, which must come within the deadline.
    #[track_caller]
    pub fn join(self) -> T {
        self.0.recv_timeout(DEADLINE).expect("the thread is stuck, or has panicked")
    }

    /// Its result, if it is there already.
    pub fn peek(&self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

/// Runs on another thread of the runtime.
pub fn background<K: Kit, T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Background<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let _entered = K::enter();
        // Nobody listens any more: the test has failed by now.
        let _ = sender.send(run());
    });
    Background(receiver)
}
