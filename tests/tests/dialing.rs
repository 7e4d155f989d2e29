//! What a client does before it has a connection, on a runtime whose clock is set by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::{Client, Limits, Proxy, Runtime};
use mcp_tests::stage::Stage;

/// Connects in the background; the error is there once it is over.
fn connecting(stage: &Stage, url: &str, change: impl FnOnce(&mut Limits)) -> Arc<Mutex<Option<String>>> {
    let mut limits = Limits::default();
    limits.retries = 0;
    change(&mut limits);
    let client = Client::builder("dialing", "1").runtime(stage.clone()).limits(limits).proxy(Proxy::none());
    let (over, url) = (Arc::new(Mutex::new(None)), url.to_owned());
    let told = over.clone();
    stage.spawn(Box::pin(async move {
        let error = client.http(url).await.unwrap_err().to_string();
        *told.lock().unwrap() = Some(error);
    }));
    stage.run();
    over
}

/// Looking up a name takes `Limits::handshake` at most, however long the operating system takes.
#[test]
fn a_name_that_nobody_knows_of_is_given_up() {
    let stage = Stage::default();
    stage.block();
    let over = connecting(&stage, "http://server.example/mcp", |limits| {
        limits.handshake = Duration::from_secs(3);
    });
    stage.advance(Duration::from_millis(2_999));
    assert_eq!(*over.lock().unwrap(), None);
    stage.advance(Duration::from_millis(1));
    let error = over.lock().unwrap().take().unwrap();
    assert!(error.contains("cannot look up server.example: no answer within 3s"), "{error}");
    assert_eq!(stage.asked(), []);
}

/// Connecting takes as long at most, and the last address is named.
#[test]
fn an_address_that_does_not_answer_is_given_up() {
    let stage = Stage::default();
    let over = connecting(&stage, "http://192.0.2.1:8000/mcp", |limits| {
        limits.handshake = Duration::from_secs(3);
    });
    assert_eq!(stage.asked(), ["192.0.2.1:8000".parse().unwrap()]);
    stage.advance(Duration::from_millis(2_999));
    assert_eq!(*over.lock().unwrap(), None);
    stage.advance(Duration::from_millis(1));
    let error = over.lock().unwrap().take().unwrap();
    let told = "cannot connect to 192.0.2.1, port 8000: no answer within 3s";
    assert!(error.contains(told), "{error}");
}
