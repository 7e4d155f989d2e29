//! `tests/requirements.md` is what the tests say of themselves.

use std::fs;
use std::path::Path;

use mcp_tests::requirements::{TABLE, table};

#[test]
fn the_table_of_requirements_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let written = fs::read_to_string(root.join(TABLE)).unwrap();
    assert!(written == table(&root).unwrap(), "{TABLE} is stale: cargo run -p mcp-tests --bin requirements");
}
