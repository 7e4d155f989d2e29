//! Clients that come by authorization themselves, at a server of ours and an authorization server of the tests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use mcp_driver::auth::{
    self, AssertionSource, Authorize, Config, GrantStore, GrantType, MemoryStore, Registration, Secret,
    Signer, Visit,
};
use mcp_driver::model::{ElicitRequestFormParams, ElicitResult};
use mcp_driver::proto::head::ResponseHead;
use mcp_driver::{
    Asked, AuthRefusal, BearerToken, CallError, Context, End, EraChoice, Error, Grant, Json, Limits,
    Outgoing, Principal, ResourceServer, Response, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ERAS, Host, builder, call, calling, text};
use crate::authorization_server::{AuthorizationServer, browse};
use crate::kit::{Client, Kit, Server, background};
use crate::support::{DEADLINE, Events, Gate, Port, Tell};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    really: bool,
}

/// A server whose tool `mow` needs more than the rest of it does.
pub(super) fn protected<K: Kit>(by: &AuthorizationServer) -> Host<K> {
    protected_with::<K>(by, |server| server, None)
}

/// With somebody who is told of each token, and lets it be judged when the gate is open.
pub(super) fn protected_with<K: Kit>(
    by: &AuthorizationServer,
    change: impl FnOnce(Server<K>) -> Server<K>,
    watch: Option<(Tell, Gate)>,
) -> Host<K> {
    let free = Port::hold();
    let url = free.url();
    protected_at::<K>(by, &free, url, change, watch)
}

/// At a URL by which it is known: that is part of what it says, so its port has to be known beforehand.
pub(super) fn protected_at<K: Kit>(
    by: &AuthorizationServer,
    free: &Port,
    url: String,
    change: impl FnOnce(Server<K>) -> Server<K>,
    watch: Option<(Tell, Gate)>,
) -> Host<K> {
    let resource = ResourceServer::new(&url).authorization_server(&by.url).scopes(["use"]);
    let policy = by.policy.clone();
    let verify = move |token: BearerToken| {
        let (policy, watch) = (policy.clone(), watch.clone());
        async move {
            if let Some((tell, gate)) = watch {
                tell.tell("judging");
                gate.wait().await;
            }
            let policy = policy.lock().unwrap();
            let good = policy.good.iter().any(|good| good == token.as_str());
            let scopes = token.as_str().split_once('.').filter(|_| good).ok_or(AuthRefusal::Invalid)?.1;
            Ok(Grant::new(Principal::new("ada").scopes(scopes.split('+'))).audience(&policy.resource))
        }
    };
    let server = Server::<K>::new("protected", "1")
        .tool(Tool::new("who"), |_: Nothing, cx: Context| {
            Ok(cx.principal().map_or(String::new(), |principal| principal.subject.clone()))
        })
        .tool(Tool::new("mow").scopes(["write"]), |_: Nothing, _: Context| Ok("mown"))
        .tool(Tool::new("confirm"), async |_: Nothing, cx: Context| {
            let Confirm { really } = cx.elicit::<Confirm>("confirm", "Really?").await?;
            Ok(really.to_string())
        })
        .resource_server(resource, verify);
    let server = K::wait(change(server).bind_http(free.address.to_string())).unwrap();
    let stop = server.stop_handle();
    let served = background::<K, _>(move || K::wait(server.serve()));
    let (_, events) = Events::new();
    Host { url, stop, gate: Gate::default(), events, served, kit: std::marker::PhantomData }
}

/// A user who visits whatever is shown, and tells what came of it.
pub(super) fn visiting(tell: Tell) -> Authorize {
    Authorize::new(Config::new("Spokes")).open_with(move |url| {
        let (url, page) = browse(url)?;
        tell.tell(format!("visited {url} {page}"));
        Ok(())
    })
}

pub(super) fn connect<K: Kit>(
    era: EraChoice,
    host: &Host<K>,
    authorize: Authorize,
) -> Result<Client<K>, Error> {
    K::wait(builder::<K>(era).authorize(authorize).http(&host.url))
}

/// What the authorization server was asked for so far, but for metadata.
pub(super) fn asked(by: &AuthorizationServer) -> Vec<String> {
    let all = by.events.others();
    all.into_iter().map(|event| event.split(" {").next().unwrap_or_default().to_owned()).collect()
}

/// AUTH-04 to AUTH-06, AUTH-24, AUTH-35, AUTH-55: through register, browser and listener, in both eras; once.
pub fn a_client_gets_through_with_the_browser<K: Kit>(_: &str) {
    for era in ERAS {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, events) = Events::new();
        let client = connect(era, &host, visiting(tell)).unwrap();
        let visited = events.expect("visited http://127.0.0.1:");
        assert!(
            visited.contains("/callback?code=x&state=") && visited.contains("Spokes may go on"),
            "{visited}"
        );
        assert_eq!(text::<K>(&client, "who"), "ada");
        assert_eq!(asked(&by), ["register", "authorize use", "token authorization_code 200"]);
        K::wait(client.close()).unwrap();
        host.end();
    }
}

/// AUTH-62, AUTH-63, AUTH-65: more scopes are asked for when a call needs them, together with those there were.
pub fn a_call_that_needs_more_scopes_gets_them<K: Kit>(_: &str) {
    for era in ERAS {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, _events) = Events::new();
        let client = connect(era, &host, visiting(tell)).unwrap();
        assert_eq!(text::<K>(&client, "mow"), "mown");
        assert_eq!(text::<K>(&client, "who"), "ada");
        let asked = asked(&by);
        assert_eq!(asked.iter().filter(|event| event.starts_with("authorize")).count(), 2, "{asked:?}");
        assert!(asked.contains(&"authorize use write".to_owned()), "{asked:?}");
        assert_eq!(asked.iter().filter(|event| *event == "register").count(), 1, "{asked:?}");
        K::wait(client.close()).unwrap();
        host.end();
    }
}

/// AUTH-05: a user who thinks for longer than the token lasts has not answered in vain, in either era.
pub fn an_answer_outlives_its_token<K: Kit>(_: &str) {
    for era in ERAS {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, _events) = Events::new();
        let policy = by.policy.clone();
        let builder = builder::<K>(era).authorize(visiting(tell)).on_elicit(
            move |_: ElicitRequestFormParams, _: Asked| {
                policy.lock().unwrap().good.clear();
                Ok(ElicitResult::accept(Json::new(&serde_json::json!({ "really": true }))?))
            },
        );
        let client = K::wait(builder.http(&host.url)).unwrap();
        assert_eq!(text::<K>(&client, "confirm"), "true");
        assert_eq!(asked(&by).last().unwrap(), "token refresh_token 200");
        K::wait(client.close()).unwrap();
        host.end();
    }
}

/// AUTH-07, SEC-04: the bounds of a client are those of its flows, and the error names the one that was met.
pub fn the_limits_of_a_client_are_those_of_its_flows<K: Kit>(_: &str) {
    let limits = |document: usize, servers: usize| {
        let mut limits = Limits::default();
        (limits.auth_document, limits.authorization_servers) = (document, servers);
        limits
    };
    for (limits, length, fails_with, asks_second) in [
        (limits(1_000, 8), 1_001, "expected at most 1000 bytes", false),
        (limits(1_000, 8), 1_000, "authorization server metadata", true),
        (limits(300 << 10, 1), 300 << 10, "authorization server metadata", false),
    ] {
        let (tell, events) = Events::new();
        let exchanger = move |outgoing: Outgoing, mut response: Response| {
            let mut body =
                r#"{"resource":"https://h.example/mcp","authorization_servers":["https://a.example",
                "https://b.example"]}"#
                    .to_owned();
            body.push_str(&" ".repeat(length - body.len()));
            let target = outgoing.head.target.as_str();
            let status = match target {
                "/mcp" => 401,
                "/.well-known/oauth-protected-resource/mcp" => 200,
                _ => 404,
            };
            tell.tell(outgoing.url());
            response.head(ResponseHead::new(status));
            response.body(if status == 200 { body.as_bytes() } else { b"" });
            response.end(End::Complete);
            std::future::ready(())
        };
        let builder = builder::<K>(EraChoice::Modern).limits(limits).authorize(Config::new("Spokes"));
        let error = K::wait(builder.exchanger(exchanger).http("https://h.example/mcp")).unwrap_err();
        assert!(error.to_string().contains(fails_with), "{error}");
        let second = events.others().iter().any(|url| url.starts_with("https://b.example"));
        assert_eq!(second, asks_second, "{error}");
    }
}

/// AUTH-65: a token that is not taken is renewed, then the user is asked once, and that is the answer.
pub fn a_token_that_is_never_taken_is_given_up<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, _events) = Events::new();
    let client = connect(EraChoice::Modern, &host, visiting(tell)).unwrap();
    by.set(|policy| (policy.useless, policy.good) = (true, Vec::new()));
    let before = asked(&by).len();
    let error = call::<K>(&client, "who", serde_json::json!({})).unwrap_err();
    assert!(error.to_string().contains("does not take the token"), "{error}");
    assert_eq!(
        asked(&by)[before..],
        ["token refresh_token 200", "authorize use", "token authorization_code 200"]
    );
    by.set(|policy| policy.useless = false);
    assert_eq!(text::<K>(&client, "who"), "ada", "a later call tries again");
    host.end();
}

/// AUTH-65, B78: calls that are refused at the same time are one refusal: the user is asked once, and all are given up.
pub fn many_calls_whose_token_is_never_taken_ask_once<K: Kit>(_: &str) {
    for many in [2, 12] {
        let by = AuthorizationServer::start();
        let (tell, judged) = Events::new();
        let gate = Gate::default();
        let host = protected_with::<K>(&by, |server| server, Some((tell, gate.clone())));
        let (tell, _events) = Events::new();
        gate.open();
        let client = connect(EraChoice::Modern, &host, visiting(tell)).unwrap();
        assert_eq!(text::<K>(&client, "who"), "ada");
        judged.others();
        by.set(|policy| (policy.useless, policy.good) = (true, Vec::new()));
        let before = asked(&by).len();
        gate.close();
        let calls: Vec<_> = (0..many)
            .map(|number| calling::<K>(&client, if number % 3 == 1 { "mow" } else { "who" }))
            .collect();
        for _ in 0..many {
            judged.expect("judging");
        }
        gate.open();
        for call in calls {
            let error = call.join().unwrap_err();
            assert!(error.to_string().contains("does not take the token"), "{error}");
        }
        assert_eq!(
            asked(&by)[before..],
            ["token refresh_token 200", "authorize use", "token authorization_code 200"]
        );
        host.end();
    }
}

/// AUTH-12, AUTH-55, AUTH-57, SSEL-03: the stream of HTTP with SSE and the path for its messages are of one server: what is
/// got for the one goes to the other, is renewed, and is for the URL that the client was given.
pub fn the_old_transport_is_authorized_as_well<K: Kit>(_: &str) {
    for found_out in [false, true] {
        let by = AuthorizationServer::start();
        let host = protected_with::<K>(&by, |server| server.http_sse("/sse", "/messages"), None);
        let url = host.url.replace("/mcp", "/sse");
        let (tell, events) = Events::new();
        let builder = builder::<K>(EraChoice::Auto).authorize(visiting(tell));
        let client = if found_out { builder.http(&*url) } else { builder.http_sse(&*url) };
        let client = K::wait(client).unwrap();
        events.expect("visited http://127.0.0.1:");
        assert_eq!(text::<K>(&client, "who"), "ada");
        assert_eq!(by.policy.lock().unwrap().resource, url);
        by.set(|policy| policy.good.clear());
        assert_eq!(text::<K>(&client, "who"), "ada");
        let all = asked(&by);
        assert_eq!(
            all,
            ["register", "authorize use", "token authorization_code 200", "token refresh_token 200"]
        );
        K::wait(client.close()).unwrap();
        host.end();
    }
}

/// AUTH-65: calls that need authorization at the same time have one flow, and go on or fail with its outcome.
pub fn calls_wait_for_one_flow<K: Kit>(_: &str) {
    for denied in [false, true] {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, visits) = Events::new();
        let gate = Gate::default();
        let (door, first) = (gate.clone(), Mutex::new(true));
        let authorize = Authorize::new(Config::new("Spokes")).open_with(move |url| {
            if !std::mem::take(&mut *first.lock().unwrap()) {
                tell.tell("asked again");
                door.block();
            }
            browse(url).map(drop)
        });
        let client = connect(EraChoice::Modern, &host, authorize).unwrap();
        by.set(|policy| (policy.refresh, policy.good, policy.denies) = (None, Vec::new(), denied));
        let calls: Vec<_> = (0..5).map(|_| calling::<K>(&client, "who")).collect();
        visits.expect("asked again");
        gate.open();
        for call in calls {
            match call.join() {
                Ok(reply) => assert!(!denied && reply.text() == "ada"),
                Err(error) => {
                    assert!(denied && error.to_string().contains("access_denied"), "{error}");
                }
            }
        }
        if !denied {
            assert_eq!(asked(&by).iter().filter(|event| event.starts_with("authorize")).count(), 2);
        }
        host.end();
    }
}

/// AUTH-28, AUTH-50: who says no is told apart from what goes wrong, and connecting fails with all that was tried.
pub fn a_user_may_say_no<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    by.set(|policy| policy.denies = true);
    let host = protected::<K>(&by);
    let (tell, events) = Events::new();
    let error = connect(EraChoice::Auto, &host, visiting(tell)).unwrap_err();
    assert!(events.expect("visited").contains("Spokes is not authorized"));
    let Error::Call(CallError::Unauthorized { reason, record, .. }) = &error else { panic!("{error}") };
    assert!(reason.contains("at the authorization response") && reason.contains("access_denied"), "{reason}");
    for step in [
        "protected resource metadata",
        "authorization server metadata",
        "registration",
        "authorization request",
    ] {
        assert!(record.contains(step), "{record}");
    }
    host.end();
}

/// AUTH-39: an application may show pages itself; what it does not answer is an error, and what is of another flow, too.
pub fn an_application_may_show_pages_itself<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let config = Config::new("Spokes").redirect_uri("https://spokes.example/back");
    let through = |answer: fn(&str) -> Option<String>| {
        Authorize::new(config.clone()).on_visit(move |visit: Visit| {
            if let Some(redirect) = answer(visit.url()) {
                visit.answer(redirect);
            }
        })
    };
    fn agree(url: &str) -> Option<String> {
        let state = url.split("state=").nth(1)?.split('&').next()?;
        Some(format!("https://spokes.example/back?code=x&state={state}"))
    }
    let client = connect(EraChoice::Modern, &host, through(agree)).unwrap();
    assert_eq!(text::<K>(&client, "who"), "ada");
    for (answer, why) in [
        ((|_| None) as fn(&str) -> Option<String>, "who gave no answer"),
        (|_| Some("https://spokes.example/back?code=x&state=other".into()), "found another one"),
    ] {
        let error = connect(EraChoice::Modern, &host, through(answer)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    host.end();
}

/// AUTH-39, AUTH-72: the listener takes the one request that it waits for, whatever else comes to it.
pub fn the_listener_waits_for_its_own_answer<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let authorize = Authorize::new(Config::new("Spokes")).open_with(move |url| {
        let back = url.split("redirect_uri=http%3A%2F%2F127.0.0.1%3A").nth(1).unwrap();
        let port: u16 = back.split('%').next().unwrap().parse().unwrap();
        let state = url.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
        let ask = |request: String| -> io::Result<String> {
            let mut socket = TcpStream::connect(("127.0.0.1", port))?;
            socket.set_read_timeout(Some(DEADLINE))?;
            write!(socket, "{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")?;
            let mut answer = String::new();
            socket.read_to_string(&mut answer)?;
            Ok(answer)
        };
        // One that says nothing, while others are served.
        let _silent = TcpStream::connect(("127.0.0.1", port))?;
        for (request, status) in [
            ("GET /favicon.ico".to_owned(), "404"),
            ("GET /callback?code=y&state=foreign".to_owned(), "404"),
            (format!("GET /other?code=y&state={state}"), "404"),
            (format!("HEAD /callback?code=y&state={state}"), "405"),
        ] {
            let answer = ask(request.clone())?;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
        }
        browse(url).map(drop)
    });
    let client = connect(EraChoice::Modern, &host, authorize).unwrap();
    assert_eq!(text::<K>(&client, "who"), "ada");
    host.end();
}

/// AUTH-05: a client that is closed while a user is asked is closed, and a browser that cannot be opened is named.
pub fn nobody_waits_for_a_browser_in_vain<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let broken = Authorize::new(Config::new("Spokes")).open_with(|_| Err(io::Error::other("no display")));
    let error = connect(EraChoice::Modern, &host, broken).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no display") && text.contains("`Authorize::open_with`"), "{text}");
    let panics = Authorize::new(Config::new("Spokes")).open_with(|_| panic!("no browser"));
    let text = connect(EraChoice::Modern, &host, panics).unwrap_err().to_string();
    assert!(text.contains("panicked") && text.contains("`Authorize::open_with`"), "{text}");

    let (tell, events) = Events::new();
    let first = Mutex::new(true);
    let away = Authorize::new(Config::new("Spokes")).open_with(move |url| {
        if std::mem::take(&mut *first.lock().unwrap()) {
            return browse(url).map(drop);
        }
        tell.tell("asked");
        Ok(())
    });
    let client = connect(EraChoice::Modern, &host, away).unwrap();
    by.set(|policy| (policy.refresh, policy.good) = (None, Vec::new()));
    let call = calling::<K>(&client, "who");
    events.expect("asked");
    K::wait(client.close()).unwrap();
    assert!(matches!(call.join().unwrap_err(), CallError::Broken { .. }));
    host.end();
}

/// AUTH-55, AUTH-57, B37: a server that redirects at its own origin gets the token there, too; one that redirects to where
/// nobody can tell is not sent anything, and the error says so.
pub fn a_token_follows_a_redirect_at_its_origin<K: Kit>(_: &str) {
    for (place, fails_with) in [("/v2/here", "418"), ("/v2/%2e%2e/here", "without `.` and `..`")] {
        let (tell, events) = Events::new();
        let exchanger = move |outgoing: Outgoing, mut response: Response| {
            let token = outgoing.head.headers.text("authorization").unwrap_or("no token").to_owned();
            let target = outgoing.head.target.clone();
            let (mut head, mut body) = (ResponseHead::new(401), "");
            if target == "/mcp" {
                head = ResponseHead::new(307);
                head.headers.push("Location", place);
            } else if target.starts_with("/.well-known/") {
                head = ResponseHead::new(200);
                body = r#"{"resource":"https://h.example/mcp","issuer":"https://h.example","authorization_servers":
                    ["https://h.example"],"authorization_endpoint":"https://h.example/a",
                    "token_endpoint":"https://h.example/t"}"#;
            } else if target == "/t" {
                head = ResponseHead::new(200);
                body = r#"{"access_token":"t-1","token_type":"Bearer"}"#;
            } else if token == "Bearer t-1" {
                head = ResponseHead::new(418);
            }
            tell.tell(format!("{target} {token}"));
            response.head(head);
            response.body(body.as_bytes());
            response.end(End::Complete);
            std::future::ready(())
        };
        let config = Config::new("Spokes")
            .registered("https://h.example", Registration::new("c-1").secret("s"))
            .grant(GrantType::ClientCredentials);
        let client = builder::<K>(EraChoice::Modern).authorize(config).exchanger(exchanger);
        let error = K::wait(client.http("https://h.example/mcp")).unwrap_err();
        assert!(error.to_string().contains(fails_with), "{error}");
        let seen = events.others();
        assert_eq!(seen[..2], ["/mcp no token".to_owned(), format!("{place} no token")]);
        assert_eq!(seen.contains(&format!("{place} Bearer t-1")), place == "/v2/here", "{seen:?}");
    }
}

/// AUTHX-28: whoever is asked for an assertion may block without anybody else noticing, and may panic.
pub fn a_source_of_assertions_may_block<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, events) = Events::new();
    let gate = Gate::default();
    let door = gate.clone();
    let source: AssertionSource = Arc::new(move |_| {
        tell.tell("asked");
        door.block();
        Some(Secret::new("assertion"))
    });
    let url = host.url.clone();
    let config = Config::new("Spokes").grant(GrantType::JwtBearer(source));
    let slow =
        background::<K, _>(move || K::wait(builder::<K>(EraChoice::Modern).authorize(config).http(url)));
    events.expect("asked");
    // Nothing that would have to wait for it does.
    let (tell, _visits) = Events::new();
    let other = connect(EraChoice::Modern, &host, visiting(tell)).unwrap();
    assert_eq!(text::<K>(&other, "who"), "ada");
    gate.open();
    let client = slow.join().unwrap();
    by.set(|policy| policy.good.push("t-2.use".to_owned()));
    assert_eq!(text::<K>(&client, "who"), "ada");

    let broken: AssertionSource = Arc::new(|_| panic!("no platform"));
    let config = Config::new("Spokes").grant(GrantType::JwtBearer(broken));
    let error = K::wait(builder::<K>(EraChoice::Modern).authorize(config).http(&host.url)).unwrap_err();
    assert!(error.to_string().contains("a panic of the application's own"), "{error}");
    host.end();
}

struct Key(bool);

impl Signer for Key {
    fn algorithm(&self) -> &str {
        "ES256"
    }

    fn public_jwk(&self) -> &str {
        r#"{"kty":"EC"}"#
    }

    fn sign(&self, _: &[u8]) -> Option<Vec<u8>> {
        self.0.then(|| vec![1])
    }
}

/// AUTHX-23: each request has a proof of its own; one that cannot be made is why nothing is sent.
pub fn requests_are_signed_one_by_one<K: Kit>(_: &str) {
    for works in [true, false] {
        let (tell, events) = Events::new();
        let exchanger = move |outgoing: Outgoing, mut response: Response| {
            let field = |name| outgoing.head.headers.text(name).unwrap_or("none").to_owned();
            tell.tell(format!("{} {} {}", outgoing.head.target, field("authorization"), field("dpop")));
            let authorized = field("authorization") == "DPoP t-1" && field("dpop").matches('.').count() == 2;
            response.head(ResponseHead::new(if authorized { 418 } else { 401 }));
            response.end(End::Complete);
            std::future::ready(())
        };
        let store = MemoryStore::default();
        let grant = auth::Grant::from_json(
            r#"{"issuer":"https://as.example","resource":"https://h.example/mcp","registration":null,
                "access_token":"t-1","token_type":"dpop","issued":0,"expires":null,"refresh_token":null,
                "scopes":null,"requested":null,"token_endpoint":"https://as.example/token"}"#,
        );
        K::block_on(store.save("https://h.example/mcp", &grant.unwrap())).unwrap();
        let authorize = Authorize::new(Config::new("Spokes").dpop(Arc::new(Key(works)))).store(store);
        let builder = builder::<K>(EraChoice::Modern).authorize(authorize).exchanger(exchanger);
        let error = K::wait(builder.http("https://h.example/mcp")).unwrap_err().to_string();
        assert!(error.contains(if works { "418" } else { "a key that could not be used" }), "{error}");
        assert_eq!(events.others().len(), usize::from(works));
    }
}

/// AUTH-42, AUTH-55: an HTTP client of the application carries the requests of a flow, too; each host gets what is its own.
pub fn an_http_client_of_ones_own_carries_flows<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let exchanger = move |outgoing: Outgoing, mut response: Response| {
        let token = outgoing.head.headers.text("authorization").unwrap_or("no token").to_owned();
        tell.tell(format!("{} {token}", outgoing.url()));
        let metadata = r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/a",
            "token_endpoint":"https://as.example/t","registration_endpoint":"https://as.example/r",
            "code_challenge_methods_supported":["S256"]}"#;
        let (status, body) = match &*outgoing.url() {
            "https://h.example/.well-known/oauth-protected-resource/mcp" => (
                200,
                r#"{"resource":"https://h.example/mcp","authorization_servers":["https://as.example"]}"#,
            ),
            "https://as.example/.well-known/oauth-authorization-server" => (200, metadata),
            "https://as.example/r" => (201, r#"{"client_id":"c-1"}"#),
            "https://as.example/t" => (200, r#"{"access_token":"t-1","token_type":"Bearer"}"#),
            "https://h.example/mcp" if token == "Bearer t-1" => (418, "enough"),
            _ => (401, ""),
        };
        response.head(ResponseHead::new(status));
        response.body(body.as_bytes());
        response.end(End::Complete);
        std::future::ready(())
    };
    let config = Config::new("Spokes").redirect_uri("https://spokes.example/back");
    let authorize = Authorize::new(config).on_visit(|visit: Visit| {
        let state = visit.url().split("state=").nth(1).and_then(|rest| rest.split('&').next());
        visit.answer(format!("https://spokes.example/back?code=x&state={}", state.unwrap_or_default()));
    });
    let client = builder::<K>(EraChoice::Modern).authorize(authorize).exchanger(exchanger);
    let error = K::wait(client.http("https://h.example/mcp")).unwrap_err();
    assert!(error.to_string().contains("418"), "{error}");
    let seen = [
        "https://h.example/mcp no token",
        "https://h.example/.well-known/oauth-protected-resource/mcp no token",
        "https://as.example/.well-known/oauth-authorization-server no token",
        "https://as.example/r no token",
        "https://as.example/t no token",
        "https://h.example/mcp Bearer t-1",
    ];
    assert_eq!(events.others(), seen);
}
