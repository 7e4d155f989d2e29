use super::*;
use crate::client::{Complete, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ReadResource};

const CAPABILITIES: &str = "'capabilities':{'prompts':{},'resources':{},'completions':{}}";

fn modern() -> Peer {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, &format!("{{'supportedVersions':['2026-07-28'],{CAPABILITIES}}}"));
    peer.drain();
    peer
}

fn legacy(version: &str, capabilities: &str) -> Peer {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(
        &initialize,
        &format!(
            "{{'protocolVersion':'{version}',{capabilities},'serverInfo':{{'name':'s','version':'1'}}}}"
        ),
    );
    peer.written();
    peer.drain();
    peer
}

/// Starts the call, compares its parameters, and answers it.
fn ask<C: Call>(peer: &mut Peer, call: &C, params: &str, result: &str) -> C::Reply {
    let pending = peer.start(call);
    let line = peer.one();
    assert_eq!(method(&line), call.method());
    assert!(line.contains(&json(&format!("'params':{params}"))), "{line}");
    peer.result(&line, result);
    peer.connection.take(&pending).unwrap().unwrap()
}

/// PAGE-01 to PAGE-05, PAGE-10, CACHE-22
#[test]
fn lists_are_read_page_by_page() {
    let mut peer = legacy("2025-11-25", CAPABILITIES);
    let page = ask(&mut peer, &ListPrompts::after(""), "{'cursor':''}", "{'prompts':[{'name':'a'}]}");
    assert_eq!((page.prompts[0].name.as_str(), page.next_cursor, page.ttl_ms.0), ("a", None, 0));
    let page =
        ask(&mut peer, &ListResources::after("c"), "{'cursor':'c'}", "{'resources':[],'nextCursor':''}");
    assert_eq!(page.next_cursor.unwrap().as_str(), "");
    let templates = "{'resourceTemplates':[{'uriTemplate':'x:{a}','name':'x'}]}";
    let page = ask(&mut peer, &ListResourceTemplates::after("c"), "{'cursor':'c'}", templates);
    assert_eq!(page.resource_templates[0].uri_template, "x:{a}");
}

/// PROMPT-06, COMP-02
#[test]
fn calls_carry_what_they_are_about_and_replies_are_typed() {
    let mut peer = modern();
    let call = GetPrompt::new("greet").argument("who", "Ada").arguments([("style", "brief")]);
    let params = "{'name':'greet','arguments':{'style':'brief','who':'Ada'},'_meta'";
    let messages = "{'messages':[{'role':'user','content':{'type':'text','text':'hi'}}]}";
    assert_eq!(ask(&mut peer, &call, params, messages).messages.len(), 1);
    let params = "{'name':'plain','_meta'";
    assert!(ask(&mut peer, &GetPrompt::new("plain"), params, "{'messages':[]}").messages.is_empty());

    let contents = "{'contents':[{'uri':'x:a','blob':'AA=='}],'ttlMs':7,'cacheScope':'public'}";
    let reply = ask(&mut peer, &ReadResource::new("x:a"), "{'uri':'x:a','_meta'", contents);
    assert_eq!((reply.contents[0].uri(), reply.ttl_ms.0), ("x:a", 7));

    let completion = "{'completion':{'values':['Ada'],'total':2,'hasMore':true}}";
    let params = "{'ref':{'type':'ref/resource','uri':'x:{a}'},'argument':{'name':'a','value':'A'},'_meta'";
    let reply = ask(&mut peer, &Complete::template("x:{a}", "a", "A"), params, completion);
    assert_eq!((reply.completion.values.as_slice(), reply.completion.total), (&["Ada".into()][..], Some(2)));
}

/// COMP-04
#[test]
fn earlier_arguments_are_told_to_servers_that_know_of_them() {
    let call = Complete::prompt("greet", "who", "A").known("style", "brief");
    let params = "{'ref':{'type':'ref/prompt','name':'greet'},'argument':{'name':'who','value':'A'}";
    for (version, rest) in
        [("2025-03-26", "}"), ("2025-06-18", ",'context':{'arguments':{'style':'brief'}}}")]
    {
        let mut peer = legacy(version, CAPABILITIES);
        ask(&mut peer, &call, &format!("{params}{rest}"), "{'completion':{'values':[]}}");
    }
}

/// PROMPT-15: nothing is sent for what the server did not declare.
#[test]
fn what_is_not_declared_is_not_asked_for() {
    let mut peer = legacy("2025-11-25", "'capabilities':{}");
    let now = peer.now;
    let connection = &mut peer.connection;
    let refused = |what: &str, started: Result<(), CallError>| {
        let error = started.unwrap_err();
        assert!(
            matches!(&error, CallError::Unsupported { capability: Some(it), .. } if *it == what),
            "{error}"
        );
    };
    let options = CallOptions::new;
    refused("prompts", connection.start(now, &ListPrompts::new(), options()).map(drop));
    refused("prompts", connection.start(now, &GetPrompt::new("p"), options()).map(drop));
    refused("resources", connection.start(now, &ListResources::new(), options()).map(drop));
    refused("resources", connection.start(now, &ListResourceTemplates::new(), options()).map(drop));
    refused("resources", connection.start(now, &ReadResource::new("x:a"), options()).map(drop));
    refused("completions", connection.start(now, &Complete::prompt("p", "a", ""), options()).map(drop));
    assert!(peer.written().is_empty());
    // The first revision has completion without a capability for it.
    let mut peer = legacy("2024-11-05", "'capabilities':{}");
    peer.start(&Complete::prompt("p", "a", ""));
}

/// ERR-10, RES-17
#[test]
fn both_codes_of_a_missing_resource_are_understood() {
    let mut peer = modern();
    for (code, expected) in [(-32602, true), (-32002, true), (-32603, false)] {
        let pending = peer.start(&ReadResource::new("x:a"));
        let line = peer.one();
        peer.error(&line, &format!("{{'code':{code},'message':'m','data':{{'uri':'x:a'}}}}"));
        let error = peer.connection.take(&pending).unwrap().unwrap_err();
        assert_eq!(error.is_resource_not_found(), expected, "{code}");
    }
    assert!(!CallError::Cancelled.is_resource_not_found());
}

/// ERR-08, META-16: what the codes of this protocol mean is told without comparing numbers, with what the server says to
/// them.
#[test]
fn the_codes_of_the_protocol_are_told_as_what_they_mean() {
    let mut peer = modern();
    let mut ended = |code: i32, data: &str| {
        let pending = peer.start(&ReadResource::new("x:a"));
        let line = peer.one();
        peer.error(&line, &format!("{{'code':{code},'message':'m'{data}}}"));
        peer.connection.take(&pending).unwrap().unwrap_err()
    };
    let header = ended(-32020, "");
    assert!(header.is_header_mismatch());
    assert!(header.missing_capabilities().is_none() && header.supported_versions().is_none());
    let capability = ended(-32021, ",'data':{'requiredCapabilities':{'sampling':{'tools':{}}}}");
    let missing = capability.missing_capabilities().unwrap();
    assert!(missing.sampling.is_some_and(|sampling| sampling.tools.is_some()) && missing.roots.is_none());
    assert!(!capability.is_header_mismatch() && capability.supported_versions().is_none());
    let version = ended(-32022, ",'data':{'supported':['2031-01-01'],'requested':'2026-07-28'}");
    assert_eq!(version.supported_versions().unwrap(), ["2031-01-01"]);
    assert!(!version.is_header_mismatch() && version.missing_capabilities().is_none());
    // It is known by its code, whatever is wrong with what the server says to it.
    for data in ["", ",'data':7", ",'data':{}"] {
        assert_eq!(ended(-32021, data).missing_capabilities(), Some(Default::default()));
        assert_eq!(ended(-32022, data).supported_versions(), Some(Vec::new()));
    }
    assert!(CallError::Cancelled.supported_versions().is_none());
}
