//! A listening socket whose accepting thread can be told to stop.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_driver::WakerSlot;

/// Accepts on a thread of its own, so that whoever waits for a connection can wait for other things too.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    /// Gone once the listener is to stop.
    accepted: Mutex<Option<Receiver<io::Result<TcpStream>>>>,
    waker: Arc<WakerSlot>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// At the most `queue` connections wait to be taken; more wait in the operating system.
    pub(crate) fn bind(address: &str, queue: usize) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (sender, accepted) = sync_channel(queue);
        let (accepted, waker) = (Mutex::new(Some(accepted)), Arc::<WakerSlot>::default());
        let wakes = waker.clone();
        let thread = thread::Builder::new().name("mcp-accept".into());
        let thread = Some(thread.spawn(move || accept(&listener, &sender, &wakes))?);
        Ok(Self { address, accepted, waker, thread })
    }

    pub(crate) fn local_address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn poll_accept(&self, waker: &Waker) -> Poll<io::Result<TcpStream>> {
        self.waker.register(waker);
        let accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(accepted) = accepted.as_ref() else { return Poll::Pending };
        // Failures that were noted one after the other are one: whoever hears of them waits before the next try.
        let (mut waiting, mut failed) = (accepted.try_iter(), None);
        match waiting.find_map(|next| next.map_err(|error| failed = Some(error)).ok()) {
            Some(stream) => Poll::Ready(Ok(stream)),
            None => failed.map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        }
    }
}

/// Runs until nobody takes the connections any more.
fn accept(listener: &TcpListener, sender: &SyncSender<io::Result<TcpStream>>, waker: &WakerSlot) {
    while sender.send(listener.accept().map(|(socket, _)| socket)).is_ok() {
        waker.wake();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        *self.accepted.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        // The thread sits in `accept`; a connection of our own makes it look up. A bound wildcard address is
        // reached through loopback.
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        let knocked = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        if let (Ok(_), Some(thread)) = (knocked, self.thread.take()) {
            // So that the port is free again. The thread does nothing that panics.
            let _ = thread.join();
        }
    }
}
