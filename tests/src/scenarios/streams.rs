//! Both sides on a stream that the application brings.

use mcp_driver::{CallError, EraChoice, Runtime};
use serde_json::json;

use super::{ERAS, builder, call, calling, text};
use crate::kit::{AsyncKit, Client, Kit, background};
use crate::rig;
use crate::support::{DEADLINE, Events, Gate};

type Stream<K> = <<K as Kit>::Runtime as Runtime>::Stream;

/// Two ends of a socket.
pub(super) fn ends<K: Kit>() -> (Stream<K>, Stream<K>) {
    let runtime = K::Runtime::default();
    let listener = K::block_on(runtime.listen("127.0.0.1:0".into())).unwrap();
    let address = runtime.local_address(&listener).unwrap();
    let connecting = {
        let runtime = runtime.clone();
        background::<K, _>(move || K::block_on(runtime.connect(address, DEADLINE)).unwrap())
    };
    let (_, accepted) = K::block_on(runtime.accept(listener));
    (connecting.join(), accepted.unwrap())
}

pub(super) fn client<K: Kit>(stream: Stream<K>, era: EraChoice) -> Client<K> {
    K::wait(builder::<K>(era).stream(stream)).unwrap()
}

/// RPC-41, RPC-37 to RPC-39: whatever carries bytes both ways carries messages; closing ends both sides.
pub fn any_stream_carries_messages<K: Kit>(_: &str) {
    for era in ERAS {
        let (ours, theirs) = ends::<K>();
        let server = rig::server::<K::Runtime>(|_| {}, &Gate::default());
        let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
        let client = client::<K>(ours, era);
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "x" })).unwrap().text(), "x");
        assert_eq!(text::<K>(&client, "open"), "opened");
        K::wait(client.close()).unwrap();
        served.join().unwrap();
    }
}

/// A server that is dropped while it serves takes its handlers along, and its client learns of it.
pub fn dropping_the_server_cancels_its_calls<K: AsyncKit>(_: &str) {
    let (ours, theirs) = ends::<K>();
    let (tell, events) = Events::new();
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), &Gate::default());
    let stop = Gate::default();
    let stopped = stop.clone();
    let served = background::<K, _>(move || K::serve_until(server, theirs, &stopped));
    let client = client::<K>(ours, EraChoice::Modern);
    let waiting = calling::<K>(&client, "wait");
    events.expect("wait started");
    stop.open();
    served.join();
    events.expect("wait cancelled");
    assert!(matches!(waiting.join(), Err(CallError::Broken { .. })));
    K::wait(client.close()).unwrap();
}
