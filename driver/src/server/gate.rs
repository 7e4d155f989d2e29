//! The requests of one session that are asking its store, so that their steps do not get between each other.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcp_proto::limits::Limits;
use mcp_proto::server::{SessionAnswer, SessionId};

/// Changes of a session are made one after the other, in the order in which they came. Those that only read it
/// pass at any time, and learn whether it has ended since they came.
#[derive(Default)]
pub(super) struct Gates(Mutex<Inside>);

/// Those who ask a store.
#[derive(Default)]
struct Inside {
    sessions: BTreeMap<SessionId, Gate>,
    /// How many do on behalf of clients.
    clients: usize,
}

/// What is known of a session while somebody asks for it.
#[derive(Default)]
struct Gate {
    /// How many do.
    inside: usize,
    /// Those of them who change it, by their tickets; the first one may.
    changing: BTreeMap<u64, Option<Waker>>,
    last: u64,
    ended: bool,
}

impl Gates {
    /// A client asks for a session, or for a new one, from now on, until what this returns is dropped. `Err` if as
    /// many do as may: requests that wait outlive their connections, which do not bound them.
    pub(super) fn enter(
        self: &Arc<Self>,
        limits: &Limits,
        session: Option<&SessionId>,
        changes: bool,
    ) -> Result<Pass, Full> {
        let mut inside = self.lock();
        if inside.clients >= limits.accepted {
            return Err(Full::All);
        }
        let gate = session.and_then(|session| inside.sessions.get(session));
        if gate.is_some_and(|gate| gate.inside >= limits.in_flight) {
            return Err(Full::Session);
        }
        inside.clients += 1;
        let ticket = session.and_then(|session| inside.join(session, changes));
        Ok(Pass { gates: self.clone(), session: session.cloned(), ticket, client: true })
    }

    /// The same on behalf of nobody, which each session has once at a time.
    pub(super) fn enter_aside(self: &Arc<Self>, session: &SessionId) -> Pass {
        self.lock().join(session, false);
        Pass { gates: self.clone(), session: Some(session.clone()), ticket: None, client: false }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// One more asks for a session. Returns the ticket of who changes it.
    fn join(&mut self, session: &SessionId, changes: bool) -> Option<u64> {
        let gate = self.sessions.entry(session.clone()).or_default();
        gate.inside += 1;
        changes.then(|| {
            gate.last += 1;
            gate.changing.insert(gate.last, None);
            gate.last
        })
    }
}

/// As many ask as may.
#[derive(Clone, Copy, Debug)]
pub(super) enum Full {
    /// For this session.
    Session,
    /// For all of them.
    All,
}

impl From<Full> for SessionAnswer {
    fn from(full: Full) -> Self {
        match full {
            Full::Session => Self::Busy,
            Full::All => Self::Unavailable,
        }
    }
}

/// One that is inside.
pub(super) struct Pass {
    gates: Arc<Gates>,
    session: Option<SessionId>,
    ticket: Option<u64>,
    /// Whether a client waits.
    client: bool,
}

impl Pass {
    /// Waits until those who came to change the session before this one are done. For who only reads it, at once.
    pub(super) async fn turn(&self) {
        let Some(mine) = self.ticket else { return };
        poll_fn(|cx| {
            let mut inside = self.gates.lock();
            let Some(gate) = self.gate(&mut inside) else { return Poll::Ready(()) };
            let first = gate.changing.keys().next() == Some(&mine);
            match gate.changing.get_mut(&mine).filter(|_| !first) {
                None => Poll::Ready(()),
                Some(waker) => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }

    /// The session has ended, for everybody who is inside.
    pub(super) fn end(&self) {
        if let Some(gate) = self.gate(&mut self.gates.lock()) {
            gate.ended = true;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.gate(&mut self.gates.lock()).is_some_and(|gate| gate.ended)
    }

    fn gate<'a>(&self, inside: &'a mut Inside) -> Option<&'a mut Gate> {
        inside.sessions.get_mut(self.session.as_ref()?)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = self.gates.lock();
        inside.clients -= usize::from(self.client);
        let Some(gate) = self.gate(&mut inside) else { return };
        gate.inside -= 1;
        if let Some(ticket) = &self.ticket {
            gate.changing.remove(ticket);
        }
        let next = gate.changing.values_mut().next().and_then(Option::take);
        if gate.inside == 0
            && let Some(session) = &self.session
        {
            inside.sessions.remove(session);
        }
        drop(inside);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;

    use mcp_proto::limits::Limits;
    use mcp_proto::server::SessionId;

    use super::{Gates, Pass};
    use crate::endpoint::poll_once;

    fn enter(gates: &Arc<Gates>, session: &SessionId, changes: bool) -> Pass {
        let pass = gates.enter(&Limits::default(), Some(session), changes);
        pass.unwrap_or_else(|full| panic!("{full:?}"))
    }

    /// Changes wait for those before them, also when one of these is given up; who reads waits for nobody.
    #[test]
    fn changes_of_a_session_take_turns() {
        let gates = Arc::new(Gates::default());
        let (one, other) = (SessionId::new("one"), SessionId::new("other"));
        let [first, second, third] = [(); 3].map(|()| enter(&gates, &one, true));
        assert!(poll_once(pin!(first.turn())).is_ready());
        assert!(poll_once(pin!(enter(&gates, &other, true).turn())).is_ready());
        assert!(poll_once(pin!(enter(&gates, &one, false).turn())).is_ready());
        assert!(poll_once(pin!(second.turn())).is_pending());
        drop(second);
        assert!(poll_once(pin!(third.turn())).is_pending());
        drop(first);
        assert!(poll_once(pin!(third.turn())).is_ready());
        drop(third);
        assert!(gates.lock().sessions.is_empty());
        assert_eq!(gates.lock().clients, 0);
    }

    /// Who came before the end learns of it; nothing is remembered for those who come after all of them.
    #[test]
    fn the_end_is_known_to_all_who_are_inside() {
        let gates = Arc::new(Gates::default());
        let session = SessionId::new("one");
        let (reader, ending) = (enter(&gates, &session, false), enter(&gates, &session, true));
        assert!(!reader.has_ended());
        ending.end();
        drop(ending);
        assert!(reader.has_ended());
        drop(reader);
        assert!(!enter(&gates, &session, false).has_ended());
    }
}
