use super::*;
use crate::process::Command;

fn parse(text: &str) -> ServerFile {
    ServerFile::parse_with(text, lookup).unwrap()
}

fn lookup(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/me".into()),
        "TOKEN" => Some("s3cret".into()),
        "LINES" => Some("a\nb".into()),
        _ => None,
    }
}

fn one(entry: &str) -> Result<Target, ServerFileError> {
    parse(&format!(r#"{{"mcpServers":{{"x":{entry}}}}}"#)).target("x")
}

/// Claude Desktop and Cursor write `mcpServers`, VS Code `servers`, in its settings under `mcp`.
#[test]
fn the_list_is_found_where_hosts_keep_it() {
    let list = r#"{"b":{"command":"b"},"a":{"command":"a"}}"#;
    for text in [
        format!(r#"{{"mcpServers":{list}}}"#),
        format!(r#"{{"inputs":[],"servers":{list}}}"#),
        format!(r#"{{"editor.x":1,"mcp":{{"servers":{list}}}}}"#),
    ] {
        let file = parse(&text);
        let names: Vec<_> = file.servers.iter().map(|server| &*server.name).collect();
        assert_eq!(names, ["b", "a"], "in the order of the file");
    }
}

#[test]
fn a_program_has_arguments_environment_and_a_directory() {
    let target = one(r#"{"type":"stdio","command":"${HOME}/bin/x","args":["-k","${TOKEN}","${NONE:-n}"],
            "env":{"A":"${env:TOKEN}","B":""},"cwd":"${HOME}","alwaysAllow":["*"],"timeout":5,"url":null}"#);
    let expected = Command::new("/home/me/bin/x")
        .args(["-k", "s3cret", "n"])
        .env("A", "s3cret")
        .env("B", "")
        .directory("/home/me");
    assert_eq!(target.unwrap(), Target::Command(expected));
}

#[cfg(feature = "http")]
#[test]
fn a_url_has_a_kind_and_headers() {
    use crate::client::target::{UrlKind, UrlTarget};
    for (kind, expected) in [
        ("", UrlKind::Auto),
        (r#""type":"http","#, UrlKind::Http),
        (r#""type":"streamable-http","#, UrlKind::Http),
        (r#""type":"streamable_http","#, UrlKind::Http),
        (r#""type":"streamableHttp","#, UrlKind::Http),
        (r#""type":"sse","#, UrlKind::Sse),
    ] {
        let entry = format!(
            r#"{{{kind}"url":"https://h.example/m","headers":{{"Authorization":"Bearer ${{TOKEN}}"}}}}"#
        );
        let target =
            UrlTarget::new("https://h.example/m").kind(expected).header("Authorization", "Bearer s3cret");
        assert_eq!(one(&entry).unwrap(), Target::Url(target));
    }
}

#[test]
fn comments_and_trailing_commas_are_let_pass() {
    let file = parse(
        "\u{feff}{ // the servers\n\"servers\": { /* one, \n two */ \"a//\": {\"command\": \"x/*\", \"args\": [\"\\\"//\", ],}, },\n}",
    );
    assert_eq!(file.target("a//").unwrap(), Target::Command(Command::new("x/*").arg("\"//")));
}

/// A disabled server need not be in order, and one with a fault does not take the others along.
#[test]
fn one_fault_does_not_take_the_others_along() {
    let file = parse(
        r#"{"mcpServers":{"a":{"command":"${NONE}"},"b":{"command":"b"},"c":{"command":"${NONE}","disabled":true}}}"#,
    );
    let enabled: Vec<_> = file.enabled().map(|server| (&*server.name, server.target.is_ok())).collect();
    assert_eq!(enabled, [("a", false), ("b", true)]);
    assert!(file.target("d").unwrap_err().to_string().contains("a, b, c"));
}

/// Who mends a file is told where, and no value is repeated: it may be a secret.
#[test]
fn an_error_names_the_place_and_no_value() {
    for (entry, field, problem) in [
        ("7", None, "found a number"),
        ("{}", None, "`command` or `url`, found neither"),
        (r#"{"command":"x","url":"http://s3cret/"}"#, Some("type"), "found both"),
        (r#"{"type":"s3cret","command":"x"}"#, Some("type"), "another type"),
        (r#"{"type":"stdio","url":"http://h/"}"#, Some("command"), "found none"),
        (r#"{"command":""}"#, Some("command"), "found nothing"),
        (r#"{"command":["s3cret"]}"#, Some("command"), "found an array"),
        (r#"{"command":"x","args":"s3cret"}"#, Some("args"), "found a string"),
        (r#"{"command":"x","args":["a",5]}"#, Some("args[1]"), "found a number"),
        (r#"{"command":"x","env":{"A":true}}"#, Some("env.A"), "found a boolean"),
        (r#"{"command":"x","env":{"A":"${NONE}"}}"#, Some("env.A"), "`NONE` is not set"),
        (r#"{"command":"x","env":{"A":"1","A":"2"}}"#, Some("env"), "comes twice"),
        (r#"{"command":"x","envFile":".env"}"#, Some("envFile"), "`env`"),
        (r#"{"command":"x","disabled":"s3cret"}"#, Some("disabled"), "found a string"),
        #[cfg(feature = "http")]
        (r#"{"type":"http"}"#, Some("url"), "found none"),
        #[cfg(feature = "http")]
        (r#"{"url":"ftp://s3cret/"}"#, Some("url"), "must begin with"),
        #[cfg(feature = "http")]
        (r#"{"url":"http://h/","headers":{"A":"${LINES}"}}"#, Some("headers.A"), "control character"),
        #[cfg(feature = "http")]
        (r#"{"url":"http://h/","headers":{"s3cret x":"1"}}"#, Some("headers"), "another"),
    ] {
        let error = one(entry).unwrap_err();
        assert_eq!((error.server.as_deref(), error.field.as_deref()), (Some("x"), field), "{entry}");
        let text = error.to_string();
        assert!(text.contains(problem) && !text.contains("s3cret"), "{entry}: {text}");
    }
}

#[test]
fn what_is_no_json_is_told_by_line_and_column() {
    let error = ServerFile::parse("{\n  \"mcpServers\": {\n    \"a\": s3cret\n  }\n}").unwrap_err();
    assert_eq!(error.position, Some((3, 10)));
    assert!(!error.to_string().contains("s3cret"));
    for (text, problem) in [
        ("{\"mcpServers\": {", "too early"),
        ("[]", "expected an object"),
        ("{}", "found neither"),
        ("{\"mcpServers\":[]}", "found an array"),
        ("{\"mcp\":{\"servers\":1}}", "found a number"),
        ("{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"a\":{\"command\":\"b\"}}}", "comes twice"),
    ] {
        let error = ServerFile::parse(text).unwrap_err().to_string();
        assert!(error.contains(problem), "{text}: {error}");
    }
}

#[test]
fn the_file_is_named_that_has_something_wrong() {
    let path = std::env::temp_dir().join(format!("mcp-servers-{}.json", std::process::id()));
    assert!(ServerFile::read(&path).unwrap_err().file.as_deref() == Some(&*path));
    std::fs::write(&path, r#"{"mcpServers":{"x":{"command":5}}}"#).unwrap();
    let file = ServerFile::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = file.target("x").unwrap_err().to_string();
    assert!(
        text.starts_with(&path.display().to_string()) && text.contains("server `x`: `command`"),
        "{text}"
    );
}
