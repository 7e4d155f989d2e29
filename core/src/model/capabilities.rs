//! What client and server can do.
//!
//! Capability objects are open: members not known here are kept in `extra` and sent on (META-23).

use super::encode::{Members, Object};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use crate::dialect::{ElicitationModes, Tasks};
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::SerializeMap;

/// What a client can do for a server.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities>
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Whatever is not standard, by name.
    pub experimental: Option<JsonMap>,
    /// It lists roots (ROOT-01).
    pub roots: Option<RootsCapability>,
    /// It asks its model (SAMP-01).
    pub sampling: Option<SamplingCapability>,
    /// It asks its user; from 2025-06-18 on (ELIC-01).
    pub elicitation: Option<ElicitationCapability>,
    /// It runs tasks, as JSON; 2025-11-25 only.
    pub tasks: Option<Json>,
    /// Extensions by id, with their settings; from 2026-07-28 on (EXT-01).
    pub extensions: Option<JsonMap>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ClientCapabilities {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of what is declared, as far as it goes: `elicitation.url`, `sampling`, the id of an extension.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut name = |capability: &str, parts: &[(&str, bool)]| {
            let parts = parts.iter().filter(|(_, is_there)| *is_there);
            let before = names.len();
            names.extend(parts.map(|(part, _)| [capability, ".", part].concat()));
            if names.len() == before {
                names.push(capability.into());
            }
        };
        if let Some(it) = &self.elicitation {
            name("elicitation", &[("form", it.form.is_some()), ("url", it.url.is_some())]);
        }
        if let Some(it) = &self.sampling {
            name("sampling", &[("tools", it.tools.is_some()), ("context", it.context.is_some())]);
        }
        if self.roots.is_some() {
            name("roots", &[]);
        }
        if self.tasks.is_some() {
            name("tasks", &[]);
        }
        let others = [&self.extensions, &self.experimental].into_iter().flatten().chain([&self.extra]);
        others.flat_map(JsonMap::keys).for_each(|other| name(other, &[]));
        names
    }

    /// The settings of the extension `id`, when it is declared.
    pub fn extension(&self, id: &str) -> Option<&Json> {
        self.extensions.as_ref()?.get(id)
    }
}

setters!(ClientCapabilities {
    experimental?: JsonMap,
    roots?: RootsCapability,
    sampling?: SamplingCapability,
    elicitation?: ElicitationCapability,
    tasks?: Json,
    extensions?: JsonMap,
    extra: JsonMap,
});

open_object!(ClientCapabilities {
    required {}
    optional {
        "experimental" => experimental,
        "roots" => roots,
        "sampling" => sampling,
        "elicitation" => elicitation,
        "tasks" => tasks,
        "extensions" => extensions,
    }
});

impl Members for ClientCapabilities {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.optional("experimental", &self.experimental)?;
        to.encoded_optional("roots", &self.roots)?;
        to.encoded_optional("sampling", &self.sampling)?;
        if let Some(elicitation) = &self.elicitation
            && match known.elicitation {
                ElicitationModes::None => false,
                ElicitationModes::Form => elicitation.supports_form(),
                ElicitationModes::FormAndUrl => true,
            }
        {
            to.encoded("elicitation", elicitation)?;
        }
        if known.tasks == Tasks::Core {
            to.optional("tasks", &self.tasks)?;
        }
        if known.extensions {
            to.optional("extensions", &self.extensions)?;
        }
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The client lists roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootsCapability {
    /// It announces changes; legacy revisions only (ROOT-04).
    pub list_changed: Option<bool>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl RootsCapability {
    /// It does, without options.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(RootsCapability {
    list_changed?: bool,
    extra: JsonMap,
});

open_object!(RootsCapability {
    required {}
    optional { "listChanged" => list_changed, }
});

impl Members for RootsCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        if to.dialect().roots_list_changed {
            to.optional("listChanged", &self.list_changed)?;
        }
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The client asks its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It includes context; from 2025-11-25 on (SAMP-06).
    pub context: Option<Json>,
    /// It lets the model use tools; from 2025-11-25 on (SAMP-03).
    pub tools: Option<Json>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl SamplingCapability {
    /// It does, without options.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(SamplingCapability {
    context?: Json,
    tools?: Json,
    extra: JsonMap,
});

open_object!(SamplingCapability {
    required {}
    optional {
        "context" => context,
        "tools" => tools,
    }
});

impl Members for SamplingCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        if to.dialect().sampling_tools {
            to.optional("context", &self.context)?;
            to.optional("tools", &self.tools)?;
        }
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The client asks its user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// By a form; see [`ElicitationCapability::supports_form`].
    pub form: Option<Json>,
    /// By sending the user to a URL.
    pub url: Option<Json>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ElicitationCapability {
    /// It does, without options, which means by a form (ELIC-04).
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it shows forms: it says so, or names no way at all (ELIC-04).
    pub fn supports_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether it sends the user to a URL.
    pub fn supports_url(&self) -> bool {
        self.url.is_some()
    }
}

setters!(ElicitationCapability {
    form?: Json,
    url?: Json,
    extra: JsonMap,
});

open_object!(ElicitationCapability {
    required {}
    optional {
        "form" => form,
        "url" => url,
    }
});

impl Members for ElicitationCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        if to.dialect().elicitation == ElicitationModes::FormAndUrl {
            to.optional("form", &self.form)?;
            to.optional("url", &self.url)?;
        }
        to.open(&self.extra, Self::KNOWN)
    }
}

/// What a server can do for a client.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities>
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Whatever is not standard, by name.
    pub experimental: Option<JsonMap>,
    /// It sends log messages (LOG-01).
    pub logging: Option<Json>,
    /// It completes arguments; from 2025-03-26 on.
    pub completions: Option<Json>,
    /// It has prompts.
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    pub resources: Option<ResourcesCapability>,
    /// It has tools (TOOL-01).
    pub tools: Option<ToolsCapability>,
    /// It runs tasks, as JSON; 2025-11-25 only.
    pub tasks: Option<Json>,
    /// Extensions by id, with their settings; from 2026-07-28 on (EXT-01).
    pub extensions: Option<JsonMap>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ServerCapabilities {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// The settings of the extension `id`, when it is declared.
    pub fn extension(&self, id: &str) -> Option<&Json> {
        self.extensions.as_ref()?.get(id)
    }
}

setters!(ServerCapabilities {
    experimental?: JsonMap,
    logging?: Json,
    completions?: Json,
    prompts?: PromptsCapability,
    resources?: ResourcesCapability,
    tools?: ToolsCapability,
    tasks?: Json,
    extensions?: JsonMap,
    extra: JsonMap,
});

open_object!(ServerCapabilities {
    required {}
    optional {
        "experimental" => experimental,
        "logging" => logging,
        "completions" => completions,
        "prompts" => prompts,
        "resources" => resources,
        "tools" => tools,
        "tasks" => tasks,
        "extensions" => extensions,
    }
});

impl Members for ServerCapabilities {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.optional("experimental", &self.experimental)?;
        to.optional("logging", &self.logging)?;
        if known.completions {
            to.optional("completions", &self.completions)?;
        }
        to.encoded_optional("prompts", &self.prompts)?;
        to.encoded_optional("resources", &self.resources)?;
        to.encoded_optional("tools", &self.tools)?;
        if known.tasks == Tasks::Core {
            to.optional("tasks", &self.tasks)?;
        }
        if known.extensions {
            to.optional("extensions", &self.extensions)?;
        }
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The server has tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsCapability {
    /// It announces changes.
    pub list_changed: Option<bool>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ToolsCapability {
    /// It does, without options.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ToolsCapability {
    list_changed?: bool,
    extra: JsonMap,
});

open_object!(ToolsCapability {
    required {}
    optional { "listChanged" => list_changed, }
});

impl Members for ToolsCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("listChanged", &self.list_changed)?;
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The server has prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptsCapability {
    /// It announces changes.
    pub list_changed: Option<bool>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl PromptsCapability {
    /// It does, without options.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(PromptsCapability {
    list_changed?: bool,
    extra: JsonMap,
});

open_object!(PromptsCapability {
    required {}
    optional { "listChanged" => list_changed, }
});

impl Members for PromptsCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("listChanged", &self.list_changed)?;
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The server has resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It announces changes of single resources to whoever subscribes.
    pub subscribe: Option<bool>,
    /// It announces changes of the list.
    pub list_changed: Option<bool>,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ResourcesCapability {
    /// It does, without options.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ResourcesCapability {
    subscribe?: bool,
    list_changed?: bool,
    extra: JsonMap,
});

open_object!(ResourcesCapability {
    required {}
    optional {
        "subscribe" => subscribe,
        "listChanged" => list_changed,
    }
});

impl Members for ResourcesCapability {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("subscribe", &self.subscribe)?;
        to.optional("listChanged", &self.list_changed)?;
        to.open(&self.extra, Self::KNOWN)
    }
}
