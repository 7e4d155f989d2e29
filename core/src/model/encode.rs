//! Encoding towards a revision: a peer is sent only what its revision knows.
//!
//! [`In`] turns anything that implements [`Encode`] into a [`Serialize`], so a message goes straight into
//! the transmit buffer. Objects implement [`Members`] instead, which lets [`Identified`] and [`WithMeta`] add
//! to them without a copy.

use super::caching::{CacheScope, TtlMs};
use super::icons::Icon;
use super::input_required::{InputRequiredResult, InputResponses};
use super::json::{Json, JsonMap};
use super::meta::{self, Meta};
use crate::dialect::{Dialect, Revision, StructuredOutput};
use alloc::string::String;
use core::fmt;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Something whose form on the wire depends on the revision.
pub trait Encode {
    /// Writes the form that `revision` knows.
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error>;
}

/// A value together with the revision that it is encoded for.
#[derive(Clone, Copy, Debug)]
pub struct In<'a, T: ?Sized>(pub Revision, pub &'a T);

impl<T: Encode + ?Sized> Serialize for In<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.1.encode(self.0, serializer)
    }
}

/// An object of the protocol, as the members that a revision knows.
pub trait Members {
    /// Writes all members but the `_meta` that [`Members::metadata`] returns.
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error>;

    /// The `_meta` of a message or result in `revision`; it is written last, and may be added to.
    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        None
    }

    /// Whether this is a result that says nothing but that what was asked for is not there, which a server
    /// must say with an error (RES-14).
    fn is_missing(&self) -> bool {
        false
    }

    /// The result itself, if it asks for input instead of saying what came out (MRTR-04).
    fn input_required(&self) -> Option<&InputRequiredResult> {
        None
    }

    /// What a result amounts to, for those who watch.
    fn kind(&self) -> ResultKind {
        ResultKind::Complete
    }
}

/// What a result amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultKind {
    /// What was asked for.
    Complete,
    /// A tool failed in a way that the model may read.
    ToolError,
    /// The client is to answer something first.
    InputRequired,
    /// The request goes on as a task.
    Task,
}

impl<T: Members + ?Sized> Encode for T {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        WithMeta::new(self, &[]).encode_object(revision, serializer)
    }
}

impl<T: Encode> Encode for [T] {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for item in self {
            list.serialize_element(&In(revision, item))?;
        }
        list.end()
    }
}

/// A result together with the identity of the server that gives it.
///
/// The identity goes into `_meta` where the revision puts it there (META-19). A result encodes its own
/// `resultType`, so this is only needed to add the identity.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta>
#[derive(Clone, Copy, Debug)]
pub struct Identified<'a, T: ?Sized> {
    body: &'a T,
    server_info: Option<&'a Json>,
}

impl<'a, T: Members + ?Sized> Identified<'a, T> {
    /// The result `body`, given by the server whose `Implementation` is `server_info`.
    pub fn new(body: &'a T, server_info: Option<&'a Json>) -> Self {
        Self { body, server_info }
    }
}

// Not `Members`: its `_meta` is put together while it is written.
impl<T: Members + ?Sized> Encode for Identified<'_, T> {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        match self.server_info.filter(|_| revision.dialect().result_type) {
            Some(info) => {
                WithMeta::new(self.body, &[(meta::SERVER_INFO, info)]).encode_object(revision, serializer)
            }
            None => self.body.encode(revision, serializer),
        }
    }
}

/// A message or result with more entries in its `_meta`, which win over its own of the same key.
#[derive(Clone, Copy, Debug)]
pub struct WithMeta<'a, T: ?Sized> {
    body: &'a T,
    entries: &'a [(&'a str, &'a Json)],
}

impl<'a, T: Members + ?Sized> WithMeta<'a, T> {
    /// Adds `entries` to the `_meta` of `body`.
    pub fn new(body: &'a T, entries: &'a [(&'a str, &'a Json)]) -> Self {
        Self { body, entries }
    }

    fn encode_object<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object { map: serializer.serialize_map(None)?, revision };
        self.body.members(&mut object)?;
        let own = self.body.metadata(revision).filter(|meta| !meta.is_empty());
        if own.is_some() || !self.entries.is_empty() {
            object.member("_meta", &Joined { own, entries: self.entries })?;
        }
        object.map.end()
    }
}

impl<T: Members + ?Sized> Encode for WithMeta<'_, T> {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        self.encode_object(revision, serializer)
    }
}

struct Joined<'a> {
    own: Option<&'a Meta>,
    entries: &'a [(&'a str, &'a Json)],
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.entries {
            map.serialize_entry(key, value)?;
        }
        for (key, value) in self.own.into_iter().flat_map(Meta::iter) {
            if !self.entries.iter().any(|(added, _)| *added == key) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// An object while it is written.
pub struct Object<M> {
    map: M,
    revision: Revision,
}

impl<M> fmt::Debug for Object<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("revision", &self.revision).finish_non_exhaustive()
    }
}

impl<M: SerializeMap> Object<M> {
    /// The revision written for.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What that revision has.
    pub fn dialect(&self) -> &'static Dialect {
        self.revision.dialect()
    }

    /// A member whose value is the same in all revisions.
    pub fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), M::Error> {
        self.map.serialize_entry(name, value)
    }

    /// A member that may be absent.
    pub fn optional(&mut self, name: &str, value: &Option<impl Serialize>) -> Result<(), M::Error> {
        match value {
            Some(value) => self.member(name, value),
            None => Ok(()),
        }
    }

    /// A member whose value depends on the revision.
    pub fn encoded(&mut self, name: &str, value: &(impl Encode + ?Sized)) -> Result<(), M::Error> {
        self.map.serialize_entry(name, &In(self.revision, value))
    }

    /// A member whose value depends on the revision, and that may be absent.
    pub fn encoded_optional(&mut self, name: &str, value: &Option<impl Encode>) -> Result<(), M::Error> {
        match value {
            Some(value) => self.encoded(name, value),
            None => Ok(()),
        }
    }

    /// A list that is absent when it is empty.
    pub fn list(&mut self, name: &str, items: &[impl Serialize]) -> Result<(), M::Error> {
        if items.is_empty() { Ok(()) } else { self.member(name, items) }
    }

    /// A `title` where the revision has titles.
    pub fn title(&mut self, title: &Option<String>) -> Result<(), M::Error> {
        if self.dialect().titles { self.optional("title", title) } else { Ok(()) }
    }

    /// `icons` where the revision has them, and there are any.
    pub fn icons(&mut self, icons: &[Icon]) -> Result<(), M::Error> {
        if self.dialect().icons { self.list("icons", icons) } else { Ok(()) }
    }

    /// `inputResponses` and `requestState` where the revision has them (MRTR-23).
    pub fn input_responses(
        &mut self,
        responses: &InputResponses,
        state: Option<&str>,
    ) -> Result<(), M::Error> {
        if self.dialect().result_type {
            if !responses.is_empty() {
                self.member("inputResponses", responses)?;
            }
            self.optional("requestState", &state)?;
        }
        Ok(())
    }

    /// `structuredContent` where the revision has it and allows it to be this (TOOL-25).
    pub fn structured_content(&mut self, content: Option<&Json>) -> Result<(), M::Error> {
        let output = self.dialect().structured_output;
        self.optional("structuredContent", &content.filter(|content| output.allows(content)))
    }

    /// `resultType: "complete"` where results have a type (RPC-09).
    pub fn complete(&mut self) -> Result<(), M::Error> {
        if self.dialect().result_type { self.member("resultType", "complete") } else { Ok(()) }
    }

    /// `ttlMs` and `cacheScope` where results carry them (CACHE-01).
    pub fn caching(&mut self, ttl_ms: TtlMs, scope: CacheScope) -> Result<(), M::Error> {
        if self.dialect().caching_hints {
            self.member("ttlMs", &ttl_ms)?;
            self.member("cacheScope", &scope)?;
        }
        Ok(())
    }

    /// The `_meta` of an object inside a message, where the revision has it.
    pub fn object_meta(&mut self, meta: &Meta) -> Result<(), M::Error> {
        if self.dialect().object_meta && !meta.is_empty() { self.member("_meta", meta) } else { Ok(()) }
    }

    /// Members not known here, except those that would repeat one of `known`.
    pub fn open(&mut self, extra: &JsonMap, known: &[&str]) -> Result<(), M::Error> {
        for (name, value) in extra.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            self.member(name, value)?;
        }
        Ok(())
    }
}

impl StructuredOutput {
    /// Whether `structuredContent` may be this (TOOL-24, TOOL-25).
    pub fn allows(self, content: &Json) -> bool {
        match self {
            Self::None => false,
            Self::Object => content.is_object(),
            Self::Any => true,
        }
    }
}

/// A number that is written without a fraction when it has none.
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Up to here an `f64` holds every integer.
        const EXACT: i64 = 1 << 53;
        let whole = self.0 as i64;
        if (-EXACT..=EXACT).contains(&whole) && whole as f64 == self.0 {
            serializer.serialize_i64(whole)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
