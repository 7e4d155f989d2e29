use super::*;
use crate::client::{AskId, InputResponse, Refusal};
use crate::dialect::Revision;
use crate::model::annotations::Role;
use crate::model::capabilities::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability,
};
use crate::model::content::TextContent;
use crate::model::elicitation::{ElicitAction, ElicitResult};
use crate::model::input_required::InputRequest;
use crate::model::roots::{ListRootsResult, Root};
use crate::model::sampling::{CreateMessageResult, SamplingContent, SamplingMessageContentBlock};

fn empty() -> Json {
    Json::empty_object()
}

fn all() -> ClientCapabilities {
    ClientCapabilities::new()
        .elicitation(ElicitationCapability::new().form(empty()).url(empty()))
        .sampling(SamplingCapability::new().tools(empty()))
        .roots(RootsCapability::new())
}

const FORM: &str = "{'message':'Who?','requestedSchema':{'type':'object',\
    'properties':{'name':{'type':'string','default':'Ada'}},'required':['name']}}";

impl Peer {
    fn asked(&mut self) -> Vec<(AskId, Arc<InputRequest>)> {
        let outputs = self.drain().into_iter();
        outputs
            .filter_map(|output| match output {
                Output::Event(Event::Asked(id, request)) => Some((id, request)),
                _ => None,
            })
            .collect()
    }

    fn asks(&mut self, id: &str, method: &str, params: &str) -> AskId {
        self.says(&format!("{{'jsonrpc':'2.0','id':{id},'method':'{method}','params':{params}}}"));
        let asked = self.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert_eq!(asked[0].1.method(), method);
        asked[0].0
    }

    fn answers(&mut self, ask: AskId, answer: Result<InputResponse, Refusal>) {
        self.connection.answer(self.now, ask, answer).unwrap();
    }

    /// The code of the error that a request is answered with.
    fn refusal(&mut self, method: &str, params: &str) -> (i64, String) {
        self.says(&format!("{{'jsonrpc':'2.0','id':9,'method':'{method}','params':{params}}}"));
        assert!(self.asked().is_empty());
        let line = self.one();
        let members: std::collections::BTreeMap<String, Json> = serde_json::from_str(&line).unwrap();
        let error: std::collections::BTreeMap<String, Json> = members["error"].decode().unwrap();
        (error["code"].decode().unwrap(), error["message"].decode().unwrap())
    }
}

fn with(capabilities: ClientCapabilities, revision: &str) -> Peer {
    let mut peer = Peer::new(config().era(EraChoice::Legacy).capabilities(capabilities));
    let initialize = peer.one();
    peer.result(&initialize, &INITIALIZED.replace("2025-11-25", revision));
    peer.one();
    peer.drain();
    peer
}

/// ELIC-28, ELIC-15, SAMP-21, ROOT-05, RPC-25: each request is answered under its id, in any order.
#[test]
fn requests_of_the_server_are_answered() {
    let mut peer = with(all(), "2025-11-25");
    let who = peer.asks("'a'", "elicitation/create", FORM);
    let say = peer.asks("7", "sampling/createMessage", "{'messages':[],'maxTokens':1}");
    let dirs = peer.asks("8", "roots/list", "{}");
    peer.answers(dirs, Ok(ListRootsResult::new(vec![Root::new("file:///srv")]).into()));
    assert_eq!(peer.one(), json("{'jsonrpc':'2.0','id':8,'result':{'roots':[{'uri':'file:///srv'}]}}"));
    peer.answers(who, Ok(ElicitResult::accept(empty()).into()));
    let line = "{'jsonrpc':'2.0','id':'a','result':{'action':'accept','content':{'name':'Ada'}}}";
    assert_eq!(peer.one(), json(line));
    peer.answers(say, Ok(CreateMessageResult::new(SamplingContent::text("hi"), "m").into()));
    let line = "{'jsonrpc':'2.0','id':7,'result':{'role':'assistant',\
        'content':{'type':'text','text':'hi'},'model':'m'}}";
    assert_eq!(peer.one(), json(line));
    assert_eq!(peer.connection.asks(), 0);
    // A second answer is nobody's.
    peer.answers(say, Err(Refusal::Failed));
    assert!(peer.written().is_empty());
}

/// SAMP-25: who does not want to is told apart from who cannot, and neither says more.
#[test]
fn refusals_have_their_codes() {
    let mut peer = with(all(), "2025-11-25");
    for (refusal, code, message) in [
        (Refusal::Rejected, -1, "User rejected the request"),
        (Refusal::Failed, -32603, "Internal error"),
        (Refusal::Misfit { reason: "seat: expected a string".into() }, -32603, "Internal error"),
        (Refusal::Error(ErrorObject::new(5, "later")), 5, "later"),
    ] {
        let ask = peer.asks("3", "roots/list", "{}");
        peer.answers(ask, Err(refusal));
        let error = format!("{{'jsonrpc':'2.0','id':3,'error':{{'code':{code},'message':'{message}'}}}}");
        assert_eq!(peer.one(), json(&error));
    }
}

/// ROOT-06, ELIC-06, SAMP-05, ELIC-04: what was not declared is not asked of anybody.
#[test]
fn what_was_not_declared_is_refused() {
    let none = ClientCapabilities::new;
    let page = "{'mode':'url','message':'m','url':'https://example.com','elicitationId':'e'}";
    let tools = "{'messages':[],'maxTokens':1,'tools':[{'name':'t','inputSchema':{'type':'object'}}]}";
    let plain = none().elicitation(ElicitationCapability::new()).sampling(SamplingCapability::new());
    let urls = none().elicitation(ElicitationCapability::new().url(empty()));
    for (capabilities, revision, method, params, code) in [
        (none(), "2025-11-25", "roots/list", "{}", -32601),
        (none(), "2025-11-25", "sampling/createMessage", tools, -32601),
        (none(), "2025-11-25", "elicitation/create", FORM, -32601),
        (all(), "2025-11-25", "x/y", "{}", -32601),
        (all(), "2025-03-26", "elicitation/create", FORM, -32601),
        (urls.clone(), "2025-06-18", "elicitation/create", FORM, -32601),
        (urls, "2025-11-25", "elicitation/create", FORM, -32602),
        (plain.clone(), "2025-11-25", "elicitation/create", page, -32602),
        (all(), "2025-06-18", "elicitation/create", page, -32602),
        (plain, "2025-11-25", "sampling/createMessage", tools, -32602),
        (all(), "2025-06-18", "sampling/createMessage", tools, -32602),
    ] {
        let mut peer = with(capabilities, revision);
        assert_eq!(peer.refusal(method, params).0, code, "{revision} {method}");
    }
}

/// SAMP-24, SAMP-27, ELIC-17, ELIC-10: what makes no sense is refused and nobody is asked.
#[test]
fn requests_that_make_no_sense_are_refused() {
    let unanswered = "{'maxTokens':1,'messages':[{'role':'assistant','content':\
        {'type':'tool_use','id':'u','name':'t','input':{}}}]}";
    let mixed = "{'maxTokens':1,'messages':[{'role':'assistant','content':\
        {'type':'tool_use','id':'u','name':'t','input':{}}},{'role':'user','content':[\
        {'type':'tool_result','toolUseId':'u','content':[]},{'type':'text','text':'secret'}]}]}";
    let mut peer = with(all(), "2025-11-25");
    for (method, params, message) in [
        ("sampling/createMessage", unanswered, "a use of a tool has no result in the next message"),
        ("sampling/createMessage", mixed, "results of tools must be alone in a message of the user"),
        ("sampling/createMessage", "{'messages':[]}", "params.maxTokens: missing"),
        (
            "elicitation/create",
            "{'mode':'url','message':'m','url':'nowhere'}",
            "the page to visit must be named by a whole URL",
        ),
    ] {
        assert_eq!(peer.refusal(method, params), (-32602, message.into()));
    }
    for params in ["{'mode':'telepathy','message':'m'}", "{'message':'m'}"] {
        assert_eq!(peer.refusal("elicitation/create", params).0, -32602);
    }
}

/// ELIC-32, ELIC-28: an answer that does not fit is kept back, and another one may be given.
#[test]
fn answers_that_do_not_fit_are_not_sent() {
    let mut peer = with(all(), "2025-11-25");
    let ask = peer.asks("1", "elicitation/create", FORM);
    let wrong = ElicitResult::accept(Json::parse("{\"name\":7}").unwrap());
    let misuse = peer.connection.answer(peer.now, ask, Ok(wrong.into())).unwrap_err();
    assert!(misuse.message.contains("name: expected a string") && !misuse.message.contains('7'));
    assert!(peer.connection.answer(peer.now, ask, Ok(ListRootsResult::default().into())).is_err());
    assert!(peer.written().is_empty());
    peer.answers(ask, Ok(ElicitResult::new(ElicitAction::Decline).content(empty()).into()));
    assert_eq!(peer.one(), json("{'jsonrpc':'2.0','id':1,'result':{'action':'decline'}}"));
}

/// CAN-17, CAN-16, CAN-12: what the server cancels is not answered, and unknown ids are nobody's fault.
#[test]
fn the_server_may_take_back_what_it_asked() {
    let mut peer = with(all(), "2025-11-25");
    let ask = peer.asks("'a'", "roots/list", "{}");
    for id in ["'b'", "7", "null", "{}"] {
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/cancelled','params':{{'requestId':{id}}}}}"
        ));
    }
    assert_eq!((peer.drain(), peer.connection.asks()), (vec![], 1));
    peer.says("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'a','reason':'r'}}");
    assert_eq!(peer.drain(), [Output::Event(Event::Retracted(ask))]);
    peer.answers(ask, Ok(ListRootsResult::default().into()));
    assert!(peer.written().is_empty());
    assert_eq!(peer.connection.asks(), 0);
}

/// Who polls late hears nothing of what is over: a server that asks and cancels fills no queue.
#[test]
fn a_question_that_is_taken_back_before_it_was_heard_is_not_heard() {
    let mut peer = with(all(), "2025-11-25");
    for id in 0..1000 {
        peer.says(&format!("{{'jsonrpc':'2.0','id':{id},'method':'roots/list'}}"));
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/cancelled','params':{{'requestId':{id}}}}}"
        ));
    }
    assert_eq!(peer.drain(), []);
}

/// A stream that is taken up again may bring a question twice: it is asked once, and answered once.
#[test]
fn a_question_under_an_id_that_is_open_is_the_same_one() {
    let mut peer = with(all(), "2025-11-25");
    let ask = peer.asks("9", "roots/list", "{}");
    peer.says("{'jsonrpc':'2.0','id':9,'method':'roots/list'}");
    let outputs = peer.drain();
    assert_eq!((outputs.len(), diagnostics(&outputs)), (1, 1));
    assert!(peer.written().is_empty());
    peer.answers(ask, Err(Refusal::Failed));
    peer.one();
}

/// ELIC-51, SAMP-27: as many as `Limits::asked`, and not one more.
#[test]
fn what_is_asked_is_bounded() {
    let limits = Limits { asked: 2, ..Limits::default() };
    let mut peer = Peer::legacy_with(config().capabilities(all()).limits(limits));
    let first = peer.asks("1", "roots/list", "{}");
    peer.asks("2", "roots/list", "{}");
    assert_eq!(peer.refusal("roots/list", "{}").0, -32603);
    peer.answers(first, Err(Refusal::Failed));
    peer.one();
    peer.asks("3", "roots/list", "{}");
}

/// The connection may end while the application thinks.
#[test]
fn questions_end_with_the_connection() {
    let mut peer = with(all(), "2025-11-25");
    let ask = peer.asks("1", "roots/list", "{}");
    peer.connection.handle_end(peer.now, End::Complete);
    let outputs = peer.drain();
    assert!(
        matches!(outputs[..], [Output::Event(Event::Retracted(gone)), Output::Event(Event::Closed(_))] if gone == ask),
        "{outputs:?}"
    );
    peer.answers(ask, Err(Refusal::Failed));
    assert!(peer.written().is_empty());
}

/// SAMP-10: towards a revision without arrays the first block is sent.
#[test]
fn an_old_server_gets_no_array() {
    let mut peer = with(all(), "2025-06-18");
    let ask = peer.asks("1", "sampling/createMessage", "{'messages':[],'maxTokens':1}");
    let blocks = ["a", "b"].map(|text| SamplingMessageContentBlock::Text(TextContent::new(text)));
    let mut result = CreateMessageResult::new(SamplingContent::Array(blocks.into()), "m");
    result.role = Role::Assistant;
    peer.answers(ask, Ok(result.into()));
    assert!(peer.one().contains("\"content\":{\"type\":\"text\",\"text\":\"a\"}"));
    assert_eq!(peer.details().revision, Revision::V2025_06_18);
}

/// ROOT-03
#[test]
fn a_legacy_server_is_told_that_the_roots_have_changed() {
    let mut peer = with(all().roots(RootsCapability::new().list_changed(true)), "2025-03-26");
    peer.connection.roots_changed(peer.now);
    assert_eq!(peer.one(), json("{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}"));
    let mut peer = with(all(), "2025-03-26");
    peer.connection.roots_changed(peer.now);
    assert!(peer.written().is_empty());
}
