//! JSON as a tree whose members keep their order, which models write theirs in.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use crate::model::Json;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Object(Members),
}

pub(super) type Members = Vec<(String, Tree)>;

impl Tree {
    /// An object without members.
    pub(super) const fn empty() -> Self {
        Self::Object(Vec::new())
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn object<const N: usize>(members: [(&str, Tree); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    pub(super) fn members(&self) -> &[(String, Tree)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        get(self.members(), name)
    }

    pub(super) fn list(&self) -> &[Tree] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The names in a list of them.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list().iter().filter_map(Self::as_text)
    }

    /// The value at a place in this document, as a `$ref` names it.
    pub(super) fn at(&self, reference: &str) -> Option<&Self> {
        let pointer = reference.strip_prefix('#')?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        pointer.split('/').skip(1).try_fold(self, |value, step| match value {
            Self::List(list) => list.get(step.parse::<usize>().ok()?),
            value => value.get(&step.replace("~1", "/").replace("~0", "~")),
        })
    }

    pub(super) fn json(&self) -> Json {
        // Names are strings and numbers finite, so it can be written.
        Json::new(self).unwrap_or_else(|_| Json::empty_object())
    }
}

pub(super) fn get<'t>(members: &'t [(String, Tree)], name: &str) -> Option<&'t Tree> {
    members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// Puts a member in the place of the one with this name, or behind the others.
pub(super) fn set(members: &mut Members, name: &str, value: Tree) {
    match members.iter_mut().find(|(known, _)| known == name) {
        Some((_, place)) => *place = value,
        None => members.push((name.into(), value)),
    }
}

pub(super) fn remove(members: &mut Members, name: &str) -> Option<Tree> {
    let at = members.iter().position(|(known, _)| known == name)?;
    Some(members.remove(at).1)
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E: Error>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Bool(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
                Ok(Tree::Number(value.into()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Number(value.into()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
                Number::from_f64(value).map(Tree::Number).ok_or_else(|| E::custom("a number is not finite"))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                }
                Ok(Tree::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Tree::Object(members))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
