use super::*;
use serde_json::value::RawValue;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::string::String;
use std::vec;

#[derive(Serialize)]
enum Choice {
    Unit,
    New(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}

#[derive(Serialize)]
struct Everything {
    text: &'static str,
    some: Option<u8>,
    none: Option<u8>,
    unit: (),
    numbers: (i8, u64, i64, i128, f32, f64, f64, f64),
    no_number: f64,
    flag: bool,
    letter: char,
    list: Vec<u8>,
    empty: Vec<u8>,
    choices: Vec<Choice>,
    names: BTreeMap<String, u8>,
    numbered: BTreeMap<i32, u8>,
    flagged: BTreeMap<bool, u8>,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = Vec::new();
    write_json(&mut out, value).unwrap();
    String::from_utf8(out).unwrap()
}

/// serde_json is the judge of what the text for a value is.
#[test]
fn agrees_with_serde_json() {
    let value = Everything {
        text: "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀\u{2028}, and long enough for several chunks \" of it",
        some: Some(1),
        none: None,
        unit: (),
        numbers: (-128, u64::MAX, i64::MIN, i128::MAX, 0.1, 1.0, -0.0, 1.5),
        no_number: f64::NAN,
        flag: true,
        letter: '"',
        list: vec![1, 2, 3],
        empty: vec![],
        choices: vec![Choice::Unit, Choice::New(1), Choice::Tuple(1, 2), Choice::Struct { a: 1 }],
        names: BTreeMap::from([("a\"b".into(), 1), ("c".into(), 2)]),
        numbered: BTreeMap::from([(-1, 1), (2, 2)]),
        flagged: BTreeMap::from([(true, 1)]),
        rest: BTreeMap::from([("more".into(), 1)]),
    };
    assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    for control in 0..0x20u8 {
        let text = String::from(char::from(control));
        assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
    }
    assert_eq!(written(&format_args!("{}", "a\"b\n")), "\"a\\\"b\\n\"");
}

/// Floats are valid JSON that reads back as the same number.
#[test]
fn floats_survive() {
    for float in [0.0, -0.0, 1e300, 1e16, 1e15, 1e-7, 5e-324, f64::MAX, 0.1 + 0.2, -123.456] {
        let text = written(&float);
        let back: f64 = serde_json::from_str(&text).unwrap();
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), f64::to_bits(float), "{text}");
        assert!((back - float).abs() <= float.abs() * f64::EPSILON, "{text}");
    }
}

/// STDIO-01: JSON text handed through keeps its digits and strings and loses its line ends.
#[test]
fn raw_values_are_put_on_one_line() {
    let raw: Box<RawValue> = serde_json::from_str("{\r\n \"a b\" : 1.00,\n \"c\" : \"\\n \" }").unwrap();
    assert_eq!(written(&vec![&raw]), "[{\"a b\":1.00,\"c\":\"\\n \"}]");
    let raw: Box<RawValue> = serde_json::from_str("[ 1 , 2 ]").unwrap();
    assert_eq!(written(&raw), "[ 1 , 2 ]", "what is on one line stays as it is");
}

/// A failure leaves the buffer as it was.
#[test]
fn failure_takes_back_what_was_written() {
    let bad = vec![BTreeMap::from([(vec![1u8], 1u8)])];
    let mut out = b"before".to_vec();
    let error = write_json(&mut out, &bad).unwrap_err();
    assert_eq!(out, b"before");
    assert!(error.message.contains("the key of a map must be text"), "{error}");
}
