//! Where a server is, and how it is reached.

use std::fmt;

use mcp_proto::error::ApiMisuse;
#[cfg(feature = "http")]
use mcp_proto::{client::Endpoint, head::Headers};

use super::words;
use crate::process::Command;

/// Where a server is: made from a string, from a [`Command`], or by a file such as desktop hosts keep
/// ([`ServerFile`](super::ServerFile)).
///
/// A string is one of
///
/// | it looks like | it is |
/// |---|---|
/// | `https://example.com/mcp` | a URL: what is spoken there is found out |
/// | `http://localhost:8000/sse` | a URL, where HTTP with SSE is tried first, because that is what the name says |
/// | `stdio://npx -y some-server /home` | a command line |
/// | `npx -y some-server "/home/me/my files"` | a command line |
///
/// A command line is split at spaces; quotes and backslashes mean what they mean in a shell. No shell is run: what only a
/// shell would understand (`|`, `>`, `$NAME`, `~/`) is refused.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A program, to be started as a child process.
    Command(Command),
    /// A URL.
    #[cfg(feature = "http")]
    Url(UrlTarget),
}

/// A server with a URL.
#[cfg(feature = "http")]
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlTarget {
    /// The URL.
    pub url: String,
    /// Which transport is spoken there. Default [`UrlKind::Auto`].
    pub kind: UrlKind,
    /// More fields for every request, such as `Authorization`, besides those of the builder.
    pub headers: Headers,
}

/// Which transport is spoken at a URL.
#[cfg(feature = "http")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlKind {
    /// Streamable HTTP, else HTTP with SSE; the other way round where the path ends in `/sse`.
    #[default]
    Auto,
    /// Streamable HTTP, and where that is refused HTTP with SSE.
    Http,
    /// HTTP with SSE, the transport of 2024-11-05, and nothing else.
    Sse,
}

#[cfg(feature = "http")]
impl UrlTarget {
    /// A server at this URL, whatever it speaks.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), kind: UrlKind::Auto, headers: Headers::new() }
    }

    /// Sets which transport is spoken there.
    #[must_use]
    pub fn kind(mut self, kind: UrlKind) -> Self {
        self.kind = kind;
        self
    }

    /// Adds a field to every request.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Whether the name of the path says that HTTP with SSE is spoken.
    pub(super) fn is_named_sse(&self) -> bool {
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        path.strip_suffix('/').unwrap_or(path).ends_with("/sse")
    }
}

/// A server as people write it down.
///
/// # Errors
/// When it is empty, a URL that nothing here speaks, or a command line that only a shell would understand.
impl TryFrom<&str> for Target {
    type Error = ApiMisuse;

    fn try_from(text: &str) -> Result<Self, ApiMisuse> {
        let text = text.trim();
        let line = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("stdio") => rest,
            #[cfg(feature = "http")]
            Some((scheme, _)) if ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => {
                Endpoint::parse(text)?;
                return Ok(Self::Url(UrlTarget::new(text)));
            }
            Some((scheme, _))
                if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                let what = format!(
                    "a server is reached by a command line, `stdio://`, `http://` or `https://` (feature `http`), not by \
                     `{scheme}://`"
                );
                return Err(ApiMisuse::new(what));
            }
            _ => text,
        };
        let mut words = words::split(line)?.into_iter();
        match words.next() {
            Some(place) if words.len() == 0 && is_place(&place) => {
                // The query may hold a secret.
                let place = place.split(['?', '#']).next().unwrap_or_default();
                let path = if place.contains('/') { "" } else { "/mcp" };
                Err(ApiMisuse::new(format!(
                    "a URL begins with `http://` or `https://`: did you mean `http://{place}{path}`?"
                )))
            }
            Some(program) if !program.is_empty() => Ok(Self::Command(Command::new(program).args(words))),
            _ => Err(ApiMisuse::new("expected a URL or a command line, found nothing")),
        }
    }
}

/// Whether a word looks like host and port of a URL, and not like a program.
fn is_place(word: &str) -> bool {
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains(['\\', '@']) && port.parse::<u16>().is_ok()
    })
}

impl TryFrom<String> for Target {
    type Error = ApiMisuse;

    fn try_from(text: String) -> Result<Self, ApiMisuse> {
        Self::try_from(&*text)
    }
}

impl TryFrom<&String> for Target {
    type Error = ApiMisuse;

    fn try_from(text: &String) -> Result<Self, ApiMisuse> {
        Self::try_from(&**text)
    }
}

impl std::str::FromStr for Target {
    type Err = ApiMisuse;

    fn from_str(text: &str) -> Result<Self, ApiMisuse> {
        Self::try_from(text)
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

#[cfg(feature = "http")]
impl From<UrlTarget> for Target {
    fn from(target: UrlTarget) -> Self {
        Self::Url(target)
    }
}

impl From<&Self> for Target {
    fn from(target: &Self) -> Self {
        target.clone()
    }
}

/// Prints the program, or the URL without its query: arguments, environment and fields may hold secrets.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => command.fmt(f),
            #[cfg(feature = "http")]
            Self::Url(target) => target.fmt(f),
        }
    }
}

/// Prints the URL without its query, which may be a secret.
#[cfg(feature = "http")]
impl fmt::Debug for UrlTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut print = f.debug_struct("UrlTarget");
        match Endpoint::parse(&self.url) {
            Ok(url) => print.field("url", &url),
            Err(_) => print.field("url", &format_args!("none")),
        };
        print.field("kind", &self.kind).field("headers", &self.headers).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Command {
        match Target::try_from(text) {
            Ok(Target::Command(command)) => command,
            other => panic!("{other:?}"),
        }
    }

    /// One string is enough to say where a server is.
    #[test]
    fn a_string_says_how_a_server_is_reached() {
        let expected = Command::new("npx").args(["-y", "files", "/my home"]);
        for text in [
            "npx -y files '/my home'",
            "stdio://npx -y files \"/my home\"",
            " STDIO://npx -y files '/my home' ",
        ] {
            assert_eq!(command(text), expected, "{text}");
        }
        assert_eq!(command("./server"), Command::new("./server"));
        assert_eq!(command("server --url http://h/"), Command::new("server").args(["--url", "http://h/"]));
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_url_may_say_by_its_path_that_it_is_old() {
        for (url, old) in [
            ("http://h/mcp", false),
            ("HTTPS://h/", false),
            ("http://h/sse", true),
            ("http://h/a/sse/?x=1", true),
            ("http://h/x?y=/sse", false),
            ("http://h/expresse", false),
        ] {
            match Target::try_from(url) {
                Ok(Target::Url(target)) => assert_eq!((&*target.url, target.is_named_sse()), (url, old)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for text in ["", "  ", "stdio://", "ws://h/mcp", "''", "http://", "http://u:p@h/", "a | b"] {
            assert!(Target::try_from(text).is_err(), "{text:?}");
        }
    }

    /// A URL without its scheme is no program.
    #[test]
    fn a_url_without_its_scheme_is_told_what_it_lacks() {
        for (text, meant) in [
            ("127.0.0.1:8000", "`http://127.0.0.1:8000/mcp`"),
            ("localhost:8000/mcp?key=s3cret", "`http://localhost:8000/mcp`"),
            ("[::1]:80/", "`http://[::1]:80/`"),
        ] {
            let error = Target::try_from(text).unwrap_err().to_string();
            assert!(error.contains(meant) && !error.contains("s3cret"), "{error}");
        }
        for program in ["./a:80", "/opt/a:80", "a:b", ":80", "C:\\a", "user@host:22", "server:1 --verbose"] {
            assert!(matches!(Target::try_from(program), Ok(Target::Command(_))), "{program}");
        }
    }

    /// Arguments, query and header fields may be secrets.
    #[test]
    fn secrets_are_not_printed() {
        let text = format!("{:?}", Target::try_from("server --token s3cret").unwrap());
        assert!(text.contains("server") && !text.contains("s3cret"));
        #[cfg(feature = "http")]
        {
            let target = UrlTarget::new("https://h.example/mcp?key=s3cret").header("Authorization", "s3cret");
            let text = format!("{:?}", Target::from(target));
            assert!(text.contains("h.example/mcp") && !text.contains("s3cret"), "{text}");
        }
    }
}
