//! What machines and what they say print of themselves (`{:?}`): never what a peer or the application sent over
//! them. Logs are full of such lines.

mod client;
mod server;
#[cfg(feature = "http1")]
mod wire;

use std::fmt::Debug;
use std::time::Duration;

use mcp_proto::time::{Instant, Now};

/// What must not be printed. It stands in arguments, results, tokens, fields, queries and so on.
const SECRET: &str = "hush-1f2e3d";

fn now() -> Now {
    Now::new(Instant::new(Duration::from_secs(1)), Duration::from_secs(1_800_000_000))
}

/// The text of a test, with single quotes for double ones and `SECRET` for the secret.
fn text(text: &str) -> String {
    text.replace('\'', "\"").replace("SECRET", SECRET)
}

/// Reads what is printed.
#[derive(Default)]
struct Reader {
    read: usize,
    leaks: Vec<String>,
}

impl Reader {
    /// One line at the time, also as it is printed over several lines.
    fn read(&mut self, when: &str, printed: &dyn Debug) {
        self.read += 1;
        let text = format!("{printed:?}");
        // As text, and as the numbers of a list of bytes.
        let numbers = format!("{:?}", SECRET.as_bytes());
        let numbers = numbers.trim_matches(['[', ']']);
        for secret in [SECRET, numbers] {
            if let Some((before, _)) = text.split_once(secret) {
                let start = before.char_indices().rev().nth(120).map_or(0, |(start, _)| start);
                let before = before.get(start..).unwrap_or_default();
                self.leaks.push(format!("{when}: ..{before}<here>"));
            }
        }
        let head: String = text.chars().take(1).collect();
        assert!(!head.trim().is_empty() && !text.starts_with('"'), "prints something: {text}");
    }

    #[track_caller]
    fn judge(self, least: usize) {
        assert!(self.leaks.is_empty(), "{} of {}:\n{}", self.leaks.len(), self.read, self.leaks.join("\n"));
        assert!(self.read >= least, "only {} were read", self.read);
    }
}
