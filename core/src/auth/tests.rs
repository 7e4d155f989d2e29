//! Flows from the refusal to the grant, against peers that answer from a table.

mod codes;
mod discovery;
mod hosts;
mod identity;
mod revocation;
mod secrets;
mod tokens;
mod unattended;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::entropy::Seed;
use crate::head::{Headers, ResponseHead};
use crate::time::{Duration, Instant, Now};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const SERVER: &str = "https://h.example/api/mcp";
const CALLBACK: &str = "http://127.0.0.1:8765/callback";
const RESOURCE: &str = "https://h.example/.well-known/oauth-protected-resource/api/mcp";
const RESOURCE_ROOT: &str = "https://h.example/.well-known/oauth-protected-resource";
const ISSUER: &str = "https://as.example";
const METADATA: &str = "https://as.example/.well-known/oauth-authorization-server";
const OPENID: &str = "https://as.example/.well-known/openid-configuration";
const REGISTER: &str = "https://as.example/register";
const TOKEN: &str = "https://as.example/token";

fn now() -> Now {
    at(1_000_000)
}

fn at(unix: u64) -> Now {
    Now::new(Instant::ZERO, Duration::from_secs(unix))
}

fn seed() -> Seed {
    Seed::new([7; 32])
}

/// A request as it was sent.
#[derive(Clone, Debug)]
struct Seen {
    method: String,
    url: String,
    headers: Headers,
    body: String,
}

impl Seen {
    /// A member of the body, which is a form.
    fn form(&self, name: &str) -> Option<String> {
        let pairs = form::decode(&self.body).unwrap();
        pairs.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

type Browser = Box<dyn Fn(&BTreeMap<String, String>) -> String>;

/// Everybody but the client.
struct World {
    /// What is answered at each URL, the last one for ever; 404 elsewhere.
    answers: BTreeMap<String, VecDeque<(u16, Headers, String)>>,
    /// What the browser is sent back to, by the query that it was sent with.
    browser: Browser,
    seen: Vec<Seen>,
    visited: Vec<String>,
}

impl World {
    fn empty() -> Self {
        Self {
            answers: BTreeMap::new(),
            browser: Box::new(|query| format!("{CALLBACK}?code=c-1&state={}&iss={ISSUER}", query["state"])),
            seen: Vec::new(),
            visited: Vec::new(),
        }
    }

    /// One where everything is as the specification likes it best.
    fn ordinary() -> Self {
        Self::empty()
            .answer(RESOURCE, 200, &resource_metadata("https://h.example/api/mcp", &[ISSUER]))
            .answer(METADATA, 200, &server_metadata(ISSUER, ""))
            .answer(REGISTER, 201, r#"{"client_id":"dyn-1"}"#)
            .answer(TOKEN, 200, r#"{"access_token":"at-1","token_type":"Bearer","expires_in":3600}"#)
    }

    fn answer(self, url: &str, status: u16, body: &str) -> Self {
        self.answer_with(url, status, Headers::new(), body)
    }

    fn answer_with(mut self, url: &str, status: u16, headers: Headers, body: &str) -> Self {
        self.answers.insert(url.into(), [(status, headers, body.to_owned())].into());
        self
    }

    /// Another answer after those that there are.
    fn then(mut self, url: &str, status: u16, body: &str) -> Self {
        self.answers.entry(url.into()).or_default().push_back((status, Headers::new(), body.into()));
        self
    }

    fn browser(mut self, browser: impl Fn(&BTreeMap<String, String>) -> String + 'static) -> Self {
        self.browser = Box::new(browser);
        self
    }

    fn run(&mut self, step: Result<Step, FlowError>) -> Result<Grant, FlowError> {
        let mut step = step?;
        for _ in 0..50 {
            step = match step {
                Step::Fetch(request, waiting) => {
                    let (head, body) = self.send(&request);
                    waiting.on_response(now(), Response { head: &head, body: body.as_bytes() })?
                }
                Step::Visit(url, waiting) => {
                    self.visited.push(url.as_str().into());
                    let query = form::decode(url.query().unwrap()).unwrap().into_iter().collect();
                    waiting.on_redirect(now(), &(self.browser)(&query))?
                }
                Step::Done(grant) => return Ok(*grant),
            };
        }
        panic!("a flow without end: {:?}", self.urls());
    }

    fn send(&mut self, request: &Request) -> (ResponseHead, String) {
        self.seen.push(Seen {
            method: request.head.method.clone(),
            url: request.url.as_str().into(),
            headers: request.head.headers.clone(),
            body: String::from_utf8(request.body.clone()).unwrap(),
        });
        let place = request.url.as_str().split('?').next().unwrap();
        let Some(answers) = self.answers.get_mut(place) else {
            return (ResponseHead::new(404), String::new());
        };
        let answer = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        let mut head = ResponseHead::new(answer.0);
        head.headers = answer.1;
        (head, answer.2)
    }

    /// A first authorization.
    fn authorize(&mut self, config: Config) -> Result<Grant, FlowError> {
        self.authorize_after(config, Refusal::new(), None)
    }

    fn authorize_after(
        &mut self,
        config: Config,
        refusal: Refusal,
        previous: Option<Grant>,
    ) -> Result<Grant, FlowError> {
        let step = Arc::new(config).authorize(now(), seed(), SERVER, refusal, previous);
        self.run(step)
    }

    fn urls(&self) -> Vec<&str> {
        self.seen.iter().map(|seen| seen.url.as_str()).collect()
    }

    /// The last request to this place.
    fn last(&self, url: &str) -> &Seen {
        self.seen.iter().rfind(|seen| seen.url == url).unwrap_or_else(|| panic!("{url}: {:?}", self.urls()))
    }

    /// The query of the last visit.
    fn asked(&self) -> BTreeMap<String, String> {
        let query = self.visited.last().unwrap().split_once('?').unwrap().1;
        form::decode(query).unwrap().into_iter().collect()
    }
}

fn config() -> Config {
    Config::new("Example").redirect_uri(CALLBACK)
}

fn resource_metadata(resource: &str, issuers: &[&str]) -> String {
    serde_json::json!({ "resource": resource, "authorization_servers": issuers }).to_string()
}

/// With further members, each with a comma in front.
fn server_metadata(issuer: &str, further: &str) -> String {
    let origin = Url::parse(issuer).unwrap().origin();
    format!(
        r#"{{"issuer":"{issuer}","authorization_endpoint":"{origin}/authorize","token_endpoint":"{origin}/token",
        "registration_endpoint":"{origin}/register","code_challenge_methods_supported":["S256"]{further}}}"#
    )
}

fn scopes<const N: usize>(words: [&str; N]) -> Scopes {
    words.into_iter().map(Into::into).collect()
}

fn refusal(scope: &[&str]) -> Refusal {
    Refusal {
        scopes: (!scope.is_empty()).then(|| scope.iter().map(|word| (*word).into()).collect()),
        ..Refusal::new()
    }
}

/// A key whose signatures are recognisable, and worth nothing.
struct Key(&'static str);

impl Signer for Key {
    fn algorithm(&self) -> &str {
        self.0
    }

    fn key_id(&self) -> Option<&str> {
        Some("k-1")
    }

    fn public_jwk(&self) -> &str {
        r#"{"kty":"EC","crv":"P-256","x":"x","y":"y"}"#
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        Some(message.iter().rev().take(64).copied().collect())
    }
}

fn key() -> Arc<dyn Signer> {
    Arc::new(Key("ES256"))
}

/// Header and claims of a JWT that [`Key`] has signed.
fn jwt_parts(token: &str) -> (serde_json::Value, serde_json::Value) {
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3, "{token}");
    let signed: Vec<u8> = token.rsplit_once('.').unwrap().0.bytes().rev().take(64).collect();
    assert_eq!(URL_SAFE_NO_PAD.decode(parts[2]).unwrap(), signed);
    let part = |text| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    (part(parts[0]), part(parts[1]))
}

/// AUTH-04, AUTH-16, AUTH-35, AUTH-51, AUTH-55: the whole of it, once.
#[test]
fn a_client_without_anything_gets_a_token() {
    let mut world = World::ordinary();
    let grant = world.authorize(config()).unwrap();
    assert_eq!(world.urls(), [RESOURCE, METADATA, REGISTER, TOKEN]);
    assert_eq!(grant.issuer, ISSUER);
    assert_eq!(grant.expires, Some(Duration::from_secs(1_003_600)));
    let server = Url::parse(SERVER).unwrap();
    let headers = grant.authorize_request(now(), "POST", &server, "/api/mcp", None).unwrap();
    assert_eq!(headers.text("authorization"), Some("Bearer at-1"));
    assert_eq!(headers.len(), 1);
}

/// The same seed and the same answers give the same requests.
#[test]
fn a_flow_can_be_replayed() {
    let transcript = || {
        let mut world = World::ordinary();
        world.authorize(config()).unwrap();
        format!("{:?} {:?}", world.visited, world.seen)
    };
    assert_eq!(transcript(), transcript());
}

/// Errors name the step, the URL, what was expected, what came and the switch, and carry the record.
#[test]
fn an_error_says_all_there_is_to_say() {
    let metadata = server_metadata(ISSUER, "").replace("S256", "plain");
    let mut world = World::ordinary().answer(METADATA, 200, &metadata);
    let error = world.authorize(config()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "authorization failed at the authorization request, https://as.example/authorize: expected `S256` among \
         the `code_challenge_methods_supported`, found metadata that does not list it; `Config::assume_pkce` would \
         change this"
    );
    let record = error.record().to_string();
    for line in [
        "protected resource metadata: https://h.example/.well-known/oauth-protected-resource/api/mcp: found\n",
        "authorization server metadata: https://as.example/.well-known/oauth-authorization-server: found\n",
        "client registration: https://as.example/register: registered\n",
    ] {
        assert!(record.contains(line), "{record}");
    }
    assert!(format!("{error:?}").contains(&record));
}
