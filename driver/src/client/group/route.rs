//! Which server has what.

use std::collections::{BTreeMap, BTreeSet};

use super::Listed;
use super::error::GroupError;

/// Stands between the name of a server and that of its tool.
const BETWEEN: &str = "__";

#[derive(Default)]
pub(super) struct Routes {
    pub(super) tools: Names,
    pub(super) prompts: Names,
    pub(super) resources: Names,
}

/// The servers that have something of a name, as they were last listed.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Vec<String>>);

/// Servers that have something, and its name there.
pub(super) struct Found(Vec<(String, String)>);

impl Names {
    pub(super) fn learn<'a>(&mut self, items: impl Iterator<Item = (&'a str, &'a str)>) {
        self.0.clear();
        for (server, name) in items {
            let servers = self.0.entry(name.to_owned()).or_default();
            if servers.last().is_none_or(|last| last != server) {
                servers.push(server.to_owned());
            }
        }
    }

    /// What is meant by a name: something of the server that is in front of it, else what is called so. A server can
    /// name its own things as it likes, so that must not take what another server's are called here (TOOL-15).
    pub(super) fn find(&self, name: &str) -> Option<Found> {
        // Either part may have the separator in it.
        let splits = name.match_indices(BETWEEN).filter_map(|(at, _)| {
            let (server, own) = (name.get(..at)?, name.get(at + BETWEEN.len()..)?);
            let servers = self.0.get(own)?;
            servers.iter().any(|known| known == server).then(|| (server.to_owned(), own.to_owned()))
        });
        let found: Vec<_> = splits.collect();
        if !found.is_empty() {
            return Some(Found(found));
        }
        let servers = self.0.get(name)?;
        Some(Found(servers.iter().map(|server| (server.clone(), name.to_owned())).collect()))
    }
}

impl Found {
    /// The only one that is meant.
    pub(super) fn sole(self, what: &'static str, name: &str) -> Result<(String, String), GroupError> {
        let mut found = self.0;
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                let candidates = found.iter().chain(&last).map(|(server, own)| joined(server, own)).collect();
                Err(GroupError::Ambiguous { what, name: name.to_owned(), candidates })
            }
        }
    }
}

fn joined(server: &str, name: &str) -> String {
    [server, BETWEEN, name].concat()
}

/// Puts the server in front of names that several have, and of those that mean something of another server.
pub(super) fn distinguish<T>(items: &mut [Listed<T>]) {
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut joint = BTreeSet::new();
    for item in &*items {
        owners.entry(item.name.clone()).or_default().insert(item.server.clone());
        joint.insert(joined(&item.server, &item.name));
    }
    for item in items {
        let shared = owners.get(&item.name).is_some_and(|servers| servers.len() > 1);
        if shared || joint.contains(&item.name) {
            item.name = joined(&item.server, &item.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(items: &[(&str, &str)]) -> Names {
        let mut names = Names::default();
        names.learn(items.iter().copied());
        names
    }

    fn sole(names: &Names, name: &str) -> Result<(String, String), String> {
        match names.find(name).map(|found| found.sole("tool", name)) {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("unknown".to_owned()),
        }
    }

    #[test]
    fn a_name_that_one_server_has_is_enough() {
        let names = names(&[("files", "read"), ("web", "fetch")]);
        assert_eq!(sole(&names, "read"), Ok(("files".into(), "read".into())));
        assert_eq!(sole(&names, "web__fetch"), Ok(("web".into(), "fetch".into())));
        assert_eq!(sole(&names, "web__read"), Err("unknown".into()));
    }

    /// TOOL-15: a server cannot take the calls that are meant for another by what it calls its own tools.
    #[test]
    fn a_name_with_a_server_in_front_is_of_that_server() {
        let names = names(&[("evil", "files__read"), ("files", "read")]);
        assert_eq!(sole(&names, "files__read"), Ok(("files".into(), "read".into())));
        assert_eq!(sole(&names, "evil__files__read"), Ok(("evil".into(), "files__read".into())));
        let listed = |server: &str, name: &str| Listed { server: server.into(), name: name.into(), item: () };
        let mut items = [listed("evil", "files__read"), listed("files", "read")];
        distinguish(&mut items);
        assert_eq!(items.each_ref().map(|item| item.name.as_str()), ["evil__files__read", "read"]);
    }

    #[test]
    fn a_name_that_several_servers_have_needs_one_in_front() {
        let names = names(&[("files", "read"), ("web", "read")]);
        let error = sole(&names, "read").unwrap_err();
        assert!(error.ends_with("say which one is meant: files__read, web__read"), "{error}");
        assert_eq!(sole(&names, "web__read"), Ok(("web".into(), "read".into())));
    }

    #[test]
    fn names_with_the_separator_in_them_are_found() {
        let names = names(&[("a", "b__c"), ("a__b", "d"), ("x", "a__own")]);
        assert_eq!(sole(&names, "a__b__c"), Ok(("a".into(), "b__c".into())));
        assert_eq!(sole(&names, "a__b__d"), Ok(("a__b".into(), "d".into())));
        assert_eq!(sole(&names, "a__own"), Ok(("x".into(), "a__own".into())));
        let twice = self::names(&[("a", "b__c"), ("a__b", "c")]);
        let error = sole(&twice, "a__b__c").unwrap_err();
        assert!(error.contains("a__b__c, a__b__c"), "{error}");
    }

    #[test]
    fn a_server_that_names_something_twice_is_one_server() {
        assert_eq!(sole(&names(&[("a", "x"), ("a", "x")]), "x"), Ok(("a".into(), "x".into())));
    }
}
