use super::*;
use crate::client::{Complete, GetPrompt, ReadResource};

const TOOLS: &str = "{'resultType':'complete','tools':[\
    {'name':'query','inputSchema':{'type':'object','properties':{\
    'region':{'type':'string','x-mcp-header':'Region'},\
    'method':{'type':'string','x-mcp-header':'Method'},\
    'limit':{'type':'integer','x-mcp-header':'Limit'},\
    'dry':{'type':'boolean','x-mcp-header':'Dry'},\
    'inner':{'type':'object','properties':{'bay':{'type':'string','x-mcp-header':'Bay'}}},\
    'text':{'type':'string'}}}},\
    {'name':'bad','inputSchema':{'type':'object','properties':{'a':{'type':'number','x-mcp-header':'A'}}}},\
    {'name':'worse','inputSchema':{'type':'object','properties':{'a':{'type':'string','x-mcp-header':'A B'}}}},\
    {'name':'plain','inputSchema':{'type':'object'}}]}";

fn listed() -> Peer {
    let mut peer = Peer::modern();
    list(&mut peer, TOOLS);
    peer
}

fn list(peer: &mut Peer, tools: &str) -> Vec<String> {
    let (call, sent) = peer.start(&ListTools::new());
    peer.result(&sent, tools);
    peer.take(&call).unwrap().tools.into_iter().map(|tool| tool.name).collect()
}

fn call(peer: &mut Peer, arguments: &str) -> Sent {
    let arguments = Json::parse(json(arguments)).unwrap();
    peer.start(&CallTool::with("query", arguments)).1
}

/// HDR-06, HDR-07, HDR-09
#[test]
fn method_and_name_are_mirrored() {
    let mut peer = Peer::modern();
    let (_, sent) = peer.start(&ListTools::new());
    assert_eq!((sent.header("mcp-method"), sent.header("mcp-name")), (Some("tools/list"), None));
    let (_, sent) = peer.start(&CallTool::new("a b"));
    assert_eq!((sent.header("mcp-method"), sent.header("mcp-name")), (Some("tools/call"), Some("a b")));
    let (_, sent) = peer.start(&CallTool::new("世界"));
    assert_eq!(sent.header("mcp-name"), Some("=?base64?5LiW55WM?="));
}

/// HDR-07, HDR-08: prompts by name, resources by address as it is, and nothing else.
#[test]
fn prompts_and_resources_are_mirrored_too() {
    let mut peer = Peer::modern_with(config().check_capabilities(false));
    let (_, sent) = peer.start(&GetPrompt::new("greet"));
    assert_eq!((sent.header("mcp-method"), sent.header("mcp-name")), (Some("prompts/get"), Some("greet")));
    let address = "file:///path/to/file%20name.txt";
    let (_, sent) = peer.start(&ReadResource::new(address));
    assert_eq!((sent.header("mcp-method"), sent.header("mcp-name")), (Some("resources/read"), Some(address)));
    let (_, sent) = peer.start(&Complete::prompt("greet", "who", ""));
    assert_eq!((sent.header("mcp-method"), sent.header("mcp-name")), (Some("completion/complete"), None));
}

/// HDR-07, HDR-08, TASK-54: whoever spells out a method of the specification gets its headers as well.
#[test]
fn custom_calls_mirror_what_they_are_about() {
    let mut peer = Peer::modern_with(config().check_capabilities(false));
    let mut name = |method: &str, params: &str| {
        let params = Json::parse(json(params)).unwrap();
        let (_, sent) = peer.start(&Custom::new(method, Some(params)).unwrap());
        sent.header("mcp-name").map(ToString::to_string)
    };
    let address = "file:///path/to/file%20name.txt";
    assert_eq!(name("tools/call", "{'name':'add'}").as_deref(), Some("add"));
    assert_eq!(name("tasks/get", "{'taskId':'7'}").as_deref(), Some("7"));
    assert_eq!(name("x/y", "{'name':'add','uri':'a:b'}"), None);
    assert_eq!(name("resources/read", &format!("{{'uri':'{address}'}}")).as_deref(), Some(address));
    assert_eq!(name("prompts/get", "{'name':'hail','arguments':{}}").as_deref(), Some("hail"));
    assert_eq!(name("prompts/get", "{'name':7}"), None);
}

/// HDR-26, HDR-27, HDR-28
#[test]
fn tools_with_bad_annotations_are_dropped_and_reported() {
    let mut peer = Peer::modern();
    assert_eq!(list(&mut peer, TOOLS), ["query", "plain"]);
    let reports = peer.diagnostics();
    assert_eq!(reports.len(), 2);
    assert!(reports[0].contains("bad") && reports[1].contains("worse"), "{reports:?}");
}

/// HDR-18, HDR-19, HDR-21, HDR-22, HDR-24: one annotation that breaks a rule is enough.
#[test]
fn annotations_that_break_a_rule_leave_their_tool_out() {
    let string = "'type':'string','x-mcp-header':";
    for schema in [
        format!("'properties':{{'a':{{{string}''}}}}"),
        format!("'properties':{{'a':{{{string}'A:'}}}}"),
        format!("'properties':{{'a':{{{string}7}}}}"),
        format!("'properties':{{'a':{{{string}'A'}},'b':{{{string}'a'}}}}"),
        "'properties':{'a':{'type':'number','x-mcp-header':'A'}}".into(),
        "'properties':{'a':{'type':'object','x-mcp-header':'A'}}".into(),
        "'properties':{'a':{'type':'array','x-mcp-header':'A'}}".into(),
        "'properties':{'a':{'type':'null','x-mcp-header':'A'}}".into(),
        format!("'properties':{{'a':{{'type':'array','items':{{{string}'A'}}}}}}"),
        format!("'anyOf':[{{'properties':{{'a':{{{string}'A'}}}}}}]"),
        format!("'if':{{'properties':{{'a':{{{string}'A'}}}}}}"),
        format!("'properties':{{'a':{{'$ref':'#/$defs/a'}}}},'$defs':{{'a':{{{string}'A'}}}}"),
    ] {
        let mut peer = Peer::modern();
        let tool = format!("{{'name':'query','inputSchema':{{'type':'object',{schema}}}}}");
        let kept = list(
            &mut peer,
            &format!("{{'tools':[{tool},{{'name':'plain','inputSchema':{{'type':'object'}}}}]}}"),
        );
        assert_eq!(kept, ["plain"], "{schema}");
        assert_eq!(peer.diagnostics().len(), 1, "{schema}");
    }
}

/// HDR-23: what a peer might read as another number is not mirrored.
#[test]
fn numbers_are_mirrored_as_far_as_every_peer_can_hold_them() {
    let mut peer = listed();
    for (number, mirrored) in [
        ("9007199254740991", true),
        ("-9007199254740991", true),
        ("9007199254740992", false),
        ("-9007199254740992", false),
        ("1e300", false),
        ("0.5", false),
    ] {
        let sent = call(&mut peer, &format!("{{'limit':{number}}}"));
        assert_eq!(sent.header("mcp-param-limit"), mirrored.then_some(number), "{number}");
    }
}

/// The rule is one of modern HTTP.
#[test]
fn over_legacy_http_annotations_mean_nothing() {
    let mut peer = Peer::legacy();
    assert_eq!(list(&mut peer, TOOLS).len(), 4);
    let sent = call(&mut peer, "{'region':'eu'}");
    assert_eq!((sent.header("mcp-param-region"), sent.header("mcp-method")), (None, None));
}

/// HDR-16, HDR-17, HDR-25, HDR-30, HDR-33, HDR-34, HDR-36
#[test]
fn arguments_are_mirrored_as_the_schema_says() {
    let mut peer = listed();
    let sent = call(
        &mut peer,
        "{'region':'us west','method':'GET','limit':-7,'dry':false,'inner':{'bay':'3'},'text':'t','bay':'4'}",
    );
    for (name, value) in [
        ("Mcp-Param-Region", Some("us west")),
        ("Mcp-Param-Method", Some("GET")),
        ("Mcp-Param-Limit", Some("-7")),
        ("Mcp-Param-Dry", Some("false")),
        ("Mcp-Param-Bay", Some("3")),
        ("Mcp-Param-Text", None),
        ("Mcp-Method", Some("tools/call")),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
    let sent = call(&mut peer, "{'region':''}");
    assert_eq!(sent.request.head.headers.get("mcp-param-region"), Some(&b""[..]));
}

/// HDR-35, HDR-38
#[test]
fn unsafe_values_are_encoded() {
    let mut peer = listed();
    for (value, header) in [
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ] {
        let sent = call(&mut peer, &format!("{{'region':'{value}'}}"));
        assert_eq!(sent.header("mcp-param-region"), Some(header));
    }
}

/// HDR-31, HDR-32, HDR-50
#[test]
fn absent_and_null_arguments_and_unknown_tools_have_no_header() {
    let mut peer = listed();
    let sent = call(&mut peer, "{'region':null,'inner':{}}");
    assert!(sent.request.head.headers.iter().all(|(name, _)| !name.starts_with("Mcp-Param")));
    assert!(sent.body().contains("\"region\":null"));
    let mut peer = Peer::modern();
    let sent = call(&mut peer, "{'region':'eu'}");
    assert_eq!(sent.header("mcp-param-region"), None);
}

/// HDR-49
#[test]
fn the_latest_definition_counts() {
    let mut peer = listed();
    list(
        &mut peer,
        "{'tools':[{'name':'query','inputSchema':{'type':'object','properties':{'text':{'type':'string','x-mcp-header':'T'}}}}]}",
    );
    let sent = call(&mut peer, "{'region':'eu','text':'t'}");
    assert_eq!((sent.header("mcp-param-region"), sent.header("mcp-param-t")), (None, Some("t")));
    list(&mut peer, "{'tools':[{'name':'query','inputSchema':{'type':'object'}}]}");
    let sent = call(&mut peer, "{'region':'eu','text':'t'}");
    assert_eq!(sent.header("mcp-param-t"), None);
}

/// HDR-52
#[test]
fn a_tool_can_be_known_in_advance() {
    let mut peer = Peer::modern();
    let tool = json(
        "{'name':'query','inputSchema':{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'}}}}",
    );
    peer.http.learn_tool(&serde_json::from_str(&tool).unwrap()).unwrap();
    let sent = call(&mut peer, "{'region':'eu'}");
    assert_eq!(sent.header("mcp-param-region"), Some("eu"));
}

/// HDR-51
#[test]
fn a_header_mismatch_makes_the_client_look_again_and_repeat_the_call_once() {
    let mut peer = Peer::modern();
    let arguments = Json::parse(json("{'region':'eu'}")).unwrap();
    let (pending, sent) = peer.start(&CallTool::with("query", arguments));
    let error = "{'code':-32020,'message':'Header mismatch'}";
    peer.error(&sent, 400, error);
    let listing = peer.one();
    assert_eq!(listing.method(), "tools/list");
    peer.result(&listing, "{'tools':[],'nextCursor':'p2'}");
    let listing = peer.one();
    assert!(listing.body().contains("\"cursor\":\"p2\""));
    peer.result(&listing, TOOLS);
    let again = peer.one();
    assert_eq!(again.header("mcp-param-region"), Some("eu"));
    assert_eq!(again.header("mcp-name"), Some("query"));
    assert_eq!(again.body(), sent.body());
    peer.error(&again, 400, error);
    peer.none();
    assert!(matches!(peer.take(&pending), Err(CallError::Server { error, .. }) if error.code == -32020));
    assert_eq!(peer.settled(), 1);
    peer.is_empty();
}

#[test]
fn a_look_that_fails_leaves_the_first_error() {
    let mut peer = Peer::modern();
    let (pending, sent) = peer.start(&CallTool::new("query"));
    peer.error(&sent, 400, "{'code':-32020,'message':'Header mismatch'}");
    let listing = peer.one();
    peer.error(&listing, 400, "{'code':-32603,'message':'no'}");
    assert!(matches!(peer.take(&pending), Err(CallError::Server { error, .. }) if error.code == -32020));
    peer.is_empty();
}

#[test]
fn a_call_cancelled_during_the_look_stays_cancelled() {
    let mut peer = Peer::modern();
    let (pending, sent) = peer.start(&CallTool::new("query"));
    peer.error(&sent, 400, "{'code':-32020,'message':'Header mismatch'}");
    let listing = peer.one();
    peer.http.cancel(peer.now, pending.id());
    assert_eq!(peer.take(&pending).unwrap_err(), CallError::Cancelled);
    peer.result(&listing, TOOLS);
    peer.none();
    peer.is_empty();
}

/// HDR-51: one list does for all calls that were refused before it brought anything, and each is made again as soon as
/// its tool is there.
#[test]
fn calls_refused_together_look_again_together() {
    let mut peer = Peer::modern();
    let mismatch = "{'code':-32020,'message':'Header mismatch'}";
    let (query, first) = peer.start(&CallTool::new("query"));
    let (plain, second) = peer.start(&CallTool::new("plain"));
    let (gone, third) = peer.start(&CallTool::new("gone"));
    let (late, fourth) = peer.start(&CallTool::new("plain"));
    peer.error(&first, 400, mismatch);
    let page = peer.one();
    peer.error(&second, 400, mismatch);
    peer.error(&third, 400, mismatch);
    peer.none();
    peer.result(&page, "{'tools':[{'name':'plain','inputSchema':{'type':'object'}}],'nextCursor':'p2'}");
    let sent = peer.sent();
    assert_eq!(sent.iter().map(Sent::method).collect::<Vec<_>>(), ["tools/call", "tools/list"]);
    peer.result(&sent[0], "{'content':[]}");
    assert!(peer.take(&plain).is_ok());
    // A list that has brought something does not do for one that is refused now.
    peer.error(&fourth, 400, mismatch);
    let another = peer.one();
    peer.result(&sent[1], TOOLS);
    let again = peer.one();
    assert_eq!(again.header("mcp-name"), Some("query"));
    peer.result(&again, "{'content':[]}");
    assert!(peer.take(&query).is_ok());
    // Of a tool that is not listed nothing new is known, so it is not called again.
    assert!(matches!(peer.take(&gone), Err(CallError::Server { error, .. }) if error.code == -32020));
    peer.result(&another, TOOLS);
    let again = peer.one();
    peer.result(&again, "{'content':[]}");
    assert!(peer.take(&late).is_ok());
    peer.is_empty();
}

/// HDR-26, HDR-51: a tool whose definition has become a bad one is not called again.
#[test]
fn a_tool_that_has_become_bad_is_not_called_again() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("bad"));
    peer.error(&sent, 400, "{'code':-32020,'message':'Header mismatch'}");
    let listing = peer.one();
    peer.result(&listing, TOOLS);
    peer.none();
    assert!(matches!(peer.take(&call), Err(CallError::Server { error, .. }) if error.code == -32020));
    assert!(peer.diagnostics().iter().any(|said| said.contains("`bad`")));
    peer.is_empty();
}

/// TOOL-29, SCHEMA-05: a call that is repeated goes out under the definition that was listed for that, and not at all
/// when nobody here can read it.
#[test]
fn a_repeated_call_goes_out_under_the_new_definition() {
    let mut peer = Peer::modern_with(config().check_output(crate::client::OutputCheck::Strict));
    let mismatch = "{'code':-32020,'message':'Header mismatch'}";
    let new = "{'tools':[{'name':'query','inputSchema':{'type':'object'},'outputSchema':{}}]}";
    list(&mut peer, TOOLS);
    let (call, sent) = peer.start(&CallTool::new("query"));
    peer.error(&sent, 400, mismatch);
    let listing = peer.one();
    peer.result(&listing, new);
    let again = peer.one();
    peer.result(&again, "{'content':[]}");
    assert!(matches!(peer.take(&call), Err(CallError::Misfit { .. })));

    let (call, sent) = peer.start(&CallTool::new("query"));
    peer.error(&sent, 400, mismatch);
    let listing = peer.one();
    peer.result(&listing, &new.replace("{}", "{'$schema':'urn:x'}"));
    peer.none();
    assert!(matches!(peer.take(&call), Err(CallError::UnsupportedDialect { .. })));
    peer.is_empty();
}

/// HDR-17: fields named `Mcp-Param-*` that the application configured stand in for no argument of a modern call; in a
/// legacy session they mean nothing and go out as they are.
#[test]
fn configured_parameter_fields_go_to_legacy_servers_only() {
    let config = || config().header("mcp-param-region", "eu").header("X-Tenant", "7");
    let mut peer = Peer::modern_with(config());
    let (_, sent) = peer.start(&CallTool::new("query"));
    assert_eq!((sent.header("mcp-param-region"), sent.header("x-tenant")), (None, Some("7")));
    let mut peer = Peer::legacy_with(config());
    let (_, sent) = peer.start(&CallTool::new("query"));
    assert_eq!((sent.header("mcp-param-region"), sent.header("x-tenant")), (Some("eu"), Some("7")));
    // The probe is a modern request.
    assert_eq!(Peer::new(config()).one().header("mcp-param-region"), None);
}
