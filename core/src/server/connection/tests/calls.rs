use super::*;

/// CACHE-02, CACHE-08, CACHE-09, TOOL-02, TOOL-06
#[test]
fn tools_are_listed_as_each_revision_knows_them() {
    let mut client = Client::legacy(config(), V);
    let modern = client.ask(&modern("1", "tools/list", ""));
    assert!(modern[0].starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"add","inputSchema":{"type":"object","#), "{modern:?}");
    assert!(
        modern[0].ends_with(&format!(r#"}}],"ttlMs":0,"cacheScope":"private",{NAMED}}}}}"#)),
        "{modern:?}"
    );
    let legacy = client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
    assert!(legacy[0].starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","#));
    assert!(!legacy[0].contains("ttlMs") && !legacy[0].contains("_meta"));
}

/// PAGE-06, PAGE-07, PAGE-08: the page size is reached exactly, and passed by one.
#[test]
fn tools_come_in_pages_and_a_foreign_cursor_is_refused() {
    let names = |page: &str| page.matches(r#""name":""#).count() - page.matches("serverInfo").count();
    for (size, pages) in [(1, &[1, 1, 1][..]), (2, &[2, 1]), (3, &[3]), (4, &[3]), (0, &[1, 1, 1])] {
        let mut client = Client::new(config().page_size(Some(size)));
        let mut cursor = String::new();
        let mut seen = Vec::new();
        loop {
            let page = client.ask(&modern("1", "tools/list", &cursor)).remove(0);
            seen.push(names(&page));
            let Some((_, rest)) = page.split_once(r#""nextCursor":""#) else { break };
            cursor = format!(r#""cursor":"{}","#, rest.split_once('"').unwrap().0);
        }
        assert_eq!(seen, pages);
    }
    let mut client = Client::new(config().page_size(Some(1)));
    for cursor in [r#""""#, r#""after-3""#, r#""after-0""#, r#""after-01""#, r#""after-+1""#, r#""x""#, "7"] {
        let answer = client.ask(&modern("1", "tools/list", &format!(r#""cursor":{cursor},"#)));
        assert!(answer[0].contains("-32602") && answer[0].contains("params.cursor: "), "{answer:?}");
    }
}

/// TOOL-42
#[test]
fn a_call_hands_out_its_parts() {
    let mut client = Client::new(config());
    let line = modern(
        "\"c\"",
        "tools/call",
        r#""name":"add","arguments":{ "a": 1.0 },"_meta":{"progressToken":"t","org.example/k":[1],"io.modelcontextprotocol/logLevel":"warning","io.modelcontextprotocol/clientInfo":{"name":"kiln","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},"x":"#,
    )
    .replace(&format!(r#""x":{META}"#), r#""x":1"#);
    let (_, call) = client.call(&line);
    assert_eq!((call.name(), call.arguments()), ("add", r#"{ "a": 1.0 }"#));
    assert!(call.params().starts_with(r#"{"name":"add""#) && call.params().ends_with(r#""x":1}"#));
    assert_eq!(call.request_id().to_string(), "\"c\"");
    assert_eq!(call.progress_token().unwrap().to_string(), "\"t\"");
    assert_eq!(call.meta().get("org.example/k").unwrap().get(), "[1]");
    assert_eq!(call.client().info.as_ref().unwrap().name, "kiln");
    assert!(call.client().capabilities.elicitation.is_some());
    assert!(call.wants_log(LoggingLevel::Error) && !call.wants_log(LoggingLevel::Info));
    assert_eq!(call.era(), Era::Modern);

    let (_, call) = client.call(&modern("1", "tools/call", r#""name":"\u0061dd","arguments":null,"#));
    assert_eq!((call.name(), call.arguments()), ("add", "{}"));
    assert!(call.progress_token().is_none() && !call.wants_log(LoggingLevel::Emergency));
    assert!(!format!("{call:?}").contains("arguments"));
}

/// P04, P05, TOOL-30, TOOL-31, B64, LOG-05, PRG-01
#[test]
fn wrong_parameters_are_named_with_their_place() {
    let mut client = Client::new(config());
    for (params, message) in [
        (r#""name":5,"#, "params.name: expected a string, found a number"),
        ("", "params.name: missing"),
        (r#""name":"add","arguments":[],"#, "params.arguments: expected an object, found an array"),
        (r#""name":"serach","#, r#"unknown tool \"serach\"; did you mean \"search\"?"#),
        (r#""name":"zebra crossing","#, r#"unknown tool \"zebra crossing\""#),
        (r#""name":"ADD","#, r#"unknown tool \"ADD\"; did you mean \"add\"?"#),
    ] {
        assert_eq!(client.ask(&modern("1", "tools/call", params)), [error("1", -32602, message)], "{params}");
    }
    let long = format!(r#""name":"{}","#, "x".repeat(129));
    assert_eq!(client.ask(&modern("1", "tools/call", &long)), [error("1", -32602, "unknown tool")]);
    for (key, wrong) in
        [("progressToken", "{}"), ("progressToken", "1.5"), ("io.modelcontextprotocol/logLevel", "\"loud\"")]
    {
        let meta = META.replace("\"_meta\":{", &format!("\"_meta\":{{\"{key}\":{wrong},"));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add",{meta}}}}}"#);
        let answer = &client.ask(&line)[0];
        assert!(answer.contains("-32602") && answer.contains("params._meta"), "{answer}");
    }
    assert!(client.calls().is_empty());
}

/// ERR-07, ERR-09, META-16, B64 (not found), B67 (undeclared capability)
#[test]
fn errors_are_sent_as_the_revision_knows_them() {
    let mut client = Client::legacy(config(), V);
    let mut told = |line: &str, error: &ErrorObject| {
        let (id, _) = client.call(line);
        client.server.fail(now(), id, error);
        client.received().remove(0)
    };
    let missing = ErrorObject::new(-32002, "m").data(Json::parse(r#"{"uri":"u"}"#).unwrap().into());
    assert!(
        told(&modern_call("1"), &missing)
            .ends_with(r#""error":{"code":-32602,"message":"m","data":{"uri":"u"}}}"#)
    );
    assert!(told(&legacy_call("1"), &missing).contains("-32002"));
    assert!(told(&modern_call("1"), &ErrorObject::new(-32042, "m")).contains("-32603"));
    assert!(told(&modern_call("1"), &ErrorObject::new(-32050, "m")).contains("-32603"));
    assert!(told(&modern_call("1"), &ErrorObject::new(7, "m")).contains(r#""code":7,"#));
    let wanted = ClientCapabilities::new().sampling(crate::model::capabilities::SamplingCapability::new());
    assert!(
        told(&modern_call("1"), &missing_capabilities(wanted))
            .contains(r#""code":-32021,"message":"the request needs what the client did not declare: sampling","data":{"requiredCapabilities":{"sampling":{}}}"#)
    );
}

struct Unwritable;

impl WriteResult for Unwritable {
    fn write_result(
        &self,
        _: &mut Vec<u8>,
        _: &crate::wire::jsonrpc::RequestId,
        _: Revision,
        _: Option<&Json>,
    ) -> Result<(), crate::error::ApiMisuse> {
        Err(crate::error::ApiMisuse::new("open /home/u/secret: denied"))
    }
}

/// B66
#[test]
fn a_result_that_cannot_be_written_is_an_internal_error_with_constant_text() {
    let mut client = Client::new(config());
    let (id, _) = client.call(&modern_call("1"));
    client.server.respond(now(), id, &Unwritable);
    assert_eq!(client.received(), [error("1", -32603, "the result could not be written")]);
    let told = client.outputs();
    let [Output::Diagnostic(it)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(it.to_string(), "call, request 1: open /home/u/secret: denied");
    assert_eq!(it.blame, Blame::Ours);
}

/// On a byte stream there is no head, and who the client is is said for all of its calls.
#[test]
fn calls_carry_who_the_client_is() {
    let mut client = Client::new(config());
    let before = client.call(&modern("1", "tools/call", r#""name":"add","#)).1;
    client.server.handle_principal(now(), Arc::new(Principal::new("ada")));
    let after = client.call(&modern("2", "tools/call", r#""name":"add","#)).1;
    assert!(before.principal().is_none() && before.head().is_none() && after.head().is_none());
    assert_eq!(after.principal().unwrap().subject, "ada");
}
