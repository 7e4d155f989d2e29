//! Methods and notifications that the application adds to those of the protocol.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation>

#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::refusal::Refusal;
use super::resource_server::Scopes;
use crate::dialect::METHODS;
use crate::error::{ApiMisuse, code};
use crate::wire::jsonrpc::{self, Note};

/// A request that clients may send besides those of the protocol. It is handed out as
/// [`Target::Custom`](super::Target::Custom).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomMethod {
    /// Its name, such as `acme/restock`.
    pub name: String,
    /// The member of `params` that modern clients repeat in the header `Mcp-Name`, so that what stands
    /// between can route by it (EXT-12). Default none.
    pub named_by: Option<String>,
    /// What a caller must be allowed, all of it, where that is asked. Default nothing.
    pub scopes: Scopes,
}

impl CustomMethod {
    /// A method by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), named_by: None, scopes: Scopes::new() }
    }

    /// The member of `params`, a string, that is repeated in `Mcp-Name`.
    #[must_use]
    pub fn named_by(mut self, member: impl Into<String>) -> Self {
        self.named_by = Some(member.into());
        self
    }

    /// Scopes that a caller must have; see [`ResourceServer`](super::ResourceServer).
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// The value for `Mcp-Name`, if there is one.
    pub(super) fn name_in<'a>(&self, params: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, Refusal> {
        let Some((member, params)) = self.named_by.as_deref().zip(params) else { return Ok(None) };
        let mut named = Named { member, values: Vec::new() };
        named.note(params);
        let path = alloc::format!("params.{member}");
        match *named.values {
            [] => Ok(None),
            [value] => Ok(Some(jsonrpc::decode_text(value.get(), &path)?)),
            // What was compared with the header may not be what is served.
            _ => Err(Refusal::plain(code::INVALID_PARAMS, alloc::format!("{path}: occurs twice"))),
        }
    }
}

/// The values of one member of `params`.
struct Named<'n, 'a> {
    member: &'n str,
    values: Vec<&'a RawValue>,
}

impl<'a> Note<'a> for Named<'_, 'a> {
    fn param(&mut self, name: &str, value: &'a RawValue) {
        if name == self.member && self.values.len() < 2 {
            self.values.push(value);
        }
    }

    fn meta(&mut self, _: &str, _: &'a RawValue) {}
}

/// A method by name.
impl From<&str> for CustomMethod {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// A method by name.
impl From<String> for CustomMethod {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

/// The methods and notifications of the application's own.
#[derive(Clone, Debug, Default)]
pub struct Custom {
    methods: BTreeMap<String, Arc<CustomMethod>>,
    notifications: BTreeSet<String>,
}

impl Custom {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method.
    ///
    /// # Errors
    ///
    /// When the protocol has one of this name, in whichever revision, when it was added before, when it begins
    /// with `rpc.`, which JSON-RPC keeps for itself, or with `notifications/`, and when it is no text that a
    /// header can hold.
    pub fn method(&mut self, method: CustomMethod) -> Result<&Arc<CustomMethod>, ApiMisuse> {
        let name = &method.name;
        check("method", name)?;
        if name.starts_with("notifications/") {
            return Err(ApiMisuse::new(alloc::format!("`{name}` names a notification, not a method")));
        }
        if self.methods.contains_key(name) {
            return Err(ApiMisuse::new(alloc::format!("there is a method `{name}` already")));
        }
        Ok(self.methods.entry(name.clone()).or_insert(Arc::new(method)))
    }

    /// Listens to a notification, which is handed out like those that clients of the protocol send.
    ///
    /// # Errors
    ///
    /// When the protocol has one of this name that is none that clients tell the application, and as for
    /// [`method`](Self::method).
    pub fn notification(&mut self, name: impl Into<String>) -> Result<(), ApiMisuse> {
        let name = name.into();
        if !TOLD.contains(&name.as_str()) {
            check("notification", &name)?;
        }
        self.notifications.insert(name);
        Ok(())
    }

    pub(super) fn get(&self, method: &str) -> Option<&Arc<CustomMethod>> {
        self.methods.get(method)
    }

    pub(super) fn listens(&self, notification: &str) -> bool {
        self.notifications.contains(notification)
    }
}

/// The notifications of clients that mean nothing to a server itself.
pub(super) const TOLD: &[&str] =
    &["notifications/roots/list_changed", "notifications/progress", "notifications/tasks/status"];

/// Whether an application may give this name to a message of its own.
pub(super) fn check(what: &str, name: &str) -> Result<(), ApiMisuse> {
    let fault = if METHODS.iter().any(|method| method.name == name) {
        "belongs to the protocol"
    } else if name.starts_with("rpc.") {
        "is kept by JSON-RPC for itself"
    } else if name.is_empty() || name.len() > LONGEST || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        "is not 1 to 256 visible ASCII characters, which its header could hold"
    } else {
        return Ok(());
    };
    let shown: String = name.chars().take(LONGEST).collect();
    Err(ApiMisuse::new(alloc::format!("the {what} `{shown}` {fault}")))
}

/// The longest name of a message, in bytes.
const LONGEST: usize = 256;
