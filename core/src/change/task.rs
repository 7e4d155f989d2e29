//! A task that has changed.

use alloc::sync::Arc;
use core::fmt;

/// Says which task is not what it was. How it is now, its table says to whoever is to be told:
/// [`Tasks::read`](crate::server::Tasks::read). Prints nothing, as the id may be all that is needed to use it (TASK-67).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskChange(Arc<str>);

impl TaskChange {
    pub(crate) fn new(id: Arc<str>) -> Self {
        Self(id)
    }

    /// What the task is asked for by.
    pub fn id(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TaskChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskChange").finish_non_exhaustive()
    }
}
