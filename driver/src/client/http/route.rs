//! How bytes get to the server.

use std::sync::Arc;

use mcp_proto::client::Endpoint as Url;

use super::pooled::Channel;

/// The way to a server.
pub(super) struct Route {
    host: String,
    port: u16,
}

impl Route {
    pub(super) fn direct(url: &Url) -> Self {
        Self { host: url.host().to_owned(), port: url.port() }
    }

    /// Where the stream goes that everything else is on.
    pub(super) fn first(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Puts what is in between over a stream to the first place.
    pub(super) fn layers(&self, channel: Arc<dyn Channel>) -> Arc<dyn Channel> {
        channel
    }
}
