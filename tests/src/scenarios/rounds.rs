//! What a call that asks its client remembers, and what it is refused for, from round to round.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_driver::model::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ElicitationSchema, InputRequest, StringSchema,
};
use mcp_driver::{
    AskError, Context, InputRequired, Json, Prompt, Resource, Runtime, Server, Tool, ToolError, Unanswered,
};
use serde_json::{Value, json};

use super::asks::{Peer, SPEECHES, accept, roots};
use crate::kit::Kit;

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

fn form(message: &str) -> ElicitRequestFormParams {
    ElicitRequestFormParams::new(message, ElicitationSchema::new().required("name", StringSchema::new()))
}

fn question(message: &str) -> ElicitRequestParams {
    form(message).into()
}

fn name(_: &str, _: &Value) -> Option<Value> {
    accept(json!({ "name": "Ada" }))
}

/// Whether an ask failed because the client did not declare what it needs.
fn lacks<T>(outcome: &Result<T, Unanswered>) -> bool {
    matches!(outcome, Err(Unanswered::Failed(AskError::Missing { .. })))
}

/// A server whose handlers count their runs, and never look at a state.
fn careless<R: Runtime>(runs: &Arc<AtomicUsize>) -> Server<R> {
    let count = || {
        let runs = runs.clone();
        move || {
            runs.fetch_add(1, Ordering::SeqCst);
        }
    };
    let (quick, blocking, asking, prompt, resource) = (count(), count(), count(), count(), count());
    Server::new("careless", "1")
        .on_error(|_| {})
        .tool(tool("quick"), move |_: Json, _: Context| {
            quick();
            async { Ok("done") }
        })
        .tool(tool("blocking"), move |_: Json, _: Context| {
            blocking();
            Ok("done")
        })
        .tool(tool("asking"), move |_: Json, _: Context| {
            asking();
            async { Err::<(), _>(InputRequired::new().ask("more", question("more")).into()) }
        })
        .prompt(Prompt::new("prompt"), move |_: Nothing, _: Context| {
            prompt();
            async { Ok("done") }
        })
        .resource(Resource::new("x:resource", "resource"), move |_: Context| {
            resource();
            Ok("done".to_owned())
        })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// MRTR-12: a state that was not given is refused before the handler runs, whatever the handler would have made
/// of it, and also by one that never asks.
pub fn a_state_is_checked_before_its_handler_runs<K: Kit>(_: &str) {
    let runs = Arc::default();
    let mut peer = Peer::connect::<K>(careless(&runs), None, super::asks::ALL);
    for (method, target) in [
        ("tools/call", json!({ "name": "quick" })),
        ("tools/call", json!({ "name": "blocking" })),
        ("tools/call", json!({ "name": "asking" })),
        ("prompts/get", json!({ "name": "prompt" })),
        ("resources/read", json!({ "uri": "x:resource" })),
    ] {
        for state in ["", "forged"] {
            let mut params = target.clone();
            params["requestState"] = state.into();
            let outcome = peer.complete(method, params, |key, _| panic!("asked for {key}"));
            assert_eq!(outcome.error(), (-32602, "requestState is not valid"), "{target}");
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(peer.refused("quick").text(), "done");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// MRTR-09, MRTR-32: what was done in one round is remembered through a round in which the handler looks at
/// nothing of it.
pub fn a_step_before_a_question_by_hand_is_done_once<K: Kit>(_: &str) {
    let held = Arc::new(AtomicUsize::new(0));
    let count = held.clone();
    let server = Server::new("rounds", "1").tool(tool("book"), move |_: Json, cx: Context| {
        let count = count.clone();
        async move {
            let again = || InputRequired::new().ask("seat", question("seat"));
            let seat = cx.input_response::<ElicitResult>("seat");
            if seat.is_none() && cx.input_responses().is_some() {
                return Err(again().into());
            }
            let hold = cx.step("hold", async || Ok(count.fetch_add(1, Ordering::SeqCst))).await?;
            match seat {
                Some(_) => Ok::<_, ToolError>(format!("held {hold}")),
                None => Err(again().into()),
            }
        }
    });
    let mut peer = Peer::connect::<K>(server, None, super::asks::ALL);
    let mut round = 0;
    let outcome = peer.call("book", json!({}), |key, request| {
        round += 1;
        if round == 1 { None } else { name(key, request) }
    });
    assert_eq!((outcome.text(), outcome.asked), ("held 0", 2));
    assert_eq!(held.load(Ordering::SeqCst), 1);
}

/// A server whose handlers cope with clients that cannot be asked everything.
fn coping<R: Runtime>() -> Server<R> {
    Server::new("coping", "1")
        .on_error(|_| {})
        .tool(tool("roots_or_not"), async |_: Json, cx: Context| {
            let roots = cx.roots("roots").await;
            let without = lacks(&roots);
            if !without {
                roots?;
            }
            let name = cx.elicit_form("name", form("name")).await?;
            Ok(format!("{} {without}", name.get()))
        })
        .tool(tool("page_or_form"), async |_: Json, cx: Context| {
            let page = cx.elicit_url("page", "page", "https://example.com/").await;
            if !lacks(&page) {
                page?;
                return Ok("sent to a page".to_owned());
            }
            Ok(cx.elicit_form("form", form("form")).await?.get().to_owned())
        })
        .tool(tool("both"), async |_: Json, cx: Context| {
            let both = (cx.elicit_form("name", form("name")), cx.roots("roots"));
            Ok(cx.all(both).await?.0.get().to_owned())
        })
        .tool(tool("both_or_one"), async |_: Json, cx: Context| {
            let both = cx.all((cx.elicit_form("both", form("both")), cx.roots("roots"))).await;
            if !lacks(&both) {
                both?;
                return Ok("both".to_owned());
            }
            Ok(cx.elicit_form("one", form("one")).await?.get().to_owned())
        })
        .tool(tool("both_by_hand"), async |_: Json, _: Context| {
            let both = InputRequired::new().ask("name", question("name"));
            Err::<(), _>(both.ask("roots", InputRequest::ListRoots).into())
        })
}

const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;

/// MRTR-08: a handler that copes with what a client lacks goes on to ask something else, in both eras alike.
pub fn a_handler_may_do_without_what_a_client_lacks<K: Kit>(_: &str) {
    for version in SPEECHES {
        let mut peer = Peer::connect::<K>(coping(), version, FORMS);
        let outcome = peer.call("roots_or_not", json!({}), name);
        assert_eq!((outcome.text(), outcome.asked), (r#"{"name":"Ada"} true"#, 1), "{version:?}");
        let outcome = peer.call("page_or_form", json!({}), name);
        assert_eq!((outcome.text(), outcome.asked), (r#"{"name":"Ada"}"#, 1), "{version:?}");
        let outcome = peer.call("both_or_one", json!({}), |key, request| {
            assert_eq!(key, "one");
            name(key, request)
        });
        assert_eq!((outcome.text(), outcome.asked), (r#"{"name":"Ada"}"#, 1), "{version:?}");

        let all = r#"{"elicitation":{"form":{}},"roots":{}}"#;
        let mut peer = Peer::connect::<K>(coping(), version, all);
        let outcome = peer.call("roots_or_not", json!({}), |key, request| match key {
            "roots/list" | "roots" => roots(),
            _ => name(key, request),
        });
        assert_eq!((outcome.text(), outcome.asked), (r#"{"name":"Ada"} false"#, 2), "{version:?}");
    }
}

/// META-16: of several things that are asked at once a user sees none when the client cannot be asked all of them:
/// the answer would be in vain.
pub fn nobody_is_asked_in_vain<K: Kit>(_: &str) {
    for tool in ["both", "both_by_hand"] {
        let mut modern = Peer::connect::<K>(coping(), None, FORMS);
        let outcome = modern.refused(tool);
        assert_eq!(outcome.error().0, -32021);
        let required = &outcome.response["error"]["data"]["requiredCapabilities"];
        assert_eq!(required, &json!({ "roots": {} }), "{tool}");
        let mut legacy = Peer::connect::<K>(coping(), Some("2025-11-25"), FORMS);
        let outcome = legacy.refused(tool);
        assert_eq!(outcome.text(), "the client cannot be asked: it did not declare `roots`", "{tool}");
        let mut nothing = Peer::connect::<K>(coping(), Some("2025-11-25"), "{}");
        let text = "the client cannot be asked: it did not declare `elicitation.form`, `roots`";
        assert_eq!(nothing.refused(tool).text(), text, "{tool}");
    }
}

/// A handler that a legacy client is asked for is run again as it was when its call began: what it checks, and what
/// its arguments were checked for, does not change between two rounds.
pub fn a_call_keeps_its_handler_from_round_to_round<K: Kit>(_: &str) {
    let server = Server::new("changing", "1").on_error(|_| {});
    let registry = server.registry();
    let by_hand = |text: &'static str| {
        move |_: Json, cx: Context| match cx.input_response::<ElicitResult>("name") {
            Some(_) => Ok(text),
            None => Err(ToolError::from(InputRequired::new().ask("name", question("name")))),
        }
    };
    registry.change(|offer| offer.tool(tool("by_hand"), by_hand("the first"))).unwrap();
    let mut peer = Peer::connect::<K>(server, Some("2025-11-25"), super::asks::ALL);
    let outcome = peer.call("by_hand", json!({}), |key, request| {
        registry
            .change(|offer| {
                offer.remove_tool("by_hand");
                offer.tool(tool("by_hand"), by_hand("the second"));
            })
            .unwrap();
        name(key, request)
    });
    assert_eq!(outcome.text(), "the first");
    assert_eq!(peer.call("by_hand", json!({}), name).text(), "the second");
    let outcome = peer.call("by_hand", json!({}), |key, request| {
        registry.change(|offer| offer.remove_tool("by_hand")).unwrap();
        name(key, request)
    });
    assert_eq!(outcome.text(), "the second");
}
