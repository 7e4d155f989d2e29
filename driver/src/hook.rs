//! Calling code of the application.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a hook. A panic of it, which was printed by then, must not take along the connection that it heard
/// of. Call it with no lock held: a hook may make calls of its own.
pub(crate) fn call(hook: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(hook));
}

/// What a panic of `who` said.
pub(crate) fn panic_text(who: &str, panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text");
    format!("{who} panicked: {text}")
}
