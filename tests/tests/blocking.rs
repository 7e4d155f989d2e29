//! What there is for those who block alone.

use std::future::Future;
use std::io::{Read, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};

use mcp_blocking::{Client, Context as Call, Server, Tool, Update};
use mcp_driver::{BlockingStream, End, Endpoint, Now, Pool, Status, drive_blocking};
use mcp_tests::stage::Stage;
use mcp_tests::support::DEADLINE;

/// A machine that has nothing to say until its stream ends.
#[derive(Default)]
struct Listening(AtomicBool);

impl Endpoint for Listening {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn handle_timeout(&self, _: Now) {}

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let finished = self.0.load(Ordering::SeqCst);
        Status { timeout: None, wants_read: !finished, write_closed: false, finished }
    }

    fn register(&self, _: &Waker) {}
}

/// Whoever is at the other end hears of it at once, although a thread may still wait for input.
#[test]
fn a_stream_that_nobody_drives_any_more_is_closed() {
    let ((input, _kept_open), (mut output, write)) = (pipe().unwrap(), pipe().unwrap());
    let stream =
        BlockingStream { read: Box::new(input), write: Box::new(write), socket: None, bounded: true };
    let endpoint = Arc::new(Listening::default());
    let mut driven = Box::pin(drive_blocking(Stage::default(), Pool::default(), stream, endpoint.clone()));
    assert!(driven.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(driven);
    assert!(endpoint.status().finished);
    let (tell, read) = channel();
    std::thread::spawn(move || tell.send(output.read(&mut [0]).unwrap()));
    assert_eq!(read.recv_timeout(DEADLINE), Ok(0));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// PRG-07: a call that is heard item by item is an iterator, which ends behind the reply.
#[test]
fn a_call_is_iterated_over() {
    let server = Server::new("steps", "1").tool(Tool::new("steps"), |_: Nothing, cx: Call| {
        (1..=3).for_each(|step| cx.progress(f64::from(step)));
        Ok("done")
    });
    let client = Client::in_process(server).unwrap();
    let updates =
        client.call_tool_streaming("steps", serde_json::json!({})).map(|update| match update.unwrap() {
            Update::Progress(progress) => progress.progress.to_string(),
            Update::Reply(reply) => reply.text().into_owned(),
            other => format!("{other:?}"),
        });
    assert_eq!(updates.collect::<Vec<_>>(), ["1", "2", "3", "done"]);
}
