//! Bodies of the fuzz targets: any input, in any order, at any time.
//!
//! Not part of the API. Each reads its bytes as a script of inputs, and panics where a property does not hold:
//! every call ends exactly once, and nothing is kept of what is over.

mod messages;
mod responses;
mod tasks;

use self::messages::{ELICIT, GREETING, INPUT_REQUIRED, acknowledgement, answer, format};
use self::responses::{head, kind_head};
use super::{
    AskId, CacheEntry, CacheUse, CallId, CallOptions, CallTool, CallToolAsTask, Complete, Config, Connection,
    Endpoint, EraChoice, Event, ExchangeId, Http, HttpOutput, HttpRequest, InputResponse, ListTools, Output,
    OutputCheck, Pending, Ping, ReadResource, Refusal, SubscriptionId, ToolReply, WaitForTask,
};
use crate::dialect::Revision;
use crate::entropy::Seed;
use crate::head::End;
use crate::limits::Limits;
use crate::model::Json;
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability, RootsCapability};
use crate::model::elicitation::{ElicitAction, ElicitResult};
use crate::model::lifecycle::Implementation;
use crate::model::logging::LoggingLevel;
use crate::model::roots::ListRootsResult;
use crate::model::subscriptions::SubscriptionFilter;
use crate::model::tools::{TaskSupport, Tool, ToolExecution};
use crate::time::{Duration, Instant, Now};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The script: bytes taken off the front, zeros at the end.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// A body: bytes of the script, or something that makes sense more often than those do.
    fn body(&mut self, wire: u8) -> Vec<u8> {
        let id = i64::from(wire % 8);
        let text = match self.byte() % 18 {
            0 => format(
                id,
                "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true}}}",
            ),
            1 => format(id, GREETING),
            2 => format(
                id,
                "\"result\":{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{\"logging\":{}}}",
            ),
            3 => format(id, "\"result\":{\"content\":[],\"tools\":[],\"contents\":[]}"),
            4 => format(id, "\"error\":{\"code\":-32601,\"message\":\"m\"}"),
            5 => format(id, "\"error\":{\"code\":-32020,\"message\":\"m\"}"),
            6 => format(
                id,
                "\"error\":{\"code\":-32022,\"message\":\"m\",\"data\":{\"supported\":[\"2026-07-28\"]}}",
            ),
            7 => format(id, "\"method\":\"ping\""),
            8 => String::from(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3,\"progress\":1}}",
            ),
            9 => String::from("id: 1\nretry: 7\ndata:\n"),
            10 => format(id, "\"method\":\"roots/list\""),
            11 => format(id, ELICIT),
            12 => alloc::format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
            ),
            13 => format(id, INPUT_REQUIRED),
            14 => String::from("event: endpoint\ndata: /m\n"),
            15 if wire & 64 == 0 => acknowledgement(id),
            15 => String::from("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"),
            16 => String::from(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\",\"params\":{\"elicitationId\":\"i\"}}",
            ),
            17 => tasks::told(id, wire),
            _ => {
                let len = usize::from(self.byte());
                return self.take(len).to_vec();
            }
        };
        text.into_bytes()
    }
}

/// A tool that was known before, or one that cannot be called.
fn tool(choice: u8) -> Tool {
    let schema = |text: &str| Json::parse(text).unwrap_or_else(|_| Json::empty_object());
    let foreign = if choice & 1 == 0 { "{\"$schema\":\"x:y\"}" } else { "{\"$ref\":\"x:y\"}" };
    let tool = Tool::new("t", Json::empty_object());
    match choice & 6 {
        6 => tool.execution(ToolExecution::new().task_support(TaskSupport::Required)),
        _ => tool.output_schema(schema(foreign)),
    }
}

/// Something to listen for.
fn filter(choice: u8) -> SubscriptionFilter {
    let tasks = ["k"].into_iter().take(usize::from(choice / 8 % 2));
    let filter = SubscriptionFilter::new().tools_list_changed(choice & 1 == 0).tasks(tasks);
    let uris = ["x:a", "x:b"].into_iter().take(usize::from(choice / 2 % 3));
    filter.resource_subscriptions(uris.map(String::from).collect::<Vec<_>>())
}

const ASKED: usize = 5;
const KEPT: usize = 2;
const KEPT_BYTES: usize = 900;
const LISTENS: usize = 3;

fn config(choice: u8) -> Arc<Config> {
    let era = match choice % 5 {
        0 => EraChoice::Modern,
        1 => EraChoice::Legacy,
        2 => EraChoice::Pinned(Revision::V2025_03_26),
        _ => EraChoice::Auto,
    };
    let mut config = Config::new(Implementation::new("f", "1")).era(era).authorize(choice & 64 == 0);
    if choice & 128 == 0 {
        let elicitation = ElicitationCapability::new().form(Json::empty_object()).url(Json::empty_object());
        config.capabilities =
            ClientCapabilities::new().elicitation(elicitation).roots(RootsCapability::new());
    }
    let limits =
        Limits { message: 512, in_flight: 6, notifications: 8, transmit: 2_048, ..Limits::default() };
    config.limits = Limits {
        asked: ASKED,
        call_rounds: 3,
        cache_entries: KEPT,
        cache_bytes: KEPT_BYTES,
        listens: LISTENS,
        connections: LISTENS + 1,
        ..limits
    };
    if choice & 16 == 0 {
        config = config.tasks();
    }
    config.log_level = (choice & 32 == 0).then_some(LoggingLevel::Warning);
    config.check_output = if choice & 64 == 0 { OutputCheck::Strict } else { OutputCheck::Warn };
    Arc::new(config)
}

/// Calls, and what has been heard of each.
#[derive(Default)]
struct Calls {
    open: BTreeMap<CallId, Pending<ToolReply>>,
    settled: BTreeSet<CallId>,
    /// What the server ever asked and what of it is open, as far as that was heard.
    heard: BTreeSet<AskId>,
    asks: BTreeSet<AskId>,
    /// Those that were answered at once with what was kept.
    kept: BTreeSet<CallId>,
    listens: BTreeSet<SubscriptionId>,
    closed: bool,
}

impl Calls {
    fn note(&mut self, event: &Event) {
        assert!(!self.closed, "`Closed` is the last event: {event:?}");
        match event {
            Event::Settled(id) if self.kept.remove(id) => {}
            Event::Settled(id) => {
                assert!(self.open.contains_key(id) && self.settled.insert(*id), "a call ends once");
            }
            Event::Asked(ask, _) => {
                assert!(self.heard.insert(*ask) && self.asks.insert(*ask), "a question is asked once");
            }
            Event::Retracted(ask) => {
                assert!(self.heard.contains(ask), "what was not asked is not taken back");
                self.asks.remove(ask);
            }
            Event::Closed(_) => {
                assert!(self.asks.is_empty(), "nobody waits for an answer any more");
                self.closed = true;
            }
            _ => {}
        }
    }

    /// An answer to what was asked first, and whose it is.
    fn answer(&mut self, script: &mut Script<'_>) -> Option<(AskId, Result<InputResponse, Refusal>)> {
        let ask = *self.asks.first()?;
        let answer = match script.byte() % 4 {
            0 => Ok(ElicitResult::new(ElicitAction::Accept).into()),
            1 => Err(Refusal::Rejected),
            _ => Ok(ListRootsResult::default().into()),
        };
        Some((ask, answer))
    }
}

fn now(elapsed: Duration) -> Now {
    Now::new(Instant::new(elapsed), elapsed)
}

fn cache_use(choice: u8) -> CallOptions {
    CallOptions::new().cache(match choice % 5 {
        0 => CacheUse::Off,
        1 => CacheUse::Refresh,
        2 => CacheUse::Fresh,
        _ => CacheUse::FreshOrStale,
    })
}

fn assert_kept(entries: &[CacheEntry]) {
    let bytes: usize = entries.iter().map(|entry| entry.bytes).sum();
    assert!(entries.len() <= KEPT && bytes <= KEPT_BYTES, "what is kept is bounded");
}

/// Begins, changes or ends a subscription, or looks at its news; the same for both machines.
macro_rules! listen {
    ($machine:ident, $at:ident, $calls:ident, $script:ident) => {{
        let choice = $script.byte();
        let known = $calls.listens.iter().nth(usize::from(choice / 8 % 4)).copied();
        match (choice % 8, known) {
            (0..=2, _) => {
                if let Ok(id) = $machine.listen($at, filter(choice / 8)) {
                    $calls.listens.insert(id);
                }
            }
            (3, Some(id)) => drop($machine.relisten($at, id, filter(choice / 16))),
            (4, Some(id)) => {
                $machine.unlisten($at, id);
                $calls.listens.remove(&id);
            }
            (_, Some(id)) => {
                while $machine.take_notice(id).is_some() {}
                let _ = $machine.subscription(id).map(super::Subscription::unsupported);
            }
            _ => {}
        }
        assert!($calls.listens.len() <= LISTENS, "subscriptions are bounded");
    }};
}

/// A byte stream.
pub fn fuzz_connection(data: &[u8]) {
    let mut script = Script(data);
    let mut time = Duration::ZERO;
    let mut connection = Connection::new(now(time), config(script.byte()));
    let mut calls = Calls::default();
    while !script.is_over() {
        let at = now(time);
        match script.byte() % 16 {
            0 | 1 => {
                let choice = script.byte();
                let options = CallOptions { progress: choice & 1 == 0, ..CallOptions::default() };
                let started = match choice & 12 {
                    12 => connection.start(at, &WaitForTask::new(&tasks::handle()), options),
                    _ => connection.start(at, &CallTool::new("t"), options),
                };
                if let Ok(pending) = started {
                    calls.open.insert(pending.id(), pending);
                }
            }
            2..=4 => {
                let wire = script.byte();
                connection.handle_bytes(at, &script.body(wire));
                connection.handle_bytes(at, b"\n");
            }
            5 | 6 => {
                let written = connection.transmit().to_vec();
                let choice = script.byte();
                for line in written.split(|&byte| byte == b'\n') {
                    if let Some(answer) = answer(line, choice) {
                        connection.handle_bytes(at, (answer + "\n").as_bytes());
                    }
                }
            }
            7 => {
                let len = usize::from(script.byte());
                connection.handle_bytes(at, script.take(len));
            }
            8 => connection.handle_end(at, End::Complete),
            9 => connection.handle_respawned(at),
            10 => {
                time += Duration::from_millis(u64::from(script.byte()) * 300);
                connection.handle_timeout(now(time));
            }
            11 => {
                if let Some(next) = connection.poll_timeout() {
                    time = time.max(next.since_epoch());
                    connection.handle_timeout(now(time));
                    let next = connection.poll_timeout();
                    assert!(
                        next.is_none_or(|next| next.since_epoch() > time),
                        "a timeout that was handled is gone"
                    );
                }
            }
            12 => {
                if let Some((&id, _)) = calls.open.iter().nth(usize::from(script.byte() % 4)) {
                    connection.cancel(at, id);
                }
            }
            13 => connection.advance(usize::from(script.byte())),
            14 => match script.byte() % 7 {
                4 => connection.learn_tool(&tool(script.byte())),
                5 | 6 => listen!(connection, at, calls, script),
                0 if script.byte() & 1 == 0 => {
                    let call = connection.start(at, &CallToolAsTask::new("t"), CallOptions::new());
                    drop(call.map(|call| connection.forget(call.id())));
                }
                0 => {
                    drop(connection.start(at, &Ping, CallOptions::new()).map(|it| connection.forget(it.id())))
                }
                1 => {
                    let read = connection.start(at, &ReadResource::new("x:a"), cache_use(script.byte()));
                    if let Ok(read) = read {
                        if connection.take(&read).is_some() {
                            calls.kept.insert(read.id());
                        }
                        connection.forget(read.id());
                    }
                }
                2 => connection.clear_cache(),
                _ => {
                    let call = Complete::prompt("p", "a", "v").known("b", "w");
                    let call = connection.start(at, &call, CallOptions::new());
                    drop(call.map(|call| connection.forget(call.id())));
                }
            },
            _ => match script.byte() {
                7 => connection.close(at),
                choice => {
                    if let Some((ask, answer)) = calls.answer(&mut script)
                        && connection.answer(at, ask, answer).is_ok()
                    {
                        calls.asks.remove(&ask);
                    }
                    if let Some((&id, _)) = calls.open.iter().nth(usize::from(choice % 4)) {
                        if choice & 16 == 0 { connection.retry(at, id) } else { connection.stop(at, id) }
                    }
                }
            },
        }
        assert!(connection.asks() <= ASKED, "questions are bounded");
        assert!(connection.unanswered() <= 5, "so are steps of the negotiation");
        assert_kept(&connection.cache(at));
        if script.byte() & 1 == 0 {
            while let Some(output) = connection.poll_output() {
                if let Output::Event(event) = output {
                    calls.note(&event);
                }
            }
            calls.open.retain(|_, pending| connection.take(pending).is_none());
        }
        assert_lines(connection.transmit());
    }
    let at = now(time);
    connection.close(at);
    while let Some(output) = connection.poll_output() {
        if let Output::Event(event) = output {
            calls.note(&event);
        }
    }
    calls.open.retain(|_, pending| connection.take(pending).is_none());
    assert!(calls.open.is_empty(), "every call has ended");
    for id in core::mem::take(&mut calls.listens) {
        assert!(
            connection.subscription(id).is_some_and(|it| it.ended().is_some()),
            "every subscription has ended"
        );
        connection.unlisten(at, id);
    }
    let held = (connection.calls(), connection.asks(), connection.subscriptions());
    assert_eq!((held, connection.poll_timeout()), ((0, 0, 0), None));
}

/// What was written ends with a whole line.
fn assert_lines(bytes: &[u8]) {
    assert!(bytes.last().is_none_or(|&byte| byte == b'\n'), "a message is a line");
}

/// HTTP.
pub fn fuzz_http(data: &[u8]) {
    let mut script = Script(data);
    let mut time = Duration::ZERO;
    let choice = script.byte();
    let Ok(endpoint) = Endpoint::parse("http://localhost:1/mcp") else { return };
    let mut http = match choice & 64 {
        0 => Http::new(now(time), config(choice), endpoint, Seed::new([3; 32])),
        _ => Http::http_sse(now(time), config(choice), endpoint, Seed::new([3; 32])),
    };
    let mut calls = Calls::default();
    let mut exchanges: Vec<(ExchangeId, Arc<HttpRequest>)> = Vec::new();
    while !script.is_over() {
        let at = now(time);
        let nth = usize::from(script.byte());
        let exchange = exchanges.get(exchanges.len().saturating_sub(1 + nth % 4)).cloned();
        match (script.byte() % 16, exchange) {
            (0 | 1, _) => {
                let choice = script.byte();
                let options = CallOptions { progress: choice & 1 == 0, ..CallOptions::default() };
                let started = match choice & 12 {
                    12 => http.start(at, &WaitForTask::new(&tasks::handle()), options),
                    _ => http.start(at, &CallTool::new("t"), options),
                };
                if let Ok(pending) = started {
                    calls.open.insert(pending.id(), pending);
                }
            }
            (2 | 3, Some((exchange, request))) if request.head.method == "GET" && nth & 128 > 0 => {
                http.handle_head(at, exchange, kind_head(200, true, false));
                http.handle_body(at, exchange, b"event: endpoint\ndata: /m\n\n");
            }
            (2 | 3, Some((exchange, request))) => {
                let events = script.byte() & 1 == 0;
                let answer = answer(&request.body, script.byte());
                let status = if answer.is_some() { 200 } else { 202 };
                let mut head = kind_head(status, events, script.byte() & 1 == 0);
                let coded = nth & 64 > 0 && responses::compress(&mut head);
                http.handle_head(at, exchange, head);
                if let Some(answer) = answer.filter(|_| script.byte() % 8 > 0) {
                    let (before, after) = if events { ("id: 1\ndata: ", "\n\n") } else { ("", "") };
                    let body = [before, &answer, after].concat().into_bytes();
                    http.handle_body(at, exchange, &if coded { responses::compressed(&body) } else { body });
                }
                http.handle_end(at, exchange, End::Complete);
            }
            (4, Some((exchange, _))) => http.handle_head(at, exchange, head(&mut script)),
            (5..=7, Some((exchange, _))) => {
                let wire = script.byte();
                if script.byte() & 1 == 0 {
                    http.handle_body(at, exchange, b"data: ");
                }
                http.handle_body(at, exchange, &script.body(wire));
                if script.byte() & 1 == 0 {
                    http.handle_body(at, exchange, b"\n\n");
                }
            }
            (8 | 9, Some((exchange, _))) => http.handle_end(at, exchange, End::Complete),
            (10, Some((exchange, _))) => http.handle_failed(at, exchange, "f", true),
            (11, _) => {
                time += Duration::from_millis(u64::from(script.byte()) * 300);
                http.handle_timeout(now(time));
            }
            (12, _) => {
                if let Some(next) = http.poll_timeout() {
                    time = time.max(next.since_epoch());
                    http.handle_timeout(now(time));
                    let next = http.poll_timeout();
                    assert!(
                        next.is_none_or(|next| next.since_epoch() > time),
                        "a timeout that was handled is gone"
                    );
                }
            }
            (13, _) => {
                if let Some((&id, _)) = calls.open.iter().nth(usize::from(script.byte() % 4)) {
                    http.cancel(at, id);
                }
            }
            (14, _) => {
                let options = cache_use(script.byte());
                match script.byte() % 7 {
                    5 | 6 => listen!(http, at, calls, script),
                    0 if nth & 64 > 0 => http.reauthorized(),
                    0 => http.set_header("authorization", [script.byte() % 2 + b'a']),
                    1 => http.clear_cache(),
                    4 => assert!(http.learn_tool(&tool(script.byte())).is_ok(), "it has no annotation"),
                    2 if nth & 64 > 0 => {
                        let call = http.start(at, &CallToolAsTask::new("t"), options);
                        drop(call.map(|call| http.forget(call.id())));
                    }
                    2 => {
                        if let Ok(list) = http.start(at, &ListTools::new(), options) {
                            if http.take(&list).is_some() {
                                calls.kept.insert(list.id());
                            }
                            http.forget(list.id());
                        }
                    }
                    _ => {
                        if let Ok(read) = http.start(at, &ReadResource::new("x:a"), options) {
                            if http.take(&read).is_some() {
                                calls.kept.insert(read.id());
                            }
                            http.forget(read.id());
                        }
                    }
                }
            }
            (_, exchange) => match (script.byte(), exchange) {
                (7, _) => http.close(at),
                (choice @ 64..=111, Some((exchange, _))) => match choice % 4 {
                    0 => drop(http.hold(at, exchange)),
                    1 => http.give_up(at, exchange, "r", "r"),
                    2 if nth & 64 > 0 => drop(http.park(at, exchange, "r")),
                    2 if nth & 32 > 0 => http.unpark(at),
                    _ => http.repeat(at, exchange),
                },
                (choice, _) => {
                    if let Some((ask, answer)) = calls.answer(&mut script)
                        && http.answer(at, ask, answer).is_ok()
                    {
                        calls.asks.remove(&ask);
                    }
                    if let Some((&id, _)) = calls.open.iter().nth(usize::from(choice % 4)) {
                        if choice & 16 == 0 { http.retry(at, id) } else { http.stop(at, id) }
                    }
                }
            },
        }
        assert!(http.asks() <= ASKED, "questions are bounded");
        assert_kept(&http.cache(at));
        if script.byte() & 1 == 0 {
            drain(&mut http, &mut calls, &mut exchanges);
        }
        assert!(http.exchanges() <= 64, "exchanges are bounded");
        assert!(http.held() <= 6 * 2 + ASKED + LISTENS, "held exchanges are bounded");
    }
    http.close(now(time));
    http.handle_timeout(now(time + Duration::from_secs(3)));
    drain(&mut http, &mut calls, &mut exchanges);
    assert!(calls.open.is_empty(), "every call has ended");
    assert_eq!(http.held(), 0);
    for id in core::mem::take(&mut calls.listens) {
        assert!(http.subscription(id).is_some_and(|it| it.ended().is_some()), "every subscription has ended");
        http.unlisten(now(time), id);
    }
    let held = (http.calls(), http.exchanges(), http.asks(), http.subscriptions());
    assert_eq!((held, http.poll_timeout()), ((0, 0, 0, 0), None));
}

fn drain(http: &mut Http, calls: &mut Calls, exchanges: &mut Vec<(ExchangeId, Arc<HttpRequest>)>) {
    while let Some(output) = http.poll_output() {
        match output {
            HttpOutput::Send { exchange, request } => {
                assert!(
                    exchanges.last().is_none_or(|(last, _)| *last < exchange),
                    "ids are never used again"
                );
                assert!(request.head.method == "POST" || request.body.is_empty());
                exchanges.push((exchange, request));
            }
            HttpOutput::Abort(exchange) => {
                assert!(exchanges.iter().any(|(sent, _)| *sent == exchange), "sent before it is aborted")
            }
            HttpOutput::Refused { exchange, .. } => {
                assert!(exchanges.iter().any(|(sent, _)| *sent == exchange), "sent before it is refused")
            }
            HttpOutput::Event(event) => calls.note(&event),
        }
    }
    calls.open.retain(|_, pending| http.take(pending).is_none());
}

#[cfg(test)]
mod tests;
