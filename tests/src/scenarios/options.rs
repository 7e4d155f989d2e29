//! Calls with options, and whole collections.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::model::{Meta, TraceContext};
use mcp_driver::{CallError, Calls, Canceller, Context, EraChoice, Json, LoggingLevel, Options, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::scripted::{against, discovered};
use super::{ERAS, Host, builder, call, hosted};
use crate::kit::{Kit, Server};
use crate::support::Events;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn server<K: Kit>() -> Host<K> {
    let server = Server::<K>::new("options", "1")
        .on_error(|_| {})
        .page_size(2)
        .http_sse("/sse", "/messages")
        .logging()
        .tool(Tool::new("log"), async |_: Nothing, cx: Context| {
            cx.log(LoggingLevel::Warning, "it happened");
            Ok("")
        })
        .tool(Tool::new("trace"), async |_: Nothing, cx: Context| Ok(format!("{:?}", cx.trace().parent_id())))
        .tool(Tool::new("c"), async |_: Nothing, _: Context| Ok(""))
        .tool(Tool::new("d"), async |_: Nothing, _: Context| Ok(""))
        .tool(Tool::new("e"), async |_: Nothing, _: Context| Ok(""));
    hosted(server, Default::default(), Events::new().1)
}

/// PAGE-03, PAGE-04: a collection that ends before its end says so, and keeps what was read.
pub fn a_collection_that_ends_early_keeps_what_was_read<K: Kit>(_: &str) {
    let host = server::<K>();
    for era in ERAS {
        let client = K::wait(builder::<K>(era).http(&host.url)).unwrap();
        assert_eq!(K::wait(client.list_tools()).unwrap().len(), 5);
        let bounded = builder::<K>(era).configure(|config| config.limits.pages = 2);
        let client = K::wait(bounded.http(&host.url)).unwrap();
        let incomplete = K::wait(client.list_tools()).unwrap_err();
        assert_eq!(incomplete.read.len(), 4);
        assert!(
            incomplete.to_string().contains("`Limits::pages`") && incomplete.to_string().contains("4 items")
        );
        let none = K::wait(client.list_tools_with(Options::new().max(Duration::ZERO))).unwrap_err();
        assert!(matches!(none.error, CallError::TimedOut { .. }), "{none}");
    }
    host.end();
}

/// INIT-13, PROMPT-15: what the server does not offer is not asked for, unless that is forced; then it may answer.
pub fn what_is_not_offered_is_a_typed_error<K: Kit>(_: &str) {
    let host = server::<K>();
    for era in ERAS {
        let client = K::wait(builder::<K>(era).http(&host.url)).unwrap();
        let error = CallError::from(K::wait(client.list_prompts()).unwrap_err());
        assert!(matches!(error, CallError::Unsupported { capability: Some("prompts"), .. }), "{error}");
        let forced = K::wait(client.list_prompts_with(Options::new().force())).unwrap_err();
        assert!(matches!(&forced.error, CallError::Server { error, .. } if error.code == -32601), "{forced}");
    }
    host.end();
}

/// INIT-18: whether the server is there can be asked in both eras.
pub fn a_ping_is_answered_in_both_eras<K: Kit>(_: &str) {
    let host = server::<K>();
    for era in ERAS {
        K::wait(host.client(era).ping()).unwrap();
    }
    host.end();
}

/// LOG-06, META-11: from another level on, in both eras.
pub fn the_level_of_logs_can_be_changed<K: Kit>(_: &str) {
    let host = server::<K>();
    for era in ERAS {
        let heard: Arc<Mutex<usize>> = Arc::default();
        let hear = heard.clone();
        let builder = builder::<K>(era).on_log(LoggingLevel::Error, move |_| *hear.lock().unwrap() += 1);
        let client = K::wait(builder.http(&host.url)).unwrap();
        call::<K>(&client, "log", json!({})).unwrap();
        assert_eq!(*heard.lock().unwrap(), 0);
        K::wait(client.set_level(LoggingLevel::Info)).unwrap();
        call::<K>(&client, "log", json!({})).unwrap();
        assert_eq!(*heard.lock().unwrap(), 1);
    }
    host.end();
}

/// VER-23: what a server said of itself that need not hold any more is no reason to refuse a level: it is asked
/// first, as before a call.
pub fn a_level_is_judged_as_a_call_is<K: Kit>(_: &str) {
    for offers in [true, false] {
        let mut asked = 0;
        let answer = move |message: &Value| match message["method"].as_str() {
            Some("server/discover") => {
                asked += 1;
                let has = if asked > 1 && offers { json!({ "logging": {} }) } else { json!({}) };
                vec![discovered(message, has)]
            }
            _ => Vec::new(),
        };
        let client = against::<K>(builder::<K>(EraChoice::Modern), answer).unwrap();
        let outcome = K::wait(client.set_level(LoggingLevel::Info));
        let is_refused = matches!(outcome, Err(CallError::Unsupported { capability: Some("logging"), .. }));
        assert_eq!((outcome.is_ok(), is_refused), (offers, !offers), "{outcome:?}");
        K::wait(client.close()).unwrap();
    }
}

/// TRACE-01, TRACE-02: a trace that is in order reaches the server.
pub fn a_trace_reaches_the_server<K: Kit>(_: &str) {
    let host = server::<K>();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new().with_traceparent(parent).unwrap();
    for era in ERAS {
        let options = Options::new().trace(&trace);
        let reply = K::wait(host.client(era).call_tool_with("trace", json!({}), options)).unwrap();
        assert_eq!(reply.text(), "Some(\"b7ad6b7169203331\")");
    }
    host.end();
}

/// They are calls like others; a level that a modern server is told with each request needs none.
pub fn a_ping_and_a_level_have_options<K: Kit>(_: &str) {
    let host = server::<K>();
    let cancelled = Canceller::new();
    cancelled.cancel();
    for era in ERAS {
        let client = host.client(era);
        let options = || Options::new().cancelled_by(&cancelled);
        assert_eq!(K::wait(client.ping_with(options())), Err(CallError::Cancelled));
        assert_eq!(K::wait(client.ping_with(Options::new())), Ok(()));
        let level = K::wait(client.set_level_with(LoggingLevel::Info, options()));
        assert_eq!(level, if era == EraChoice::Legacy { Err(CallError::Cancelled) } else { Ok(()) });
        assert_eq!(K::wait(client.set_level_with(LoggingLevel::Info, Options::new())), Ok(()));
    }
    host.end();
}

/// TRACE-01: what a client adds to every request, but for calls with something else in its place.
pub fn metadata_of_a_client_reaches_the_server<K: Kit>(_: &str) {
    let host = server::<K>();
    let parent = |digit: &str| format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", digit.repeat(16));
    let meta = |digit: &str| Meta::new().with("traceparent", Json::new(&parent(digit)).unwrap());
    for era in ERAS {
        let client = K::wait(builder::<K>(era).meta(meta("1")).http(&host.url)).unwrap();
        for (options, digit) in [(Options::new(), "1"), (Options::new().meta(meta("2")), "2")] {
            let reply = K::wait(client.call_tool_with("trace", json!({}), options)).unwrap();
            assert_eq!(reply.text(), format!("Some(\"{}\")", digit.repeat(16)));
        }
    }
    host.end();
}

/// VER-24, VER-25: what a client uses of what is deprecated works, and is said once for a connection, when it is used.
pub fn what_a_client_uses_of_the_deprecated_is_said_once<K: Kit>(_: &str) {
    let host = server::<K>();
    let watched = |era: EraChoice| {
        let (tell, reports) = Events::new();
        (builder::<K>(era).on_diagnostic(move |report| tell.tell(report.to_string())), reports)
    };
    let about_logging = |reports: &Events| {
        let texts = reports.others();
        assert!(
            texts.iter().all(|text| text.contains("logging is deprecated by revision 2026-07-28")),
            "{texts:?}"
        );
        texts.len()
    };
    for era in ERAS {
        let (builder, reports) = watched(era);
        let client = K::wait(builder.http(&host.url)).unwrap();
        call::<K>(&client, "c", json!({})).unwrap();
        assert_eq!(about_logging(&reports), 0, "it is not used");
        let options = Options::new().log_level(LoggingLevel::Info);
        K::wait(client.call_tool_with("c", json!({}), options)).unwrap();
        K::wait(client.set_level(LoggingLevel::Info)).unwrap();
        assert_eq!(about_logging(&reports), 1);
        let (builder, reports) = watched(era);
        let client = K::wait(builder.on_log(LoggingLevel::Error, |_| {}).http(&host.url)).unwrap();
        assert_eq!(about_logging(&reports), 1);
        K::wait(client.set_level(LoggingLevel::Info)).unwrap();
        assert_eq!(about_logging(&reports), 1);
    }
    let (builder, reports) = watched(EraChoice::Auto);
    let client = K::wait(builder.http_sse(host.url.replace("/mcp", "/sse"))).unwrap();
    call::<K>(&client, "c", json!({})).unwrap();
    let said = reports.others();
    let old = "HTTP with SSE is deprecated since revision 2025-03-26";
    assert!(matches!(&said[..], [text] if text.contains(old)), "{said:?}");
    drop(client);
    host.end();
}
