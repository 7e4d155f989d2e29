//! A task as clients are told of it.

use alloc::sync::Arc;
use core::fmt;

use serde::ser::SerializeMap;

use crate::dialect::Tasks;
use crate::model::encode::{Members, Object};
use crate::model::{DetailedTask, Json, TaskStatus};

/// How a task was when it was read, with all that is known of it. Shares its result, which may be large, with the table.
/// Prints how far the task is.
#[derive(Clone)]
pub struct TaskDetail {
    /// Without the result.
    known: DetailedTask,
    result: Option<Arc<Json>>,
}

impl TaskDetail {
    pub(in crate::server) fn new(known: DetailedTask, result: Option<Arc<Json>>) -> Self {
        Self { known, result }
    }

    /// How far it is.
    pub fn status(&self) -> TaskStatus {
        self.known.task.status
    }

    /// A copy of all of it.
    pub fn to_detailed(&self) -> DetailedTask {
        let mut detailed = self.known.clone();
        detailed.result = self.result.as_deref().cloned();
        detailed
    }
}

impl Members for TaskDetail {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        self.known.members(to)?;
        // As in the model.
        match to.dialect().tasks {
            Tasks::Core => Ok(()),
            _ => to.optional("result", &self.result.as_deref()),
        }
    }
}

/// As the result of `tasks/get` (TASK-28).
pub(super) struct Got<'a>(pub(super) &'a TaskDetail);

impl Members for Got<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        self.0.members(to)
    }
}

impl fmt::Debug for TaskDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskDetail").field(&self.status()).finish()
    }
}
