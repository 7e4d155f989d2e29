//! Challenges that ask for an access token, written.
//!
//! <https://www.rfc-editor.org/rfc/rfc6750#section-3>, <https://www.rfc-editor.org/rfc/rfc9728#section-5.1>

use alloc::string::String;

/// The value of a `WWW-Authenticate` field with the scheme `Bearer`.
///
/// ```
/// use mcp_proto::wire::challenge::Challenge;
///
/// let challenge = Challenge::new().error("invalid_token").scopes(["tools:read", "tools:call"]);
/// assert_eq!(challenge.to_string(), r#"Bearer error="invalid_token", scope="tools:read tools:call""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    value: String,
}

impl Default for Challenge {
    fn default() -> Self {
        Self::new()
    }
}

impl Challenge {
    /// A challenge that says nothing but that a token is needed.
    pub fn new() -> Self {
        Self { value: "Bearer".into() }
    }

    /// What was wrong with the request: `invalid_request`, `invalid_token`, `insufficient_scope`. Nothing is
    /// said to one that came without credentials.
    #[must_use]
    pub fn error(self, error: &str) -> Self {
        self.parameter("error", [error])
    }

    /// The same for people; constant text.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        self.parameter("error_description", [text])
    }

    /// The scopes that the request needs; none are not mentioned.
    #[must_use]
    pub fn scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        let mut scopes = scopes.into_iter().peekable();
        if scopes.peek().is_some() { self.parameter("scope", scopes) } else { self }
    }

    /// Where the metadata of the protected resource is served.
    #[must_use]
    pub fn resource_metadata(self, url: &str) -> Self {
        self.parameter("resource_metadata", [url])
    }

    /// Appends a quoted parameter, its words separated by spaces. What cannot be quoted is left out: no header
    /// may hold it.
    fn parameter<'a>(mut self, name: &str, words: impl IntoIterator<Item = &'a str>) -> Self {
        let first = self.value.len() == "Bearer".len();
        self.value.push_str(if first { " " } else { ", " });
        self.value.push_str(name);
        self.value.push_str("=\"");
        for (place, word) in words.into_iter().enumerate() {
            if place > 0 {
                self.value.push(' ');
            }
            for letter in word.chars().filter(|letter| matches!(letter, ' '..='~')) {
                if matches!(letter, '"' | '\\') {
                    self.value.push('\\');
                }
                self.value.push(letter);
            }
        }
        self.value.push('"');
        self
    }
}

impl core::fmt::Display for Challenge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// AUTHS-03, AUTHS-05, AUTHS-14
    #[test]
    fn a_challenge_is_written_as_the_specification_shows_it() {
        let challenge = Challenge::new()
            .resource_metadata("https://mcp.example.com/.well-known/oauth-protected-resource")
            .scopes(["files:read"]);
        let text = r#"Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource", scope="files:read""#;
        assert_eq!(challenge.to_string(), text);
        assert_eq!(Challenge::new().scopes([]).to_string(), "Bearer");
    }

    /// SEC-09: no value breaks out of its quotes, or out of its header.
    #[test]
    fn values_stay_within_their_quotes() {
        let challenge =
            Challenge::new().error("a\"b").description("c\\d\r\nX: e\u{e9}\t\u{7f}").scopes(["\""]);
        assert_eq!(challenge.to_string(), r#"Bearer error="a\"b", error_description="c\\dX: e", scope="\"""#);
    }
}
