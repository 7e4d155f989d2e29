//! What a listener is told.

use crate::backlog::News;
use crate::change::Change;
use crate::dialect::Revision;
use crate::model::tasks::DetailedTask;
use crate::model::{In, Json};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// What a listener is told.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// Something of the server has changed. Of changes of one thing that wait to be heard, one is told.
    Changed(Change),
    /// How far a task is, with all that belongs to that: what it asks is not answered by hearing of it, but by whoever waits
    /// for the task, or by hand. Of those of one task that wait to be heard, the newest is told. A server of 2025-11-25 need
    /// not tell anything (TASKL-38).
    Task(Box<DetailedTask>),
    /// What an extension of the protocol tells on the stream. Of those that have the same
    /// method and are about the same task or resource, the newest is told.
    Other {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Json>,
        /// What it is about: the `taskId` or `uri` in its parameters.
        about: Option<String>,
    },
    /// Something may have been missed: the stream broke, or the server was started again, and the stream is there
    /// again; or more has happened than waits. Look again at everything that is listened for.
    Missed,
}

/// Prints neither URIs nor parameters: they may hold secrets.
impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(change) => write!(f, "Changed({})", change.method()),
            Self::Task(task) => write!(f, "Task({})", task.task.status),
            Self::Other { method, .. } => f.debug_tuple("Other").field(method).finish(),
            Self::Missed => f.write_str("Missed"),
        }
    }
}

/// About what a notice takes besides its texts.
const ENVELOPE: usize = 160;

impl News for Notice {
    fn is_repeated_by(&self, later: &Self) -> bool {
        match (self, later) {
            (Self::Changed(change), Self::Changed(later)) => change == later,
            (
                Self::Other { method, about, .. },
                Self::Other { method: later_method, about: later_about, .. },
            ) => (method, about) == (later_method, later_about),
            (Self::Task(task), Self::Task(later)) => task.task.task_id == later.task.task_id,
            (Self::Missed, Self::Missed) => true,
            _ => false,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Changed(change) => change.size(),
            Self::Other { method, params, about } => {
                let params = params.as_ref().map_or(0, |params| params.get().len());
                ENVELOPE + method.len() + params + about.as_ref().map_or(0, String::len)
            }
            Self::Task(task) => ENVELOPE + size(task),
            Self::Missed => ENVELOPE,
        }
    }
}

/// About what a task takes: as much as it took on its way.
fn size(task: &DetailedTask) -> usize {
    let own = &task.task;
    let texts = [&own.task_id, &own.created_at, &own.last_updated_at];
    let message = own.status_message.as_ref().map_or(0, String::len);
    let extra = own.extra.iter().map(|(key, value)| key.len() + value.get().len());
    let result = task.result.as_ref().map_or(0, |result| result.get().len());
    let error = task
        .error
        .as_ref()
        .map_or(0, |error| error.message.len() + error.data.as_ref().map_or(0, |data| data.get().len()));
    let asked = task.input_requests.iter().map(|(key, request)| {
        let request = Json::new(&In(Revision::LATEST, request)).map_or(0, |request| request.get().len());
        key.len() + request
    });
    texts.into_iter().map(String::len).chain(extra).chain(asked).sum::<usize>() + message + result + error
}
