//! Letting the client wait without a connection.

use std::time::Duration;

use super::Context;

impl Context {
    /// Ends the response stream while the call goes on, and asks the client to come back after `retry` for what
    /// the call says meanwhile, its result included: for calls that take so long that an open connection is a
    /// burden. The client may come back at any time, to this process.
    ///
    /// Nothing happens where the client could not come back: on byte streams, in the modern era, in
    /// revisions before 2025-11-25, and on a server whose streams are not
    /// [resumable](mcp_proto::server::HttpPolicy::resumable). Call it as often as it makes sense.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server>
    pub fn close_stream(&self, retry: Duration) {
        self.shared.outlet.close_stream(self.shared.id, retry);
    }
}
