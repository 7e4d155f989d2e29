//! An authorization server that agrees to everything it is not told to refuse, and the browser of its only user.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use crate::support::{Events, Tell};

/// What it does, as tests may change it while it serves.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Whether the user says no.
    pub denies: bool,
    /// How long a token lasts, in seconds.
    pub expires_in: Option<u64>,
    /// What the token endpoint answers instead of a token.
    pub failure: Option<(u16, &'static str)>,
    /// The refresh token that is good, where one was given out.
    pub refresh: Option<String>,
    /// Whether tokens are issued that the server does not take.
    pub useless: bool,
    /// Access tokens that are good.
    pub good: Vec<String>,
    /// What it answers who revokes a token.
    pub revocation: u16,
    /// What the last token was asked for.
    pub resource: String,
    /// The scopes that the user agreed to last, or by telling nobody here.
    scope: String,
    issued: usize,
}

pub struct AuthorizationServer {
    pub url: String,
    pub policy: Arc<Mutex<Policy>>,
    pub events: Events,
}

impl AuthorizationServer {
    pub fn start() -> Self {
        Self::behind(|port| format!("http://127.0.0.1:{port}"))
    }

    /// One that is known by the URL that something in front of its port has.
    pub fn behind(front: impl FnOnce(u16) -> String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = front(listener.local_addr().unwrap().port());
        let policy = Policy {
            denies: false,
            expires_in: Some(3600),
            failure: None,
            refresh: None,
            useless: false,
            good: Vec::new(),
            revocation: 200,
            resource: String::new(),
            scope: "use".into(),
            issued: 0,
        };
        let policy = Arc::new(Mutex::new(policy));
        let (tell, events) = Events::new();
        let issuer = url.clone();
        let shared = policy.clone();
        // It ends with the process.
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let _ = serve(socket, &issuer, &shared, &tell);
            }
        });
        Self { url, policy, events }
    }

    pub fn set(&self, change: impl FnOnce(&mut Policy)) {
        change(&mut self.policy.lock().unwrap());
    }
}

fn serve(socket: TcpStream, issuer: &str, policy: &Mutex<Policy>, tell: &Tell) -> io::Result<()> {
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut length = 0;
    loop {
        let mut field = String::new();
        reader.read_line(&mut field)?;
        if let Some(value) = field.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if field.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8(body).unwrap();
    let target = line.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut policy = policy.lock().unwrap();
    let (status, location, text) = match path {
        "/.well-known/oauth-authorization-server" => (200, String::new(), metadata(issuer)),
        "/register" => {
            tell.tell(format!("register {body}"));
            (201, String::new(), json!({ "client_id": "c-1" }).to_string())
        }
        "/authorize" => {
            let asked = form(query);
            policy.scope = asked.get("scope").cloned().unwrap_or_default();
            tell.tell(format!("authorize {}", policy.scope));
            let answer = if policy.denies { "error=access_denied" } else { "code=x" };
            (302, format!("{}?{answer}&state={}", asked["redirect_uri"], asked["state"]), String::new())
        }
        "/token" => {
            let asked = form(&body);
            let (status, text) = policy.token(&asked);
            tell.tell(format!("token {} {status}", asked["grant_type"]));
            (status, String::new(), text)
        }
        "/revoke" => {
            let asked = form(&body);
            tell.tell(format!("revoke {} {}", asked["token_type_hint"], policy.revocation));
            if policy.revocation == 200 {
                policy.good.retain(|good| *good != asked["token"]);
                policy.refresh.take_if(|refresh| *refresh == asked["token"]);
            }
            (policy.revocation, String::new(), String::new())
        }
        _ => (404, String::new(), String::new()),
    };
    drop(policy);
    let location = if location.is_empty() { location } else { format!("Location: {location}\r\n") };
    let length = text.len();
    write!(
        reader.get_mut(),
        "HTTP/1.1 {status} X\r\n{location}Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

fn metadata(issuer: &str) -> String {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    })
    .to_string()
}

impl Policy {
    fn token(&mut self, asked: &BTreeMap<String, String>) -> (u16, String) {
        if let Some((status, error)) = self.failure {
            return (status, json!({ "error": error }).to_string());
        }
        if asked["grant_type"] == "refresh_token" && self.refresh.as_ref() != asked.get("refresh_token") {
            return (400, json!({ "error": "invalid_grant" }).to_string());
        }
        self.issued += 1;
        self.resource.clone_from(&asked["resource"]);
        let refresh = format!("r-{}", self.issued);
        // The server reads from it what it is for.
        let token = format!("t-{}.{}", self.issued, self.scope.replace(' ', "+"));
        self.refresh = Some(refresh.clone());
        self.good = if self.useless { Vec::new() } else { vec![token.clone()] };
        let mut answer = json!({ "access_token": token, "token_type": "Bearer", "refresh_token": refresh });
        if let Some(life) = self.expires_in {
            answer["expires_in"] = life.into();
        }
        (200, answer.to_string())
    }
}

fn form(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(out).unwrap()
}

/// Visits a page, and follows where it leads, with the cookies that it is given on the way. Returns the last URL, and
/// what was there.
pub fn browse(url: &str) -> io::Result<(String, String)> {
    let mut url = url.to_owned();
    let mut cookies = BTreeMap::new();
    loop {
        let rest = url.strip_prefix("http://").ok_or(io::ErrorKind::InvalidInput)?;
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let jar: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut socket = TcpStream::connect(place)?;
        write!(
            socket,
            "GET /{path} HTTP/1.1\r\nHost: {place}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
            jar.join("; ")
        )?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        let mut next = None;
        for line in answer.lines().take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            match &*name.to_ascii_lowercase() {
                "location" => next = Some(value.to_owned()),
                "set-cookie" => {
                    let pair = value.split(';').next().and_then(|pair| pair.split_once('='));
                    cookies.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                _ => {}
            }
        }
        match next {
            Some(next) if next.starts_with('/') => url = format!("http://{place}{next}"),
            Some(next) => url = next,
            None => return Ok((url, answer)),
        }
    }
}
