//! Peers that let a client wait before there is a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use mcp_driver::auth::{Authorize, Config};
use mcp_driver::{ClientBuilder, EraChoice, Limits, Proxy};

use super::{ERAS, builder, calling};
use crate::kit::Kit;
use crate::support::{DEADLINE, Events, within};

/// A listener that takes no connection any more: what asks for one is not answered.
struct Full {
    address: SocketAddr,
    /// They fill its queue.
    _waiting: Vec<TcpStream>,
    _listener: TcpListener,
}

/// More than any system makes of a queue of none.
const QUEUE: usize = 64;

impl Full {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A queue as short as can be.
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let knock = |_| TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
        let waiting: Vec<_> = (0..QUEUE).map_while(knock).collect();
        assert!(waiting.len() < QUEUE, "the queue of the system takes whoever comes");
        Self { address, _waiting: waiting, _listener: listener }
    }
}

fn impatient<K: Kit>(era: EraChoice, patience: u64) -> ClientBuilder<K::Runtime> {
    let mut limits = Limits::default();
    limits.handshake = Duration::from_secs(patience);
    limits.retries = 0;
    builder::<K>(era).limits(limits).proxy(Proxy::none())
}

/// A server that does not take a connection is given up in `Limits::handshake`, and named.
pub fn a_server_that_takes_no_connection_is_given_up<K: Kit>(_: &str) {
    let full = Full::new();
    for era in ERAS {
        let url = format!("http://{}/mcp", full.address);
        let error =
            within(DEADLINE / 2, || K::wait(impatient::<K>(era, 1).http(url)).unwrap_err().to_string());
        let (port, bound) = (full.address.port().to_string(), "no answer within 1s");
        assert!(error.contains("127.0.0.1") && error.contains(&port) && error.contains(bound), "{error}");
    }
}

const DISCOVERED: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;

fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// A server that refuses everybody for want of a token, which `issuer` has; `open` to those who only want to know it.
fn refusing(issuer: SocketAddr, open: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{origin}/mcp");
    let metadata =
        response("200 OK", &format!(r#"{{"resource":"{url}","authorization_servers":["http://{issuer}"]}}"#));
    let challenge = format!("WWW-Authenticate: Bearer resource_metadata=\"{origin}/metadata\"\r\n");
    let refused = response(&format!("401 Unauthorized\r\n{}", challenge.trim_end()), "");
    let serve = move |socket: TcpStream| {
        let mut reader = BufReader::new(socket);
        let lines = reader.by_ref().lines().map_while(Result::ok);
        let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
        let answer = match head.first() {
            Some(line) if line.starts_with("GET /metadata ") => &metadata,
            _ if open && head.iter().any(|line| line == "Mcp-Method: server/discover") => {
                &response("200 OK", DISCOVERED)
            }
            _ => &refused,
        };
        let _ = reader.get_mut().write_all(answer.as_bytes());
        // What it has not read would have the connection reset, and the answer lost.
        let _ = reader.get_mut().shutdown(Shutdown::Write);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    };
    thread::spawn(move || {
        // None waits for another client to hang up.
        thread::scope(|scope| {
            for socket in listener.incoming().map_while(Result::ok) {
                scope.spawn(|| serve(socket));
            }
        });
    });
    url
}

/// So is an authorization server, or whoever else a flow leads to.
pub fn a_flow_gives_up_whoever_takes_no_connection<K: Kit>(_: &str) {
    let full = Full::new();
    let url = refusing(full.address, false);
    // The system takes connections to the server by itself, so that this bounds nothing else that others do.
    let client = impatient::<K>(EraChoice::Modern, 3).authorize(Authorize::new(Config::new("Spokes")));
    let error = within(DEADLINE / 2, || K::wait(client.http(url)).unwrap_err().to_string());
    let place = format!("cannot connect to 127.0.0.1, port {}", full.address.port());
    assert!(error.contains(&place) && error.contains("no answer within 3s"), "{error}");
}

/// What a flow asks for ends with the flow, here with its client: a server that takes requests and does not answer them is
/// hung up on.
pub fn a_flow_that_is_over_asks_nobody_any_more<K: Kit>(_: &str) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = refusing(silent.local_addr().unwrap(), true);
    let (tell, events) = Events::new();
    thread::spawn(move || {
        let (socket, _) = silent.accept().unwrap();
        let mut reader = BufReader::new(socket);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        tell.tell(format!("asked {line}"));
        let _ = reader.read_to_string(&mut line);
        tell.tell("closed");
    });
    let mut limits = Limits::default();
    // Nothing else ends a request or a flow while anybody waits here.
    (limits.request, limits.authorization) = (DEADLINE * 2, DEADLINE * 2);
    let client = builder::<K>(EraChoice::Modern).limits(limits).proxy(Proxy::none());
    let client = K::wait(client.authorize(Authorize::new(Config::new("Spokes"))).http(url)).unwrap();
    let call = calling::<K>(&client, "who");
    events.expect("asked GET /.well-known/");
    K::wait(client.close()).unwrap();
    events.expect("closed");
    assert!(call.join().is_err());
}
