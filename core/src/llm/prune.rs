//! Arguments without what a provider makes a model say about those that it leaves out.

use super::tree::Tree;

/// References that are followed to see what a schema says.
const REFERENCES: usize = 16;

/// Takes out each `null` of a property that is optional and cannot be `null`.
pub(super) fn prune(schema: &Tree, arguments: &mut Tree) {
    walk(schema, schema, arguments);
}

fn walk(root: &Tree, schema: &Tree, value: &mut Tree) {
    let Some(schema) = followed(root, schema) else { return };
    match value {
        Tree::Object(members) => {
            let (Some(properties), required) = (schema.get("properties"), schema.get("required")) else {
                return;
            };
            members.retain_mut(|(name, value)| {
                let Some(property) = properties.get(name) else { return true };
                let optional = required.is_none_or(|required| required.names().all(|known| known != name));
                if *value == Tree::Null {
                    return !optional || may_be_null(root, property);
                }
                walk(root, property, value);
                true
            });
        }
        Tree::List(list) => {
            if let Some(items) = schema.get("items") {
                list.iter_mut().for_each(|value| walk(root, items, value));
            }
        }
        _ => {}
    }
}

fn followed<'t>(root: &'t Tree, mut schema: &'t Tree) -> Option<&'t Tree> {
    for _ in 0..REFERENCES {
        match schema.get("$ref").and_then(Tree::as_text) {
            Some(reference) => schema = root.at(reference)?,
            None => return Some(schema),
        }
    }
    None
}

/// Whether a schema lets `null` pass, as far as that is easily seen; where it is not, yes.
fn may_be_null(root: &Tree, schema: &Tree) -> bool {
    let Some(schema) = followed(root, schema) else { return true };
    let null = |kind: &Tree| kind.as_text() == Some("null");
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(kind), ..) => null(kind) || kind.list().iter().any(null),
        (None, Some(values), _) => values.list().contains(&Tree::Null),
        (None, None, Some(value)) => *value == Tree::Null,
        (None, None, None) => {
            let branches = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword));
            let mut branches = branches.flat_map(Tree::list).peekable();
            branches.peek().is_none() || branches.any(may_be_null_flat)
        }
    }
}

/// The same of a branch, whose own branches are not looked at.
fn may_be_null_flat(schema: &Tree) -> bool {
    match schema.get("type") {
        Some(Tree::Text(kind)) => kind == "null",
        Some(kinds) => kinds.names().any(|kind| kind == "null"),
        None => schema.get("const").is_none_or(|value| *value == Tree::Null),
    }
}
