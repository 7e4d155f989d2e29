//! URI templates as far as resources use them: `{name}` anywhere, and `{?a,b}` at the end.
//!
//! <https://www.rfc-editor.org/rfc/rfc6570>

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::uri;

/// A template, taken apart.
#[derive(Debug)]
pub(super) struct UriTemplate {
    /// What every URI begins with.
    prefix: String,
    /// The variables of the path, in order.
    path: Vec<Variable>,
    /// The variables of the query, when the template ends with some.
    query: Option<Vec<String>>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    /// What stands between this one and the next, or the end. Empty only at the end.
    then: String,
}

/// One value a variable, in the order of [`UriTemplate::names`]. A variable of the query may have none.
pub(super) type Values = Vec<Option<String>>;

impl UriTemplate {
    /// Takes a template apart. The error says what cannot be used, and goes to whoever wrote it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut template = Self { prefix: String::new(), path: Vec::new(), query: None };
        let mut rest = text;
        while let Some((literal, more)) = rest.split_once('{') {
            let (expression, more) = more.split_once('}').ok_or("a `{` is not closed")?;
            template.literal(literal)?;
            template.expression(expression)?;
            rest = more;
        }
        template.literal(rest)?;
        template.check()?;
        Ok(template)
    }

    fn literal(&mut self, literal: &str) -> Result<(), String> {
        if literal.contains('}') {
            return Err("a `}` closes nothing".to_owned());
        }
        if literal.is_empty() {
            return Ok(());
        }
        if self.query.is_some() {
            return Err("nothing may follow `{?...}`".to_owned());
        }
        match self.path.last_mut() {
            Some(variable) => variable.then.push_str(literal),
            None => self.prefix.push_str(literal),
        }
        Ok(())
    }

    fn expression(&mut self, expression: &str) -> Result<(), String> {
        if self.query.is_some() {
            return Err("nothing may follow `{?...}`".to_owned());
        }
        if let Some(names) = expression.strip_prefix('?') {
            let names: Vec<String> = names.split(',').map(ToOwned::to_owned).collect();
            self.query = Some(names);
            return Ok(());
        }
        if self.path.last().is_some_and(|before| before.then.is_empty()) {
            // Where the first ends and the second begins, no reader could tell.
            return Err("two variables need something between them".to_owned());
        }
        self.path.push(Variable { name: expression.to_owned(), then: String::new() });
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let names: Vec<&str> = self.names().collect();
        if names.is_empty() {
            return Err("it has no variables; add it as a resource".to_owned());
        }
        for (place, name) in names.iter().enumerate() {
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
            {
                let found = alloc::format!("`{{{name}}}` is not understood: ");
                return Err(found + "there may be `{name}`, and `{?a,b}` at the end");
            }
            if names.get(..place).is_some_and(|before| before.contains(name)) {
                return Err(alloc::format!("the variable `{name}` is there twice"));
            }
        }
        let mut example = self.prefix.clone();
        for variable in &self.path {
            example.push('x');
            example.push_str(&variable.then);
        }
        if !uri::is_valid(&example) {
            return Err("what it makes is not a URI".to_owned());
        }
        if self.query.is_some() && example.contains(['?', '#']) {
            return Err("there is a `?` or `#` before `{?...}`".to_owned());
        }
        Ok(())
    }

    /// The names of all variables, those of the path first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let path = self.path.iter().map(|variable| variable.name.as_str());
        path.chain(self.query.iter().flatten().map(String::as_str))
    }

    /// The values with which the template makes `uri`, each percent-decoded once. `None` when none do.
    ///
    /// A variable of the path takes one segment or a part of one: at least a character, and neither `/` nor
    /// `..`, not even as an escape (RES-19). Those of the query come in any order or not at all, and other
    /// members of the query are ignored (B63).
    ///
    /// The work is linear in the length of `uri`. To take the first place where the text after a variable
    /// fits is enough: no variable may pass a `/`, so a later place would never save a match.
    pub(super) fn values(&self, uri: &str) -> Option<Values> {
        let (path, query) = match self.query.as_ref().and_then(|_| uri.split_once('?')) {
            Some((path, query)) => (path, Some(query)),
            None => (uri, None),
        };
        let mut values = Values::with_capacity(self.names().count());
        let mut rest = path.strip_prefix(self.prefix.as_str())?;
        for (place, variable) in self.path.iter().enumerate() {
            let value = if place + 1 == self.path.len() {
                core::mem::take(&mut rest).strip_suffix(variable.then.as_str())?
            } else {
                let first = rest.chars().next()?.len_utf8();
                let end = first + rest.get(first..)?.find(variable.then.as_str())?;
                let value = rest.get(..end)?;
                rest = rest.get(end + variable.then.len()..)?;
                value
            };
            values.push(Some(segment(value)?));
        }
        if !rest.is_empty() {
            return None;
        }
        if let Some(names) = &self.query {
            values.extend(query_values(names, query.unwrap_or_default())?);
        }
        Some(values)
    }
}

/// The value of a variable of the path.
fn segment(text: &str) -> Option<String> {
    if text.is_empty() || text.contains(['/', '?', '#']) {
        return None;
    }
    let value = uri::decode(text)?;
    let climbs = value.split('\\').any(|part| part == "..");
    (!value.contains('/') && !climbs).then(|| value.into_owned())
}

fn query_values(names: &[String], query: &str) -> Option<Values> {
    if query.contains('#') {
        return None;
    }
    let mut values = Values::new();
    values.resize(names.len(), None);
    for member in query.split('&') {
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        let known = names.iter().position(|known| known == name);
        // The first of equals.
        if let Some(slot) = known.and_then(|place| values.get_mut(place)).filter(|slot| slot.is_none()) {
            *slot = Some(uri::decode(value)?.into_owned());
        }
    }
    Some(values)
}
