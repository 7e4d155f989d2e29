//! Requests to the client in the middle of a call.

use super::*;
use crate::error::code;
use crate::model::Role;
use crate::model::elicitation::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams, ElicitationSchema, StringSchema,
};
use crate::model::input_required::{InputRequest, InputRequiredResult};
use crate::model::sampling::{
    CreateMessageRequestParams, SamplingContent, SamplingMessage, SamplingMessageContentBlock, ToolUseContent,
};
use crate::server::asks::{Answer, AskError, AskId};
use crate::time::{Duration, WakeReason};

const ALL: &str = r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#;

fn form() -> InputRequest {
    let schema = ElicitationSchema::new().required("name", StringSchema::new());
    ElicitRequestParams::from(ElicitRequestFormParams::new("Who?", schema)).into()
}

/// A client of which a call asks.
fn asking(version: &str) -> (Client, CallId) {
    let mut client = Client::able(config(), version, ALL);
    let (call, _) = client.call(&legacy_call("1"));
    (client, call)
}

fn answers(client: &mut Client) -> Vec<(AskId, Answer)> {
    let outputs = client.outputs().into_iter();
    outputs
        .filter_map(
            |output| {
                if let Output::Answered(_, ask, answer) = output { Some((ask, answer)) } else { None }
            },
        )
        .collect()
}

fn error_of(client: &mut Client, ask: AskId) -> AskError {
    let mut answers = answers(client);
    assert_eq!((answers.len(), answers[0].0), (1, ask));
    answers.remove(0).1.0.unwrap_err()
}

fn gone(id: &str, reason: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{id}","reason":"{reason}"}}}}"#
    )
}

/// ELIC-07, ELIC-10, ELIC-17, ELIC-18, SAMP-07: to the letter, as each revision has it.
#[test]
fn requests_to_the_client_are_written_as_its_revision_has_them() {
    let (mut client, call) = asking("2025-06-18");
    client.server.ask(now(), call, &form(), None).unwrap();
    assert_eq!(
        client.received(),
        [
            r#"{"jsonrpc":"2.0","id":"ask-1","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"#
        ]
    );
    client.server.ask(now(), call, &InputRequest::ListRoots, None).unwrap();
    assert_eq!(client.received(), [r#"{"jsonrpc":"2.0","id":"ask-2","method":"roots/list"}"#]);

    let (mut client, call) = asking(V);
    client.server.ask(now(), call, &form(), None).unwrap();
    assert!(client.received()[0].contains(r#""params":{"mode":"form","message""#));
    let url = ElicitRequestUrlParams::new("Sign in", "https://example.com/").elicitation_id("e1");
    client.server.ask(now(), call, &ElicitRequestParams::from(url).into(), None).unwrap();
    assert!(client.received()[0].contains(
        r#""params":{"mode":"url","message":"Sign in","url":"https://example.com/","elicitationId":"e1"}"#
    ));
}

/// RPC-04: the answer comes back to whoever asked, once.
#[test]
fn an_answer_finds_who_asked() {
    let (mut client, call) = asking(V);
    let first = client.server.ask(now(), call, &form(), None).unwrap();
    let second = client.server.ask(now(), call, &InputRequest::ListRoots, None).unwrap();
    client.received();
    let answer = r#"{"jsonrpc":"2.0","id":"ask-2","result":{"roots":[]}}"#;
    assert!(client.ask(answer).is_empty());
    assert_eq!(answers(&mut client), [(second, Answer(Ok(Json::parse(r#"{"roots":[]}"#).unwrap())))]);
    client.send(r#"{"jsonrpc":"2.0","id":"ask-1","error":{"code":-1,"message":"no"}}"#);
    assert!(matches!(error_of(&mut client, first), AskError::Refused(error) if error.code == -1));
    // Nobody waits any more, and no answer is answered.
    assert!(client.ask(answer).is_empty());
    assert_eq!(
        client.diagnostics(),
        [r#"jsonrpc, request "ask-2": expected no response to this request, found one"#]
    );
    client.server.respond(now(), call, &text("done"));
    assert_eq!(client.received().len(), 1);
}

/// A response that cannot be read ends the wait for it at once.
#[test]
fn an_unreadable_answer_is_an_error() {
    let (mut client, call) = asking(V);
    let ask = client.server.ask(now(), call, &form(), None).unwrap();
    client.received();
    assert!(client.ask(r#"{"jsonrpc":"2.0","id":"ask-1","result":1,"error":{}}"#).is_empty());
    assert!(matches!(error_of(&mut client, ask), AskError::Invalid { .. }));
}

/// CAN-20, CAN-22, CAN-24, ERR-11: the bound in time is the one of the limits or the one that was given; then the client
/// is told, and whoever has asked can tell that from an answer.
#[test]
fn an_ask_is_given_up_after_its_time() {
    let (mut client, call) = asking(V);
    let long = client.server.ask(at(0), call, &form(), None).unwrap();
    let short = client.server.ask(at(0), call, &form(), Some(Duration::from_millis(5))).unwrap();
    client.received();
    assert_eq!(client.server.poll_timeout(), Some(at(5).mono));
    assert_eq!(client.server.wake_reason(), Some(WakeReason::Ask));
    client.server.handle_timeout(at(4));
    assert!(client.received().is_empty());
    client.server.handle_timeout(at(5));
    client.server.handle_timeout(at(5));
    assert_eq!(client.received(), [gone("ask-2", "no answer in time")]);
    assert_eq!(error_of(&mut client, short), AskError::TimedOut { after: Duration::from_millis(5) });
    assert_eq!(client.server.poll_timeout(), Some(at(600_000).mono));
    client.server.handle_timeout(at(600_000));
    assert_eq!(error_of(&mut client, long), AskError::TimedOut { after: Duration::from_secs(600) });
    // The call goes on.
    client.received();
    client.server.respond(now(), call, &text("done"));
    assert_eq!(client.received().len(), 1);
}

/// CAN-16: what a call asked ends with the call, however that ends.
#[test]
fn asks_end_with_their_call() {
    let over = gone("ask-1", "the call that asked is over");
    let answer = r#"{"jsonrpc":"2.0","id":"ask-1","result":{}}"#;
    for end in [
        |client: &mut Client, call| client.server.respond(now(), call, &text("done")),
        |client: &mut Client, call| {
            client.server.fail(now(), call, &crate::error::ErrorObject::new(code::INTERNAL, "x"));
        },
        |client: &mut Client, _| client.send(&cancel("1")),
    ] {
        let (mut client, call) = asking(V);
        let ask = client.server.ask(now(), call, &form(), None).unwrap();
        client.received();
        end(&mut client, call);
        let received = client.received();
        assert_eq!(received[0], over, "before the answer of the call");
        assert_eq!(error_of(&mut client, ask), AskError::Over);
        client.send(answer);
        assert_eq!(client.diagnostics().len(), 1);
        assert_eq!(client.server.ask(now(), call, &form(), None), Err(AskError::Over));
        assert_eq!(client.server.poll_timeout(), None);
    }
}

/// CAN-16: a hook may ask before it lets the library answer; then, too, the question ends with the call.
#[test]
fn asks_of_a_hook_end_when_it_proceeds() {
    let mut config = config();
    config.hand_out_all = true;
    let mut client = Client::able(config, V, ALL);
    let (call, _) = client.call(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let ask = client.server.ask(now(), call, &form(), None).unwrap();
    client.received();
    client.server.proceed(now(), call);
    assert_eq!(client.received()[0], gone("ask-1", "the call that asked is over"));
    assert_eq!(error_of(&mut client, ask), AskError::Over);
    assert_eq!(client.server.poll_timeout(), None);
}

/// An ask that is taken back is cancelled on the wire and never answered.
#[test]
fn an_ask_can_be_taken_back() {
    let (mut client, call) = asking(V);
    let ask = client.server.ask(now(), call, &form(), None).unwrap();
    client.received();
    client.server.retract(now(), ask);
    client.server.retract(now(), ask);
    assert_eq!(client.received().len(), 1);
    client.send(r#"{"jsonrpc":"2.0","id":"ask-1","result":{}}"#);
    assert!(answers(&mut client).is_empty());
}

/// Where no answer can come from, nobody is asked, and nobody waits.
#[test]
fn the_end_of_the_input_ends_asks() {
    for end in [End::Complete, End::Broken] {
        let (mut client, call) = asking(V);
        let ask = client.server.ask(now(), call, &form(), None).unwrap();
        client.received();
        client.end(end);
        assert_eq!(error_of(&mut client, ask), AskError::Unreachable);
        let expected = if end == End::Complete { AskError::Unreachable } else { AskError::Over };
        let again = client.server.ask(now(), call, &form(), None);
        assert!(again == Err(expected) || again == Err(AskError::Unreachable));
    }
}

/// STDIO-08, ELIC-05, ROOT-09, HTTP-18, MRTR-01: refused before anything is sent.
#[test]
fn what_the_client_cannot_be_asked_is_not_sent() {
    let mut client = Client::able(config(), V, r#"{"roots":{}}"#);
    let (call, _) = client.call(&legacy_call("1"));
    assert!(matches!(client.server.ask(now(), call, &form(), None), Err(AskError::Missing { .. })));
    let (modern, _) = client.call(&modern_call("2"));
    let outcome = client.server.ask(now(), modern, &InputRequest::ListRoots, None);
    assert!(matches!(outcome, Err(AskError::NotSupported { .. })));
    let mut client = Client::able(config(), "2025-03-26", ALL);
    let (call, _) = client.call(&legacy_call("1"));
    let outcome = client.server.ask(now(), call, &form(), None);
    assert!(matches!(outcome, Err(AskError::NotSupported { .. })));
    assert!(client.received().is_empty());
}

/// SAMP-08, SAMP-12: a conversation that cannot be continued is not sent, in a request or in a result.
#[test]
fn a_conversation_that_cannot_be_continued_is_not_sent() {
    let say = |role, content| SamplingMessage::new(role, content);
    let used = ToolUseContent::new("u1", "clock", Json::parse("{}").unwrap());
    let unanswered = SamplingContent::Single(SamplingMessageContentBlock::ToolUse(used));
    for messages in [
        alloc::vec![],
        alloc::vec![say(Role::User, SamplingContent::Array(alloc::vec![]))],
        alloc::vec![say(Role::User, SamplingContent::text("Time?")), say(Role::Assistant, unanswered)],
    ] {
        let request = InputRequest::from(CreateMessageRequestParams::new(messages, 9));
        let (mut client, call) = asking(V);
        assert!(matches!(client.server.ask(now(), call, &request, None), Err(AskError::Misuse(_))));
        assert!(client.received().is_empty());
        let (modern, _) = client.call(&modern_call("2"));
        client.server.respond(now(), modern, &InputRequiredResult::new().ask("say", request));
        assert_eq!(client.received(), [error("2", -32603, "the result could not be written")]);
    }
}

/// ERR-06: no code that servers may use as they like means anything in the answer of a client.
#[test]
fn codes_without_a_meaning_are_errors_like_any_other() {
    for code in (-32019..=-32000).chain([-1, 7]) {
        let (mut client, call) = asking(V);
        let ask = client.server.ask(now(), call, &form(), None).unwrap();
        client.received();
        let error =
            format!(r#"{{"code":{code},"message":"no","data":{{"elicitations":[],"supported":[]}}}}"#);
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":"ask-1","error":{error}}}"#));
        let error = error_of(&mut client, ask);
        assert_eq!(error.to_string(), format!("the client answered with error {code}"));
        assert!(matches!(error, AskError::Refused(error) if error.code == code && error.message == "no"));
        // The call goes on.
        client.server.respond(now(), call, &text("done"));
        assert_eq!(client.received().len(), 1, "{code}");
    }
}

/// ELIC-19, ELIC-21, ELIC-22: to the letter, during the call and after it, in the one revision that has it, and to a
/// client that can be sent to pages.
#[test]
fn the_end_of_an_elicitation_is_told_where_it_has_a_name() {
    let complete =
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}"#;
    let (mut client, call) = asking(V);
    client.server.complete_elicitation(now(), "e1");
    assert_eq!(client.received(), [complete]);
    client.server.respond(now(), call, &text("done"));
    client.received();
    client.server.complete_elicitation(now(), "e1");
    assert_eq!(client.received(), [complete]);
    client.end(End::Complete);
    client.server.complete_elicitation(now(), "e1");
    assert!(client.received().is_empty());

    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut client = Client::able(config(), version, ALL);
        client.server.complete_elicitation(now(), "e1");
        assert!(client.received().is_empty(), "{version}");
    }
    let mut modern = Client::new(config());
    modern.call(&modern_call("1"));
    modern.server.complete_elicitation(now(), "e1");
    assert!(modern.received().is_empty());
    let mut unable = Client::able(config(), V, r#"{"elicitation":{}}"#);
    unable.server.complete_elicitation(now(), "e1");
    assert!(unable.received().is_empty());
}

/// ELIC-22: what cannot be sent is dropped, however often it is said.
#[test]
fn ends_of_elicitations_are_held_within_the_bound() {
    let limits = limits(|limits| limits.transmit = 100);
    let mut client = Client::able(config().limits(limits), V, ALL);
    for _ in 0..9 {
        client.server.complete_elicitation(now(), "e1");
    }
    assert_eq!(client.received().len(), 2);
}

/// `Limits::asks` is reached exactly, and passed by one.
#[test]
fn open_asks_are_bounded() {
    let limits = limits(|limits| limits.asks = 2);
    let mut client = Client::able(config().limits(limits), V, ALL);
    let (call, _) = client.call(&legacy_call("1"));
    for _ in 0..2 {
        client.server.ask(now(), call, &form(), None).unwrap();
    }
    let full = client.server.ask(now(), call, &form(), None);
    assert!(matches!(full, Err(AskError::Full(full)) if full.limit == "asks"));
    client.send(r#"{"jsonrpc":"2.0","id":"ask-1","result":{}}"#);
    client.server.ask(now(), call, &form(), None).unwrap();
}

/// RPC-26: a call of a batch asks on a line of its own, and its answer may come in a batch.
#[test]
fn calls_of_batches_ask_too() {
    let mut client = Client::able(config(), "2025-03-26", r#"{"roots":{}}"#);
    let (call, _) = client.call(&format!("[{}]", legacy_call("1")));
    let ask = client.server.ask(now(), call, &InputRequest::ListRoots, None).unwrap();
    assert_eq!(client.received(), [r#"{"jsonrpc":"2.0","id":"ask-1","method":"roots/list"}"#]);
    client.send(r#"[{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}]"#);
    assert_eq!(answers(&mut client)[0].0, ask);
}
