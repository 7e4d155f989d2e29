//! Log messages from server to client. Deprecated in 2026-07-28, where a request opts in through `_meta`.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>

use super::encode::{Members, Object};
use super::json::Json;
use super::macros::setters;
use super::meta::Meta;
use crate::dialect::Revision;
use crate::text::{Escaped, Excerpt};
use alloc::string::String;
use core::fmt;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// How severe a log message is, as in RFC 5424; ordered from least to most (LOG-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggingLevel {
    /// Detail for debugging.
    Debug,
    /// Ordinary course of things.
    Info,
    /// Ordinary, but worth notice.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A component fails.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LoggingLevel {
    /// All, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level as it travels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The parameters of `notifications/message`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// How severe it is.
    pub level: LoggingLevel,
    /// Which part of the server speaks.
    pub logger: Option<String>,
    /// What happened: any JSON. Put no secrets and no personal data here (LOG-13).
    pub data: Json,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl LoggingMessageNotificationParams {
    /// The message `data`.
    pub fn new(level: LoggingLevel, data: Json) -> Self {
        Self { level, logger: None, data, meta: Meta::new() }
    }
}

/// One line for people: severity, who speaks, and the first 1,000 characters of what is said. Whatever a server puts into
/// it, it stays one line: control characters and the like are escaped.
impl fmt::Display for LoggingMessageNotificationParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.level)?;
        if let Some(logger) = &self.logger {
            write!(f, "{}: ", Excerpt(logger))?;
        }
        match self.data.decode::<String>() {
            Ok(text) => Escaped(&text).fmt(f),
            Err(_) => Escaped(self.data.get()).fmt(f),
        }
    }
}

setters!(LoggingMessageNotificationParams {
    logger?: String,
    meta: Meta,
});

impl Members for LoggingMessageNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("level", &self.level)?;
        to.optional("logger", &self.logger)?;
        to.member("data", &self.data)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `logging/setLevel`; legacy revisions only (LOG-06, LOG-10).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// From which level on the client wants messages.
    pub level: LoggingLevel,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl SetLevelRequestParams {
    /// Messages from `level` on.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: Meta::new() }
    }
}

setters!(SetLevelRequestParams { meta: Meta });

impl Members for SetLevelRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("level", &self.level)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    fn shown(data: &str) -> String {
        let message = LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::new(data).unwrap());
        message.logger("db").to_string()
    }

    /// LOG-15: a server cannot forge a line of the log, nor drive the terminal that shows it.
    #[test]
    fn a_log_message_is_one_line_whatever_is_in_it() {
        assert_eq!(shown("disk full"), "error: db: disk full");
        let forged = shown("x\r\n2026-07-28 INFO all is well\u{1b}[2J\u{9b}\u{202e}\u{2028}é");
        assert_eq!(
            forged,
            "error: db: x\\u{d}\\u{a}2026-07-28 INFO all is well\\u{1b}[2J\\u{9b}\\u{202e}\\u{2028}é"
        );
        let logger = LoggingMessageNotificationParams::new(LoggingLevel::Info, Json::empty_object());
        assert_eq!(logger.clone().logger("a\nb").to_string(), "info: a b: {}");
        let data = Json::parse("{\"a\":\n\t1}").unwrap();
        let object = LoggingMessageNotificationParams::new(LoggingLevel::Info, data);
        assert_eq!(object.to_string(), "info: {\"a\":\\u{a}\\u{9}1}");
    }

    #[test]
    fn a_log_message_is_shown_in_part() {
        let exactly = "é".repeat(1_000);
        assert_eq!(shown(&exactly), format!("error: db: {exactly}"));
        assert_eq!(shown(&format!("{exactly}x")), format!("error: db: {exactly}…"));
    }
}
