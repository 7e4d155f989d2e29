//! The `_meta` of an incoming message, read in place.

use super::Meta;
use crate::error::{PeerError, code};
use crate::model::decode::Key;
use crate::model::json::JsonMap;
use crate::model::logging::LoggingLevel;
use crate::wire::jsonrpc::{self, ProgressToken, RequestId};
use alloc::borrow::Cow;
use alloc::format;
use core::fmt;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The `_meta` of a request or notification, borrowed from its parameters.
///
/// Finding it is one pass that decodes nothing. Each value is decoded when it is asked for, because a value
/// of the wrong type is only a fault in a revision that defines its key (META-01).
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestMeta<'a> {
    text: Option<&'a RawValue>,
    protocol_version: Option<&'a RawValue>,
    client_info: Option<&'a RawValue>,
    client_capabilities: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
    progress_token: Option<&'a RawValue>,
    subscription_id: Option<&'a RawValue>,
    traceparent: Option<&'a RawValue>,
    tracestate: Option<&'a RawValue>,
    baggage: Option<&'a RawValue>,
}

impl<'a> RequestMeta<'a> {
    /// Finds `_meta` in the `params` of a message; `None` when there is none, or `null`.
    ///
    /// Fails with -32602 when `params` or `_meta` is not an object.
    pub fn of(params: &'a RawValue) -> Result<Option<Self>, PeerError> {
        let text =
            find(params, "_meta").map_err(|_| invalid("params", "an object with at most one `_meta`"))?;
        text.filter(|text| text.get() != "null").map(Self::read).transpose()
    }

    /// Reads the text of a `_meta` object.
    pub fn read(text: &'a RawValue) -> Result<Self, PeerError> {
        let mut meta: Self = jsonrpc::decode_at(text.get(), "params._meta")
            .map_err(|_| invalid("params._meta", "an object in which nothing occurs twice"))?;
        meta.text = Some(text);
        Ok(meta)
    }

    /// Notes a member that was found by whoever has gone through the text. Fails for one that was there before: a proxy
    /// in front may have judged one of the two, and the other would take effect.
    pub(crate) fn note(&mut self, key: &str, value: &'a RawValue) -> Result<(), PeerError> {
        match self.place(key).and_then(|place| place.replace(value)) {
            Some(_) => Err(invalid(&format!("params._meta[\"{key}\"]"), "one value, found two")),
            None => Ok(()),
        }
    }

    /// Notes the text itself, which must be an object.
    pub(crate) fn note_text(&mut self, text: &'a RawValue) -> Result<(), PeerError> {
        if !text.get().starts_with('{') {
            return Err(invalid("params._meta", "an object"));
        }
        self.text = Some(text);
        Ok(())
    }

    fn place(&mut self, key: &str) -> Option<&mut Option<&'a RawValue>> {
        Some(match key {
            super::PROTOCOL_VERSION => &mut self.protocol_version,
            super::CLIENT_INFO => &mut self.client_info,
            super::CLIENT_CAPABILITIES => &mut self.client_capabilities,
            super::LOG_LEVEL => &mut self.log_level,
            super::PROGRESS_TOKEN => &mut self.progress_token,
            super::SUBSCRIPTION_ID => &mut self.subscription_id,
            super::TRACEPARENT => &mut self.traceparent,
            super::TRACESTATE => &mut self.tracestate,
            super::BAGGAGE => &mut self.baggage,
            _ => return None,
        })
    }

    /// The revision that the request speaks, as it came.
    pub fn protocol_version(&self) -> Result<Option<Cow<'a, str>>, PeerError> {
        text(super::PROTOCOL_VERSION, self.protocol_version)
    }

    /// The client's `Implementation`. Serve requests without one (META-14).
    pub fn client_info(&self) -> Result<Option<&'a RawValue>, PeerError> {
        object(super::CLIENT_INFO, self.client_info)
    }

    /// The client's `ClientCapabilities` for this request.
    pub fn client_capabilities(&self) -> Result<Option<&'a RawValue>, PeerError> {
        object(super::CLIENT_CAPABILITIES, self.client_capabilities)
    }

    /// From which level on log messages are wanted; an unknown one is an error (LOG-05).
    pub fn log_level(&self) -> Result<Option<LoggingLevel>, PeerError> {
        value(super::LOG_LEVEL, "one of the eight log levels", self.log_level)
    }

    /// The token under which progress is wanted (PRG-01).
    pub fn progress_token(&self) -> Result<Option<ProgressToken>, PeerError> {
        value(super::PROGRESS_TOKEN, "a string or an integer", self.progress_token)
    }

    /// The subscription that a notification belongs to (SUB-08).
    pub fn subscription_id(&self) -> Result<Option<RequestId>, PeerError> {
        value(super::SUBSCRIPTION_ID, "a string or an integer", self.subscription_id)
    }

    /// W3C `traceparent`.
    pub fn traceparent(&self) -> Result<Option<Cow<'a, str>>, PeerError> {
        text(super::TRACEPARENT, self.traceparent)
    }

    /// W3C `tracestate`.
    pub fn tracestate(&self) -> Result<Option<Cow<'a, str>>, PeerError> {
        text(super::TRACESTATE, self.tracestate)
    }

    /// W3C `baggage`.
    pub fn baggage(&self) -> Result<Option<Cow<'a, str>>, PeerError> {
        text(super::BAGGAGE, self.baggage)
    }

    /// What every modern request must have: protocol version and client capabilities (META-12).
    ///
    /// The error is for the peer as it stands: -32602, naming the missing key.
    pub fn required(&self) -> Result<(Cow<'a, str>, &'a RawValue), PeerError> {
        let lacks = |message: &'static str| {
            PeerError::new(code::INVALID_PARAMS, message, "a modern request must have it")
        };
        let version = self
            .protocol_version()?
            .ok_or_else(|| {
                lacks(
                    "_meta lacks io.modelcontextprotocol/protocolVersion: `initialize` first, or send modern metadata \
                     in `params._meta`",
                )
            })?;
        let capabilities = self
            .client_capabilities()?
            .ok_or_else(|| lacks("_meta lacks io.modelcontextprotocol/clientCapabilities"))?;
        Ok((version, capabilities))
    }

    /// The whole `_meta` as it came.
    pub fn raw(&self) -> Option<&'a RawValue> {
        self.text
    }

    /// A copy of all entries, for keys that have no reader here and for passing on.
    pub fn to_meta(&self) -> Meta {
        let entries = self.text.and_then(|text| serde_json::from_str::<JsonMap>(text.get()).ok());
        let mut meta = Meta::new();
        meta.extend(entries.unwrap_or_default());
        meta
    }

    /// The value at any key.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        find(self.text?, key).ok().flatten()
    }
}

fn invalid(path: &str, expected: &str) -> PeerError {
    PeerError::new(
        code::INVALID_PARAMS,
        format!("{path}: expected {expected}"),
        "found while reading `_meta`",
    )
}

fn invalid_at(key: &str, expected: &str, raw: &RawValue) -> PeerError {
    let came = match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    invalid(&format!("params._meta[\"{key}\"]"), &format!("{expected}, found {came}"))
}

fn value<'a, T: Deserialize<'a>>(
    key: &str,
    expected: &str,
    raw: Option<&'a RawValue>,
) -> Result<Option<T>, PeerError> {
    raw.map(|raw| jsonrpc::decode_at(raw.get(), key).map_err(|_| invalid_at(key, expected, raw))).transpose()
}

fn text<'a>(key: &str, raw: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, PeerError> {
    let text = |raw: &'a RawValue| {
        jsonrpc::decode_text(raw.get(), key).map_err(|_| invalid_at(key, "a string", raw))
    };
    raw.map(text).transpose()
}

fn object<'a>(key: &str, raw: Option<&'a RawValue>) -> Result<Option<&'a RawValue>, PeerError> {
    match raw {
        Some(raw) if !raw.get().starts_with('{') => Err(invalid_at(key, "an object", raw)),
        raw => Ok(raw),
    }
}

/// The member `name` of an object; everything else is skipped undecoded.
fn find<'a>(object: &'a RawValue, name: &str) -> serde_json::Result<Option<&'a RawValue>> {
    struct Find<'n>(&'n str);
    impl<'de> Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(Key(key)) = map.next_key()? {
                if key != self.0 {
                    map.next_value::<IgnoredAny>()?;
                } else if found.replace(map.next_value()?).is_some() {
                    // A proxy in front may have judged one of the two, and the other would take effect.
                    return Err(A::Error::custom("the member occurs twice"));
                }
            }
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(object.get()).deserialize_map(Find(name))
}

impl<'de> Deserialize<'de> for RequestMeta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = RequestMeta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestMeta<'de>, A::Error> {
                let mut meta = RequestMeta::default();
                while let Some(Key(key)) = map.next_key()? {
                    match meta.place(&key) {
                        Some(place) if place.is_some() => {
                            return Err(A::Error::custom("a member occurs twice"));
                        }
                        Some(place) => *place = Some(map.next_value()?),
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(meta)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
