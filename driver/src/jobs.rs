//! A bound for pools of threads that have none of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::limits::Limits;

use crate::runtime::Job;

/// Counts the jobs that wait for or run on a pool; for adapters whose runtime takes any number. Clones count
/// together.
#[derive(Clone, Debug)]
pub struct Jobs(Arc<Count>);

#[derive(Debug)]
struct Count {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Default for Jobs {
    fn default() -> Self {
        let most = AtomicUsize::new(Limits::default().blocking_jobs);
        Self(Arc::new(Count { now: AtomicUsize::new(0), most }))
    }
}

impl Jobs {
    /// Admits so many from now on.
    pub fn bound(&self, limits: &Limits) {
        self.0.most.store(limits.blocking_jobs, Ordering::Relaxed);
    }

    /// A job to be given to the pool, which counts until it has run or was dropped.
    ///
    /// # Errors
    /// The job itself, when there are [`Limits::blocking_jobs`] already.
    pub fn admit(&self, job: Job) -> Result<Job, Job> {
        let counted = Counted(self.0.clone());
        if self.0.now.fetch_add(1, Ordering::Relaxed) >= self.0.most.load(Ordering::Relaxed) {
            return Err(job);
        }
        Ok(Box::new(move || {
            let _counted = counted;
            job();
        }))
    }
}

struct Counted(Arc<Count>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use mcp_proto::limits::Limits;

    use super::Jobs;

    /// Exactly so many are admitted, and each makes room however it ends: run, dropped or by a panic.
    #[test]
    fn jobs_count_until_they_have_ended() {
        let jobs = Jobs::default();
        let mut limits = Limits::default();
        limits.blocking_jobs = 8;
        jobs.bound(&limits);
        let mut admitted: Vec<_> = (0..7).map(|_| jobs.admit(Box::new(|| {}))).collect();
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
