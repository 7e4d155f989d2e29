use super::*;
use std::collections::BTreeMap;
use std::format;
use std::string::ToString;

fn decoded(json: &str) -> Result<RequestId, serde_json::Error> {
    serde_json::from_str(json)
}

/// B09, RPC-07: type and digits come back as they came.
#[test]
fn every_id_is_kept_exactly() {
    for json in [
        "0",
        "1",
        "-7",
        "1774232524389",
        "9007199254740991",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "-0",
        "123456789012345678901234567890",
        "\"1\"",
        "\"\"",
        "\"é😀\"",
        "\"a\\\"b\"",
        "\"\\n\"",
    ] {
        let id = decoded(json).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), json);
        assert_eq!(id.to_string(), json);
        assert_eq!(Some(id), RequestId::from_json(json));
    }
}

/// RPC-03, RPC-04: strings and integers only.
#[test]
fn other_values_are_refused() {
    for json in ["null", "1.0", "1e3", "1E3", "-1.5", "true", "false", "{}", "{\"a\":1}", "[]", "[1]"] {
        assert_eq!(RequestId::from_json(json), None, "{json}");
        assert!(decoded(json).is_err(), "{json}");
    }
    assert_eq!(RequestId::from_json("\"\\ud800\""), None);
}

/// B09: an escape is the same text.
#[test]
fn escaped_text_is_the_same_id() {
    assert_eq!(decoded("\"\\u0031\"").unwrap(), RequestId::from("1"));
    assert_ne!(decoded("1").unwrap(), RequestId::from("1"));
    assert_ne!(decoded("-0").unwrap(), RequestId::from(0));
}

/// B12: zero and empty text are ids like any other.
#[test]
fn zero_and_empty_text_are_ids() {
    assert_eq!(decoded("0").unwrap().as_i64(), Some(0));
    assert_eq!(decoded("\"\"").unwrap().as_str(), Some(""));
    let ids = BTreeMap::from([(RequestId::from(0), 1), (RequestId::from(""), 2), (RequestId::from("0"), 3)]);
    assert_eq!(ids.len(), 3);
}

/// Inside flattened and tagged types serde buffers values; ids survive that too.
#[test]
fn ids_are_read_from_buffered_values() {
    #[derive(Deserialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Inner {
        progress_token: RequestId,
    }
    for json in ["1", "-1", "18446744073709551615", "\"a\""] {
        let outer: Outer = serde_json::from_str(&format!("{{\"progressToken\":{json}}}")).unwrap();
        assert_eq!(outer.inner.progress_token.to_string(), json);
    }
    for json in ["{}", "{\"a\":1}", "null", "[]", "1.5"] {
        assert!(serde_json::from_str::<Outer>(&format!("{{\"progressToken\":{json}}}")).is_err(), "{json}");
    }
}

#[test]
fn ids_are_read_from_values() {
    for value in [serde_json::json!(7), serde_json::json!("7")] {
        let id: RequestId = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(id.to_string(), value.to_string());
        assert_eq!(serde_json::to_value(&id).unwrap(), value);
    }
}
