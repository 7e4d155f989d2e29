use super::*;
use crate::client::{
    AskId, Continuation, GetPrompt, InputResponse, Refusal, Resume, ToolReply, Unmet, Waiting,
};
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability, RootsCapability};
use crate::model::elicitation::{ElicitAction, ElicitResult};
use crate::model::input_required::InputRequest;
use crate::model::roots::ListRootsResult;
use std::collections::BTreeMap;

const FORM: &str = "{'method':'elicitation/create','params':{'message':'Who?','requestedSchema':\
    {'type':'object','properties':{'name':{'type':'string','default':'Ada'}},'required':['name']}}}";
const DIRS: &str = "{'method':'roots/list'}";

fn config() -> Config {
    let capabilities = ClientCapabilities::new()
        .elicitation(ElicitationCapability::new().form(Json::empty_object()))
        .roots(RootsCapability::new());
    super::config().capabilities(capabilities)
}

fn peer() -> Peer {
    Peer::modern_with(config())
}

fn asking(requests: &str) -> String {
    format!("{{'resultType':'input_required','inputRequests':{{{requests}}}}}")
}

/// The members of a request's parameters.
fn params(line: &str) -> BTreeMap<String, Json> {
    let members: BTreeMap<String, Json> = serde_json::from_str(line).unwrap();
    members["params"].decode().unwrap()
}

impl Peer {
    fn questions(&mut self) -> BTreeMap<String, AskId> {
        let outputs = self.drain().into_iter();
        outputs
            .filter_map(|output| match output {
                Output::Event(Event::Asked(id, request)) => Some((request.method().to_string(), id)),
                _ => None,
            })
            .collect()
    }

    fn accept(&mut self, ask: AskId) {
        let answer = ElicitResult::accept(Json::empty_object());
        self.connection.answer(self.now, ask, Ok(answer.into())).unwrap();
    }

    fn ended(&mut self, call: &Pending<ToolReply>) -> (Unmet, Continuation) {
        match self.connection.take(call) {
            Some(Err(CallError::InputRequired { why, continuation })) => (why, *continuation),
            other => panic!("{other:?}"),
        }
    }

    fn waiting(&mut self) -> Waiting {
        let found = self.drain().into_iter().find_map(|output| match output {
            Output::Event(Event::Waiting(_, waiting)) => Some(waiting),
            _ => None,
        });
        found.unwrap()
    }
}

/// MRTR-25, MRTR-20, MRTR-21, MRTR-23, MRTR-24, MRTR-27: all that is asked is answered, and the call made again as it
/// was, with the state as it came, under another id.
#[test]
fn a_call_is_made_again_with_what_was_asked() {
    let mut peer = peer();
    let call = peer.start(&CallTool::with("book", BTreeMap::from([("seat", "4A")])));
    let first = peer.one();
    let state = "{ \\\"n\\\":  1.0, \\\"id\\\": \\u00e9 }";
    let requests = format!("'who':{FORM},'dirs':{DIRS}");
    let result = asking(&requests).replace("'resultType'", &format!("'requestState':'{state}','resultType'"));
    peer.result(&first, &result);
    let asked = peer.questions();
    assert_eq!((asked.len(), peer.connection.asks()), (2, 2));
    let roots = InputResponse::from(ListRootsResult::default());
    peer.connection.answer(peer.now, asked["roots/list"], Ok(roots)).unwrap();
    assert!(peer.written().is_empty(), "one answer is missing");
    peer.accept(asked["elicitation/create"]);
    let second = peer.one();
    assert_eq!(method(&second), "tools/call");
    assert_ne!(id(&first), id(&second));
    let sent = params(&second);
    assert_eq!(sent["name"].get(), "\"book\"");
    assert_eq!(sent["arguments"].get(), "{\"seat\":\"4A\"}");
    assert_eq!(sent["_meta"].get(), params(&first)["_meta"].get());
    assert_eq!(
        sent["inputResponses"].get(),
        json("{'dirs':{'roots':[]},'who':{'action':'accept','content':{'name':'Ada'}}}")
    );
    assert_eq!(sent["requestState"].decode::<String>().unwrap(), "{ \"n\":  1.0, \"id\": é }");
    peer.result(&second, "{'content':[{'type':'text','text':'done'}]}");
    assert_eq!(peer.connection.take(&call).unwrap().unwrap().text(), "done");
    assert_eq!(
        (peer.connection.calls(), peer.connection.asks(), peer.connection.poll_timeout()),
        (0, 0, None)
    );
}

/// MRTR-26: a state goes with the next round only.
#[test]
fn a_state_is_not_sent_once_the_server_gives_none() {
    let mut peer = peer();
    peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &format!("{{'requestState':'s',{}", &asking(&format!("'w':{FORM}"))[1..]));
    let ask = peer.questions()["elicitation/create"];
    peer.accept(ask);
    let line = peer.one();
    assert!(params(&line).contains_key("requestState"));
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.accept(ask);
    assert!(!params(&peer.one()).contains_key("requestState"));
}

/// MRTR-28: what belongs to one call is in no other.
#[test]
fn rounds_of_calls_do_not_mix() {
    let mut peer = peer();
    let (a, b) = (peer.start(&CallTool::new("a")), peer.start(&CallTool::new("b")));
    let lines = peer.written();
    peer.result(&lines[0], &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.start(&CallTool::new("c"));
    assert!(!peer.one().contains("inputResponses"));
    peer.result(&lines[1], "{'resultType':'input_required','requestState':'of b'}");
    peer.accept(ask);
    let again = params(&peer.one());
    assert_eq!(again["name"].get(), "\"a\"");
    assert!(!again.contains_key("requestState"));
    peer.wait(250);
    let again = params(&peer.one());
    assert_eq!((again["name"].get(), again["requestState"].get()), ("\"b\"", "\"of b\""));
    assert!(!again.contains_key("inputResponses"));
    assert!(peer.connection.take(&a).is_none() && peer.connection.take(&b).is_none());
}

/// MRTR-02: prompts may ask as well.
#[test]
fn prompts_and_calls_from_before_the_era_was_known_make_rounds() {
    let mut peer = Peer::new(config());
    let prompt = peer.start(&GetPrompt::new("greet"));
    let probe = peer.one();
    peer.result(&probe, &DISCOVERED.replace("'tools':{}", "'prompts':{}"));
    peer.drain();
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.accept(ask);
    let line = peer.one();
    assert!(line.contains("inputResponses") && line.contains("\"name\":\"greet\""));
    peer.result(&line, "{'messages':[]}");
    assert!(peer.connection.take(&prompt).unwrap().is_ok());
}

/// MRTR-22: a server that asks nothing is called again, after a wait that grows.
#[test]
fn a_server_that_asks_nothing_is_called_again_later() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let state = "{'resultType':'input_required','requestState':'s'}";
    for (round, delay, elapsed) in [(1, 250, 0), (2, 500, 250), (3, 1000, 750)] {
        let line = peer.one();
        peer.result(&line, state);
        let waiting = peer.waiting();
        let ms = Duration::from_millis;
        assert_eq!((waiting.rounds, waiting.delay, waiting.elapsed), (round, ms(delay), ms(elapsed)));
        assert!(waiting.request_state);
        assert_eq!(peer.connection.wake_reason(), Some(crate::time::WakeReason::Round));
        peer.wait(delay - 1);
        assert!(peer.written().is_empty());
        peer.wait(1);
    }
    // A question in between begins the waits anew.
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.accept(ask);
    let line = peer.one();
    peer.result(&line, state);
    assert_eq!(peer.waiting().delay, Duration::from_millis(250));
    // It can be called again at once, and given up.
    peer.connection.retry(peer.now, call.id());
    let line = peer.one();
    peer.result(&line, state);
    peer.connection.stop(peer.now, call.id());
    assert_eq!(peer.ended(&call).0, Unmet::Stopped);
    assert_eq!((peer.connection.calls(), peer.connection.poll_timeout()), (0, None));
}

/// Rounds are bounded, exactly.
#[test]
fn a_call_has_so_many_rounds_and_no_more() {
    let limits = Limits { call_rounds: 2, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let call = peer.start(&CallTool::new("a"));
    for _ in 0..2 {
        let line = peer.one();
        peer.result(&line, &asking(&format!("'w':{FORM}")));
        let ask = peer.questions()["elicitation/create"];
        peer.accept(ask);
    }
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    assert!(peer.questions().is_empty());
    assert_eq!(peer.ended(&call).0, Unmet::Rounds { limit: 2 });
}

/// MRTR-08, ELIC-05, SAMP-05, SAMP-24: what cannot be asked of this client ends the call, and nobody is asked.
#[test]
fn what_cannot_be_asked_ends_the_call() {
    let page = "{'method':'elicitation/create','params':{'mode':'url','message':'m','url':'https://e.com'}}";
    let sample = "{'method':'sampling/createMessage','params':{'messages':[],'maxTokens':1}}";
    for (request, capability) in
        [("{'method':'new/thing'}", "capability"), (page, "elicitation.url"), (sample, "capability")]
    {
        let mut peer = peer();
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        peer.result(&line, &asking(&format!("'ok':{DIRS},'odd':{request}")));
        assert!(peer.questions().is_empty());
        let (why, continuation) = peer.ended(&call);
        let Unmet::Inadmissible { key, reason } = why else { panic!("{why:?}") };
        assert!(key == "odd" && reason.contains(capability), "{reason}");
        assert_eq!((continuation.method(), continuation.rounds()), ("tools/call", 1));
        assert_eq!(continuation.input_required().unwrap().input_requests["ok"], InputRequest::ListRoots);
        assert!(peer.written().is_empty());
    }
    for result in [
        "{'resultType':'input_required'}",
        "{'resultType':'input_required','inputRequests':{}}",
        "{'resultType':'input_required','inputRequests':{'a':{}}}",
        "{'resultType':'input_required','inputRequests':[]}",
        "{'resultType':'input_required','requestState':7}",
    ] {
        let mut peer = peer();
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        peer.result(&line, result);
        assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Invalid { .. }))), "{result}");
    }
}

/// MRTR-33: without an answer the call is not made again; what was answered is kept.
#[test]
fn a_refusal_ends_the_call() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM},'d':{DIRS},'e':{DIRS}")));
    let outputs = peer.drain();
    let asks: Vec<AskId> = outputs
        .iter()
        .filter_map(|output| if let Output::Event(Event::Asked(id, _)) = output { Some(*id) } else { None })
        .collect();
    // By name: `d`, `e`, `w`.
    peer.connection.answer(peer.now, asks[0], Ok(ListRootsResult::default().into())).unwrap();
    peer.connection.answer(peer.now, asks[2], Err(Refusal::Rejected)).unwrap();
    let outputs = peer.drain();
    assert_eq!(outputs[0], Output::Event(Event::Retracted(asks[1])), "the other one is not waited for");
    assert_eq!(settled(&outputs), 1);
    let (why, continuation) = peer.ended(&call);
    assert_eq!(why, Unmet::Refused { key: "w".into(), refusal: Refusal::Rejected });
    assert_eq!(continuation.responses().keys().collect::<Vec<_>>(), ["d"]);
    assert!(peer.written().is_empty());
    assert_eq!(peer.connection.asks(), 0);
}

/// CAN-20, CAN-24: while people think only the hard cap counts, and the time of each round is its own.
#[test]
fn rounds_have_the_time_of_the_call() {
    let mut peer = peer();
    let options = CallOptions::new().timeout(Duration::from_secs(1)).max(Duration::from_secs(10));
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    peer.wait(900);
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.wait(5_000);
    peer.accept(ask);
    let line = peer.one();
    peer.wait(900);
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.wait(3_200);
    assert_eq!(
        peer.drain(),
        [Output::Event(Event::Retracted(ask)), Output::Event(Event::Settled(call.id()))]
    );
    assert_eq!(peer.ended(&call).0, Unmet::TimedOut { after: Duration::from_secs(10) });
    assert!(peer.written().is_empty(), "nothing is under way that could be cancelled");
}

/// CAN-02, CAN-04: a call can be cancelled in any round; between rounds there is nothing to tell.
#[test]
fn a_call_is_cancelled_in_any_round() {
    let mut peer = peer();
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.accept(ask);
    let line = peer.one();
    peer.connection.cancel(peer.now, call.id());
    let cancelled = peer.one();
    assert!(cancelled.contains(&format!("\"requestId\":{}", id(&line))));

    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.result(&line, &asking(&format!("'w':{FORM}")));
    let ask = peer.questions()["elicitation/create"];
    peer.connection.cancel(peer.now, call.id());
    assert_eq!(
        peer.drain(),
        [Output::Event(Event::Retracted(ask)), Output::Event(Event::Settled(call.id()))]
    );
    assert!(peer.written().is_empty());
    peer.accept(ask);
    assert!(peer.written().is_empty());
}

/// PRG-02, PRG-04: progress is asked for in each round, under the id of that round.
#[test]
fn progress_goes_on_over_rounds() {
    let mut peer = peer();
    let options = CallOptions::new().progress();
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let report = |line: &str, progress: u32| {
        let token = id(line);
        format!(
            "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':{progress}}}}}"
        )
    };
    let first = peer.one();
    peer.says(&report(&first, 5));
    peer.result(&first, &asking(&format!("'w':{FORM}")));
    let mut heard = Vec::new();
    let outputs = peer.drain();
    let ask = outputs
        .iter()
        .find_map(|it| if let Output::Event(Event::Asked(id, _)) = it { Some(*id) } else { None });
    peer.accept(ask.unwrap());
    let second = peer.one();
    assert!(second.contains(&format!("\"progressToken\":{}", id(&second))));
    peer.says(&report(&first, 9));
    peer.says(&report(&second, 1));
    for output in outputs.into_iter().chain(peer.drain()) {
        if let Output::Event(Event::Progress(of, progress)) = output {
            assert_eq!(of, call.id());
            heard.push(progress.progress);
        }
    }
    assert_eq!(heard, [5.0, 1.0]);
}

/// A call is gone on with by hand, in another process: what is kept survives being written and read.
#[test]
fn a_call_can_be_gone_on_with_elsewhere() {
    let mut here = peer();
    let options = CallOptions::new().manual_input();
    let arguments = BTreeMap::from([("k", "p4yl04d")]);
    let call = here.connection.start(here.now, &CallTool::with("a", arguments), options).unwrap();
    let line = here.one();
    let result = format!("{{'requestState':'s',{}", &asking(&format!("'w':{FORM}"))[1..]);
    here.result(&line, &result);
    assert!(here.questions().is_empty());
    let (why, continuation) = here.ended(&call);
    assert_eq!(why, Unmet::Manual);
    assert!(!format!("{continuation:?}").contains("p4yl04d"));
    let kept = serde_json::to_string(&continuation).unwrap();

    let mut continuation: Continuation = serde_json::from_str(&kept).unwrap();
    let early = Resume::<CallTool<'_, Json>>::new(continuation.clone());
    let mut there = peer();
    assert!(there.connection.start(there.now, &early, CallOptions::new()).is_err(), "not answered yet");
    assert!(continuation.answer("x", ElicitResult::new(ElicitAction::Cancel)).is_err());
    let wrong = ElicitResult::accept(Json::parse("{\"name\":1}").unwrap());
    assert!(continuation.answer("w", wrong).is_err());
    continuation.answer("w", ElicitResult::accept(Json::empty_object())).unwrap();
    let call = Resume::<CallTool<'_, Json>>::new(continuation);
    let options = CallOptions::new().manual_input();
    let call = there.connection.start(there.now, &call, options).unwrap();
    let line = there.one();
    let sent = params(&line);
    assert_eq!(sent["arguments"].get(), json("{'k':'p4yl04d'}"));
    assert_eq!(sent["requestState"].get(), "\"s\"");
    assert_eq!(sent["inputResponses"].get(), json("{'w':{'action':'accept','content':{'name':'Ada'}}}"));
    // Another round remembers nothing of this one but that it was.
    there.result(&line, &asking(&format!("'v':{DIRS}")));
    let (_, continuation) = there.ended(&call);
    assert_eq!((continuation.rounds(), continuation.responses().len()), (2, 0));
    let kept = serde_json::to_string(&continuation).unwrap();
    assert!(!kept.contains("inputResponses") && !kept.contains("requestState"));
}

/// Every part of the table is empty when calls in rounds end with the connection.
#[test]
fn rounds_end_with_the_connection() {
    let mut peer = peer();
    let asks = peer.start(&CallTool::new("a"));
    let waits = peer.start(&CallTool::new("b"));
    let lines = peer.written();
    peer.result(&lines[0], &asking(&format!("'w':{FORM}")));
    peer.result(&lines[1], "{'resultType':'input_required','requestState':'s'}");
    peer.drain();
    peer.connection.close(peer.now);
    let outputs = peer.drain();
    assert!(matches!(outputs.last(), Some(Output::Event(Event::Closed(_)))), "{outputs:?}");
    for call in [asks, waits] {
        let error = peer.connection.take(&call).unwrap().unwrap_err();
        assert!(matches!(error.cause(), CallError::Broken { .. }), "{error}");
    }
    assert_eq!(
        (peer.connection.calls(), peer.connection.asks(), peer.connection.poll_timeout()),
        (0, 0, None)
    );
}

/// ELIC-19: there is no such name in this revision, so whoever is asked does not see one, and neither does who goes on by
/// hand.
#[test]
fn a_page_of_a_modern_server_has_no_name() {
    let capabilities =
        ClientCapabilities::new().elicitation(ElicitationCapability::new().url(Json::empty_object()));
    let mut peer = Peer::modern_with(super::config().capabilities(capabilities));
    let page = "'p':{'method':'elicitation/create','params':\
        {'mode':'url','message':'m','url':'https://h.example/','elicitationId':'e1'}}";
    let is_named = |request: &InputRequest| match request {
        InputRequest::Elicit(crate::model::elicitation::ElicitRequestParams::Url(page)) => {
            page.elicitation_id.is_some()
        }
        other => panic!("{}", other.method()),
    };
    peer.start(&CallTool::new("t"));
    let call = peer.one();
    peer.result(&call, &asking(page));
    let outputs = peer.drain();
    assert_eq!(diagnostics(&outputs), 1);
    let asked = outputs.iter().find_map(|output| match output {
        Output::Event(Event::Asked(_, request)) => Some(request),
        _ => None,
    });
    assert!(!is_named(asked.unwrap()));
    let options = CallOptions::new().manual_input();
    let by_hand = peer.connection.start(peer.now, &CallTool::new("t"), options).unwrap();
    let call = peer.one();
    peer.result(&call, &asking(page));
    let (_, continuation) = peer.ended(&by_hand);
    assert!(!is_named(&continuation.input_required().unwrap().input_requests["p"]));
}
