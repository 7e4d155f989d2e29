//! What of a server is there for whom.

use alloc::sync::Arc;
use core::fmt;

use super::catalog::Listed;
use super::config::Config;
use super::custom::CustomMethod;
use super::principal::Principal;
use super::prompts::PromptEntry;
use super::resources::{ResourceEntry, TemplateEntry};
use super::session::ClientDetails;
use super::target::TemplateRead;
use super::tools::ToolEntry;
use crate::dialect::Revision;
use crate::model::prompts::Prompt;
use crate::model::resources::{Resource, ResourceTemplate};
use crate::model::tools::Tool;

/// Somebody for whom things are there or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Viewer {
    /// Whom the application has recognised, if anybody.
    pub principal: Option<Arc<Principal>>,
    /// Who the client says it is, and what it can do: nothing to base access on (META-21).
    pub client: Arc<ClientDetails>,
    /// The revision that is spoken.
    pub revision: Revision,
}

impl Viewer {
    /// Somebody who makes a request.
    pub fn new(principal: Option<Arc<Principal>>, client: Arc<ClientDetails>, revision: Revision) -> Self {
        Self { principal, client, revision }
    }

    /// Whether somebody was recognised who has this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.principal.as_ref().is_some_and(|principal| principal.has_scope(scope))
    }
}

/// Something that is there for some and not for others.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A tool.
    Tool(&'a Tool),
    /// A prompt.
    Prompt(&'a Prompt),
    /// A resource.
    Resource(&'a Resource),
    /// A template, and all resources that it makes.
    Template(&'a ResourceTemplate),
    /// A method of the application's own.
    Method(&'a CustomMethod),
}

impl Item<'_> {
    /// Its name; of a resource the URI, of a template the template.
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Prompt(prompt) => &prompt.name,
            Self::Resource(resource) => &resource.uri,
            Self::Template(template) => &template.uri_template,
            Self::Method(method) => &method.name,
        }
    }
}

/// A rule for what is there for whom.
///
/// What is not there for somebody is listed nowhere, and asking for it is answered as asking for what nobody has.
/// The rule is asked often and in the middle of a request: it decides by what it is given, and does not wait.
#[derive(Clone)]
pub struct Visibility(Arc<Rule>);

type Rule = dyn Fn(&Viewer, Item<'_>) -> bool + Send + Sync;

impl Visibility {
    /// What `rule` says is there is there.
    pub fn new(rule: impl Fn(&Viewer, Item<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visibility").finish_non_exhaustive()
    }
}

/// A server as somebody sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) config: &'a Config,
    viewer: Option<&'a Viewer>,
}

impl<'a> View<'a> {
    /// Without a viewer, everything is there; unless there is a rule, which then has nobody to judge.
    pub(super) fn new(config: &'a Config, viewer: Option<&'a Viewer>) -> Self {
        Self { config, viewer }
    }

    /// Whoever looks, where it matters who that is.
    pub(super) fn viewer(&self) -> Option<&'a Viewer> {
        self.viewer
    }

    /// Whether not all see the same.
    pub(super) fn differs(&self) -> bool {
        self.config.visible.is_some()
    }

    pub(super) fn shows(&self, item: Item<'_>) -> bool {
        match (&self.config.visible, self.viewer) {
            (None, _) => true,
            (Some(rule), Some(viewer)) => (rule.0)(viewer, item),
            (Some(_), None) => false,
        }
    }

    fn shown<E: Listed>(&self, entry: Option<&'a Arc<E>>) -> Option<&'a Arc<E>> {
        entry.filter(|entry| self.shows(entry.item()))
    }

    pub(super) fn method(&self, name: &str) -> Option<&'a Arc<CustomMethod>> {
        self.config.custom.get(name).filter(|method| self.shows(Item::Method(method)))
    }

    pub(super) fn tool(&self, name: &str) -> Option<&'a Arc<ToolEntry>> {
        self.shown(self.config.tools.catalog.get(name))
    }

    pub(super) fn prompt(&self, name: &str) -> Option<&'a Arc<PromptEntry>> {
        self.shown(self.config.prompts.catalog.get(name))
    }

    pub(super) fn resource(&self, uri: &str) -> Option<&'a Arc<ResourceEntry>> {
        self.shown(self.config.resources.catalog.get(uri))
    }

    pub(super) fn template(&self, uri_template: &str) -> Option<&'a Arc<TemplateEntry>> {
        self.shown(self.config.templates.catalog.get(uri_template))
    }

    /// The first template that makes `uri`.
    pub(super) fn made(&self, uri: &str) -> Option<TemplateRead> {
        self.config.templates.find(uri, |template| self.shows(template.item()))
    }

    /// Whether there is a resource at this URI, or a template that makes it.
    pub(super) fn is_readable(&self, uri: &str) -> bool {
        self.resource(uri).is_some() || self.made(uri).is_some()
    }

    /// Whether the news of a resource is for whoever looks. What is nowhere hides nothing, and may lie below
    /// something that is there.
    pub(super) fn is_told_of(&self, uri: &str) -> bool {
        let Config { resources, templates, .. } = self.config;
        let exists = || resources.catalog.get(uri).is_some() || templates.find(uri, |_| true).is_some();
        !self.differs() || self.is_readable(uri) || !exists()
    }
}
