//! Where the hosts that peers name really are.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use mcp_proto::auth::{Network, Url};

use crate::runtime::Runtime;
use crate::wake::Promise;

/// The addresses of a host that a peer has named, without those of networks that the server is not on itself: a name
/// may stand for any of them (SEC-03). An error if there are no others.
pub(in crate::client) async fn addresses<R: Runtime>(
    runtime: &R,
    url: &Url,
    server: &Url,
) -> Result<Vec<IpAddr>, String> {
    let found = resolve(runtime, url).await?;
    let mut known = vec![Network::Public];
    if found.iter().any(|address| Network::of(*address) != Network::Public) {
        let own = resolve(runtime, server).await.unwrap_or_default();
        known.extend(own.into_iter().map(Network::of).filter(|network| *network != Network::Unusable));
    }
    let allowed = permitted(found, &known);
    if allowed.is_empty() {
        return Err(format!("{} stands for addresses of another network than the server's", url.host()));
    }
    Ok(allowed)
}

fn permitted(addresses: Vec<IpAddr>, known: &[Network]) -> Vec<IpAddr> {
    addresses.into_iter().filter(|address| known.contains(&Network::of(*address))).collect()
}

/// Asks the operating system, on a thread that may block.
async fn resolve<R: Runtime>(runtime: &R, url: &Url) -> Result<Vec<IpAddr>, String> {
    let promise = Promise::default();
    let (done, host, port) = (promise.clone(), url.host().to_owned(), url.port());
    let job = Box::new(move || {
        let found = (host.as_str(), port).to_socket_addrs();
        done.set(found.map(|found| found.map(|address: SocketAddr| address.ip()).collect()));
    });
    if runtime.spawn_blocking(job).is_err() {
        return Err("too many jobs that block; `Limits::blocking_jobs` is the bound".to_owned());
    }
    let found: io::Result<Vec<IpAddr>> = poll_fn(|cx| promise.poll_take(cx.waker())).await;
    found.map_err(|error| format!("cannot look up {}: {error}", url.host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-03: a name that stands for an address of another network leads nowhere.
    #[test]
    fn addresses_of_other_networks_are_left_out() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let all = ["93.184.216.34", "10.0.0.1", "127.0.0.1", "::1", "169.254.169.254", "fd00::1", "0.0.0.0"];
        let all: Vec<IpAddr> = all.into_iter().map(address).collect();
        let public = permitted(all.clone(), &[Network::Public]);
        assert_eq!(public, [address("93.184.216.34")]);
        let local = permitted(all, &[Network::Public, Network::Loopback]);
        assert_eq!(local, [address("93.184.216.34"), address("127.0.0.1"), address("::1")]);
    }
}
