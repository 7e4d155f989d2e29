//! What a server adds to the protocol, and what watches its requests.

use std::sync::{Arc, Mutex};

use mcp_driver::model::{ClientCapabilities, JsonMap, Meta, PromptArgument, TraceContext};
use mcp_driver::proto::server::CustomMethod;
use mcp_driver::{
    Answer, Blame, CallError, Calls, Complete, Context, Custom, Era, EraChoice, ErrorObject, Json, Limits,
    LoggingLevel, Next, Options, Prompt, Request, Resource, Server, Tool, ToolError, Typed,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::streams::ends;
use super::{ERAS, builder, calling, hosted, text};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, Gate, Raw};

/// Runs on both transports in both eras, with a client that has declared an extension and whose notifications
/// are told as events.
fn served<K: Kit>(
    serve: impl Fn(&Gate) -> Server<K::Runtime>,
    scenario: impl Fn(&Client<K>, &Gate, &Events),
) {
    let capabilities = || {
        let mut extensions = JsonMap::new();
        extensions.insert("com.example/shelves".into(), Json::parse(r#"{"high":true}"#).unwrap());
        ClientCapabilities::new().extensions(extensions)
    };
    for era in ERAS {
        let client = |tell: crate::support::Tell| {
            let told = move |method: &str, params: Option<&Json>| tell.tell(format!("{method} {params:?}"));
            builder::<K>(era).capabilities(capabilities()).on_notification(told)
        };
        let (gate, (tell, events)) = (Gate::default(), Events::new());
        let host = hosted::<K>(serve(&gate), gate.clone(), Events::new().1);
        let connected = K::wait(client(tell).http(&host.url)).unwrap();
        scenario(&connected, &gate, &events);
        K::wait(connected.close()).unwrap();
        host.end();

        let (gate, (tell, events)) = (Gate::default(), Events::new());
        let (ours, theirs) = ends::<K>();
        let server = serve(&gate);
        let running = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
        let connected = K::wait(client(tell).stream(ours)).unwrap();
        scenario(&connected, &gate, &events);
        K::wait(connected.close()).unwrap();
        gate.open();
        running.join().unwrap();
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

fn ask<K: Kit>(client: &Client<K>, method: &str, params: serde_json::Value) -> Result<String, CallError> {
    let params = Json::new(&params).unwrap();
    let reply = K::wait(client.request(&Custom::new(method, Some(params)).unwrap()))?;
    // What every modern result has besides is none of the method's.
    let mut members: JsonMap = reply.decode().unwrap();
    members.remove("resultType");
    members.remove("_meta");
    Ok(serde_json::to_string(&members).unwrap())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, CallError>) -> ErrorObject {
    match outcome {
        Err(CallError::Server { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restock {
    shelf: u8,
}

#[derive(Serialize)]
struct Stock {
    left: u32,
}

fn stocked<K: Kit>(_: &Gate) -> Server<K::Runtime> {
    Server::new("stock", "1")
        .on_error(|_| {})
        .method("acme/restock", async |Restock { shelf }: Restock, cx: Context| {
            cx.notify("acme/walking", json!({ "to": shelf }));
            Ok(Stock { left: 12 })
        })
        .method("acme/block", |Restock { shelf }: Restock, _: Context| Ok(Stock { left: shelf.into() }))
        .method("acme/nothing", async |_: Json, _: Context| Ok(()))
        .method("acme/scalar", async |_: Json, _: Context| Ok(7))
        .method("acme/fail", |_: Json, _: Context| Err::<(), _>(ToolError::internal("the disk is full")))
}

/// EXT-12: methods that are not the protocol's have typed parameters and results, async or blocking.
pub fn methods_of_ones_own_are_served<K: Kit>(_: &str) {
    served::<K>(stocked::<K>, |client, _, _| {
        assert_eq!(ask::<K>(client, "acme/restock", json!({ "shelf": 3 })).unwrap(), r#"{"left":12}"#);
        assert_eq!(ask::<K>(client, "acme/block", json!({ "shelf": 3 })).unwrap(), r#"{"left":3}"#);
        assert_eq!(ask::<K>(client, "acme/nothing", json!({})).unwrap(), "{}");
    });
}

/// ERR-01, ERR-03: parameters that do not fit are named by their path; what is wrong here is nobody else's
/// business.
pub fn methods_of_ones_own_fail_like_others<K: Kit>(_: &str) {
    served::<K>(stocked::<K>, |client, _, _| {
        let error = refused(ask::<K>(client, "acme/restock", json!({ "shelf": "top" })));
        assert_eq!((error.code, error.message.contains("params.shelf")), (-32602, true), "{error:?}");
        let error = refused(ask::<K>(client, "acme/restock", json!({ "shelf": 1, "more": 2 })));
        assert_eq!((error.code, error.message.contains("more")), (-32602, true), "{error:?}");
        for broken in ["acme/scalar", "acme/fail"] {
            let error = refused(ask::<K>(client, broken, json!({})));
            assert_eq!(error.code, -32603, "{broken}: {error:?}");
            assert!(!error.message.contains("disk"), "{error:?}");
        }
        assert_eq!(refused(ask::<K>(client, "acme/other", json!({}))).code, -32601);
    });
}

/// A server may not give a name of the protocol to something else.
pub fn names_of_the_protocol_are_kept<K: Kit>(_: &str) {
    let build = |name: &str| {
        let server = Server::<K::Runtime>::new("x", "1");
        K::wait(server.method(name, async |_: Json, _: Context| Ok(())).bind_http("127.0.0.1:0"))
    };
    for name in ["tools/list", "initialize", "rpc.x", "notifications/x"] {
        assert!(build(name).unwrap_err().to_string().contains(name), "{name}");
    }
    build("acme/ok").unwrap();
    let server = Server::<K::Runtime>::new("x", "1").extension("shelves", json!({}));
    assert!(K::wait(server.bind_http("127.0.0.1:0")).unwrap_err().to_string().contains("shelves"));
}

/// HDR-10, HDR-11: what stands between can route by the header that repeats a parameter, so it must agree.
pub fn a_method_may_be_named_by_a_parameter<K: Kit>(_: &str) {
    let method = CustomMethod::new("acme/restock").named_by("shelf");
    let server = Server::new("stock", "1").method(method, async |_: Json, _: Context| Ok(()));
    let host = hosted::<K>(server, Gate::default(), Events::new().1);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"acme/restock","params":{{"shelf":"A",{meta}}}}}"#);
    for (name, status) in [("Mcp-Name: A\r\n", 200), ("Mcp-Name: B\r\n", 400), ("", 400)] {
        let head = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: acme/restock\r\n{name}");
        let mut raw = Raw::connect(&host.url);
        raw.post(&head, &body);
        assert_eq!(raw.answer().status, status, "{name}");
    }
    host.end();
}

/// RPC-21: whoever listens hears what clients tell, whichever way it comes; nobody hears of what nobody
/// listens to.
pub fn notifications_reach_their_listeners<K: Kit>(_: &str) {
    #[derive(Deserialize)]
    struct Moved {
        to: String,
    }
    let (tell, events) = Events::new();
    let again = tell.clone();
    let server = Server::new("listening", "1")
        .on_error(|_| {})
        .on_notification("acme/moved", move |told| {
            tell.tell(format!("moved to {}", told.decode::<Moved>().unwrap().to));
        })
        .on_notification("acme/moved", move |told| again.tell(format!("again: {}", told.params())));
    let host = hosted::<K>(server, Gate::default(), Events::new().1);
    let head = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: acme/moved\r\n";
    let mut raw = Raw::connect(&host.url);
    raw.post(head, r#"{"jsonrpc":"2.0","method":"acme/moved","params":{"to":"B","_meta":{}}}"#);
    assert_eq!(raw.answer().status, 202);
    events.expect("moved to B");
    events.expect(r#"again: {"to":"B","_meta":{}}"#);
    host.end();
}

/// EXT-05, EXT-07, EXT-11, META-23: a handler knows what the client has declared, and refuses what it lacks.
pub fn extensions_of_the_client_are_known<K: Kit>(_: &str) {
    let serve = |_: &Gate| {
        Server::new("extended", "1")
            .extension("com.example/shelves", json!({}))
            .tool(tool("known"), async |_: Json, cx: Context| {
                Ok(cx.require_extension("com.example/shelves")?.get().to_owned())
            })
            .tool(tool("unknown"), async |_: Json, cx: Context| {
                cx.require_extension("com.example/none")?;
                Ok(())
            })
    };
    served::<K>(serve, |client, _, _| {
        let unknown = refused(super::call::<K>(client, "unknown", json!({})));
        match client.era() {
            // There extensions are declared, by both sides.
            Era::Modern => {
                assert_eq!(text::<K>(client, "known"), r#"{"high":true}"#);
                assert!(
                    client.capabilities().extensions.as_ref().unwrap().contains_key("com.example/shelves")
                );
                let data = unknown.data.unwrap();
                assert_eq!(unknown.code, -32021);
                assert!(data.get().contains(r#""extensions":{"com.example/none":{}}"#), "{data}");
            }
            Era::Legacy => {
                assert_eq!(unknown.code, -32600);
                assert!(client.capabilities().extensions.is_none());
            }
        }
    });
}

/// TRACE-01, TRACE-02, TRACE-04: a handler reads the trace that a request belongs to, if it is one.
pub fn traces_are_read<K: Kit>(_: &str) {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let serve = |_: &Gate| {
        Server::new("traced", "1").tool(tool("trace"), async |_: Json, cx: Context| {
            let trace = cx.trace();
            Ok(format!("{:?} {:?}", trace.traceparent, trace.baggage))
        })
    };
    served::<K>(serve, |client, _, _| {
        for (parent, expected) in
            [(PARENT, format!("Some({PARENT:?}) Some(\"a=b\")")), ("?", "None Some(\"a=b\")".into())]
        {
            let mut trace = TraceContext::new();
            (trace.traceparent, trace.baggage) = (Some(parent.into()), Some("a=b".into()));
            let mut meta = Meta::new();
            trace.add_to(&mut meta);
            let options = Options::new().meta(meta);
            let reply = K::wait(client.call_tool_with("trace", json!({}), options)).unwrap();
            assert_eq!(reply.text(), expected);
        }
    });
}

/// One tool of each outcome, async and blocking; two hooks that write down what they see.
fn watched<K: Kit>(gate: &Gate, seen: &Arc<Mutex<Vec<String>>>) -> Server<K::Runtime> {
    let (outer, inner, waited) = (seen.clone(), seen.clone(), gate.clone());
    Server::new("watched", "1")
        .on_error(|_| {})
        .tool(tool("ok"), async |_: Json, _: Context| Ok("fine"))
        .tool(tool("slow"), async |_: Json, cx: Context| {
            cx.sleep(std::time::Duration::from_millis(1)).await;
            Ok("fine")
        })
        .tool(tool("block"), |_: Json, _: Context| Ok("fine"))
        .tool(tool("wrong"), async |_: Json, _: Context| Err::<(), _>(ToolError::new("wrong")))
        .tool(tool("broken"), |_: Json, _: Context| Err::<(), _>(ToolError::internal("broken")))
        .tool(tool("panic"), async |_: Json, _: Context| -> Result<(), ToolError> { panic!("oh") })
        .tool(tool("panic block"), |_: Json, _: Context| -> Result<(), ToolError> { panic!("oh") })
        .tool(tool("wait"), move |_: Json, _: Context| {
            let waited = waited.clone();
            async move {
                waited.wait().await;
                Ok(())
            }
        })
        .around(move |request: Request, next: Next| {
            let outer = outer.clone();
            async move {
                let what = format!("{} {}", request.method(), request.name());
                outer.lock().unwrap().push(format!("> {what}"));
                let answer = next.run().await;
                assert!(request.elapsed() < crate::support::DEADLINE);
                outer.lock().unwrap().push(format!("< {what}: {}", answer.kind()));
                answer
            }
        })
        .around(move |request: Request, next: Next| {
            let inner = inner.clone();
            async move {
                inner.lock().unwrap().push(format!("inner {}", request.name()));
                next.run().await
            }
        })
}

/// Every request passes all hooks, in order, and they see how it ends: whatever the handler is, whatever it does.
pub fn hooks_go_around_every_request<K: Kit>(_: &str) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    served::<K>(
        |gate| watched::<K>(gate, &seen),
        |client, _, _| {
            seen.lock().unwrap().clear();
            for (name, ends) in [
                ("ok", "ok"),
                ("slow", "ok"),
                ("block", "ok"),
                ("wrong", "tool error"),
                ("broken", "error -32603"),
                ("panic", "error -32603"),
                ("panic block", "error -32603"),
            ] {
                let outcome = super::call::<K>(client, name, json!({}));
                match ends {
                    "ok" => assert_eq!(outcome.unwrap().text(), "fine"),
                    "tool error" => assert!(outcome.unwrap().result.failed()),
                    _ => assert_eq!(refused(outcome).message, "internal error"),
                }
                let expected = [
                    format!("> tools/call {name}"),
                    format!("inner {name}"),
                    format!("< tools/call {name}: {ends}"),
                ];
                assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
            }
            K::wait(client.list_tools()).unwrap();
            let expected = ["> tools/list tools/list", "inner tools/list", "< tools/list tools/list: ok"];
            assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
        },
    );
}

/// TOOL-38, RES-21, PROMPT-16, COMP-07, COMP-09, CACHE-14: a hook refuses in its own words, whatever is asked for, and
/// what it refuses does not happen.
pub fn a_hook_may_refuse<K: Kit>(_: &str) {
    let serve = |_: &Gate| {
        Server::new("closed", "1")
            .on_error(|_| {})
            .tool(tool("t"), async |_: Json, _: Context| -> Result<(), ToolError> { panic!("it ran") })
            .prompt(Prompt::new("p").argument(PromptArgument::new("a")), |_: Json, _: Context| Ok("never"))
            .complete_prompt("p", "a", |_: Typed, _: Context| Ok(vec!["never"]))
            .resource(Resource::new("rig://r", "r"), "never")
            .around(async |request: Request, next: Next| match request.method() {
                "server/discover" | "initialize" => next.run().await,
                method => Answer::refuse(7, format!("no {method}")),
            })
    };
    served::<K>(serve, |client, _, _| {
        let complete = Complete::prompt("p", "a", "");
        for (method, outcome) in [
            ("tools/call", super::call::<K>(client, "t", json!({})).map(drop)),
            ("prompts/get", K::wait(client.get_prompt("p", &[])).map(drop)),
            ("resources/read", K::wait(client.read_resource("rig://r")).map(drop)),
            ("completion/complete", K::wait(client.complete(&complete)).map(drop)),
            ("tools/list", K::wait(client.list_tools()).map(drop).map_err(CallError::from)),
            ("resources/list", K::wait(client.list_resources()).map(drop).map_err(CallError::from)),
        ] {
            let error = refused(outcome);
            assert_eq!((error.code, error.message), (7, format!("no {method}")));
        }
    });
}

/// CAN-08: a hook learns that the client gave up, when the handler is gone already.
pub fn a_hook_sees_a_cancellation<K: Kit>(_: &str) {
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let (seen, (tell, events)) = (Arc::new(Mutex::new(Vec::new())), Events::new());
        let server = watched::<K>(&Gate::default(), &seen).around(move |request: Request, next: Next| {
            let tell = tell.clone();
            async move {
                tell.tell(format!("{} begins", request.name()));
                let answer = next.run().await;
                tell.tell(format!("{} ends: {}", request.name(), answer.kind()));
                answer
            }
        });
        let (ours, theirs) = ends::<K>();
        let running = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
        let client = K::wait(builder::<K>(era).stream(ours)).unwrap();
        let abandon = {
            let client = client.clone();
            K::abandonable(move |options| client.call_tool_with("wait", json!({}), options))
        };
        events.expect("wait begins");
        abandon();
        events.expect("wait ends: cancelled");
        assert_eq!(text::<K>(&client, "ok"), "fine");
        K::wait(client.close()).unwrap();
        running.join().unwrap();
    }
}

/// CAN-08: a hook that goes on after the client gave up starts no handler.
pub fn a_hook_starts_no_handler_of_a_cancelled_call<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let (gate, handled) = (Gate::default(), tell.clone());
    let held = gate.clone();
    let mut limits = Limits::default();
    limits.blocking_threads = 1;
    let server = Server::<K::Runtime>::new("watched", "1")
        .limits(limits)
        .tool(tool("work"), move |_: Json, _: Context| {
            handled.tell("handled");
            Ok("done")
        })
        .tool(tool("block"), |_: Json, _: Context| Ok("fine"))
        .around(move |request: Request, next: Next| {
            let (tell, held) = (tell.clone(), held.clone());
            async move {
                if request.name() != "work" {
                    return next.run().await;
                }
                tell.tell("looks up");
                held.wait().await;
                let answer = next.run().await;
                tell.tell(format!("ends: {}", answer.kind()));
                answer
            }
        });
    let (ours, theirs) = ends::<K>();
    let running = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
    let client = K::wait(builder::<K>(EraChoice::Modern).stream(ours)).unwrap();
    let abandon = {
        let client = client.clone();
        K::abandonable(move |options| client.call_tool_with("work", json!({}), options))
    };
    events.expect("looks up");
    abandon();
    // What is answered after it was sent after it.
    assert_eq!(text::<K>(&client, "block"), "fine");
    gate.open();
    events.expect("ends: cancelled");
    // The only thread takes one after the other.
    assert_eq!(text::<K>(&client, "block"), "fine");
    assert_eq!(events.others(), [""; 0]);
    K::wait(client.close()).unwrap();
    running.join().unwrap();
}

/// A hook that panics costs one request; a result is shown to a hook that asks, and may be replaced.
pub fn hooks_may_panic_look_and_replace<K: Kit>(_: &str) {
    let (tell, reports) = Events::new();
    let serve = |_: &Gate| {
        let tell = tell.clone();
        Server::new("hooked", "1")
            .on_error(move |report| tell.tell(report.to_string()))
            .tool(tool("ok"), async |_: Json, _: Context| Ok("fine"))
            .tool(tool("cursed"), async |_: Json, _: Context| Ok("fine"))
            .around(async |request: Request, next: Next| {
                assert!(request.name() != "cursed", "a curse");
                let answer = next.run().await;
                if request.name() != "ok" {
                    return answer;
                }
                let json = answer.to_json(&request).unwrap();
                assert!(request.params().contains("\"name\":\"ok\""));
                Answer::tool_error(format!("instead of {}", json.get().contains("fine")))
            })
    };
    served::<K>(serve, |client, _, _| {
        let error = refused(super::call::<K>(client, "cursed", json!({})));
        assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
        reports.expect("tool cursed: a hook around it panicked: a curse");
        assert_eq!(text::<K>(client, "ok"), "instead of true");
    });
}

/// A call that ends while hooks are around it makes room for others, and its client may go at any time.
pub fn a_client_may_leave_while_hooks_are_at_work<K: Kit>(_: &str) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let gate = Gate::default();
    let server = watched::<K>(&gate, &seen);
    let (ours, theirs) = ends::<K>();
    let running = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
    let client = K::wait(builder::<K>(EraChoice::Modern).stream(ours)).unwrap();
    let call = calling::<K>(&client, "wait");
    crate::support::eventually("the call begins", || {
        let begun = seen.lock().unwrap().iter().any(|line| line == "inner wait");
        if begun { Ok(()) } else { Err(()) }
    });
    K::wait(client.close()).unwrap();
    assert!(call.join().is_err());
    gate.open();
    running.join().unwrap();
}

/// VER-25, VER-24, LOG-01: what is deprecated works, and is said once, to those who listen.
pub fn deprecated_features_are_said_once<K: Kit>(_: &str) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let serve = |_: &Gate| {
        let heard = heard.clone();
        Server::new("old", "1")
            .logging()
            .on_error(move |report| {
                if report.blame == Blame::Nobody {
                    heard.lock().unwrap().push(report.to_string());
                }
            })
            .tool(tool("log"), async |_: Json, cx: Context| {
                cx.log(LoggingLevel::Error, "it happened");
                Ok(())
            })
    };
    served::<K>(serve, |client, _, _| {
        heard.lock().unwrap().clear();
        for _ in 0..2 {
            let options = Options::new().log_level(LoggingLevel::Info);
            K::wait(client.call_tool_with("log", json!({}), options)).unwrap();
        }
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard[0].contains("logging is deprecated by revision 2026-07-28"), "{heard:?}");
    });
}
