//! The scenarios on smol.

mcp_tests::parity!(mcp_tests::OnSmol);
mcp_tests::parity_of_futures!(mcp_tests::OnSmol);
