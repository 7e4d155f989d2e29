//! From the text of a schema to its subschemas, each looked at once.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::node::{Id, Keyword, Node, Resource};
use super::value::Value;
use super::{Dialect, Schema, SchemaError, keywords, resolve, uri};
use crate::limits::Limits;
use crate::text::excerpt;

pub(super) fn compile(text: &str, limits: &Limits) -> Result<Schema, SchemaError> {
    let document = Value::parse(text).map_err(|reason| SchemaError::new("", reason))?;
    let dialect = dialect(&document, "")?.unwrap_or(Dialect::Draft2020);
    let mut compiler = Compiler {
        document: &document,
        dialect,
        limits,
        nodes: Vec::new(),
        places: BTreeMap::new(),
        resources: alloc::vec![Resource::default()],
        named: BTreeMap::new(),
        references: Vec::new(),
        room: limits.schema_patterns,
    };
    let root = compiler.schema(&document, Place { path: String::new(), resource: 0, depth: 0 })?;
    resolve::resolve(&mut compiler)?;
    let Compiler { nodes, resources, room, .. } = compiler;
    resolve::check_cycles(&nodes, &resources)?;
    let held = text.len() + nodes.len() * NODE + limits.schema_patterns.saturating_sub(room);
    Ok(Schema { dialect, nodes, resources, root, steps: limits.schema_steps, held })
}

/// About as much as one subschema takes, in bytes.
const NODE: usize = 512;

/// The dialect that a schema names.
fn dialect(schema: &Value<'_>, path: &str) -> Result<Option<Dialect>, SchemaError> {
    let Some(named) = schema.get("$schema") else { return Ok(None) };
    let error = |reason| SchemaError::new(format!("{path}/$schema"), reason);
    let Value::Text(uri) = named else { return Err(error("expected a string".into())) };
    Dialect::named(uri).map(Some).map_err(error)
}

impl Dialect {
    /// The error says which there are.
    pub(super) fn named(uri: &str) -> Result<Self, String> {
        match uri.strip_suffix('#').unwrap_or(uri) {
            "https://json-schema.org/draft/2020-12/schema" => Ok(Self::Draft2020),
            "https://json-schema.org/draft/2019-09/schema" => Ok(Self::Draft2019),
            "http://json-schema.org/draft-07/schema" => Ok(Self::Draft7),
            uri => Err(format!(
                "the dialect `{}` is not supported; those that are: 2020-12, 2019-09 and draft-07",
                excerpt(uri)
            )),
        }
    }
}

/// Where a subschema stands.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) resource: usize,
    /// Subschemas around it.
    pub(super) depth: usize,
}

impl Place {
    /// A place below a keyword of this one, such as `/properties/a`.
    pub(super) fn below(&self, steps: &[&str]) -> Self {
        let mut path = self.path.clone();
        for step in steps {
            path.push('/');
            path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        Self { path, resource: self.resource, depth: self.depth + 1 }
    }

    pub(super) fn error(&self, keyword: &str, reason: impl Into<String>) -> SchemaError {
        SchemaError::new(format!("{}/{keyword}", self.path), reason)
    }
}

/// A reference that leads nowhere yet.
pub(super) struct Reference {
    pub(super) from: Id,
    pub(super) place: Place,
    pub(super) keyword: &'static str,
    pub(super) uri: String,
}

pub(super) struct Compiler<'d> {
    pub(super) document: &'d Value<'d>,
    pub(super) dialect: Dialect,
    limits: &'d Limits,
    pub(super) nodes: Vec<Node>,
    /// Subschemas by where they stand.
    pub(super) places: BTreeMap<String, Id>,
    pub(super) resources: Vec<Resource>,
    /// Those of them that have a name, by it.
    pub(super) named: BTreeMap<String, usize>,
    pub(super) references: Vec<Reference>,
    /// What further patterns may take.
    pub(super) room: usize,
}

impl Compiler<'_> {
    /// Takes in a subschema and all below it.
    pub(super) fn schema(&mut self, schema: &Value<'_>, mut place: Place) -> Result<Id, SchemaError> {
        let (depth, schemas) = (self.limits.schema_depth, self.limits.schemas);
        if place.depth >= depth {
            return Err(SchemaError::new(
                place.path,
                format!("schemas are nested deeper than {depth} levels"),
            ));
        }
        if self.nodes.len() >= schemas {
            return Err(SchemaError::new(place.path, format!("there are more than {schemas} subschemas")));
        }
        let id = self.nodes.len();
        self.nodes.push(Node { resource: place.resource, ..Node::default() });
        self.places.insert(place.path.clone(), id);
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => self.demand(id, Keyword::Never),
            // Beside a reference nothing else counted in that dialect.
            Value::Object(_) if self.dialect == Dialect::Draft7 && schema.get("$ref").is_some() => {
                self.reference(id, &place, schema, "$ref")?;
            }
            Value::Object(_) => {
                self.identify(id, schema, &mut place)?;
                keywords::read(self, id, schema, &place)?;
            }
            other => {
                let reason = format!("expected a schema, found {}", other.kind());
                return Err(SchemaError::new(place.path, reason));
            }
        }
        Ok(id)
    }

    pub(super) fn demand(&mut self, id: Id, keyword: Keyword) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.keywords.push(keyword);
        }
    }

    /// What references can call it.
    fn identify(&mut self, id: Id, schema: &Value<'_>, place: &mut Place) -> Result<(), SchemaError> {
        if let Some(named) = text(schema, "$id", place)? {
            match named.strip_prefix('#') {
                Some(anchor) if self.dialect == Dialect::Draft7 && !anchor.is_empty() => {
                    self.anchor(id, place, "$id", anchor, false)?;
                }
                _ if place.path.is_empty() => {
                    if let Some(document) = self.resources.first_mut() {
                        document.uri = uri::split(named).0.into();
                        self.named.insert(document.uri.clone(), 0);
                    }
                }
                _ => {
                    let base = self.resources.get(place.resource).map_or("", |resource| &*resource.uri);
                    let uri = uri::join(base, uri::split(named).0);
                    place.resource = self.resources.len();
                    let (path, root) = (place.path.clone(), id);
                    self.named.entry(uri.clone()).or_insert(place.resource);
                    self.resources.push(Resource { uri, path, root, ..Resource::default() });
                    if let Some(node) = self.nodes.get_mut(id) {
                        node.resource = place.resource;
                    }
                    if dialect(schema, &place.path)?.is_some_and(|other| other != self.dialect) {
                        return Err(place.error("$schema", "expected the dialect of the whole document"));
                    }
                }
            }
        }
        if self.dialect >= Dialect::Draft2019
            && let Some(name) = text(schema, "$anchor", place)?
        {
            self.anchor(id, place, "$anchor", name, false)?;
        }
        if self.dialect == Dialect::Draft2020
            && let Some(name) = text(schema, "$dynamicAnchor", place)?
        {
            self.anchor(id, place, "$dynamicAnchor", name, true)?;
        }
        if self.dialect == Dialect::Draft2019 {
            match schema.get("$recursiveAnchor") {
                None | Some(Value::Bool(false)) => {}
                Some(Value::Bool(true)) => {
                    if let Some(resource) = self.resources.get_mut(place.resource) {
                        resource.recursive = resource.root == id;
                    }
                }
                Some(_) => return Err(place.error("$recursiveAnchor", "expected a boolean")),
            }
        }
        Ok(())
    }

    fn anchor(
        &mut self,
        id: Id,
        place: &Place,
        keyword: &str,
        name: &str,
        dynamic: bool,
    ) -> Result<(), SchemaError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(place.error(keyword, "expected letters, digits, `-`, `_` and `.`"));
        }
        let Some(resource) = self.resources.get_mut(place.resource) else { return Ok(()) };
        if dynamic {
            resource.dynamic.insert(name.into(), id);
        }
        match resource.anchors.insert(name.into(), id) {
            Some(other) if other != id => Err(place.error(keyword, "there is another anchor of this name")),
            _ => Ok(()),
        }
    }

    /// Notes a reference, to be resolved when all places are known.
    pub(super) fn reference(
        &mut self,
        from: Id,
        place: &Place,
        schema: &Value<'_>,
        keyword: &'static str,
    ) -> Result<(), SchemaError> {
        if let Some(uri) = text(schema, keyword, place)? {
            self.references.push(Reference { from, place: place.clone(), keyword, uri: uri.into() });
        }
        Ok(())
    }
}

/// A member that must be a string.
pub(super) fn text<'a>(
    schema: &'a Value<'_>,
    keyword: &str,
    place: &Place,
) -> Result<Option<&'a str>, SchemaError> {
    match schema.get(keyword) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(other) => Err(place.error(keyword, format!("expected a string, found {}", other.kind()))),
    }
}
