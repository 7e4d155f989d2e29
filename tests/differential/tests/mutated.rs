//! Short runs of what a fuzzer does, from seeds that reach far.

use mcp_differential::{fuzz_events, fuzz_requests, fuzz_responses};

const REQUESTS: &[&str] = &[
    "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET /x?y HTTP/1.1\r\nHost: h\r\nA: b\r\nA:  c \r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\nT: x\r\n\r\nDELETE / HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
];

const RESPONSES: &[&str] = &[
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\n\r\n",
    "HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
];

const EVENTS: &[&str] = &[
    "\u{feff}: c\r\nid: 1\r\nevent: x\ndata: a\rdata:b\n\nretry: 25\ndata: c\n\ndata\n\n",
    "event:  x\ndata:  two spaces\ndata\ndata:\n\nevent: y\n\ndata: z\n\ndata: unfinished",
    "data:é😀\r\rfoo: bar\ndataa: b\ndata : c\n\n",
];

/// Each of them, and what a fuzzer makes of it in a short run.
fn mutated(seeds: &[&str], target: fn(&[u8])) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below.max(1)
    };
    seeds.iter().for_each(|seed| target(seed.as_bytes()));
    for _ in 0..5_000 {
        let mut input = seeds[random(seeds.len())].as_bytes().to_vec();
        for _ in 0..random(5) + 1 {
            let (at, other) = (random(input.len()), random(input.len()));
            match random(5) {
                0 => drop(input.remove(at)),
                1 => input.insert(at, b"\r\n:; \t0f,+-\0\xFF"[random(13)]),
                2 => input[at] = random(256) as u8,
                3 => input.swap(at, other),
                _ => {
                    let copy = input[at.min(other)..at.max(other)].to_vec();
                    input.splice(at..at, copy);
                }
            }
            input.push(b'\n');
        }
        target(&input);
    }
}

/// No request is served that hyper would not serve, or would take for another.
#[test]
fn requests_are_those_that_hyper_reads() {
    mutated(REQUESTS, fuzz_requests);
}

/// No response is taken that hyper would not take, or would take for another.
#[test]
fn responses_are_those_that_hyper_reads() {
    mutated(RESPONSES, fuzz_responses);
}

/// Events are those that others read.
#[test]
fn events_are_those_that_others_read() {
    mutated(EVENTS, fuzz_events);
}
