//! Content blocks: what tools return and prompts hold.

mod block;
mod kinds;
#[cfg(test)]
mod tests;

pub use block::{ContentBlock, UnknownContent};
pub use kinds::{
    AudioContent, BlobResourceContents, EmbeddedResource, ImageContent, ResourceContents, TextContent,
    TextResourceContents,
};

pub(crate) use kinds::{InPlaceOf, with_type};
