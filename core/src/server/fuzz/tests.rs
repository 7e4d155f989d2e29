use super::*;

/// Scripts that anybody can make again from their number.
fn script(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let length = 16 + seed as usize % 240;
    let bytes = core::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    bytes.take(length).collect()
}

/// Order independence, replay, spurious timeouts and bounds, on scripts of chance.
#[test]
fn any_script_keeps_a_connection_in_order() {
    for seed in 0..200 {
        fuzz_connection(&script(seed));
    }
}

#[test]
fn any_script_keeps_an_exchange_in_order() {
    for seed in 0..600 {
        fuzz_exchange(&script(seed));
    }
}

/// Templates and URIs of few letters, so that chance makes some fit.
#[test]
fn any_template_and_uri_are_looked_at_without_a_panic() {
    for seed in 0..20_000 {
        let letters = b"a:/{}?&=,%2.#\n";
        let text: Vec<u8> =
            script(seed).iter().take(32).map(|byte| letters[usize::from(*byte) % letters.len()]).collect();
        fuzz_template(&text);
        fuzz_template(&[b"a:{a}{?b}\na:", &*text].concat());
    }
}

/// The scripts are worth something: they reach calls, answers, cancellations and streams.
#[test]
fn scripts_reach_what_matters() {
    let (mut sent, mut said) = Transcript::default();
    for seed in 0..2_500 {
        let (bytes, lines) = run_connection(&script(seed), Limits::default(), Drain::Always);
        sent.extend(bytes);
        said.extend(lines);
        let (bytes, lines) = run_exchange(&script(seed), Limits::default(), Drain::Always);
        sent.extend(bytes);
        said.extend(lines);
    }
    let sent = String::from_utf8(sent).unwrap();
    for part in [
        "protocolVersion",
        "supportedVersions",
        "\"content\":[",
        "notifications/progress",
        "data: {",
        "[{",
        "-32700",
        "-32002",
        "\"contents\":[{",
        "resourceTemplates",
        "\"method\":\"roots/list\"",
        "\"requestId\":\"ask-",
        "input_required",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":18",
        "too many subscriptions are open",
        "event: endpoint\ndata: /messages?sessionId=",
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":",
    ] {
        assert!(sent.contains(part), "never sent: {part}");
    }
    for part in [
        "Call(CallId",
        "AskId(1), Answer(2 bytes",
        "Cancelled(CallId",
        "Initialized",
        "Begin",
        "Finish",
        "status: 202",
        "Listen {",
        "Record(Event {",
        "Detach(ExchangeId(",
        "Sse(SseQuery::Open",
        "Sse(SseQuery::Send",
        "Sse(SseQuery::Close",
    ] {
        assert!(said.iter().any(|line| line.contains(part)), "never said: {part}");
    }
}
