//! Servers that change while they serve: who changes them, who may see what, and who may hear of it.

use std::sync::Arc;

use mcp_proto::error::{ErrorObject, code};
use mcp_proto::server::{Admission, Item, Listen, Viewer, Visibility};

use super::registry::Registry;
use super::{Server, Shared};
use crate::bus::Bus;
use crate::context::owner;
use crate::hook;
use crate::runtime::Runtime;

impl<R: Runtime> Server<R> {
    /// A handle to change what the server offers, before and while it serves. Clients are promised to hear of
    /// changes of all lists, even of empty ones, and of resources; to promise less,
    /// [`configure`](Self::configure) it after this.
    pub fn registry(&self) -> Registry {
        self.live.promise();
        Registry::new(self.live.clone())
    }

    /// Publishes changes on this bus, and tells clients what comes from it. Default: one within the server. The
    /// same is promised as by [`registry`](Self::registry).
    #[must_use]
    pub fn bus(self, bus: impl Bus + 'static) -> Self {
        self.live.set_bus(Arc::new(bus));
        self.live.promise();
        self
    }

    /// Decides what is there for whom: what is not there for somebody is in none of its lists, and asking for it
    /// is answered like asking for what nobody has. Default: everything for everybody.
    ///
    /// So a legacy client cannot subscribe to such a resource either: that is answered like a resource which is not
    /// there.
    ///
    /// The rule is asked often and in the middle of a request, so it decides by what it is given: it neither
    /// waits nor calls the server. One that panics shows nothing.
    ///
    /// ```
    /// # use mcp_driver::{Item, Runtime, Server, Viewer};
    /// # fn guarded<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.visible(|viewer: &Viewer, item: Item<'_>| {
    ///     viewer.has_scope("admin") || !item.name().starts_with("admin_")
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn visible(self, rule: impl Fn(&Viewer, Item<'_>) -> bool + Send + Sync + 'static) -> Self {
        let guarded = move |viewer: &Viewer, item: Item<'_>| {
            let mut shown = false;
            hook::call(|| shown = rule(viewer, item));
            shown
        };
        self.configure(|config| config.visible = Some(Visibility::new(guarded)))
    }

    /// Asks whether a modern client may listen for changes; the error that refuses is for the client. What it
    /// could not see otherwise it should not hear of either.
    ///
    /// Legacy clients are not asked about: they subscribe to single resources, and [`visible`](Self::visible) decides
    /// which of them are there for whom.
    ///
    /// ```
    /// # use mcp_driver::{ErrorObject, Runtime, Server};
    /// # fn known<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.on_listen(|listen| match &listen.principal {
    ///     Some(_) => Ok(()),
    ///     None => Err(ErrorObject::new(1, "who are you?")),
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn on_listen(
        mut self,
        hook: impl Fn(&Listen) -> Result<(), ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        self.on_listen = Some(Arc::new(hook));
        self
    }
}

impl<R: Runtime> Shared<R> {
    /// Whether somebody may listen, and to what; `connection` is the byte stream that he is on. Call it with no lock held.
    pub(crate) fn admit(&self, listen: &Listen, connection: Option<u64>) -> Admission {
        let admission = self.ask_application(listen);
        if admission != Admission::Granted || listen.wanted.tasks.is_empty() {
            return admission;
        }
        let owner = owner(listen.principal.as_deref(), connection);
        let mut wanted = listen.wanted.clone();
        wanted.tasks = self.tasks.listen(self.runtime.now(), &owner, &wanted.tasks);
        Admission::Partly(wanted)
    }

    fn ask_application(&self, listen: &Listen) -> Admission {
        let Some(hook) = &self.on_listen else { return Admission::Granted };
        let mut admission = Admission::Refused(ErrorObject::new(code::INTERNAL, "internal error"));
        hook::call(|| {
            admission = match hook(listen) {
                Ok(()) => Admission::Granted,
                Err(refusal) => Admission::Refused(refusal),
            };
        });
        admission
    }
}
