//! Bodies of the fuzz targets: any input in any order at any time, and never a panic, never more than the
//! bounds, never a byte that is not a message. Not part of the API.

mod grammar;
#[cfg(test)]
mod tests;
mod transcript;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::de::IgnoredAny;

#[cfg(feature = "seal")]
pub use super::seal::fuzz::fuzz_seal;
pub use super::tasks::fuzz::fuzz_tasks;
use super::template::UriTemplate;
use super::*;
use crate::entropy::Seed;
use crate::error::ErrorObject;
use crate::head::{BodyLength, End, RequestHead};
use crate::limits::Limits;
use crate::model::{
    CallToolResult, CreateTaskResult, DetailedTask, ElicitRequestFormParams, ElicitRequestParams,
    ElicitationSchema, Implementation, InputRequest, InputRequiredResult, Json, LoggingLevel,
    LoggingMessageNotificationParams, Prompt, PromptArgument, ReadResourceResult, Resource, ResourceTemplate,
    Task, TaskSupport, TextResourceContents, Tool,
};
use crate::time::{Duration, Instant, Now};
use crate::wire::sse::{Decoder, SseItem};

/// Lines and bodies to put among the random bytes, so that a script gets past the reading of JSON.
const MESSAGES: [&str; 29] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"after-1"}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{"progressToken":3}}}"#,
    r#"{"jsonrpc":"2.0","id":"4","method":"tools/call","params":{"name":"book"}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"t","io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"4","reason":"r"}}"#,
    r#"[{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add"}},{"jsonrpc":"2.0","id":8,"method":"ping"},7]"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"serach","#,
    r#"{"jsonrpc":"2.0","id":11,"method":"prompts/get","params":{"name":"greet","arguments":{"who":"w"}}}"#,
    r#"{"jsonrpc":"2.0","id":12,"method":"resources/read","params":{"uri":"f:1/2?q=%41","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":13,"method":"resources/read","params":{"uri":"f:.."}}"#,
    r#"{"jsonrpc":"2.0","id":14,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""},"context":{"arguments":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":15,"method":"resources/templates/list"}"#,
    r#"{"jsonrpc":"2.0","id":18,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["f:s","f:1/2"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":"19","method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":20,"method":"resources/subscribe","params":{"uri":"f:s"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":18}}"#,
    r#"[{"jsonrpc":"2.0","id":16,"method":"resources/read","params":{"uri":"f:s"}},{"jsonrpc":"2.0","id":17,"method":"prompts/get","params":{"name":"greet"}}]"#,
    r#"{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}"#,
    r#"[{"jsonrpc":"2.0","id":"ask-7c87c3b8.1-1","error":{"code":-1,"message":"m"}},{"jsonrpc":"2.0","id":"ask-2","result":1}]"#,
    r#"{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{"name":"add","inputResponses":{"k":{}},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
];

/// Data as a script: each byte decides something, and none is an answer too.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    fn message(&mut self) -> Cow<'static, str> {
        match self.byte() {
            232.. => grammar::message(self).into(),
            choice => MESSAGES[usize::from(choice) % MESSAGES.len()].into(),
        }
    }
}

/// A result or error as large as the bounds make one.
const LARGEST: usize = 4_096;

fn config(limits: Limits) -> Arc<Config> {
    let mut tools = Tools::new();
    for (name, schema) in [
        ("add", r#"{"type":"object"}"#),
        ("book", r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#),
    ] {
        if let Ok(schema) = Json::parse(schema) {
            // A name twice or a wrong schema would be refused; these are neither.
            let _ = tools.insert(Tool::new(name, schema));
        }
    }
    tools.set_task_support("add", TaskSupport::Optional);
    tools.set_task_support("book", TaskSupport::Required);
    let (mut prompts, mut resources, mut templates) = (Prompts::new(), Resources::new(), Templates::new());
    // None of these is refused either.
    let _ = prompts.insert(Prompt::new("greet").arguments([PromptArgument::new("who").required(true)]));
    let _ = resources.insert(Resource::new("f:s", "s"));
    let _ = templates.insert(ResourceTemplate::new("f:{a}/{b}{?q}", "t"));
    let mut config = Config::new(Implementation::new("s", "1"));
    // With the one set of bounds the machine answers lists itself, with the other they are handed out.
    config.hand_out_all = limits.in_flight < Limits::default().in_flight;
    config.http.http_sse = Some(HttpSse::new("/sse", "/messages"));
    let config = config.tools(tools).prompts(prompts).resources(resources).templates(templates);
    Arc::new(
        config
            .completions(true)
            .logging(true)
            .tasks(true)
            .changes(ListChanges::ALL)
            .subscriptions(true)
            .page_size(Some(1))
            .limits(limits),
    )
}

/// The same server, for holders of tokens only, and for pages.
fn protected(config: &Config) -> Arc<Config> {
    let mut config = config.clone();
    let server =
        ResourceServer::new("https://s.example/mcp").scopes(["use"]).method_scopes("tools/call", ["call"]);
    let rule = |viewer: &Viewer, item: Item<'_>| viewer.has_scope("call") || item.name() == "book";
    config.visible = Some(Visibility::new(rule));
    config.http = HttpPolicy::default().resource_server(server).cors(Cors::new());
    Arc::new(config)
}

/// Tokens that reach far enough, not far enough, and not here at all.
fn grant(choice: u8) -> Grant {
    let grant = Grant::new(principal(choice));
    if choice % 4 == 3 { grant } else { grant.audience("https://s.example/mcp") }
}

fn principal(choice: u8) -> Principal {
    let scopes: &[&str] = if choice % 4 < 2 { &["use", "call"] } else { &["use"] };
    Principal::new("p").scopes(scopes.iter().copied())
}

fn small() -> Limits {
    let mut limits = Limits::default();
    (limits.message, limits.transmit, limits.in_flight) = (1_024, 512, 2);
    limits.in_flight_bytes = 256;
    (limits.notifications, limits.depth, limits.sessions, limits.asks) = (2, 16, 2, 2);
    (limits.listens, limits.watched) = (2, 1);
    limits
}

fn change(choice: u8) -> Change {
    match choice % 5 {
        0 => Change::Tools,
        1 => Change::Prompts,
        2 => Change::Resources,
        3 => Change::Resource("f:s".into()),
        4 => Change::Task(TaskChange::new("t".into())),
        _ => Change::Resource("f:1/2".into()),
    }
}

/// What a table of tasks may say.
fn detail(choice: u8) -> Option<TaskDetail> {
    let task = DetailedTask::new(Task::new("t", "2026-08-01T09:00:00Z"));
    (!choice.is_multiple_of(4)).then(|| TaskDetail::new(task, None))
}

fn admission(choice: u8) -> Admission {
    match choice % 4 {
        0 => Admission::Full,
        1 => Admission::Refused(ErrorObject::new(7, "e")),
        2 => Admission::Partly(Wanted { tasks: [Arc::from("t")].into_iter().collect(), ..Wanted::new() }),
        _ => Admission::Granted,
    }
}

/// A result of one kind or another; calls need not get the kind that they ask for.
fn result(choice: u8) -> Box<dyn WriteResult> {
    match choice % 5 {
        0 => Box::new(ReadResourceResult::default()),
        1 => Box::new(ReadResourceResult::new(vec![TextResourceContents::new("f:s", "t").into()])),
        2 => Box::new(InputRequiredResult::new().ask("k", InputRequest::ListRoots)),
        3 => Box::new(CreateTaskResult::new(Task::new("t", "2026-08-01T09:00:00Z"))),
        _ => Box::new(CallToolResult::text("x\ny")),
    }
}

fn question(choice: u8) -> InputRequest {
    match choice % 4 {
        0 => InputRequest::Unknown { method: "m".into(), params: None },
        1 => ElicitRequestParams::from(ElicitRequestFormParams::new("m", ElicitationSchema::new())).into(),
        _ => InputRequest::ListRoots,
    }
}

fn answer(choice: u8) -> ClientResponse {
    ClientResponse::unreadable(format!("ask-7c87c3b8.1-{}", choice % 3).into(), "r".into())
}

/// A template and a URI, whatever they are: what is found is decoded text of the URI, and found again.
pub fn fuzz_template(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (template, uri) = text.split_once('\n').unwrap_or((&text, ""));
    let Ok(template) = UriTemplate::parse(template) else { return };
    let Some(values) = template.values(uri) else { return };
    assert!(values.len() == template.names().count(), "a value a variable");
    let held: usize = values.iter().flatten().map(String::len).sum();
    assert!(held <= uri.len(), "more than there was");
    assert!(template.values(uri) == Some(values), "a replay differs");
}

fn log() -> LoggingMessageNotificationParams {
    LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::empty_object())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Drain {
    Always,
    AtTheEnd,
}

/// What a connection sent, and what it said.
type Transcript = (Vec<u8>, Vec<String>);

/// A connection under any script: within small bounds, and the same whether it is drained always or at the
/// end, and the same again.
pub fn fuzz_connection(data: &[u8]) {
    let (sent, _) = run_connection(data, small(), Drain::Always);
    for line in sent.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(serde_json::from_slice::<IgnoredAny>(line).is_ok(), "a line that is no JSON");
        assert!(matches!(line.first(), Some(b'{' | b'[')), "a line that is no message");
    }
    assert!(sent.is_empty() || sent.ends_with(b"\n"), "a line without an end");
    let drained = run_connection(data, Limits::default(), Drain::Always);
    assert!(
        drained == run_connection(data, Limits::default(), Drain::AtTheEnd),
        "draining makes a difference"
    );
    assert!(drained == run_connection(data, Limits::default(), Drain::Always), "a replay differs");
}

fn run_connection(data: &[u8], limits: Limits, drain: Drain) -> Transcript {
    let (in_flight, notifications, transmit) = (limits.in_flight, limits.notifications, limits.transmit);
    let bounds = limits.clone();
    let mut connection = Connection::new(config(limits));
    let mut transcript = Transcript::default();
    let mut script = Script(data);
    let mut clock = 0;
    while !script.is_over() {
        clock += u64::from(script.byte() % 4) * 100;
        let now = at(clock);
        let call = CallId(u64::from(script.byte() % 3));
        match script.byte() % 24 {
            0 | 1 => connection.handle_bytes(now, script.bytes()),
            2..=6 => {
                connection.handle_bytes(now, script.message().as_bytes());
                connection.handle_bytes(now, b"\n");
            }
            7 => connection.handle_timeout(now),
            8 | 9 => connection.respond(now, call, &*result(script.byte())),
            10 => connection.fail(now, call, &ErrorObject::new(-32042, "e")),
            11 => connection.progress(now, call, &Progress::new(f64::from(script.byte())).message("m")),
            12 => {
                connection.log(now, call, &log());
                connection.notify(now, call, "acme/z", &Json::empty_object());
                connection.proceed(now, call);
            }
            13 => {
                assert!(connection.poll_timeout() == connection.poll_timeout());
                connection.handle_timeout(at(0));
            }
            16..=18 => {
                let timeout = Some(Duration::from_millis(u64::from(script.byte())));
                let asked = connection.ask(now, call, &question(script.byte()), timeout);
                if let (Ok(AskId(number)), 0) = (asked, script.byte() % 2) {
                    let answer = format!(r#"{{"jsonrpc":"2.0","id":"ask-{number}","result":{{}}}}"#);
                    connection.handle_bytes(now, format!("{answer}\n").as_bytes());
                }
            }
            19 => connection.retract(now, AskId(u64::from(script.byte() % 3))),
            14 if script.byte() > 240 => connection.shutdown(now),
            15 if script.byte() > 240 => {
                let end = if script.byte() % 2 == 0 { End::Complete } else { End::Broken };
                // What is waiting to be sent is lost with the stream, so both ways must have sent it.
                if end == End::Broken {
                    drain_connection(&mut connection, &mut transcript);
                }
                connection.handle_end(now, end);
            }
            20 => connection.publish(now, &change(script.byte())),
            21 => match script.byte() {
                choice @ 0..200 => connection.publish(now, &change(choice)),
                choice => {
                    let listen = ListenId(u64::from(choice % 3));
                    connection.handle_task(
                        now,
                        listen,
                        &TaskChange::new("t".into()),
                        detail(choice).as_ref(),
                    );
                }
            },
            22 => {
                let listen = ListenId(u64::from(script.byte() % 3));
                connection.handle_admission(now, listen, admission(script.byte()));
            }
            23 => connection.handle_config(now, config(bounds.clone())),
            _ => {}
        }
        assert!(connection.transmit().len() <= transmit + LARGEST || transmit > LARGEST, "too much is held");
        if drain == Drain::Always {
            drain_connection(&mut connection, &mut transcript);
        }
    }
    connection.handle_end(at(clock), End::Complete);
    for _ in 0..=in_flight + notifications {
        drain_connection(&mut connection, &mut transcript);
        let Some(moment) = connection.poll_timeout() else { break };
        connection.handle_timeout(Now::new(moment, Duration::ZERO));
    }
    drain_connection(&mut connection, &mut transcript);
    assert!(connection.is_finished() && connection.poll_timeout().is_none(), "it does not come to an end");
    transcript
}

fn drain_connection(connection: &mut Connection, (sent, said): &mut Transcript) {
    loop {
        let before = (sent.len(), said.len());
        sent.extend_from_slice(connection.transmit());
        connection.advance(connection.transmit().len());
        said.extend(core::iter::from_fn(|| connection.poll_output()).map(|output| transcript::line(&output)));
        if before == (sent.len(), said.len()) {
            return;
        }
    }
}

fn at(millis: u64) -> Now {
    Now::new(Instant::new(Duration::from_millis(millis)), Duration::from_millis(millis))
}

/// An exchange under any script, with a session table that answers it, or answers something else.
pub fn fuzz_exchange(data: &[u8]) {
    run_exchange(data, small(), Drain::AtTheEnd);
    let first = run_exchange(data, Limits::default(), Drain::Always);
    assert!(first == run_exchange(data, Limits::default(), Drain::AtTheEnd), "draining makes a difference");
    assert!(first == run_exchange(data, Limits::default(), Drain::Always), "a replay differs");
}

fn head(script: &mut Script<'_>, session: &SessionId) -> RequestHead {
    let choice = script.byte();
    let method = match choice % 16 {
        15 => "DELETE",
        11 | 13 => "GET",
        _ => "POST",
    };
    let target = match choice % 16 {
        11 => "/sse",
        9 => "/messages?sessionId=a",
        _ => "/mcp",
    };
    let mut head = RequestHead::new(method, target);
    head.headers.push("Host", "localhost");
    head.headers.push("Content-Type", "application/json");
    if choice & 1 == 1 {
        head.headers.push("Mcp-Session-Id", session.as_str());
    }
    let method = if choice & 4 == 4 { "subscriptions/listen" } else { "tools/call" };
    if choice & 2 == 2 {
        for (name, value) in
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", "add")]
        {
            head.headers.push(name, value);
        }
    }
    if choice & 4 == 4 {
        head.headers.push("Authorization", "Bearer t");
    }
    if choice & 0x30 == 0x30 {
        head.headers.push("Accept", script.bytes());
    }
    if choice & 0x60 == 0x60 {
        head.headers.push("Mcp-Param-Region", script.bytes());
    }
    if choice & 0xc0 == 0xc0 {
        head.headers.push("Origin", script.bytes());
    }
    head
}

fn run_exchange(data: &[u8], limits: Limits, drain: Drain) -> Transcript {
    let mut script = Script(data);
    let transmit = limits.transmit;
    let mut sessions = Sessions::new(&limits, Seed::new([7; 32]));
    let config = config(limits);
    let mut streams = SseSessions::new(&config.limits, Seed::new([8; 32]));
    let session = handshake(&config, &mut sessions, script.byte());
    let config = if script.byte() % 16 == 0 { protected(&config) } else { config };
    let head = head(&mut script, &session);
    let mut exchange = Exchange::new(at(0), ExchangeId::new(1), config, head);
    let mut transcript = Transcript::default();
    let mut clock = 0;
    let mut said = Said::default();
    if script.byte() % 2 == 0 {
        // Chance alone seldom ends a body after exactly one message.
        exchange.handle_body(at(0), script.message().as_bytes());
        exchange.handle_end(at(0), End::Complete);
    }
    while !script.is_over() {
        clock += u64::from(script.byte() % 4) * 8_000;
        let now = at(clock);
        let call = CallId(u64::from(script.byte() % 3));
        match script.byte() % 25 {
            24 => match script.byte() {
                choice @ 0..128 => exchange.handle_grant(now, grant(choice)),
                128..224 => exchange.handle_refusal(now, &AuthRefusal::Unavailable),
                224..240 => exchange.give_up(now),
                240.. => exchange.give_up_unattended(now),
            },
            0 => exchange.handle_body(now, script.bytes()),
            1..=3 => exchange.handle_body(now, script.message().as_bytes()),
            4 | 5 => exchange.handle_end(now, End::Complete),
            6 if script.byte() > 200 => exchange.handle_end(now, End::Broken),
            6 => exchange.close_stream(now, CallId(1), Duration::from_millis(100)),
            7 => exchange.handle_timeout(now),
            8 | 9 => exchange.respond(now, call, &*result(script.byte())),
            10 => exchange.fail(now, call, &ErrorObject::new(-32021, "e")),
            11 => exchange.progress(now, call, &Progress::new(f64::from(script.byte()))),
            12 => {
                exchange.log(now, call, &log());
                exchange.notify(now, call, "acme/z", &Json::empty_object());
                exchange.proceed(now, call);
            }
            13 => exchange.handle_cancel(now, &3.into()),
            16..=18 => {
                let timeout = Some(Duration::from_millis(u64::from(script.byte())));
                let _ = exchange.ask(now, call, &question(script.byte()), timeout);
            }
            19 => exchange.retract(now, AskId(u64::from(script.byte() % 3))),
            20 => exchange.handle_answer(now, answer(script.byte())),
            14 if script.byte() > 200 => {
                // What is waiting to be sent is lost with the client, so both ways must have sent it.
                take(&mut exchange, &mut transcript.0);
                exchange.handle_abort(now);
            }
            15 => match script.byte() % 8 {
                0 => exchange.handle_session(now, QueryId(u64::from(script.byte() % 4)), SessionAnswer::Done),
                1 => exchange.handle_close(now),
                2 => exchange.shutdown(now),
                3 => sessions.send(now, &session, b"{}"),
                _ => exchange.handle_delivery(now, &delivery(script.byte())),
            },
            21 => exchange.handle_admission(now, admission(script.byte())),
            22 => match script.byte() {
                choice @ 0..200 => exchange.publish(now, &change(choice)),
                choice => exchange.handle_task(now, &TaskChange::new("t".into()), detail(choice).as_ref()),
            },
            23 => match script.byte() {
                choice @ 0..150 => {
                    let sender = (choice % 2 == 0).then(|| Arc::new(principal(choice / 2)));
                    exchange.handle_message(now, &script.message(), sender);
                }
                150..160 => exchange.handle_sse(now, SseAnswer::Stalled),
                160..200 => exchange.handle_sse(now, SseAnswer::Done),
                200.. => exchange.shutdown(now),
            },
            _ => {}
        }
        said.hear(&mut exchange, &mut sessions, &mut streams, now);
        assert!(exchange.transmit().len() <= transmit + LARGEST || transmit > LARGEST, "too much is held");
        if drain == Drain::Always {
            take(&mut exchange, &mut transcript.0);
        }
        while let Some(output) = sessions.poll_output() {
            match output {
                SessionOutput::Cancel { request, .. } => exchange.handle_cancel(now, &request),
                SessionOutput::Answer { response, .. } => exchange.handle_answer(now, response),
                SessionOutput::Deliver { event, .. } => exchange.handle_delivery(now, &event),
                SessionOutput::Close { .. } => exchange.handle_close(now),
                SessionOutput::Refresh { .. } => {}
            }
        }
    }
    exchange.handle_end(at(clock), End::Complete);
    exchange.handle_grant(at(clock), grant(0));
    // On a stream of HTTP with SSE each message may be a call.
    for call in 0..16 + data.len() as u64 {
        said.hear(&mut exchange, &mut sessions, &mut streams, at(clock));
        exchange.respond(at(clock), CallId(call), &*result(2));
    }
    exchange.shutdown(at(clock));
    said.hear(&mut exchange, &mut sessions, &mut streams, at(clock));
    // What waits for room is said when there is some.
    while !exchange.transmit().is_empty() {
        take(&mut exchange, &mut transcript.0);
        said.hear(&mut exchange, &mut sessions, &mut streams, at(clock));
    }
    assert!(said.ended && exchange.poll_timeout().is_none(), "it does not come to an end");
    said.check(&transcript.0);
    transcript.1 = said.lines;
    transcript
}

fn delivery(choice: u8) -> Event {
    let id = EventId::new(StreamId::of_session(1, 1), u64::from(choice));
    Event::new(id, *b"{}", choice.is_multiple_of(16))
}

fn handshake(config: &Arc<Config>, sessions: &mut Sessions, choice: u8) -> SessionId {
    let head = head(&mut Script(&[0]), &SessionId::new(""));
    let mut exchange = Exchange::new(at(0), ExchangeId::new(0), Arc::clone(config), head);
    exchange.handle_body(at(0), MESSAGES[usize::from(choice % 2)].as_bytes());
    exchange.handle_end(at(0), End::Complete);
    while let Some(output) = exchange.poll_output() {
        if let ExchangeOutput::Session(_, query) = output
            && let SessionAnswer::Opened { session } = sessions.handle_query(at(0), query)
        {
            return session;
        }
    }
    SessionId::new("none")
}

/// With its memory or without: both are the same to the exchange.
fn take(exchange: &mut Exchange, sent: &mut Vec<u8>) {
    if exchange.transmit().len().is_multiple_of(2) {
        sent.extend_from_slice(exchange.take_transmit().as_slice());
        exchange.lend(Vec::new());
    } else {
        sent.extend_from_slice(exchange.transmit());
        exchange.advance(exchange.transmit().len());
    }
}

/// What an exchange has said.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    head: Option<(u16, BodyLength, bool)>,
    ended: bool,
}

impl Said {
    fn hear(
        &mut self,
        exchange: &mut Exchange,
        sessions: &mut Sessions,
        streams: &mut SseSessions,
        now: Now,
    ) {
        while let Some(output) = exchange.poll_output() {
            assert!(!self.ended, "something after the end");
            match output {
                ExchangeOutput::End => {
                    self.ended = true;
                    continue;
                }
                // Comes when what was written is taken, or not at all if the exchange is over by then.
                ExchangeOutput::Parted => continue,
                ExchangeOutput::Session(id, ref query) => {
                    let answer = sessions.handle_query(now, query.clone());
                    exchange.handle_session(now, id, answer);
                }
                ExchangeOutput::Sse(ref query) => {
                    let answer = streams.handle_query(query.clone());
                    exchange.handle_sse(now, answer);
                }
                ExchangeOutput::Head(ref head, length) => {
                    assert!(self.head.is_none(), "a second head");
                    let events = head.headers.text("content-type") == Some("text/event-stream");
                    self.head = Some((head.status, length, events));
                }
                _ => {}
            }
            self.lines.push(transcript::exchange_line(&output));
        }
    }

    /// The body is what the head promised, unless the client left before it came.
    fn check(&self, body: &[u8]) {
        match self.head {
            None => assert!(body.is_empty(), "a body without a head"),
            Some((_, BodyLength::Empty, _)) => assert!(body.is_empty(), "a body that must be empty"),
            Some((_, _, true)) => {
                let mut decoder = Decoder::new(usize::MAX, 64);
                let mut rest = body;
                while let Some(item) = decoder.next(&mut rest) {
                    if let SseItem::Event { data, event: "message", .. } = item {
                        assert!(
                            serde_json::from_str::<IgnoredAny>(data).is_ok(),
                            "an event that is no message"
                        );
                    }
                }
            }
            Some((_, _, false)) if body.is_empty() => {}
            Some((_, length, false)) => {
                assert!(length == BodyLength::Known(body.len() as u64), "another length than promised");
                assert!(serde_json::from_slice::<IgnoredAny>(body).is_ok(), "a body that is no message");
            }
        }
    }
}
