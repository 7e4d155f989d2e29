use super::*;
use alloc::string::ToString;
use alloc::vec;

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap()
}

/// The variables with a value, as `name=value`, separated by spaces.
fn values(text: &str, uri: &str) -> Option<String> {
    let template = template(text);
    let values = template.values(uri)?;
    assert_eq!(values.len(), template.names().count());
    let known = template.names().zip(values).filter_map(|(name, value)| Some((name, value?)));
    Some(known.map(|(name, value)| alloc::format!("{name}={value}")).collect::<Vec<_>>().join(" "))
}

/// RES-09
#[test]
fn a_variable_takes_a_segment_or_a_part_of_one() {
    for (text, uri, expected) in [
        ("test://template/{id}/data", "test://template/123/data", Some("id=123")),
        ("test://template/{id}/data", "test://template/123", None),
        ("test://template/{id}/data", "test://template/1/2/data", None),
        ("test://template/{id}/data", "test://template//data", None),
        ("test://template/{id}/data", "test://template/123/data/", None),
        ("test://template/{id}/data", "other://template/123/data", None),
        ("mail:{who}", "mail:a@b.c", Some("who=a@b.c")),
        ("mail:{who}", "mail:a?b", None),
        ("mail:{who}", "mail:a#b", None),
        ("x:{a}-{b}.txt", "x:1-2-3.txt", Some("a=1 b=2-3")),
        ("x:{a}-{b}-end", "x:1-end-end", Some("a=1 b=end")),
        ("x:{a}-{b}", "x:1-", None),
        ("x:{a}-{b}", "x:-1", None),
        ("x:{a}-{b}", "x:--1", Some("a=- b=1")),
        ("x:{a}/x{b}/y", "x:1/x2/x3/y", None),
        ("x:{a}aa{b}", "x:1aaa", Some("a=1 b=a")),
        ("{scheme}://x", "http://x", Some("scheme=http")),
    ] {
        assert_eq!(values(text, uri).as_deref(), expected, "{text} {uri}");
    }
}

/// RES-19
#[test]
fn values_are_decoded_once_and_never_leave_their_segment() {
    let file = |uri: &str| values("file:///{name}", uri);
    assert_eq!(file("file:///a%20b").as_deref(), Some("name=a b"));
    assert_eq!(file("file:///%252e%252e").as_deref(), Some("name=%2e%2e"));
    assert_eq!(file("file:///..a..").as_deref(), Some("name=..a.."));
    for uri in [
        "file:///a/b",
        "file:///a%2Fb",
        "file:///..",
        "file:///%2e%2E",
        "file:///..%5Csecret",
        "file:///a%5c..",
        "file:///%2F..%2F",
        "file:///%ff",
        "file:///%2",
    ] {
        assert_eq!(file(uri), None, "{uri}");
    }
}

/// B63
#[test]
fn a_query_comes_in_any_order_or_not_at_all() {
    for (uri, expected) in [
        ("dom://7", Some("id=7")),
        ("dom://7?text=1", Some("id=7 text=1")),
        ("dom://7?text=1&sel=a%26b", Some("id=7 sel=a&b text=1")),
        ("dom://7?other=1", Some("id=7")),
        ("dom://7?", Some("id=7")),
        ("dom://7?sel", Some("id=7 sel=")),
        ("dom://7?sel=a/b&sel=c", Some("id=7 sel=a/b")),
        ("dom://7?sel=a=b?c", Some("id=7 sel=a=b?c")),
        ("dom://7?sel=%zz", None),
        ("dom://7?sel=1#f", None),
        ("dom://?sel=1", None),
    ] {
        assert_eq!(values("dom://{id}{?sel,text}", uri).as_deref(), expected, "{uri}");
    }
    assert_eq!(values("list://all{?page}", "list://all?page=2").as_deref(), Some("page=2"));
    assert_eq!(values("list://all{?page}", "list://al"), None);
    assert_eq!(values("list://all{?page}", "list://all/"), None);
}

#[test]
fn what_cannot_be_understood_is_refused_with_a_reason() {
    for (text, reason) in [
        ("x://y", "add it as a resource"),
        ("x:{a", "not closed"),
        ("x:a}", "closes nothing"),
        ("x:{}", "not understood"),
        ("x:{+path}", "`{+path}` is not understood"),
        ("x:{a*}", "`{a*}` is not understood"),
        ("x:{a,b}", "not understood"),
        ("x:{a{b}}", "closes nothing"),
        ("x:{?}", "not understood"),
        ("x:{a}{b}", "something between them"),
        ("x:{a}/{a}", "there twice"),
        ("x:{a}{?b,a}", "there twice"),
        ("x:{?a}/b", "nothing may follow"),
        ("x:{?a}{b}", "nothing may follow"),
        ("x:{?a}{?b}", "nothing may follow"),
        ("x:y?z={a}{?b}", "before `{?...}`"),
        ("{a}/b", "not a URI"),
        ("x y:{a}", "not a URI"),
    ] {
        let refused = UriTemplate::parse(text).unwrap_err();
        assert!(refused.contains(reason), "{text}: {refused}");
    }
}

/// What a variable takes is what makes the URI again, whatever is put in.
#[test]
fn values_that_made_a_uri_are_found_in_it() {
    let template = template("x:{a}-{b}/{c}{?d}");
    for value in ["1", "e1", "%20", "\u{e9}", "a b", "100%"] {
        let escaped: String = value.bytes().fold(String::new(), |mut out, byte| {
            if byte.is_ascii_alphanumeric() {
                out.push(char::from(byte));
            } else {
                out.push_str(&alloc::format!("%{byte:02X}"));
            }
            out
        });
        let uri = alloc::format!("x:{escaped}-{escaped}/{escaped}?d={escaped}");
        let found = Some(value.to_string());
        assert_eq!(template.values(&uri), Some(vec![found.clone(), found.clone(), found.clone(), found]));
    }
}

/// RES-18: the matcher looks at each byte a bounded number of times: what makes a backtracking one hang is quick.
#[test]
fn matching_does_not_go_back() {
    let mut text = String::from("x:");
    for name in 0..50 {
        text.push_str(&alloc::format!("{{v{name}}}a"));
    }
    let uri = alloc::format!("x:{}b", "a".repeat(1 << 20));
    assert_eq!(template(&text).values(&uri), None);
}
