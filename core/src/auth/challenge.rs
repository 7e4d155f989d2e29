//! Challenges as servers send them, read.
//!
//! A `WWW-Authenticate` field is a list of challenges, each with a list of parameters of its own, both separated
//! by commas; values may be quoted and hold commas. <https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1>

#[cfg(test)]
mod tests;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::Scopes;
use crate::head::{Headers, ResponseHead};

/// More challenges in one response, and more parameters in one challenge, are not read.
const CHALLENGES: usize = 16;
const PARAMETERS: usize = 32;
/// More scopes in one list are not read.
pub(super) const SCOPES: usize = 256;

/// One challenge: a scheme and what it says.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedChallenge {
    /// The scheme as it was sent: `Bearer`, `DPoP`, `Basic`, ...
    pub scheme: String,
    /// Names in lower case, and values. A name that is repeated is there once, with its first value.
    pub parameters: Vec<(String, String)>,
}

impl ReceivedChallenge {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }
}

/// Prints names only: some schemes send what is not for logs.
impl fmt::Debug for ReceivedChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scheme)?;
        f.debug_list().entries(self.parameters.iter().map(|(name, _)| name)).finish()
    }
}

/// All challenges of a response, in order. What is malformed ends its field; what came before it counts.
pub fn challenges(headers: &Headers) -> Vec<ReceivedChallenge> {
    let mut all = Vec::new();
    for field in headers.all("www-authenticate") {
        // Text that is not UTF-8 can only stand in quotes, where it is for people.
        Reader { rest: &String::from_utf8_lossy(field) }.read(&mut all);
    }
    all
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// RFC 9110, 11.2: what follows a comma is a parameter if there is an equals sign behind its name, and else
    /// the scheme of the next challenge.
    fn read(&mut self, all: &mut Vec<ReceivedChallenge>) -> Option<()> {
        let first = all.len();
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', ',']);
            let name = self.token()?;
            let spaced = self.rest.starts_with([' ', '\t']);
            self.skip_spaces();
            if all.len() > first && self.take('=') {
                self.skip_spaces();
                let value = self.value()?;
                self.list_ends()?;
                // There is one: `all` grew since.
                add(all.last_mut()?, &name, value);
            } else if all.len() < CHALLENGES {
                all.push(ReceivedChallenge { scheme: name, parameters: Vec::new() });
                if spaced {
                    self.skip_token68();
                }
                if !self.rest.is_empty() && !self.rest.starts_with(',') && !spaced {
                    return None;
                }
            } else {
                return None;
            }
        }
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, character: char) -> bool {
        let rest = self.rest.strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn token(&mut self) -> Option<String> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let end = self.rest.bytes().position(|byte| !is_token(byte)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!token.is_empty()).then(|| token.into())
    }

    fn value(&mut self) -> Option<String> {
        if !self.take('"') {
            // Not a token by the letter, but servers send URLs and scopes without quotes.
            let end = self.rest.find([',', ' ', '\t', '"']).unwrap_or(self.rest.len());
            let (value, rest) = self.rest.split_at(end);
            self.rest = rest;
            return (!value.is_empty()).then(|| value.into());
        }
        let mut value = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => value.push(characters.next()?),
                character => value.push(character),
            }
        }
        self.rest = characters.as_str();
        Some(value)
    }

    /// After a value comes a comma, or nothing.
    fn list_ends(&mut self) -> Option<()> {
        self.skip_spaces();
        (self.rest.is_empty() || self.rest.starts_with(',')).then_some(())
    }

    /// Some schemes send one value without a name. No token ends in the equals signs that it may end in, and a
    /// parameter has something behind its own.
    fn skip_token68(&mut self) {
        let is_token68 = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
        let end = self.rest.bytes().position(|byte| !is_token68(byte)).unwrap_or(self.rest.len());
        let rest = self.rest.split_at(end).1.trim_start_matches('=').trim_start_matches([' ', '\t']);
        if rest.is_empty() || rest.starts_with(',') {
            self.rest = rest;
        }
    }
}

fn add(challenge: &mut ReceivedChallenge, name: &str, value: String) {
    let name = name.to_ascii_lowercase();
    if challenge.parameters.len() < PARAMETERS && challenge.get(&name).is_none() {
        challenge.parameters.push((name, value));
    }
}

/// The scopes of a list that is separated by spaces; `None` when it names none. What cannot be a scope is left
/// out.
pub(super) fn scopes(text: &str) -> Option<Scopes> {
    let is_scope = |word: &&str| word.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'));
    let words = text.split(' ').filter(|word| !word.is_empty()).filter(is_scope).take(SCOPES);
    let scopes: BTreeSet<String> = words.map(Into::into).collect();
    (!scopes.is_empty()).then_some(scopes)
}

/// A server wants authorization: what its response says of it.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling>
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// 401, or 403 where other scopes would help.
    pub status: u16,
    /// The `error` of the challenge: `invalid_token`, `insufficient_scope`, ...
    pub error: Option<String>,
    /// The scopes that the request needs, where the challenge names some (AUTH-58).
    pub scopes: Option<Scopes>,
    /// Where the challenge says that the metadata of the protected resource is; not checked yet.
    pub resource_metadata: Option<String>,
    /// The nonce that the next DPoP proof has to hold.
    pub dpop_nonce: Option<String>,
}

impl Refusal {
    /// A refusal that says nothing else, such as one that is expected: for authorization ahead of a request.
    pub fn new() -> Self {
        Self { status: 401, error: None, scopes: None, resource_metadata: None, dpop_nonce: None }
    }

    /// Reads a response. `None` when authorization is not what it asks for: every 401 does, and a 403 whose
    /// challenge says `insufficient_scope` (AUTH-05, AUTH-62).
    pub fn read(head: &ResponseHead) -> Option<Self> {
        let all = challenges(&head.headers);
        let ours = || all.iter().filter(|challenge| challenge.is("Bearer") || challenge.is("DPoP"));
        let get = |name: &str| ours().find_map(|challenge| challenge.get(name)).map(String::from);
        let refusal = Self {
            status: head.status,
            error: get("error"),
            scopes: get("scope").as_deref().and_then(scopes),
            resource_metadata: get("resource_metadata"),
            dpop_nonce: nonce(&head.headers),
        };
        match head.status {
            401 => Some(refusal),
            403 if refusal.is_insufficient_scope() => Some(refusal),
            _ => None,
        }
    }

    /// Whether the token was good, and does not reach far enough.
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Whether the same request is to be sent again with a DPoP proof that holds
    /// [`dpop_nonce`](Self::dpop_nonce), and nothing else is wrong (RFC 9449, 9).
    pub fn wants_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce") && self.dpop_nonce.is_some()
    }
}

impl Default for Refusal {
    fn default() -> Self {
        Self::new()
    }
}

/// RFC 9449, 8.1: the nonce is one word of visible characters.
pub(super) fn nonce(headers: &Headers) -> Option<String> {
    let nonce = headers.text("dpop-nonce")?;
    let is_nonce = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
    (!nonce.is_empty() && nonce.len() <= 1024 && nonce.bytes().all(is_nonce)).then(|| nonce.into())
}
