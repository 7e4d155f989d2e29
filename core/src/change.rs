//! What clients can be told of besides their own requests.

mod task;

use crate::backlog::News;
use alloc::sync::Arc;

pub use self::task::TaskChange;

/// Something of the server has changed. Says that, and not what it is now: whoever wants to know asks. Only of a task
/// clients are told how it is, which is read when it is their turn.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, or of templates.
    Resources,
    /// The resource at this URI.
    Resource(Arc<str>),
    /// A task, which lives where it runs: for those who listen there, and not for others (TASK-50).
    Task(TaskChange),
}

impl Change {
    /// The notification that tells of it.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
            Self::Task(_) => "notifications/tasks",
        }
    }

    /// Whether notifications of this method tell of one.
    pub(crate) fn is_told_by(method: &str) -> bool {
        let lists = [Self::Tools, Self::Prompts, Self::Resources];
        method == "notifications/resources/updated" || lists.iter().any(|list| list.method() == method)
    }
}

/// About what a notification has besides a URI.
const ENVELOPE: usize = 160;

impl News for Change {
    fn is_repeated_by(&self, later: &Self) -> bool {
        self == later
    }

    fn size(&self) -> usize {
        match self {
            Self::Resource(uri) => ENVELOPE + uri.len(),
            Self::Task(task) => ENVELOPE + task.id().len(),
            _ => ENVELOPE,
        }
    }

    /// Of tasks no more wait than were asked for, and the end of one is told once.
    fn counts(&self) -> bool {
        !matches!(self, Self::Task(_))
    }
}
