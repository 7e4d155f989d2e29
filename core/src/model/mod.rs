//! The vocabulary of the protocol, one file a feature.
//!
//! Names are those of the specification. Every type decodes from any revision, leniently: members not known
//! here never fail, and where the specification keeps an object open they are kept in `extra`. Encoding is
//! towards a revision, see [`encode`]. JSON that is only carried stays text, see [`json`].

pub mod annotations;
pub mod caching;
pub mod cancellation;
pub mod capabilities;
pub mod completion;
pub mod content;
mod decode;
pub mod elicitation;
pub mod encode;
pub mod error_data;
pub mod icons;
pub mod id;
pub mod input_required;
pub mod json;
pub mod lifecycle;
pub mod logging;
mod macros;
pub mod meta;
pub mod pagination;
pub mod params;
pub mod progress;
pub mod prompts;
pub mod resources;
pub mod result;
pub mod roots;
pub mod sampling;
pub mod subscriptions;
#[cfg(test)]
mod tests;
pub mod tools;

pub use encode::{Encode, Identified, In, Members, WithMeta};
pub use json::{Json, JsonMap};
pub use meta::{Meta, RequestMeta};
