//! Google's Gemini API, also on Vertex AI.

mod schema;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::Deserialize;

use super::content::{joined, omitted};
use super::tree::Tree;
use super::{FunctionCall, Functions, Unreadable, read};
use crate::model::Json;
use crate::model::tools::CallToolResult;

/// The `tools` of a request: one that holds all functions. Schemas are written in the part of OpenAPI that is accepted;
/// what they say beyond that is left out.
pub fn tools(functions: &Functions) -> Json {
    let declarations = functions.0.iter().map(|function| {
        let mut declaration = vec![("name".into(), Tree::text(&*function.name))];
        if let Some(description) = &function.description {
            declaration.push(("description".into(), Tree::text(&**description)));
        }
        // An object without properties is refused.
        if let Some(parameters) = schema::parameters(&function.schema) {
            declaration.push(("parameters".into(), Tree::Object(parameters)));
        }
        Tree::Object(declaration)
    });
    let declarations = Tree::List(declarations.collect());
    Tree::List(vec![Tree::object([("functionDeclarations", declarations)])]).json()
}

/// The calls among the parts of the `content` of a candidate.
///
/// # Errors
/// When it is no content.
pub fn calls(functions: &Functions, content: &Json) -> Result<Vec<FunctionCall>, Unreadable> {
    #[derive(Deserialize)]
    struct Content {
        #[serde(default)]
        parts: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        #[serde(rename = "functionCall")]
        call: Option<Call>,
    }
    #[derive(Deserialize)]
    struct Call {
        id: Option<String>,
        name: String,
        args: Option<Tree>,
    }
    let content: Content = read(content, "content")?;
    let calls = content
        .parts
        .into_iter()
        .filter_map(|part| part.call)
        .map(|Call { id, name, args }| functions.call(id, name, Ok(args.unwrap_or_else(Tree::empty))));
    Ok(calls.collect())
}

/// The content that answers the calls of one content, in their order. Files follow as parts of their own.
pub fn results<'r>(results: impl IntoIterator<Item = (&'r FunctionCall, &'r CallToolResult)>) -> Json {
    let (mut parts, mut files) = (Vec::new(), Vec::new());
    for (call, result) in results {
        let (mut text, data) = joined(result);
        for (mime_type, data) in data {
            if is_taken(mime_type) {
                let data = [("mimeType", Tree::text(mime_type)), ("data", Tree::text(data))];
                files.push(Tree::object([("inlineData", Tree::object(data))]));
            } else {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&omitted(mime_type, data));
            }
        }
        let said = if result.failed() { "error" } else { "output" };
        let mut response = Vec::new();
        response.extend(call.id.as_deref().map(|id| ("id".into(), Tree::text(id))));
        response.push(("name".into(), Tree::text(&*call.function)));
        response.push(("response".into(), Tree::object([(said, Tree::Text(text))])));
        parts.push(Tree::object([("functionResponse", Tree::Object(response))]));
    }
    parts.append(&mut files);
    Tree::object([("role", Tree::text("user")), ("parts", Tree::List(parts))]).json()
}

/// Whether files of this type are taken.
fn is_taken(mime_type: &str) -> bool {
    let kind = mime_type.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video") || mime_type == "application/pdf"
}
