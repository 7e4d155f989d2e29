use super::*;

/// Seeds that reach far into each reader, mutated by a fixed generator: a short run of what a fuzzer does.
const SEEDS: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":[1.5e3,null,"\u00e9\n"],"b":{}}}"#,
    br#"[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","error":{"code":-1,"message":"m","data":[1]}}]"#,
    br#"{"id":-0,"raw":[ 1 ],"list":[[1,true],[2.5,null]],"map":{"a":1,"b":-128},"any":{"c":[]}}"#,
    b"\x03\x07\x01\x00\xEF\xBB\xBFline one\r\n\n  \r\nanother line that is too long for the limit\nlast",
    b"\x02\x05\x01\x09: c\r\nid: 1\r\nevent: x\ndata: a\rdata:b\n\nretry: 25\ndata: c\n\ndata: 0123456789012345678901\ndata: 0123456789\n\n",
    b"=?base64?WsO8cmljaA==?=",
];

fn mutated(times: usize, target: impl Fn(&[u8])) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below.max(1)
    };
    for seed in SEEDS {
        target(seed);
    }
    for _ in 0..times {
        let mut input = SEEDS[random(SEEDS.len())].to_vec();
        for _ in 0..random(6) + 1 {
            let (at, other) = (random(input.len()), random(input.len()));
            match random(6) {
                0 => drop(input.remove(at)),
                1 => input.insert(at, b"\r\n:{}[]\",\\ 0e.-\0\xFF"[random(17)]),
                2 => input[at] = random(256) as u8,
                3 => input.swap(at, other),
                4 => input.truncate(at.max(1)),
                _ => {
                    let copy = input[at.min(other)..at.max(other)].to_vec();
                    input.splice(at..at, copy);
                }
            }
            if input.is_empty() {
                input.push(b'x');
            }
        }
        target(&input);
    }
}

#[test]
fn jsonrpc_holds_for_mutated_seeds() {
    mutated(5_000, fuzz_jsonrpc);
}

#[test]
fn lines_hold_for_mutated_seeds() {
    mutated(5_000, fuzz_lines);
}

#[test]
fn sse_holds_for_mutated_seeds() {
    mutated(5_000, fuzz_sse);
}

#[test]
fn header_values_hold_for_mutated_seeds() {
    mutated(5_000, fuzz_header_value);
}
