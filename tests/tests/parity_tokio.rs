//! The scenarios on tokio.

mcp_tests::parity!(mcp_tests::OnTokio);
mcp_tests::parity_of_futures!(mcp_tests::OnTokio);
