//! Writes `tests/requirements.md`. With `--missing`, prints the ids that no test names.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use mcp_tests::requirements::{TABLE, missing, table};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("requirements: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join(TABLE);
    match env::args().nth(1).as_deref() {
        None => fs::write(path, table(&root)?)?,
        Some("--missing") => missing(&root)?.iter().for_each(|id| println!("{id}")),
        Some(other) => return Err(io::Error::other(format!("unknown option {other}"))),
    }
    Ok(())
}
