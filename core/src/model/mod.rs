//! The vocabulary of the protocol, one file a feature.
//!
//! Names are those of the specification. Every type decodes from any revision, leniently: members not known
//! here never fail, and where the specification keeps an object open they are kept in `extra`. Encoding is
//! towards a revision, see [`Encode`]. JSON that is only carried stays text, see [`Json`].

pub(crate) mod annotations;
pub(crate) mod caching;
pub(crate) mod cancellation;
pub(crate) mod capabilities;
pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod custom;
mod decode;
pub(crate) mod elicitation;
pub(crate) mod encode;
pub(crate) mod error_data;
pub(crate) mod icons;
pub(crate) mod input_required;
pub(crate) mod json;
pub(crate) mod lifecycle;
pub(crate) mod logging;
mod macros;
pub mod meta;
pub(crate) mod pagination;
pub(crate) mod params;
pub(crate) mod progress;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod result;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
pub(crate) mod trace;

pub use annotations::*;
pub use caching::*;
pub use cancellation::*;
pub use capabilities::*;
pub use completion::*;
pub use content::*;
pub use custom::*;
pub use elicitation::*;
pub use encode::*;
pub use error_data::*;
pub use icons::*;
pub use input_required::*;
pub use json::*;
pub use lifecycle::*;
pub use logging::*;
pub use meta::{Meta, RequestMeta};
pub use pagination::*;
pub use params::*;
pub use progress::*;
pub use prompts::*;
pub use resources::*;
pub use result::*;
pub use roots::*;
pub use sampling::*;
pub use subscriptions::*;
pub use tasks::*;
pub use tools::*;
pub use trace::*;
