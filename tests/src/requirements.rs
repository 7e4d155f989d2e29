//! Which test checks which requirement: a table made from what the tests say of themselves.
//!
//! A test names the requirements that it checks in its documentation, one by one or as a range, and the faults of others
//! that it keeps away: `/// HDR-10, HDR-12 to HDR-14, B38: what it shows`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// One requirement of the specification.
struct Requirement {
    id: String,
    level: String,
    /// Whether it concerns servers, clients, or both.
    side: String,
    /// Whether the official conformance suite exercises it.
    suite: bool,
    pages: String,
    text: String,
}

/// A fault that others had.
struct Fault {
    id: String,
    text: String,
    source: String,
}

/// Tests by the requirement that they name: file and function.
type Named = BTreeMap<String, BTreeSet<(String, String)>>;

/// Why no test here checks a requirement, in the order in which it is said, and of whom.
type Elsewhere = Vec<(Role, BTreeSet<String>, String)>;

/// Whose part is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Server,
    Client,
}

const ROLES: [Role; 2] = [Role::Server, Role::Client];

/// Where tests are of servers alone, so that what they name of both sides is not shown of clients.
const OF_SERVERS: [&str; 3] = ["core/src/server/", "driver/src/server/", "driver/src/context"];
/// Those of clients alone.
const OF_CLIENTS: [&str; 3] = ["core/src/client/", "core/src/auth/", "driver/src/client/"];

impl Role {
    fn has(self, requirement: &Requirement) -> bool {
        match self {
            Self::Server => requirement.side != "client",
            Self::Client => requirement.side != "server",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Server => "servers",
            Self::Client => "clients",
        }
    }

    fn is_tested(self, requirement: &Requirement, named: &Named) -> bool {
        let tests = named.get(&requirement.id);
        let (of_others, alone) = match self {
            Self::Server => (OF_CLIENTS, "server"),
            Self::Client => (OF_SERVERS, "client"),
        };
        let of_others = |path: &str| of_others.iter().any(|folder| path.starts_with(folder));
        let all = requirement.side == alone;
        tests.is_some_and(|tests| tests.iter().any(|(path, _)| all || !of_others(path)))
    }
}

/// Where the table is kept, below the root of the repository.
pub const TABLE: &str = "tests/requirements.md";

/// The table, for the repository at `root`.
///
/// # Errors
/// When something cannot be read, or a requirement is named that does not exist.
pub fn table(root: &Path) -> io::Result<String> {
    let Read { requirements, faults, named, elsewhere } = read(root)?;
    let known: BTreeSet<&str> = requirements.iter().map(|requirement| requirement.id.as_str()).collect();
    let areas: BTreeSet<&str> = known.iter().filter_map(|id| Some(id.split_once('-')?.0)).collect();
    let invented = named.keys().find(|id| match id.split_once('-') {
        Some((area, _)) => areas.contains(area) && !known.contains(id.as_str()),
        None => !faults.iter().any(|fault| fault.id == **id),
    });
    if let Some(id) = invented {
        let tests = &named[id];
        return Err(io::Error::other(format!("a test names {id}, which is in no list: {tests:?}")));
    }
    // Of what is met elsewhere a test may show a part nevertheless; then it counts as tested.
    let unknown = elsewhere.iter().find(|(_, ids, _)| ids.iter().all(|id| !known.contains(&**id)));
    if let Some((_, _, reason)) = unknown {
        return Err(io::Error::other(format!("{ELSEWHERE}: no requirement: {reason}")));
    }
    Ok(write(&requirements, &faults, &named, &elsewhere))
}

/// The ids that no test names, of the requirements that are not met elsewhere, and whose part is missing.
///
/// # Errors
/// When something cannot be read.
pub fn missing(root: &Path) -> io::Result<Vec<String>> {
    let Read { requirements, faults, named, elsewhere } = read(root)?;
    let mut missing = Vec::new();
    for role in ROLES {
        for one in requirements.iter().filter(|one| role.has(one)) {
            if !role.is_tested(one, &named) && reason(&elsewhere, role, &one.id).is_none() {
                missing.push(format!("{} ({})", one.id, role.name()));
            }
        }
    }
    missing.extend(faults.into_iter().map(|fault| fault.id).filter(|id| !named.contains_key(id)));
    Ok(missing)
}

fn reason<'a>(elsewhere: &'a Elsewhere, role: Role, id: &str) -> Option<&'a str> {
    elsewhere
        .iter()
        .find(|(of, ids, _)| *of == role && ids.contains(id))
        .map(|(_, _, reason)| reason.as_str())
}

/// What the repository says.
struct Read {
    requirements: Vec<Requirement>,
    faults: Vec<Fault>,
    named: Named,
    elsewhere: Elsewhere,
}

const ELSEWHERE: &str = "tests/elsewhere.txt";

fn read(root: &Path) -> io::Result<Read> {
    let list = fs::read_to_string(root.join("tests/requirements.txt"))?;
    let requirements = list.lines().filter(|line| !line.starts_with('#')).filter_map(requirement).collect();
    let list = fs::read_to_string(root.join("tests/faults.txt"))?;
    let faults = list.lines().filter(|line| !line.starts_with('#')).filter_map(fault).collect();
    let list = fs::read_to_string(root.join(ELSEWHERE))?;
    let mut elsewhere = Elsewhere::new();
    let mut role = Role::Server;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(": ") {
            _ if line == "[clients]" => role = Role::Client,
            Some((named, reason)) => {
                elsewhere.push((role, ids(named).into_iter().collect(), reason.to_owned()))
            }
            None => {}
        }
    }
    let mut named = Named::new();
    each_test(root, |path, name, docs| {
        for id in ids(docs) {
            named.entry(id).or_default().insert((path.to_owned(), name.to_owned()));
        }
    })?;
    Ok(Read { requirements, faults, named, elsewhere })
}

/// Tells of each test of the repository: its file, its name, and what it says of itself.
///
/// # Errors
/// When something cannot be read.
pub fn each_test(root: &Path, mut tell: impl FnMut(&str, &str, &str)) -> io::Result<()> {
    let mut files = Vec::new();
    for folder in
        ["core", "driver", "runtime-blocking", "runtime-smol", "runtime-tokio", "tests", "conformance"]
    {
        sources(&root.join(folder), &mut files)?;
    }
    files.sort();
    for file in files {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        scan(&path, &fs::read_to_string(&file)?, &mut tell);
    }
    Ok(())
}

/// A line of the list: `TOOL-07 MUST* server both suite | pages | text`.
fn requirement(line: &str) -> Option<Requirement> {
    let mut fields = line.splitn(3, " | ").map(str::to_owned);
    let (head, pages, text) = (fields.next()?, fields.next()?, fields.next()?);
    let mut words = head.split_whitespace();
    let (id, level, side) = (words.next()?.to_owned(), words.next()?.to_owned(), words.next()?.to_owned());
    Some(Requirement { id, level, side, suite: words.nth(1) == Some("suite"), pages, text })
}

/// A line of the list: `B38 | what went wrong | where it was reported`.
fn fault(line: &str) -> Option<Fault> {
    let mut fields = line.splitn(3, " | ").map(str::to_owned);
    Some(Fault { id: fields.next()?, text: fields.next()?, source: fields.next()? })
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        // Others' code, and what was built.
        if path.is_dir() && name != "target" && name != "node_modules" {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Finds the tests of a file. Functions of `tests/src/scenarios` are tests, too.
fn scan(path: &str, source: &str, tell: &mut impl FnMut(&str, &str, &str)) {
    let scenario = path.starts_with("tests/src/scenarios/");
    let (mut docs, mut test) = (String::new(), scenario);
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push(' ');
        } else if line.starts_with("#[") {
            test |= line.contains("test]") || line.contains("test(") || line.contains("(doctest)");
        } else {
            if test && let Some(name) = function(line) {
                tell(path, name, &docs);
            }
            docs.clear();
            test = scenario;
        }
    }
}

/// The name of the function that begins on this line, or of what a document is tested as.
fn function(line: &str) -> Option<&str> {
    if let Some(document) = line.strip_prefix("struct ") {
        return document.strip_suffix(';');
    }
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

/// The ids in a text: words such as `HDR-10`, and all between two of an area with `to` in the middle; `B38` and `P02`.
fn ids(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let mut found = Vec::new();
    let (mut last, mut range): (Option<(&str, u32)>, bool) = (None, false);
    for word in words.filter(|word| !word.is_empty()) {
        let id = word.split_once('-').and_then(|(area, number)| {
            let shaped = area.len() >= 2 && area.bytes().all(|byte| byte.is_ascii_uppercase());
            let number = number.parse().ok().filter(|_| number.len() == 2)?;
            shaped.then_some((area, number))
        });
        if let Some((area, number)) = id {
            let from = last.filter(|(of, _)| range && *of == area).map_or(number, |(_, from)| from + 1);
            found.extend((from..=number).map(|number| format!("{area}-{number:02}")));
        }
        if word.len() == 3
            && word.starts_with(['B', 'P'])
            && word[1..].bytes().all(|byte| byte.is_ascii_digit())
        {
            found.push(word.to_owned());
        }
        range = word == "to" && last.is_some();
        last = id.or(last.filter(|_| range));
    }
    found
}

fn write(requirements: &[Requirement], faults: &[Fault], named: &Named, elsewhere: &Elsewhere) -> String {
    let mut out = String::from(INTRODUCTION);
    for role in ROLES {
        let concerned: Vec<_> = requirements.iter().filter(|one| role.has(one)).collect();
        let (tested, rest): (Vec<&Requirement>, Vec<_>) =
            concerned.iter().partition(|one| role.is_tested(one, named));
        let (others, rest): (Vec<&Requirement>, Vec<_>) =
            rest.iter().partition(|one| reason(elsewhere, role, &one.id).is_some());
        let (suite, untested): (Vec<&Requirement>, Vec<_>) = rest.iter().partition(|one| one.suite);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "## What concerns {}\n", role.name());
        let _ = writeln!(
            out,
            "Of {} requirements, {} are named by a test, {} more are exercised by the official suite alone, {} are \
             not for a test here, and {} are left.\n",
            concerned.len(),
            tested.len(),
            suite.len(),
            others.len(),
            untested.len()
        );
        for (title, what) in [("Left", &untested), ("Exercised by the official suite alone", &suite)] {
            if !what.is_empty() {
                let _ = writeln!(out, "### {title}\n");
                by_area(&mut out, what);
            }
        }
        let _ = writeln!(out, "### Not for a test here\n");
        for (_, _, reason) in elsewhere.iter().filter(|(of, _, _)| *of == role) {
            let ids: Vec<_> = others
                .iter()
                .filter(|one| self::reason(elsewhere, role, &one.id) == Some(reason))
                .map(|one| format!("{} ({})", one.id, one.level))
                .collect();
            if !ids.is_empty() {
                let _ = writeln!(out, "- {reason}: {}", ids.join(", "));
            }
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "## Named by tests\n\n| id | level | of | requirement | pages | tests |\n|---|---|---|---|---|---|"
    );
    for requirement in requirements.iter().filter(|one| named.contains_key(&one.id)) {
        let Requirement { id, level, side, pages, text, .. } = requirement;
        let text = text.replace('|', "\\|");
        let _ = writeln!(out, "| {id} | {level} | {side} | {text} | {pages} | {} |", tests(named, id));
    }
    let _ = writeln!(
        out,
        "\n## Faults of others\n\n| id | what went wrong | reported | tests |\n|---|---|---|---|"
    );
    for Fault { id, text, source } in faults {
        let _ = writeln!(out, "| {id} | {text} | {source} | {} |", tests(named, id));
    }
    out
}

fn tests(named: &Named, id: &str) -> String {
    let tests = named.get(id).into_iter().flatten();
    tests.map(|(path, name)| format!("{path}: `{name}`")).collect::<Vec<_>>().join("<br>")
}

/// One line an area.
fn by_area(out: &mut String, requirements: &[&Requirement]) {
    let mut areas: Vec<(&str, Vec<String>)> = Vec::new();
    for requirement in requirements {
        let area = requirement.id.split_once('-').map_or("", |(area, _)| area);
        let text = format!("{} ({})", requirement.id, requirement.level);
        match areas.last_mut() {
            Some((last, texts)) if *last == area => texts.push(text),
            _ => areas.push((area, vec![text])),
        }
    }
    for (_, texts) in areas {
        let _ = writeln!(out, "- {}", texts.join(", "));
    }
    out.push('\n');
}

const INTRODUCTION: &str = "\
# Which test checks which requirement

Made by `cargo run -p mcp-tests --bin requirements`, from what the tests say of themselves; do not edit. The
ids are those of `requirements.txt`, which says where their pages are, and of `faults.txt`; what is not for a test here, and why,
is in `elsewhere.txt`. What concerns both sides counts for one where a test that is not of the other alone names it.

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_one_by_one_and_in_ranges() {
        let found = ids("HDR-10, B38, HDR-12 to HDR-14 and SSE-01: what UTF-8 goes to RES-02 to");
        assert_eq!(found, ["HDR-10", "B38", "HDR-12", "HDR-13", "HDR-14", "SSE-01", "RES-02"]);
    }

    #[test]
    fn only_functions_that_are_tests_count() {
        let mut told = Vec::new();
        let mut tell = |path: &str, name: &str, docs: &str| told.push(format!("{path} {name} {docs:?}"));
        let source = "/// A\nfn helper() {}\n\n/// B:\n/// C\n#[test]\nfn shown() {}\n";
        scan("core/src/x.rs", source, &mut tell);
        scan("tests/src/scenarios/x.rs", "/// D\npub fn played<K: Kit>() {}\n", &mut tell);
        assert_eq!(told, ["core/src/x.rs shown \" B:  C \"", "tests/src/scenarios/x.rs played \" D \""]);
    }
}
