//! Proxies: who has one, for which hosts, and how a connection through one begins.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::client::Endpoint as Url;
use mcp_proto::error::ApiMisuse;
use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};

use super::pooled::Channel;
use crate::endpoint::{Endpoint, Status};

/// Which proxy leads to which server. By default what the environment says, in the way of curl:
///
/// - `https_proxy` or `HTTPS_PROXY` for `https` URLs, `http_proxy` or `HTTP_PROXY` for others, else `all_proxy` or
///   `ALL_PROXY`. `HTTP_PROXY` does not count in a CGI program, where a client can set it.
/// - Not for the hosts in `no_proxy` or `NO_PROXY`: names that also stand for all below them, addresses, either with a port
///   or without one, or `*` for all. Hosts of this machine are no exception.
///
/// A proxy is `http://host:port`, with `user:password@` before the host where it asks for that; neither is ever printed.
/// To `https` servers it is asked for a tunnel (`CONNECT`).
#[derive(Clone, Default)]
pub struct Proxy {
    choice: Choice,
}

#[derive(Clone, Default)]
enum Choice {
    #[default]
    Environment,
    None,
    At(Arc<Address>),
}

/// Where a proxy is.
pub(super) struct Address {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

impl Proxy {
    /// No proxy, whatever the environment says.
    pub fn none() -> Self {
        Self { choice: Choice::None }
    }

    /// What the environment says.
    pub fn environment() -> Self {
        Self::default()
    }

    /// This proxy, for every server.
    ///
    /// # Errors
    /// When it is no `http` URL.
    pub fn at(url: &str) -> Result<Self, ApiMisuse> {
        Ok(Self { choice: Choice::At(Arc::new(Address::parse(url)?)) })
    }

    /// The proxy that leads to a server.
    pub(super) fn towards(&self, url: &Url) -> Result<Option<Arc<Address>>, ApiMisuse> {
        match &self.choice {
            Choice::None => Ok(None),
            Choice::At(address) => Ok(Some(address.clone())),
            Choice::Environment => {
                let lookup = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
                by_environment(url, &lookup)
            }
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.choice {
            Choice::Environment => f.write_str("Proxy::environment()"),
            Choice::None => f.write_str("Proxy::none()"),
            Choice::At(address) => write!(f, "Proxy::at({}:{})", address.host, address.port),
        }
    }
}

/// Whether a host is this machine. What is said to it is often neither encrypted nor reachable for a proxy.
fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let name = host.to_ascii_lowercase();
    address.is_ok_and(|address| address.is_loopback()) || name == "localhost" || name.ends_with(".localhost")
}

fn by_environment(
    url: &Url,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Arc<Address>>, ApiMisuse> {
    if is_here(url.host()) {
        return Ok(None);
    }
    let first =
        |names: &[&'static str]| names.iter().find_map(|name| lookup(name).map(|value| (*name, value)));
    let of_scheme = if url.secure {
        first(&["https_proxy", "HTTPS_PROXY"])
    } else if lookup("REQUEST_METHOD").is_some() {
        // There `HTTP_PROXY` is the header `Proxy` of whoever asks.
        first(&["http_proxy"])
    } else {
        first(&["http_proxy", "HTTP_PROXY"])
    };
    let Some((name, proxy)) = of_scheme.or_else(|| first(&["all_proxy", "ALL_PROXY"])) else {
        return Ok(None);
    };
    let but = first(&["no_proxy", "NO_PROXY"]).map(|(_, but)| but).unwrap_or_default();
    if but.split([',', ' ']).any(|rule| excepts(rule.trim(), url)) {
        return Ok(None);
    }
    let address = Address::parse(&proxy).map_err(|misuse| {
        ApiMisuse::new(format!("the variable `{name}`: {}; `Proxy::none` does without it", misuse.message))
    })?;
    Ok(Some(Arc::new(address)))
}

/// Whether a rule of `NO_PROXY` is about a server.
fn excepts(rule: &str, url: &Url) -> bool {
    if rule == "*" {
        return true;
    }
    let (name, port) = match rule.rsplit_once(':') {
        // An IPv6 address has colons of its own, and a port only behind brackets.
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port.parse::<u16>().ok()),
        _ => (rule, None),
    };
    if port.is_some_and(|port| port != url.port()) {
        return false;
    }
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let name =
        name.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.').to_ascii_lowercase();
    let host = url.host().trim_end_matches('.');
    if name.is_empty() {
        return false;
    }
    host == name || host.strip_suffix(&name).is_some_and(|above| above.ends_with('.') && !is_address(host))
}

fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

impl Address {
    fn parse(url: &str) -> Result<Self, ApiMisuse> {
        let misuse = |what: &str| ApiMisuse::new(format!("the URL of the proxy {what}"));
        let rest = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(misuse("must begin with `http://`; other kinds are not spoken")),
            None => url,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (credentials, place) = match authority.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, authority),
        };
        let endpoint =
            Url::parse(&format!("http://{place}")).map_err(|_| misuse("has no host, or none that is one"))?;
        let authorization = credentials.map(|credentials| {
            let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
            let plain = [&unescaped(user)[..], b":", &unescaped(password)].concat();
            format!("Basic {}", base64(&plain))
        });
        // As with curl, a proxy without a port is at 1080; but what is written as 80 is.
        let given = place.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
        let port = if given { endpoint.port() } else { 1080 };
        Ok(Self { host: endpoint.host().to_owned(), port, authorization })
    }

    pub(super) fn place(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// Puts a tunnel to a server over a channel.
    pub(super) fn tunnel(
        &self,
        url: &Url,
        patience: Duration,
        head: usize,
        inner: Arc<dyn Channel>,
    ) -> Arc<dyn Channel> {
        let host = if url.host().contains(':') { format!("[{}]", url.host()) } else { url.host().to_owned() };
        let to = format!("{host}:{}", url.port());
        let mut ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some(authorization) = &self.authorization {
            ask.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        ask.push_str("\r\n");
        let state = State { stage: Stage::Waiting, out: ask.into_bytes(), heard: Vec::new() };
        let proxy = format!("{}:{}", self.host, self.port);
        Arc::new(Tunnel { inner, proxy, to, patience, head, state: Mutex::new(state) })
    }
}

/// Bytes behind `%XX`; anything else stands for itself.
fn unescaped(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut out = Vec::new();
    while let Some((&byte, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                out.push(code);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(byte);
                rest = behind;
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS.get((word >> (18 - 6 * place)) as usize & 63).copied().unwrap_or(b'=');
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// A connection that a proxy is asked to make.
struct Tunnel {
    inner: Arc<dyn Channel>,
    proxy: String,
    to: String,
    patience: Duration,
    /// As much as the head of the answer may have.
    head: usize,
    state: Mutex<State>,
}

struct State {
    stage: Stage,
    /// What the proxy is still to be asked.
    out: Vec<u8>,
    /// What it has answered.
    heard: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Asking { until: Instant },
    Open,
    Over,
}

impl Tunnel {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self, now: Now, reason: &str) -> bool {
        let mut state = self.lock();
        let asking = matches!(state.stage, Stage::Waiting | Stage::Asking { .. });
        if asking {
            state.stage = Stage::Over;
        }
        drop(state);
        if asking {
            let Self { proxy, to, .. } = self;
            self.inner.refused(now, &format!("no connection to {to} through the proxy {proxy}: {reason}"));
        }
        asking
    }

    /// Takes part of the answer. What is behind it is the server's already; the error says why there is none.
    fn answered(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let mut state = self.lock();
        state.heard.extend_from_slice(bytes);
        let Some(end) = state.heard.windows(4).position(|window| window == b"\r\n\r\n") else {
            let limit = self.head;
            return if state.heard.len() > limit {
                Err(format!("its answer to CONNECT has a head of more than {limit} bytes"))
            } else {
                Ok(None)
            };
        };
        let status = state.heard.get(..12).and_then(|line| std::str::from_utf8(line).ok());
        let status = status
            .filter(|line| line.starts_with("HTTP/1."))
            .and_then(|line| line.get(9..)?.parse::<u16>().ok());
        match status {
            Some(200..300) => {
                let rest = state.heard.split_off(end + 4);
                state.heard = Vec::new();
                state.stage = Stage::Open;
                Ok(Some(rest))
            }
            Some(407) => {
                Err("it wants other credentials (HTTP status 407): put them into its URL".to_owned())
            }
            Some(status) => Err(format!("it answered CONNECT with HTTP status {status}")),
            None => Err("it does not answer CONNECT in HTTP/1.1".to_owned()),
        }
    }
}

impl Channel for Tunnel {
    fn established(&self, now: Now) {
        self.lock().stage = Stage::Asking { until: now.mono + self.patience };
    }

    fn refused(&self, now: Now, reason: &str) {
        self.lock().stage = Stage::Over;
        self.inner.refused(now, reason);
    }
}

impl Endpoint for Tunnel {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        let stage = self.lock().stage;
        match stage {
            Stage::Open => self.inner.handle_bytes(now, bytes),
            Stage::Asking { .. } => match self.answered(bytes) {
                Ok(None) => {}
                Ok(Some(rest)) => {
                    self.inner.established(now);
                    if !rest.is_empty() {
                        self.inner.handle_bytes(now, &rest);
                    }
                }
                Err(reason) => drop(self.give_up(now, &reason)),
            },
            Stage::Waiting | Stage::Over => {}
        }
    }

    fn handle_end(&self, now: Now, end: End) {
        if !self.give_up(now, "it closed the connection") {
            self.inner.handle_end(now, end);
        }
    }

    fn handle_write_failed(&self, now: Now) {
        if !self.give_up(now, "the connection to it broke") {
            self.inner.handle_write_failed(now);
        }
    }

    fn handle_timeout(&self, now: Now) {
        let late = matches!(self.lock().stage, Stage::Asking { until } if until <= now.mono);
        if late {
            self.give_up(now, &format!("it did not answer within {:?}", self.patience));
        }
        self.inner.handle_timeout(now);
    }

    fn transmit(&self, now: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let mut state = self.lock();
        match state.stage {
            Stage::Asking { .. } => {
                if !state.out.is_empty() {
                    let taken = write(&state.out);
                    state.out.drain(..taken);
                }
            }
            Stage::Open => {
                drop(state);
                self.inner.transmit(now, write);
            }
            Stage::Waiting | Stage::Over => {}
        }
    }

    fn status(&self) -> Status {
        let stage = self.lock().stage;
        let mut status = self.inner.status();
        match stage {
            Stage::Waiting => status.wants_read = false,
            Stage::Asking { until } => {
                status.wants_read = true;
                status.timeout = Some(status.timeout.map_or(until, |at| at.min(until)));
            }
            Stage::Open => {}
            Stage::Over => status.finished = true,
        }
        status
    }

    fn register(&self, waker: &Waker) {
        self.inner.register(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn found(server: &str, environment: &[(&str, &str)]) -> Option<(String, u16)> {
        let lookup = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        let address = by_environment(&url(server), &lookup).unwrap()?;
        Some((address.host.clone(), address.port))
    }

    /// The variables are those of curl, and the lower case wins.
    #[test]
    fn the_environment_names_a_proxy_by_scheme() {
        let both = [("http_proxy", "http://a:1"), ("HTTP_PROXY", "http://b:2"), ("HTTPS_PROXY", "c:3")];
        assert_eq!(found("http://h/", &both), Some(("a".into(), 1)));
        assert_eq!(found("https://h/", &both), Some(("c".into(), 3)));
        assert_eq!(found("https://h/", &both[..2]), None);
        let all = [("ALL_PROXY", "http://[::1]"), ("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "http://evil:1")];
        assert_eq!(
            found("http://h/", &all),
            Some(("::1".into(), 1080)),
            "a header of a CGI request is no proxy"
        );
        assert!(by_environment(&url("http://h/"), &|_| Some("socks5://u:s3cret@h".into())).is_err());
    }

    /// `NO_PROXY`: names and what is below them, addresses, ports, everything; this machine itself in any case, since
    /// what is said to it may be secret and is often not encrypted.
    #[test]
    fn some_servers_are_reached_without_a_proxy() {
        for (rules, server, without) in [
            ("example.com", "http://example.com/", true),
            ("example.com", "http://a.example.com/", true),
            (".example.com", "http://example.com/", true),
            ("*.example.com", "http://a.example.com/", true),
            ("example.com", "http://badexample.com/", false),
            ("EXAMPLE.com.", "http://example.com/", true),
            ("a, b c", "http://c/", true),
            ("example.com:8080", "http://example.com:8080/", true),
            ("example.com:8080", "http://example.com/", false),
            ("10.0.0.1", "http://10.0.0.1:5/", true),
            ("0.0.1", "http://10.0.0.1:5/", false),
            ("fd00::1", "http://[fd00::1]:5/", true),
            ("[fd00::1]:5", "http://[fd00::1]:5/", true),
            ("*", "https://h/", true),
            (",", "http://h/", false),
            ("", "http://h/", false),
            ("", "http://localhost/", true),
            ("", "http://a.LOCALHOST:80/", true),
            ("", "http://127.8.8.8/", true),
            ("", "https://[::1]/", true),
            ("", "http://localhost.example.com/", false),
        ] {
            let environment = [("ALL_PROXY", "p:1"), ("no_proxy", rules)];
            assert_eq!(found(server, &environment).is_none(), without, "{rules} {server}");
        }
    }

    /// Credentials come from the URL of the proxy, and are not printed.
    #[test]
    fn credentials_are_sent_and_not_printed() {
        let address = Address::parse("http://us%65r:s3cret%40@h:8/").unwrap();
        assert_eq!(address.authorization(), Some("Basic dXNlcjpzM2NyZXRA"));
        assert_eq!((address.place(), base64(b"a"), base64(b"ab")), (("h", 8), "YQ==".into(), "YWI=".into()));
        let proxy = Proxy::at("http://user:s3cret@h:8").unwrap();
        assert_eq!(format!("{proxy:?}"), "Proxy::at(h:8)");
        for wrong in ["socks5://u:s3cret@h", "http://u:s3cret@", "http://u:s3cret@h:x"] {
            assert!(!Proxy::at(wrong).unwrap_err().to_string().contains("s3cret"));
        }
    }
}
