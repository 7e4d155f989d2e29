//! The user's browser.

use std::io;
use std::process::{Command, Stdio};

/// Opens a page in the default browser, by the program that the desktop has for that, and without a shell (SEC-08).
///
/// Returns when that program has ended: most do at once, some with the browser.
pub(super) fn open(url: &str) -> io::Result<()> {
    let (program, first) = OPENER;
    let mut command = Command::new(program);
    command.args(first).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("`{program}`, which opens the browser, cannot be started: {error}"),
        )
    })?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("`{program}`, which opens the browser, failed: {status}")))
}

#[cfg(target_os = "macos")]
const OPENER: (&str, &[&str]) = ("open", &[]);

#[cfg(windows)]
const OPENER: (&str, &[&str]) = ("rundll32", &["url.dll,FileProtocolHandler"]);

#[cfg(not(any(target_os = "macos", windows)))]
const OPENER: (&str, &[&str]) = ("xdg-open", &[]);
