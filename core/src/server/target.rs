//! What a call is for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::custom::CustomMethod;
use super::dispatch::{List, Plan};
use super::prompts::PromptEntry;
use super::resource_server::Scopes;
use super::resources::{ResourceEntry, TemplateEntry};
use super::tasks::TaskRequest;
use super::template::Values;
use super::tools::ToolEntry;
use crate::model::completion::CompletionArgument;

/// What a call is for, and by which type of result it is answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// `tools/call`: a tool of the catalog, with [`Call::arguments`](super::Call::arguments), which are to be held
    /// against its schema by [`Call::check_arguments`](super::Call::check_arguments). Answered by a
    /// [`CallToolResult`](crate::model::CallToolResult), which
    /// [`ToolEntry::check_output`](super::ToolEntry::check_output) looks at.
    Tool(Arc<ToolEntry>),
    /// `prompts/get`: a prompt of the catalog, with [`Call::arguments`](super::Call::arguments). All of them
    /// are strings, and the required ones are there. Answered by a
    /// [`GetPromptResult`](crate::model::GetPromptResult).
    Prompt(Arc<PromptEntry>),
    /// `resources/read` of a resource of the catalog. Answered by a
    /// [`ReadResourceResult`](crate::model::ReadResourceResult), whose hints for caches are its own: what
    /// lists promise does not carry over. One without contents becomes the error of
    /// [`resource_not_found`](super::resource_not_found) (RES-14).
    Resource(Arc<ResourceEntry>),
    /// `resources/read` of a URI that is not in the catalog and that a template makes. Answered like
    /// [`Resource`](Self::Resource); where there is nothing at that URI, with the same error.
    Template(Arc<TemplateRead>),
    /// `completion/complete`. Answered by a [`CompleteResult`](crate::model::CompleteResult).
    Completion(Arc<Completing>),
    /// A method of the application's own, with [`Call::params`](super::Call::params). Answered by any object,
    /// such as a [`CustomResult`](crate::model::CustomResult).
    Custom(Arc<CustomMethod>),
    /// `tasks/get`, `tasks/update` or `tasks/cancel`, for [`Tasks::handle_request`](super::Tasks::handle_request), whose
    /// outcome answers it. Only with [`Config::tasks`](super::Config::tasks).
    Task(Arc<TaskRequest>),
    /// A request that the machine answers itself, handed out because of
    /// [`Config::hand_out_all`](super::Config::hand_out_all): with `proceed` it is answered as it would have been.
    Protocol(Arc<ProtocolRequest>),
}

impl Target {
    /// The method of the request.
    pub fn method(&self) -> &str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Prompt(_) => "prompts/get",
            Self::Resource(_) | Self::Template(_) => "resources/read",
            Self::Completion(_) => "completion/complete",
            Self::Custom(method) => &method.name,
            Self::Task(request) => request.action.method(),
            Self::Protocol(request) => request.method,
        }
    }

    /// The URI to read, if the call is to read one.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource(entry) => Some(&entry.resource.uri),
            Self::Template(read) => Some(&read.uri),
            _ => None,
        }
    }

    /// Whether such a call may be answered by a result that asks for input (MRTR-02, MRTR-03).
    pub fn may_require_input(&self) -> bool {
        match self {
            Self::Tool(_) | Self::Prompt(_) | Self::Resource(_) | Self::Template(_) => true,
            Self::Completion(_) | Self::Custom(_) | Self::Task(_) | Self::Protocol(_) => false,
        }
    }

    /// The scopes that a caller must have.
    pub fn scopes(&self) -> &Scopes {
        static NONE: Scopes = Scopes::new();
        match self {
            Self::Tool(entry) => entry.scopes(),
            Self::Prompt(entry) => entry.scopes(),
            Self::Resource(entry) => entry.scopes(),
            Self::Template(read) => read.template.scopes(),
            Self::Completion(completing) => match &completing.of {
                Completable::Prompt(entry) => entry.scopes(),
                Completable::Template(entry) => entry.scopes(),
            },
            Self::Custom(method) => &method.scopes,
            Self::Task(_) | Self::Protocol(_) => &NONE,
        }
    }

    /// The name or URI that the client asked for.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Template(read) => &read.uri,
            target => target.own_name(),
        }
    }

    /// What this server calls it: nothing that a client made up. Of what has no name of its own, the method.
    pub fn own_name(&self) -> &str {
        match self {
            Self::Tool(entry) => &entry.tool.name,
            Self::Prompt(entry) => &entry.prompt.name,
            Self::Resource(entry) => &entry.resource.uri,
            Self::Template(read) => &read.template.template.uri_template,
            Self::Completion(completing) => completing.of.name(),
            Self::Custom(method) => &method.name,
            Self::Task(request) => request.action.method(),
            Self::Protocol(request) => request.method,
        }
    }
}

/// A request of the protocol that needs no application.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProtocolRequest {
    /// The method: `initialize`, `server/discover`, `ping`, one of the lists, `logging/setLevel`, or one of those
    /// that begin or end a subscription.
    pub method: &'static str,
    pub(super) plan: Plan,
}

impl ProtocolRequest {
    /// The request, unless it is one for the application.
    pub(super) fn new(plan: Plan) -> Result<Self, Plan> {
        let method = match &plan {
            Plan::Call(_) => return Err(plan),
            Plan::Initialize(_) => "initialize",
            Plan::Listen(_) => "subscriptions/listen",
            Plan::Ping => "ping",
            Plan::Discover => "server/discover",
            Plan::List(List::Tools, ..) => "tools/list",
            Plan::List(List::Prompts, ..) => "prompts/list",
            Plan::List(List::Resources, ..) => "resources/list",
            Plan::List(List::Templates, ..) => "resources/templates/list",
            Plan::SetLevel(_) => "logging/setLevel",
            Plan::Watch(_) => "resources/subscribe",
            Plan::Unwatch(_) => "resources/unsubscribe",
        };
        Ok(Self { method, plan })
    }
}

/// A URI that a template makes. Prints without what the client made up.
#[derive(Clone)]
#[non_exhaustive]
pub struct TemplateRead {
    /// The template.
    pub template: Arc<TemplateEntry>,
    /// The URI to read, as it came.
    pub uri: String,
    pub(super) values: Values,
}

impl TemplateRead {
    /// The value of a variable, percent-decoded. `None` for one of the query that is not there, and for what
    /// is not a variable of the template.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All variables that have a value, in the order of the template.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.template.variables().zip(&self.values);
        values.filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

impl fmt::Debug for TemplateRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let template = &self.template.template.uri_template;
        f.debug_struct("TemplateRead").field("template", template).finish_non_exhaustive()
    }
}

/// A user is filling something in, and wants suggestions. Prints without what was typed.
#[derive(Clone)]
#[non_exhaustive]
pub struct Completing {
    /// What is being filled in.
    pub of: Completable,
    /// The argument of it that is being typed. The prompt or template has one of this name.
    pub argument: CompletionArgument,
    /// What was filled in before, from revision 2025-06-18 on; before that, always empty.
    pub context: BTreeMap<String, String>,
}

impl fmt::Debug for Completing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name is one of the declared ones.
        let (of, argument) = (self.of.name(), &self.argument.name);
        f.debug_struct("Completing").field("of", &of).field("argument", argument).finish_non_exhaustive()
    }
}

/// What can be filled in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Completable {
    /// The arguments of a prompt.
    Prompt(Arc<PromptEntry>),
    /// The variables of a resource template.
    Template(Arc<TemplateEntry>),
}

impl Completable {
    /// The name of the prompt, or the template itself.
    pub fn name(&self) -> &str {
        match self {
            Self::Prompt(entry) => &entry.prompt.name,
            Self::Template(entry) => &entry.template.uri_template,
        }
    }
}
