//! Pages that have to be visited before a call is carried out (-32042).

use super::*;
use crate::client::{AskId, InputResponse, Refusal, Waiting};
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability};
use crate::model::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use crate::model::error_data::UrlElicitationRequiredData;
use crate::model::input_required::InputRequest;

fn config() -> Config {
    let elicits = ElicitationCapability::new().url(Json::empty_object());
    super::config().capabilities(ClientCapabilities::new().elicitation(elicits))
}

fn page(id: &str) -> String {
    format!("{{'mode':'url','elicitationId':'{id}','url':'https://h.example/{id}','message':'Pay.'}}")
}

fn required(ids: &[&str]) -> String {
    let pages: Vec<_> = ids.iter().map(|id| page(id)).collect();
    format!("{{'code':-32042,'message':'m','data':{{'elicitations':[{}]}}}}", pages.join(","))
}

impl Peer {
    /// The pages that the user is asked about.
    fn pages(&mut self) -> Vec<(String, AskId)> {
        let outputs = self.drain().into_iter();
        let pages = outputs.filter_map(|output| match output {
            Output::Event(Event::Asked(id, request)) => match &*request {
                InputRequest::Elicit(ElicitRequestParams::Url(page)) => Some((page.url.clone(), id)),
                other => panic!("{other:?}"),
            },
            _ => None,
        });
        pages.collect()
    }

    fn agrees(&mut self, ask: AskId) {
        let answer = ElicitResult::new(ElicitAction::Accept);
        self.connection.answer(self.now, ask, Ok(answer.into())).unwrap();
    }

    fn is_done(&mut self, id: &str) {
        let params = format!("{{'elicitationId':'{id}'}}");
        self.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/elicitation/complete','params':{params}}}"
        ));
    }

    /// Lets what is due happen, and nothing else.
    fn due(&mut self) {
        if self.connection.poll_timeout().is_some_and(|at| at <= self.now.mono) {
            self.connection.handle_timeout(self.now);
        }
    }
}

/// ELIC-26, ELIC-23: the user is asked about each page; when they have agreed and the server has said that the pages have
/// done their part, in whichever order, the call is made again as it was, under another id.
#[test]
fn a_call_is_made_again_when_its_pages_are_done() {
    for early in [false, true] {
        let mut peer = Peer::legacy_with(config());
        let call = peer.start(&CallTool::new("pay"));
        let sent = peer.one();
        peer.error(&sent, &required(&["a", "b"]));
        let pages = peer.pages();
        assert_eq!(
            pages.iter().map(|(url, _)| &**url).collect::<Vec<_>>(),
            ["https://h.example/a", "https://h.example/b"]
        );
        peer.agrees(pages[0].1);
        peer.is_done("unknown");
        if early {
            peer.is_done("b");
            peer.is_done("a");
            peer.due();
            assert!(peer.written().is_empty(), "the user has not agreed to everything");
            peer.agrees(pages[1].1);
        } else {
            peer.agrees(pages[1].1);
            peer.is_done("b");
            peer.due();
            assert!(peer.written().is_empty(), "one page is missing");
            peer.is_done("a");
            peer.due();
        }
        let again = peer.one();
        assert_ne!(id(&again), id(&sent));
        let params = |line: &str| line.split_once("\"method\"").unwrap().1.to_string();
        assert_eq!(params(&again), params(&sent));
        peer.is_done("a");
        peer.due();
        assert!(peer.written().is_empty());
        peer.result(&again, "{'content':[]}");
        assert!(peer.connection.take(&call).unwrap().is_ok());
    }
}

/// ELIC-23: a server need not say that a page is done, so the call is made again after a while, or when the application
/// says so; and gives up when it says so.
#[test]
fn a_server_that_says_nothing_is_asked_again() {
    let mut peer = Peer::legacy_with(config());
    let call = peer.start(&CallTool::new("pay"));
    let sent = peer.one();
    peer.error(&sent, &required(&["a"]));
    let ask = peer.pages()[0].1;
    peer.agrees(ask);
    let waiting = peer.drain();
    let told = |output: &Output| {
        matches!(output, Output::Event(Event::Waiting(id, Waiting { method, rounds: 1, request_state: false, .. }))
            if *id == call.id() && method == "tools/call")
    };
    assert!(waiting.iter().any(told), "{waiting:?}");
    peer.wait(29_999);
    assert!(peer.written().is_empty());
    peer.wait(1);
    let again = peer.one();
    peer.error(&again, &required(&["b"]));
    let ask = peer.pages()[0].1;
    peer.agrees(ask);
    peer.connection.retry(peer.now, call.id());
    let again = peer.one();
    peer.error(&again, &required(&["c"]));
    let ask = peer.pages()[0].1;
    peer.agrees(ask);
    peer.connection.stop(peer.now, call.id());
    assert!(
        matches!(peer.connection.take(&call), Some(Err(CallError::Server { error, .. })) if error.code == -32042)
    );
    peer.wait(60_000);
    assert!(peer.written().is_empty());
}

/// ELIC-29: who does not agree, or cannot be asked, ends the call with the error of the server, which names the pages. The
/// other pages are not asked about any more.
#[test]
fn who_does_not_agree_ends_the_call() {
    let answers: [fn() -> Result<InputResponse, Refusal>; 4] = [
        || Ok(ElicitResult::new(ElicitAction::Decline).into()),
        || Ok(ElicitResult::new(ElicitAction::Cancel).into()),
        || Err(Refusal::Rejected),
        || Err(Refusal::Failed),
    ];
    for answer in answers {
        let mut peer = Peer::legacy_with(config());
        let call = peer.start(&CallTool::new("pay"));
        let sent = peer.one();
        peer.error(&sent, &required(&["a", "b"]));
        let pages = peer.pages();
        peer.connection.answer(peer.now, pages[0].1, answer()).unwrap();
        let Some(Err(CallError::Server { error, .. })) = peer.connection.take(&call) else { panic!() };
        assert_eq!(UrlElicitationRequiredData::of(&error).unwrap().elicitations.len(), 2);
        assert_eq!(peer.connection.asks(), 0);
        let outputs = peer.drain();
        let retracted = Output::Event(Event::Retracted(pages[1].1));
        assert!(outputs.contains(&retracted), "{outputs:?}");
        peer.is_done("a");
        peer.due();
        assert!(peer.written().is_empty());
    }
}

/// ELIC-27: what is not such an error, of such a server, to a client that can send its user to pages, ends the call.
#[test]
fn other_errors_are_not_waited_for() {
    let form = "{'code':-32042,'message':'m','data':{'elicitations':[{'message':'m','requestedSchema':{'type':'object','properties':{}}}]}}";
    let nameless = required(&["a"]).replace("'elicitationId':'a',", "");
    let other = required(&["a"]).replace("-32042", "-32041");
    for error in [
        form,
        &nameless,
        &other,
        "{'code':-32042,'message':'m'}",
        &required(&[]),
        "{'code':-32042,'message':'m','data':7}",
    ] {
        let mut peer = Peer::legacy_with(config());
        let call = peer.start(&CallTool::new("pay"));
        let sent = peer.one();
        peer.error(&sent, error);
        assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Server { .. }))), "{error}");
        assert_eq!(peer.connection.asks(), 0);
    }
    for mut peer in [Peer::legacy(), Peer::modern_with(config())] {
        let call = peer.start(&CallTool::new("pay"));
        let sent = peer.one();
        peer.error(&sent, &required(&["a"]));
        let Some(Err(CallError::Server { error, .. })) = peer.connection.take(&call) else { panic!() };
        assert!(UrlElicitationRequiredData::of(&error).is_some());
    }
    let mut peer = Peer::legacy_with(config());
    let call = peer.start(&Ping);
    let sent = peer.one();
    peer.error(&sent, &required(&["a"]));
    assert!(peer.connection.take(&call).unwrap().is_err());
}

/// ELIC-23: whoever has agreed to a page is not asked about it again until it is done, even if the server is.
#[test]
fn nobody_is_asked_twice_about_a_page() {
    let mut peer = Peer::legacy_with(config());
    let call = peer.start(&CallTool::new("pay"));
    let sent = peer.one();
    peer.error(&sent, &required(&["a"]));
    let ask = peer.pages()[0].1;
    peer.agrees(ask);
    peer.wait(30_000);
    let again = peer.one();
    peer.error(&again, &required(&["a", "b"]));
    let pages = peer.pages();
    assert_eq!(pages.iter().map(|(url, _)| &**url).collect::<Vec<_>>(), ["https://h.example/b"]);
    peer.agrees(pages[0].1);
    peer.wait(30_000);
    let again = peer.one();
    peer.error(&again, &required(&["a", "b"]));
    assert!(peer.pages().is_empty());
    peer.is_done("a");
    peer.is_done("b");
    peer.due();
    let again = peer.one();
    peer.result(&again, "{'content':[]}");
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// `Limits::call_rounds` is how often a server may send off one call, and its time goes on till the cap.
#[test]
fn visits_are_bounded() {
    let limits = Limits { call_rounds: 2, ..Limits::default() };
    let mut peer = Peer::legacy_with(config().limits(limits));
    let call = peer.start(&CallTool::new("pay"));
    for round in 0..3 {
        let sent = peer.one();
        peer.error(&sent, &required(&["a"]));
        let pages = peer.pages();
        assert_eq!(pages.len(), usize::from(round < 2));
        if let Some((_, ask)) = pages.first() {
            peer.agrees(*ask);
            peer.is_done("a");
            peer.due();
        }
    }
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Server { .. }))));

    let mut peer = Peer::legacy_with(config());
    let call = peer.start(&CallTool::new("pay"));
    let sent = peer.one();
    peer.error(&sent, &required(&["a"]));
    assert_eq!(peer.pages().len(), 1);
    peer.wait(Limits::default().request_max.as_millis() as u64);
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Server { .. }))));
    assert_eq!(peer.connection.asks(), 0);
}
