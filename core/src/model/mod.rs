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

pub use annotations::*;
pub use caching::*;
pub use cancellation::*;
pub use capabilities::*;
pub use completion::*;
pub use content::*;
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
pub use tools::*;
