//! Anthropic's Messages API.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::Deserialize;

use super::content::{Part, is_picture, omitted, parts};
use super::schema::plain_root;
use super::tree::Tree;
use super::{FunctionCall, Functions, Unreadable, read};
use crate::model::Json;
use crate::model::tools::CallToolResult;

/// The `tools` of a request. Schemas keep what they say, but for combinations at the root, which are not accepted there.
pub fn tools(functions: &Functions) -> Json {
    let tools = functions.0.iter().map(|function| {
        let mut tool = vec![("name".into(), Tree::text(&*function.name))];
        if let Some(description) = &function.description {
            tool.push(("description".into(), Tree::text(&**description)));
        }
        tool.push(("input_schema".into(), Tree::Object(plain_root(&function.schema))));
        Tree::Object(tool)
    });
    Tree::List(tools.collect()).json()
}

/// The calls among the `content` blocks of an answer.
///
/// # Errors
/// When it is not an array of content blocks.
pub fn calls(functions: &Functions, content: &Json) -> Result<Vec<FunctionCall>, Unreadable> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Block {
        ToolUse {
            id: String,
            name: String,
            #[serde(default = "Tree::empty")]
            input: Tree,
        },
        #[serde(other)]
        Other,
    }
    let blocks: Vec<Block> = read(content, "content")?;
    let calls = blocks.into_iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input } => Some(functions.call(Some(id), name, Ok(input))),
        Block::Other => None,
    });
    Ok(calls.collect())
}

/// The message that answers the calls of one answer; all belong into one message, before anything else.
pub fn results<'r>(results: impl IntoIterator<Item = (&'r FunctionCall, &'r CallToolResult)>) -> Json {
    let blocks = results.into_iter().map(|(call, result)| {
        let content = parts(result).into_iter().filter_map(block).collect();
        let mut block = vec![
            ("type".into(), Tree::text("tool_result")),
            ("tool_use_id".into(), Tree::text(call.id.as_deref().unwrap_or_default())),
            ("content".into(), Tree::List(content)),
        ];
        if result.failed() {
            block.push(("is_error".into(), Tree::Bool(true)));
        }
        Tree::Object(block)
    });
    Tree::object([("role", Tree::text("user")), ("content", Tree::List(blocks.collect()))]).json()
}

fn block(part: Part<'_>) -> Option<Tree> {
    let source = |kind, mime_type, data| {
        let source = [
            ("type", Tree::text("base64")),
            ("media_type", Tree::text(mime_type)),
            ("data", Tree::text(data)),
        ];
        Tree::object([("type", Tree::text(kind)), ("source", Tree::object(source))])
    };
    let text = |text: &str| Tree::object([("type", Tree::text("text")), ("text", Tree::text(text))]);
    Some(match part {
        // Empty texts are refused.
        Part::Text(it) if it.is_empty() => return None,
        Part::Text(it) => text(&it),
        Part::File { mime_type, data } if is_picture(mime_type) => source("image", mime_type, data),
        Part::File { mime_type: mime_type @ "application/pdf", data } => source("document", mime_type, data),
        Part::File { mime_type, data } => text(&omitted(mime_type, data)),
    })
}
