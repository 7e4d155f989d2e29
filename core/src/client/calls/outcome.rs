//! What calls end with.

use crate::client::cache::Freshness;
use crate::client::tasks::TaskHandle;
use crate::model::Json;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// A result, and where it is from.
pub(in crate::client) enum Reply {
    Came(Json),
    /// It says that the call goes on as a task, which is handed out.
    Task(Json, Box<TaskHandle>),
    /// The cache has it, too.
    Kept(Arc<Json>, Freshness),
}

impl Reply {
    pub(in crate::client) fn json(&self) -> &Json {
        match self {
            Self::Came(json) | Self::Task(json, _) => json,
            Self::Kept(json, _) => json,
        }
    }
}

impl From<Json> for Reply {
    fn from(json: Json) -> Self {
        Self::Came(json)
    }
}
