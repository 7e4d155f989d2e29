//! What a server offers, as snapshots: one is in force, and a change puts another in its place.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::TaskSupport;
use mcp_proto::server::{Change, Config, CustomMethod, ListChanges, Target, Tools};

use super::ErrorHook;
use crate::bus::{Bus, LocalBus};
use crate::context::Report;
use crate::handler::{Boxed, Handlers, Run};
use crate::prompt::{Prompt, PromptArguments};
use crate::resource::{Resource, ResourceTemplate};
use crate::tool::{Handler, Tool};

/// One snapshot: what the machines know, and what serves it.
#[derive(Clone)]
pub(crate) struct Offer {
    config: Arc<Config>,
    handlers: Handlers,
}

impl Offer {
    pub(crate) fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The configuration, to change it. Copied first where somebody else has the snapshot.
    pub(crate) fn config_mut(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }

    pub(crate) fn handler(&self, target: &Target) -> Option<&Run> {
        self.handlers.get(target)
    }

    pub(crate) fn add_tool(&mut self, tool: Tool, handler: Handler) -> Result<(), ApiMisuse> {
        let (scopes, task_support) = (tool.scopes.clone(), tool.task_support);
        // A handler's own type reads the arguments as its schema says.
        let typed = !tool.has_input_schema();
        let tool = tool.into_model(handler.schema)?;
        let name = tool.name.clone();
        let limits = self.config.limits.clone();
        self.config_mut().tools.set_limits(limits);
        self.config_mut().tools.insert_for(tool, scopes)?;
        if task_support != TaskSupport::Forbidden {
            // Also when the tool is taken out again: there may be tasks of it.
            self.config_mut().tasks = true;
            self.config_mut().tools.set_task_support(&name, task_support);
        }
        if typed {
            self.config_mut().tools.rely_on_type(&name);
        }
        self.handlers.tools.insert(name.into(), handler.run);
        Ok(())
    }

    pub(crate) fn add_prompt<A: PromptArguments>(
        &mut self,
        prompt: Prompt,
        handler: Boxed,
    ) -> Result<(), ApiMisuse> {
        let scopes = prompt.scopes.clone();
        let prompt = prompt.into_model::<A>()?;
        let name = prompt.name.clone();
        self.config_mut().prompts.insert_for(prompt, scopes)?;
        self.handlers.prompts.insert(name.into(), handler.0);
        Ok(())
    }

    pub(crate) fn add_resource(&mut self, resource: Resource, handler: Boxed) -> Result<(), ApiMisuse> {
        let uri = resource.model.uri.clone();
        let resources = &mut self.config_mut().resources;
        resources.insert_for(resource.model, resource.scopes)?;
        resources.set_cache(&uri, resource.cache);
        self.handlers.resources.insert(uri.into(), handler.0);
        Ok(())
    }

    pub(crate) fn add_template(
        &mut self,
        template: ResourceTemplate,
        handler: Boxed,
    ) -> Result<(), ApiMisuse> {
        let uris = template.model.uri_template.clone();
        let templates = &mut self.config_mut().templates;
        templates.insert_for(template.model, template.scopes)?;
        templates.set_cache(&uris, template.cache);
        self.handlers.templates.insert(uris.into(), handler.0);
        Ok(())
    }

    pub(crate) fn add_method(&mut self, method: CustomMethod, handler: Boxed) -> Result<(), ApiMisuse> {
        let name = method.name.clone();
        self.config_mut().custom.method(method)?;
        self.handlers.methods.insert(name.into(), handler.0);
        Ok(())
    }

    pub(crate) fn complete_prompt(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: Boxed,
    ) -> Result<(), ApiMisuse> {
        let entry = self.config.prompts.get(prompt);
        let known =
            entry.is_some_and(|entry| entry.prompt.arguments.iter().any(|known| known.name == argument));
        completable(known, "prompt", prompt, argument)?;
        let of = &mut self.handlers.completions.prompts;
        of.entry(prompt.to_owned()).or_default().insert(argument.to_owned(), handler.0);
        self.config_mut().completions = true;
        Ok(())
    }

    pub(crate) fn complete_template(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: Boxed,
    ) -> Result<(), ApiMisuse> {
        let entry = self.config.templates.get(uri_template);
        let known = entry.is_some_and(|entry| entry.variables().any(|known| known == variable));
        completable(known, "resource template", uri_template, variable)?;
        let of = &mut self.handlers.completions.templates;
        of.entry(uri_template.to_owned()).or_default().insert(variable.to_owned(), handler.0);
        self.config_mut().completions = true;
        Ok(())
    }

    pub(crate) fn remove_tool(&mut self, name: &str) {
        self.config_mut().tools.remove(name);
        self.handlers.tools.remove(name);
    }

    pub(crate) fn remove_prompt(&mut self, name: &str) {
        self.config_mut().prompts.remove(name);
        self.handlers.prompts.remove(name);
        self.handlers.completions.prompts.remove(name);
    }

    pub(crate) fn remove_resource(&mut self, uri: &str) {
        self.config_mut().resources.remove(uri);
        self.handlers.resources.remove(uri);
    }

    pub(crate) fn remove_template(&mut self, uri_template: &str) {
        self.config_mut().templates.remove(uri_template);
        self.handlers.templates.remove(uri_template);
        self.handlers.completions.templates.remove(uri_template);
    }

    /// The lists that are not what they were in `old`.
    pub(crate) fn changes_since(&self, old: &Self) -> Vec<Change> {
        let (old, new) = (&old.config, &self.config);
        let same = |kept: bool, change| (!kept).then_some(change);
        let resources = old.resources.is_same(&new.resources) && old.templates.is_same(&new.templates);
        let changes = [
            same(old.tools.is_same(&new.tools), Change::Tools),
            same(old.prompts.is_same(&new.prompts), Change::Prompts),
            same(resources, Change::Resources),
        ];
        changes.into_iter().flatten().collect()
    }

    /// Whether `target` was found in this snapshot, and not in an earlier or later one.
    fn made(&self, target: &Target) -> bool {
        let config = &self.config;
        match target {
            Target::Tool(entry) => {
                config.tools.get(&entry.tool.name).is_some_and(|found| Arc::ptr_eq(found, entry))
            }
            Target::Prompt(entry) => {
                config.prompts.get(&entry.prompt.name).is_some_and(|found| Arc::ptr_eq(found, entry))
            }
            Target::Resource(entry) => {
                config.resources.get(&entry.resource.uri).is_some_and(|found| Arc::ptr_eq(found, entry))
            }
            Target::Template(read) => {
                let uris = &read.template.template.uri_template;
                config.templates.get(uris).is_some_and(|found| Arc::ptr_eq(found, &read.template))
            }
            _ => self.handlers.get(target).is_some(),
        }
    }
}

/// Clients ask for suggestions for what is declared only.
fn completable(known: bool, kind: &str, name: &str, argument: &str) -> Result<(), ApiMisuse> {
    if known {
        return Ok(());
    }
    Err(ApiMisuse::new(format!("there is no {kind} `{name}` with `{argument}` to complete; add it before")))
}

/// The snapshot in force.
pub(crate) struct Live {
    offer: Mutex<Arc<Offer>>,
    /// Held by who makes the next one, which takes a while: schemas are read.
    changing: Mutex<()>,
    /// Counts the snapshots, so that whoever has one sees without the lock whether it is still in force.
    generation: AtomicU64,
    bus: Mutex<Arc<dyn Bus>>,
    /// Hears of what is unwise about definitions, once the server serves.
    on_error: OnceLock<ErrorHook>,
}

impl Live {
    pub(crate) fn new(config: Config) -> Self {
        let offer = Offer { config: Arc::new(config), handlers: Handlers::default() };
        Self {
            offer: Mutex::new(Arc::new(offer)),
            changing: Mutex::default(),
            generation: AtomicU64::new(0),
            bus: Mutex::new(Arc::new(LocalBus::new())),
            on_error: OnceLock::new(),
        }
    }

    /// The snapshot in force.
    pub(crate) fn offer(&self) -> Arc<Offer> {
        self.lock().clone()
    }

    /// From now on the hook hears of what is unwise about definitions; and at once of those that there are.
    pub(crate) fn set_hook(&self, hook: ErrorHook) {
        // A server begins to serve once.
        let _ = self.on_error.set(hook);
        self.warn(None, &self.offer());
    }

    /// Tells what is unwise about the tools that `new` has and `old` had not.
    pub(crate) fn warn(&self, old: Option<&Offer>, new: &Offer) {
        let Some(hook) = self.on_error.get() else { return };
        let none = Tools::new();
        let tools = &new.config.tools;
        for entry in tools.added_since(old.map_or(&none, |old| &old.config.tools)) {
            for warning in &entry.warnings {
                hook(&Report::ours(format!("tool {}", entry.tool.name), warning));
            }
        }
    }

    /// What changes are published on.
    pub(crate) fn bus(&self) -> Arc<dyn Bus> {
        self.bus.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_bus(&self, bus: Arc<dyn Bus>) {
        *self.bus.lock().unwrap_or_else(PoisonError::into_inner) = bus;
    }

    /// Promises clients that they hear of changes.
    pub(crate) fn promise(&self) {
        self.build(|offer| {
            let config = offer.config_mut();
            (config.changes, config.subscriptions) = (ListChanges::ALL, true);
        });
    }

    /// Changes a server that is being put together: in place, as nobody else has the snapshot.
    pub(crate) fn build<T>(&self, change: impl FnOnce(&mut Offer) -> T) -> T {
        change(Arc::make_mut(&mut self.lock()))
    }

    /// Puts another snapshot in force, or none if `change` fails. Returns the old and the new one, and drops none of
    /// them with a lock held. Whoever adds handlers keeps them until this returns, so that none goes before.
    pub(crate) fn replace(
        &self,
        change: impl FnOnce(&mut Offer) -> Result<(), ApiMisuse>,
    ) -> Result<(Arc<Offer>, Arc<Offer>), ApiMisuse> {
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Offer::clone(&self.offer());
        let changed = change(&mut next);
        let next = Arc::new(next);
        let old = changed.map(|()| {
            let mut offer = self.lock();
            self.generation.fetch_add(1, Ordering::Release);
            std::mem::replace(&mut *offer, next.clone())
        });
        drop(changing);
        Ok((old?, next))
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Offer>> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The snapshot in force, as one connection has it.
pub(crate) struct Current {
    live: Arc<Live>,
    generation: u64,
    offer: Arc<Offer>,
    /// Earlier ones in which something was found that is not yet being served.
    before: Vec<Arc<Offer>>,
}

impl Current {
    pub(crate) fn new(live: Arc<Live>) -> Self {
        // Read before the snapshot: one that is newer than its number is only taken once more.
        let generation = live.generation.load(Ordering::Acquire);
        Self { generation, offer: live.offer(), live, before: Vec::new() }
    }

    /// The one in force. Takes no lock unless there is a new one.
    pub(crate) fn offer(&mut self) -> &Arc<Offer> {
        self.refresh();
        &self.offer
    }

    /// The new one, if there is one.
    pub(crate) fn refresh(&mut self) -> Option<&Arc<Offer>> {
        let generation = self.live.generation.load(Ordering::Acquire);
        if generation == self.generation {
            return None;
        }
        self.generation = generation;
        let offer = self.live.offer();
        self.before.push(std::mem::replace(&mut self.offer, offer));
        Some(&self.offer)
    }

    /// The one in which `target` was found.
    pub(crate) fn made(&self, target: &Target) -> Arc<Offer> {
        let mut earlier = self.before.iter().rev();
        let made = if self.before.is_empty() || self.offer.made(target) {
            None
        } else {
            earlier.find(|offer| offer.made(target))
        };
        made.unwrap_or(&self.offer).clone()
    }

    /// Nothing that was found waits any more. Returns what is to be dropped with no lock held.
    pub(crate) fn settle(&mut self) -> Vec<Arc<Offer>> {
        std::mem::take(&mut self.before)
    }
}
