//! Clients against an authorization server that others wrote: npm's `oidc-provider`, started by
//! `tests/authorization/run`, and a server of ours that asks it about tokens.

use std::io::{Read, Write};
use std::net::TcpStream;

use mcp_driver::auth::{Authorize, Config, GrantStore, MemoryStore, Secret, SignedOut};
use mcp_driver::{
    AuthRefusal, BearerToken, Calls, Client, Context, Grant, Principal, ResourceServer, Server, Tool,
};
use mcp_tests::authorization_server::browse;
use mcp_tests::kit::{Kit, background};
use mcp_tests::support::{Events, Port};
use mcp_tests::{OnBlocking, OnSmol, OnTokio};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The credentials of `server.mjs`, as `Authorization: Basic` has them: `resource-server:resource-server-secret`.
const BASIC: &str = "cmVzb3VyY2Utc2VydmVyOnJlc291cmNlLXNlcnZlci1zZWNyZXQ=";

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Sends a form to an endpoint of the authorization server.
fn post(issuer: &str, path: &str, form: &str) -> String {
    let place = issuer.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(place).unwrap();
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nHost: {place}\r\nAuthorization: Basic {BASIC}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[derive(Deserialize)]
struct Introspection {
    active: bool,
    #[serde(default)]
    sub: String,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    aud: String,
}

/// RFC 7662.
fn introspect(issuer: &str, token: &BearerToken) -> Result<Grant, AuthRefusal> {
    let answer = post(issuer, "/token/introspection", &format!("token={}", token.as_str()));
    let found: Introspection = serde_json::from_str(&answer).unwrap();
    if !found.active {
        return Err(AuthRefusal::Invalid);
    }
    Ok(Grant::new(Principal::new(found.sub).scopes(found.scope.split(' '))).audience(found.aud))
}

/// AUTH-04 to AUTH-11, AUTH-24, AUTH-35, AUTH-44, AUTH-51, AUTH-62, AUTH-63, B75: registered, agreed to in a browser,
/// stepped up, renewed, revoked and agreed to again.
fn a_client_lives_with_it<K: Kit>() {
    let _entered = K::enter();
    let issuer = std::env::var("MCP_AUTHORIZATION_SERVER").expect("tests/authorization/run starts it");
    let free = Port::hold();
    let url = free.url();
    let resource = ResourceServer::new(&url).authorization_server(&issuer).scopes(["use"]);
    let asked = issuer.clone();
    let server = Server::<K::Runtime>::new("protected", "1")
        .tool(Tool::new("who"), |_: Nothing, cx: Context| {
            Ok(cx.principal().map_or(String::new(), |principal| principal.subject.clone()))
        })
        .tool(Tool::new("mow").scopes(["write"]), |_: Nothing, _: Context| Ok("mown"))
        .resource_server(resource, move |token: BearerToken| introspect(&asked, &token));
    let server = K::wait(server.bind_http(free.address.to_string())).unwrap();
    let stop = server.stop_handle();
    let served = background::<K, _>(move || K::wait(server.serve()));

    let (tell, visits) = Events::new();
    let store = MemoryStore::default();
    let authorize = Authorize::new(Config::new("Spokes")).store(store.clone()).open_with(move |url| {
        let scope = url.split("scope=").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default();
        tell.tell(format!("visited for {scope}"));
        let (url, page) = browse(url)?;
        assert!(page.contains("may go on"), "{url}: {page}");
        Ok(())
    });
    let client = Client::<K::Runtime>::builder("authorization", "1")
        .authorize(authorize)
        .on_diagnostic(|report| eprintln!("{report}"))
        .http(&url);
    let client = K::wait(client).unwrap();
    let grant = || K::block_on(store.load(&url, Some(&issuer))).unwrap().unwrap();
    let text = |tool: &str| K::wait(client.call_tool(tool, json!({}))).unwrap().text().into_owned();
    visits.expect("use");
    assert_eq!(text("who"), "ada");

    assert_eq!(text("mow"), "mown");
    visits.expect("use%20write");
    let stepped_up = grant();
    assert!(stepped_up.scopes.as_ref().unwrap().contains("write") && stepped_up.refresh_token.is_some());

    post(&issuer, &format!("/end/{}", stepped_up.access_token.as_str()), "");
    assert_eq!(text("who"), "ada");
    let renewed = grant();
    assert_ne!(renewed.access_token, stepped_up.access_token);
    assert_ne!(renewed.refresh_token, stepped_up.refresh_token, "it is rotated");
    assert_eq!(visits.others(), [""; 0], "nobody is asked: {}", renewed.record);

    // RFC 7662: it is good until its user signs out.
    let is_active = |token: &Secret| {
        let answer = post(&issuer, "/token/introspection", &format!("token={}", token.as_str()));
        serde_json::from_str::<Introspection>(&answer).unwrap().active
    };
    let refresh = renewed.refresh_token.unwrap();
    assert!(is_active(&refresh) && is_active(&renewed.access_token));
    assert_eq!(K::wait(client.sign_out()).unwrap(), SignedOut::Revoked);
    assert!(!is_active(&refresh) && !is_active(&renewed.access_token));
    assert!(K::block_on(store.load(&url, None)).unwrap().is_none());
    assert_eq!(text("mow"), "mown");
    visits.expect("use");
    assert_ne!(grant().registration, renewed.registration, "it has begun anew");

    K::wait(client.close()).unwrap();
    stop.stop();
    served.join().unwrap();
}

#[test]
#[ignore = "needs oidc-provider: tests/authorization/run"]
fn a_client_on_tokio_lives_with_it() {
    a_client_lives_with_it::<OnTokio>();
}

#[test]
#[ignore = "needs oidc-provider: tests/authorization/run"]
fn a_client_on_smol_lives_with_it() {
    a_client_lives_with_it::<OnSmol>();
}

#[test]
#[ignore = "needs oidc-provider: tests/authorization/run"]
fn a_client_on_threads_lives_with_it() {
    a_client_lives_with_it::<OnBlocking>();
}
