use alloc::format;
use std::string::{String, ToString};

use super::*;

#[cfg(feature = "jsonschema")]
mod hostile;
mod order;
#[cfg(feature = "jsonschema")]
mod values;

fn json(text: &str) -> Json {
    Json::parse(text).expect(text)
}

fn schema(text: &str) -> Schema {
    Schema::new(&json(text), &Limits::default()).expect(text)
}

/// Where and why a schema is refused.
fn refused(text: &str) -> String {
    Schema::new(&json(text), &Limits::default()).expect_err(text).to_string()
}
