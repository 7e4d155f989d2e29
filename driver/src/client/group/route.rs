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

/// What each server has, as it was last listed.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Had>);

/// What one server has.
#[derive(Default)]
struct Had {
    /// What it had when it last said all of it.
    whole: BTreeSet<String>,
    /// What it has said since, before it failed.
    part: BTreeSet<String>,
}

/// Servers that have something, and its name there.
pub(super) struct Found(Vec<(String, String)>);

impl Names {
    /// Takes a listing: servers, and their names of things. Of a server whose listing failed what it had is kept: it is
    /// not known to be gone, and what two servers have must not be taken for the other's alone.
    pub(super) fn learn<'a>(
        &mut self,
        items: impl Iterator<Item = (&'a str, &'a str)>,
        failed: &BTreeSet<&str>,
    ) {
        let mut read: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (server, name) in items {
            read.entry(server).or_default().insert(name.to_owned());
        }
        self.0.retain(|server, _| failed.contains(&**server));
        for &server in failed {
            self.0.entry(server.to_owned()).or_default().part = read.remove(server).unwrap_or_default();
        }
        for (server, whole) in read {
            self.0.insert(server.to_owned(), Had { whole, part: BTreeSet::new() });
        }
    }

    /// What is meant by a name: something of the server that is in front of it, else what is called so. A server can
    /// name its own things as it likes, so that must not take what another server's are called here (TOOL-15).
    pub(super) fn find(&self, name: &str) -> Option<Found> {
        // Either part may have the separator in it.
        let splits = name.match_indices(BETWEEN).filter_map(|(at, _)| {
            let (server, own) = (name.get(..at)?, name.get(at + BETWEEN.len()..)?);
            self.0.get(server)?.has(own).then(|| (server.to_owned(), own.to_owned()))
        });
        let mut found: Vec<_> = splits.collect();
        if found.is_empty() {
            let owners = self.0.iter().filter(|(_, had)| had.has(name));
            found.extend(owners.map(|(server, _)| (server.clone(), name.to_owned())));
        }
        (!found.is_empty()).then_some(Found(found))
    }

    /// Puts the server in front of names that several have, and of those that mean something of another server.
    pub(super) fn distinguish<T>(&self, items: &mut [Listed<T>]) {
        for item in items {
            let found = self.find(&item.name).map(|found| found.0);
            let means_it = found.is_some_and(
                |found| matches!(&found[..], [(server, name)] if (server, name) == (&item.server, &item.name)),
            );
            if !means_it {
                item.name = joined(&item.server, &item.name);
            }
        }
    }
}

impl Had {
    fn has(&self, name: &str) -> bool {
        self.whole.contains(name) || self.part.contains(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(items: &[(&str, &str)]) -> Names {
        let mut names = Names::default();
        names.learn(items.iter().copied(), &BTreeSet::new());
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
        names.distinguish(&mut items);
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

    /// A server whose listing failed still has what it had, and what was read of it besides; a call does not go to
    /// another because of that. What it said before that is forgotten with the next listing that is whole.
    #[test]
    fn a_server_that_fails_keeps_its_names() {
        let mut names = names(&[("files", "read"), ("web", "read"), ("files", "write")]);
        let failed = BTreeSet::from(["files"]);
        for part in [&[("web", "read"), ("files", "find")][..], &[("web", "read"), ("files", "stat")]] {
            names.learn(part.iter().copied(), &failed);
            let error = sole(&names, "read").unwrap_err();
            assert!(error.ends_with("say which one is meant: files__read, web__read"), "{error}");
            assert_eq!(sole(&names, "write"), Ok(("files".into(), "write".into())));
            assert_eq!(sole(&names, part[1].1), Ok(("files".into(), part[1].1.into())));
        }
        assert_eq!(sole(&names, "find"), Err("unknown".into()), "only what was read last is kept besides");
        let mut items = [Listed { server: "web".into(), name: "read".into(), item: () }];
        names.distinguish(&mut items);
        assert_eq!(items[0].name, "web__read", "its name in a list is one that it can be called by");
        names.learn([("web", "read")].into_iter(), &BTreeSet::new());
        assert_eq!(sole(&names, "read"), Ok(("web".into(), "read".into())));
        assert_eq!(sole(&names, "write"), Err("unknown".into()));
    }

    #[test]
    fn a_server_that_names_something_twice_is_one_server() {
        assert_eq!(sole(&names(&[("a", "x"), ("a", "x")]), "x"), Ok(("a".into(), "x".into())));
    }
}
