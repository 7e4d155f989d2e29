//! Where the hosts that peers name really are.

use std::net::SocketAddr;

use mcp_proto::auth::{Network, Url};

use crate::client::http::Patience;
use crate::runtime::Runtime;

/// The addresses of a host that a peer has named, without those of networks that the server is not on itself: a name
/// may stand for any of them (SEC-03). An error if there are no others.
pub(in crate::client) async fn permitted<R: Runtime>(
    runtime: &R,
    patience: Patience,
    url: &Url,
    server: &Url,
) -> Result<Vec<SocketAddr>, String> {
    let found = patience.look_up(runtime, url.host(), url.port()).await?;
    let mut known = vec![Network::Public];
    if found.iter().any(|address| Network::of(address.ip()) != Network::Public) {
        let own = patience.look_up(runtime, server.host(), server.port()).await.unwrap_or_default();
        let own = own.into_iter().map(|address| Network::of(address.ip()));
        known.extend(own.filter(|network| *network != Network::Unusable));
    }
    let allowed = within(found, &known);
    if allowed.is_empty() {
        return Err(format!("{} stands for addresses of another network than the server's", url.host()));
    }
    Ok(allowed)
}

fn within(addresses: Vec<SocketAddr>, known: &[Network]) -> Vec<SocketAddr> {
    addresses.into_iter().filter(|address| known.contains(&Network::of(address.ip()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-03: a name that stands for an address of another network leads nowhere.
    #[test]
    fn addresses_of_other_networks_are_left_out() {
        let address = |text: &str| SocketAddr::new(text.parse().unwrap(), 443);
        let all = ["93.184.216.34", "10.0.0.1", "127.0.0.1", "::1", "169.254.169.254", "fd00::1", "0.0.0.0"];
        let all: Vec<SocketAddr> = all.into_iter().map(address).collect();
        let public = within(all.clone(), &[Network::Public]);
        assert_eq!(public, [address("93.184.216.34")]);
        let local = within(all, &[Network::Public, Network::Loopback]);
        assert_eq!(local, [address("93.184.216.34"), address("127.0.0.1"), address("::1")]);
    }
}
