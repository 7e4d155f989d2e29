//! Threads that are in no tokio runtime.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mcp_tokio::{Runtime, Tokio, block_on};

/// What is to be done on behalf of a thread of the application is done by the runtime that was in use first.
#[test]
fn threads_outside_of_the_runtime_use_it() {
    let inside = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let tokio = Tokio::default();
    inside.block_on(async { tokio.now() });
    let outside = thread::spawn(move || {
        let (tell, told) = mpsc::channel();
        let tells = tell.clone();
        tokio.spawn(Box::pin(async move { tells.send("task").unwrap() }));
        assert_eq!(told.recv_timeout(Duration::from_secs(60)).unwrap(), "task");
        tokio.spawn_blocking(Box::new(move || tell.send("job").unwrap())).ok().unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(60)).unwrap(), "job");
        block_on(tokio.sleep_until(tokio.now().mono + Duration::from_millis(10)));

        let listener = block_on(tokio.listen("127.0.0.1:0".into())).unwrap();
        let address = tokio.local_address(&listener).unwrap();
        block_on(tokio.connect(address, Duration::from_secs(5))).unwrap();
        block_on(tokio.accept(listener)).1.unwrap();
        tokio.spawn_process(&mcp_tokio::Command::new("true")).unwrap();
    });
    outside.join().unwrap();
}

/// As long as there was no runtime, everything that needs one fails, and nothing panics.
#[test]
fn without_a_runtime_there_is_an_error() {
    let tokio = Tokio::default();
    let error = block_on(tokio.listen("127.0.0.1:0".into())).unwrap_err();
    assert_eq!(error.to_string(), "there is no tokio runtime");
    assert!(block_on(tokio.connect(([127, 0, 0, 1], 1).into(), Duration::from_secs(5))).is_err());
    assert!(tokio.spawn_process(&mcp_tokio::Command::new("true")).is_err());
    assert!(tokio.spawn_blocking(Box::new(|| panic!("there is no thread"))).is_err());
    tokio.spawn(Box::pin(async { panic!("there is no task") }));
    drop(tokio.sleep_until(tokio.now().mono));
}
