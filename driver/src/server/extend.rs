//! What a server says of itself, what it adds to the protocol, and what goes around its requests.

use std::future::Future;
use std::time::Duration;

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::{CacheScope, Implementation, Json};
use mcp_proto::server::{CacheHint, CustomMethod};
use serde::Serialize;

use super::Server;
use crate::around::{self, Answer, Next, Request};
use crate::custom::{ForMethod, Notification};
use crate::handler::HandlerFor;
use crate::runtime::Runtime;

impl<R: Runtime> Server<R> {
    /// Says more about the server than its name and version: a title, a description, a web site, icons.
    #[must_use]
    pub fn identity(self, change: impl FnOnce(Implementation) -> Implementation) -> Self {
        self.configure(|config| config.set_identity(change(config.identity().clone())))
    }

    /// Advice to the model on how to use the server.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.configure(|config| config.instructions = Some(instructions.into()))
    }

    /// Entries on one page of a list; 0 counts as 1. Default: all on one.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>
    #[must_use]
    pub fn page_size(self, entries: usize) -> Self {
        self.configure(|config| config.page_size = Some(entries))
    }

    /// How long modern clients may keep what the server lists and says of itself, to the millisecond, and who may be
    /// given a copy: [`CacheScope::Public`] is shared with whoever asks, so never say it of what depends on the user.
    /// Default: stale at once, private. What is read says it at its
    /// [`Resource`](crate::Resource::cache). Clients that listen hear of changes before that (CACHE-13).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>
    #[must_use]
    pub fn cache(self, ttl: Duration, scope: CacheScope) -> Self {
        self.configure(|config| config.cache = CacheHint::new(ttl.into(), scope))
    }

    /// The same for the list of tools, in place of what [`cache`](Self::cache) says.
    #[must_use]
    pub fn cache_tools(self, ttl: Duration, scope: CacheScope) -> Self {
        self.configure(|config| config.tools.cache = Some(CacheHint::new(ttl.into(), scope)))
    }

    /// The same for the list of prompts.
    #[must_use]
    pub fn cache_prompts(self, ttl: Duration, scope: CacheScope) -> Self {
        self.configure(|config| config.prompts.cache = Some(CacheHint::new(ttl.into(), scope)))
    }

    /// The same for the list of resources, which is not about their contents.
    #[must_use]
    pub fn cache_resources(self, ttl: Duration, scope: CacheScope) -> Self {
        self.configure(|config| config.resources.cache = Some(CacheHint::new(ttl.into(), scope)))
    }

    /// The same for the list of resource templates.
    #[must_use]
    pub fn cache_resource_templates(self, ttl: Duration, scope: CacheScope) -> Self {
        self.configure(|config| config.templates.cache = Some(CacheHint::new(ttl.into(), scope)))
    }

    /// Offers log messages: see [`Context::log`](crate::Context::log). Deprecated by revision 2026-07-28.
    #[must_use]
    pub fn logging(self) -> Self {
        self.configure(|config| config.logging = true)
    }

    /// Attaches something of the application, for handlers to find in
    /// [`Context::extensions`](crate::Context::extensions); one value of each type.
    #[must_use]
    pub fn attach<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions = self.extensions.with(value);
        self
    }

    /// Adds a method that is not the protocol's, such as `acme/restock`, for clients that know of it. The handler
    /// takes the parameters and returns any value that serialises as an object, or nothing. Give a
    /// [`CustomMethod`] instead of a name to say more about it: scopes that callers need, or what names its target.
    /// [`visible`](Self::visible) decides about it as about tools.
    ///
    /// ```
    /// # use mcp_driver::{Context, Runtime, Server};
    /// # use serde_json::json;
    /// #[derive(serde::Deserialize)]
    /// struct Restock { shelf: String }
    ///
    /// # fn restock<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.method("acme/restock", async |Restock { shelf }: Restock, cx: Context| {
    ///     cx.notify("acme/walking", json!({ "to": shelf }));
    ///     Ok(json!({ "stock": 12 }))
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn method<M>(self, method: impl Into<CustomMethod>, handler: impl HandlerFor<ForMethod, M>) -> Self {
        self.add(|offer| offer.add_method(method.into(), handler.into_handler()))
    }

    /// Hears of a notification of clients: `notifications/roots/list_changed`, `notifications/progress`, or one
    /// that is not the protocol's, such as `acme/moved`. The hook must not block.
    #[must_use]
    pub fn on_notification(
        mut self,
        method: &str,
        hook: impl Fn(&Notification) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.entry(method.to_owned()).or_default().push(Box::new(hook));
        self.add(|offer| offer.config_mut().custom.notification(method))
    }

    /// Declares an extension to modern clients, with its settings: an object, `json!({})` when there are none.
    /// What the extension does is up to the server's tools, [methods](Self::method) and handlers; whether a client
    /// knows it, says [`Context::client_extension`](crate::Context::client_extension). None is declared unless asked for.
    ///
    /// The prefix of the identifier is a domain of yours, reversed (EXT-03); so is one of keys in `_meta` (META-04).
    /// Say in its documentation what becomes of clients without it (EXT-06), and give what is no longer
    /// compatible another identifier (EXT-10). That of client credentials is declared in this way (AUTHX-10), and so is that
    /// for apps, whose resources and `_meta` are like any others (APP-01 to APP-09).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation>
    #[must_use]
    pub fn extension(self, id: &str, settings: impl Serialize) -> Self {
        self.add(|offer| offer.config_mut().extension(id, json(&settings)?))
    }

    /// Declares something experimental, with its settings: an object.
    #[must_use]
    pub fn experimental(self, name: &str, settings: impl Serialize) -> Self {
        self.add(|offer| {
            offer.config_mut().experimental.insert(name.to_owned(), json(&settings)?);
            Ok(())
        })
    }

    /// Puts a hook around every request of the protocol and of your own, handshakes and subscriptions among them: to
    /// time it, to count it, to refuse it. The first hook is the outermost. It goes on with [`Next::run`], which is
    /// ready once the request is answered, or answers in its own words (a handshake and a subscription it can only
    /// refuse: a result of its own would promise what is not there). It is async also where handlers block.
    /// Payloads are shown only if it asks for them.
    ///
    /// A hook sees what makes sense: what is malformed, for nothing that is there, or lacks scopes is refused before.
    /// What the protocol answers by itself is answered, and done, when the outermost hook is ready: only then is a
    /// session open, and does somebody listen (who may be refused still, by [`on_listen`](Self::on_listen)). On a byte
    /// stream what comes after a handshake waits for that.
    ///
    /// ```
    /// # use mcp_driver::{Answer, Next, Request, Runtime, Server};
    /// # fn timed<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.around(async |request: Request, next: Next| {
    ///     if request.name() == "launch" && request.principal().is_none() {
    ///         return Answer::tool_error("log in first");
    ///     }
    ///     let answer = next.run().await;
    ///     eprintln!("{} {}: {} in {:?}", request.method(), request.name(), answer.kind(), request.elapsed());
    ///     answer
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn around<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(Request, Next) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        self.around.push(around::hook(hook));
        self.configure(|config| config.hand_out_all = true)
    }
}

fn json(value: &impl Serialize) -> Result<Json, ApiMisuse> {
    Json::new(value).map_err(|error| ApiMisuse::new(error.to_string()))
}
