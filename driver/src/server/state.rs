//! How a server seals what it wants to know again when a client comes back with what it was asked for.

use std::sync::Arc;

#[cfg(feature = "seal")]
use mcp_proto::error::ApiMisuse;
use mcp_proto::server::StateCodec;
#[cfg(feature = "seal")]
use mcp_proto::server::{Keyring, StateKey};

use super::Server;
#[cfg(feature = "seal")]
use crate::error::Error;
use crate::runtime::Runtime;

/// Request state, sealed; see [`StateCodec`].
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow>
impl<R: Runtime> Server<R> {
    /// Seals request state with the first of these keys, and opens with each of them. Servers behind one address
    /// need the same keys, and the same [audience](Self::state_audience): what one asks a user, another may be told.
    /// Default: one key, made when serving starts. How to replace a key is said at
    /// [`Keyring`](mcp_proto::server::Keyring). Without a key, serving fails.
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn state_keys(mut self, keys: impl IntoIterator<Item = impl Into<StateKey>>) -> Self {
        self.state_keys = keys.into_iter().map(Into::into).collect();
        if self.state_keys.is_empty() {
            self.misuse.get_or_insert(ApiMisuse::new("`state_keys` needs at least one key"));
        }
        self.configure(|config| config.state = None)
    }

    /// Seals request state with a codec of your own. It is called on threads of the runtime, or where a
    /// handler blocks, and with no lock held.
    #[must_use]
    pub fn state_codec(self, codec: impl StateCodec + 'static) -> Self {
        self.configure(|config| config.state = Some(Arc::new(codec)))
    }

    /// What the servers are called that take each other's request state. Default: the name of this one. A state for
    /// another audience is refused, though it was sealed with the same key.
    #[must_use]
    pub fn state_audience(self, audience: impl Into<String>) -> Self {
        self.configure(|config| config.state_audience = Some(audience.into()))
    }

    #[cfg(feature = "seal")]
    pub(super) fn keyring(&mut self) -> Result<Keyring, Error> {
        let seed = self.runtime.seed().map_err(|error| Error::io("asking for entropy", error))?;
        let keys = std::mem::take(&mut self.state_keys);
        Ok(if keys.is_empty() { Keyring::generate(seed) } else { Keyring::new(seed, keys)? })
    }
}
