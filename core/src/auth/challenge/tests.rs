use super::*;
use alloc::format;
use alloc::vec;

fn read(fields: &[&str]) -> Vec<ReceivedChallenge> {
    challenges(&fields.iter().fold(Headers::new(), |headers, field| headers.with("WWW-Authenticate", field)))
}

fn one(scheme: &str, parameters: &[(&str, &str)]) -> ReceivedChallenge {
    let parameters = parameters.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    ReceivedChallenge { scheme: scheme.into(), parameters }
}

fn refusal(status: u16, field: &str) -> Option<Refusal> {
    let mut head = ResponseHead::new(status);
    head.headers.push("WWW-Authenticate", field);
    Refusal::read(&head)
}

/// AUTH-05: lists in lists, as RFC 9110 has them.
#[test]
fn challenges_are_read_as_lists() {
    for (field, expected) in [
        ("Bearer", vec![one("Bearer", &[])]),
        ("bearer realm=\"a\"", vec![one("bearer", &[("realm", "a")])]),
        (
            "Bearer realm=\"a, b=\\\"c\\\"\", scope=x",
            vec![one("Bearer", &[("realm", "a, b=\"c\""), ("scope", "x")])],
        ),
        ("Bearer  error = \"e\" ,\tSCOPE=\"a b\"", vec![one("Bearer", &[("error", "e"), ("scope", "a b")])]),
        (
            "Basic realm=\"x\", Bearer scope=\"r w\", DPoP algs=\"ES256\"",
            vec![
                one("Basic", &[("realm", "x")]),
                one("Bearer", &[("scope", "r w")]),
                one("DPoP", &[("algs", "ES256")]),
            ],
        ),
        ("Negotiate YWJj==, Bearer", vec![one("Negotiate", &[]), one("Bearer", &[])]),
        ("Negotiate, Bearer", vec![one("Negotiate", &[]), one("Bearer", &[])]),
        ("NTLM abc/+= , Bearer a=b", vec![one("NTLM", &[]), one("Bearer", &[("a", "b")])]),
        (", ,Bearer ,, a=b, ,", vec![one("Bearer", &[("a", "b")])]),
        ("Bearer a=b, a=c", vec![one("Bearer", &[("a", "b")])]),
        (
            "Bearer resource_metadata=https://h/x",
            vec![one("Bearer", &[("resource_metadata", "https://h/x")])],
        ),
        ("", vec![]),
        ("=x", vec![]),
        ("Bearer a=\"open", vec![one("Bearer", &[])]),
        ("Bearer a=b c=d", vec![one("Bearer", &[])]),
        ("Bearer a=", vec![one("Bearer", &[])]),
        ("Bearer a=\"b\"x, c=d", vec![one("Bearer", &[])]),
    ] {
        assert_eq!(read(&[field]), expected, "{field}");
    }
    assert_eq!(read(&["Basic", "Bearer a=b"]).len(), 2, "several fields are one list");
    assert_eq!(read(&["Basic", "a=b"]).len(), 2, "a parameter belongs to no challenge of another field");
}

/// AUTH-05: a response cannot make us keep more than this.
#[test]
fn what_is_read_is_bounded() {
    assert_eq!(read(&[&"A, ".repeat(CHALLENGES)]).len(), CHALLENGES);
    assert_eq!(read(&[&"A, ".repeat(CHALLENGES + 1)]).len(), CHALLENGES);
    let parameters: String = (0..=PARAMETERS).map(|number| format!("p{number}=x, ")).collect();
    assert_eq!(read(&[&format!("A {parameters}")])[0].parameters.len(), PARAMETERS);
    let words: String = (0..=SCOPES).map(|number| format!("s{number} ")).collect();
    assert_eq!(scopes(&words).unwrap().len(), SCOPES);
}

/// AUTH-05, AUTH-62: a 401 asks for authorization, a 403 only where more scopes would help.
#[test]
fn a_refusal_is_told_from_other_errors() {
    let told = refusal(403, "Bearer error=\"insufficient_scope\", scope=\"w\"").unwrap();
    assert!(told.is_insufficient_scope());
    assert_eq!(told.scopes, scopes("w"));
    assert_eq!(refusal(403, "Bearer error=\"invalid_token\""), None);
    assert_eq!(refusal(403, "Basic error=\"insufficient_scope\""), None);
    assert_eq!(refusal(200, "Bearer error=\"insufficient_scope\""), None);
    assert!(Refusal::read(&ResponseHead::new(401)).is_some());
}

/// AUTH-05: what belongs to a challenge of another scheme is not for us.
#[test]
fn only_challenges_for_access_tokens_count() {
    let told =
        refusal(401, "Basic scope=\"no\", Bearer resource_metadata=\"https://h/m\", DPoP scope=\"a b\"")
            .unwrap();
    assert_eq!(told.resource_metadata.as_deref(), Some("https://h/m"));
    assert_eq!(told.scopes, scopes("a b"));
    assert_eq!(refusal(401, "Bearer scope=\"\"").unwrap().scopes, None);
    assert_eq!(refusal(401, "Bearer scope=\"a\\\"b c\"").unwrap().scopes, scopes("c"));
}

/// AUTHX-24
#[test]
fn a_nonce_is_asked_for_by_name_and_value() {
    let mut head = ResponseHead::new(401);
    head.headers.push("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"");
    assert!(!Refusal::read(&head).unwrap().wants_nonce());
    head.headers.push("DPoP-Nonce", "n-1");
    let told = Refusal::read(&head).unwrap();
    assert!(told.wants_nonce());
    assert_eq!(told.dpop_nonce.as_deref(), Some("n-1"));
    let mut wrong = ResponseHead::new(401);
    wrong.headers.push("DPoP-Nonce", "a b");
    assert_eq!(Refusal::read(&wrong).unwrap().dpop_nonce, None);
}
