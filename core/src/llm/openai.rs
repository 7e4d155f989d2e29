//! OpenAI's APIs, Chat Completions and Responses, and others made like them.

mod strict;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::Deserialize;

use super::content::{is_picture, joined, marked, omitted};
use super::schema::{each, plain_root};
use super::tree::{Members, Tree, get, set};
use super::{Function, FunctionCall, Functions, Unreadable, read};
use crate::model::Json;
use crate::model::tools::CallToolResult;

/// Whether the model is held to the schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// It is not: schemas keep what they say, but for combinations at the root, which are not accepted there.
    #[default]
    Off,
    /// It is, by those that can be written in the part of JSON Schema that this is for, where every property is required
    /// and optional ones may be `null`. Tools with another schema, such as one with free keys, are declared as if this
    /// were off.
    WherePossible,
}

/// The `tools` of a request to Chat Completions.
pub fn chat_tools(functions: &Functions, strict: Strict) -> Json {
    let tools = functions.0.iter().map(|function| {
        let function = Tree::Object(declaration(function, strict));
        Tree::object([("type", Tree::text("function")), ("function", function)])
    });
    Tree::List(tools.collect()).json()
}

/// The `tools` of a request to Responses.
pub fn responses_tools(functions: &Functions, strict: Strict) -> Json {
    let tools = functions.0.iter().map(|function| {
        let mut tool = vec![("type".into(), Tree::text("function"))];
        tool.extend(declaration(function, strict));
        Tree::Object(tool)
    });
    Tree::List(tools.collect()).json()
}

fn declaration(function: &Function, strict: Strict) -> Members {
    let root = plain_root(&function.schema);
    let strictly = match strict {
        Strict::Off => None,
        Strict::WherePossible => strict::strict(&root),
    };
    // Said in any case: the defaults of the two differ.
    let is_strict = strictly.is_some();
    let schema = strictly.unwrap_or_else(|| {
        let mut root = root;
        each(&mut root, &|schema| {
            let is_array = get(schema, "type").and_then(Tree::as_text) == Some("array");
            if is_array && get(schema, "items").is_none() {
                set(schema, "items", Tree::empty());
            }
        });
        root
    });
    let mut declaration = vec![("name".into(), Tree::text(&*function.name))];
    if let Some(description) = &function.description {
        declaration.push(("description".into(), Tree::text(&**description)));
    }
    declaration.push(("parameters".into(), Tree::Object(schema)));
    declaration.push(("strict".into(), Tree::Bool(is_strict)));
    declaration
}

/// The calls in the `message` of a choice of Chat Completions.
///
/// # Errors
/// When it is no message.
pub fn chat_calls(functions: &Functions, message: &Json) -> Result<Vec<FunctionCall>, Unreadable> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        tool_calls: Option<Vec<Call>>,
    }
    #[derive(Deserialize)]
    struct Call {
        id: String,
        #[serde(default)]
        function: Option<Called>,
    }
    #[derive(Deserialize)]
    struct Called {
        name: String,
        #[serde(default)]
        arguments: String,
    }
    let message: Message = read(message, "message")?;
    let calls = message.tool_calls.unwrap_or_default().into_iter();
    let calls = calls.filter_map(|Call { id, function }| {
        let Called { name, arguments } = function?;
        Some(functions.call(Some(id), name, parse(&arguments)))
    });
    Ok(calls.collect())
}

/// The calls among the items of the `output` of Responses.
///
/// # Errors
/// When it is no array of items.
pub fn responses_calls(functions: &Functions, output: &Json) -> Result<Vec<FunctionCall>, Unreadable> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Item {
        FunctionCall {
            call_id: String,
            name: String,
            #[serde(default)]
            arguments: String,
        },
        #[serde(other)]
        Other,
    }
    let items: Vec<Item> = read(output, "output")?;
    let calls = items.into_iter().filter_map(|item| match item {
        Item::FunctionCall { call_id, name, arguments } => {
            Some(functions.call(Some(call_id), name, parse(&arguments)))
        }
        Item::Other => None,
    });
    Ok(calls.collect())
}

/// Arguments, which come as text; models write nothing where there are none.
fn parse(arguments: &str) -> Result<Tree, String> {
    if arguments.trim().is_empty() {
        return Ok(Tree::empty());
    }
    serde_json::from_str(arguments).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("arguments: expected JSON, found something else at line {line} column {column}")
    })
}

/// The messages for Chat Completions that answer the calls of one message, as an array to be added behind it. Pictures
/// follow in a message of the user: there is no place for them in an answer.
pub fn chat_results<'r>(results: impl IntoIterator<Item = (&'r FunctionCall, &'r CallToolResult)>) -> Json {
    let (mut messages, mut pictures) = (Vec::new(), Vec::new());
    for (call, result) in results {
        let (mut text, files) = joined(result);
        for (mime_type, data) in files {
            let place = if is_picture(mime_type) {
                pictures.push(Tree::object([
                    ("type", Tree::text("image_url")),
                    ("image_url", Tree::object([("url", Tree::Text(data_url(mime_type, data)))])),
                ]));
                format!("[picture {} of the next message]", pictures.len())
            } else {
                omitted(mime_type, data)
            };
            add_line(&mut text, &place);
        }
        messages.push(Tree::object([
            ("role", Tree::text("tool")),
            ("tool_call_id", Tree::text(call.id.as_deref().unwrap_or_default())),
            ("content", Tree::Text(marked(result, text))),
        ]));
    }
    if !pictures.is_empty() {
        messages.push(Tree::object([("role", Tree::text("user")), ("content", Tree::List(pictures))]));
    }
    Tree::List(messages).json()
}

/// The items for Responses that answer the calls of one output, as an array to be added to the input.
pub fn responses_results<'r>(
    results: impl IntoIterator<Item = (&'r FunctionCall, &'r CallToolResult)>,
) -> Json {
    let items = results.into_iter().map(|(call, result)| {
        let (mut text, files) = joined(result);
        let mut pictures = Vec::new();
        for (mime_type, data) in files {
            if is_picture(mime_type) {
                pictures.push(Tree::object([
                    ("type", Tree::text("input_image")),
                    ("image_url", Tree::Text(data_url(mime_type, data))),
                ]));
            } else {
                add_line(&mut text, &omitted(mime_type, data));
            }
        }
        let text = marked(result, text);
        let output = if pictures.is_empty() {
            Tree::Text(text)
        } else {
            let mut parts =
                vec![Tree::object([("type", Tree::text("input_text")), ("text", Tree::Text(text))])];
            parts.append(&mut pictures);
            Tree::List(parts)
        };
        Tree::object([
            ("type", Tree::text("function_call_output")),
            ("call_id", Tree::text(call.id.as_deref().unwrap_or_default())),
            ("output", output),
        ])
    });
    Tree::List(items.collect()).json()
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

fn data_url(mime_type: &str, data: &str) -> String {
    format!("data:{mime_type};base64,{data}")
}
