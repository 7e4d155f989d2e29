//! What schemas of arguments have to be for providers, as far as several have it in common.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::tree::{Members, Tree, get, remove, set};

/// References that are followed one from another.
const REFERENCES: usize = 16;
/// Schemas that are combined. Each may refer to the same large one, so of more of them nothing is said.
pub(super) const BRANCHES: usize = 64;

/// The schema of arguments as one of an object whose root combines nothing: `allOf`, `anyOf` and `oneOf` there become
/// properties, and only those are required that all forms require. What else a root may not say is left out.
pub(super) fn plain_root(schema: &Tree) -> Members {
    let mut root = resolved(schema, schema);
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let branches = remove(&mut root, keyword).filter(|branches| branches.list().len() <= BRANCHES);
        let Some(branches) = branches else { continue };
        let branches: Vec<Members> = branches.list().iter().map(|branch| resolved(schema, branch)).collect();
        fold(&mut root, &branches, keyword == "allOf");
    }
    for keyword in ["$schema", "not", "enum", "const", "if", "then", "else"] {
        remove(&mut root, keyword);
    }
    if get(&root, "type").and_then(Tree::as_text) != Some("object") {
        remove(&mut root, "type");
        root.insert(0, ("type".into(), Tree::text("object")));
    }
    if !matches!(get(&root, "properties"), Some(Tree::Object(_))) {
        set(&mut root, "properties", Tree::empty());
    }
    root
}

/// A schema with what its reference says, if it is one.
pub(super) fn resolved(root: &Tree, schema: &Tree) -> Members {
    let mut members = schema.members().to_vec();
    for _ in 0..REFERENCES {
        let Some(Tree::Text(reference)) = remove(&mut members, "$ref") else { return members };
        for (name, value) in root.at(&reference).map(Tree::members).unwrap_or_default() {
            // What stands beside the reference is closer.
            if get(&members, name).is_none() {
                members.push((name.clone(), value.clone()));
            }
        }
    }
    remove(&mut members, "$ref");
    members
}

/// Puts the properties of branches into one object.
pub(super) fn fold(into: &mut Members, branches: &[Members], all: bool) {
    let mut properties = get(into, "properties").map(Tree::members).unwrap_or_default().to_vec();
    let own: Vec<String> = properties.iter().map(|(name, _)| name.clone()).collect();
    for branch in branches {
        for (name, schema) in get(branch, "properties").map(Tree::members).unwrap_or_default() {
            let known = properties.iter_mut().find(|(known, _)| known == name);
            match known {
                None => properties.push((name.clone(), schema.clone())),
                // What holds for all forms stays; of several forms each may be meant.
                Some((_, other)) if !all && !own.contains(name) => *other = either(other, schema),
                Some(_) => {}
            }
        }
    }
    let required = |branch: &Members| -> Vec<String> {
        get(branch, "required").into_iter().flat_map(Tree::names).map(String::from).collect()
    };
    let mut names = required(into);
    let mut branches = branches.iter();
    let common = match (all, branches.next()) {
        (_, None) => Vec::new(),
        (true, Some(first)) => branches.fold(required(first), |mut names, branch| {
            names.extend(required(branch));
            names
        }),
        (false, Some(first)) => branches.fold(required(first), |mut names, branch| {
            let others = required(branch);
            names.retain(|name| others.contains(name));
            names
        }),
    };
    common.into_iter().for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    set(into, "properties", Tree::Object(properties));
    if !names.is_empty() {
        set(into, "required", Tree::List(names.into_iter().map(Tree::Text).collect()));
    }
}

/// A schema for what fits one of two.
fn either(one: &Tree, other: &Tree) -> Tree {
    if one == other {
        return one.clone();
    }
    let mut forms = match one {
        Tree::Object(members) if members.len() == 1 => match get(members, "anyOf") {
            Some(Tree::List(forms)) => forms.clone(),
            _ => vec![one.clone()],
        },
        _ => vec![one.clone()],
    };
    if !forms.contains(other) {
        forms.push(other.clone());
    }
    Tree::object([("anyOf", Tree::List(forms))])
}

/// Keywords whose value is a schema, a list of schemas, or an object of schemas.
pub(super) const ONE: [&str; 11] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
pub(super) const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
pub(super) const NAMED: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Does something to every subschema.
pub(super) fn each(members: &mut Members, change: &impl Fn(&mut Members)) {
    change(members);
    let visit = |schema: &mut Tree| {
        if let Tree::Object(members) = schema {
            each(members, change);
        }
    };
    for (keyword, value) in members {
        match value {
            Tree::Object(schemas) if NAMED.contains(&keyword.as_str()) => {
                schemas.iter_mut().for_each(|(_, schema)| visit(schema));
            }
            Tree::List(schemas) if LISTS.contains(&keyword.as_str()) || keyword == "items" => {
                schemas.iter_mut().for_each(visit);
            }
            schema if ONE.contains(&keyword.as_str()) => visit(schema),
            _ => {}
        }
    }
}
