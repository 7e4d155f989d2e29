//! `docs/security.md` says nothing of tests that are not there, and its sums are right.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcp_driver::Limits;
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

/// A number such as `64 MiB` or `2,048` at the beginning of a text.
fn number(text: &str) -> Option<f64> {
    let mut words = text.split([' ', ';']);
    let number: f64 = words.next()?.replace(',', "").parse().ok()?;
    Some(
        number
            * words.next().map_or(1., |unit| match unit {
                "KiB" => 1024.,
                "MiB" => 1024. * 1024.,
                "GiB" => 1024. * 1024. * 1024.,
                _ => 1.,
            }),
    )
}

/// What is in a column, such as "`message` 4 MiB, 1 KiB", after each setting was looked up.
fn sum(column: &str, defaults: &str) -> Option<f64> {
    let parts = column.split(", ").filter_map(|part| {
        let Some((name, value)) = part.strip_prefix('`').and_then(|part| part.split_once("` ")) else {
            return number(part);
        };
        let value = number(value).unwrap_or_else(|| panic!("no number: {part}"));
        assert!(defaults.contains(&format!(" {name}: {value},")), "not the default: {part}");
        Some(value)
    });
    parts.reduce(|sum, part| sum + part)
}

/// The sizes of the tables are those of `Limits::default()`, and what they come to is what is said, but for rounding.
#[test]
fn what_it_may_cost_is_what_the_limits_come_to() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let defaults = format!("{:?}", Limits::default());
    let (_, text) = text.split_once("## What it may cost").unwrap();
    let (text, _) = text.split_once("\n## ").unwrap();
    let mut sums = 0;
    for row in text.lines().filter(|line| line.starts_with('|')) {
        let columns: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, _, each, many, said, _] = columns[..] else { panic!("not four columns: {row}") };
        let (each, many) = (sum(each, &defaults), sum(many, &defaults));
        let Some(said) = number(said) else { continue };
        let sum = each.unwrap() * many.unwrap();
        assert!((0.95..1.05).contains(&(said / sum)), "{row}: {sum}");
        sums += 1;
    }
    assert!(sums > 14, "the tables are not read");
}
