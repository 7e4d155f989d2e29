//! A command line as people type it, taken apart without a shell.

use mcp_proto::error::ApiMisuse;

/// The words of a command line. Quotes and backslashes mean what they mean in a shell; nothing is expanded, and what
/// a shell would act upon is refused, so that nobody finds out later that there was none.
pub(super) fn split(line: &str) -> Result<Vec<String>, ApiMisuse> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        Some('\'') => break,
                        Some(quoted) => word.push(quoted),
                        None => return Err(refused("has a `'` that is not closed")),
                    }
                }
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            // There it separates the parts of a path.
            '\\' if cfg!(not(windows)) => match rest.next() {
                // A line that goes on on the next one.
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err(refused("ends with a `\\`")),
            },
            '|' | '&' | ';' | '<' | '>' | '`' | '$' | '(' | ')' => {
                let what =
                    format!("has a `{next}`, but no shell is run: put it into single quotes if it is meant");
                return Err(refused(&what));
            }
            '#' if word.is_none() => {
                return Err(refused("has a comment, but no shell is run: put it into quotes if it is meant"));
            }
            '=' if words.is_empty() && word.as_deref().is_some_and(is_variable) => {
                return Err(refused(
                    "begins with a variable, but no shell is run that would set it: use `Command::env`",
                ));
            }
            '~' if word.is_none() => {
                return Err(refused(
                    "has a `~`, but no shell is run that would know whose: write the path out",
                ));
            }
            next => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    Ok(words)
}

fn double_quoted(rest: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), ApiMisuse> {
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some('\\') if cfg!(not(windows)) => match rest.next() {
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => return Err(refused("has a `\"` that is not closed")),
            },
            Some('$' | '`') => {
                return Err(refused(
                    "has a `$` or a backtick in double quotes, but no shell is run: use single quotes if it is meant",
                ));
            }
            Some(quoted) => word.push(quoted),
            None => return Err(refused("has a `\"` that is not closed")),
        }
    }
}

fn is_variable(word: &str) -> bool {
    let begins = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The line may hold secrets, so it is not repeated.
fn refused(what: &str) -> ApiMisuse {
    ApiMisuse::new(format!("the command line of the server {what}"))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    #[cfg(not(windows))]
    fn words_are_told_apart_as_a_shell_does() {
        for (line, words) in [
            ("", &[][..]),
            ("  npx -y\tx \n", &["npx", "-y", "x"]),
            ("a 'b c' \"d e\"f", &["a", "b c", "d ef"]),
            ("a '' \"\"", &["a", "", ""]),
            (r#"a\ b 'c\d' "e\"f\g\\""#, &["a b", r"c\d", r#"e"f\g\"#]),
            (r"'$HOME' \$x \| a~", &["$HOME", "$x", "|", "a~"]),
            ("a*b --k=v?", &["a*b", "--k=v?"]),
            ("npx -y \\\n  x \"a\\\nb\"", &["npx", "-y", "x", "ab"]),
            ("a b#c d=e~ '#' '(x)' '~'", &["a", "b#c", "d=e~", "#", "(x)", "~"]),
            ("./a=b c", &["./a=b", "c"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line:?}");
        }
    }

    /// No shell is run, so what one would do must not be left undone in silence.
    #[test]
    #[cfg(not(windows))]
    fn what_needs_a_shell_is_refused() {
        for line in [
            "a | b",
            "a > f",
            "a && b",
            "a; b",
            "a $HOME",
            "a \"$HOME\"",
            "a `b`",
            "~/bin/a",
            "a ~",
            "~ada/bin/a",
            "a ~ada",
            "(a)",
            "a (b)",
            "a # b",
            "TOKEN=x a",
            "_T1= a",
            "a 'b",
            "a \"b",
            "a \"b\\",
            "a \\",
        ] {
            let error = split(line).unwrap_err().to_string();
            assert!(error.contains("command line"), "{error}");
        }
    }

    /// What stands on the line may be a secret.
    #[test]
    fn an_error_does_not_repeat_the_line() {
        assert!(!split("a --token s3cret 'b").unwrap_err().to_string().contains("s3cret"));
    }
}
