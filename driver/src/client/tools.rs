//! What a client knows of tools, and how it holds results against that.

use mcp_proto::error::ApiMisuse;
#[cfg(doc)]
use mcp_proto::error::CallError;
use mcp_proto::model::Tool;
use mcp_proto::schema::OutputCheck;

use super::{AnyLink, Client, ClientBuilder, desk};
use crate::runtime::Runtime;

impl<R: Runtime> Client<R> {
    /// Makes a tool known without listing the server's, such as one that an earlier connection listed: its first call
    /// has the headers that its definition demands over HTTP, and its result is checked. A later `list_tools` overrides
    /// it.
    ///
    /// # Errors
    /// When the server is a modern one behind HTTP, and the `x-mcp-header` annotations of the tool are not in order.
    pub fn learn_tool(&self, tool: &Tool) -> Result<(), ApiMisuse> {
        match &self.link.0 {
            AnyLink::Line(link) => desk::learn_tool(link, tool),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::learn_tool(link, tool),
        }
    }
}

impl<R: Runtime> ClientBuilder<R> {
    /// What is done about a tool's structured content that does not fit the output schema under which it was called,
    /// or is missing. Default [`OutputCheck::Warn`]: `ToolReply::misfit` says what it is, and so does
    /// [`on_diagnostic`](Self::on_diagnostic). With [`OutputCheck::Strict`] the call fails as [`CallError::Misfit`].
    /// What a tool has to return is known once it was listed, or with [`Client::learn_tool`]. Without the feature
    /// `jsonschema`, only whether there is some is looked at.
    #[must_use]
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.config.check_output = check;
        self
    }
}
