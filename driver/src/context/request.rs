//! What a handler can know of the request around its arguments: the HTTP head, who asks, and what the
//! application attached.

use mcp_proto::head::{Headers, RequestHead};
use mcp_proto::server::Principal;

use super::Context;
use crate::extensions::Extensions;

impl Context {
    /// The fields of the HTTP request that the call came in; `None` where it came over a byte stream. They are
    /// what the client, or a proxy in between, says: not to be decided on unless something trustworthy sets
    /// them. Printing them shows their names only.
    pub fn headers(&self) -> Option<&Headers> {
        self.head().map(|head| &head.headers)
    }

    /// The whole head of that request, with its target. A server that checks access tokens itself has taken
    /// `Authorization` out of it: the token is meant for this server and for nobody behind it.
    pub fn head(&self) -> Option<&RequestHead> {
        self.shared.call.head()
    }

    /// Who makes the request, as far as this server has established it: by an access token, by what the
    /// application attached to the request, or by [`Server::principal`](crate::Server::principal). Unlike
    /// [`client`](Self::client), it may be decided on.
    pub fn principal(&self) -> Option<&Principal> {
        self.shared.call.principal().map(|principal| &**principal)
    }

    /// What the application attached to the request, or else to the server.
    pub fn extensions(&self) -> &Extensions {
        self.shared.outlet.extensions()
    }
}
