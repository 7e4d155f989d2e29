//! One at a time, without waiting: who finds another at work leaves the work to that one.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Work on something shared that calls code of users, so that no lock may be held, and whose steps must not
/// overtake each other, so that only one thread may be at it.
///
/// Whoever has changed something calls [`run`](Self::run). The first does the work; those who come meanwhile,
/// on other threads or from within the work, go on at once, and the first works once more on their behalf.
#[derive(Debug, Default)]
pub struct Turn(AtomicUsize);

/// What became of a call of [`Turn::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Another one is at it, and sees what this one has changed. It also tells whoever has to hear of it.
    ByAnother,
    /// By this one, and only for this one.
    Alone,
    /// By this one, also for others.
    ForOthers,
}

impl Turn {
    /// Sees to it that `work`, which does all there is to do, is done after this call began.
    pub fn run(&self, mut work: impl FnMut()) -> Done {
        if self.0.fetch_add(1, Ordering::SeqCst) > 0 {
            return Done::ByAnother;
        }
        // Code of users may panic; others must not wait for ever for somebody who is gone.
        let free = Free(self);
        let mut done = Done::Alone;
        loop {
            let asked = self.0.load(Ordering::SeqCst);
            work();
            if self.0.compare_exchange(asked, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                std::mem::forget(free);
                return if asked > 1 { Done::ForOthers } else { done };
            }
            done = Done::ForOthers;
        }
    }
}

struct Free<'a>(&'a Turn);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::{Done, Turn};

    /// A call from within the work returns at once, and the work is done once more for it.
    #[test]
    fn a_call_from_within_is_served_by_the_one_at_work() {
        let (turn, rounds) = (Turn::default(), Cell::new(0));
        let done = turn.run(|| {
            rounds.set(rounds.get() + 1);
            if rounds.get() == 1 {
                assert_eq!(turn.run(|| unreachable!()), Done::ByAnother);
            }
        });
        assert_eq!((done, rounds.get()), (Done::ForOthers, 2));
        assert_eq!(turn.run(|| rounds.set(9)), Done::Alone);
    }

    /// A panic of the work frees the turn.
    #[test]
    fn a_panic_frees_the_turn() {
        let turn = Turn::default();
        catch_unwind(AssertUnwindSafe(|| turn.run(|| panic!("as asked")))).unwrap_err();
        assert_eq!(turn.run(|| {}), Done::Alone);
    }

    /// Whatever was handed in before `run` is worked off when all have returned, and never by two at once.
    #[test]
    fn nothing_is_left_behind_and_no_two_work_at_once() {
        const EACH: usize = 2_000;
        let turn = Arc::new(Turn::default());
        let (queue, taken) = (Arc::new(Mutex::new(0_usize)), Arc::new(AtomicUsize::new(0)));
        let working = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (turn, queue, taken) = (turn.clone(), queue.clone(), taken.clone());
                let working = working.clone();
                thread::spawn(move || {
                    for _ in 0..EACH {
                        *queue.lock().unwrap() += 1;
                        turn.run(|| {
                            assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0);
                            let found = std::mem::take(&mut *queue.lock().unwrap());
                            taken.fetch_add(found, Ordering::SeqCst);
                            working.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(taken.load(Ordering::SeqCst), 4 * EACH);
    }
}
