#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto::server::fuzz::fuzz_tasks(data));
