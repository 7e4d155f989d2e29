//! The official test suite of JSON Schema, in the dialects that are supported. `tests/schema-suite/run` fetches it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_driver::Limits;
use mcp_proto::model::Json;
use mcp_proto::schema::Schema;
use serde_json::{Value, json};

/// The dialects: their folder, what names them, and how many groups of tests use what is refused on purpose.
const DIALECTS: [(&str, &str, Refused); 3] = [
    ("draft7", "http://json-schema.org/draft-07/schema#", Refused { references: 13, dialects: 0 }),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema", Refused { references: 17, dialects: 2 }),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema", Refused { references: 22, dialects: 2 }),
];

/// Groups whose schema is refused when it is read, so that none of their values can be checked.
#[derive(Debug, Default, PartialEq, Eq)]
struct Refused {
    /// References to another document, the dialects' own schemas among them, since nothing is ever fetched (SCHEMA-12).
    references: usize,
    /// Dialects of somebody's own.
    dialects: usize,
}

/// SCHEMA-01: whatever the suite requires. Its optional part is about formats and about what implementations may
/// do differently.
#[test]
#[ignore = "the suite is fetched by tests/schema-suite/run"]
fn the_official_suite_passes() {
    let suite = std::env::var("MCP_SCHEMA_SUITE").expect("MCP_SCHEMA_SUITE is the folder of the suite");
    let limits = Limits::default();
    for (folder, dialect, expected) in DIALECTS {
        let mut refused = Refused::default();
        let (mut passed, mut wrong) = (0, Vec::new());
        for (file, groups) in files(&Path::new(&suite).join("tests").join(folder)) {
            for group in groups {
                let name = format!("{folder}/{file}: {}", group["description"]);
                let schema = match Schema::new(&named(&group["schema"], dialect), &limits) {
                    Ok(schema) => schema,
                    Err(error) => {
                        match error.reason {
                            reason if reason.contains("leads to another document") => refused.references += 1,
                            reason if reason.starts_with("the dialect") => refused.dialects += 1,
                            reason => wrong.push(format!("{name}: {reason}")),
                        }
                        continue;
                    }
                };
                for test in group["tests"].as_array().unwrap() {
                    let fits = schema.check(&test["data"].to_string(), "value").is_ok();
                    if fits == test["valid"] {
                        passed += 1;
                    } else {
                        wrong.push(format!("{name}: {}", test["description"]));
                    }
                }
            }
        }
        println!("{folder}: {passed} passed, {} failed, {refused:?}", wrong.len());
        assert!(passed > 700 && wrong.is_empty(), "{folder}: {passed} passed, {wrong:#?}");
        assert_eq!(refused, expected, "{folder}");
    }
}

/// The files of a dialect that every implementation has to pass.
fn files(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        })
        .collect()
}

/// The schema with its dialect, which the suite leaves to the folder.
fn named(schema: &Value, dialect: &str) -> Json {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.entry("$schema").or_insert(json!(dialect));
    }
    Json::parse(schema.to_string()).unwrap()
}
