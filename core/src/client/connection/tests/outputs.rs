//! Structured content, held against the output schema of its tool.

use super::*;
use crate::client::{OutputCheck, ToolReply};

const SCHEMA: &str = "{'type':'object','properties':{'n':{'type':'integer'}},'required':['n']}";

fn tool(output: &str) -> String {
    format!("{{'name':'count','inputSchema':{{'type':'object'}},'outputSchema':{output}}}")
}

fn list(peer: &mut Peer, tools: &str) {
    let listing = peer.start(&ListTools::new());
    let line = peer.one();
    peer.result(&line, &format!("{{'tools':[{tools}]}}"));
    peer.connection.take(&listing).unwrap().unwrap();
}

/// A modern server whose tool `count` has this output schema.
fn knowing(check: OutputCheck, output: &str) -> Peer {
    let mut peer = Peer::modern_with(config().check_output(check));
    list(&mut peer, &tool(output));
    peer.drain();
    peer
}

fn call(peer: &mut Peer, result: &str) -> Result<ToolReply, CallError> {
    let call = peer.start(&CallTool::new("count"));
    let line = peer.one();
    peer.result(&line, result);
    peer.drain();
    peer.connection.take(&call).unwrap()
}

fn misfit(error: CallError) -> String {
    match error {
        CallError::Misfit { reply } => reply.misfit.unwrap().to_string(),
        other => panic!("{other}"),
    }
}

/// TOOL-29, TOOL-40, B57: what does not fit is kept and reported, unless the application wants an error or nothing.
#[cfg(feature = "jsonschema")]
#[test]
fn what_does_not_fit_is_a_warning_an_error_or_nothing() {
    let wrong = "{'content':[],'structuredContent':{'n':'secret'}}";
    let mut peer = knowing(OutputCheck::Warn, SCHEMA);
    let reply = call(&mut peer, wrong).unwrap();
    assert_eq!(reply.misfit.unwrap().to_string(), "structuredContent.n: expected an integer, found a string");
    assert!(peer.connection.has_output());
    let said = peer.drain();
    assert!(
        matches!(&*said, [Output::Event(Event::Diagnostic(it))] if it.to_string().contains("structuredContent.n")
        && !it.to_string().contains("secret")),
        "{said:?}"
    );

    let error = call(&mut knowing(OutputCheck::Strict, SCHEMA), wrong).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(misfit(error), "structuredContent.n: expected an integer, found a string");

    let reply = call(&mut knowing(OutputCheck::Off, SCHEMA), wrong).unwrap();
    assert_eq!(reply.misfit, None);
}

/// TOOL-29: a warning is the default, since the tool has run.
#[test]
fn a_warning_is_the_default() {
    assert_eq!(config().check_output, OutputCheck::Warn);
}

/// TOOL-29, B57: a tool with an output schema returns structured content, or says that it failed.
#[test]
fn content_that_is_missing_does_not_fit() {
    let mut peer = knowing(OutputCheck::Strict, SCHEMA);
    let missing = "structuredContent: missing, although there is an output schema";
    assert_eq!(misfit(call(&mut peer, "{'content':[]}").unwrap_err()), missing);
    let failed = call(&mut peer, "{'content':[{'type':'text','text':'no'}],'isError':true}").unwrap();
    assert_eq!((failed.is_error(), failed.misfit), (true, None));
    // Without `content`, which older servers leave out.
    assert!(call(&mut peer, "{'structuredContent':{'n':1}}").unwrap().content().is_empty());
}

/// TOOL-24: in the modern era any value is structured content, `null` too.
#[cfg(feature = "jsonschema")]
#[test]
fn any_value_is_content_in_the_modern_era() {
    let mut peer = knowing(OutputCheck::Strict, "{'type':['null','integer']}");
    for value in ["null", "7"] {
        assert!(call(&mut peer, &format!("{{'structuredContent':{value}}}")).is_ok(), "{value}");
    }
    assert!(call(&mut peer, "{'structuredContent':[]}").is_err());
}

/// TOOL-25: in the legacy era only an object is, whatever the schema says; and where there are no output schemas,
/// none counts.
#[test]
fn only_an_object_is_content_in_the_legacy_era() {
    let mut peer = Peer::legacy_with(config().check_output(OutputCheck::Strict));
    list(&mut peer, &tool("{}"));
    assert!(call(&mut peer, "{'content':[],'structuredContent':{}}").is_ok());
    let said = misfit(call(&mut peer, "{'content':[],'structuredContent':7}").unwrap_err());
    assert_eq!(said, "structuredContent: expected an object, found another value");

    let mut peer = Peer::new(config().check_output(OutputCheck::Strict).era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, &INITIALIZED.replace("2025-11-25", "2025-03-26"));
    peer.written();
    list(&mut peer, &tool(SCHEMA));
    assert!(call(&mut peer, "{'content':[]}").is_ok());
}

/// TOOL-29: the definition counts under which a call went out, not one that is listed meanwhile.
#[cfg(feature = "jsonschema")]
#[test]
fn a_list_that_arrives_meanwhile_changes_nothing() {
    let mut peer = knowing(OutputCheck::Strict, SCHEMA);
    let before = peer.start(&CallTool::new("count"));
    let line = peer.one();
    list(&mut peer, &tool("{'type':'string'}"));
    peer.result(&line, "{'structuredContent':{'n':1}}");
    assert!(peer.connection.take(&before).unwrap().is_ok());
    assert!(call(&mut peer, "{'structuredContent':{'n':1}}").is_err());
    assert!(call(&mut peer, "{'structuredContent':'1'}").is_ok());
}

/// A call that waited for the era goes out when it is known, and one that is made again in a further round goes out
/// again.
#[test]
fn calls_that_waited_and_further_rounds_are_checked() {
    let mut peer = Peer::new(config().check_output(OutputCheck::Strict));
    peer.connection.learn_tool(&serde_json::from_str(&json(&tool(SCHEMA))).unwrap());
    let probe = peer.one();
    let waiting = peer.start(&CallTool::new("count"));
    peer.result(&probe, DISCOVERED);
    let line = peer.one();
    peer.result(&line, "{'resultType':'input_required','requestState':'s'}");
    list(&mut peer, "{'name':'count','inputSchema':{}}");
    peer.connection.retry(peer.now, waiting.id());
    let line = peer.one();
    peer.result(&line, "{'content':[]}");
    assert!(peer.connection.take(&waiting).unwrap().is_ok(), "there is no output schema any more");

    peer.connection.learn_tool(&serde_json::from_str(&json(&tool(SCHEMA))).unwrap());
    assert!(call(&mut peer, "{'content':[]}").is_err());
}

/// SCHEMA-05, SCHEMA-19: a tool whose schemas nobody here can read is not called; nothing is sent.
#[test]
fn a_tool_with_a_foreign_dialect_is_not_called() {
    let foreign = "{'$schema':'urn:unknown','type':'object'}";
    let input = format!("{{'name':'count','inputSchema':{foreign}}}");
    for tool in [tool(foreign), input] {
        let mut peer = Peer::modern();
        list(&mut peer, &tool);
        let error = peer.connection.start(peer.now, &CallTool::new("count"), CallOptions::new()).unwrap_err();
        assert!(matches!(error, CallError::UnsupportedDialect { .. }), "{error}");
        assert!(
            error.to_string().contains("`count`") && error.to_string().contains("urn:unknown"),
            "{error}"
        );
        assert!(peer.written().is_empty());
        // Whoever has no use for schemas need not have one for their dialects.
        let mut peer = Peer::modern_with(config().check_output(OutputCheck::Off));
        list(&mut peer, &tool);
        assert!(call(&mut peer, "{'content':[]}").is_ok());
    }
}

/// SCHEMA-12, SCHEMA-16, SCHEMA-19: a schema with something else wrong, such as a reference to another document, is
/// reported as a person calls the tool, and no result fits it.
#[test]
fn a_schema_that_cannot_be_used_fits_nothing() {
    let remote = "{'$ref':'https://schemas.example/x.json'}";
    let mut peer = knowing(OutputCheck::Warn, remote);
    let reply = call(&mut peer, "{'structuredContent':{}}").unwrap();
    assert!(reply.misfit.unwrap().to_string().contains("cannot be used"));
    let error = call(&mut knowing(OutputCheck::Strict, remote), "{'structuredContent':{}}").unwrap_err();
    assert!(misfit(error).contains("cannot be used"));
}

/// As many definitions are kept as `Limits::tools` says, those that were listed last; that there were more is said
/// once.
#[test]
fn definitions_are_bounded_by_number() {
    let limits = Limits { tools: 2, ..Limits::default() };
    let mut peer = Peer::modern_with(config().check_output(OutputCheck::Strict).limits(limits));
    let named = |name: &str| tool("{}").replace("count", name);
    list(&mut peer, &[named("count"), named("b")].join(","));
    assert_eq!(diagnostics(&peer.drain()), 0);
    assert!(call(&mut peer, "{'content':[]}").is_err());
    // It was called last, so the other one gives way.
    list(&mut peer, &named("c"));
    assert_eq!(diagnostics(&peer.drain()), 1);
    assert!(call(&mut peer, "{'content':[]}").is_err());
    list(&mut peer, &[named("d"), named("e")].join(","));
    assert_eq!(diagnostics(&peer.drain()), 0);
    assert!(call(&mut peer, "{'content':[]}").is_ok());
}

/// What is kept of definitions is bounded in bytes, also for schemas that take more than their text.
#[test]
fn definitions_are_bounded_by_size() {
    let small = "{'properties':{'a':{},'b':{},'c':{},'d':{}}}";
    for (tool_bytes, kept) in [(1 << 20, true), (200, false)] {
        let limits = Limits { tool_bytes, ..Limits::default() };
        let mut peer = Peer::modern_with(config().check_output(OutputCheck::Strict).limits(limits));
        list(&mut peer, &tool(small));
        for _ in 0..2 {
            assert_eq!(call(&mut peer, "{'content':[]}").is_err(), kept, "{tool_bytes}");
        }
    }
    // Ready to be checked against it is too large to be kept, so it is read again for each call.
    let limits = Limits { tool_bytes: 4_000, ..Limits::default() };
    let mut peer = Peer::modern_with(config().check_output(OutputCheck::Strict).limits(limits));
    list(&mut peer, &tool(small));
    for _ in 0..2 {
        assert!(call(&mut peer, "{'content':[]}").is_err());
    }
    assert!(peer.connection.link.definitions.held() < 4_000);
}
