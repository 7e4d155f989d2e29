//! Messages by a grammar: shapes of JSON-RPC, methods and parameters of the protocol, in combinations that nobody has
//! thought of, some of which make no sense.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Script;

const IDS: [&str; 12] = [
    "0",
    "1",
    "3",
    "18",
    r#""4""#,
    r#""ask-1""#,
    "null",
    "-1",
    "1.5",
    "9007199254740993",
    r#""\u0000""#,
    "[]",
];

const METHODS: [&str; 24] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "tasks/result",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "acme/x",
];

const MEMBERS: [&str; 34] = [
    r#""name":"add""#,
    r#""name":"book""#,
    r#""name":"greet""#,
    r#""name":7"#,
    r#""arguments":{"a":1}"#,
    r#""arguments":{"region":"eu","who":"w"}"#,
    r#""arguments":[]"#,
    r#""uri":"f:s""#,
    r#""uri":"f:1/2?q=%41""#,
    r#""uri":"f:""#,
    r#""cursor":"after-1""#,
    r#""cursor":"\ud800""#,
    r#""level":"debug""#,
    r#""level":"loud""#,
    r#""ref":{"type":"ref/prompt","name":"greet"}"#,
    r#""ref":{"type":"ref/resource","uri":"f:{a}/{b}{?q}"}"#,
    r#""argument":{"name":"who","value":"x"}"#,
    r#""context":{"arguments":{"who":"y"}}"#,
    r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["f:s"]}"#,
    r#""notifications":{"resourceSubscriptions":["f:s","f:s","f:1/2"]}"#,
    r#""requestId":3"#,
    r#""requestId":"4""#,
    r#""protocolVersion":"2025-03-26""#,
    r#""protocolVersion":"2025-11-25""#,
    r#""protocolVersion":"1999-01-01""#,
    r#""capabilities":{"roots":{},"elicitation":{},"sampling":{}}"#,
    r#""clientInfo":{"name":"c","version":"1"}"#,
    r#""inputResponses":{"k":{"action":"accept","content":{}}}"#,
    r#""requestState":"s""#,
    r#""taskId":"t""#,
    r#""taskId":7"#,
    r#""task":{"ttl":1}"#,
    r#""notifications":{"toolsListChanged":true,"taskIds":["t","t","u"]}"#,
    r#""progressToken":3,"progress":1"#,
];

const METAS: [&str; 7] = [
    r#""progressToken":3"#,
    r#""progressToken":"t","io.modelcontextprotocol/logLevel":"info""#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"progressToken":3"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
    r#""io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#,
];

fn one_of(script: &mut Script<'_>, of: &[&'static str]) -> &'static str {
    of.get(usize::from(script.byte()) % of.len()).copied().unwrap_or_default()
}

/// A message, or a batch of a few.
pub(super) fn message(script: &mut Script<'_>) -> String {
    match script.byte() % 8 {
        more @ 0..3 => {
            let batch: Vec<String> = (0..more).map(|_| single(script)).collect();
            format!("[{}]", batch.join(","))
        }
        _ => single(script),
    }
}

fn single(script: &mut Script<'_>) -> String {
    let shape = script.byte();
    let version =
        if shape % 16 == 15 { one_of(script, &["", r#""jsonrpc":"1.0","#]) } else { r#""jsonrpc":"2.0","# };
    let id = if shape & 16 == 16 { String::new() } else { format!(r#""id":{},"#, one_of(script, &IDS)) };
    match shape >> 5 {
        0..=4 => {
            let method = one_of(script, &METHODS);
            format!(r#"{{{version}{id}"method":"{method}","params":{{{}}}}}"#, params(script))
        }
        5 => format!(r#"{{{version}{id}"result":{{{}}}}}"#, params(script)),
        6 => format!(r#"{{{version}{id}"error":{{"code":-1,"message":"m"}}}}"#),
        _ => format!(r#"{{{version}{id}"method":"ping","result":{{}},"params":[{}]}}"#, params(script).len()),
    }
}

/// Some members, of which one may come twice, and metadata or none.
fn params(script: &mut Script<'_>) -> String {
    let many = script.byte();
    let mut members: Vec<String> = (0..many % 4).map(|_| String::from(one_of(script, &MEMBERS))).collect();
    if many & 4 == 4 {
        members.push(format!(r#""_meta":{{{}}}"#, one_of(script, &METAS)));
    }
    members.join(",")
}
