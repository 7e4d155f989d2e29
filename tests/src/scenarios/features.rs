//! Prompts, resources, templates and completion, over stdio and HTTP, in both eras.

use std::fmt::Debug;

use mcp_driver::model::{PromptMessage, ResourceContents, Role};
use mcp_driver::{CallError, Calls, Complete, ContentBlock, Context, ErrorObject, Server, ToolError, Typed};
use serde_json::json;

use super::call;
use super::calls::everywhere;
use crate::kit::{Client, Kit};
use crate::rig::PICTURE;

#[track_caller]
fn refused<T: Debug>(outcome: Result<T, CallError>) -> ErrorObject {
    match outcome {
        Err(CallError::Server { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

/// PROMPT-06: a prompt is listed with the arguments of its handler, and filled in with them.
pub fn prompts_are_listed_and_filled_in<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let prompts = K::wait(pair.client.list_prompts()).unwrap();
        let echo = prompts.iter().find(|prompt| prompt.name == "echo").unwrap();
        assert_eq!(echo.description.as_deref(), Some("Greets somebody"));
        let arguments: Vec<_> = echo
            .arguments
            .iter()
            .map(|argument| (argument.name.as_str(), argument.is_required(), argument.description.as_deref()))
            .collect();
        assert_eq!(arguments, [("name", true, Some("Whom to greet.")), ("tone", false, None)]);

        let said = |text: &str| vec![PromptMessage::new(Role::User, ContentBlock::text(text))];
        let filled = K::wait(pair.client.get_prompt("echo", &[("name", "Ada")])).unwrap();
        assert_eq!(filled.messages, said("Greet Ada"));
        let filled = K::wait(pair.client.get_prompt("echo", &[("name", "Ada"), ("tone", "!")])).unwrap();
        assert_eq!(filled.messages, said("Greet Ada!"));
    });
}

/// Handlers are kept by kind: neither reaches the other's.
pub fn a_prompt_is_no_tool_of_the_same_name<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let reply = call::<K>(&pair.client, "echo", json!({ "text": "a tool" })).unwrap();
        assert_eq!(reply.text(), "a tool");
        assert_eq!(refused(K::wait(pair.client.get_prompt("add", &[]))).code, -32602);
    });
}

/// PROMPT-13, ERR-12: missing arguments are the client's fault; what a handler tells is an error of its own.
pub fn what_a_prompt_fails_with_is_told<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let error = refused(K::wait(pair.client.get_prompt("echo", &[])));
        assert_eq!((error.code, error.message.contains("name")), (-32602, true), "{error:?}");
        let error = refused(K::wait(pair.client.get_prompt("refuse", &[])));
        assert_eq!((error.code, error.message.as_str()), (1, "not today"));
    });
}

/// What is the server's own business is reported there, by kind, and nowhere else.
pub fn a_failing_prompt_is_reported<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let error = refused(K::wait(pair.client.get_prompt("fail", &[])));
        assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
        pair.events.expect("prompt fail: the disk is full");
    });
}

/// RES-20: text and bytes come under the URI and media type that were declared.
pub fn resources_are_listed_and_read<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let resources = K::wait(pair.client.list_resources()).unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, ["rig://note", "rig://picture", "rig://gone"]);

        let note = read::<K>(&pair.client, "rig://note");
        let ResourceContents::Text(note) = note else { panic!("{note:?}") };
        assert_eq!((note.uri.as_str(), note.text.as_str()), ("rig://note", "A note."));
        assert_eq!(note.mime_type.as_deref(), Some("text/plain"));

        let picture = read::<K>(&pair.client, "rig://picture");
        let ResourceContents::Blob(picture) = picture else { panic!("{picture:?}") };
        assert_eq!((picture.uri.as_str(), picture.bytes().as_deref()), ("rig://picture", Some(PICTURE)));
        assert_eq!(picture.mime_type.as_deref(), Some("image/png"));
    });
}

/// The variables of a URI are the arguments of its handler, and the contents have that very URI.
pub fn templates_make_resources<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let templates = K::wait(pair.client.list_resource_templates()).unwrap();
        let templates: Vec<_> = templates.iter().map(|template| template.uri_template.as_str()).collect();
        assert_eq!(templates, ["rig://user/{name}{?page}"]);
        for (uri, expected) in
            [("rig://user/Ada%20L", "Ada L None"), ("rig://user/Ada?page=2", "Ada Some(\"2\")")]
        {
            let user = read::<K>(&pair.client, uri);
            let ResourceContents::Text(user) = user else { panic!("{user:?}") };
            assert_eq!((user.uri.as_str(), user.text.as_str()), (uri, expected));
        }
    });
}

/// RES-12, RES-13: whether nobody knows the URI or its handler finds nothing, the client learns the same.
pub fn what_is_not_there_is_told_by_era<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let code = match pair.client.era() {
            mcp_driver::Era::Modern => -32602,
            mcp_driver::Era::Legacy => -32002,
        };
        for uri in ["rig://nowhere", "rig://gone", "rig://user/nobody"] {
            let outcome = K::wait(pair.client.read_resource(uri));
            assert!(outcome.as_ref().is_err_and(CallError::is_resource_not_found), "{outcome:?}");
            let error = refused(outcome);
            assert_eq!(error.code, code);
            assert!(error.data.is_some_and(|data| data.get().contains(uri)));
        }
    });
}

/// COMP-04: handlers know what was typed and what was filled in before; an argument without one has no
/// suggestions.
pub fn arguments_and_variables_are_completed<K: Kit>(program: &str) {
    everywhere::<K>(program, |pair| {
        let complete =
            |complete: Complete| K::wait(pair.client.complete(&complete)).unwrap().completion.values;
        assert_eq!(complete(Complete::prompt("echo", "name", "A")), ["Ada", "Alan"]);
        assert!(complete(Complete::prompt("echo", "tone", "A")).is_empty());
        let template = "rig://user/{name}{?page}";
        assert_eq!(complete(Complete::template(template, "page", "4").known("name", "Ada")), ["Ada-4"]);
    });
}

/// Whoever completes what is not declared is told so when serving.
pub fn completion_of_what_is_not_declared_is_refused<K: Kit>(_: &str) {
    let server =
        Server::<K::Runtime>::new("typo", "1").complete_prompt("ecko", "name", |_: Typed, _: Context| {
            Err::<Vec<String>, _>(ToolError::not_found())
        });
    let error = K::wait(server.bind_http("127.0.0.1:0")).unwrap_err().to_string();
    assert!(error.contains("`ecko`") && error.contains("`name`"), "{error}");
}

#[track_caller]
fn read<K: Kit>(client: &Client<K>, uri: &str) -> ResourceContents {
    let mut contents = K::wait(client.read_resource(uri)).unwrap().contents;
    assert_eq!(contents.len(), 1);
    contents.remove(0)
}
