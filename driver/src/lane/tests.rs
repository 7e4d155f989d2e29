use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use super::{Lane, Lead, MOST, in_passing};
use crate::pool::Pool;
use crate::runtime::Job;

/// A pool whose lanes only the test looks at, and a lane of it that counts who takes over.
fn unwatched() -> (Pool, Arc<Lane>, Receiver<ThreadId>) {
    let (pool, (taken, took)) = (Pool::unwatched(), channel());
    let taken = Mutex::new(taken);
    let lane = Lane::new(&pool, move || taken.lock().unwrap().send(thread::current().id()).unwrap());
    (pool, Arc::new(lane), took)
}

fn give(pool: &Pool, job: impl FnOnce() + Send + 'static) {
    assert!(pool.run(Box::new(job)).is_ok());
}

fn tells(who: &Sender<ThreadId>) -> Job {
    let who = who.clone();
    Box::new(move || who.send(thread::current().id()).unwrap())
}

/// What is done before anybody looks is done in order by the thread that took the input, also behind a panic, and that
/// goes on to lead.
#[test]
fn quick_jobs_run_where_their_input_was_taken() {
    let (pool, lane, took) = unwatched();
    let (who, ran) = channel();
    for _ in 0..3 {
        let lead = lane.turn(|| {
            give(&pool, tells(&who));
            give(&pool, || panic!("as asked"));
            give(&pool, tells(&who));
            // None of them has run by now.
            assert!(ran.try_recv().is_err());
        });
        assert_eq!(lead, Lead::Here);
        assert_eq!(ran.try_iter().collect::<Vec<_>>(), [thread::current().id(); 2]);
        // The next turn is another one.
        pool.shared().look();
    }
    assert!(took.try_recv().is_err());
}

/// A job that takes long holds up neither input nor the jobs behind it, and each of those that does holds up no other;
/// its thread has lost the lead when it is done.
#[test]
fn whoever_takes_long_loses_the_lead_and_the_jobs_that_wait() {
    const JOBS: usize = 5;
    let (pool, lane, took) = unwatched();
    let (go, (at_work, working)) = (Arc::new(Mutex::new(Vec::new())), channel());
    let leading = {
        let (pool, lane, go) = (pool.clone(), lane.clone(), go.clone());
        thread::spawn(move || {
            lane.turn(|| {
                for _ in 0..JOBS {
                    let (at_work, (told, wait)) = (at_work.clone(), channel::<()>());
                    go.lock().unwrap().push(told);
                    let job = move || {
                        at_work.send(thread::current().id()).unwrap();
                        wait.recv().unwrap_err();
                    };
                    give(&pool, job);
                }
            })
        })
    };
    let mut threads = vec![working.recv().unwrap()];
    assert_eq!(threads, [leading.thread().id()]);
    // The first look sees the turn, and the second one that it is still the same.
    pool.shared().look();
    assert!(took.try_recv().is_err());
    pool.shared().look();
    assert_ne!(took.recv().unwrap(), leading.thread().id());
    for _ in 1..JOBS {
        let thread = working.recv().unwrap();
        assert!(!threads.contains(&thread));
        threads.push(thread);
    }
    // Another one has the lead, whatever becomes of the one before.
    assert_eq!(lane.turn(|| {}), Lead::Here);
    go.lock().unwrap().clear();
    assert_eq!(leading.join().unwrap(), Lead::Lost);
}

/// What input gives to the pool and waits for does not wait for the end of the input.
#[test]
fn input_that_takes_long_holds_up_no_job() {
    let (pool, lane, took) = unwatched();
    let (who, ran) = channel();
    let lead = lane.turn(|| {
        for _ in 0..2 {
            give(&pool, tells(&who));
        }
        pool.shared().look();
        pool.shared().look();
        let here = thread::current().id();
        assert!((0..2).all(|_| ran.recv().unwrap() != here));
        // Nor does what comes now.
        give(&pool, tells(&who));
        assert_ne!(ran.recv().unwrap(), here);
    });
    assert_eq!(lead, Lead::Here);
    assert!(took.try_recv().is_err());
}

/// What a job gives to the pool does not wait for the job, nor does what another thread gives to it.
#[test]
fn only_input_keeps_jobs_for_its_thread() {
    let (pool, lane, _took) = unwatched();
    let (who, ran) = channel();
    let here = thread::current().id();
    lane.turn(|| {
        let given = pool.clone();
        let who = who.clone();
        let (elsewhere, other) = (pool.clone(), tells(&who));
        thread::spawn(move || elsewhere.run(other).is_ok()).join().unwrap();
        assert_ne!(ran.recv().unwrap(), here);
        give(&pool, move || {
            give(&given, tells(&who));
            assert_ne!(ran.recv().unwrap(), here);
        });
    });
}

/// Answers of jobs that are not the last of their turn are said together, but not without end, and nothing is left to be
/// said when the last one is.
#[test]
fn what_is_said_is_kept_back_for_what_comes_next() {
    let (pool, lane, _took) = unwatched();
    let said = Arc::new(Mutex::new(Vec::new()));
    for (last, lead) in [(1, Lead::Here), (0, Lead::Owing)] {
        let ended = lane.turn(|| {
            for answers in [40, last] {
                let (lane, said) = (lane.clone(), said.clone());
                give(&pool, move || {
                    let kept = (0..answers).filter(|_| lane.keep_back()).count();
                    said.lock().unwrap().push(kept);
                });
            }
        });
        assert_eq!((ended, said.lock().unwrap().split_off(0).as_slice()), (lead, [39, 0].as_slice()));
    }
    assert!(!lane.keep_back());
    assert_eq!(lane.turn(|| {}), Lead::Here);
}

/// What a job says in passing goes out with its answer, or by itself when it is much.
#[test]
fn what_is_said_in_passing_is_kept_back_for_the_answer() {
    const EACH: usize = MOST / 4;
    let (pool, lane, _took) = unwatched();
    let kept = |said: usize, answers: usize| {
        let (tell, told) = channel();
        let spoken = lane.clone();
        let lead = lane.turn(|| {
            give(&pool, move || {
                (0..said).for_each(|_| in_passing(EACH, || tell.send(spoken.keep_back()).unwrap()));
                (0..answers).for_each(|_| tell.send(spoken.keep_back()).unwrap());
            });
        });
        (lead, told.try_iter().collect::<Vec<_>>())
    };
    assert_eq!(kept(2, 1), (Lead::Here, vec![true, true, false]));
    assert_eq!(kept(3, 0), (Lead::Owing, vec![true; 3]));
    assert_eq!(kept(4, 0), (Lead::Here, vec![true, true, true, false]));
    assert_eq!(kept(5, 0), (Lead::Owing, vec![true, true, true, false, true]));
    // Only while it is being said.
    assert_eq!(kept(0, 1), (Lead::Here, vec![false]));
}

/// Whoever takes over says what was kept back, and from then on nothing that the slow job says waits.
#[test]
fn nothing_that_a_slow_job_says_is_kept_back() {
    let (pool, lane, took) = unwatched();
    let (tell, told) = channel();
    let (spoken, watched) = (lane.clone(), pool.clone());
    let lead = lane.turn(|| {
        give(&pool, move || {
            let say = || in_passing(1, || tell.send(spoken.keep_back()).unwrap());
            say();
            watched.shared().look();
            say();
            watched.shared().look();
            // By now it was told to take over.
            took.recv().unwrap();
            say();
        });
    });
    assert_eq!((lead, told.try_iter().collect::<Vec<_>>()), (Lead::Lost, vec![true, true, false]));
}

/// Lanes in which nothing is done are looked at no longer, and again when something is.
#[test]
fn idle_lanes_cost_nothing() {
    let (pool, lane, _took) = unwatched();
    for _ in 0..2 {
        assert_eq!(pool.shared().looked_at(), 0);
        lane.turn(|| {});
        assert_eq!(pool.shared().looked_at(), 0);
        lane.turn(|| give(&pool, || {}));
        assert_eq!(pool.shared().looked_at(), 1);
        for _ in 0..4 {
            pool.shared().look();
        }
    }
}
