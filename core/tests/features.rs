//! A client and a server of this crate, one fed with what the other says: prompts, resources and completion in
//! every revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::client::{
    self, Call, CallOptions, Complete, EraChoice, GetPrompt, ListPrompts, ListResourceTemplates,
    ListResources, Pages, ReadResource,
};
use mcp_proto::dialect::Revision;
use mcp_proto::error::CallError;
use mcp_proto::model::{
    CompleteResult, Completion, ContentBlock, GetPromptResult, Implementation, Prompt, PromptArgument,
    PromptMessage, ReadResourceResult, Resource, ResourceTemplate, Role, TextResourceContents,
};
use mcp_proto::server::{
    self, Completable, Output, Prompts, Resources, Target, Templates, resource_not_found,
};
use mcp_proto::time::Now;

struct Pair {
    client: client::Connection,
    server: server::Connection,
    config: Arc<client::Config>,
}

impl Pair {
    fn new(revision: Revision) -> Self {
        let config = client::Config::new(Implementation::new("kiln", "1")).era(EraChoice::Pinned(revision));
        let config = Arc::new(config);
        let client = client::Connection::new(Now::default(), Arc::clone(&config));
        Self { client, server: server::Connection::new(Arc::new(server_config())), config }
    }

    fn ask<C: Call>(&mut self, call: &C) -> Result<C::Reply, CallError> {
        let now = Now::default();
        let pending = self.client.start(now, call, CallOptions::new())?;
        loop {
            let (asked, answered) = (self.client.transmit().to_vec(), self.server.transmit().to_vec());
            self.client.advance(asked.len());
            self.server.advance(answered.len());
            self.server.handle_bytes(now, &asked);
            self.client.handle_bytes(now, &answered);
            while let Some(output) = self.server.poll_output() {
                let Output::Call(id, call) = output else { continue };
                match call.target() {
                    Target::Prompt(_) => self.server.respond(now, id, &greet(call.arguments())),
                    Target::Resource(entry) => {
                        let text = TextResourceContents::new(&*entry.resource.uri, "static");
                        self.server.respond(now, id, &ReadResourceResult::new(vec![text.into()]));
                    }
                    Target::Template(read) if read.variable("id") == Some("nobody") => {
                        self.server.fail(now, id, &resource_not_found(&read.uri));
                    }
                    Target::Template(read) => {
                        let text =
                            TextResourceContents::new(&*read.uri, format!("{:?}", read.variable("id")));
                        self.server.respond(now, id, &ReadResourceResult::new(vec![text.into()]));
                    }
                    Target::Completion(asked) => {
                        let of = match &asked.of {
                            Completable::Prompt(_) => "prompt",
                            _ => "template",
                        };
                        let style = asked.context.get("style").cloned().unwrap_or_default();
                        let values = vec![of.into(), style, asked.argument.value.clone()];
                        self.server.respond(now, id, &CompleteResult::new(Completion::new(values)));
                    }
                    target => panic!("{target:?}"),
                }
            }
            if let Some(reply) = self.client.take(&pending) {
                return reply;
            }
            assert!(!asked.is_empty() || !answered.is_empty(), "nobody says anything");
        }
    }
}

fn server_config() -> server::Config {
    let mut prompts = Prompts::new();
    let arguments = [PromptArgument::new("who").required(true), PromptArgument::new("style")];
    prompts.insert(Prompt::new("greet").arguments(arguments)).unwrap();
    prompts.insert(Prompt::new("other")).unwrap();
    let mut resources = Resources::new();
    for uri in ["x:a", "x:b", "x:c"] {
        resources.insert(Resource::new(uri, uri)).unwrap();
    }
    let mut templates = Templates::new();
    templates.insert(ResourceTemplate::new("x:item/{id}", "item")).unwrap();
    let config = server::Config::new(Implementation::new("spokes", "1")).page_size(Some(2));
    config.prompts(prompts).resources(resources).templates(templates).completions(true)
}

fn greet(arguments: &str) -> GetPromptResult {
    let arguments: BTreeMap<String, String> = serde_json::from_str(arguments).unwrap();
    let text = ContentBlock::text(format!("Hello, {}", arguments["who"]));
    GetPromptResult::new(vec![PromptMessage::new(Role::User, text)])
}

/// PROMPT-02, PROMPT-06, PROMPT-13, PAGE-08
#[test]
fn prompts_work_in_every_revision() {
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision);
        assert_eq!(pair.ask(&ListPrompts::new()).unwrap().prompts.len(), 2);
        let got = pair.ask(&GetPrompt::new("greet").argument("who", "Ada")).unwrap();
        assert!(matches!(&got.messages[0].content, ContentBlock::Text(text) if text.text == "Hello, Ada"));
        let refused = pair.ask(&GetPrompt::new("greet")).unwrap_err();
        assert!(refused.to_string().contains("missing `who` (-32602)"), "{refused}");
    }
}

/// RES-03, RES-09, RES-12, RES-16, RES-17, PAGE-05
#[test]
fn resources_work_in_every_revision() {
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision);
        let mut pages = Pages::new(revision, &pair.config);
        let mut ask = ListResources::new();
        loop {
            let page = pair.ask(&ask).unwrap();
            match pages.add(page.resources, page.next_cursor).unwrap() {
                Some(next) => ask = ListResources::after(next.as_str()),
                None => break,
            }
        }
        let uris: Vec<_> = pages.items().iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, ["x:a", "x:b", "x:c"], "{revision}");
        assert_eq!(pair.ask(&ListResourceTemplates::new()).unwrap().resource_templates.len(), 1);
        for uri in ["x:b", "x:item/7"] {
            assert_eq!(pair.ask(&ReadResource::new(uri)).unwrap().contents[0].uri(), uri);
        }
        for uri in ["x:d", "x:item/nobody", "x:item/.."] {
            let error = pair.ask(&ReadResource::new(uri)).unwrap_err();
            assert!(error.is_resource_not_found(), "{revision} {uri}: {error}");
            let CallError::Server { error, .. } = error else { panic!("{error}") };
            assert_eq!(error.code, i64::from(revision.dialect().resource_not_found), "{revision} {uri}");
            assert_eq!(error.data.unwrap().get(), format!(r#"{{"uri":"{uri}"}}"#));
        }
    }
}

/// COMP-01, COMP-02, COMP-04
#[test]
fn completion_works_in_every_revision() {
    for revision in Revision::ALL {
        let mut pair = Pair::new(revision);
        let call = Complete::prompt("greet", "who", "A").known("style", "brief");
        let style = if revision.dialect().completion_context { "brief" } else { "" };
        assert_eq!(pair.ask(&call).unwrap().completion.values, ["prompt", style, "A"], "{revision}");
        let call = Complete::template("x:item/{id}", "id", "7");
        assert_eq!(pair.ask(&call).unwrap().completion.values, ["template", "", "7"], "{revision}");
        assert!(pair.ask(&Complete::template("x:item/{id}", "other", "7")).is_err());
    }
}
