mod anthropic;
mod google;
mod names;
mod openai;

use alloc::format;
use alloc::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::*;
use crate::model::content::{ContentBlock, ImageContent};
use crate::model::tools::CallToolResult;

/// JSON is easier to read with single quotes.
fn json(text: &str) -> Json {
    let text = text.replace('\'', "\"");
    Json::parse(text.clone()).expect(&text)
}

/// One tool with this schema.
fn one(schema: &str) -> Functions {
    Functions::new([&Tool::new("t", json(schema)).description("does it")])
}

/// What a member of the only declaration is; `path` leads there.
fn declared(declarations: &Json, path: &[&str]) -> String {
    let tree: Tree = declarations.decode().unwrap();
    let found = path.iter().try_fold(&tree, |found, step| match found {
        Tree::List(list) => list.get(step.parse::<usize>().unwrap()),
        tree => tree.get(step),
    });
    found.map_or("none".into(), |found| found.json().get().replace('"', "'"))
}

fn picture() -> ContentBlock {
    ContentBlock::Image(ImageContent::new("aW1n", "image/png"))
}

/// A recursive schema with most of what there is.
const TREE: &str = "{'$schema':'https://json-schema.org/draft/2020-12/schema','type':'object',\
    'properties':{'tree':{'$ref':'#/$defs/node'}},'required':['tree'],\
    '$defs':{'node':{'type':'object','properties':{'name':{'type':'string'},\
    'children':{'type':'array','items':{'$ref':'#/$defs/node'}}},'required':['name']}}}";
