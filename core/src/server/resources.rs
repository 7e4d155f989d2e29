//! The catalogs of resources and of resource templates: what their lists show and `resources/read` finds.

#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::sync::Arc;

use super::catalog::{Listed, Texts, catalog};
use super::config::CacheHint;
use super::resource_server::Scopes;
use super::target::TemplateRead;
use super::template::UriTemplate;
use super::uri;
use super::visible::Item;
use crate::error::ApiMisuse;
use crate::limits::Limits;
use crate::model::resources::{Resource, ResourceTemplate};

catalog! {
    /// The resources of a server, each under a URI of its own, in the order in which they were added.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>
    Resources of Resource as ResourceEntry, found by uri;
    /// Adds a resource.
    ///
    /// Refused are an empty name, what is not a URI (RES-22), and a URI that is taken.
    insert
}

catalog! {
    /// The resource templates of a server, in the order in which they were added. A URI that several match
    /// belongs to the first of them; one in [`Resources`] belongs to none.
    ///
    /// A template holds variables as `{name}`, and may end with optional ones as `{?a,b}`. A `{name}` takes
    /// one segment of a path or a part of one: its value, percent-decoded, is not empty and holds neither
    /// `/` nor `..`. What comes in the query is not restricted in that way.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates>
    Templates of ResourceTemplate as TemplateEntry, found by uri_template;
    /// Adds a template.
    ///
    /// Refused are an empty name, other kinds of variables, two variables with nothing between them, a
    /// variable that is there twice, what cannot make a URI, and a template that is there already.
    insert
}

impl Resources {
    /// Gives a resource, just added, a hint for caches.
    pub fn set_cache(&mut self, uri: &str, cache: CacheHint) {
        if let Some(entry) = self.catalog.get_mut(uri) {
            entry.cache = cache;
        }
    }
}

impl Templates {
    /// Gives the resources of a template, just added, a hint for caches.
    pub fn set_cache(&mut self, uri_template: &str, cache: CacheHint) {
        if let Some(entry) = self.catalog.get_mut(uri_template) {
            entry.cache = cache;
        }
    }

    /// The first template that makes `uri`, with its values.
    pub(super) fn find(&self, uri: &str, shown: impl Fn(&TemplateEntry) -> bool) -> Option<TemplateRead> {
        self.catalog.iter().find_map(|entry| {
            let values = entry.uris.values(uri).filter(|_| shown(entry))?;
            Some(TemplateRead { template: Arc::clone(entry), uri: uri.into(), values })
        })
    }
}

/// A resource as the catalog holds it: checked, and already written out for every revision.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResourceEntry {
    /// The resource as it was added.
    pub resource: Resource,
    /// How long its contents may be kept, for whoever makes a
    /// [`ReadResourceResult`](crate::model::ReadResourceResult) of them.
    pub cache: CacheHint,
    /// What a caller must be allowed, where that is asked.
    scopes: Scopes,
    texts: Texts,
}

impl Listed for ResourceEntry {
    type Item = Resource;

    const LIST: &'static str = "resources";
    const ONE: &'static str = "resource";

    fn new(resource: Resource, _: &Limits) -> Result<Self, ApiMisuse> {
        let misuse = |what: String| ApiMisuse::new(alloc::format!("resource `{}`: {what}", resource.uri));
        if !uri::is_valid(&resource.uri) {
            return Err(misuse("that is not a URI (RFC 3986); escape other characters as `%XX`".into()));
        }
        if resource.name.is_empty() {
            return Err(misuse("a resource must have a name".into()));
        }
        let texts = Texts::new(&resource)
            .map_err(|error| misuse(alloc::format!("it does not serialise: {error}")))?;
        Ok(Self { resource, cache: CacheHint::default(), scopes: Scopes::new(), texts })
    }

    fn key(&self) -> &str {
        &self.resource.uri
    }

    fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }

    fn item(&self) -> Item<'_> {
        Item::Resource(&self.resource)
    }
}

/// A resource template as the catalog holds it: checked, and already written out for every revision.
#[derive(Debug)]
#[non_exhaustive]
pub struct TemplateEntry {
    /// The template as it was added.
    pub template: ResourceTemplate,
    /// How long the contents may be kept, for whoever makes a
    /// [`ReadResourceResult`](crate::model::ReadResourceResult) of them.
    pub cache: CacheHint,
    uris: UriTemplate,
    /// What a caller must be allowed, where that is asked.
    scopes: Scopes,
    texts: Texts,
}

impl TemplateEntry {
    /// The names of the variables, those of the path first.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.uris.names()
    }
}

impl Listed for TemplateEntry {
    type Item = ResourceTemplate;

    const LIST: &'static str = "resourceTemplates";
    const ONE: &'static str = "resource template";

    fn new(template: ResourceTemplate, _: &Limits) -> Result<Self, ApiMisuse> {
        let misuse = |what: String| {
            ApiMisuse::new(alloc::format!("resource template `{}`: {what}", template.uri_template))
        };
        let uris = UriTemplate::parse(&template.uri_template).map_err(misuse)?;
        if template.name.is_empty() {
            return Err(misuse("a resource template must have a name".into()));
        }
        let texts = Texts::new(&template)
            .map_err(|error| misuse(alloc::format!("it does not serialise: {error}")))?;
        Ok(Self { template, cache: CacheHint::default(), uris, scopes: Scopes::new(), texts })
    }

    fn key(&self) -> &str {
        &self.template.uri_template
    }

    fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }

    fn item(&self) -> Item<'_> {
        Item::Template(&self.template)
    }
}
