//! Where an MCP endpoint is, and whether a redirect stays there.

use crate::error::ApiMisuse;
use crate::wire::url::{Parts, is_clear, split_port};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// The URL of an MCP endpoint, taken apart.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// Whether it is `https`.
    pub secure: bool,
    /// Host, and port where it is not the default one; as in the `Host` header.
    pub authority: String,
    /// Path and query.
    pub target: String,
}

impl Endpoint {
    /// Takes an `http` or `https` URL apart. A fragment is left out.
    ///
    /// # Errors
    ///
    /// For other schemes, a missing host, a user name or password in the URL, and characters that no URL
    /// has.
    pub fn parse(url: &str) -> Result<Self, ApiMisuse> {
        // The URL may hold a secret, so it is not repeated.
        let misuse = |what: &str| ApiMisuse::new(format!("the URL of the server {what}"));
        if !is_clear(url) {
            return Err(misuse("has a space or another character that must be escaped in a URL"));
        }
        let parts = Parts::read(url).map_err(|_| misuse("must begin with `http://` or `https://`"))?;
        if parts.has_user() {
            return Err(misuse("has a user name; give credentials as a header (`ClientBuilder::header`)"));
        }
        let (host, port) = parts.host();
        if host.is_empty() {
            return Err(misuse("has no host"));
        }
        if port.is_some_and(|port| !port.is_empty() && port.parse::<u16>().is_err()) {
            return Err(misuse("has a port that is none"));
        }
        let goes_without_saying = if parts.secure { "443" } else { "80" };
        let authority = match port {
            Some("") | None => host,
            Some(port) if port == goes_without_saying => host,
            Some(_) => parts.authority,
        };
        let (authority, target) = (authority.to_ascii_lowercase(), [parts.path, parts.query].concat());
        Ok(Self { secure: parts.secure, authority, target: rooted(&target) })
    }

    /// The host, without the brackets around an IPv6 address.
    pub fn host(&self) -> &str {
        let (host, _) = split_port(&self.authority);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        let default = if self.secure { 443 } else { 80 };
        let (_, port) = split_port(&self.authority);
        port.and_then(|port| port.parse().ok()).unwrap_or(default)
    }

    /// The origin, as URLs and `Origin` headers have it.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.secure { "https" } else { "http" }, self.authority)
    }

    /// The target that a `Location` leads to from `target`; the error is where else it leads (B37).
    pub(super) fn follow(&self, target: &str, location: &str) -> Result<String, String> {
        if !is_clear(location) || location.is_empty() {
            return Err("nowhere that a URL names".to_string());
        }
        if let Some(rest) = location.strip_prefix("//") {
            let scheme = if self.secure { "https" } else { "http" };
            return self.follow(target, &format!("{scheme}://{rest}"));
        }
        if location.contains("://") && !location.starts_with(['/', '?', '#']) {
            let there = Self::parse(location).map_err(|_| "to another origin".to_string())?;
            let same = there.secure == self.secure && there.authority == self.authority;
            return if same {
                Ok(normal(&there.target))
            } else {
                Err(format!("to another origin, {}", there.origin()))
            };
        }
        let path = target.split('?').next().unwrap_or_default();
        if location.starts_with('/') {
            return Ok(normal(&rooted(location)));
        }
        if location.starts_with('?') {
            return Ok(rooted(&[path, location].concat()));
        }
        if location.split(['/', '?', '#']).next().unwrap_or_default().contains(':') {
            return Err("to another scheme".to_string());
        }
        let folder = path.rfind('/').map_or("/", |at| path.get(..=at).unwrap_or("/"));
        Ok(normal(&rooted(&[folder, location].concat())))
    }
}

/// Prints no query: it may hold a secret.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "Endpoint({}{path})", self.origin())
    }
}

/// A target as it goes on the request line: with a path, without a fragment.
fn rooted(target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    if target.starts_with('/') { target.to_string() } else { ["/", target].concat() }
}

/// Takes `.` and `..` out of the path.
fn normal(target: &str) -> String {
    let (path, query) = match target.find('?') {
        Some(at) => target.split_at(at),
        None => (target, ""),
    };
    let mut kept = alloc::vec::Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    ["/", &kept.join("/"), query].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url).unwrap()
    }

    #[test]
    fn urls_are_taken_apart() {
        let at = endpoint("http://localhost:3000");
        assert_eq!((at.secure, &*at.authority, &*at.target), (false, "localhost:3000", "/"));
        let at = endpoint("HTTPS://Example.com:443/a/mcp?x=1#f");
        assert_eq!((at.secure, &*at.authority, &*at.target), (true, "example.com", "/a/mcp?x=1"));
        let at = endpoint("http://[::1]:80?x");
        assert_eq!((at.secure, &*at.authority, &*at.target), (false, "[::1]", "/?x"));
        assert_eq!((at.host(), at.port()), ("::1", 80));
        let at = endpoint("https://[::1]:8443");
        assert_eq!((at.host(), at.port()), ("::1", 8443));
        let at = endpoint("https://example.com");
        assert_eq!((at.host(), at.port()), ("example.com", 443));
    }

    #[test]
    fn urls_that_lead_nowhere_are_refused() {
        for url in [
            "",
            "mcp",
            "ftp://h/",
            "http://",
            "http:///mcp",
            "http://u:p@h/",
            "http://h/a b",
            "http://h/ä",
            "http://:80/",
            "http://h:x/",
            "http://h:70000/",
            "http://h/a\\b",
            "http://h/?\"x\"",
            "http://::1/",
        ] {
            assert!(Endpoint::parse(url).is_err(), "{url}");
        }
    }

    /// B37
    #[test]
    fn redirects_stay_at_the_origin() {
        let at = endpoint("https://h.example/a/mcp?x=1");
        for (location, target) in [
            ("/mcp/", "/mcp/"),
            ("https://h.example/b", "/b"),
            ("https://H.example:443/b", "/b"),
            ("//h.example/b", "/b"),
            ("other", "/a/other"),
            ("../up?y", "/up?y"),
            ("./", "/a/"),
            ("?z=2", "/a/mcp?z=2"),
            ("/c#f", "/c"),
            ("/api/./mcp", "/api/mcp"),
            ("https://h.example/x/../m?.", "/m?."),
            ("b#/../c", "/a/b"),
            ("m?id={a|b}", "/a/m?id={a|b}"),
        ] {
            assert_eq!(at.follow(&at.target, location), Ok(target.into()), "{location}");
        }
        for location in [
            "https://other.example/mcp",
            "http://h.example/mcp",
            "https://h.example:8443/mcp",
            "//other.example/",
            "https://h.example@other.example/",
            "mailto:x",
            "",
            "/a b",
            "/a\\b",
            "/<a>",
        ] {
            assert!(at.follow(&at.target, location).is_err(), "{location}");
        }
    }
}
