//! The tower service, mounted in axum, over a real socket.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use mcp_tests::kit::{Kit, OnTokio};
use mcp_tests::rig;
use mcp_tests::support::{Events, Gate, Raw, eventually};
use mcp_tokio::tower::IntoService;
use mcp_tokio::{
    AuthRefusal, BearerToken, Calls, Client, Context, EraChoice, Grant, Options, Principal, ResourceServer,
    Server, Tool,
};
use serde_json::json;

/// An axum application with a rig at `/mcp`.
struct App {
    address: SocketAddr,
    gate: Gate,
    events: Events,
}

fn app() -> App {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let server: Server = rig::server(move |event| tell.tell(event), &gate);
    let router = axum::Router::new().route_service("/mcp", server.into_service().unwrap());
    let listener = OnTokio::block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    App { address, gate, events }
}

impl App {
    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

fn fields(tool: &str) -> String {
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n")
}

fn body(tool: &str, arguments: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta},"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// A call without notifications is answered by one JSON object of known length.
#[test]
fn a_quick_call_is_answered_in_json() {
    let _entered = OnTokio::enter();
    let app = app();
    let mut raw = Raw::connect(&app.url());
    // Twice, on one connection.
    for _ in 0..2 {
        raw.post(&fields("echo"), &body("echo", r#"{"text":"hello"}"#));
        let answer = raw.answer();
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
        assert_eq!(answer.header("Content-Length"), Some(answer.body.len().to_string().as_str()));
        assert!(answer.body.contains("hello"), "{answer:?}");
    }
}

/// Progress arrives while the call runs, on an event stream.
#[test]
fn progress_is_streamed_live() {
    let _entered = OnTokio::enter();
    let app = app();
    let mut raw = Raw::connect(&app.url());
    raw.post(&fields("steps"), &body("steps", "{}"));
    raw.expect("text/event-stream");
    raw.expect(r#""progress":1"#);
    // The handler goes on only now.
    app.gate.open();
    raw.expect(r#""progress":3"#);
    raw.expect("done");
}

/// HTTP-20: a client that goes away cancels its call, whether the response has begun or not.
#[test]
fn a_disconnect_cancels() {
    let _entered = OnTokio::enter();
    let app = app();
    let mut raw = Raw::connect(&app.url());
    raw.post(&fields("wait"), &body("wait", "{}"));
    app.events.expect("wait started");
    drop(raw);
    app.events.expect("wait cancelled");
    let mut raw = Raw::connect(&app.url());
    raw.post(&fields("steps"), &body("steps", "{}"));
    raw.expect("progress");
    drop(raw);
    app.events.expect("steps cancelled");
}

/// HTTP-02, HTTP-03: hosts and origins are checked behind axum, too.
#[test]
fn foreign_hosts_and_origins_are_refused() {
    let _entered = OnTokio::enter();
    let app = app();
    for (host, status) in [
        ("Host: localhost\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
    ] {
        let mut raw = Raw::connect(&app.url());
        raw.post(&format!("{host}{}", fields("pid")), &body("pid", "{}"));
        assert_eq!(raw.answer().status, status, "{host}");
    }
}

/// A request with a body that is too large is refused before all of it has come.
#[test]
fn a_body_that_is_too_large_is_refused() {
    let _entered = OnTokio::enter();
    let app = app();
    let mut raw = Raw::connect(&app.url());
    let text = "x".repeat(5 << 20);
    // The rest of it need not be taken.
    let _ = raw.try_post(&fields("echo"), &body("echo", &format!(r#"{{"text":"{text}"}}"#)));
    assert_eq!(raw.answer().status, 413);
}

/// B42: over HTTP/2 the host is in `:authority` alone.
#[test]
fn the_authority_of_http2_is_checked() {
    let _entered = OnTokio::enter();
    let app = app();
    OnTokio::block_on(async {
        let socket = tokio::net::TcpStream::connect(app.address).await.unwrap();
        let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        for (authority, status) in [("localhost:1234", 200), ("evil.example", 403)] {
            let request = Request::post(format!("http://{authority}/mcp"))
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "pid")
                .body(())
                .unwrap();
            let (response, mut stream) = client.send_request(request, false).unwrap();
            // Fails when the request was refused before its body.
            let _ = stream.send_data(Bytes::from(body("pid", "{}")), true);
            assert_eq!(response.await.unwrap().status(), status, "{authority}");
        }
    });
}

/// SSEL-11: the transport of 2024-11-05 works behind axum, too: at its paths, beside the MCP endpoint.
#[test]
fn http_with_sse_is_served() {
    let _entered = OnTokio::enter();
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let server: Server = rig::server(move |event| tell.tell(event), &gate);
    let service = server.http_sse("/sse", "/messages").into_service().unwrap();
    let mut router = axum::Router::new();
    for path in ["/mcp", "/sse", "/messages"] {
        router = router.route_service(path, service.clone());
    }
    let listener = OnTokio::block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut stream = Raw::connect(&url);
    stream.bare_at("/sse", "GET", "Accept: text/event-stream\r\n");
    stream.expect("event: endpoint");
    let endpoint = stream.expect("data: ").trim_start_matches("data: ").trim_end().to_owned();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}"#;
    let wait = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{}}}"#;
    for message in [initialize, wait] {
        let mut post = Raw::connect(&url);
        post.try_post_to(&endpoint, "", message).unwrap();
        assert_eq!(post.status(), 202);
    }
    stream.expect(r#""protocolVersion":"2024-11-05""#);
    events.expect("wait started");
    drop(stream);
    events.expect("wait cancelled");
    eventually("the end of the session", || match service.http_service().session_count() {
        0 => Ok(()),
        more => Err(more),
    });
    let mut raw = Raw::connect(&url);
    raw.post(&fields("pid"), &body("pid", "{}"));
    assert_eq!(raw.status(), 200);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(Clone)]
struct Region(&'static str);

/// What the application attaches to a request is found by its handlers: values, and who makes it.
#[test]
fn handlers_find_what_the_application_attached() {
    let _entered = OnTokio::enter();
    let server: Server =
        Server::new("request", "1").tool(Tool::new("see"), async |_: Nothing, cx: Context| {
            let region = cx.extensions().get::<Region>().map_or("nowhere", |region| region.0);
            Ok(format!("{} in {region}", cx.principal().map_or("nobody", |principal| &principal.subject)))
        });
    let router = axum::Router::new()
        .route_service("/mcp", server.into_service().unwrap())
        .layer(axum::Extension(Region("north")))
        .layer(axum::Extension(Principal::new("ada")));
    let listener = OnTokio::block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut raw = Raw::connect(&url);
    raw.post(&fields("see"), &body("see", "{}"));
    assert!(raw.answer().body.contains("ada in north"));
}

/// AUTHS-01, AUTHS-03, AUTHS-12: tokens are checked behind axum, too, and the metadata is served where it is routed.
#[test]
fn tokens_are_checked() {
    let _entered = OnTokio::enter();
    let resource =
        ResourceServer::new("https://rig.example/mcp").authorization_server("https://auth.example");
    let server: Server = Server::new("authorized", "1")
        .tool(Tool::new("see"), async |_: Nothing, cx: Context| {
            Ok(cx.principal().map_or("nobody".to_owned(), |principal| principal.subject.clone()))
        })
        .resource_server(resource, async |token: BearerToken| match token.as_str() {
            "ada" => Ok(Grant::new(Principal::new("ada")).audience_checked()),
            _ => Err(AuthRefusal::Invalid),
        });
    let service = server.into_service().unwrap();
    let router = axum::Router::new()
        .route_service("/.well-known/oauth-protected-resource/mcp", service.clone())
        .route_service("/mcp", service.clone());
    let listener = OnTokio::block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut raw = Raw::connect(&url);
    for (token, status) in
        [("", 401), ("Authorization: Bearer eve\r\n", 401), ("Authorization: Bearer ada\r\n", 200)]
    {
        raw.post(&format!("{token}{}", fields("see")), &body("see", "{}"));
        let answer = raw.answer();
        assert_eq!((answer.status, answer.header("WWW-Authenticate").is_some()), (status, status == 401));
        assert_eq!(answer.body.contains("\"ada\""), status == 200);
    }
    raw.write("GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: rig.example\r\n\r\n");
    assert!(raw.answer().body.contains("https://auth.example"));
    // And once it is to stop, it takes no more.
    OnTokio::block_on(service.http_service().drain(std::time::Duration::ZERO)).unwrap();
    raw.post(&format!("Authorization: Bearer ada\r\n{}", fields("see")), &body("see", "{}"));
    assert_eq!(raw.answer().status, 503);
}

/// Our client speaks to it in both eras, sessions included.
#[test]
fn our_client_speaks_to_it() {
    let _entered = OnTokio::enter();
    let app = app();
    app.gate.open();
    OnTokio::block_on(async {
        for era in [EraChoice::Modern, EraChoice::Legacy] {
            let client = Client::builder("tower", "1").era(era).http(app.url()).await.unwrap();
            let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let hear = heard.clone();
            let options = Options::new().on_progress(move |step| hear.lock().unwrap().push(step.progress));
            let reply = client.call_tool_with("steps", json!({}), options).await.unwrap();
            assert_eq!((&*reply.text(), &*heard.lock().unwrap()), ("done", &vec![1.0, 2.0, 3.0]));
            client.close().await.unwrap();
        }
    });
}
