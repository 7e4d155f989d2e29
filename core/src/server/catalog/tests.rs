use super::*;
use crate::model::prompts::Prompt;
use crate::server::Prompts;
use crate::server::testing::{ADD, tool};
use crate::server::tools::Tools;
use alloc::vec::Vec;

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

/// TOOL-06: what is copied as a whole is what its entries say one by one, in every revision, whatever came and went.
#[test]
fn the_whole_list_is_its_entries_one_after_the_other() {
    let mut tools = Tools::new();
    let whole = |tools: &Tools| {
        for revision in Revision::ALL {
            let texts: Vec<_> = tools.iter().map(|entry| entry.text(revision).get()).collect();
            let whole: Vec<_> = tools.catalog.whole(revision).collect();
            assert_eq!(whole.join(","), texts.join(","), "{revision}");
        }
    };
    whole(&tools);
    tools.insert(tool("plain", ADD)).unwrap();
    whole(&tools);
    // Titles came with 2025-06-18, so that the texts of this one part there.
    tools.insert(tool("titled", ADD).title("Title")).unwrap();
    let before = tools.clone();
    tools.insert(tool("last", ADD)).unwrap();
    whole(&tools);
    tools.remove("plain");
    whole(&tools);
    tools.remove("titled");
    tools.remove("last");
    whole(&tools);
    whole(&before);
    assert_eq!(before.len(), 2);
    // More than a piece, from the ends and from the middle.
    for i in 0..200 {
        tools.insert(tool(&std::format!("tool{i}"), ADD)).unwrap();
    }
    let full = tools.clone();
    for i in [0, 199, 64, 100, 63].into_iter().chain(64..128) {
        tools.remove(&std::format!("tool{i}"));
        whole(&tools);
    }
    whole(&full);
    tools.insert(tool("last", ADD)).unwrap();
    whole(&tools);
}

/// What tells clients of a change, and people of what is unwise about new entries, looks at what has changed alone.
#[test]
fn what_a_change_has_changed_is_known() {
    let mut tools = Tools::new();
    for i in 0..100 {
        tools.insert(tool(&std::format!("tool{i}"), ADD)).unwrap();
    }
    let before = tools.clone();
    assert!(tools.is_same(&before) && tools.added_since(&before).next().is_none());
    tools.remove("tool3");
    assert!(!tools.is_same(&before) && tools.added_since(&before).next().is_none());
    tools.insert(tool("tool3", ADD)).unwrap();
    tools.insert(tool("more", ADD)).unwrap();
    let names: Vec<_> = tools.added_since(&before).map(|entry| entry.key()).collect();
    assert_eq!((tools.is_same(&before), names), (false, ["tool3", "more"].to_vec()));
    tools.remove("more");
    // As many, but one of them is another one.
    assert!(!tools.is_same(&before) && tools.len() == before.len());
}
