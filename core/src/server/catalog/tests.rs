use super::*;
use crate::model::prompts::Prompt;
use crate::server::Prompts;
use crate::server::testing::{ADD, tool};
use crate::server::tools::Tools;

/// TOOL-06, TOOL-12
#[test]
fn entries_keep_their_order_and_are_found_by_exact_key() {
    let mut tools = Tools::new();
    for name in ["b", "a", "C"] {
        tools.insert(tool(name, ADD)).unwrap();
    }
    assert_eq!(tools.remove("a").unwrap().tool.name, "a");
    assert!(tools.remove("a").is_none() && tools.get("c").is_none());
    tools.insert(tool("a", ADD)).unwrap();
    let names: Vec<_> = tools.iter().map(|entry| entry.tool.name.as_str()).collect();
    assert_eq!((names, tools.len(), tools.is_empty()), (["b", "C", "a"].to_vec(), 3, false));
}

/// PAGE-06
#[test]
fn a_cursor_stays_valid_while_entries_come_and_go() {
    let mut prompts = Prompts::new();
    for name in ["a", "b", "c"] {
        prompts.insert(Prompt::new(name)).unwrap();
    }
    let cursor = prompts.catalog.after(Position::default()).nth(1).unwrap().0.cursor();
    prompts.remove("b");
    prompts.insert(Prompt::new("d")).unwrap();
    let start = prompts.catalog.position(&cursor).unwrap();
    let names: Vec<_> = prompts.catalog.after(start).map(|(_, entry)| entry.key()).collect();
    assert_eq!(names, ["c", "d"]);
}
