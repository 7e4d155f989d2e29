//! The requests that subscriptions are made of.

use crate::client::call::Call;
use crate::client::reply::RawReply;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::In;
use crate::model::subscriptions::SubscriptionFilter;
use crate::wire::jsonrpc::write_json;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// `subscriptions/listen`, as far as it is a request like others (SUB-01).
pub(in crate::client) struct Listen(pub(in crate::client) Arc<SubscriptionFilter>);

impl Call for Listen {
    type Reply = ();

    fn method(&self) -> &str {
        "subscriptions/listen"
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{\"notifications\":");
        write_json(out, &In(revision, &*self.0))?;
        out.push(b'}');
        Ok(())
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }
}

/// `resources/subscribe` or `resources/unsubscribe`: whether a legacy server tells of changes of a resource.
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions>
#[derive(Clone)]
pub(in crate::client) struct Watching {
    pub(super) uri: Arc<str>,
    pub(super) begins: bool,
}

impl Call for Watching {
    type Reply = ();

    fn method(&self) -> &str {
        if self.begins { "resources/subscribe" } else { "resources/unsubscribe" }
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{\"uri\":");
        write_json(out, &*self.uri)?;
        out.push(b'}');
        Ok(())
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
