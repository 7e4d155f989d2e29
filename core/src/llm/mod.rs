//! Tools as functions of a language model: declared to its API, called by it, and answered.
//!
//! Nothing here speaks to anybody. A program puts the declarations into its request, gives the model's answer to the
//! reader of the same provider, has the tools called, and puts the results into its next request:
//!
//! ```
//! use mcp_proto::llm::{Functions, anthropic};
//! use mcp_proto::model::{CallToolResult, Json, Tool};
//!
//! let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
//! let tools = [Tool::new("weather.now", Json::parse(schema)?).description("The weather in a city")];
//! let functions = Functions::new(&tools);
//! assert_eq!(
//!     anthropic::tools(&functions).get(),
//!     format!(r#"[{{"name":"weather_now_d5d74329","description":"The weather in a city","input_schema":{schema}}}]"#)
//! );
//!
//! let said = r#"[{"type":"tool_use","id":"tu_1","name":"weather_now_d5d74329","input":{"city":"Lund"}}]"#;
//! let calls = anthropic::calls(&functions, &Json::parse(said)?)?;
//! let request = calls[0].request.as_ref().unwrap();
//! assert_eq!((request.tool.as_str(), request.arguments.get()), ("weather.now", r#"{"city":"Lund"}"#));
//!
//! let result = CallToolResult::text("8 °C");
//! assert_eq!(
//!     anthropic::results([(&calls[0], &result)]).get(),
//!     r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":[{"type":"text","text":"8 °C"}]}]}"#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every call of a model has to be answered. One that cannot be made, and a call that ended with an error, are answered
//! with [`CallToolResult::error`](crate::model::CallToolResult::error) in words for the model (TOOL-34, TOOL-35).
//! Whatever a schema loses on the way to a provider only lets the model send more: the server checks it all the same.

pub mod anthropic;
pub mod google;
pub mod openai;

mod content;
mod names;
mod prune;
mod schema;
#[cfg(test)]
mod tests;
mod tree;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::model::Json;
use crate::model::tools::Tool;
use crate::text::excerpt;
use crate::wire::jsonrpc::decode_at;
use names::name_all;
use tree::Tree;

/// Tools, and what the functions are called that stand for them.
///
/// Providers allow letters, digits, `_` and `-` in the name of a function, 64 of them. A tool with another name gets one
/// made from its own and a digest of it, so that it is the same whatever other tools there are. Of a schema of more than
/// 256 KiB the model is not told.
#[derive(Clone, Debug)]
pub struct Functions(Vec<Function>);

#[derive(Clone)]
struct Function {
    name: String,
    /// What the application knows the tool by.
    tool: String,
    description: Option<String>,
    schema: Tree,
}

/// Prints the names.
impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl Functions {
    /// Functions for these tools, known by their names.
    pub fn new<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        Self::labelled(tools.into_iter().map(|tool| (tool.name.as_str(), tool)))
    }

    /// Functions for tools that are known by another name than their own, such as those of several servers. Of two with
    /// the same label the first counts.
    pub fn labelled<'t>(tools: impl IntoIterator<Item = (&'t str, &'t Tool)>) -> Self {
        let tools: Vec<_> = tools.into_iter().collect();
        let functions =
            name_all(tools.iter().map(|(label, _)| *label)).into_iter().map(|(name, index, label)| {
                let tool = tools.get(index).map(|(_, tool)| *tool);
                Function {
                    name,
                    tool: label.into(),
                    description: tool
                        .and_then(|tool| tool.description.clone().or_else(|| tool.title.clone())),
                    schema: tool.and_then(schema_of).unwrap_or_else(Tree::empty),
                }
            });
        Self(functions.collect())
    }

    /// The tool that a function stands for.
    pub fn tool(&self, function: &str) -> Option<&str> {
        self.find(function).map(|found| found.tool.as_str())
    }

    /// The function that stands for a tool.
    pub fn function(&self, tool: &str) -> Option<&str> {
        self.0.iter().find(|function| function.tool == tool).map(|function| function.name.as_str())
    }

    fn find(&self, function: &str) -> Option<&Function> {
        self.0.iter().find(|known| known.name == function)
    }

    /// A call as the model made it.
    fn call(&self, id: Option<String>, function: String, arguments: Result<Tree, String>) -> FunctionCall {
        let request = match (self.find(&function), arguments) {
            (None, _) => Err(BadCall(format!("there is no function `{}`", excerpt(&function)))),
            (_, Err(reason)) => Err(BadCall(reason)),
            (Some(known), Ok(mut arguments @ Tree::Object(_))) => {
                prune::prune(&known.schema, &mut arguments);
                Ok(ToolRequest { tool: known.tool.clone(), arguments: arguments.json() })
            }
            (_, Ok(_)) => Err(BadCall("arguments: expected an object, found another value".into())),
        };
        FunctionCall { id, function, request }
    }
}

/// As long as a schema may be that a model is told of, in bytes.
const LONGEST: usize = 256 << 10;

/// The schema of a tool's arguments; `None` where it is none, or too long: then anything may be sent.
fn schema_of(tool: &Tool) -> Option<Tree> {
    let schema = Some(&tool.input_schema).filter(|schema| schema.get().len() <= LONGEST)?;
    schema.decode().ok()
}

/// A model wants a function to be called.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// What the provider calls it; Google may have no id for it.
    pub id: Option<String>,
    /// The function, as the model named it.
    pub function: String,
    /// The tool to call, or why that is impossible, which is for the model to mend.
    pub request: Result<ToolRequest, BadCall>,
}

/// Prints without the arguments.
impl fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCall")
            .field("id", &self.id)
            .field("function", &self.function)
            .field("request", &self.request)
            .finish()
    }
}

/// A call of a tool.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The tool, as [`Functions`] were told of it.
    pub tool: String,
    /// Its arguments, an object. What a provider makes a model say about arguments that it leaves out is not there:
    /// a `null` for one that is optional and cannot be `null`.
    pub arguments: Json,
}

/// Prints the tool.
impl fmt::Debug for ToolRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRequest").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Why a call that a model wants cannot be made, in words for the model.
#[derive(Clone, PartialEq, Eq)]
pub struct BadCall(String);

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for BadCall {}

crate::text::debug_like_display!(BadCall);

/// What was given for a provider's message is none: what was expected, and what came.
#[derive(Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Unreadable {}

crate::text::debug_like_display!(Unreadable);

/// Reads a provider's message; says where it is another one, and repeats nothing of it.
fn read<'a, T: serde::Deserialize<'a>>(json: &'a Json, root: &str) -> Result<T, Unreadable> {
    decode_at(json.get(), root).map_err(|error| Unreadable(error.message.into_owned()))
}
