//! The entry of one server.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::ServerFileError;
use super::expand::expand;
use crate::client::target::Target;
#[cfg(feature = "http")]
use crate::client::target::{UrlKind, UrlTarget};
use crate::process::Command;

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where a server is, and whether it is disabled.
pub(super) fn read(entry: &RawValue, lookup: Lookup<'_>) -> (Result<Target, ServerFileError>, bool) {
    match Entry::new(entry, lookup) {
        Ok(entry) => match entry.disabled() {
            Ok(disabled) => (entry.target(), disabled),
            Err(error) => (Err(error), false),
        },
        Err(error) => (Err(error), false),
    }
}

struct Entry<'a> {
    members: Members,
    lookup: Lookup<'a>,
}

impl<'a> Entry<'a> {
    fn new(entry: &RawValue, lookup: Lookup<'a>) -> Result<Self, ServerFileError> {
        let members = Members::read(entry).map_err(|found| expected("an object", found))?;
        Ok(Self { members, lookup })
    }

    fn disabled(&self) -> Result<bool, ServerFileError> {
        match self.members.get("disabled") {
            None => Ok(false),
            Some(value) => serde_json::from_str(value.get())
                .map_err(|_| expected("true or false", Kind::of(value)).field("disabled")),
        }
    }

    fn target(&self) -> Result<Target, ServerFileError> {
        let kind = match self.members.get("type") {
            Some(kind) => Some(text(kind, "type")?),
            None => None,
        };
        let (command, url) = (self.members.get("command").is_some(), self.members.get("url").is_some());
        match (kind.as_deref(), command, url) {
            (Some("stdio") | None, true, false) => self.command().map(Target::Command),
            (Some("stdio"), false, _) => {
                Err(ServerFileError::new("expected it for `stdio`, found none").field("command"))
            }
            (None, true, true) => {
                Err(ServerFileError::new("expected `command` or `url`, found both, and no `type`")
                    .field("type"))
            }
            (None, false, false) => Err(ServerFileError::new("expected `command` or `url`, found neither")),
            #[cfg(feature = "http")]
            (Some("http" | "streamable-http" | "streamable_http" | "streamableHttp"), ..) => {
                self.url(UrlKind::Http)
            }
            #[cfg(feature = "http")]
            (Some("sse"), ..) => self.url(UrlKind::Sse),
            #[cfg(feature = "http")]
            (None, false, true) => self.url(UrlKind::Auto),
            #[cfg(not(feature = "http"))]
            (Some("http" | "streamable-http" | "streamable_http" | "streamableHttp" | "sse") | None, ..) => {
                Err(ServerFileError::new("servers with a URL need the feature `http`").field("url"))
            }
            (Some("stdio"), true, true) => self.command().map(Target::Command),
            (Some(_), ..) => {
                let problem = "expected `stdio`, `http`, `streamable-http` or `sse`, found another type";
                Err(ServerFileError::new(problem).field("type"))
            }
        }
    }

    fn command(&self) -> Result<Command, ServerFileError> {
        if self.members.get("envFile").is_some() {
            return Err(ServerFileError::new("is not read: put its variables into `env`").field("envFile"));
        }
        let program = self.string("command")?.unwrap_or_default();
        if program.is_empty() {
            return Err(ServerFileError::new("expected a program, found nothing").field("command"));
        }
        let mut command = Command::new(program);
        if let Some(arguments) = self.members.get("args") {
            let arguments: Vec<Box<RawValue>> = serde_json::from_str(arguments.get())
                .map_err(|_| expected("an array", Kind::of(arguments)).field("args"))?;
            for (at, argument) in arguments.iter().enumerate() {
                command = command.arg(self.expanded(argument, &format!("args[{at}]"))?);
            }
        }
        for (name, value) in self.strings("env")? {
            command = command.env(name, value);
        }
        if let Some(directory) = self.string("cwd")? {
            command = command.directory(directory);
        }
        Ok(command)
    }

    #[cfg(feature = "http")]
    fn url(&self, kind: UrlKind) -> Result<Target, ServerFileError> {
        let url = self
            .string("url")?
            .ok_or_else(|| ServerFileError::new("expected it, found none").field("url"))?;
        mcp_proto::client::Endpoint::parse(&url)
            .map_err(|misuse| ServerFileError::new(misuse.message).field("url"))?;
        let mut target = UrlTarget::new(url).kind(kind);
        for (name, value) in self.strings("headers")? {
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(
                    ServerFileError::new("expected names of header fields, found another").field("headers")
                );
            }
            if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
                let problem = "expected the value of a header field, found a control character in it";
                return Err(ServerFileError::new(problem).field(format!("headers.{name}")));
            }
            target = target.header(&name, value);
        }
        Ok(Target::Url(target))
    }

    fn string(&self, field: &str) -> Result<Option<String>, ServerFileError> {
        self.members.get(field).map(|value| self.expanded(value, field)).transpose()
    }

    fn strings(&self, field: &str) -> Result<Vec<(String, String)>, ServerFileError> {
        let Some(value) = self.members.get(field) else { return Ok(Vec::new()) };
        let members = Members::read(value).map_err(|found| expected("an object", found).field(field))?;
        let expanded = members.0.into_iter().map(|(name, value)| {
            let value = self.expanded(&value, &format!("{field}.{name}"))?;
            Ok((name, value))
        });
        expanded.collect()
    }

    fn expanded(&self, value: &RawValue, field: &str) -> Result<String, ServerFileError> {
        let text = text(value, field)?;
        expand(&text, self.lookup).map_err(|problem| ServerFileError::new(problem).field(field))
    }
}

fn text(value: &RawValue, field: &str) -> Result<String, ServerFileError> {
    serde_json::from_str(value.get()).map_err(|_| expected("a string", Kind::of(value)).field(field))
}

pub(super) fn expected(what: &str, found: Kind) -> ServerFileError {
    ServerFileError::new(format!("expected {what}, found {found}"))
}

/// The members of an object, in their order.
pub(super) struct Members(pub(super) Vec<(String, Box<RawValue>)>);

impl Members {
    /// The error is what it is instead of an object.
    pub(super) fn read(value: &RawValue) -> Result<Self, Kind> {
        serde_json::from_str(value.get()).map_err(|_| Kind::of(value))
    }

    /// What says nothing is not there.
    fn get(&self, name: &str) -> Option<&RawValue> {
        let value = &self.0.iter().find(|(known, _)| known == name)?.1;
        (value.get() != "null").then_some(value)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if members.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom("a member comes twice"));
            }
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

/// What kind of JSON something is: all that is said of what is no good.
#[derive(Clone, Copy)]
pub(super) struct Kind(&'static str);

impl Kind {
    pub(super) fn of(value: &RawValue) -> Self {
        Self(match value.get().bytes().next() {
            Some(b'n') => "null",
            Some(b't' | b'f') => "a boolean",
            Some(b'"') => "a string",
            Some(b'[') => "an array",
            Some(b'{') => "an object with a member that comes twice",
            _ => "a number",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
