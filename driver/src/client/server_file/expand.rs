//! `${NAME}` in the members of a server.

/// Puts in what variables stand for. The error says what is wrong, and at most the name of a variable.
pub(super) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("${") {
        out.push_str(before);
        let (inside, after) = inside.split_once('}').ok_or("expected `}` behind `${`, found none")?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if default.is_some_and(|default| default.contains("${")) {
            return Err("expected a default without placeholders behind `:-`, found one".into());
        }
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(
                "expected `${NAME}`, `${NAME:-default}` or `${env:NAME}`, found another placeholder".into()
            );
        }
        match (lookup(name), default) {
            // As in a shell, `:-` also stands in for what is empty.
            (Some(value), Some(default)) if value.is_empty() => out.push_str(default),
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(format!("the variable `{name}` is not set, and there is no default for it"));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "A" => Some("a".into()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_put_in() {
        for (text, expanded) in [
            ("", ""),
            ("x", "x"),
            ("${A}", "a"),
            ("x${A}y${A}z", "xayaz"),
            ("${env:A}", "a"),
            ("${B:-b}", "b"),
            ("${B:-}", ""),
            ("${A:-b}", "a"),
            ("${EMPTY:-b}", "b"),
            ("${EMPTY}", ""),
            ("$A {A} $${A}", "$A {A} $a"),
            ("${B:-x:-y}", "x:-y"),
            // What a variable holds is not read again.
            ("${NESTED}", "${A}"),
        ] {
            assert_eq!(expand(text, &lookup).as_deref(), Ok(expanded), "{text}");
        }
    }

    #[test]
    fn what_stands_for_nothing_is_named() {
        assert!(expand("${B}", &lookup).unwrap_err().contains("`B`"));
        for text in ["${", "${A", "${}", "${input:key}", "${A B}", "${A:-${B}}"] {
            assert!(expand(text, &lookup).is_err(), "{text}");
        }
    }
}
