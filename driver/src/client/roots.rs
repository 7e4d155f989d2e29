//! The roots of a client, as they change.

use std::sync::PoisonError;

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::Root;

#[cfg(doc)]
use super::ClientBuilder;
use super::{AnyLink, Client, desk};
use crate::runtime::Runtime;

impl<R: Runtime> Client<R> {
    /// Changes the list of roots, and tells a legacy server so; a modern one asks when it needs them.
    ///
    /// # Errors
    /// When the client was not built with [`ClientBuilder::roots`]: then the server does not know of any.
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<(), ApiMisuse> {
        let Some(list) = &self.roots else {
            return Err(ApiMisuse::new("there is no list of roots to change: use `ClientBuilder::roots`"));
        };
        let roots: Vec<Root> = roots.into_iter().collect();
        let before = std::mem::replace(&mut *list.lock().unwrap_or_else(PoisonError::into_inner), roots);
        drop(before);
        self.roots_changed();
        Ok(())
    }

    /// Tells a legacy server that what [`ClientBuilder::on_roots`] answers has changed (ROOT-03).
    pub fn roots_changed(&self) {
        match &self.link.0 {
            AnyLink::Line(link) => desk::roots_changed(link),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::roots_changed(link),
        }
    }
}
