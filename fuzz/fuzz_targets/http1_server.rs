#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto::wire::http1::fuzz::fuzz_server(data));
