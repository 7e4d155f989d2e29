//! Where references lead: to a place in the same document, and not round and round.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::SchemaError;
use super::compile::{Compiler, Place, Reference};
use super::node::{Id, Keyword, Node, Resource};
use super::uri;
use crate::text::excerpt;

/// Resolves all references, and those in what they lead to.
pub(super) fn resolve(compiler: &mut Compiler<'_>) -> Result<(), SchemaError> {
    while let Some(reference) = compiler.references.pop() {
        let target = target(compiler, &reference)?;
        let keyword = match reference.keyword {
            "$dynamicRef" => {
                let name = uri::split(&reference.uri).1.and_then(decode);
                let part = compiler.nodes.get(target).map(|node| node.resource);
                let resource = part.and_then(|part| compiler.resources.get(part));
                // Only what has a dynamic anchor can be replaced by another one.
                let name = name.filter(|name| {
                    resource.is_some_and(|resource| resource.dynamic.get(name) == Some(&target))
                });
                Keyword::DynamicRef { target, name }
            }
            "$recursiveRef" => Keyword::RecursiveRef(target),
            _ => Keyword::Ref(target),
        };
        if let Some(node) = compiler.nodes.get_mut(reference.from) {
            // What looks at leftovers stays last.
            node.keywords.insert(0, keyword);
        }
    }
    Ok(())
}

fn target(compiler: &mut Compiler<'_>, reference: &Reference) -> Result<Id, SchemaError> {
    let Reference { place, keyword, uri, .. } = reference;
    let error = |reason: String| place.error(keyword, reason);
    let nowhere = || error(format!("`{}` leads nowhere", excerpt(uri)));
    let (document, fragment) = uri::split(uri);
    let part = if document.is_empty() { Some(place.resource) } else { named(compiler, place, document) };
    let Some(part) = part else {
        let reason = format!(
            "`{}` leads to another document; only what is in this one is referred to, since none is fetched",
            excerpt(uri)
        );
        return Err(error(reason));
    };
    let fragment = decode(fragment.unwrap_or_default()).ok_or_else(nowhere)?;
    let resource = compiler.resources.get(part).ok_or_else(nowhere)?;
    if fragment.is_empty() {
        return Ok(resource.root);
    }
    if !fragment.starts_with('/') {
        return resource.anchors.get(&fragment).copied().ok_or_else(nowhere);
    }
    let path = [&*resource.path, &*fragment].concat();
    if let Some(id) = compiler.places.get(&path) {
        return Ok(*id);
    }
    // Below no keyword that holds schemas, but what is referred to as a schema is one.
    let schema = compiler.document.at(&path).ok_or_else(nowhere)?;
    compiler.schema(schema, Place { path, resource: part, depth: 0 })
}

/// The part of the document that is called so from a place.
fn named(compiler: &Compiler<'_>, place: &Place, document: &str) -> Option<usize> {
    let base = &*compiler.resources.get(place.resource)?.uri;
    compiler.named.get(&uri::join(base, document)).copied()
}

/// Takes the percent-encoding off a fragment.
fn decode(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.into());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// A schema that applies itself to the same value again would never be done with any.
pub(super) fn check_cycles(nodes: &[Node], resources: &[Resource]) -> Result<(), SchemaError> {
    let mut dynamic: BTreeMap<String, Vec<Id>> = BTreeMap::new();
    for (name, id) in resources.iter().flat_map(|resource| &resource.dynamic) {
        dynamic.entry(name.clone()).or_default().push(*id);
    }
    let recursive: Vec<Id> =
        resources.iter().filter(|resource| resource.recursive).map(|resource| resource.root).collect();
    // Takes away what nothing is applied by, again and again; a circle remains.
    let mut appliers = alloc::vec![0_usize; nodes.len()];
    let targets: Vec<Vec<Id>> = nodes
        .iter()
        .map(|node| {
            let mut targets = Vec::new();
            node.in_place(|id| targets.push(id), &dynamic, &recursive);
            targets
        })
        .collect();
    let count = |appliers: &mut [usize], id: &Id, by: isize| {
        let count = appliers.get_mut(*id)?;
        *count = count.saturating_add_signed(by);
        Some(*count)
    };
    for id in targets.iter().flatten() {
        count(&mut appliers, id, 1);
    }
    let mut free: Vec<Id> = (0..nodes.len()).filter(|id| appliers.get(*id) == Some(&0)).collect();
    let mut taken = 0;
    while let Some(id) = free.pop() {
        taken += 1;
        for target in targets.get(id).into_iter().flatten() {
            if count(&mut appliers, target, -1) == Some(0) {
                free.push(*target);
            }
        }
    }
    if taken < nodes.len() {
        let reason = "its references go round in a circle, so that no value could be checked";
        return Err(SchemaError::new("", reason));
    }
    Ok(())
}
