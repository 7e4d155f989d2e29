//! Pages that the application shows to the user by itself.

use std::fmt;
use std::sync::Mutex;

use mcp_proto::auth::Url;

use crate::wake::Promise;

/// A page that the user has to visit, in order to agree; see [`Authorize::on_visit`](super::Authorize::on_visit).
///
/// It can be kept until the user is back. Dropped without an answer it counts as failed.
pub struct Visit {
    url: Url,
    answer: Promise<Result<String, String>>,
    /// Whether it was answered.
    over: Mutex<bool>,
}

impl Visit {
    pub(super) fn new(url: Url) -> (Self, Promise<Result<String, String>>) {
        let answer = Promise::default();
        (Self { url, answer: answer.clone(), over: Mutex::new(false) }, answer)
    }

    /// What to visit: `https`, or on the local machine. Give it to no shell (SEC-08).
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The user is back: this is the URL that the browser was sent to, or at least its query.
    pub fn answer(&self, redirect: impl Into<String>) {
        self.set(Ok(redirect.into()));
    }

    /// The user does not come back, for this reason.
    pub fn fail(&self, reason: impl Into<String>) {
        self.set(Err(reason.into()));
    }

    fn set(&self, answer: Result<String, String>) {
        let mut over = self.over.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !std::mem::replace(&mut *over, true) {
            drop(over);
            self.answer.set(answer);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.fail("who gave no answer");
    }
}

/// Prints no query: it may hold a secret.
impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("url", &self.url).finish_non_exhaustive()
    }
}
