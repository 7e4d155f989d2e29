//! Calling code of the application that only listens.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a hook. A panic of it, which was printed by then, must not take along the connection that it heard
/// of. Call it with no lock held: a hook may make calls of its own.
pub(crate) fn call(hook: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(hook));
}
