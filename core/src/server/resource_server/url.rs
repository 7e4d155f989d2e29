//! As much of URLs as naming a server needs.

use alloc::string::String;

use crate::wire::url::{Parts, is_clear, is_loose};

/// The URL of a server. What every client has to read is strict.
pub(super) fn parse(text: &str) -> Option<Parts<'_>> {
    let is_strict = is_clear(text) && !text.bytes().any(is_loose);
    Parts::read(text).ok().filter(|url| is_strict && !url.authority.is_empty())
}

/// Whether it can name a server: complete, without anything that changes, and encrypted on the network.
pub(super) fn is_usable(url: &Parts<'_>) -> bool {
    let (host, _) = url.host();
    !host.is_empty() && is_bare(url) && (url.secure || crate::server::policy::is_loopback(host))
}

fn is_bare(url: &Parts<'_>) -> bool {
    !url.has_user() && url.query.is_empty() && !url.has_fragment
}

/// Scheme and authority.
pub(super) fn origin(url: &Parts<'_>) -> String {
    alloc::format!("{}://{}", url.scheme(), url.authority.to_ascii_lowercase())
}

/// The URL as it is compared: scheme and host in lower case, no port that goes without saying, and no path
/// instead of the empty one. `None` for what is no such URL, or has user, query or fragment.
pub(super) fn canonical(text: &str) -> Option<String> {
    let url = parse(text).filter(is_bare)?;
    let mut canonical = origin(&url);
    let port = if url.secure { ":443" } else { ":80" };
    if let Some(without) = canonical.strip_suffix(port) {
        canonical.truncate(without.len());
    }
    if url.path != "/" {
        canonical.push_str(url.path);
    }
    Some(canonical)
}
