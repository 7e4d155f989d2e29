use super::*;
use alloc::format;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// SEC-05 to SEC-07, SEC-09: the schemes are a list of two, and what is not strictly a URL is none.
#[test]
fn only_strict_http_urls_are_urls() {
    for text in [
        "",
        "as.example",
        "//as.example",
        "javascript:alert(1)",
        "javascript://as.example/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "ftp://as.example",
        "ws://as.example",
        "https:as.example",
        "https://",
        "https:///path",
        "https://user@as.example",
        "https://user:pass@as.example",
        "https://as.example#x",
        "https://as.example/a b",
        "https://as.example\\@evil.example",
        "https://as.example/a\\b",
        "https://as.example/?\"",
        "https://as.example/<x>",
        "https://as|example/",
        "https://as.{example}/",
        "https://as.example/\n",
        "https://as.ex\u{e4}mple",
        "https://as%2eexample",
        "https://as.example:0",
        "https://as.example:65536",
        "https://as.example:",
        "https://as.example:+1",
        "https://as.example.",
        "https://as..example",
        "https://[::1",
        "https://[::1]x",
        "https://[fe80::1%25eth0]",
        "https://::1",
    ] {
        assert!(Url::parse(text).is_err(), "{text:?}");
    }
    assert!(Url::parse(&format!("https://as.example/{}", "a".repeat(LONGEST))).is_err());
}

#[test]
fn a_url_is_kept_as_written_and_its_origin_normalised() {
    let it = url("HTTPS://AS.Example:443/Tenant/?a=b&c");
    assert_eq!(it.as_str(), "HTTPS://AS.Example:443/Tenant/?a=b&c");
    assert_eq!(it.origin(), "https://as.example");
    assert_eq!((it.host(), it.port(), it.path(), it.query()), ("as.example", 443, "/Tenant/", Some("a=b&c")));
    assert_eq!(it.target(), "/Tenant/?a=b&c");
    assert_eq!(url("http://h?x").target(), "/?x");
    assert_eq!(url("http://[::1]:8080/m").authority(), "[::1]:8080");
    assert_eq!(url("http://h:443").authority(), "h:443");
    assert!(it.is_same_origin(&url("https://as.example/other")));
    for other in ["http://as.example", "https://as.example:444", "https://as.example.evil.example"] {
        assert!(!it.is_same_origin(&url(other)), "{other}");
    }
}

/// What only RFC 3986 has escaped is written by servers all the same, and cannot be mistaken; browsers get it escaped.
#[test]
fn characters_that_nobody_mistakes_are_taken() {
    let it = url("https://as.example/{tenant}/a^b?connection=a|b&c=`");
    assert_eq!((it.path(), it.query()), ("/{tenant}/a^b", Some("connection=a|b&c=`")));
    assert_eq!(it.escaped(), "https://as.example/%7Btenant%7D/a%5Eb?connection=a%7Cb&c=%60");
}

/// SEC-03: literals in every spelling that a resolver could take for an address.
#[test]
fn literals_show_which_network_they_are_on() {
    for (host, network) in [
        ("as.example", Network::Public),
        ("8.8.8.8", Network::Public),
        ("[2606:4700::1111]", Network::Public),
        ("localhost", Network::Loopback),
        ("LOCALHOST", Network::Loopback),
        ("x.localhost", Network::Loopback),
        ("127.0.0.1", Network::Loopback),
        ("127.255.0.9", Network::Loopback),
        ("[::1]", Network::Loopback),
        ("[::ffff:127.0.0.1]", Network::Loopback),
        ("10.1.2.3", Network::Private),
        ("172.16.0.1", Network::Private),
        ("192.168.0.1", Network::Private),
        ("100.64.0.1", Network::Private),
        ("100.128.0.1", Network::Public),
        ("198.19.0.1", Network::Private),
        ("192.0.0.8", Network::Private),
        ("192.0.1.1", Network::Public),
        ("[2001::1]", Network::Unusable),
        ("[fd00::1]", Network::Private),
        ("[::ffff:10.0.0.1]", Network::Private),
        ("[64:ff9b::10.0.0.1]", Network::Private),
        ("[2002:0a00:0001::]", Network::Private),
        ("[::ffff:0:10.0.0.1]", Network::Private),
        ("169.254.169.254", Network::LinkLocal),
        ("[fe80::1]", Network::LinkLocal),
        ("[::ffff:169.254.169.254]", Network::LinkLocal),
        ("0.0.0.0", Network::Unusable),
        ("[::]", Network::Unusable),
        ("224.0.0.1", Network::Unusable),
        ("255.255.255.255", Network::Unusable),
        ("[ff02::1]", Network::Unusable),
    ] {
        assert_eq!(url(&format!("https://{host}/")).network(), network, "{host}");
    }
    for host in ["127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5"] {
        assert!(Url::parse(&format!("https://{host}/")).is_err(), "{host}");
    }
}

/// AUTH-66: a query may hold a code, so printing shows none.
#[test]
fn a_query_is_not_printed() {
    assert_eq!(format!("{:?}", url("https://h/cb?code=hush")), "https://h/cb?..");
}
