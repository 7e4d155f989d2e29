//! Writes `tests/requirements.md`. With `--check`, says whether it is as it would be written; with `--missing`,
//! prints the ids that no test names.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use mcp_tests::requirements::{TABLE, missing, table};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("requirements: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join(TABLE);
    match env::args().nth(1).as_deref() {
        None => fs::write(path, table(&root)?)?,
        Some("--missing") => missing(&root)?.iter().for_each(|id| println!("{id}")),
        Some("--check") => {
            if fs::read_to_string(path)? != table(&root)? {
                eprintln!("{TABLE} is stale: cargo run -p mcp-tests --bin requirements");
                return Ok(ExitCode::FAILURE);
            }
        }
        Some(other) => return Err(io::Error::other(format!("unknown option {other}"))),
    }
    Ok(ExitCode::SUCCESS)
}
