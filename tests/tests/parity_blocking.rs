//! The scenarios on blocking.

mcp_tests::parity!(mcp_tests::OnBlocking);
