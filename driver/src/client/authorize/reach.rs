//! Where the hosts that peers name really are.

use std::net::{IpAddr, SocketAddr};

use mcp_proto::auth::{Network, Url};

use crate::client::http::Patience;
use crate::runtime::Runtime;

/// The networks on which hosts that a peer has named may be: the public one, and that of the server. Where the server is is
/// told by its URL, if that has an address in it, and by the connection that there is to it: its name may stand for other
/// addresses as well, of machines that it has no business with (SEC-03).
pub(in crate::client) fn known(server: &Url, arrived: Option<IpAddr>) -> Vec<Network> {
    let own = [Some(server.network()), arrived.map(Network::of)];
    let own = own.into_iter().flatten().filter(|network| *network != Network::Unusable);
    [Network::Public].into_iter().chain(own).collect()
}

/// The addresses of a host that a peer has named, without those of other networks: a name may stand for any of them
/// (SEC-03). An error if there are no others.
pub(in crate::client) async fn permitted<R: Runtime>(
    runtime: &R,
    patience: &Patience,
    url: &Url,
    known: &[Network],
) -> Result<Vec<SocketAddr>, String> {
    let found = patience.look_up(runtime, url.host(), url.port()).await?;
    let allowed = within(found, known);
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

    /// SEC-03: a server is where the client is connected to, whatever else its name stands for.
    #[test]
    fn a_server_opens_the_network_that_it_is_on() {
        use Network::{Loopback, Private, Public};
        for (server, arrived, expected) in [
            ("https://h.example", None, &[Public][..]),
            ("https://h.example", Some("93.184.216.34"), &[Public]),
            ("https://h.example", Some("10.0.0.5"), &[Public, Private]),
            ("https://h.example", Some("0.0.0.0"), &[Public]),
            ("http://localhost:1", None, &[Public, Loopback]),
            ("http://127.0.0.1:1", Some("127.0.0.1"), &[Public, Loopback]),
            ("https://10.0.0.5", None, &[Public, Private]),
        ] {
            let mut found = known(&Url::parse(server).unwrap(), arrived.map(|text| text.parse().unwrap()));
            found.sort();
            found.dedup();
            assert_eq!(found, expected, "{server} at {arrived:?}");
        }
    }

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
