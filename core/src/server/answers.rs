//! The results that the machines give by themselves.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::catalog::{Catalog, Listed, Position};
use super::config::{CacheHint, Config, Transport};
use super::dispatch::List;
use super::session::SessionState;
use super::visible::View;
use crate::dialect::{Era, Revision};
use crate::error::ApiMisuse;
use crate::model::caching::CacheScope;
use crate::model::encode::Object;
use crate::model::lifecycle::{DiscoverResult, InitializeResult};
use crate::model::meta::SERVER_INFO;
use crate::model::{Identified, In, Json, Members, WithMeta};
use crate::wire::jsonrpc::{self, OneLine, RequestId};

/// `{}`, which is all that the results of `ping` and `logging/setLevel` may hold.
pub(super) fn empty(id: &RequestId, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
    #[derive(Serialize)]
    struct Empty {}
    jsonrpc::write_result(out, id, &Empty {})
}

/// The result of `initialize`.
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization>
pub(super) fn initialize(
    config: &Config,
    transport: Transport,
    session: &SessionState,
    id: &RequestId,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let version = session.revision.as_str();
    let mut result = InitializeResult::new(
        version,
        config.capabilities(Era::Legacy, transport),
        config.identity().clone(),
    );
    result.instructions.clone_from(&config.instructions);
    jsonrpc::write_result(out, id, &In(session.revision, &result))
}

/// The result of `server/discover`: every revision that is spoken, legacy ones included, newest first.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>
pub(super) fn discover(
    config: &Config,
    transport: Transport,
    revision: Revision,
    id: &RequestId,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let supported: Vec<String> = config.revisions.iter().map(|revision| revision.to_string()).collect();
    let mut result = DiscoverResult::new(supported, config.capabilities(Era::Modern, transport));
    result.instructions.clone_from(&config.instructions);
    result.ttl_ms = config.cache.ttl;
    result.cache_scope = config.cache.scope;
    let identity = config.name_in_results.then(|| Json::new(&In(revision, config.identity())).ok()).flatten();
    let entries: Vec<_> = identity.iter().map(|identity| (SERVER_INFO, identity)).collect();
    jsonrpc::write_result(out, id, &In(revision, &WithMeta::new(&result, &entries)))
}

/// The page of a list that begins after `start`.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>
pub(super) fn list(
    view: View<'_>,
    revision: Revision,
    id: &RequestId,
    list: List,
    start: Position,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let config = view.config;
    let (tools, prompts) = (&config.tools, &config.prompts);
    let (resources, templates) = (&config.resources, &config.templates);
    let spot = (view, revision, id, start);
    match list {
        List::Tools => page(spot, &tools.catalog, tools.cache, out),
        List::Prompts => page(spot, &prompts.catalog, prompts.cache, out),
        List::Resources => page(spot, &resources.catalog, resources.cache, out),
        List::Templates => page(spot, &templates.catalog, templates.cache, out),
    }
}

fn page<E: Listed>(
    (view, revision, id, start): (View<'_>, Revision, &RequestId, Position),
    catalog: &Catalog<E>,
    cache: Option<CacheHint>,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let config = view.config;
    let size = config.page_size.map_or(usize::MAX, |size| size.max(1));
    let mut cache = cache.unwrap_or(config.cache);
    if view.differs() {
        // What is for one is not for others (CACHE-15).
        cache.scope = CacheScope::Private;
    }
    let page = Page { catalog, view, start, size, cache };
    jsonrpc::write_result(out, id, &In(revision, &Identified::new(&page, config.server_info())))
}

struct Page<'a, E> {
    catalog: &'a Catalog<E>,
    view: View<'a>,
    start: Position,
    size: usize,
    cache: CacheHint,
}

impl<E: Listed> Page<'_, E> {
    /// Whether it is the whole list, the same for everybody.
    fn is_whole(&self) -> bool {
        self.start == Position::default() && self.size >= self.catalog.len() && !self.view.differs()
    }

    /// What is there after the start, on this page and later ones.
    fn rest(&self) -> impl Iterator<Item = (Position, &E)> {
        let rest = self.catalog.after(self.start).map(|(position, entry)| (position, &**entry));
        rest.filter(|(_, entry)| self.view.shows(entry.item()))
    }

    fn next_cursor(&self) -> Option<String> {
        if self.size >= self.catalog.len() {
            return None;
        }
        let mut rest = self.rest().skip(self.size - 1);
        let (last, _) = rest.next()?;
        rest.next().map(|_| last.cursor())
    }
}

impl<E: Listed> Members for Page<'_, E> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.member(E::LIST, &Entries { page: self, revision: to.revision() })?;
        to.optional("nextCursor", &self.next_cursor())?;
        to.caching(self.cache.ttl, self.cache.scope)
    }
}

/// The entries of a page, copied from where they were written out when they were added.
struct Entries<'a, E> {
    page: &'a Page<'a, E>,
    revision: Revision,
}

impl<E: Listed> Serialize for Entries<'_, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { page, revision } = self;
        if page.is_whole() {
            return serializer.collect_seq(page.catalog.whole(*revision).map(OneLine));
        }
        let shown = page.rest().take(page.size);
        serializer.collect_seq(shown.map(|(_, entry)| OneLine(entry.texts().get(*revision).get())))
    }
}
