//! How parts of a document are called: `$id`, and what refers to one.
//!
//! RFC 3986, section 5, as far as names are compared and nothing is fetched.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// What comes before the fragment, and the fragment if there is one.
pub(super) fn split(uri: &str) -> (&str, Option<&str>) {
    uri.split_once('#').map_or((uri, None), |(document, fragment)| (document, Some(fragment)))
}

/// What `reference`, which has no fragment, means below `base`.
pub(super) fn join(base: &str, reference: &str) -> String {
    if scheme(reference) > 0 {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_at_checked(scheme(base)).unwrap_or_default();
    if reference.starts_with("//") {
        return [scheme, reference].concat();
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => rest.split_at(rest.len() - after.len() + after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    };
    let path = path.split('?').next().unwrap_or_default();
    if reference.is_empty() {
        return [scheme, authority, path].concat();
    }
    let folder = match path.rfind('/').and_then(|at| path.get(..=at)) {
        _ if reference.starts_with('/') => "",
        Some(folder) => folder,
        None if authority.is_empty() => "",
        None => "/",
    };
    [scheme, authority, &*plain(&[folder, reference].concat())].concat()
}

/// The length of the scheme and its colon; 0 when there is none.
fn scheme(uri: &str) -> usize {
    let of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    match uri.split_once(':') {
        Some((scheme, _))
            if scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(of_scheme) =>
        {
            scheme.len() + 1
        }
        _ => 0,
    }
}

/// A path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut rest = path.split('/').peekable();
    while let Some(segment) = rest.next() {
        let last = rest.peek().is_none();
        match segment {
            "." if last => segments.push(""),
            "." => {}
            ".." => {
                if segments.len() > 1 {
                    segments.pop();
                }
                if last {
                    segments.push("");
                }
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986, section 5.4, that have no query.
    #[test]
    fn names_are_read_from_where_they_stand() {
        let base = "http://a/b/c/d;p?q";
        for (reference, meant) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
        ] {
            assert_eq!(join(base, reference), meant, "{reference}");
        }
        for (base, reference, meant) in [
            ("", "item.json", "item.json"),
            ("http://a", "g", "http://a/g"),
            ("dir/a.json", "b.json", "dir/b.json"),
            ("urn:example:root", "urn:example:part", "urn:example:part"),
            ("urn:example:root", "part", "urn:part"),
        ] {
            assert_eq!(join(base, reference), meant, "{base} {reference}");
        }
    }
}
