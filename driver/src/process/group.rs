//! All processes that a child has started, to be ended together with it.

use crate::runtime::{Process, Runtime};

/// How a group is ended.
#[derive(Clone, Copy)]
pub(super) enum Signal {
    /// By asking: where the system has no way to ask, nothing happens.
    Terminate,
    Kill,
}

/// The process group of a child. Nothing of it is left when this is dropped, also when that is because the
/// runtime shuts down.
#[cfg(not(windows))]
pub(crate) struct Group(u32);

#[cfg(not(windows))]
impl Group {
    /// That of a child which was started in one of its own.
    pub(crate) fn of<R: Runtime>(process: &Process<R>) -> Self {
        Self(process.id)
    }

    /// Signals all of it. A group that is gone already is no error.
    pub(super) fn signal(&mut self, signal: Signal) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal as Unix, kill_process_group};
            let signal = match signal {
                Signal::Terminate => Unix::TERM,
                Signal::Kill => Unix::KILL,
            };
            if let Some(group) = i32::try_from(self.0).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, signal);
            }
        }
        #[cfg(not(unix))]
        let _ = signal;
    }
}

#[cfg(not(windows))]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

/// The job of a child, with whatever it has started since it was put there. The system ends all of it when the job is
/// closed, also when that is because this process ends.
#[cfg(windows)]
pub(crate) struct Group(Option<win32job::Job>);

#[cfg(windows)]
impl Group {
    /// That of a child which was just started. Without a job only the child itself is ended, by its runtime.
    pub(crate) fn of<R: Runtime>(process: &Process<R>) -> Self {
        let mut limits = win32job::ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = win32job::Job::create_with_limit_info(&limits).ok();
        Self(job.filter(|job| process.handle.is_some_and(|handle| job.assign_process(handle).is_ok())))
    }

    /// A job cannot be asked; killing it closes it.
    pub(super) fn signal(&mut self, signal: Signal) {
        if let Signal::Kill = signal {
            self.0 = None;
        }
    }
}
