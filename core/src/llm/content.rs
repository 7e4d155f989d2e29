//! What a tool returned, as the kinds of content that providers know.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::model::content::ContentBlock;
use crate::model::content::ResourceContents;
use crate::model::resources::Resource;
use crate::model::tools::CallToolResult;

/// A part of a result. Data is in base64.
pub(super) enum Part<'r> {
    Text(Cow<'r, str>),
    File { mime_type: &'r str, data: &'r str },
}

/// The parts of a result; never none, since a call has to be answered.
pub(super) fn parts(result: &CallToolResult) -> Vec<Part<'_>> {
    let mut parts: Vec<_> = result.content.iter().filter_map(part).collect();
    if parts.is_empty() {
        let structured = result.structured_content.as_ref();
        parts.push(Part::Text(structured.map_or("".into(), |structured| structured.get().into())));
    }
    parts
}

fn part(block: &ContentBlock) -> Option<Part<'_>> {
    Some(match block {
        ContentBlock::Text(text) => Part::Text(text.text.as_str().into()),
        ContentBlock::Image(image) => Part::File { mime_type: &image.mime_type, data: &image.data },
        ContentBlock::Audio(audio) => Part::File { mime_type: &audio.mime_type, data: &audio.data },
        ContentBlock::ResourceLink(link) => Part::Text(pointer(link).into()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::Text(text) => Part::Text(text.text.as_str().into()),
            ResourceContents::Blob(blob) => {
                let mime_type = blob.mime_type.as_deref().unwrap_or("application/octet-stream");
                Part::File { mime_type, data: &blob.blob }
            }
            #[allow(unreachable_patterns, reason = "there may be more kinds")]
            _ => return None,
        },
        // A model could make nothing of it.
        _ => return None,
    })
}

/// What a link says, in words.
fn pointer(link: &Resource) -> String {
    let kind = link.mime_type.as_deref().map(|kind| format!(", {kind}")).unwrap_or_default();
    let about = link.description.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
    format!("[resource {} <{}>{kind}{about}]", link.display_name(), link.uri)
}

/// What is said in the place of data that a provider does not take.
pub(super) fn omitted(mime_type: &str, data: &str) -> String {
    format!("[{mime_type}, {} bytes, not shown]", data.len() / 4 * 3)
}

/// All of a result as one text, for providers that take no other, and the files that are no text.
pub(super) fn joined(result: &CallToolResult) -> (String, Vec<(&str, &str)>) {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    let mut files = Vec::new();
    for part in parts(result) {
        match part {
            Part::Text(text) => texts.push(text),
            Part::File { mime_type, data } => files.push((mime_type, data)),
        }
    }
    (texts.join("\n"), files)
}

/// Says that a tool failed, to models that are not told in another way (TOOL-34).
pub(super) fn marked(result: &CallToolResult, text: String) -> String {
    if result.failed() { format!("The tool failed: {text}") } else { text }
}

/// Whether all large providers take pictures of this type.
pub(super) fn is_picture(mime_type: &str) -> bool {
    matches!(mime_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}
