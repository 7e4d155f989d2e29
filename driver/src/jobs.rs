//! A bound for pools of threads that have none of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::runtime::Job;

/// Counts the jobs that wait for or run on a pool; for adapters whose runtime takes any number. Clones count
/// together.
#[derive(Clone, Debug, Default)]
pub struct Jobs(Arc<AtomicUsize>);

impl Jobs {
    /// Jobs at the most.
    pub const MOST: usize = 4_096;

    /// A job to be given to the pool, which counts until it has run or was dropped.
    ///
    /// # Errors
    /// The job itself, when there are [`MOST`](Self::MOST) already.
    pub fn admit(&self, job: Job) -> Result<Job, Job> {
        let counted = Counted(self.0.clone());
        if self.0.fetch_add(1, Ordering::Relaxed) >= Self::MOST {
            return Err(job);
        }
        Ok(Box::new(move || {
            let _counted = counted;
            job();
        }))
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Jobs;

    /// Exactly so many are admitted, and each makes room however it ends: run, dropped or by a panic.
    #[test]
    fn jobs_count_until_they_have_ended() {
        let jobs = Jobs::default();
        let mut admitted: Vec<_> = (0..Jobs::MOST - 1).map(|_| jobs.admit(Box::new(|| {}))).collect();
        admitted.push(jobs.admit(Box::new(|| panic!("as asked"))));
        assert!(admitted.iter().all(Result::is_ok));
        assert!(jobs.admit(Box::new(|| {})).is_err());
        assert!(jobs.admit(Box::new(|| {})).is_err(), "a refused job does not count");

        let panics = admitted.pop().unwrap().ok().unwrap();
        catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        drop(admitted.pop());
        admitted.pop().unwrap().ok().unwrap()();
        let room: Vec<_> = (0..4).map(|_| jobs.admit(Box::new(|| {}))).collect();
        assert_eq!(room.iter().filter(|admitted| admitted.is_ok()).count(), 3);
    }
}
