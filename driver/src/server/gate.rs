//! The requests of one session that are asking its store, so that their steps do not get between each other.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcp_proto::server::SessionId;

/// Changes of a session are made one after the other, in the order in which they came. Those that only read it
/// pass at any time, and learn whether it has ended since they came.
#[derive(Default)]
pub(super) struct Gates(Mutex<BTreeMap<SessionId, Gate>>);

/// What is known of a session while somebody asks for it.
#[derive(Default)]
struct Gate {
    /// How many do.
    inside: usize,
    /// Those of them who change it; the first one may.
    changing: VecDeque<(u64, Option<Waker>)>,
    last: u64,
    ended: bool,
}

impl Gates {
    /// Somebody asks for a session from now on, until what this returns is dropped.
    pub(super) fn enter(self: &Arc<Self>, session: &SessionId, changes: bool) -> Pass {
        let mut gates = self.lock();
        let gate = gates.entry(session.clone()).or_default();
        gate.inside += 1;
        let ticket = changes.then(|| {
            gate.last += 1;
            gate.changing.push_back((gate.last, None));
            gate.last
        });
        Pass { gates: self.clone(), session: session.clone(), ticket }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Gate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that is inside.
pub(super) struct Pass {
    gates: Arc<Gates>,
    session: SessionId,
    ticket: Option<u64>,
}

impl Pass {
    /// Waits until those who came to change the session before this one are done. For who only reads it, at once.
    pub(super) async fn turn(&self) {
        let Some(mine) = self.ticket else { return };
        poll_fn(|cx| {
            let mut gates = self.gates.lock();
            let waiting = gates.get_mut(&self.session).map(|gate| &mut gate.changing);
            match waiting.and_then(|waiting| {
                let place = waiting.iter().position(|(ticket, _)| *ticket == mine)?;
                if place == 0 { None } else { waiting.get_mut(place) }
            }) {
                None => Poll::Ready(()),
                Some((_, waker)) => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }

    /// The session has ended, for everybody who is inside.
    pub(super) fn end(&self) {
        if let Some(gate) = self.gates.lock().get_mut(&self.session) {
            gate.ended = true;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.gates.lock().get(&self.session).is_some_and(|gate| gate.ended)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut gates = self.gates.lock();
        let Some(gate) = gates.get_mut(&self.session) else { return };
        gate.inside -= 1;
        gate.changing.retain(|(ticket, _)| Some(*ticket) != self.ticket);
        let next = gate.changing.front_mut().and_then(|(_, waker)| waker.take());
        if gate.inside == 0 {
            gates.remove(&self.session);
        }
        drop(gates);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;

    use mcp_proto::server::SessionId;

    use super::Gates;
    use crate::endpoint::poll_once;

    /// Changes wait for those before them, also when one of these is given up; who reads waits for nobody.
    #[test]
    fn changes_of_a_session_take_turns() {
        let gates = Arc::new(Gates::default());
        let (one, other) = (SessionId::new("one"), SessionId::new("other"));
        let [first, second, third] = [(); 3].map(|()| gates.enter(&one, true));
        assert!(poll_once(pin!(first.turn())).is_ready());
        assert!(poll_once(pin!(gates.enter(&other, true).turn())).is_ready());
        assert!(poll_once(pin!(gates.enter(&one, false).turn())).is_ready());
        assert!(poll_once(pin!(second.turn())).is_pending());
        drop(second);
        assert!(poll_once(pin!(third.turn())).is_pending());
        drop(first);
        assert!(poll_once(pin!(third.turn())).is_ready());
        drop(third);
        assert!(gates.lock().is_empty());
    }

    /// Who came before the end learns of it; nothing is remembered for those who come after all of them.
    #[test]
    fn the_end_is_known_to_all_who_are_inside() {
        let gates = Arc::new(Gates::default());
        let session = SessionId::new("one");
        let (reader, ending) = (gates.enter(&session, false), gates.enter(&session, true));
        assert!(!reader.has_ended());
        ending.end();
        drop(ending);
        assert!(reader.has_ended());
        drop(reader);
        assert!(!gates.enter(&session, false).has_ended());
    }
}
