//! How the pump behaves towards the others on its thread.

use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_driver::proto::head::End;
use mcp_driver::{ByteStream, Endpoint, Instant, Now, Status, pump, waker_fn};
#[cfg(unix)]
use smol::{Async, LocalExecutor};

/// A stream that always has more to read.
struct Flood;

impl ByteStream for Flood {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buffer.len()))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Takes whatever comes, up to far more than anybody should hand it in one turn, and has a deadline that is over.
#[derive(Default)]
struct Sink {
    taken: AtomicUsize,
    timeouts: AtomicUsize,
}

const MOST: usize = 1 << 30;

impl Endpoint for Sink {
    fn handle_bytes(&self, _: Now, bytes: &[u8]) {
        self.taken.fetch_add(bytes.len(), Ordering::Relaxed);
    }

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, _: Now) {
        self.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let finished = self.taken.load(Ordering::Relaxed) > MOST;
        Status { timeout: Some(Instant::default()), wants_read: true, write_closed: false, finished }
    }

    fn register(&self, _: &Waker) {}
}

/// A peer that sends without end keeps the thread from nobody: timers of calls among them. Nor does it keep its own
/// deadlines from being found.
#[test]
fn a_flood_lets_others_have_their_turn() {
    let sink = Arc::new(Sink::default());
    let (wake, woken) = mpsc::channel();
    let waker = waker_fn(move || {
        // The test may be over by then.
        let _ = wake.send(());
    });
    let mut pumping = pin!(pump(mcp_smol::Smol::default(), Flood, sink.clone()));
    for turn in 1..=3 {
        assert!(pumping.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(sink.timeouts.load(Ordering::Relaxed) >= turn);
        woken.recv_timeout(Duration::from_secs(60)).expect("it asks to go on");
    }
    let taken = sink.taken.load(Ordering::Relaxed);
    assert!((1 << 16..16 << 20).contains(&taken), "{taken}");
}

/// On smol, whose executor runs what is woken again and again before it looks for streams, others that wait for theirs
/// are found nevertheless.
#[cfg(unix)]
#[test]
fn a_flood_lets_smol_look_for_others() {
    let (ours, theirs) = Async::<UnixStream>::pair().unwrap();
    theirs.get_ref().write_all(b"x").unwrap();
    let (executor, sink) = (LocalExecutor::new(), Arc::new(Sink::default()));
    executor.spawn(pump(mcp_smol::Smol::default(), Flood, sink.clone())).detach();
    smol::block_on(executor.run(ours.readable())).unwrap();
    // What is read in one turn is 256 KiB, and two hundred turns would be 50 MiB.
    let taken = sink.taken.load(Ordering::Relaxed);
    assert!(taken < 10 << 20, "{taken}");
}
