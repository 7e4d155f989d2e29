//! Everything of one server that changes are passed on to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_proto::server::Change;

/// A connection on a byte stream, or all that HTTP has.
pub(crate) trait Member: Send + Sync {
    /// Passes a change on to whoever is to hear of it.
    fn tell(&self, change: &Change);
}

/// A member, and the number of its byte stream if it is one.
type Seat = (Option<u64>, Weak<dyn Member>);

#[derive(Default)]
pub(crate) struct Hub {
    members: Mutex<BTreeMap<u64, Seat>>,
    next: AtomicU64,
}

impl Hub {
    /// Tells all members, with no lock held.
    pub(crate) fn tell(&self, change: &Change) {
        let members: Vec<_> = self.members().values().filter_map(|(_, member)| member.upgrade()).collect();
        members.iter().for_each(|member| member.tell(change));
    }

    /// The same for what concerns one byte stream alone, or all that HTTP has.
    pub(crate) fn tell_at(&self, connection: Option<u64>, change: &Change) {
        let members = self.members();
        let here = members.values().filter(|(number, _)| *number == connection);
        let here: Vec<_> = here.filter_map(|(_, member)| member.upgrade()).collect();
        drop(members);
        here.iter().for_each(|member| member.tell(change));
    }

    /// Counts somebody in, for as long as what this returns is kept.
    pub(crate) fn enter(self: &Arc<Self>, connection: Option<u64>, member: Weak<dyn Member>) -> Membership {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.members().insert(key, (connection, member));
        Membership { hub: self.clone(), key }
    }

    fn members(&self) -> MutexGuard<'_, BTreeMap<u64, Seat>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// However it ends, a member is counted out.
pub(crate) struct Membership {
    hub: Arc<Hub>,
    key: u64,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.hub.members().remove(&self.key);
    }
}
