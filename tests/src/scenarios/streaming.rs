//! Calls that are heard item by item.

use mcp_driver::{
    CallError, CallStream, Calls, Context, Era, LoggingLevel, Options, Progress, Tool, Update, proto,
};
use serde_json::json;

use super::asks::Nothing;
use super::calls::{Pair, everywhere};
use super::{ERAS, builder, hosted, text};
use crate::kit::{Kit, Server};
use crate::support::{Events, Gate};

/// What comes next, in short.
#[track_caller]
fn next<K: Kit>(call: &CallStream<K::Runtime, mcp_driver::ToolReply>) -> String {
    match K::wait(call.next()).unwrap() {
        Some(Update::Progress(Progress { progress, message, .. })) => {
            format!("{progress} {}", message.unwrap_or_default())
        }
        Some(Update::Log(message)) => format!("log {}", message.data.get()),
        Some(Update::Reply(reply)) => format!("reply {}", reply.text()),
        other => format!("{other:?}"),
    }
}

/// PRG-07: what comes on the way is heard while the call runs, then its reply, and then nothing.
pub fn a_call_is_heard_item_by_item<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, open, .. }| {
        let call = client.call_tool_streaming("steps", json!({}));
        assert_eq!(next::<K>(&call), "1 ");
        // The handler goes on only now, so the first step was live.
        open();
        for expected in ["2 ", "3 ", "reply done", "None", "None"] {
            assert_eq!(next::<K>(&call), expected);
        }
        assert_eq!(call.left_out(), 0);
    });
}

/// CAN-01, HTTP-20: nobody hears what comes any more, so the server need not go on.
pub fn dropping_a_stream_cancels_its_call<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        let call = client.call_tool_streaming("wait", json!({}));
        events.expect("wait started");
        drop(call);
        events.expect("wait cancelled");
        assert!(text::<K>(&client, "open").contains("opened"));
    });
}

/// How a call ends without a reply is told once, whether or not it was ever sent.
pub fn a_stream_ends_with_its_error<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, .. }| {
        let unknown = client.call_tool_streaming("no such tool", json!({}));
        assert!(matches!(K::wait(unknown.next()), Err(CallError::Server { .. })));
        assert_eq!(next::<K>(&unknown), "None");
        let misused = client.call_tool_streaming("steps", 7);
        assert!(matches!(K::wait(misused.next()), Err(CallError::Misuse(_))));
        assert_eq!(next::<K>(&misused), "None");
    });
}

/// LOG-04: what is logged for a call is heard with it, in order with its progress, and by nobody who hears another call.
pub fn what_is_logged_for_a_call_is_heard_with_it<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let gate = Gate::default();
    let waiting = gate.clone();
    let server = Server::<K>::new("logging", "1")
        .on_error(|_| {})
        .logging()
        .tool(Tool::new("log"), async |_: Nothing, cx: Context| {
            cx.progress(proto::server::Progress::new(1.0).message("begun"));
            cx.log(LoggingLevel::Warning, "it happened");
            cx.progress(proto::server::Progress::new(2.0).message("done"));
            Ok("logged")
        })
        .tool(Tool::new("wait"), move |_: Nothing, _: Context| {
            let (gate, tell) = (waiting.clone(), tell.clone());
            async move {
                tell.tell("waits".to_owned());
                gate.wait().await;
                Ok("waited")
            }
        });
    let host = hosted::<K>(server, gate.clone(), Events::new().1);
    for era in ERAS {
        let client = K::wait(builder::<K>(era).http(&host.url)).unwrap();
        let options = match client.era() {
            Era::Modern => Options::new().log_level(LoggingLevel::Info),
            Era::Legacy => {
                K::wait(client.set_level(LoggingLevel::Info)).unwrap();
                Options::new()
            }
        };
        let other = client.call_tool_streaming_with("wait", json!({}), options.clone());
        events.expect("waits");
        let call = client.call_tool_streaming_with("log", json!({}), options);
        for expected in ["1 begun", "log \"it happened\"", "2 done", "reply logged", "None"] {
            assert_eq!(next::<K>(&call), expected);
        }
        gate.open();
        assert_eq!(next::<K>(&other), "reply waited");
        gate.close();
    }
    host.end();
}
