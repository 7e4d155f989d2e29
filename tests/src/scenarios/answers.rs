//! Clients that answer what servers ask: one set of handlers, in both eras and over both transports.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use mcp_driver::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, Root, SamplingContent, UrlElicitationRequiredData,
};
use mcp_driver::{
    AnswerError, Asked, CallError, CallTool, Calls, Canceller, ClientBuilder, Context, Continuation, Era,
    EraChoice, Json, Options, Refusal, Resume, Runtime, Tool, ToolError, Traffic, Unmet,
};
use serde_json::json;

use super::asks::{Nothing, server};
use super::{ERAS, Host, builder, call, calling, command, hosted, text};
use crate::kit::{Client, Kit, Server};
use crate::support::{DEADLINE, Events, Gate, Tell};

fn host<K: Kit>() -> Host<K> {
    let (tell, events) = Events::new();
    let server = server(&Arc::default()).on_error(move |report| tell.tell(report.to_string()));
    hosted(server, Gate::default(), events)
}

/// A client of a host over HTTP, and one of a child over its pipes, with the same handlers.
fn clients<K: Kit>(
    program: &str,
    host: &Host<K>,
    era: EraChoice,
    with: impl Fn(ClientBuilder<K::Runtime>) -> ClientBuilder<K::Runtime>,
) -> [Client<K>; 2] {
    let build = || with(builder::<K>(era));
    let child = build().spawn(command::<K>(program).arg("--asks"));
    [K::wait(build().http(&host.url)).unwrap(), K::wait(child).unwrap()]
}

fn content(message: &str) -> serde_json::Value {
    match message {
        "seat" => json!({ "seat": "4A", "comment": null }),
        "confirm" => json!({ "really": true }),
        other => json!({ "name": other }),
    }
}

fn sampled(params: &CreateMessageRequestParams) -> CreateMessageResult {
    CreateMessageResult::new(SamplingContent::text(format!("{} tokens", params.max_tokens)), "model")
}

/// Handlers that are futures.
fn futures<R: Runtime>(builder: ClientBuilder<R>) -> ClientBuilder<R> {
    builder
        .on_elicit(async |form: ElicitRequestFormParams, _: Asked| {
            Ok(ElicitResult::accept(Json::new(&content(&form.message))?))
        })
        .on_elicit_url(async |page: ElicitRequestUrlParams, _: Asked| {
            assert_eq!(page.url, "https://example.com/pay");
            Ok(ElicitAction::Accept)
        })
        .on_sample(async |params: CreateMessageRequestParams, _: Asked| Ok(sampled(&params)))
        .roots([Root::new("file:///srv")])
}

/// Handlers that block.
fn functions<R: Runtime>(builder: ClientBuilder<R>) -> ClientBuilder<R> {
    builder
        .on_elicit(|form: ElicitRequestFormParams, _: Asked| {
            Ok(ElicitResult::accept(Json::new(&content(&form.message))?))
        })
        .on_elicit_url(|_: ElicitRequestUrlParams, _: Asked| Ok(ElicitAction::Accept))
        .on_sample(|params: CreateMessageRequestParams, _: Asked| Ok(sampled(&params)))
        .on_roots(|asked: Asked| {
            assert_eq!(asked.server().info.as_ref().unwrap().name, "asking");
            Ok(vec![Root::new("file:///srv")])
        })
}

#[track_caller]
fn everything_is_answered<K: Kit>(client: &Client<K>) {
    assert!(text::<K>(client, "book").starts_with("4A "));
    assert_eq!(text::<K>(client, "several"), r#"{"name":"who"} "file:///srv" 9 tokens"#);
    assert_eq!(text::<K>(client, "page"), "on the way");
    assert_eq!(text::<K>(client, "manual"), "first last");
    let prompt = K::wait(client.get_prompt("greet", &[])).unwrap();
    assert!(serde_json::to_string(&prompt.messages[0].content.as_text()).unwrap().contains("Greet 4A"));
    let resource = K::wait(client.read_resource("x:dirs")).unwrap();
    assert_eq!(resource.contents.len(), 1);
}

/// ELIC-28, ELIC-02, SAMP-02, ROOT-02, MRTR-20, HTTPL-11: one set of handlers answers servers of both eras over both
/// transports, and whatever kind of request asks.
pub fn one_set_of_handlers_serves_both_eras<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        for client in clients(program, &host, era, futures) {
            everything_is_answered::<K>(&client);
        }
    }
    host.end();
}

/// The same for handlers that block.
pub fn handlers_may_block<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        for client in clients(program, &host, era, functions) {
            everything_is_answered::<K>(&client);
        }
    }
    host.end();
}

/// All that is asked in one round, or at once, is asked at the same time: each handler waits for the others.
pub fn what_is_asked_together_is_answered_together<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        let meet = || {
            let (gate, here) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
            move || {
                let (gate, here) = (gate.clone(), here.clone());
                async move {
                    if here.fetch_add(1, Ordering::SeqCst) == 2 {
                        gate.open();
                    }
                    gate.wait().await;
                }
            }
        };
        let with = |builder: ClientBuilder<K::Runtime>| {
            let here = meet();
            let (first, second, third) = (here.clone(), here.clone(), here);
            builder
                .on_elicit(move |_: ElicitRequestFormParams, _: Asked| {
                    let met = first();
                    async move {
                        met.await;
                        Ok(ElicitResult::accept(Json::new(&content("who"))?))
                    }
                })
                .on_sample(move |params: CreateMessageRequestParams, _: Asked| {
                    let met = second();
                    async move {
                        met.await;
                        Ok(sampled(&params))
                    }
                })
                .on_roots(move |_: Asked| {
                    let met = third();
                    async move {
                        met.await;
                        Ok(vec![Root::new("file:///srv")])
                    }
                })
        };
        for client in clients(program, &host, era, with) {
            assert_eq!(text::<K>(&client, "several"), r#"{"name":"who"} "file:///srv" 9 tokens"#);
        }
    }
    host.end();
}

/// ELIC-01 to ELIC-04, SAMP-01, ROOT-01, MRTR-08: what has no handler is not declared, whatever else is said.
pub fn what_has_no_handler_is_not_declared<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        let with = |builder: ClientBuilder<K::Runtime>| {
            builder.on_elicit(async |_: ElicitRequestFormParams, _: Asked| Ok(ElicitAction::Decline))
        };
        for client in clients(program, &host, era, with) {
            for (tool, lacks) in [("several", "`sampling`"), ("page", "`elicitation.url`")] {
                match call::<K>(&client, tool, json!({})) {
                    Ok(reply) => {
                        assert_eq!(client.era(), Era::Legacy);
                        assert!(reply.is_error() && reply.text().contains(lacks), "{}", reply.text());
                    }
                    Err(CallError::Server { error, .. }) => {
                        assert_eq!((client.era(), error.code), (Era::Modern, -32021));
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(text::<K>(&client, "maybe"), "standing");
        }
    }
    host.end();
}

/// SAMP-25, ELIC-32: what handlers fail with stays here, users who reject are told apart, and what does not fit is not
/// sent. A call of a modern server ends with what is needed to go on with it.
pub fn failures_of_handlers_are_not_told<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        let (tell, reports) = Events::new();
        let with = |builder: ClientBuilder<K::Runtime>| {
            let tell = tell.clone();
            builder
                .on_diagnostic(move |report| tell.tell(report.to_string()))
                .on_elicit(async |form: ElicitRequestFormParams, _: Asked| match &*form.message {
                    "seat" => Ok(ElicitResult::accept(Json::new(&json!({ "seat": "s3cret".len() }))?)),
                    "number" => panic!("h1dden"),
                    _ => Err(std::io::Error::other("h1dden").into()),
                })
                .on_sample(|_: CreateMessageRequestParams, _: Asked| {
                    Err::<CreateMessageResult, _>(AnswerError::rejected())
                })
                .roots([Root::new("https://example.com/not-a-file")])
        };
        for client in clients(program, &host, era, with) {
            let reason =
                "the answer does not fit what the user was asked: seat: expected a string, found a number";
            let misfit = Refusal::Misfit { reason: reason.to_owned() };
            for (tool, refusal, code, report) in [
                ("maybe", misfit, "-32603", "seat: expected a string, found a number"),
                ("picky", Refusal::Failed, "-32603", "the handler panicked: h1dden"),
                ("insatiable", Refusal::Failed, "-32603", "h1dden"),
            ] {
                match call::<K>(&client, tool, json!({})) {
                    Ok(reply) => {
                        assert!(client.era() == Era::Legacy && reply.is_error());
                        assert!(
                            reply.text().contains(code) && !reply.text().contains("h1dden"),
                            "{}",
                            reply.text()
                        );
                    }
                    Err(CallError::Server { error, .. }) => {
                        assert_eq!((client.era(), error.code), (Era::Legacy, -32603));
                    }
                    Err(CallError::InputRequired { why: Unmet::Refused { refusal: why, .. }, .. }) => {
                        assert_eq!((client.era(), why), (Era::Modern, refusal));
                    }
                    Err(other) => panic!("{other}"),
                }
                let report = reports.expect(report);
                assert!(report.starts_with("elicitation/create: ") && !report.contains("s3cret"), "{report}");
            }
        }
        for client in clients(program, &host, era, |builder| {
            futures(builder).on_sample(|_: CreateMessageRequestParams, _: Asked| {
                Err::<CreateMessageResult, _>(AnswerError::rejected())
            })
        }) {
            match call::<K>(&client, "several", json!({})) {
                Ok(reply) => assert!(reply.text().contains("error -1"), "{}", reply.text()),
                Err(CallError::InputRequired { why, continuation }) => {
                    assert_eq!(why, Unmet::Refused { key: "say".into(), refusal: Refusal::Rejected });
                    assert_eq!((client.era(), continuation.method()), (Era::Modern, "tools/call"));
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    host.end();
}

/// Tells when it is dropped.
struct Dropped(Tell);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.tell("dropped");
    }
}

/// CAN-16: what the server takes back is dropped, or told to who cannot be.
pub fn what_is_taken_back_is_dropped<K: Kit>(program: &str) {
    let host = host::<K>();
    let (tell, events) = Events::new();
    let futures = tell.clone();
    let with = |builder: ClientBuilder<K::Runtime>| {
        let tell = futures.clone();
        builder.on_roots(move |_: Asked| {
            tell.tell("asked");
            let dropped = Dropped(tell.clone());
            async move {
                let _dropped = dropped;
                std::future::pending::<()>().await;
                Ok(Vec::new())
            }
        })
    };
    // What is not asked yet could not be dropped.
    let withdraw = |client: &Client<K>, heard: &str| {
        let call = calling::<K>(client, "withdraw");
        events.expect("asked");
        text::<K>(client, "enough");
        events.expect(heard);
        assert_eq!(call.join().unwrap().text(), "withdrawn");
    };
    for client in clients(program, &host, EraChoice::Legacy, with) {
        withdraw(&client, "dropped");
    }
    let with = |builder: ClientBuilder<K::Runtime>| {
        let tell = tell.clone();
        builder.on_roots(move |asked: Asked| {
            tell.tell("asked");
            mcp_driver::block_on(asked.cancelled());
            tell.tell("told");
            Err(AnswerError::rejected())
        })
    };
    for client in clients(program, &host, EraChoice::Legacy, with) {
        withdraw(&client, "told");
    }
    host.end();
}

/// CAN-02, CAN-03: a call that waits for its user can be abandoned, and its handler is dropped.
pub fn abandoning_a_call_drops_what_it_asks<K: Kit>(program: &str) {
    let host = host::<K>();
    let (tell, events) = Events::new();
    let with = |builder: ClientBuilder<K::Runtime>| {
        let tell = tell.clone();
        builder.on_elicit(move |_: ElicitRequestFormParams, _: Asked| {
            tell.tell("asked");
            let dropped = Dropped(tell.clone());
            async move {
                let _dropped = dropped;
                std::future::pending::<()>().await;
                Ok(ElicitAction::Cancel)
            }
        })
    };
    for era in ERAS {
        for client in clients(program, &host, era, with) {
            let other = client.clone();
            let abandon = K::abandonable(move |options| other.call_tool_with("maybe", json!({}), options));
            events.expect("asked");
            abandon();
            events.expect("dropped");
        }
    }
    // So does closing.
    for client in clients(program, &host, EraChoice::Legacy, with) {
        let call = calling::<K>(&client, "maybe");
        events.expect("asked");
        K::wait(client.close()).unwrap();
        events.expect("dropped");
        assert!(call.join().is_err());
    }
    host.end();
}

/// ROOT-03, ROOT-04: a legacy server is told that the roots have changed, a modern one asks.
pub fn roots_may_change<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        let (tell, events) = Events::new();
        let with = |builder: ClientBuilder<K::Runtime>| {
            let tell = tell.clone();
            futures(builder).on_traffic(move |traffic| {
                if let Traffic::Sent(bytes) = traffic {
                    tell.tell(String::from_utf8_lossy(bytes));
                }
            })
        };
        for client in clients(program, &host, era, with) {
            client.set_roots([Root::new("file:///home")]).unwrap();
            assert!(text::<K>(&client, "several").contains("file:///home"));
            if era == EraChoice::Legacy {
                events.expect("notifications/roots/list_changed");
            }
        }
        assert!(!events.others().iter().any(|sent| sent.contains("list_changed")), "{:?}", events.others());
    }
    let client = K::wait(builder::<K>(EraChoice::Modern).http(&host.url)).unwrap();
    assert!(client.set_roots([]).is_err());
    host.end();
}

/// ELIC-25, MRTR-22: a server that asks nothing is called again, sooner or not at all when the application says so.
pub fn waiting_is_steered_by_the_application<K: Kit>(program: &str) {
    let host = host::<K>();
    let retry = |builder: ClientBuilder<K::Runtime>| {
        builder.on_wait(|wait| {
            assert_eq!((wait.method(), wait.rounds()), ("tools/call", 1));
            wait.retry();
        })
    };
    for client in clients(program, &host, EraChoice::Modern, retry) {
        assert_eq!(text::<K>(&client, "later"), "as it is");
    }
    for client in clients(program, &host, EraChoice::Modern, |builder| builder.on_wait(|wait| wait.stop())) {
        match call::<K>(&client, "later", json!({})) {
            Err(CallError::InputRequired { why: Unmet::Stopped, continuation }) => {
                let call = Resume::<CallTool<'_, Json>>::new(*continuation);
                assert_eq!(K::wait(client.start(&call, Options::new())).unwrap().text(), "as it is");
            }
            other => panic!("{other:?}"),
        }
    }
    // By itself it is called again, too.
    let client = K::wait(builder::<K>(EraChoice::Modern).http(&host.url)).unwrap();
    assert_eq!(text::<K>(&client, "later"), "as it is");
    host.end();
}

/// A call is answered by hand, kept as text, and gone on with by another client.
pub fn calls_are_gone_on_with_by_hand<K: Kit>(_: &str) {
    let host = host::<K>();
    let connect = || K::wait(futures(builder::<K>(EraChoice::Modern)).http(&host.url)).unwrap();
    let manual = || Options::new().manual_input();
    let waiting = |outcome: Result<_, CallError>| -> Continuation {
        match outcome.map(|_: mcp_driver::ToolReply| ()) {
            Err(CallError::InputRequired { why: Unmet::Manual, continuation }) => *continuation,
            other => panic!("{other:?}"),
        }
    };
    let mut continuation = waiting(K::wait(connect().call_tool_with("manual", json!({}), manual())));
    for (round, key) in [(1, "first"), (2, "last")] {
        assert_eq!(continuation.rounds(), round);
        let kept = serde_json::to_string(&continuation).unwrap();
        continuation = serde_json::from_str(&kept).unwrap();
        let asked = continuation.input_required().unwrap().input_requests;
        assert_eq!(asked.into_keys().collect::<Vec<_>>(), [key]);
        let answer = ElicitResult::accept(Json::new(&json!({ "name": format!("{key} by hand") })).unwrap());
        continuation.answer(key, answer).unwrap();
        let call = Resume::<CallTool<'_, Json>>::new(continuation.clone());
        let outcome = K::wait(connect().start(&call, manual()));
        if round == 2 {
            assert_eq!(outcome.unwrap().text(), "first by hand last by hand");
            break;
        }
        continuation = waiting(outcome);
    }
    host.end();
}

/// MRTR-33: what a user has answered is not asked again because the call failed later: it is gone on with from there.
pub fn an_answer_outlives_its_call<K: Kit>(_: &str) {
    let host = host::<K>();
    let canceller = Canceller::new();
    let builder = {
        let canceller = canceller.clone();
        builder::<K>(EraChoice::Modern).on_elicit(move |form: ElicitRequestFormParams, _: Asked| {
            if form.message == "last" {
                canceller.cancel();
            }
            Ok(ElicitResult::accept(Json::new(&content(&form.message))?))
        })
    };
    let client = K::wait(builder.http(&host.url)).unwrap();
    let options = Options::new().cancelled_by(&canceller);
    let error = K::wait(client.call_tool_with("manual", json!({}), options)).unwrap_err();
    assert_eq!(error.cause(), &CallError::Cancelled);
    let mut continuation = error.continuation().unwrap().clone();
    let answer = ElicitResult::accept(Json::new(&json!({ "name": "late" })).unwrap());
    continuation.answer("last", answer).unwrap();
    let call = Resume::<CallTool<'_, Json>>::new(continuation);
    let reply = K::wait(
        K::wait(futures(super::builder::<K>(EraChoice::Modern)).http(&host.url))
            .unwrap()
            .start(&call, Options::new()),
    );
    assert_eq!(reply.unwrap().text(), "first late");
    host.end();
}

/// VER-24: what is deprecated works, and is said once for a connection.
pub fn deprecated_answers_are_said_once<K: Kit>(_: &str) {
    let host = host::<K>();
    let (tell, reports) = Events::new();
    let builder = futures(builder::<K>(EraChoice::Modern));
    let client = builder.on_diagnostic(move |report| tell.tell(report.to_string())).http(&host.url);
    let client = K::wait(client).unwrap();
    for _ in 0..2 {
        text::<K>(&client, "several");
    }
    reports.expect("roots are deprecated by revision 2026-07-28");
    reports.expect("sampling is deprecated by revision 2026-07-28");
    assert!(reports.others().is_empty(), "{:?}", reports.others());
    host.end();
}

/// PRG-02, PRG-04, MRTR-27: progress is heard in every round of a call, before its result.
pub fn progress_goes_on_over_rounds<K: Kit>(program: &str) {
    let host = host::<K>();
    for era in ERAS {
        for client in clients(program, &host, era, futures) {
            let (tell, events) = Events::new();
            let options =
                Options::new().on_progress(move |progress| tell.tell(progress.progress.to_string()));
            let reply = K::wait(client.call_tool_with("steadily", json!({}), options)).unwrap();
            assert_eq!(reply.text(), "4A");
            // The handler of a modern call begins anew in each round.
            let rounds = if era == EraChoice::Modern { vec!["1", "1", "2"] } else { vec!["1", "2"] };
            assert_eq!(events.others(), rounds);
        }
    }
    host.end();
}

/// A legacy server by hand, which asks outside of any call. It tells of what it is sent.
fn server_by_hand(tell: Tell) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let tell = tell.clone();
            thread::spawn(move || serve_by_hand(socket, &tell));
        }
    });
    url
}

/// Serves requests until the client leaves; one for the stream takes the rest of the connection.
fn serve_by_hand(socket: TcpStream, tell: &Tell) -> Option<()> {
    let mut reader = BufReader::new(socket);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).ok()? > 2 {
            head += &std::mem::take(&mut line).to_ascii_lowercase();
        }
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let mut body = vec![0; field("content-length:").map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).unwrap();
        let mut write = |text: String| reader.get_mut().write_all(text.as_bytes()).ok();
        match head.split(' ').next()? {
            "get" => {
                let after = field("last-event-id:").unwrap_or("0").to_owned();
                write(format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: {after}1\nretry: 100\n\
                     data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"roots/list\"}}\n\n",
                    after.parse::<u32>().unwrap()
                ))?;
                // The first one is cut.
                if after != "0" {
                    reader.read_line(&mut line).ok()?;
                }
                return None;
            }
            "post" if body.contains("initialize\"") => {
                let result = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"h","version":"1"}}}"#;
                write(format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: {}\r\n\r\n{result}",
                    result.len()
                ))?;
            }
            _ => {
                assert_eq!(field("mcp-session-id:"), Some("s"));
                tell.tell(body);
                write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned())?;
            }
        }
    }
}

/// HTTPL-26, HTTPL-29, HTTPL-39: a server that may ask is given a stream for that, on which it asks what belongs to no
/// call; when the stream is cut it is opened again behind its last event.
pub fn questions_outside_of_calls_are_answered<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let url = server_by_hand(tell);
    let client = K::wait(futures(builder::<K>(EraChoice::Legacy)).http(&url)).unwrap();
    events.expect("notifications/initialized");
    let roots = r#""result":{"roots":[{"uri":"file:///srv"}]}"#;
    assert!(events.expect(roots).contains(r#""id":0,"#));
    assert!(events.expect(roots).contains(r#""id":1,"#), "`01` is the event after which it goes on");
    K::wait(client.close()).unwrap();
}

/// ELIC-23, ELIC-26: a legacy server that wants a page to be visited first, by error -32042, is one more that asks for
/// that: its call goes on when the page has done its part. Where nobody can be sent to a page, the error names it.
pub fn pages_are_visited_before_a_call_goes_on<K: Kit>(_: &str) {
    let (handles, handed) = mpsc::channel();
    let paid = Arc::new(AtomicBool::new(false));
    let is_paid = paid.clone();
    let server = Server::<K>::new("pages", "1").tool(Tool::new("pay"), move |_: Nothing, cx: Context| {
        if is_paid.load(Ordering::SeqCst) {
            return Ok("paid");
        }
        handles.send(cx.elicitation("e1")).unwrap();
        let page = ElicitRequestUrlParams::new("Pay.", "https://example.com/pay").elicitation_id("e1");
        Err(ToolError::url_elicitation_required([page]))
    });
    let host = hosted::<K>(server, Gate::default(), Events::new().1);
    let (tell, asked) = Events::new();
    let agrees = tell.clone();
    let client = builder::<K>(EraChoice::Legacy)
        .on_elicit_url(move |page: ElicitRequestUrlParams, _: Asked| {
            agrees.tell(page.url);
            Ok(ElicitAction::Accept)
        })
        .on_wait(move |wait| tell.tell(format!("{} waits", wait.method())));
    let client = K::wait(client.http(&host.url)).unwrap();
    let paying = calling::<K>(&client, "pay");
    asked.expect("https://example.com/pay");
    asked.expect("tools/call waits");
    assert!(paying.peek().is_none());
    paid.store(true, Ordering::SeqCst);
    handed.recv_timeout(DEADLINE).unwrap().complete();
    assert_eq!(paying.join().unwrap().text(), "paid");
    paid.store(false, Ordering::SeqCst);
    let unable = K::wait(builder::<K>(EraChoice::Legacy).http(&host.url)).unwrap();
    assert!(call::<K>(&unable, "pay", json!({})).unwrap().is_error());
    let declines = builder::<K>(EraChoice::Legacy)
        .on_elicit_url(|_: ElicitRequestUrlParams, _: Asked| Ok(ElicitAction::Decline));
    let declines = K::wait(declines.http(&host.url)).unwrap();
    let Err(CallError::Server { error, .. }) = call::<K>(&declines, "pay", json!({})) else { panic!() };
    assert_eq!(UrlElicitationRequiredData::of(&error).unwrap().elicitations.len(), 1);
    host.end();
}
