//! Which servers a flow may send requests to.
//!
//! <https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices#server-side-request-forgery-ssrf>

use super::config::Config;
use super::error::{Fault, FlowErrorKind};
use super::url::{Network, Url};
use crate::text::excerpt;

/// A URL that the application has configured.
pub(super) fn configured(config: &Config, text: &str, what: &'static str) -> Result<Url, Fault> {
    let url = read(text, what)?;
    if !is_encrypted(config, &url) {
        return Err(Fault::new(FlowErrorKind::Forbidden, what, "a URL without encryption")
            .setting("Config::allow_http"));
    }
    Ok(url)
}

/// A URL that a peer named, in a flow for this server (AUTH-42, SEC-01 to SEC-03, SEC-09).
pub(super) fn supplied(config: &Config, server: &Url, text: &str) -> Result<Url, Fault> {
    let url = read(text, "an absolute https URL")?;
    check(config, server, &url)?;
    Ok(url)
}

pub(super) fn check(config: &Config, server: &Url, url: &Url) -> Result<(), Fault> {
    let refuse = |expected: &'static str, found: &str| Fault::new(FlowErrorKind::Forbidden, expected, found);
    if url.is_same_origin(server) {
        return Ok(());
    }
    let network = url.network();
    let known = network == Network::Public || network == server.network();
    if !known || network == Network::Unusable {
        return Err(refuse(
            "a host on the public network, or on that of the server",
            "an address of another network",
        ));
    }
    if !is_encrypted(config, url) {
        return Err(refuse("an https URL", "one without encryption").setting("Config::allow_http"));
    }
    if let Some(hosts) = &config.hosts
        && !hosts.contains(url.host())
    {
        return Err(refuse("a host that is allowed", url.host()).setting("Config::only_hosts"));
    }
    Ok(())
}

fn is_encrypted(config: &Config, url: &Url) -> bool {
    url.is_https() || url.network() == Network::Loopback || config.allow_http
}

fn read(text: &str, what: &'static str) -> Result<Url, Fault> {
    Url::parse(text).map_err(|why| {
        let shown = excerpt(presentable(text));
        Fault::new(FlowErrorKind::Forbidden, what, alloc::format!("{why} (`{shown}`)"))
    })
}

/// A URL, or what was to be one, without what is not for errors: its query, and who logs in with what password.
fn presentable(text: &str) -> &str {
    let beginning = text.split(['?', '#']).next().unwrap_or_default();
    match beginning.rsplit_once('@') {
        Some((_, place)) => place,
        None => beginning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(config: &Config, server: &str, url: &str) -> bool {
        supplied(config, &Url::parse(server).unwrap(), url).is_ok()
    }

    /// AUTH-42, SEC-01 to SEC-03: what a peer names is public and encrypted, or where the server itself is.
    #[test]
    fn a_peer_names_no_host_of_another_network() {
        let config = Config::new("c");
        for (server, url, allowed) in [
            ("https://h.example/mcp", "https://as.example", true),
            ("https://h.example/mcp", "http://as.example", false),
            ("https://h.example/mcp", "https://127.0.0.1", false),
            ("https://h.example/mcp", "http://localhost:8080", false),
            ("https://h.example/mcp", "https://10.0.0.1", false),
            ("https://h.example/mcp", "https://169.254.169.254/latest/meta-data", false),
            ("https://h.example/mcp", "https://[::ffff:a9fe:a9fe]/", false),
            ("https://h.example/mcp", "https://0.0.0.0", false),
            ("https://h.example/mcp", "javascript:alert(1)", false),
            ("http://localhost:3000/mcp", "http://127.0.0.1:4000", true),
            ("http://localhost:3000/mcp", "https://as.example", true),
            ("http://localhost:3000/mcp", "http://as.example", false),
            ("http://localhost:3000/mcp", "https://10.0.0.1", false),
            ("https://10.0.0.5/mcp", "https://10.0.0.6", true),
            ("https://10.0.0.5/mcp", "http://10.0.0.6", false),
            ("https://10.0.0.5/mcp", "https://127.0.0.1", false),
            ("https://10.0.0.5/mcp", "https://169.254.169.254", false),
        ] {
            assert_eq!(is_allowed(&config, server, url), allowed, "{server} {url}");
        }
    }

    /// SEC-02: without encryption only behind a setting, which opens no other network.
    #[test]
    fn http_is_a_setting() {
        let config = Config::new("c").allow_http(true);
        assert!(is_allowed(&config, "http://h.example/mcp", "http://as.example"));
        assert!(!is_allowed(&config, "http://h.example/mcp", "http://10.0.0.1"));
        let fault = configured(&Config::new("c"), "http://h.example/mcp", "a URL").unwrap_err();
        assert_eq!(fault.setting, Some("Config::allow_http"));
    }

    /// SEC-09: the application may say which hosts there are.
    #[test]
    fn hosts_can_be_listed() {
        let config = Config::new("c").only_hosts(["AS.example"]);
        assert!(is_allowed(&config, "https://h.example/mcp", "https://as.example/x"));
        assert!(is_allowed(&config, "https://h.example/mcp", "https://h.example/x"));
        assert!(!is_allowed(&config, "https://h.example/mcp", "https://as.example.evil.example"));
    }
}
