//! The keywords of a subschema: each of the right form, in the dialects that have it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::compile::{Compiler, Place, text};
use super::decimal::Decimal;
use super::node::{Bound, Id, Keyword, Kinds};
use super::pattern::Pattern;
use super::value::Value;
use super::{Dialect, SchemaError};
use crate::text::excerpt;

type Read<T> = Result<T, SchemaError>;

/// The least and the most of an integer type of Rust, by its name as a `format`.
fn integers(format: &str) -> Option<(Decimal, Decimal)> {
    let (signed, bits) = match format.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, format.strip_prefix("int")?),
    };
    // Without a number the size of a pointer is meant, which may be 64 bits.
    let bits: u32 = if bits.is_empty() { 64 } else { bits.parse().ok()? };
    let most = u128::MAX.checked_shr(128_u32.checked_sub(bits)? + u32::from(signed))?;
    let least = if signed { i128::MIN.checked_shr(128 - bits)? } else { 0 };
    let decimal = |number: &dyn core::fmt::Display| Decimal::read(&format!("{number}"));
    Some((decimal(&least), decimal(&most)))
}

/// Takes in what `schema`, an object, demands.
pub(super) fn read(to: &mut Compiler<'_>, id: Id, schema: &Value<'_>, place: &Place) -> Read<()> {
    let of = Of { schema, place };
    for keyword in ["title", "description", "$comment"] {
        text(schema, keyword, place)?;
    }
    if let Some(format) = text(schema, "format", place)?
        && let Some(node) = to.nodes.get_mut(id)
    {
        node.sized = integers(format);
    }
    any(to, id, &of)?;
    number(to, id, &of)?;
    string(to, id, &of)?;
    combined(to, id, &of)?;
    object(to, id, &of)?;
    array(to, id, &of)?;
    references(to, id, &of)?;
    // Not applied by themselves, but they have to be schemas.
    for keyword in ["$defs", "definitions"] {
        if keyword == "definitions" || to.dialect >= Dialect::Draft2019 {
            of.schemas(to, keyword)?;
        }
    }
    if to.dialect >= Dialect::Draft2019 {
        for (keyword, demand) in [
            ("unevaluatedItems", Keyword::UnevaluatedItems as fn(Id) -> Keyword),
            ("unevaluatedProperties", Keyword::UnevaluatedProperties),
        ] {
            if let Some(inner) = of.schema(to, keyword)? {
                to.demand(id, demand(inner));
            }
        }
    }
    Ok(())
}

fn any(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    match of.schema.get("type") {
        None => {}
        Some(Value::Text(name)) => to.demand(id, Keyword::Type(of.kind(Kinds::NONE, name)?)),
        Some(Value::List(names)) if !names.is_empty() => {
            let kinds = names.iter().try_fold(Kinds::NONE, |kinds, name| match name {
                Value::Text(name) if !kinds.has(name) => of.kind(kinds, name),
                _ => Err(of.expected("type", "different names of types")),
            })?;
            to.demand(id, Keyword::Type(kinds));
        }
        Some(_) => return Err(of.expected("type", "the name of a type, or a list of such")),
    }
    match of.schema.get("enum") {
        None => {}
        Some(Value::List(values)) => {
            let values = values.iter().map(|value| value.clone().into_owned()).collect();
            to.demand(id, Keyword::OneOfValues(values));
        }
        Some(_) => return Err(of.expected("enum", "an array")),
    }
    if let Some(value) = of.schema.get("const") {
        to.demand(id, Keyword::OneOfValues(alloc::vec![value.clone().into_owned()]));
    }
    Ok(())
}

fn number(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    for (keyword, exclusive) in [("minimum", false), ("exclusiveMinimum", true)] {
        if let Some(value) = of.number(keyword)? {
            to.demand(id, Keyword::Minimum(Bound { value, exclusive }));
        }
    }
    for (keyword, exclusive) in [("maximum", false), ("exclusiveMaximum", true)] {
        if let Some(value) = of.number(keyword)? {
            to.demand(id, Keyword::Maximum(Bound { value, exclusive }));
        }
    }
    match of.number("multipleOf")? {
        Some(unit) if unit.is_positive() => to.demand(id, Keyword::MultipleOf(unit)),
        Some(_) => return Err(of.expected("multipleOf", "a number greater than 0")),
        None => {}
    }
    Ok(())
}

fn string(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    of.bound(to, id, "minLength", Keyword::MinLength)?;
    of.bound(to, id, "maxLength", Keyword::MaxLength)?;
    if let Some(pattern) = text(of.schema, "pattern", of.place)? {
        let pattern = of.pattern(to, "pattern", pattern)?;
        to.demand(id, Keyword::Pattern(pattern));
    }
    Ok(())
}

fn combined(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    for (keyword, demand) in [
        ("allOf", Keyword::AllOf as fn(Vec<Id>) -> Keyword),
        ("anyOf", Keyword::AnyOf),
        ("oneOf", Keyword::OneOf),
    ] {
        if let Some(schemas) = of.list(to, keyword)? {
            if schemas.is_empty() {
                return Err(of.expected(keyword, "at least one schema"));
            }
            to.demand(id, demand(schemas));
        }
    }
    if let Some(inner) = of.schema(to, "not")? {
        to.demand(id, Keyword::Not(inner));
    }
    let (then, otherwise) = (of.schema(to, "then")?, of.schema(to, "else")?);
    if let Some(condition) = of.schema(to, "if")? {
        to.demand(id, Keyword::If { condition, then, otherwise });
    }
    Ok(())
}

fn object(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    if let Some(names) = of.names("required")? {
        to.demand(id, Keyword::Required(names));
    }
    of.bound(to, id, "minProperties", Keyword::MinProperties)?;
    of.bound(to, id, "maxProperties", Keyword::MaxProperties)?;
    let named = of.schemas(to, "properties")?;
    let mut patterns = Vec::new();
    for (pattern, schema) in of.schemas(to, "patternProperties")? {
        patterns.push((of.pattern(to, "patternProperties", &pattern)?, schema));
    }
    let rest = of.schema(to, "additionalProperties")?;
    if !named.is_empty() || !patterns.is_empty() || rest.is_some() {
        to.demand(id, Keyword::Properties { named, patterns, rest });
    }
    if let Some(names) = of.schema(to, "propertyNames")? {
        to.demand(id, Keyword::PropertyNames(names));
    }
    if to.dialect >= Dialect::Draft2019 {
        let schemas = of.schemas(to, "dependentSchemas")?;
        if !schemas.is_empty() {
            to.demand(id, Keyword::DependentSchemas(schemas));
        }
        let required = of.members("dependentRequired")?;
        let required = required
            .iter()
            .map(|(name, names)| Ok(((**name).into(), of.name_list("dependentRequired", names)?)))
            .collect::<Read<Vec<_>>>()?;
        if !required.is_empty() {
            to.demand(id, Keyword::DependentRequired(required));
        }
    } else {
        let (mut required, mut schemas) = (Vec::new(), Vec::new());
        for (name, value) in of.members("dependencies")? {
            match value {
                Value::List(_) => required.push(((**name).into(), of.name_list("dependencies", value)?)),
                _ => {
                    let inner = to.schema(value, of.place.below(&["dependencies", name]))?;
                    schemas.push(((**name).into(), inner));
                }
            }
        }
        to.demand(id, Keyword::DependentRequired(required));
        to.demand(id, Keyword::DependentSchemas(schemas));
    }
    Ok(())
}

fn array(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    of.bound(to, id, "minItems", Keyword::MinItems)?;
    of.bound(to, id, "maxItems", Keyword::MaxItems)?;
    match of.schema.get("uniqueItems") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => to.demand(id, Keyword::UniqueItems),
        Some(_) => return Err(of.expected("uniqueItems", "a boolean")),
    }
    let (prefix, rest) = if to.dialect == Dialect::Draft2020 {
        (of.list(to, "prefixItems")?, of.schema(to, "items")?)
    } else if let Some(Value::List(_)) = of.schema.get("items") {
        (of.list(to, "items")?, of.schema(to, "additionalItems")?)
    } else {
        // Without a list before it, the other keyword means nothing.
        of.schema(to, "additionalItems")?;
        (None, of.schema(to, "items")?)
    };
    if prefix.is_some() || rest.is_some() {
        to.demand(id, Keyword::Items { prefix: prefix.unwrap_or_default(), rest });
    }
    let newer = to.dialect >= Dialect::Draft2019;
    let (min, max) = if newer { (of.count("minContains")?, of.count("maxContains")?) } else { (None, None) };
    if let Some(schema) = of.schema(to, "contains")? {
        let evaluates = to.dialect == Dialect::Draft2020;
        to.demand(id, Keyword::Contains { schema, min: min.unwrap_or(1), max, evaluates });
    }
    Ok(())
}

fn references(to: &mut Compiler<'_>, id: Id, of: &Of<'_>) -> Read<()> {
    to.reference(id, of.place, of.schema, "$ref")?;
    match to.dialect {
        Dialect::Draft2020 => to.reference(id, of.place, of.schema, "$dynamicRef"),
        Dialect::Draft2019 => to.reference(id, of.place, of.schema, "$recursiveRef"),
        Dialect::Draft7 => Ok(()),
    }
}

/// The subschema that is being read.
struct Of<'a> {
    schema: &'a Value<'a>,
    place: &'a Place,
}

impl<'a> Of<'a> {
    fn expected(&self, keyword: &str, what: &str) -> SchemaError {
        self.place.error(keyword, format!("expected {what}"))
    }

    fn kind(&self, kinds: Kinds, name: &str) -> Read<Kinds> {
        let unknown = || self.place.error("type", format!("there is no type `{}`", excerpt(name)));
        kinds.with(name).ok_or_else(unknown)
    }

    fn number(&self, keyword: &str) -> Read<Option<Decimal>> {
        match self.schema.get(keyword) {
            None => Ok(None),
            Some(Value::Number(text)) => Ok(Some(Decimal::read(text))),
            Some(_) => Err(self.expected(keyword, "a number")),
        }
    }

    fn count(&self, keyword: &str) -> Read<Option<u64>> {
        match self.number(keyword)?.map(Decimal::count) {
            None => Ok(None),
            Some(Some(count)) => Ok(Some(count)),
            Some(None) => Err(self.expected(keyword, "a whole number that is not negative")),
        }
    }

    fn bound(&self, to: &mut Compiler<'_>, id: Id, keyword: &str, demand: fn(u64) -> Keyword) -> Read<()> {
        if let Some(count) = self.count(keyword)? {
            to.demand(id, demand(count));
        }
        Ok(())
    }

    fn pattern(&self, to: &mut Compiler<'_>, keyword: &str, pattern: &str) -> Read<Pattern> {
        Pattern::new(pattern, &mut to.room).map_err(|reason| self.place.error(keyword, reason))
    }

    fn names(&self, keyword: &str) -> Read<Option<Vec<String>>> {
        self.schema.get(keyword).map(|names| self.name_list(keyword, names)).transpose()
    }

    fn name_list(&self, keyword: &str, names: &Value<'_>) -> Read<Vec<String>> {
        let error = || self.expected(keyword, "an array of different strings");
        let Value::List(names) = names else { return Err(error()) };
        let mut list: Vec<String> = Vec::with_capacity(names.len());
        for name in names {
            let Value::Text(name) = name else { return Err(error()) };
            list.push((**name).into());
        }
        let mut sorted: Vec<&String> = list.iter().collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(error());
        }
        Ok(list)
    }

    /// The members of a keyword that is an object.
    fn members(&self, keyword: &str) -> Read<&'a [(alloc::borrow::Cow<'a, str>, Value<'a>)]> {
        match self.schema.get(keyword) {
            None => Ok(&[]),
            Some(Value::Object(members)) => Ok(members),
            Some(_) => Err(self.expected(keyword, "an object")),
        }
    }

    /// A keyword that is a schema.
    fn schema(&self, to: &mut Compiler<'_>, keyword: &str) -> Read<Option<Id>> {
        let inner = self.schema.get(keyword);
        inner.map(|inner| to.schema(inner, self.place.below(&[keyword]))).transpose()
    }

    /// A keyword that is a list of schemas.
    fn list(&self, to: &mut Compiler<'_>, keyword: &str) -> Read<Option<Vec<Id>>> {
        let schemas = match self.schema.get(keyword) {
            None => return Ok(None),
            Some(Value::List(schemas)) => schemas,
            Some(_) => return Err(self.expected(keyword, "an array of schemas")),
        };
        let below = |index: usize| self.place.below(&[keyword, &format!("{index}")]);
        let ids = schemas.iter().enumerate().map(|(index, inner)| to.schema(inner, below(index)));
        ids.collect::<Read<Vec<_>>>().map(Some)
    }

    /// A keyword that is an object of schemas, sorted by name.
    fn schemas(&self, to: &mut Compiler<'_>, keyword: &str) -> Read<Vec<(String, Id)>> {
        let members = self.members(keyword)?;
        let ids = members.iter().map(|(name, inner)| {
            Ok(((**name).into(), to.schema(inner, self.place.below(&[keyword, name]))?))
        });
        ids.collect()
    }
}
