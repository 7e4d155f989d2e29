//! Proxies: who has one, for which hosts, and how a connection through one begins.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use mcp_proto::client::Endpoint as Url;
use mcp_proto::error::ApiMisuse;

/// Which proxy leads to which server. By default what the environment says, in the way of curl:
///
/// - `https_proxy` or `HTTPS_PROXY` for `https` URLs, `http_proxy` or `HTTP_PROXY` for others, else `all_proxy` or
///   `ALL_PROXY`. `HTTP_PROXY` does not count in a CGI program, where a client can set it.
/// - Not for the hosts in `no_proxy` or `NO_PROXY`: names that also stand for all below them, addresses, either with a port
///   or without one, or `*` for all. Never for hosts of this machine.
///
/// A proxy is `http://host:port`, with `user:password@` before the host where it asks for that; neither is ever printed.
/// With the feature `tls` it may be spoken to by `https://`, too. To `https` servers it is asked for a tunnel (`CONNECT`).
/// Others, such as those of SOCKS, are not spoken: a variable that names one is an error of whoever would need it.
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
    /// It is spoken to by TLS.
    #[cfg(feature = "tls")]
    secure: bool,
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
    /// When it is no `http` or `https` URL, or `https` without the feature `tls`.
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
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (rule, None),
    };
    // What is no port is none of this server.
    if port.is_some_and(|port| port.parse() != Ok(url.port())) {
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
    pub(super) fn parse(url: &str) -> Result<Self, ApiMisuse> {
        let misuse = |what: &str| ApiMisuse::new(format!("the URL of the proxy {what}"));
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => ("http".to_owned(), url),
        };
        let secure = match &*scheme {
            "http" => false,
            "https" if cfg!(feature = "tls") => true,
            "https" => return Err(misuse("begins with `https://`, which needs the feature `tls`")),
            "socks" | "socks4" | "socks4a" | "socks5" | "socks5h" => {
                return Err(misuse("is one of SOCKS, which is not spoken; `http://` and `https://` are"));
            }
            _ => return Err(misuse("must begin with `http://` or `https://`; others are not spoken")),
        };
        let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if behind.contains('@') {
            return Err(misuse("has `/`, `?` or `#` before its `@`: write them as `%2F`, `%3F` or `%23`"));
        }
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
        // As with curl, a proxy without a port is at 1080, or at 443 by TLS; but what is written as 80 is.
        let given = place.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
        let port = match (given, secure) {
            (true, _) => endpoint.port(),
            (false, true) => 443,
            (false, false) => 1080,
        };
        Ok(Self {
            host: endpoint.host().to_owned(),
            port,
            #[cfg(feature = "tls")]
            secure,
            authorization,
        })
    }

    pub(super) fn place(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    #[cfg(feature = "tls")]
    pub(super) fn is_secure(&self) -> bool {
        self.secure
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
    }

    /// What is not spoken is an error, with the name of the variable, of whoever would have to go that way; nobody else
    /// hears of it.
    #[test]
    fn a_proxy_that_is_not_spoken_is_refused_where_it_is_needed() {
        let socks =
            [("ALL_PROXY", "socks5://u:s3cret@h"), ("https_proxy", "http://p:1"), ("NO_PROXY", "near")];
        let lookup =
            |name: &str| socks.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        let refused = by_environment(&url("http://h/"), &lookup).err().unwrap().to_string();
        assert!(refused.contains("`ALL_PROXY`") && refused.contains("SOCKS"), "{refused}");
        assert!(refused.contains("`Proxy::none`") && !refused.contains("s3cret"), "{refused}");
        assert_eq!(found("https://h/", &socks), Some(("p".into(), 1)));
        for near in ["http://near/", "http://localhost:8000/", "http://127.0.0.1/"] {
            assert_eq!(found(near, &socks), None, "{near}");
        }
    }

    /// A proxy may be spoken to by TLS, at the port of that.
    #[test]
    fn a_proxy_has_a_scheme_and_a_port() {
        for (text, port, secure) in [
            ("p", 1080, false),
            ("http://p", 1080, false),
            ("HTTPS://p", 443, true),
            ("https://p:80", 80, true),
        ] {
            match Address::parse(text) {
                Ok(address) => {
                    assert_eq!(address.port, port, "{text}");
                    #[cfg(feature = "tls")]
                    assert_eq!(address.secure, secure, "{text}");
                }
                Err(refused) => {
                    assert!(secure && cfg!(not(feature = "tls")) && refused.to_string().contains("`tls`"));
                }
            }
        }
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
            ("example.com:http", "http://example.com/", false),
            ("example.com:", "http://example.com/", false),
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
        for wrong in
            ["socks5://u:s3cret@h", "http://u:s3cret@", "http://u:s3cret@h:x", "http://u/x:s3cret@h:1"]
        {
            assert!(!Proxy::at(wrong).unwrap_err().to_string().contains("s3cret"));
        }
    }
}
