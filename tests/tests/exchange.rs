//! An exchange by hand: what an HTTP stack of one's own relies on.

use mcp_tokio::proto::head::RequestHead;
use mcp_tokio::{ExchangeHandle, Server};

/// The body of a response is not given out before its head was taken, whenever it is asked for: a carrier that
/// looks between the two would lose it.
#[test]
fn the_body_comes_after_the_head() {
    let service = Server::new("test", "1").into_http_service().unwrap();
    // Refused at once: there is a response, with a body, before anybody looks.
    let mut head = RequestHead::new("PUT", "/mcp");
    head.headers.push("host", "localhost");
    let exchange = ExchangeHandle::open(&service, head);
    let taken = || {
        let mut body = Vec::new();
        exchange.transmit(&mut |bytes| {
            body.extend_from_slice(bytes);
            bytes.len()
        });
        body
    };
    assert_eq!(taken(), b"");
    assert!(!exchange.is_ended());
    assert_eq!(exchange.take_head().unwrap().0.status, 405);
    assert!(taken().starts_with(b"{"));
    assert!(exchange.is_ended());
}
