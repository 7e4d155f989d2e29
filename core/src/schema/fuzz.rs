//! Body of a fuzz target: any bytes as a schema are a schema or a refusal, and any value fits it or does not, in
//! bounded time. Not part of the API.

use alloc::format;
use alloc::string::ToString;

use super::value::Value;
use super::{Mismatch, Schema};
use crate::limits::Limits;
use crate::model::Json;

/// As long as what is told of one check may be: ten faults with their paths.
const TOLD: usize = 64 << 10;

/// What comes before the first line end is the schema, the rest is the value.
pub fn fuzz(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let (schema, value) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(json) = Json::parse(schema) else { return };
    let limits = Limits { schema_depth: 16, schemas: 256, schema_steps: 10_000, ..Limits::default() };
    let read = match Schema::new(&json, &limits) {
        Ok(schema) => schema,
        Err(refused) => {
            assert!(refused.reason.len() < TOLD, "what is told is bounded");
            return;
        }
    };
    // No value that is not JSON is ever checked, but nothing may happen to one either.
    let verdict = read.check(value, "v");
    assert_eq!(verdict, read.check(value, "v"), "the same again");
    if let Err(mismatch) = &verdict {
        let told = mismatch.to_string();
        assert!(
            told.len() < TOLD && !told.is_empty() && told.lines().count() <= 11,
            "what is told is bounded"
        );
    }
    if Json::parse(value).is_ok() && Value::parse(value).is_ok() && !schema.contains('$') {
        assert_opposite(schema, value, &verdict);
    }
}

/// What fits a schema does not fit its negation, and the other way round.
fn assert_opposite(schema: &str, value: &str, verdict: &Result<(), Mismatch>) {
    let limits = Limits { schema_depth: 17, schemas: 257, schema_steps: 20_000, ..Limits::default() };
    let Ok(json) = Json::parse(format!(r#"{{"not":{schema}}}"#)) else { return };
    let Ok(negated) = Schema::new(&json, &limits) else { panic!("what is in order can be negated") };
    let negated = negated.check(value, "v");
    let given_up = |verdict: &Result<(), Mismatch>| {
        verdict.as_ref().is_err_and(|mismatch| {
            let told = mismatch.to_string();
            told.contains("more steps") || told.contains("too deeply")
        })
    };
    if !given_up(verdict) && !given_up(&negated) {
        assert_ne!(verdict.is_ok(), negated.is_ok(), "fits one of the two");
    }
}
