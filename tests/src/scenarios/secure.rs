//! TLS and proxies between a client and its server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_driver::auth::{Authorize, Config};
use mcp_driver::{Calls, ClientBuilder, EraChoice, Error, Limits, Options, Proxy, Tls};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use serde_json::json;

use super::authorize::protected_at;
use super::{ERAS, Host, builder, call, host, hosted};
use crate::authorization_server::{AuthorizationServer, browse};
use crate::kit::{Client, Kit, Server};
use crate::rig;
use crate::support::{Events, Gate, Port};

/// Takes TLS off what goes to a server.
struct Front {
    port: u16,
    /// The certificate, which signs itself.
    root: String,
    /// The name that clients ask for, and the protocol.
    asked: Events,
}

impl Front {
    fn start(name: &str, backend: u16) -> Self {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config =
            config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, asked) = Events::new();
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let session = Arc::new(Mutex::new(ServerConnection::new(config.clone()).unwrap()));
                let backend = TcpStream::connect(("127.0.0.1", backend)).unwrap();
                let tell = tell.clone();
                thread::spawn(move || {
                    let (to, from) = (backend.try_clone().unwrap(), backend);
                    let out = socket.try_clone().unwrap();
                    let shared = session.clone();
                    thread::spawn(move || encrypt(from, &shared, out));
                    let mut told = false;
                    decrypt(socket, &session, to, |session| {
                        if !std::mem::replace(&mut told, true) {
                            let protocol =
                                String::from_utf8_lossy(session.alpn_protocol().unwrap_or_default())
                                    .into_owned();
                            tell.tell(format!("{:?} {protocol}", session.server_name().unwrap_or_default()));
                        }
                    });
                });
            }
        });
        Self { port, root: cert.pem(), asked }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/mcp", self.port)
    }

    fn trusted(&self) -> Tls {
        Tls::new().only_these().trust(&self.root).unwrap()
    }
}

/// From the server to the client.
fn encrypt(mut from: TcpStream, session: &Mutex<ServerConnection>, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        let mut session = session.lock().unwrap();
        if count == 0 {
            session.send_close_notify();
        }
        session.writer().write_all(&buffer[..count]).unwrap();
        while session.wants_write() {
            if session.write_tls(&mut to).is_err() {
                return;
            }
        }
        if count == 0 {
            let _ = to.shutdown(std::net::Shutdown::Write);
            return;
        }
    }
}

/// From the client to the server.
fn decrypt(
    mut from: TcpStream,
    session: &Mutex<ServerConnection>,
    mut to: TcpStream,
    mut open: impl FnMut(&ServerConnection),
) {
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        let mut session = session.lock().unwrap();
        let mut bytes = &buffer[..count];
        let mut plain = Vec::new();
        let mut over = count == 0;
        while !bytes.is_empty() && !over {
            session.read_tls(&mut bytes).unwrap();
            match session.process_new_packets() {
                Ok(state) => over = state.peer_has_closed(),
                Err(_) => over = true,
            }
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = session.reader().read(&mut part) {
                plain.extend_from_slice(&part[..count]);
            }
        }
        while session.wants_write() {
            let _ = session.write_tls(&mut from);
        }
        if !session.is_handshaking() {
            open(&session);
        }
        drop(session);
        if to.write_all(&plain).is_err() || over {
            let _ = to.shutdown(std::net::Shutdown::Write);
            return;
        }
    }
}

fn port<K: Kit>(host: &Host<K>) -> u16 {
    host.url.rsplit_once(':').unwrap().1.trim_end_matches("/mcp").parse().unwrap()
}

fn direct<K: Kit>(era: mcp_driver::EraChoice) -> ClientBuilder<K::Runtime> {
    builder::<K>(era).proxy(Proxy::none())
}

fn works<K: Kit>(client: &Client<K>) {
    let long = "x".repeat(300_000);
    assert_eq!(call::<K>(client, "echo", json!({ "text": &long })).unwrap().text(), long);
    let (tell, heard) = Events::new();
    let options = Options::new().on_progress(move |progress| tell.tell(progress.progress.to_string()));
    assert_eq!(K::wait(client.call_tool_with("steps", json!({}), options)).unwrap().text(), "done");
    heard.expect("1");
}

/// Everything that is done over HTTP is done over TLS: long messages, event streams, sessions. The server is asked for by
/// its name.
pub fn servers_are_reached_over_tls<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    host.gate.open();
    let front = Front::start("localhost", port(&host));
    for era in ERAS {
        let client = K::wait(direct::<K>(era).tls(front.trusted()).http(front.url())).unwrap();
        front.asked.expect("\"localhost\" http/1.1");
        works::<K>(&client);
        K::wait(client.close()).unwrap();
    }
    host.end();
}

fn refusal<K: Kit>(builder: ClientBuilder<K::Runtime>, url: &str) -> String {
    let refused = K::wait(builder.http(url)).unwrap_err();
    assert!(matches!(refused, Error::Call(_)), "{refused}");
    refused.to_string()
}

/// A server that cannot show who it is is not spoken to, and the error says which and why.
pub fn a_server_must_show_who_it_is<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let front = Front::start("localhost", port(&host));
    let other = Front::start("other.example", port(&host));
    let unknown = refusal::<K>(direct::<K>(ERAS[0]).tls(other.trusted()), &front.url());
    assert!(unknown.contains("localhost") && unknown.contains("invalid peer certificate"), "{unknown}");
    let misnamed = refusal::<K>(direct::<K>(ERAS[0]).tls(other.trusted()), &other.url());
    assert!(misnamed.contains("localhost") && misnamed.contains("not valid for name"), "{misnamed}");
    let plain = host.url.replace("http://127.0.0.1", "https://localhost");
    let plain = refusal::<K>(direct::<K>(ERAS[0]).tls(front.trusted()), &plain);
    assert!(plain.contains("no TLS connection to localhost"), "{plain}");
    host.end();
}

/// A server that accepts and says nothing is given up, and one that hangs up is as well.
pub fn a_handshake_ends_in_time<K: Kit>(_: &str) {
    let front = Front::start("localhost", 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    let mut limits = Limits::default();
    limits.handshake = Duration::from_millis(100);
    let silent = refusal::<K>(direct::<K>(ERAS[0]).tls(front.trusted()).limits(limits), &url);
    assert!(silent.contains("the handshake took longer than 100ms"), "{silent}");
    drop(thread::spawn(move || listener.incoming().for_each(drop)));
    let gone = refusal::<K>(direct::<K>(ERAS[0]).tls(front.trusted()), &url);
    assert!(gone.contains("handshake"), "{gone}");
}

/// A host that nobody else knows.
const HERE: &str = "server.test";

/// A proxy that makes tunnels, or answers with a status; and what it was asked.
fn proxy(status: Option<u16>) -> (u16, Events) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, asked) = Events::new();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let tell = tell.clone();
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).is_ok_and(|count| count > 0) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                tell.tell(&head);
                if let Some(status) = status {
                    let answer =
                        format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                    let _ = socket.write_all(answer.as_bytes());
                    return;
                }
                // One name is known here alone.
                let place = head.split(' ').nth(1).unwrap_or_default().replace(HERE, "127.0.0.1");
                let server = TcpStream::connect(&place).unwrap();
                socket.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n").unwrap();
                let (mut up, mut down) = (server.try_clone().unwrap(), server);
                let mut back = socket.try_clone().unwrap();
                thread::spawn(move || {
                    let _ = std::io::copy(&mut down, &mut back);
                    let _ = back.shutdown(std::net::Shutdown::Write);
                });
                let _ = std::io::copy(&mut socket, &mut up);
                let _ = up.shutdown(std::net::Shutdown::Write);
            });
        }
    });
    (port, asked)
}

/// An `https` server is reached through a tunnel, and a proxy that makes none is named with its status, never with the
/// credentials for it.
pub fn a_proxy_makes_a_tunnel<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    host.gate.open();
    let front = Front::start("localhost", port(&host));
    let through = |port: u16| {
        let proxy = Proxy::at(&format!("http://user:s3cret@127.0.0.1:{port}")).unwrap();
        builder::<K>(ERAS[0]).tls(front.trusted()).proxy(proxy)
    };
    let (place, asked) = proxy(None);
    let client = K::wait(through(place).http(front.url())).unwrap();
    let head = asked.expect("CONNECT");
    assert!(head.starts_with(&format!("CONNECT localhost:{} HTTP/1.1\r\n", front.port)), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpzM2NyZXQ=\r\n"), "{head}");
    works::<K>(&client);
    K::wait(client.close()).unwrap();
    for status in [407, 502] {
        let (place, _asked) = proxy(Some(status));
        let refused = refusal::<K>(through(place), &front.url());
        assert!(refused.contains(&status.to_string()) && refused.contains("proxy 127.0.0.1"), "{refused}");
        assert!(!refused.contains("s3cret"), "{refused}");
    }
    host.end();
}

/// A client that is told nothing takes the proxy of its environment, and trusts whom the platform trusts; there that is a
/// file of the environment, too.
pub fn the_environment_has_proxy_and_roots<K: Kit>(program: &str) {
    let gate = Gate::default();
    let server: Server<K> = rig::server(|_| {}, &gate).allow_host(HERE);
    let host = hosted::<K>(server, gate, Events::new().1);
    let front = Front::start(HERE, port(&host));
    let (place, asked) = proxy(None);
    let roots = std::env::temp_dir().join(format!("mcp-roots-{}-{}", K::NAME, std::process::id()));
    std::fs::write(&roots, &front.root).unwrap();
    let url = format!("https://{HERE}:{}/mcp", front.port);
    let reached = |trusted: bool| {
        let mut client = std::process::Command::new(program);
        client.args([K::NAME, "--reach", &url]).env("HTTPS_PROXY", format!("http://127.0.0.1:{place}"));
        for name in ["https_proxy", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            client.env_remove(name);
        }
        if trusted {
            client.env("SSL_CERT_FILE", &roots);
        }
        client.output().unwrap()
    };
    let output = reached(true);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "reached\n");
    asked.expect(&format!("CONNECT {HERE}:{}", front.port));
    let output = reached(false);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && why.contains("certificate"), "{why}");
    std::fs::remove_file(&roots).unwrap();
    host.end();
}

/// Requests to an `http` server are given to the proxy itself, with the whole URL.
pub fn a_proxy_is_given_requests<K: Kit>(_: &str) {
    let (port, asked) = proxy(Some(403));
    let proxy = Proxy::at(&format!("http://user:s3cret@127.0.0.1:{port}")).unwrap();
    let refused = builder::<K>(ERAS[1]).proxy(proxy).http("http://server.invalid/mcp?x=1");
    assert!(K::wait(refused).is_err());
    let head = asked.expect("POST");
    assert!(
        head.starts_with("POST http://server.invalid/mcp?x=1 HTTP/1.1\r\nHost: server.invalid\r\n"),
        "{head}"
    );
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpzM2NyZXQ=\r\n"), "{head}");
}

/// A proxy may be spoken to by TLS itself: `https` servers are then reached by TLS inside of TLS, others by requests
/// inside of it. It has to show who it is like a server.
pub fn a_proxy_is_spoken_to_by_tls<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    host.gate.open();
    let server = Front::start("localhost", port(&host));
    let (place, asked) = proxy(None);
    let front = Front::start("localhost", place);
    let proxy = |front: &Front| Proxy::at(&format!("https://user:s3cret@localhost:{}", front.port)).unwrap();
    let both = server.trusted().trust(&front.root).unwrap();
    let client = K::wait(builder::<K>(ERAS[0]).tls(both).proxy(proxy(&front)).http(server.url())).unwrap();
    front.asked.expect("\"localhost\" http/1.1");
    let head = asked.expect("CONNECT");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpzM2NyZXQ=\r\n"), "{head}");
    works::<K>(&client);
    K::wait(client.close()).unwrap();
    host.end();

    let (place, asked) = self::proxy(Some(403));
    let front = Front::start("localhost", place);
    let plain = builder::<K>(ERAS[1]).tls(front.trusted()).proxy(proxy(&front));
    assert!(K::wait(plain.http("http://server.invalid/mcp")).is_err());
    asked.expect("POST http://server.invalid/mcp HTTP/1.1\r\n");
    let stranger = builder::<K>(ERAS[1]).tls(server.trusted()).proxy(proxy(&front));
    let refused = refusal::<K>(stranger, "http://server.invalid/mcp");
    assert!(refused.contains("no TLS connection to localhost") && !refused.contains("s3cret"), "{refused}");
}

/// AUTH-42, SEC-02, SEC-03: a flow goes over TLS, to server and authorization server, and neither is believed without a
/// certificate.
pub fn a_flow_goes_over_tls<K: Kit>(_: &str) {
    let mut front_of_issuer = None;
    let mut back = 0;
    let by = AuthorizationServer::behind(|port| {
        back = port;
        let front = front_of_issuer.insert(Front::start("localhost", port));
        front.url().trim_end_matches("/mcp").to_owned()
    });
    let front_of_issuer = front_of_issuer.unwrap();
    let free = Port::hold();
    let front = Front::start("localhost", free.address.port());
    let host = protected_at::<K>(&by, &free, front.url(), |server| server, None);
    let connect = |tls: Tls| {
        let (from, to) = (by.url.clone(), format!("http://127.0.0.1:{back}"));
        let browser = move |url: &str| browse(&url.replace(&from, &to)).map(drop);
        let authorize = Authorize::new(Config::new("Spokes")).open_with(browser);
        K::wait(direct::<K>(EraChoice::Modern).tls(tls).authorize(authorize).http(front.url()))
    };
    let error = connect(front.trusted()).unwrap_err();
    assert!(error.to_string().contains("authorization server metadata"), "{error}");
    assert!(by.events.others().is_empty(), "nothing is said to who is not known");
    let client = connect(front.trusted().trust(&front_of_issuer.root).unwrap()).unwrap();
    assert_eq!(super::text::<K>(&client, "who"), "ada");
    front_of_issuer.asked.expect("\"localhost\" http/1.1");
    K::wait(client.close()).unwrap();
    host.end();
}
