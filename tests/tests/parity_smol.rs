//! The scenarios on smol.

mcp_tests::parity!(mcp_tests::OnSmol);
