//! Whether the server is there, and which log messages it sends: what each era has a way of its own for.

use mcp_proto::client::{Call, RawReply};
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::model::LoggingLevel;

use super::{AnyLink, Client, desk};
use crate::deprecated::Deprecated;
use crate::runtime::Runtime;

/// `ping`, which a modern server does not have: it is asked to introduce itself.
pub(super) struct Alive(pub(super) Era);

impl Call for Alive {
    type Reply = ();

    fn method(&self) -> &str {
        match self.0 {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        }
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{}");
        Ok(())
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

impl<R: Runtime> Client<R> {
    /// Notes which log messages are wanted: a modern server is asked for them with each request from now on, a legacy one
    /// in each later session.
    pub(super) fn set_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        match &self.link.0 {
            AnyLink::Line(link) => desk::set_log_level(link, level)?,
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::set_log_level(link, level)?,
        }
        self.link.0.say(Deprecated::Logging);
        Ok(())
    }

    /// Whether a call that the server does not offer, as far as it is known, would ask it anew.
    pub(super) fn is_outdated(&self) -> bool {
        match &self.link.0 {
            AnyLink::Line(link) => desk::is_outdated(link),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::is_outdated(link),
        }
    }
}
