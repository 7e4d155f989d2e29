use super::*;
use crate::server::token::Grant;
use crate::time::{Duration, Instant, Now};
use alloc::format;

const RESOURCE: &str = "https://mcp.example.com/mcp";
const ISSUER: &str = "https://auth.example.com";

fn server() -> ResourceServer {
    ResourceServer::new(RESOURCE).authorization_server(ISSUER)
}

fn now() -> Now {
    Now::new(Instant::ZERO, Duration::from_secs(1_000))
}

fn ada() -> Principal {
    Principal::new("ada").scopes(["write"])
}

/// AUTHS-01, AUTHS-02, AUTHS-18
#[test]
fn the_metadata_names_resource_and_authorization_servers() {
    let plain = r#"{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],"bearer_methods_supported":["header"]}"#;
    assert_eq!(server().metadata(), plain);
    let full = server()
        .authorization_server("https://other.example/tenant")
        .scopes(["b", "a", "offline_access"])
        .further_scopes(["offline_access", "c"])
        .name("Spokes")
        .documentation("https://example.com/docs");
    assert_eq!(
        full.metadata(),
        r#"{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com","https://other.example/tenant"],"scopes_supported":["a","b","c"],"bearer_methods_supported":["header"],"resource_name":"Spokes","resource_documentation":"https://example.com/docs"}"#
    );
}

/// AUTHS-03: RFC 9728, 3.1.
#[test]
fn the_metadata_is_found_below_the_well_known_path() {
    let root = "https://mcp.example.com/.well-known/oauth-protected-resource";
    for (resource, url) in [
        (RESOURCE, format!("{root}/mcp")),
        ("https://MCP.example.com", root.into()),
        ("https://mcp.example.com/", root.into()),
        ("https://mcp.example.com/a/b/", format!("{root}/a/b")),
        ("http://127.0.0.1:80/x", "http://127.0.0.1:80/.well-known/oauth-protected-resource/x".into()),
    ] {
        assert_eq!(ResourceServer::new(resource).metadata_url(), url);
    }
    for (path, served) in [
        ("/.well-known/oauth-protected-resource", true),
        ("/.well-known/oauth-protected-resource/mcp", true),
        ("/.well-known/oauth-protected-resource/", false),
        ("/.well-known/oauth-protected-resource/mcp/", false),
        ("/.well-known/oauth-protected-resource/other", false),
        ("/.well-known/oauth-protected-resourcemcp", false),
        ("/mcp", false),
    ] {
        assert_eq!(server().serves_metadata_at(path), served, "{path}");
    }
}

/// AUTH-12, AUTHS-01, AUTHS-03: what is served beside the resource has metadata of its own, and takes tokens of both.
#[test]
fn a_path_beside_the_resource_is_one_of_its_own() {
    for (resource, path, own) in [
        (RESOURCE, "/mcp", None),
        (RESOURCE, "/mcp/sse", None),
        ("https://mcp.example.com", "/sse", None),
        ("https://mcp.example.com/", "/sse", None),
        (RESOURCE, "/sse", Some("https://mcp.example.com/sse")),
        (RESOURCE, "/mcpsse", Some("https://mcp.example.com/mcpsse")),
    ] {
        let server = ResourceServer::new(resource).authorization_server(ISSUER).scopes(["use"]);
        let there = server.at(path);
        assert_eq!(there.resource(), own.unwrap_or(resource), "{path}");
        let takes = |place: Place<'_>, audience: &str| {
            place.admit(now(), Grant::new(ada()).audience(audience)).is_ok()
        };
        assert!(takes(there, &there.resource()) && takes(there, resource));
        assert!(own.is_none_or(|own| !takes(server.here(), own)), "{path}");
        assert!(there.metadata().contains(&format!("\"resource\":\"{}\"", there.resource())), "{path}");
    }
}

/// AUTHS-08, AUTHS-09, AUTHS-10, SEC-16: a token is for whom it names, compared as URLs are.
#[test]
fn a_token_for_somebody_else_is_not_valid() {
    let known = server().audience("api://spokes");
    for (audience, admitted) in [
        (RESOURCE, true),
        ("HTTPS://MCP.Example.com/mcp", true),
        ("https://mcp.example.com:443/mcp", true),
        ("api://spokes", true),
        ("https://mcp.example.com", false),
        ("https://mcp.example.com/", false),
        ("https://mcp.example.com/mcp/", false),
        ("https://mcp.example.com/MCP", false),
        ("https://mcp.example.com:8443/mcp", false),
        ("http://mcp.example.com/mcp", false),
        ("https://mcp.example.com/mcp?x", false),
        ("https://mcp.example.com/mcp#x", false),
        ("https://mcp.example.com@evil.example/mcp", false),
        ("https://u@mcp.example.com/mcp", false),
        ("https://mcp.example.com.evil.example/mcp", false),
        ("api://other", false),
        ("", false),
    ] {
        let one =
            known.here().admit(now(), Grant::new(ada()).audience("https://first.example").audience(audience));
        assert_eq!(one.is_ok(), admitted, "{audience}");
    }
    assert_eq!(known.here().admit(now(), Grant::new(ada())), Err(AuthRefusal::Invalid));
    assert!(known.here().admit(now(), Grant::new(ada()).audience_checked()).is_ok());
    let root = ResourceServer::new("https://mcp.example.com/");
    assert!(root.here().admit(now(), Grant::new(ada()).audience("https://mcp.example.com")).is_ok());
}

/// AUTHS-12: the moment at which a token ends is its first one without.
#[test]
fn a_token_that_has_ended_is_not_valid() {
    let grant = |seconds| Grant::new(ada()).audience_checked().expires(Duration::from_secs(seconds));
    assert!(server().here().admit(now(), grant(1_001)).is_ok());
    assert_eq!(server().here().admit(now(), grant(1_000)), Err(AuthRefusal::Invalid));
}

/// AUTHS-17: through any number of steps, in circles, too.
#[test]
fn broader_scopes_count_as_narrower_ones() {
    let server =
        server().implies("admin", ["write", "audit"]).implies("write", ["read"]).implies("read", ["write"]);
    let scopes = |scope: &str| {
        let grant = Grant::new(Principal::new("ada").scopes([scope])).audience_checked();
        server.here().admit(now(), grant).unwrap().scopes.iter().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(scopes("admin"), "admin audit read write");
    assert_eq!(scopes("read"), "read write");
    assert_eq!(scopes("audit"), "audit");
}

#[test]
fn what_cannot_be_used_is_refused_at_definition() {
    assert_eq!(server().check(), Ok(()));
    assert_eq!(ResourceServer::new("http://[::1]:8080/mcp").authorization_server(ISSUER).check(), Ok(()));
    assert!(ResourceServer::new(RESOURCE).check().is_err(), "no authorization server");
    for url in [
        "mcp.example.com",
        "http://mcp.example.com/mcp",
        "https://mcp.example.com/mcp#x",
        "https://mcp.example.com/mcp?x",
        "https://u@mcp.example.com/mcp",
        "https://",
        "https://:443/",
        "ftp://mcp.example.com",
        "https://mcp.example.com/\"",
        "https://mcp.example.com/ x",
    ] {
        assert!(ResourceServer::new(url).authorization_server(ISSUER).check().is_err(), "{url}");
        assert!(server().authorization_server(url).check().is_err(), "{url}");
    }
    for scope in ["", "a b", "a\"", "a\\", "\u{e9}"] {
        assert!(server().scopes([scope]).check().is_err(), "{scope:?}");
        assert!(server().implies("a", [scope]).check().is_err(), "{scope:?}");
        assert!(server().implies(scope, ["a"]).check().is_err(), "{scope:?}");
    }
}
