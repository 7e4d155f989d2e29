//! A schema as it is kept: its subschemas by number, each a list of what it demands.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::decimal::Decimal;
use super::pattern::Pattern;
use super::value::Value;

/// Names a subschema.
pub(super) type Id = usize;

/// A subschema.
#[derive(Default)]
pub(super) struct Node {
    /// The resource that it belongs to: the document, or a part of it with an `$id` of its own.
    pub(super) resource: usize,
    pub(super) keywords: Vec<Keyword>,
    /// The numbers of the integer type that `format` names, whose bounds schemas made of types repeat.
    pub(super) sized: Option<(Decimal, Decimal)>,
}

/// A part of a document that references are relative to.
#[derive(Default)]
pub(super) struct Resource {
    /// What other parts call it: its `$id`, as it reads from where it stands. Empty for a document without one.
    pub(super) uri: String,
    /// Where it stands, as a JSON pointer.
    pub(super) path: String,
    pub(super) root: Id,
    pub(super) anchors: BTreeMap<String, Id>,
    pub(super) dynamic: BTreeMap<String, Id>,
    /// `$recursiveAnchor` of 2019-09.
    pub(super) recursive: bool,
}

/// What a subschema demands.
pub(super) enum Keyword {
    /// The schema `false`.
    Never,
    Type(Kinds),
    /// `enum`, or `const` with a single one.
    OneOfValues(Vec<Value<'static>>),
    Minimum(Bound),
    Maximum(Bound),
    MultipleOf(Decimal),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Properties {
        /// Sorted by name.
        named: Vec<(String, Id)>,
        patterns: Vec<(Pattern, Id)>,
        rest: Option<Id>,
    },
    PropertyNames(Id),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, Id)>),
    MinProperties(u64),
    MaxProperties(u64),
    Items {
        prefix: Vec<Id>,
        rest: Option<Id>,
    },
    Contains {
        schema: Id,
        min: u64,
        max: Option<u64>,
        /// Whether what is contained counts as evaluated.
        evaluates: bool,
    },
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id),
    If {
        condition: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
    Ref(Id),
    /// `name` where the target has a dynamic anchor, which one further out may replace.
    DynamicRef {
        target: Id,
        name: Option<String>,
    },
    RecursiveRef(Id),
    /// These two come last: they are about what the others left over.
    UnevaluatedItems(Id),
    UnevaluatedProperties(Id),
}

/// A bound on numbers.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) value: Decimal,
    /// Whether the bound itself is out.
    pub(super) exclusive: bool,
}

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

/// The types of JSON Schema, and what they are called before people.
const KINDS: [(&str, &str); 7] = [
    ("null", "null"),
    ("boolean", "a boolean"),
    ("integer", "an integer"),
    ("number", "a number"),
    ("string", "a string"),
    ("array", "an array"),
    ("object", "an object"),
];

impl Kinds {
    pub(super) const NONE: Self = Self(0);

    /// With one more; `None` if there is no such type.
    pub(super) fn with(self, name: &str) -> Option<Self> {
        let index = KINDS.iter().position(|(known, _)| *known == name)?;
        Some(Self(self.0 | 1 << index))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, name: &str) -> bool {
        self.with(name) == Some(self)
    }
}

#[cfg(feature = "jsonschema")]
impl Kinds {
    pub(super) fn admit(self, value: &Value<'_>) -> bool {
        match value {
            Value::Null => self.has("null"),
            Value::Bool(_) => self.has("boolean"),
            Value::Number(text) => {
                self.has("number") || self.has("integer") && Decimal::read(text).is_integer()
            }
            Value::Text(_) => self.has("string"),
            Value::List(_) => self.has("array"),
            Value::Object(_) => self.has("object"),
        }
    }

    /// `an integer or null`.
    pub(super) fn describe(self) -> String {
        // Null comes last, where it reads best.
        let names = KINDS.iter().skip(1).chain(KINDS.first());
        let mut text = String::new();
        for (_, name) in names.filter(|(name, _)| self.has(name)) {
            if !text.is_empty() {
                text.push_str(" or ");
            }
            text.push_str(name);
        }
        text
    }
}

impl Node {
    /// The subschemas that a check of a value applies to the same value. Where a dynamic reference leads is found
    /// out by `dynamic`.
    pub(super) fn in_place(
        &self,
        mut visit: impl FnMut(Id),
        dynamic: &BTreeMap<String, Vec<Id>>,
        recursive: &[Id],
    ) {
        for keyword in &self.keywords {
            match keyword {
                Keyword::AllOf(ids) | Keyword::AnyOf(ids) | Keyword::OneOf(ids) => {
                    ids.iter().copied().for_each(&mut visit);
                }
                Keyword::Not(id) | Keyword::Ref(id) => visit(*id),
                Keyword::If { condition, then, otherwise } => {
                    [Some(*condition), *then, *otherwise].into_iter().flatten().for_each(&mut visit);
                }
                Keyword::DependentSchemas(schemas) => schemas.iter().for_each(|(_, id)| visit(*id)),
                Keyword::DynamicRef { target, name } => {
                    visit(*target);
                    let others = name.as_ref().and_then(|name| dynamic.get(name));
                    others.into_iter().flatten().copied().for_each(&mut visit);
                }
                Keyword::RecursiveRef(target) => {
                    visit(*target);
                    recursive.iter().copied().for_each(&mut visit);
                }
                _ => {}
            }
        }
    }

    /// Whether it demands more than a type does that is decoded.
    pub(super) fn is_stricter_than_types(&self) -> bool {
        self.keywords.iter().any(|keyword| match keyword {
            Keyword::Never
            | Keyword::Type(_)
            | Keyword::OneOfValues(_)
            | Keyword::Required(_)
            | Keyword::Items { .. }
            | Keyword::AllOf(_)
            | Keyword::AnyOf(_)
            | Keyword::OneOf(_)
            | Keyword::Ref(_) => false,
            Keyword::Properties { patterns, .. } => !patterns.is_empty(),
            // Another bound than that of the type may be further out, too, and then checks what is sure.
            Keyword::Minimum(bound) => {
                self.sized.is_none_or(|(least, _)| bound.exclusive || bound.value != least)
            }
            Keyword::Maximum(bound) => {
                self.sized.is_none_or(|(_, most)| bound.exclusive || bound.value != most)
            }
            _ => true,
        })
    }

    /// Whether it looks at what its other keywords have left over.
    #[cfg(feature = "jsonschema")]
    pub(super) fn has_unevaluated(&self) -> bool {
        matches!(self.keywords.last(), Some(Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_)))
    }
}
