//! Peers that let a client wait before there is a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use mcp_driver::auth::{Authorize, Config};
use mcp_driver::{ClientBuilder, EraChoice, Limits, Proxy};

use super::{ERAS, builder};
use crate::kit::{Kit, background};
use crate::support::{DEADLINE, Events, within};

/// A listener that takes no connection any more: what asks for one is not answered.
struct Full {
    address: SocketAddr,
    /// They fill its queue.
    _waiting: Vec<TcpStream>,
    _listener: TcpListener,
}

impl Full {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A queue as short as can be.
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let knock = || TcpStream::connect_timeout(&address, Duration::from_millis(200));
        let waiting = std::iter::from_fn(|| knock().ok()).collect();
        Self { address, _waiting: waiting, _listener: listener }
    }
}

fn impatient<K: Kit>(era: EraChoice) -> ClientBuilder<K::Runtime> {
    let mut limits = Limits::default();
    // Others do take connections, and a busy machine has to get round to that.
    limits.handshake = Duration::from_secs(1);
    limits.retries = 0;
    builder::<K>(era).limits(limits).proxy(Proxy::none())
}

/// A server that does not take a connection is given up in `Limits::handshake`, and named.
pub fn a_server_that_takes_no_connection_is_given_up<K: Kit>(_: &str) {
    let full = Full::new();
    for era in ERAS {
        let url = format!("http://{}/mcp", full.address);
        let error = within(DEADLINE / 2, || K::wait(impatient::<K>(era).http(url)).unwrap_err().to_string());
        let (port, bound) = (full.address.port().to_string(), "no answer within 1s");
        assert!(error.contains("127.0.0.1") && error.contains(&port) && error.contains(bound), "{error}");
    }
}

/// A server that refuses everybody for want of a token, which `issuer` has.
fn refusing(issuer: SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{origin}/mcp");
    let metadata = format!(r#"{{"resource":"{url}","authorization_servers":["http://{issuer}"]}}"#);
    let granted = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{metadata}",
        metadata.len()
    );
    let refused = format!(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer resource_metadata=\"{origin}/metadata\"\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let mut begin = [0; 4096];
            let count = socket.read(&mut begin).unwrap_or(0);
            let is_metadata = begin[..count].starts_with(b"GET /metadata ");
            let _ = socket.write_all((if is_metadata { &granted } else { &refused }).as_bytes());
        }
    });
    url
}

/// So is an authorization server, or whoever else a flow leads to.
pub fn a_flow_gives_up_whoever_takes_no_connection<K: Kit>(_: &str) {
    let full = Full::new();
    let url = refusing(full.address);
    let client = impatient::<K>(EraChoice::Modern).authorize(Authorize::new(Config::new("Spokes")));
    let error = within(DEADLINE / 2, || K::wait(client.http(url)).unwrap_err().to_string());
    let place = format!("cannot connect to 127.0.0.1, port {}", full.address.port());
    assert!(error.contains(&place) && error.contains("no answer within 1s"), "{error}");
}

/// What a flow asks for ends with the flow: a server that takes requests and does not answer them is hung up on.
pub fn a_flow_that_is_over_asks_nobody_any_more<K: Kit>(_: &str) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = refusing(silent.local_addr().unwrap());
    let (tell, events) = Events::new();
    thread::spawn(move || {
        let (mut socket, _) = silent.accept().unwrap();
        let mut seen = Vec::new();
        let _ = socket.read_to_end(&mut seen);
        tell.tell(format!("closed after {}", String::from_utf8_lossy(&seen)));
    });
    let mut limits = Limits::default();
    // By then it has asked, on a busy machine as well.
    limits.authorization = Duration::from_secs(4);
    // It would be the end of the request as well, a minute later than anybody waits here.
    limits.request = DEADLINE * 2;
    let client = builder::<K>(EraChoice::Modern).limits(limits).proxy(Proxy::none());
    let client = client.authorize(Authorize::new(Config::new("Spokes")));
    let connecting = background::<K, _>(move || K::wait(client.http(url)).map(drop));
    events.expect("closed after GET /.well-known/");
    drop(connecting);
}
