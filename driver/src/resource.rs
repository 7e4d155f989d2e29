//! Resources and resource templates: metadata, and what a handler of one takes and returns.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use mcp_proto::model::{
    self, Annotations, BlobResourceContents, CacheScope, Icon, Meta, ReadResourceResult, ResourceContents,
    TextResourceContents,
};
use mcp_proto::server::{CacheHint, Scopes, Target};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::handler::{Arguments, Boxed, HandlerFor, Outcome, Run, decode, finish};
use crate::tool::{AsyncHandler, BlockingHandler, ToolError};

/// What a server says about a resource.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource>
#[derive(Clone, Debug)]
pub struct Resource {
    pub(crate) model: model::Resource,
    pub(crate) scopes: Scopes,
    pub(crate) cache: CacheHint,
}

/// What a server says about a family of resources whose URIs have variables.
///
/// Variables are written `{name}`, optional ones at the end `{?a,b}`; see
/// [`Templates`](mcp_proto::server::Templates).
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates>
#[derive(Clone, Debug)]
pub struct ResourceTemplate {
    pub(crate) model: model::ResourceTemplate,
    pub(crate) scopes: Scopes,
    pub(crate) cache: CacheHint,
}

impl Resource {
    /// The resource at `uri`, called `name`. A URI with `https://` says that clients can fetch it from the web
    /// themselves; what only this server has gets another scheme (RES-23).
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { model: model::Resource::new(uri, name), scopes: Scopes::new(), cache: CacheHint::default() }
    }

    /// The size in bytes, when it is known.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.model = self.model.size(bytes);
        self
    }
}

impl ResourceTemplate {
    /// The resources at URIs like `uri_template`, called `name`.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            model: model::ResourceTemplate::new(uri_template, name),
            scopes: Scopes::new(),
            cache: CacheHint::default(),
        }
    }
}

macro_rules! describing {
    ($name:ident) => {
        impl $name {
            /// What is in it, for the model.
            #[must_use]
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.model = self.model.description(description);
                self
            }

            /// A name for people.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.model = self.model.title(title);
                self
            }

            /// The media type, such as `text/plain`: that of the contents, too, when a handler returns text or
            /// bytes.
            #[must_use]
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.model = self.model.mime_type(mime_type);
                self
            }

            /// How it is meant to be used.
            #[must_use]
            pub fn annotations(mut self, annotations: Annotations) -> Self {
                self.model = self.model.annotations(annotations);
                self
            }

            /// An icon to show beside it.
            #[must_use]
            pub fn icon(mut self, icon: Icon) -> Self {
                self.model.icons.push(icon);
                self
            }

            /// Scopes that a caller must have; see [`Tool::scopes`](crate::Tool::scopes).
            #[must_use]
            pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
                self.scopes.extend(scopes.into_iter().map(Into::into));
                self
            }

            /// How long modern clients may keep what a handler returns as text or bytes, and who may be given a
            /// copy; see [`Server::cache`](crate::Server::cache). A whole [`ReadResourceResult`] says it itself.
            #[must_use]
            pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
                self.cache = CacheHint::new(ttl.into(), scope);
                self
            }

            /// `_meta` of the definition.
            #[must_use]
            pub fn meta(mut self, meta: Meta) -> Self {
                self.model = self.model.meta(meta);
                self
            }
        }
    };
}

describing!(Resource);
describing!(ResourceTemplate);

/// Marks handlers of resources: they take nothing but the [`Context`], and return text, bytes, or a whole
/// [`ReadResourceResult`].
#[derive(Debug)]
pub struct ForResource;

/// Marks handlers of resource templates: they take the variables, which are strings, and return what those
/// of resources do. Variables that do not fit the type name nothing: the client is told that there is no such
/// resource.
#[derive(Debug)]
pub struct ForTemplate;

/// Marks contents that are always the same.
#[derive(Debug)]
pub struct Fixed;

impl<F, T, Fut> HandlerFor<ForResource, AsyncHandler<(), T, ForResource>> for F
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    T: Outcome<ForResource>,
{
    fn into_handler(self) -> Boxed {
        Boxed(Run::future(move |(), context| self(context), |_| Ok(()), finish::<ForResource, T>))
    }
}

impl<F, T> HandlerFor<ForResource, BlockingHandler<(), T, ForResource>> for F
where
    F: Fn(Context) -> Result<T, ToolError> + Send + Sync + 'static,
    T: Outcome<ForResource>,
{
    fn into_handler(self) -> Boxed {
        Boxed(Run::blocking(move |(), context| self(context), |_| Ok(()), finish::<ForResource, T>))
    }
}

impl<A: DeserializeOwned + Send + 'static> Arguments<ForTemplate> for A {
    fn read(context: &Context) -> Result<Self, ToolError> {
        let Target::Template(read) = context.target() else {
            return Err(ToolError::internal("not a call of a template"));
        };
        let variables: BTreeMap<_, _> = read.variables().collect();
        decode(&serde_json::to_string(&variables)?).map_err(|_| ToolError::not_found())
    }
}

impl Outcome<ForResource> for ReadResourceResult {
    type Output = Self;

    fn into_output(self, _: &Target) -> Self {
        self
    }
}

/// The URI that was asked for, and the media type that was declared.
fn place(target: &Target) -> (&str, Option<&String>) {
    let mime_type = match target {
        Target::Resource(entry) => entry.resource.mime_type.as_ref(),
        Target::Template(read) => read.template.template.mime_type.as_ref(),
        _ => None,
    };
    (target.uri().unwrap_or_default(), mime_type)
}

/// What is returned as contents is a result with the hint that was declared.
fn result(contents: Vec<ResourceContents>, target: &Target) -> ReadResourceResult {
    let cache = match target {
        Target::Resource(entry) => entry.cache,
        Target::Template(read) => read.template.cache,
        _ => CacheHint::default(),
    };
    ReadResourceResult::new(contents).ttl_ms(cache.ttl).cache_scope(cache.scope)
}

fn text(text: String, target: &Target) -> ReadResourceResult {
    let (uri, mime_type) = place(target);
    let mut contents = TextResourceContents::new(uri, text);
    contents.mime_type = mime_type.cloned();
    result(vec![contents.into()], target)
}

fn bytes(bytes: &[u8], target: &Target) -> ReadResourceResult {
    let (uri, mime_type) = place(target);
    let mut contents = BlobResourceContents::from_bytes(uri, bytes);
    contents.mime_type = mime_type.cloned();
    result(vec![contents.into()], target)
}

macro_rules! contents {
    ($($type:ty, |$value:ident, $target:ident| $into:expr;)+) => {
        $(impl Outcome<ForResource> for $type {
            type Output = ReadResourceResult;

            fn into_output(self, $target: &Target) -> ReadResourceResult {
                let $value = self;
                $into
            }
        })+
    };
}

contents! {
    String, |value, target| text(value, target);
    &'static str, |value, target| text(value.to_owned(), target);
    Vec<u8>, |value, target| bytes(&value, target);
    &'static [u8], |value, target| bytes(value, target);
    ResourceContents, |value, target| result(vec![value], target);
    Vec<ResourceContents>, |value, target| result(value, target);
}

impl<T: Outcome<ForResource>> Outcome<ForTemplate> for T {
    type Output = T::Output;

    fn into_output(self, target: &Target) -> T::Output {
        Outcome::<ForResource>::into_output(self, target)
    }
}

macro_rules! fixed {
    ($($type:ty),+) => {
        $(impl HandlerFor<ForResource, Fixed> for $type {
            fn into_handler(self) -> Boxed {
                let contents = move |(), _: Context| std::future::ready(Ok(self.clone()));
                Boxed(Run::future(contents, |_| Ok(()), finish::<ForResource, $type>))
            }
        })+
    };
}

fixed!(String, &'static str, Vec<u8>, &'static [u8]);
