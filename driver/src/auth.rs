//! Authorization: what applications say of it, and what they keep.
//!
//! [`ClientBuilder::authorize`](crate::ClientBuilder::authorize) takes a [`Config`], or an [`Authorize`] that says more.
//! The steps of a flow are here as well, for whoever drives them by hand.

pub use mcp_proto::auth::*;

pub use crate::client::authorize::{Authorize, FileStore, GrantStore, MemoryStore, SignedOut, Visit};
