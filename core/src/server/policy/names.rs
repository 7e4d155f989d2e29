//! Whom requests may name: the host that they are for, and the web page that they come from.

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::HttpPolicy;
use crate::diagnostic::Diagnostic;
use crate::error::ApiMisuse;
use crate::head::{Field, Headers};

/// The names that a `Host` field may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hosts {
    /// `localhost`, 127.0.0.0/8 and `[::1]` with any port, and the names given, in lower case.
    Listed(BTreeSet<String>),
    /// Every name: something in front of this server checks it.
    Any,
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Listed(BTreeSet::new())
    }
}

impl Hosts {
    /// Lets one more name or address in, such as `mcp.example.com` or `[2001:db8::1]:8000`: as clients send it, in any
    /// case, without a scheme or a path. Without a port every port is meant.
    /// [`HttpPolicy::check`](super::HttpPolicy::check) finds what is no host.
    pub fn allow(&mut self, host: impl Into<String>) {
        if let Self::Listed(names) = self {
            names.insert(host.into().to_ascii_lowercase());
        }
    }

    pub(super) fn check(&self) -> Result<(), ApiMisuse> {
        match self {
            Self::Any => Ok(()),
            Self::Listed(names) => names.iter().try_for_each(|name| check_host(name)),
        }
    }

    /// Whether `host`, as sent, may be asked for.
    pub fn admit(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(names) => {
                // As most clients write it, so that nothing has to be taken apart.
                if is_usual(host) || names.contains(host) {
                    return true;
                }
                let Some(name) = without_port(host) else { return false };
                is_loopback(name)
                    || names.contains(&host.to_ascii_lowercase())
                    || names.contains(&name.to_ascii_lowercase())
            }
        }
    }
}

/// The origins of web pages that may send requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origins {
    /// Pages served from loopback names, from the hosts and from the origins given, in lower case.
    Listed {
        /// Names of hosts; any scheme, and any port when none is given.
        hosts: BTreeSet<String>,
        /// Whole origins, such as `https://app.example`.
        origins: BTreeSet<String>,
    },
    /// Every origin: something in front of this server checks it.
    Any,
}

impl Default for Origins {
    fn default() -> Self {
        Self::Listed { hosts: BTreeSet::new(), origins: BTreeSet::new() }
    }
}

impl Origins {
    /// Lets pages of one more origin in, such as `https://app.example` or `http://localhost:3000`: scheme, host and port as
    /// browsers send it, so without the default port of the scheme, a slash at the end or a path.
    /// [`HttpPolicy::check`](super::HttpPolicy::check) finds what is no origin.
    pub fn allow(&mut self, origin: impl Into<String>) {
        if let Self::Listed { origins, .. } = self {
            origins.insert(origin.into().to_ascii_lowercase());
        }
    }

    /// Lets pages of one more host in, whatever their scheme; without a port every port is meant.
    pub fn allow_host(&mut self, host: &str) {
        if let Self::Listed { hosts, .. } = self {
            hosts.insert(host.to_ascii_lowercase());
        }
    }

    pub(super) fn check(&self) -> Result<(), ApiMisuse> {
        match self {
            Self::Any => Ok(()),
            Self::Listed { hosts, origins } => {
                hosts.iter().try_for_each(|host| check_host(host))?;
                origins.iter().try_for_each(|origin| check_origin(origin))
            }
        }
    }

    /// Whether a page of `origin`, as sent, may ask. `null`, the origin of sandboxed pages, may only when
    /// every origin may.
    pub fn admit(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed { hosts, origins } => {
                let origin = origin.to_ascii_lowercase();
                if origins.contains(&origin) {
                    return true;
                }
                let Some(host) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
                else {
                    return false;
                };
                let Some(name) = without_port(host) else { return false };
                is_loopback(name) || hosts.contains(host) || hosts.contains(name)
            }
        }
    }
}

/// The name of `host:port`, and nothing for what is no host: stray characters after the name could smuggle a
/// loopback prefix past a later reader.
fn without_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(inner) => host.split_at(inner.find(']')? + 2),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:%".contains(&byte));
    (!name.is_empty() && plain && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

/// Whether it is a loopback name in its usual form.
fn is_usual(host: &str) -> bool {
    let port = ["127.0.0.1", "localhost"].iter().find_map(|name| host.strip_prefix(name));
    port.is_some_and(|rest| {
        rest.strip_prefix(':').map_or(rest.is_empty(), |port| port.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

pub(in crate::server) fn is_loopback(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        return inner.parse::<core::net::Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<core::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a name for `Host` is one, in lower case.
fn check_host(host: &str) -> Result<(), ApiMisuse> {
    let meant = host.split_once("://").map_or(host, |(_, rest)| rest);
    let meant = meant.split(['/', '?', '#']).next().unwrap_or_default();
    let why = if host.is_empty() {
        "it is empty; such as `mcp.example.com`"
    } else if host.contains('*') {
        "there are no patterns: allow each host by itself, or `Hosts::Any` where something in front checks it"
    } else if !host.is_ascii() {
        "clients send such names in their ASCII form, which begins with `xn--`"
    } else if meant != host && is_host(meant) {
        return Err(misfit(
            "host",
            "`allow_host`",
            host,
            &alloc::format!("a host alone is meant: `{meant}`"),
        ));
    } else if host.parse::<core::net::Ipv6Addr>().is_ok() {
        return Err(misfit(
            "host",
            "`allow_host`",
            host,
            &alloc::format!("it is sent in brackets: `[{host}]`"),
        ));
    } else if is_host(host) {
        return Ok(());
    } else {
        "expected a name or an address, and a port if only that is meant, such as `mcp.example.com:8000`"
    };
    Err(misfit("host", "`allow_host`", host, why))
}

/// Whether an origin is one, in lower case.
fn check_origin(origin: &str) -> Result<(), ApiMisuse> {
    let wrong = |why: &str| Err(misfit("origin", "`allow_origin`", origin, why));
    if origin.is_empty() {
        return wrong("it is empty; such as `https://app.example`");
    }
    if origin == "null" {
        return wrong("it stands for any page that has none, so only `Origins::Any` lets it in");
    }
    if origin.contains('*') {
        return wrong("there are no patterns: allow each origin by itself, or `Origins::Any`");
    }
    let Some((scheme, rest)) = origin.split_once("://") else {
        return match is_host(origin) {
            true => wrong(&alloc::format!("a scheme is missing: `https://{origin}`")),
            false => wrong("expected a scheme and a host, such as `https://app.example`"),
        };
    };
    let named = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !named || !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !is_host(host) {
        return wrong("expected a scheme and a host, such as `https://app.example`");
    }
    let bare = match scheme {
        "http" => host.strip_suffix(":80"),
        "https" => host.strip_suffix(":443"),
        _ => None,
    };
    match bare.unwrap_or(host) {
        sent if sent == rest => Ok(()),
        sent => wrong(&alloc::format!("browsers send it as `{scheme}://{sent}`")),
    }
}

fn is_host(text: &str) -> bool {
    without_port(text).is_some_and(|name| {
        let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let port = text.get(name.len()..).and_then(|rest| rest.strip_prefix(':'));
        port.is_none_or(|port| port.parse::<u16>().is_ok())
            && inner.map_or(!name.contains(['[', ']', '%']), |address| {
                address.parse::<core::net::Ipv6Addr>().is_ok()
            })
    })
}

fn misfit(what: &str, setting: &str, given: &str, why: &str) -> ApiMisuse {
    ApiMisuse::new(alloc::format!("{setting}: {given:?} is not the {what} of a request: {why}"))
}

/// Whom a request names that is not let in.
pub(in crate::server) struct Foreign {
    /// What the peer is told: which it is, cut short, or what is wrong with the field.
    pub(in crate::server) refusal: String,
    /// What people on this side are told, once, if a setting would let it in.
    pub(in crate::server) advice: Option<Diagnostic>,
}

impl Foreign {
    fn new(field: &str, value: &str, is_one: bool, setting: &str) -> Self {
        const SHOWN: usize = 80;
        let mut shown: String = value.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if value.chars().nth(SHOWN).is_some() {
            shown.push_str("...");
        }
        let advice = is_one.then(|| {
            let detail = alloc::format!(
                "a request with the `{field}` `{shown}` was refused; if it is one of yours, let it in by \
                 `{setting}(\"{shown}\")`"
            );
            Diagnostic::advice("http", detail)
        });
        Self { refusal: alloc::format!("the `{field}` `{shown}` is not allowed here"), advice }
    }

    fn bare(refusal: &str) -> Self {
        Self { refusal: refusal.into(), advice: None }
    }
}

/// Judges `Host`.
pub(in crate::server) fn admit_host(policy: &HttpPolicy, headers: &Headers) -> Result<(), Foreign> {
    let mut hosts = headers.all_of(Field::Host);
    let host = match (hosts.next(), hosts.next()) {
        (Some(_), None) => headers.text_of(Field::Host).unwrap_or("?"),
        (None, _) if policy.hosts == Hosts::Any => "",
        (None, _) => return Err(Foreign::bare("the `Host` header is missing")),
        (Some(_), Some(_)) => return Err(Foreign::bare("there is more than one `Host` header")),
    };
    match policy.hosts.admit(host) {
        true => Ok(()),
        false => Err(Foreign::new("Host", host, is_host(host), "Server::allow_host")),
    }
}

/// Judges `Origin` in the same way.
pub(in crate::server) fn admit_origin(policy: &HttpPolicy, headers: &Headers) -> Result<(), Foreign> {
    match headers.all_of(Field::Origin).find_map(|origin| {
        let origin = core::str::from_utf8(origin).unwrap_or("?").trim_matches([' ', '\t']);
        (!policy.origins.admit(origin)).then_some(origin)
    }) {
        Some(origin) => {
            let is_one = check_origin(&origin.to_ascii_lowercase()).is_ok();
            Err(Foreign::new("Origin", origin, is_one, "Server::allow_origin"))
        }
        None => Ok(()),
    }
}
