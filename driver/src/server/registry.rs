//! Changing what a server offers while it serves.

use std::fmt;
use std::sync::Arc;

use mcp_proto::error::ApiMisuse;
use mcp_proto::server::Change;

use super::offer::{Live, Offer};
use crate::completion::ForCompletion;
use crate::handler::{Boxed, HandlerFor, Run, Takes};
use crate::prompt::{ForPrompt, Prompt, PromptArguments};
use crate::resource::{ForResource, ForTemplate, Resource, ResourceTemplate};
use crate::tool::{Tool, ToolHandler};

/// A handle on what a server offers, to change it at any time and from any thread; handlers may have one, too.
/// Made by [`Server::registry`](crate::Server::registry). Clones change the same server.
///
/// Clients hear of what changes as far as their revision and transport allow: see [`Bus`](crate::Bus).
///
/// ```
/// # use mcp_driver::{Context, Registry, Tool};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Nothing {}
/// # fn change(registry: &Registry) -> Result<(), mcp_driver::ApiMisuse> {
/// registry.change(|offer| {
///     offer.remove_tool("mow");
///     offer.tool(Tool::new("rake"), async |_: Nothing, _: Context| Ok("raked"));
/// })
/// # }
/// ```
#[derive(Clone)]
pub struct Registry {
    live: Arc<Live>,
}

impl Registry {
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self { live }
    }

    /// Makes one change of many: whoever asks sees all of it or nothing, and clients are told once of each list
    /// that it changes. Calls that are running already go on with what they began with.
    ///
    /// # Errors
    /// When a definition is one that the specification forbids or whose name is taken. Then nothing changes.
    pub fn change(&self, change: impl FnOnce(&mut Changes)) -> Result<(), ApiMisuse> {
        // Code of the application runs before the lock is taken, not under it.
        let mut changes = Changes::default();
        change(&mut changes);
        // Handlers of the application go after the lock is free, also where a step fails.
        let Changes { steps, handlers: _kept } = changes;
        let mut steps = steps.into_iter();
        let replaced = self.live.replace(|offer| steps.try_for_each(|step| step(offer)))?;
        let (old, new) = replaced;
        self.live.warn(Some(&old), &new);
        let changes = new.changes_since(&old);
        drop((old, new));
        changes.iter().for_each(|change| self.publish(change));
        Ok(())
    }

    /// Tells clients that watch the resource at `uri`, or one that it lies below, that it is not what it was.
    pub fn resource_updated(&self, uri: impl Into<Arc<str>>) {
        self.publish(&Change::Resource(uri.into()));
    }

    /// Tells clients of a change that was not made here: by [`visible`](crate::Server::visible), which lets somebody
    /// see other things now, or by another server whose bus is not this one's.
    pub fn publish(&self, change: &Change) {
        self.live.bus().publish(change);
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

/// What [`Registry::change`] is to change, in this order. Everything is as on [`Server`](crate::Server).
#[derive(Default)]
pub struct Changes {
    steps: Vec<Step>,
    /// The handlers that the steps add.
    handlers: Vec<Run>,
}

type Step = Box<dyn FnOnce(&mut Offer) -> Result<(), ApiMisuse>>;

impl Changes {
    /// Adds a tool, at the end of the list. To replace one, remove it first.
    pub fn tool<M>(&mut self, tool: Tool, handler: impl ToolHandler<M>) {
        let handler = handler.into_handler();
        self.handlers.push(handler.run.clone());
        self.step(|offer| offer.add_tool(tool, handler));
    }

    /// Adds a prompt.
    pub fn prompt<A: PromptArguments, M: Takes<A>>(
        &mut self,
        prompt: Prompt,
        handler: impl HandlerFor<ForPrompt, M>,
    ) {
        let handler = self.keep(handler.into_handler());
        self.step(|offer| offer.add_prompt::<A>(prompt, handler));
    }

    /// Adds a resource.
    pub fn resource<M>(&mut self, resource: Resource, handler: impl HandlerFor<ForResource, M>) {
        let handler = self.keep(handler.into_handler());
        self.step(|offer| offer.add_resource(resource, handler));
    }

    /// Adds a family of resources.
    pub fn resource_template<M>(
        &mut self,
        template: ResourceTemplate,
        handler: impl HandlerFor<ForTemplate, M>,
    ) {
        let handler = self.keep(handler.into_handler());
        self.step(|offer| offer.add_template(template, handler));
    }

    /// Suggests values for an argument of a prompt.
    pub fn complete_prompt<M>(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: impl HandlerFor<ForCompletion, M>,
    ) {
        let (prompt, argument, handler) =
            (prompt.to_owned(), argument.to_owned(), self.keep(handler.into_handler()));
        self.step(move |offer| offer.complete_prompt(&prompt, &argument, handler));
    }

    /// Suggests values for a variable of a resource template.
    pub fn complete_template<M>(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: impl HandlerFor<ForCompletion, M>,
    ) {
        let (template, variable, handler) =
            (uri_template.to_owned(), variable.to_owned(), self.keep(handler.into_handler()));
        self.step(move |offer| offer.complete_template(&template, &variable, handler));
    }

    /// Takes a tool out; one that is not there is no error.
    pub fn remove_tool(&mut self, name: impl Into<String>) {
        let name = name.into();
        self.step(move |offer| {
            offer.remove_tool(&name);
            Ok(())
        });
    }

    /// Takes a prompt out, and what suggests values for it.
    pub fn remove_prompt(&mut self, name: impl Into<String>) {
        let name = name.into();
        self.step(move |offer| {
            offer.remove_prompt(&name);
            Ok(())
        });
    }

    /// Takes a resource out.
    pub fn remove_resource(&mut self, uri: impl Into<String>) {
        let uri = uri.into();
        self.step(move |offer| {
            offer.remove_resource(&uri);
            Ok(())
        });
    }

    /// Takes a family of resources out, and what suggests values for it.
    pub fn remove_resource_template(&mut self, uri_template: impl Into<String>) {
        let template = uri_template.into();
        self.step(move |offer| {
            offer.remove_template(&template);
            Ok(())
        });
    }

    fn keep(&mut self, handler: Boxed) -> Boxed {
        self.handlers.push(handler.0.clone());
        handler
    }

    fn step(&mut self, step: impl FnOnce(&mut Offer) -> Result<(), ApiMisuse> + 'static) {
        self.steps.push(Box::new(step));
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}
