use std::string::String;

use super::*;

fn text(json: &str) -> String {
    String::from_utf8(canonical(json, 128).expect(json)).expect(json)
}

/// MRTR-16
#[test]
fn the_order_of_members_and_white_space_do_not_matter() {
    let expected = r#"{"a":[1,{"c":null,"d":true}],"b":"x"}"#;
    assert_eq!(text(expected), expected);
    assert_eq!(text(" { \"b\" : \"x\" ,\n\"a\":[ 1 , {\"d\":true,\t\"c\":null} ] } "), expected);
}

/// MRTR-16
#[test]
fn the_order_of_elements_matters() {
    assert_ne!(text("[1,2]"), text("[2,1]"));
    assert_ne!(text("[[1],2]"), text("[1,[2]]"));
    assert_ne!(text("[]"), text("{}"));
}

/// MRTR-16
#[test]
fn a_number_is_its_exact_value_whatever_its_notation() {
    for (notations, expected) in [
        (&["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "1.000"][..], "1"),
        (&["0", "-0", "0.0", "0e5", "-0.00e-7", "0e99999999999999999999"], "0"),
        (&["100", "1e2", "1.00e2", "0.001e5"], "1e2"),
        (&["-12.50", "-1.25e1", "-125e-1"], "-125e-1"),
        (&["9007199254740993", "9007199254740993.0"], "9007199254740993"),
        (&["0.1"], "1e-1"),
    ] {
        for notation in notations {
            assert_eq!(text(notation), expected, "{notation}");
        }
    }
}

/// MRTR-16: numbers that become the same double are two numbers.
#[test]
fn numbers_that_doubles_cannot_tell_apart_differ() {
    assert_ne!(text("9007199254740992"), text("9007199254740993"));
    assert_ne!(text("0.1"), text("0.1000000000000000055"));
    assert_ne!(text("1e400"), text("1e401"));
    assert_ne!(text("1e99999999999999999999"), text("1e99999999999999999998"));
    assert_ne!(text("1"), text("-1"));
    assert_ne!(text("1"), text("\"1\""));
}

/// MRTR-16
#[test]
fn escapes_do_not_matter() {
    for (one, other) in [
        (r#""\u0041\/""#, r#""A/""#),
        (r#""\u00e9""#, "\"é\""),
        (r#""\ud83d\ude00""#, "\"😀\""),
        (r#""\u0008\u0009\u000A\u000c\u000d""#, r#""\b\t\n\f\r""#),
        (r#""\u001F""#, r#""\u001f""#),
        (r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#),
    ] {
        assert_eq!(text(one), text(other));
    }
    assert_ne!(text(r#""\\u0041""#), text(r#""A""#));
    assert_ne!(text(r#""\u0065\u0301""#), text(r#""\u00e9""#), "what looks alike is not alike");
}

/// MRTR-16: whichever of the two a handler reads, it cannot be another one in the next round.
#[test]
fn repeated_names_all_count_in_their_order() {
    assert_eq!(text(r#"{"b":1,"a":2,"a":1}"#), r#"{"a":2,"a":1,"b":1}"#);
    assert_ne!(text(r#"{"a":2,"a":1}"#), text(r#"{"a":1,"a":2}"#));
    assert_ne!(text(r#"{"a":1,"a":1}"#), text(r#"{"a":1}"#));
}

#[test]
fn half_a_surrogate_pair_stays_as_it_is() {
    assert_eq!(text(r#""\ud800""#), r#""\ud800""#);
    assert_eq!(text(r#"{"\ud800x":"\udfff"}"#), r#"{"\ud800x":"\udfff"}"#);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(canonical(&nested(5), 5).is_some());
    assert!(canonical(&nested(6), 5).is_none());
    let objects = |depth: usize| [r#"{"a":"#.repeat(depth), "1".into(), "}".repeat(depth)].concat();
    assert!(canonical(&objects(5), 5).is_some());
    assert!(canonical(&objects(6), 5).is_none());
}

#[test]
fn what_is_no_json_has_no_canonical_text() {
    for json in ["", "{", "[1,]", "01", "nul", "{\"a\"}", "1 2", "\"\n\""] {
        assert!(canonical(json, 128).is_none(), "{json}");
    }
}

/// MRTR-16: however a request is written, it is the same one; and whatever is changed in it, it is another one.
#[test]
fn random_values_have_one_text_however_they_are_written() {
    for seed in 1..=500 {
        let mut chance = Chance(seed);
        let value = Made::any(&mut chance, 4);
        let plain = value.write(&mut Chance(seed + 1_000));
        let expected = text(&plain);
        for style in 0..4 {
            let written = value.write(&mut Chance(seed * 31 + style));
            assert_eq!(text(&written), expected, "seed {seed}: {written}");
        }
        assert_eq!(text(&expected), expected, "seed {seed}: there is one form");
        let mut other = value.clone();
        other.change(&mut chance);
        assert_ne!(text(&other.write(&mut chance)), expected, "seed {seed}: {plain}");
    }
}

/// A generator: xorshift64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = (self.0 | 1) ^ (self.0 << 13);
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// A value, apart from how it is written.
#[derive(Clone)]
enum Made {
    Word(bool),
    /// Digits and a power of ten.
    Number(u64, i32),
    Text(String),
    List(Vec<Made>),
    /// By distinct names.
    Object(Vec<(String, Made)>),
}

impl Made {
    fn any(chance: &mut Chance, depth: usize) -> Self {
        match chance.below(if depth > 0 { 5 } else { 3 }) {
            0 => Self::Word(chance.below(2) == 0),
            1 => Self::Number(chance.below(100_000) as u64, chance.below(40) as i32 - 20),
            2 => Self::Text(Self::name(chance)),
            3 => Self::List((0..chance.below(4)).map(|_| Self::any(chance, depth - 1)).collect()),
            _ => {
                let member =
                    |index| (alloc::format!("{index}{}", Self::name(chance)), Self::any(chance, depth - 1));
                Self::Object((0..3).map(member).collect())
            }
        }
    }

    fn name(chance: &mut Chance) -> String {
        (0..chance.below(4))
            .map(|_| ['a', 'é', '"', '\\', '\n', '\u{7}', '😀', '/'][chance.below(8)])
            .collect()
    }

    /// Changes one thing somewhere.
    fn change(&mut self, chance: &mut Chance) {
        match self {
            Self::Word(word) => *word = !*word,
            Self::Number(digits, _) => *digits += 1,
            Self::Text(text) => text.push('x'),
            Self::List(list) if list.is_empty() => list.push(Self::Word(true)),
            Self::List(list) => {
                let index = chance.below(list.len());
                list[index].change(chance);
            }
            Self::Object(members) => {
                let index = chance.below(members.len());
                match chance.below(2) {
                    0 => members[index].0.push('x'),
                    _ => members[index].1.change(chance),
                }
            }
        }
    }

    fn write(&self, chance: &mut Chance) -> String {
        let space = [" ", "", "\n\t"][chance.below(3)];
        let inner = match self {
            Self::Word(word) => alloc::format!("{word}"),
            Self::Number(digits, power) => match chance.below(3) {
                0 => alloc::format!("{digits}e{power}"),
                1 => alloc::format!("{digits}.000E{power}"),
                _ => alloc::format!("{digits}00e{}", power - 2),
            },
            Self::Text(text) => Self::quote(text, chance),
            Self::List(list) => {
                let list: Vec<String> = list.iter().map(|element| element.write(chance)).collect();
                alloc::format!("[{}]", list.join(","))
            }
            Self::Object(members) => {
                let mut members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| {
                        alloc::format!("{}{space}:{}", Self::quote(name, chance), value.write(chance))
                    })
                    .collect();
                let middle = chance.below(members.len());
                members.rotate_left(middle);
                alloc::format!("{{{}}}", members.join(","))
            }
        };
        alloc::format!("{space}{inner}{space}")
    }

    fn quote(text: &str, chance: &mut Chance) -> String {
        let mut quoted = String::from("\"");
        for character in text.chars() {
            if chance.below(2) == 0 || matches!(character, '"' | '\\' | '\0'..='\u{1f}') {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    quoted.push_str(&alloc::format!("\\u{unit:04x}"));
                }
            } else {
                quoted.push(character);
            }
        }
        quoted.push('"');
        quoted
    }
}
