//! Clients and servers in one process, and somebody's own HTTP client between them.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use mcp_driver::Runtime;
use mcp_driver::model::Root;
use mcp_driver::{
    CallError, Calls, Context, End, Era, ExchangeHandle, HttpService, Options, Outgoing, Response, Tool,
    Transport,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{ERAS, builder, call, calling, text};
use crate::kit::{Kit, Server};
use crate::rig;
use crate::support::{Events, Gate};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A rig that asks for roots besides, and what it tells.
fn server<K: Kit>(gate: &Gate) -> (Server<K>, Events) {
    let (tell, events) = Events::new();
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), gate);
    let ask = async |_: Nothing, cx: Context| Ok(cx.roots("roots").await?.len());
    (server.tool(Tool::new("ask"), ask), events)
}

/// Calls, progress, questions and cancellation are what they are over pipes, in either era; with the client goes what the
/// server is at.
pub fn a_server_in_this_process_needs_no_stream<K: Kit>(_: &str) {
    let _entered = K::enter();
    for era in ERAS {
        let gate = Gate::default();
        let (server, events) = server::<K>(&gate);
        let client = builder::<K>(era).roots([Root::new("file:///a")]).in_process(server);
        let client = K::wait(client).unwrap();
        assert_eq!(client.verdict().transport, Transport::Stream);
        assert_eq!(text::<K>(&client, "ask"), "1");
        let long = "ä".repeat(1 << 17);
        assert_eq!(call::<K>(&client, "echo", json!({ "text": &long })).unwrap().text(), long);
        let wait = calling::<K>(&client, "wait");
        events.expect("wait started");
        let (tell, heard) = Events::new();
        let options = Options::new().on_progress(move |progress| tell.tell(progress.progress.to_string()));
        let steps = {
            let client = client.clone();
            crate::kit::background::<K, _>(move || {
                K::wait(client.call_tool_with("steps", json!({}), options))
            })
        };
        heard.expect("1");
        K::wait(client.close()).unwrap();
        assert!(matches!(wait.join(), Err(CallError::Broken { .. })));
        assert!(steps.join().is_err());
        events.expect("wait cancelled");
        gate.open();
    }
}

/// Whoever drops the client leaves nothing running, and a server whose definition is wrong is not connected to.
pub fn a_dropped_client_ends_its_server<K: Kit>(_: &str) {
    let _entered = K::enter();
    let gate = Gate::default();
    let (one, events) = server::<K>(&gate);
    let client = K::wait(builder::<K>(ERAS[0]).in_process(one)).unwrap();
    let wait = calling::<K>(&client, "wait");
    events.expect("wait started");
    drop(client);
    gate.open();
    assert_eq!(wait.join().unwrap().text(), "waited");
    let (other, _) = server::<K>(&gate);
    let twice = other.tool(Tool::new("echo"), async |_: Nothing, _: Context| Ok(""));
    assert!(K::wait(builder::<K>(ERAS[0]).in_process(twice)).is_err());
}

/// Sends a request to a service in this process.
async fn carry<K: Kit>(service: Arc<HttpService<K::Runtime>>, outgoing: Outgoing, mut response: Response) {
    struct Aborting<K: Kit>(Arc<ExchangeHandle<K::Runtime>>);
    impl<K: Kit> Drop for Aborting<K> {
        fn drop(&mut self) {
            self.0.handle_abort();
        }
    }
    let exchange = Aborting::<K>(ExchangeHandle::open(&service, outgoing.head.clone()));
    exchange.0.handle_body(outgoing.body());
    exchange.0.handle_end(End::Complete);
    let (mut begun, mut timer) = (false, None);
    poll_fn(|cx| {
        exchange.0.register(cx.waker());
        while let Some(at) = exchange.0.timeout() {
            if timer.as_ref().is_none_or(|(known, _)| *known != at) {
                timer = Some((at, service.runtime().sleep_until(at)));
            }
            let due = timer.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(cx).is_ready());
            if !due {
                break;
            }
            timer = None;
            exchange.0.handle_timeout(service.runtime().now());
        }
        if !begun && let Some((head, _)) = exchange.0.take_head() {
            begun = true;
            response.head(head);
        }
        let mut body = Vec::new();
        exchange.0.transmit(&mut |bytes| {
            body.extend_from_slice(bytes);
            bytes.len()
        });
        if !body.is_empty() {
            response.body(&body);
        }
        if begun && exchange.0.is_ended() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    response.end(End::Complete);
}

/// Somebody's own HTTP client carries all that ours does: both eras, event streams, sessions, questions, aborted calls.
pub fn an_http_client_of_ones_own_carries_everything<K: Kit>(_: &str) {
    let _entered = K::enter();
    for era in ERAS {
        let gate = Gate::default();
        let (server, events) = server::<K>(&gate);
        let service = server.into_http_service().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        let exchanger = move |outgoing: Outgoing, response: Response| {
            assert_eq!(outgoing.url(), "https://localhost/mcp");
            count.fetch_add(1, Ordering::SeqCst);
            carry::<K>(service.clone(), outgoing, response)
        };
        let client = builder::<K>(era).roots([Root::new("file:///a")]).exchanger(exchanger);
        // Whether a URL is secure is up to whoever carries it.
        let client = K::wait(client.http("https://localhost/mcp")).unwrap();
        assert_eq!(text::<K>(&client, "ask"), "1");
        let (tell, heard) = Events::new();
        let options = Options::new().on_progress(move |progress| tell.tell(progress.progress.to_string()));
        let steps = {
            let client = client.clone();
            crate::kit::background::<K, _>(move || {
                K::wait(client.call_tool_with("steps", json!({}), options))
            })
        };
        heard.expect("1");
        gate.open();
        assert_eq!(steps.join().unwrap().text(), "done");
        assert!(requests.load(Ordering::SeqCst) > 2);
        assert_eq!(client.era() == Era::Modern, era == ERAS[0]);
        K::wait(client.close()).unwrap();
        drop(events);
    }
}

/// Nothing that an HTTP client of one's own does, or leaves undone, leaves a call waiting.
pub fn an_http_client_of_ones_own_may_fail<K: Kit>(_: &str) {
    let _entered = K::enter();
    type Exchange = fn(Outgoing, Response);
    let failures: [(Exchange, &str); 4] = [
        (|_, response| response.failed("no route to there", true), "no route to there"),
        (|_, response| drop(response), "dropped the request"),
        (|_, mut response| response.head(mcp_driver::proto::head::ResponseHead::new(503)), "503"),
        (|_, _| panic!("as asked"), "dropped the request"),
    ];
    for (fail, expected) in failures {
        let exchanger = move |outgoing: Outgoing, response: Response| {
            fail(outgoing, response);
            std::future::ready(())
        };
        let error =
            K::wait(builder::<K>(ERAS[1]).exchanger(exchanger).http("http://localhost/mcp")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
