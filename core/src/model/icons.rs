//! Pictures for whatever has a name.

use super::decode::{lenient, or_default};
use super::macros::setters;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use serde::{Deserialize, Serialize};

/// A picture that a client may show; from 2025-11-25 on (META-25).
///
/// Fetch it with care: accept `https:` and `data:` only, send no credentials, follow no redirect to another
/// origin, and trust the bytes rather than `mime_type` (META-28 to META-33). An `https:` URL should be of the origin of the
/// server, or of one that is trusted like it (META-32). Whoever shows icons has to know PNG and JPEG, and should know SVG and
/// WebP (META-26, META-27).
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons>
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` URL, or a `data:` URI with base64.
    pub src: String,
    /// The media type, when the source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes it may be shown at: `48x48`, or `any`. None given means any.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background it is drawn for. None given means either.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

/// A background that an icon is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IconTheme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}

impl Icon {
    /// The icon at `src`.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    /// The picture itself, as the bytes of a file of this media type, such as `image/png`.
    pub fn from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        let mime_type = mime_type.into();
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        Self::new(alloc::format!("data:{mime_type};base64,{data}")).mime_type(mime_type)
    }
}

setters!(Icon {
    mime_type?: String,
    sizes: Vec<String>,
    theme?: IconTheme,
});
