//! The scenarios on tokio.

mcp_tests::parity!(mcp_tests::OnTokio);
