//! Names of functions: what all providers allow, each for one tool.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

/// As long as a name may be.
const LONGEST: usize = 64;

/// A name for each label, with its place among them; those come first that are names as they are.
pub(super) fn name_all<'l>(labels: impl Iterator<Item = &'l str>) -> Vec<(String, usize, &'l str)> {
    let mut known = BTreeSet::new();
    let labels: Vec<(usize, &str)> = labels.enumerate().filter(|(_, label)| known.insert(*label)).collect();
    // A name that had to be made must not take the place of one that is somebody's own.
    let mut taken: BTreeSet<String> =
        labels.iter().filter(|(_, label)| is_name(label)).map(|(_, label)| String::from(*label)).collect();
    let named = labels.into_iter().map(|(index, label)| {
        if is_name(label) {
            return (String::from(label), index, label);
        }
        let mut round = 0;
        loop {
            let name = made(label, round);
            if taken.insert(name.clone()) {
                return (name, index, label);
            }
            round += 1;
        }
    });
    named.collect()
}

fn is_name(label: &str) -> bool {
    label.len() <= LONGEST
        && label.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && label.bytes().all(is_allowed)
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// As much of the label as can be read, and a digest of all of it.
fn made(label: &str, round: u32) -> String {
    let digest = Sha256::digest(format!("{round}{label}"));
    let [a, b, c, d] = digest.first_chunk::<4>().copied().unwrap_or_default();
    let digest = format!("_{a:02x}{b:02x}{c:02x}{d:02x}");
    let allowed = label.chars().map(|c| if c.is_ascii() && is_allowed(c as u8) { c } else { '_' });
    let first =
        Some('_').filter(|_| !label.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'));
    let mut name: String = first.into_iter().chain(allowed).take(LONGEST - digest.len()).collect();
    name.push_str(&digest);
    name
}
