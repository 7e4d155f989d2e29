//! JSON Schema: what a tool says of its arguments and of its structured result, read once and checked often.
//!
//! The dialects 2020-12 (the default), 2019-09 and draft-07 are supported, named by `$schema` at the root; any
//! other one is refused (SCHEMA-01 to SCHEMA-06). References lead to places in the same document only, so that
//! nothing is ever fetched (SCHEMA-12, SCHEMA-16). `format`, `contentEncoding` and `contentMediaType` describe and
//! are not checked, as is the default of the newer dialects.
//!
//! That a schema is in order is always looked at; values are checked with the feature `jsonschema`. Checking takes
//! a bounded number of steps, whatever the schema and the value: an ordinary recursive type with a tag can take
//! time exponential in the nesting of a value, which a peer chooses.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage>

// What is kept of a schema is read by checks of values alone.
#![cfg_attr(not(feature = "jsonschema"), allow(dead_code))]

#[cfg(feature = "jsonschema")]
mod check;
mod compile;
mod decimal;
#[cfg(feature = "jsonschema")]
#[doc(hidden)]
pub mod fuzz;
mod keywords;
mod node;
mod pattern;
mod report;
mod resolve;
#[cfg(test)]
mod tests;
mod uri;
mod value;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use node::{Id, Node, Resource};

use crate::limits::Limits;
use crate::model::Json;
pub use report::Mismatch;

/// A JSON Schema that was found to be in order.
pub struct Schema {
    dialect: Dialect,
    nodes: Vec<Node>,
    resources: Vec<Resource>,
    root: Id,
    /// What one check may take besides what the length of the value allows it.
    steps: u64,
    /// About as much memory as it takes.
    held: usize,
}

/// The dialects of JSON Schema that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `http://json-schema.org/draft-07/schema#`
    Draft7,
    /// `https://json-schema.org/draft/2019-09/schema`
    Draft2019,
    /// `https://json-schema.org/draft/2020-12/schema`, also of schemas that name none.
    Draft2020,
}

/// What is done about a successful result of a tool whose structured content does not fit the output schema, or is
/// missing (TOOL-28, TOOL-29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputCheck {
    /// It is not looked at, and neither is the schema.
    Off,
    /// The result goes on, and what does not fit is reported on this side.
    Warn,
    /// The result does not go on. A server reports it on its side and tells its client `internal error`: what must not
    /// be sent is not. A client ends the call with [`CallError::Misfit`](crate::error::CallError::Misfit).
    Strict,
}

impl Dialect {
    /// The dialect that the root of a schema names; the default one when it names none (SCHEMA-01).
    ///
    /// # Errors
    /// When it is one that is not supported (SCHEMA-05), or no name at all.
    pub fn of(schema: &Json) -> Result<Self, SchemaError> {
        #[derive(serde::Deserialize)]
        struct Root {
            #[serde(rename = "$schema", default)]
            named: Option<Json>,
        }
        // Whatever else is wrong with it, is not a matter of its dialect.
        let named = schema.decode::<Root>().ok().and_then(|root| root.named);
        let Some(named) = named else { return Ok(Self::Draft2020) };
        let error = |reason| SchemaError::new("/$schema", reason);
        let uri = named.decode::<String>().map_err(|_| error("expected a string".into()))?;
        Self::named(&uri).map_err(error)
    }
}

impl Schema {
    /// Reads a schema and looks whether it is in order. [`Limits::schema_depth`] and [`Limits::schemas`] bound it.
    ///
    /// # Errors
    /// When it is not valid in its dialect, names another one, refers to another document, or to itself so that
    /// no value could be checked, or passes a bound.
    pub fn new(json: &Json, limits: &Limits) -> Result<Self, SchemaError> {
        compile::compile(json.get(), limits)
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// About as many bytes as are held for it.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether a value can have the right types and still not fit: there are bounds, patterns and the like. Of a
    /// schema made from a type, such a value would pass for one of the type.
    pub fn is_stricter_than_types(&self) -> bool {
        self.nodes.iter().any(Node::is_stricter_than_types)
    }

    /// Looks whether a value, given as JSON text, fits. `root` is what the value is called in the report:
    /// `arguments`.
    ///
    /// # Errors
    /// What does not fit, by path: `arguments.name: expected a string, found a number`. Also when that cannot be
    /// found out in the steps that are allowed ([`Limits::schema_steps`]). Without the feature `jsonschema`, every
    /// value fits.
    pub fn check(&self, value: &str, root: &str) -> Result<(), Mismatch> {
        #[cfg(feature = "jsonschema")]
        return check::check(self, value, root);
        #[cfg(not(feature = "jsonschema"))]
        {
            let _ = (value, root);
            Ok(())
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("dialect", &self.dialect)
            .field("subschemas", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

/// What is wrong with a schema, for whoever wrote it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// Where, as a JSON pointer: `/properties/age/minimum`. Empty for the root.
    pub path: String,
    /// What.
    pub reason: String,
}

impl SchemaError {
    fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => write!(f, "at its root: {}", self.reason),
            path => write!(f, "at `{path}`: {}", self.reason),
        }
    }
}

impl core::error::Error for SchemaError {}

crate::text::debug_like_display!(SchemaError);
