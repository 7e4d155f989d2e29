//! TLS between two machines, whose bytes come in any pieces.

use std::sync::Mutex;
use std::task::Waker;

use mcp_proto::time::Instant;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::*;
use crate::endpoint::{Endpoint, Status};

/// What is above the layer: it says something once it may, and keeps what it hears.
#[derive(Default)]
struct Above(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    established: bool,
    said: usize,
    heard: Vec<u8>,
    refused: Option<String>,
    ends: Vec<End>,
}

const SAID: &[u8] = b"POST / HTTP/1.1\r\n\r\n";

impl Channel for Above {
    fn established(&self, _: Now) {
        self.0.lock().unwrap().established = true;
    }

    fn refused(&self, _: Now, reason: &str) {
        self.0.lock().unwrap().refused = Some(reason.to_owned());
    }
}

impl Endpoint for Above {
    fn handle_bytes(&self, _: Now, bytes: &[u8]) {
        self.0.lock().unwrap().heard.extend_from_slice(bytes);
    }

    fn handle_end(&self, _: Now, end: End) {
        self.0.lock().unwrap().ends.push(end);
    }

    fn handle_write_failed(&self, _: Now) {}

    fn handle_timeout(&self, _: Now) {}

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let mut seen = self.0.lock().unwrap();
        assert!(seen.established, "nothing is asked of it before");
        let said = seen.said;
        seen.said += write(&SAID[said..]);
    }

    fn status(&self) -> Status {
        Status { timeout: None, wants_read: true, write_closed: false, finished: false }
    }

    fn register(&self, _: &Waker) {}
}

fn now(seconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_secs(seconds)), Duration::ZERO)
}

/// A layer, what is above it, and the server that it speaks to.
fn pair() -> (Arc<Above>, Arc<dyn Channel>, ServerConnection) {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["h.example".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
    let above = Arc::new(Above::default());
    let tls = Tls::new().only_these().trust(cert.pem()).unwrap();
    let layer = tls.with("h.example", Duration::from_secs(10)).unwrap().over(above.clone());
    (above, layer, ServerConnection::new(Arc::new(config)).unwrap())
}

/// Takes what the layer has to write, `size` bytes at a time.
fn written(layer: &dyn Channel, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        layer.transmit(now(0), &mut |bytes| {
            let taken = bytes.len().min(size);
            out.extend_from_slice(&bytes[..taken]);
            taken
        });
        if out.len() == before {
            return out;
        }
    }
}

/// What the server hears and answers, and what it writes then.
fn served(server: &mut ServerConnection, mut bytes: &[u8], answer: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut heard, mut out) = (Vec::new(), Vec::new());
    while !bytes.is_empty() {
        server.read_tls(&mut bytes).unwrap();
        server.process_new_packets().unwrap();
        let _ = server.reader().read_to_end(&mut heard);
    }
    if !heard.is_empty() {
        server.writer().write_all(answer).unwrap();
    }
    while server.wants_write() {
        server.write_tls(&mut out).unwrap();
    }
    (heard, out)
}

/// Handshake, messages and the end mean the same in whatever pieces they come and go.
#[test]
fn bytes_come_in_any_pieces() {
    for size in [1, 2, 7, 100, usize::MAX] {
        let (above, layer, mut server) = pair();
        layer.established(now(0));
        let mut heard = Vec::new();
        for _ in 0..10 {
            let (said, answer) = served(&mut server, &written(&*layer, size), b"HTTP/1.1 200 OK\r\n\r\n");
            heard.extend(said);
            answer.chunks(size.min(answer.len().max(1))).for_each(|part| layer.handle_bytes(now(0), part));
        }
        assert_eq!(heard, SAID, "{size}");
        server.send_close_notify();
        let (_, end) = served(&mut server, &[], &[]);
        end.chunks(size.min(end.len())).for_each(|part| layer.handle_bytes(now(0), part));
        let seen = above.0.lock().unwrap();
        assert_eq!(
            (seen.heard.as_slice(), &seen.refused),
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], &None),
            "{size}"
        );
        assert_eq!(seen.ends, [End::Complete], "{size}");
    }
}

/// An end without the word for it is no end in good order, and one in the middle of the handshake is a failure to connect,
/// whichever way it comes.
#[test]
fn an_end_is_told_for_what_it_is() {
    let (above, layer, mut server) = pair();
    layer.established(now(0));
    for _ in 0..3 {
        let (_, answer) = served(&mut server, &written(&*layer, usize::MAX), b"x");
        layer.handle_bytes(now(0), &answer);
    }
    layer.handle_end(now(0), End::Complete);
    assert_eq!(above.0.lock().unwrap().ends, [End::Broken]);

    // `handshake_failure`.
    let alert = [21, 3, 3, 0, 2, 2, 40];
    let ends: [&dyn Fn(&dyn Channel); 4] = [
        &|layer| layer.handle_bytes(now(0), &alert),
        &|layer| layer.handle_bytes(now(0), b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        &|layer| layer.handle_end(now(0), End::Complete),
        &|layer| layer.handle_timeout(now(10)),
    ];
    for (place, end) in ends.into_iter().enumerate() {
        let (above, layer, _) = pair();
        layer.established(now(0));
        layer.handle_timeout(now(9));
        assert!(above.0.lock().unwrap().refused.is_none());
        end(&*layer);
        // Being ready again changes nothing.
        layer.established(now(0));
        let seen = above.0.lock().unwrap();
        let refused = seen.refused.as_deref().unwrap_or_default();
        assert!(refused.contains("no TLS connection to h.example"), "{place}: {refused}");
        assert!(!seen.established && seen.ends.is_empty(), "{place}");
        drop(seen);
        assert!(layer.status().finished, "{place}");
    }
}
