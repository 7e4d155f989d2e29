//! `docs/security.md` says nothing of tests that are not there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcp_tests::requirements::each_test;

/// What stands in backquotes in the last column of the tables of what comes: tests, and programs.
fn shown_by(text: &str) -> Vec<&str> {
    let mut of_tests = false;
    let mut names = Vec::new();
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|').and_then(|row| row.trim_end().strip_suffix('|')) else {
            of_tests = false;
            continue;
        };
        let last = row.rsplit('|').next().unwrap_or_default().trim();
        of_tests |= last == "shown by";
        if of_tests && !last.starts_with("---") && last != "shown by" {
            let quoted: Vec<_> = last.split('`').skip(1).step_by(2).collect();
            assert!(!quoted.is_empty(), "nothing shows this: {line}");
            names.extend(quoted);
        }
    }
    names
}

/// Every test and program that is said to show something exists.
#[test]
fn whatever_is_said_to_show_a_promise_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut tests = BTreeSet::new();
    each_test(&root, |_, name, _| {
        tests.insert(name.to_owned());
    })
    .unwrap();
    let names = shown_by(&text);
    assert!(names.len() > 100, "the tables are not read: {names:?}");
    let lost: Vec<_> =
        names.iter().filter(|name| !tests.contains(**name) && !root.join(name).is_file()).collect();
    assert!(lost.is_empty(), "in docs/security.md, and nowhere else: {lost:?}");
}
