#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_differential::fuzz_responses(data));
