//! As much of URLs as naming a server needs.

use alloc::string::String;

/// An absolute `http` or `https` URL, in parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Url<'a> {
    scheme: &'a str,
    pub(super) authority: &'a str,
    /// With its slash at the front, or empty.
    pub(super) path: &'a str,
    has_more: bool,
}

impl<'a> Url<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\<>^`{|}".contains(&byte));
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let path_end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (path, more) = rest.split_at(path_end);
        (is_http && visible && !authority.is_empty()).then_some(Self {
            scheme,
            authority,
            path,
            has_more: !more.is_empty(),
        })
    }

    /// Whether it can name a server: complete, without anything that changes, and encrypted on the network.
    pub(super) fn is_usable(&self) -> bool {
        let named = !self.host().is_empty() && !self.authority.contains('@') && !self.has_more;
        named
            && (self.scheme.eq_ignore_ascii_case("https") || crate::server::policy::is_loopback(self.host()))
    }

    /// Scheme and authority.
    pub(super) fn origin(&self) -> String {
        alloc::format!("{}://{}", self.scheme.to_ascii_lowercase(), self.authority.to_ascii_lowercase())
    }

    fn host(&self) -> &'a str {
        match self.authority.find(']') {
            Some(end) => self.authority.get(..=end).unwrap_or(self.authority),
            None => self.authority.split(':').next().unwrap_or_default(),
        }
    }
}

/// The URL as it is compared: scheme and host in lower case, no port that goes without saying, and no path
/// instead of the empty one. `None` for what is no such URL, or has user, query or fragment.
pub(super) fn canonical(text: &str) -> Option<String> {
    let url = Url::parse(text).filter(|url| !url.has_more && !url.authority.contains('@'))?;
    let mut canonical = url.origin();
    let port = if url.scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    if let Some(without) = canonical.strip_suffix(port) {
        canonical.truncate(without.len());
    }
    if url.path != "/" {
        canonical.push_str(url.path);
    }
    Some(canonical)
}
