//! A task that has changed.

use alloc::sync::Arc;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::model::DetailedTask;

/// A task that has changed, as it was then. Two are the same when they tell of the same change of the same task. Cheap to
/// clone; prints how far the task is.
#[derive(Clone)]
pub struct TaskChange {
    task: Arc<DetailedTask>,
    /// Among the changes of its table.
    serial: u64,
    size: usize,
}

impl TaskChange {
    /// The change with this number, after which `task` was so. It takes about `size` bytes.
    pub(crate) fn new(task: DetailedTask, serial: u64, size: usize) -> Self {
        let size = size + task.task.task_id.len();
        Self { task: Arc::new(task), serial, size }
    }

    /// What the task is asked for by.
    pub fn id(&self) -> &str {
        &self.task.task.task_id
    }

    /// The task, with all that `tasks/get` would have told.
    pub fn task(&self) -> &DetailedTask {
        &self.task
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn key(&self) -> (&str, u64) {
        (self.id(), self.serial)
    }
}

impl fmt::Debug for TaskChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskChange").field(&self.task.task.status).finish()
    }
}

impl PartialEq for TaskChange {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for TaskChange {}

impl PartialOrd for TaskChange {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TaskChange {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for TaskChange {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
