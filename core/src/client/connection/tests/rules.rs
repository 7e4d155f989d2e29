//! What a server may count on.

use super::*;
use crate::client::testing;
use crate::client::{AskId, InputResponse, Refusal};
use crate::model::capabilities::{ClientCapabilities, RootsCapability};
use crate::model::roots::ListRootsResult;

fn params(line: &str) -> std::collections::BTreeMap<String, Json> {
    let request: std::collections::BTreeMap<String, Json> = serde_json::from_str(line).unwrap();
    request.get("params").map(|params| params.decode().unwrap()).unwrap_or_default()
}

fn experimental() -> Config {
    let capabilities = serde_json::from_str(&json("{'experimental':{'x.example/kiln':{'a':1}},'roots':{}}"));
    config().capabilities(capabilities.unwrap())
}

/// INIT-01, INIT-03, INIT-07, INIT-17: a legacy server is greeted before anything else, with a revision that is spoken here
/// and all capabilities; then that the handshake is over, and only then what was to be called.
#[test]
fn a_legacy_server_hears_nothing_before_the_handshake() {
    let mut peer = Peer::new(experimental().era(EraChoice::Legacy));
    let call = peer.start(&CallTool::new("a"));
    let initialize = peer.one();
    assert_eq!(method(&initialize), "initialize");
    let offered: String = params(&initialize)["protocolVersion"].decode().unwrap();
    assert!(Revision::ALL.iter().any(|revision| revision.as_str() == offered));
    assert!(params(&initialize)["capabilities"].get().contains(&json("{'x.example/kiln':{'a':1}}")));
    peer.wait(1_000);
    assert!(peer.written().is_empty());
    peer.result(&initialize, INITIALIZED);
    let lines = peer.written();
    assert_eq!(
        lines.iter().map(|line| method(line)).collect::<Vec<_>>(),
        ["notifications/initialized", "tools/call"]
    );
    peer.result(&lines[1], "{'content':[]}");
    peer.connection.take(&call).unwrap().unwrap();
}

/// DISC-02, DISC-06, INIT-17: the probe says nothing but who asks; what follows is in a revision that the server named.
#[test]
fn a_modern_server_is_spoken_to_in_a_revision_that_it_named() {
    let mut peer = Peer::new(experimental());
    let probe = peer.one();
    assert_eq!(params(&probe).into_keys().collect::<Vec<_>>(), ["_meta"]);
    assert!(probe.contains(&json("'experimental':{'x.example/kiln':{'a':1}}")));
    peer.result(&probe, "{'supportedVersions':['2030-01-01','2026-07-28'],'capabilities':{'tools':{}}}");
    peer.start(&ListTools::new());
    assert!(peer.one().contains("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
}

/// VER-11, ERR-06: whichever code an unknown method is refused with, the server is legacy; codes that are left to
/// implementations mean nothing, and arrive as they are.
#[test]
fn codes_of_implementations_have_no_meaning() {
    for code in (-32_019..=-32_000).chain([-32_601, -32_602, -32_600, -32_603, -1, 0, 1, 404]) {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.error(&probe, &format!("{{'code':{code},'message':'m'}}"));
        let initialize = peer.one();
        assert_eq!(method(&initialize), "initialize", "{code}");
        peer.result(&initialize, INITIALIZED);
        peer.written();
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        peer.error(&line, &format!("{{'code':{code},'message':'m'}}"));
        let error = peer.connection.take(&call).unwrap().unwrap_err();
        assert_eq!(error, CallError::Server { error: ErrorObject::new(code, "m"), status: None });
    }
}

/// ERR-04, ERR-05, ERR-13: what a server is refused with has a code of the specification, or the -1 of a user, and one
/// sentence that says no more.
#[test]
fn refusals_have_codes_of_the_specification_and_one_sentence() {
    let mut config = testing::config();
    config.capabilities = ClientCapabilities::new().roots(RootsCapability::new());
    let mut peer = Peer::legacy_with(config);
    let mut refusals = Vec::new();
    for request in
        ["'method':'nothing'", "'method':'sampling/createMessage','params':{}", "'method':'roots/list'"]
    {
        for refusal in [Refusal::Failed, Refusal::Rejected, Refusal::Misfit { reason: "f: missing".into() }] {
            peer.says(&format!("{{'jsonrpc':'2.0','id':1,{request}}}"));
            let asked = peer.drain().into_iter().find_map(|output| match output {
                Output::Event(Event::Asked(ask, _)) => Some(ask),
                _ => None,
            });
            if let Some(ask) = asked {
                peer.connection.answer(peer.now, ask, Err(refusal)).unwrap();
            }
            refusals.push(peer.one());
        }
    }
    assert_eq!(refusals.len(), 9);
    for line in refusals {
        #[derive(serde::Deserialize)]
        struct Response {
            error: Error,
        }
        #[derive(serde::Deserialize)]
        struct Error {
            code: i32,
            message: String,
        }
        let Response { error } = serde_json::from_str(&line).unwrap();
        assert!([-1, -32_601, -32_602, -32_603].contains(&error.code), "{line}");
        assert!(Revision::V2026_07_28.knows_error_code(error.code) && error.message.len() < 100, "{line}");
        assert!(!error.message.contains('\n') && !error.message.is_empty());
    }
}

/// STDIO-03, STDIO-01: whatever happens, each line is one message of the protocol.
#[test]
fn the_input_of_a_server_holds_nothing_but_messages() {
    let mut config = testing::config();
    config.capabilities = ClientCapabilities::new()
        .roots(RootsCapability { list_changed: Some(true), ..RootsCapability::new() });
    let mut peer = Peer::legacy_with(config);
    let mut lines = Vec::new();
    let calls: Vec<_> = (0..3).map(|_| peer.start(&CallTool::new("a\nb")).id()).collect();
    peer.connection.cancel(peer.now, calls[0]);
    peer.says("{'jsonrpc':'2.0','id':1,'method':'ping'}");
    peer.says("{'jsonrpc':'2.0','id':'\\n','method':'roots/list'}");
    peer.says("{'jsonrpc':'2.0','id':3,'method':'no\\nthing'}");
    let ask: Option<AskId> = peer.drain().into_iter().find_map(|output| match output {
        Output::Event(Event::Asked(ask, _)) => Some(ask),
        _ => None,
    });
    let roots = InputResponse::from(ListRootsResult::default());
    peer.connection.answer(peer.now, ask.unwrap(), Ok(roots)).unwrap();
    peer.says("no message");
    peer.connection.roots_changed(peer.now);
    lines.extend(peer.written());
    peer.wait(60_000);
    peer.connection.close(peer.now);
    lines.extend(peer.written());
    assert!(lines.len() >= 9, "{lines:?}");
    for line in &lines {
        let read = jsonrpc::read(line.as_bytes(), 128);
        assert!(matches!(read, Ok(Incoming::Message(_))), "{line}");
    }
}

/// STDIO-09: answers find their calls in whichever order they come.
#[test]
fn answers_are_matched_by_id() {
    let mut peer = Peer::modern();
    let calls: Vec<_> = (0..3).map(|_| peer.start(&CallTool::new("a"))).collect();
    let lines = peer.written();
    for (number, line) in lines.iter().enumerate().rev() {
        peer.result(line, &format!("{{'content':[{{'type':'text','text':'{number}'}}]}}"));
    }
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(peer.connection.take(call).unwrap().unwrap().text(), number.to_string());
    }
}

/// PRG-05, PRG-08: progress in fractions, with or without an end, or none at all.
#[test]
fn progress_is_whatever_a_server_makes_of_it() {
    let mut peer = Peer::modern();
    let options = CallOptions::new().progress();
    let call = peer.connection.start(peer.now, &CallTool::new("a"), options).unwrap();
    let line = peer.one();
    let token = id(&line);
    for rest in ["'progress':0.25", "'progress':0.5,'total':1.5"] {
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},{rest}}}}}"
        ));
    }
    let heard = peer.drain().into_iter().filter_map(|output| match output {
        Output::Event(Event::Progress(_, Progress { progress, total, .. })) => Some((progress, total)),
        _ => None,
    });
    let heard: Vec<_> = heard.collect();
    assert_eq!(heard, [(0.25, None), (0.5, Some(1.5))]);
    peer.result(&line, "{'content':[]}");
    peer.connection.take(&call).unwrap().unwrap();
}

/// TOOL-12: names are what the server says, letter by letter.
#[test]
fn names_are_sent_as_they_are() {
    let mut peer = Peer::modern();
    for name in ["Saw", "saw", "SAW", " saw"] {
        peer.start(&CallTool::new(name));
        assert!(peer.one().contains(&format!("\"name\":\"{name}\"")));
    }
}

/// META-25, RES-25: pictures and hints arrive as they are, and nothing is fetched.
#[test]
fn pictures_and_hints_are_handed_on() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, "{'supportedVersions':['2026-07-28'],'capabilities':{'resources':{}}}");
    peer.drain();
    let call = peer.start(&crate::client::ListResources::new());
    let line = peer.one();
    peer.result(
        &line,
        "{'resources':[{'uri':'x:a','name':'a','icons':[{'src':'https://h.example/a.png','mimeType':'image/png',\
         'sizes':['48x48','any'],'theme':'dark'},{'src':'data:image/png;base64,AA=='}],\
         'annotations':{'audience':['user','assistant'],'priority':0.5,'lastModified':'2025-01-12T15:00:58Z'}}]}",
    );
    let page = peer.connection.take(&call).unwrap().unwrap();
    let resource = &page.resources[0];
    assert_eq!(resource.icons.len(), 2);
    let icon = &resource.icons[0];
    assert_eq!((&*icon.src, icon.mime_type.as_deref()), ("https://h.example/a.png", Some("image/png")));
    assert_eq!((icon.sizes.len(), icon.theme), (2, Some(crate::model::IconTheme::Dark)));
    let hints = resource.annotations.as_ref().unwrap();
    assert_eq!((hints.priority, hints.last_modified.as_deref()), (Some(0.5), Some("2025-01-12T15:00:58Z")));
    assert!(peer.written().is_empty());
}

/// EXT-04, EXT-08: no extension is declared unless the application wants it, and one without settings is an empty object.
#[test]
fn extensions_are_declared_by_the_application() {
    let mut peer = Peer::new(config());
    assert!(!peer.one().contains("extensions"));
    let capabilities = serde_json::from_str(&json("{'extensions':{'com.example/kiln':{}}}")).unwrap();
    let mut peer = Peer::new(config().capabilities(capabilities));
    assert!(peer.one().contains(&json("'extensions':{'com.example/kiln':{}}")));
}

/// ELIC-20, ELIC-23: the end of a visit that nobody knows of is a notification like others.
#[test]
fn the_end_of_an_unknown_visit_does_nothing() {
    let mut peer = Peer::legacy();
    for id in ["'nobody'", "'550e8400-e29b-41d4-a716-446655440000'", "7", "null"] {
        let params = format!("{{'elicitationId':{id}}}");
        peer.says(&format!(
            "{{'jsonrpc':'2.0','method':'notifications/elicitation/complete','params':{params}}}"
        ));
        let outputs = peer.drain();
        assert!(
            matches!(&outputs[..], [Output::Event(Event::Notification { params: Some(told), .. })]
            if told.get() == json(&params)),
            "{outputs:?}"
        );
        assert!(peer.written().is_empty());
    }
}
