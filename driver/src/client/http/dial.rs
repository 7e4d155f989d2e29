//! How a stream to a host comes about: its name is looked up and its addresses are tried, each for a bounded time.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_proto::limits::Limits;
use mcp_proto::time::Instant;

use crate::jobs::Jobs;
use crate::runtime::Runtime;
use crate::wake::Promise;

/// How patient whoever opens connections is.
#[derive(Clone)]
pub(in crate::client) struct Patience {
    /// For looking up a name, and again for connecting to what it stands for.
    time: Duration,
    addresses: usize,
    /// Look-ups of this client, which may go on when nobody waits any more.
    lookups: Jobs,
}

impl Patience {
    pub(in crate::client) fn new(limits: &Limits, lookups: Jobs) -> Self {
        Self { time: limits.handshake, addresses: limits.addresses, lookups }
    }

    /// What a host stands for. The operating system is asked on a thread that may block, and goes on there when nobody
    /// waits any more: it cannot be told to stop.
    pub(in crate::client) async fn look_up<R: Runtime>(
        &self,
        runtime: &R,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, String> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let (promise, wanted) = (Promise::default(), Arc::new(()));
        let (done, name, still_wanted) = (promise.clone(), host.to_owned(), Arc::downgrade(&wanted));
        let job = Box::new(move || {
            // It may have waited for a thread longer than anybody for it.
            if still_wanted.strong_count() == 0 {
                return;
            }
            let found = (name.as_str(), port).to_socket_addrs();
            done.set(found.map(Iterator::collect));
        });
        if !self.lookups.run(job, |job| runtime.spawn_blocking(job)) {
            return Err(format!(
                "cannot look up {host}: there is no thread for it, or more than `Limits::blocking_jobs` wait"
            ));
        }
        let found: Option<io::Result<Vec<SocketAddr>>> =
            within(runtime, self.time, poll_fn(|cx| promise.poll_take(cx.waker()))).await;
        drop(wanted);
        match found {
            Some(found) => found.map_err(|error| format!("cannot look up {host}: {error}")),
            None => Err(format!("cannot look up {host}: no answer within {:?}", self.time)),
        }
    }

    /// Connects to the first address that answers, and says which one that is; else why the last one did not.
    pub(in crate::client) async fn connect<R: Runtime>(
        &self,
        runtime: &R,
        addresses: &[SocketAddr],
    ) -> Result<(SocketAddr, R::Stream), (Option<IpAddr>, String)> {
        let why = match self.addresses {
            0 => "no address may be tried; `Limits::addresses` is 0",
            _ => "its name stands for no address",
        };
        let mut failed = (None, why.to_owned());
        let mut now = runtime.now().mono;
        let mut turns = self.turns(addresses, now);
        while let Some((address, share)) = turns.next(now) {
            let why = match within(runtime, share, runtime.connect(address, share)).await {
                Some(Ok(stream)) => return Ok((address, stream)),
                Some(Err(error)) if !is_late(&error) => error.to_string(),
                _ => format!("no answer within {share:?}"),
            };
            failed = (Some(address.ip()), why);
            now = runtime.now().mono;
        }
        Err(failed)
    }

    fn turns<'a>(&self, addresses: &'a [SocketAddr], now: Instant) -> Turns<'a> {
        Turns { left: addresses.get(..self.addresses).unwrap_or(addresses), deadline: now + self.time }
    }
}

/// Addresses that have not been tried yet.
struct Turns<'a> {
    left: &'a [SocketAddr],
    deadline: Instant,
}

impl Turns<'_> {
    /// The next address, and its share of the time that is left: an equal one.
    fn next(&mut self, now: Instant) -> Option<(SocketAddr, Duration)> {
        let sharing = u32::try_from(self.left.len()).unwrap_or(u32::MAX);
        let (address, left) = self.left.split_first()?;
        self.left = left;
        // What blocks has to end by itself, and takes a time of zero for a mistake.
        let share = self.deadline.saturating_since(now) / sharing.max(1);
        Some((*address, share.max(Duration::from_millis(1))))
    }
}

/// Whether the time that was given is over, and not that of the operating system.
fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_none()
}

/// Waits for something so long at most.
pub(in crate::client) async fn within<R: Runtime, T>(
    runtime: &R,
    time: Duration,
    waited: impl Future<Output = T>,
) -> Option<T> {
    let mut late = runtime.sleep_until(runtime.now().mono + time);
    let mut waited = pin!(waited);
    poll_fn(|cx| match waited.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => late.as_mut().poll(cx).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses past `Limits::addresses` are not tried, and one that does not answer leaves time for the others.
    #[test]
    fn addresses_share_the_time() {
        let mut limits = Limits::default();
        (limits.handshake, limits.addresses) = (Duration::from_secs(12), 3);
        let all: Vec<SocketAddr> = (1..=4).map(|port| ([192, 0, 2, 1], port).into()).collect();
        let at = |seconds| Instant::new(Duration::from_secs(seconds));
        let patience = Patience::new(&limits, Jobs::default());
        let mut turns = patience.turns(&all, at(100));
        let mut next = |seconds| turns.next(at(seconds)).map(|(address, share)| (address.port(), share));
        assert_eq!(next(100), Some((1, Duration::from_secs(4))));
        assert_eq!(next(100), Some((2, Duration::from_secs(6))), "it was refused at once");
        assert_eq!(next(500), Some((3, Duration::from_millis(1))), "the clock has leapt");
        assert_eq!(next(100), None);
        assert_eq!(patience.turns(&all[..1], at(0)).next(at(0)).unwrap().1, limits.handshake);
    }
}
