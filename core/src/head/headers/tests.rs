use super::*;
use alloc::format;
use alloc::vec;

/// The fields of a text of lines without their ends, where they stand in it.
fn over(text: &[u8]) -> Headers {
    let mut spans = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let colon = line.iter().position(|byte| *byte == b':').unwrap();
        let name = core::str::from_utf8(&line[..colon]).unwrap();
        spans.push(Span::within(text, name, &line[colon + 1..]).unwrap());
    }
    Headers::over(text.to_vec(), spans)
}

#[test]
fn what_is_looked_for_is_known_by_its_name_in_any_case() {
    let known: Vec<_> = (0..64).flat_map(Field::of_length).collect();
    assert_eq!(known.len(), Field::COUNT);
    for (name, field) in known {
        assert_eq!(Field::named(&name.to_ascii_uppercase()), Some(*field), "{name}");
        assert!((*field as usize) < Field::COUNT, "{name}");
        let headers = Headers::new().with("x", "0").with(&name.to_ascii_uppercase(), "1").with(name, "2");
        assert_eq!(headers.all(name).collect::<Vec<_>>(), [b"1", b"2"], "{name}");
        assert_eq!((headers.text_of(*field), headers.sole_text_of(*field)), (Some("1"), None), "{name}");
    }
    for other in ["hos", "hosts", "x-host", "", "mcp-names"] {
        assert_eq!(Field::named(other), None, "{other}");
    }
}

#[test]
fn fields_are_found_however_many_come_before_them() {
    for before in [0, 253, 254, 255, 256, 600] {
        let mut headers = Headers::new();
        (0..before).for_each(|i| headers.push(&format!("x-{i}"), "no"));
        headers.push("host", " a ");
        headers.push("Host", "b");
        assert_eq!(headers.all_of(Field::Host).collect::<Vec<_>>(), [b" a ".as_slice(), b"b"], "{before}");
        assert_eq!(headers.text("HOST"), Some("a"), "{before}");
        headers.remove("x-0");
        assert_eq!(headers.all_of(Field::Host).count(), 2, "{before}");
        headers.remove("hOst");
        assert!(!headers.has(Field::Host) && headers.get("host").is_none(), "{before}");
    }
}

#[test]
fn fields_that_stand_in_a_text_are_those_that_are_pushed() {
    for value in [b"plain".as_slice(), b"\xC3\xA4", b"\xE4 is no UTF-8", b""] {
        let text = [b"host:a\nX-Y:".as_slice(), value, b"\nACCEPT:*/*"].concat();
        let headers = over(&text);
        let pushed = Headers::new().with("host", "a").with("X-Y", value).with("ACCEPT", "*/*");
        assert_eq!(headers, pushed);
        assert_eq!(headers.get("x-y"), Some(value));
        assert_eq!(headers.text("x-y"), core::str::from_utf8(value).ok());
        assert_eq!(headers.text_of(Field::Accept), Some("*/*"));
    }
    assert_eq!(Headers::of_json(), Headers::new().with("Content-Type", "application/json"));
    assert_eq!(Headers::of_json().text_of(Field::ContentType), Some("application/json"));
    assert_eq!(Headers::of_json().with("a", "b").len(), 2);
    assert_ne!(over(b"a:b"), Headers::new().with("A", "b"), "case is kept");
    assert!(Span::within(b"a:b", "elsewhere", b"").is_none());
}

/// AUTHS-11
#[test]
fn nothing_is_left_of_a_value_that_was_taken_out() {
    let secrets = vec![b"secret".to_vec(), b"secret\xE4".to_vec()];
    for secret in secrets {
        let mut headers = Headers::new().with("a", "1").with("Authorization", &secret).with("b", "2");
        headers.remove("authorization");
        let holds = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"secret");
        assert!(!holds(headers.text.as_bytes()) && !holds(&headers.other));
        assert_eq!(headers, Headers::new().with("a", "1").with("b", "2"));
    }
}
