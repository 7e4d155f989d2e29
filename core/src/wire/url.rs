//! URLs of `http` and `https`, taken apart. There is one way to read them, whoever names them; nothing is decoded and nothing
//! normalised. Which of them are of use where is for each reader to say.

/// An absolute URL, in parts that make up the whole text behind its `://`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) secure: bool,
    /// As it is written, with a user if there is one.
    pub(crate) authority: &'a str,
    /// With its slash at the front, or empty.
    pub(crate) path: &'a str,
    /// With its question mark at the front, or empty.
    pub(crate) query: &'a str,
    pub(crate) has_fragment: bool,
}

impl<'a> Parts<'a> {
    /// The error says what else it is.
    pub(crate) fn read(text: &'a str) -> Result<Self, &'static str> {
        let (scheme, rest) = text.split_once("://").ok_or("no absolute URL")?;
        let secure = scheme.eq_ignore_ascii_case("https");
        if !secure && !scheme.eq_ignore_ascii_case("http") {
            return Err("a scheme other than `https` and `http`");
        }
        let (rest, has_fragment) = match rest.split_once('#') {
            Some((rest, _)) => (rest, true),
            None => (rest, false),
        };
        let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = tail.split_at(tail.find('?').unwrap_or(tail.len()));
        Ok(Self { secure, authority, path, query, has_fragment })
    }

    pub(crate) fn has_user(&self) -> bool {
        self.authority.contains('@')
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// The host, with the brackets of an IPv6 address, and what is written behind its colon.
    pub(crate) fn host(&self) -> (&'a str, Option<&'a str>) {
        split_port(self.authority)
    }
}

/// A host, with the brackets of an IPv6 address, and what is written behind its colon; what follows brackets otherwise is part of
/// the host, which is none then.
pub(crate) fn split_port(authority: &str) -> (&str, Option<&str>) {
    let from = authority.find(']').unwrap_or(0);
    match authority.get(from..).and_then(|rest| rest.find(':')) {
        Some(at) => {
            let (host, port) = authority.split_at(from + at);
            (host, port.strip_prefix(':'))
        }
        None => (authority, None),
    }
}

/// Whether a text has only characters that are read in one way. RFC 3986 has others escaped that servers and clients write all the
/// same, and nobody mistakes: `^`, `` ` ``, `{`, `|` and `}`. A backslash is a slash to browsers.
pub(crate) fn is_clear(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\'))
}

/// Whether there is a character besides that only those escape who keep to RFC 3986.
pub(crate) fn is_loose(byte: u8) -> bool {
    matches!(byte, b'^' | b'`' | b'{' | b'|' | b'}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_parts() {
        for (text, secure, authority, path, query, has_fragment) in [
            ("https://h.example/a/b?c=d/e?f#g?h", true, "h.example", "/a/b", "?c=d/e?f", true),
            ("HTTP://u:p@h:1", false, "u:p@h:1", "", "", false),
            ("http://[::1]:80?x", false, "[::1]:80", "", "?x", false),
            ("https://#/@x", true, "", "", "", true),
            ("http://h/a://b", false, "h", "/a://b", "", false),
        ] {
            let parts = Parts { secure, authority, path, query, has_fragment };
            assert_eq!(Parts::read(text), Ok(parts), "{text}");
        }
        for text in ["", "h.example/mcp", "//h", "mailto:x", "ftp://h", "://h", "http:/h"] {
            assert!(Parts::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ports_follow_hosts() {
        for (authority, host, port) in [
            ("h", "h", None),
            ("h:1", "h", Some("1")),
            ("h:", "h", Some("")),
            ("[::1]", "[::1]", None),
            ("[::1]:1", "[::1]", Some("1")),
            ("[::1]x:1", "[::1]x", Some("1")),
            ("::1", "", Some(":1")),
            ("", "", None),
        ] {
            assert_eq!(split_port(authority), (host, port), "{authority}");
        }
    }
}
