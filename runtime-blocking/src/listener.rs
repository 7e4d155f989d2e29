//! A listening socket whose accepting thread can be told to stop.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Accepts on a thread of its own, so that whoever waits for a connection can wait for other things too.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    room: Condvar,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    accepted: VecDeque<io::Result<TcpStream>>,
    waker: Option<Waker>,
}

/// Connections that may wait to be taken; more wait in the operating system.
const WAITING: usize = 128;

impl Listener {
    pub(crate) fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = shared.clone();
        let thread = thread::Builder::new().name("mcp-accept".into());
        let thread = Some(thread.spawn(move || accepting.accept(&listener))?);
        Ok(Self { address, shared, thread })
    }

    pub(crate) fn local_address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        match queue.accepted.pop_front() {
            Some(accepted) => {
                self.shared.room.notify_one();
                Poll::Ready(accepted)
            }
            None => {
                queue.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Shared {
    fn accept(&self, listener: &TcpListener) {
        while !self.stopped.load(Ordering::SeqCst) {
            let accepted = listener.accept().map(|(socket, _)| socket);
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.accepted.push_back(accepted);
            let waker = queue.waker.take();
            drop(queue);
            if let Some(waker) = waker {
                waker.wake();
            }
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let full =
                |queue: &mut Queue| queue.accepted.len() >= WAITING && !self.stopped.load(Ordering::SeqCst);
            drop(self.room.wait_while(queue, full));
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        {
            let _queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
            self.shared.stopped.store(true, Ordering::SeqCst);
            self.shared.room.notify_one();
        }
        // The thread sits in `accept`; a connection of our own makes it look up. A bound wildcard address is
        // reached through loopback.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            match address.ip() {
                std::net::IpAddr::V4(_) => address.set_ip(std::net::Ipv4Addr::LOCALHOST.into()),
                std::net::IpAddr::V6(_) => address.set_ip(std::net::Ipv6Addr::LOCALHOST.into()),
            }
        }
        let knocked = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        if let (Ok(_), Some(thread)) = (knocked, self.thread.take()) {
            // So that the port is free again. The thread does nothing that panics.
            let _ = thread.join();
        }
    }
}
