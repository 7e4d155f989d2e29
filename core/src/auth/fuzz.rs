//! Body of a fuzz target: whatever peers answer, a flow ends, and asks nobody that it must not. Not part of the API.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use super::{Config, FlowError, Network, Refusal, Response, Step, Url, challenges, form};
use crate::entropy::Seed;
use crate::head::{Headers, ResponseHead};
use crate::time::{Duration, Instant, Now};

const SERVER: &str = "https://h.example/mcp";
const CALLBACK: &str = "http://127.0.0.1:8765/callback";
/// More requests than any flow makes: eight authorization servers with three places each, and the rest.
const MOST: usize = 40;

/// The first line is a challenge, each further one an answer: its first letter picks the status, the rest is the body,
/// or the query with which the browser comes back. Each is tried as a URL and as a form, too.
pub fn fuzz(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let challenge = lines.next().unwrap_or_default();
    let mut head = ResponseHead::new(401);
    head.headers = Headers::new().with("WWW-Authenticate", challenge);
    assert!(challenges(&head.headers).len() <= 16);
    let Some(refusal) = Refusal::read(&head) else { panic!("a 401 is a refusal") };
    for line in text.split('\n') {
        assert_url(line);
        assert_form(line);
    }
    if let Err(error) = flow(refusal, lines) {
        let told = error.to_string();
        assert!(told.len() < 2_048 && told.lines().count() == 1, "what is told is bounded: {told}");
        assert!(error.record().entries().len() <= 64);
    }
}

fn flow<'a>(refusal: Refusal, mut lines: impl Iterator<Item = &'a str>) -> Result<(), FlowError> {
    let config = Arc::new(Config::new("fuzz").redirect_uri(CALLBACK));
    let now = Now::new(Instant::ZERO, Duration::from_secs(1_000_000));
    let mut step = config.authorize(now, Seed::new([7; 32]), SERVER, refusal, None)?;
    for _ in 0..MOST {
        let line = lines.next().unwrap_or_default();
        step = match step {
            Step::Fetch(request, waiting) => {
                assert_allowed(&request.url);
                let (status, body) = answer(line);
                let head = ResponseHead::new(status);
                waiting.on_response(now, Response { head: &head, body: body.as_bytes() })?
            }
            Step::Visit(url, waiting) => {
                assert_allowed(&url);
                let pairs = form::decode(url.query().unwrap_or_default()).unwrap_or_default();
                let state = pairs.iter().find(|(name, _)| name == "state").map_or("", |(_, value)| value);
                waiting.on_redirect(now, &format!("{CALLBACK}?state={state}&{line}"))?
            }
            Step::Done(grant) => {
                let Ok(server) = Url::parse(SERVER) else { panic!("a URL") };
                let Ok(headers) = grant.authorize_request(now, "POST", &server, &server.target(), None)
                else {
                    panic!("for this server")
                };
                let value = headers.get("authorization").unwrap_or_default();
                assert!(value.iter().all(|byte| matches!(byte, b' '..=b'~')));
                let stored = super::Grant::from_json(&grant.to_json());
                assert_eq!(stored.map(|stored| stored.access_token), Ok(grant.access_token));
                return Ok(());
            }
        };
    }
    panic!("a flow without end");
}

fn answer(line: &str) -> (u16, &str) {
    let mut letters = line.chars();
    let status = match letters.next() {
        Some('b') => 201,
        Some('c') => 302,
        Some('d') => 400,
        Some('e') => 404,
        Some('f') => 502,
        Some('g') => 503,
        _ => 200,
    };
    (status, letters.as_str())
}

fn assert_allowed(url: &Url) {
    assert!(url.is_https() && url.network() == Network::Public, "{url:?}");
}

/// What is read as a URL names one host, however it is asked.
fn assert_url(text: &str) {
    let Ok(url) = Url::parse(text) else { return };
    assert_eq!(url.as_str(), text);
    let Ok(origin) = Url::parse(&url.origin()) else { panic!("an origin is a URL: {text}") };
    assert!(origin.is_same_origin(&url) && origin.network() == url.network());
    let whole = format!("{}{}", url.origin(), url.target());
    assert!(Url::parse(&whole).is_ok_and(|again| again.target() == url.target()), "{text}");
}

fn assert_form(text: &str) {
    if let Some(pairs) = form::decode(text) {
        let again = form::body(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        assert_eq!(form::decode(&again), Some(pairs));
    }
}
