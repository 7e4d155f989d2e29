//! Tokens that are given back.

use super::*;

const REVOKE: &str = "https://as.example/revoke";

fn revoke(world: &mut World, config: Config, grant: &Grant) -> Result<Record, FlowError> {
    let mut step = Arc::new(config).revoke(now(), seed(), SERVER, grant)?;
    for _ in 0..5 {
        step = match step {
            Revocation::Fetch(request, waiting) => {
                let (head, body) = world.send(&request);
                waiting.on_response(now(), Response { head: &head, body: body.as_bytes() })?
            }
            Revocation::Done(record) => return Ok(record),
        };
    }
    panic!("a revocation without end: {:?}", world.urls());
}

/// Whoever can revoke, with a refresh token, and what came of it.
fn granted(config: Config, tokens: &str) -> (World, Grant) {
    let further = r#","revocation_endpoint":"https://as.example/revoke""#;
    let mut world = World::ordinary()
        .answer(METADATA, 200, &server_metadata(ISSUER, further))
        .answer(TOKEN, 200, tokens)
        .answer(REVOKE, 200, "");
    let grant = world.authorize(config).unwrap();
    world.seen.clear();
    (world, grant)
}

const BOTH: &str = r#"{"access_token":"at-1","token_type":"Bearer","refresh_token":"rt-1"}"#;

/// RFC 7009, 2.1: the refresh token first, then the access token, by the client that they were given to.
#[test]
fn both_tokens_are_revoked() {
    let config = || config().registered(ISSUER, Registration::new("pre").secret("hush"));
    let (mut world, grant) = granted(config(), BOTH);
    let grant = Grant::from_json(&grant.to_json()).unwrap();
    let record = revoke(&mut world, config(), &grant).unwrap();
    assert_eq!(world.urls(), [REVOKE, REVOKE]);
    let sent: Vec<_> =
        world.seen.iter().map(|seen| (seen.form("token"), seen.form("token_type_hint"))).collect();
    let pair = |token: &str, kind: &str| (Some(token.to_owned()), Some(kind.to_owned()));
    assert_eq!(sent, [pair("rt-1", "refresh_token"), pair("at-1", "access_token")]);
    for seen in &world.seen {
        assert_eq!(seen.headers.text("authorization"), Some("Basic cHJlOmh1c2g="));
        assert_eq!(seen.headers.text("content-type"), Some("application/x-www-form-urlencoded"));
    }
    let printed = record.to_string();
    assert!(
        printed.contains("token revocation: https://as.example/revoke: the refresh token: revoked"),
        "{printed}"
    );
    assert!(!printed.contains("rt-1") && !printed.contains("at-1"), "{printed}");
}

/// RFC 7009, 2.2.1: an authorization server that cannot take back access tokens has done what it can.
#[test]
fn access_tokens_may_have_to_end_by_themselves() {
    let denial = r#"{"error":"unsupported_token_type"}"#;
    let (world, grant) = granted(config(), BOTH);
    let mut world = world.answer(REVOKE, 200, "").then(REVOKE, 400, denial);
    let record = revoke(&mut world, config(), &grant).unwrap();
    assert!(record.to_string().contains("the access token: cannot be revoked"), "{record}");
    let (world, grant) = granted(config(), BOTH);
    let error = revoke(&mut world.answer(REVOKE, 400, denial), config(), &grant).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Denied { error: "unsupported_token_type".into() });
}

/// What goes wrong says where; an authorization server that fails may do it later.
#[test]
fn a_revocation_that_fails_says_so() {
    for (status, body, transient) in [
        (503, "", true),
        (400, r#"{"error":"invalid_client","error_description":"who is rt-1?"}"#, false),
        (302, "", false),
    ] {
        let (world, grant) = granted(config(), BOTH);
        let mut world = world.answer(REVOKE, status, body);
        let error = revoke(&mut world, config(), &grant).unwrap_err();
        assert_eq!(
            (error.stage(), error.url(), error.is_transient()),
            (Stage::Revocation, Some(REVOKE), transient)
        );
        assert!(!error.to_string().contains("rt-1"), "{error}");
        assert_eq!(world.urls(), [REVOKE], "the other token is not shown");
    }
    let (_, grant) = granted(config(), BOTH);
    let step = Arc::new(config()).revoke(now(), seed(), SERVER, &grant).unwrap();
    assert!(!format!("{step:?}").contains("rt-1"));
    let Revocation::Fetch(_, waiting) = step else { panic!() };
    assert!(waiting.on_failure("no route").is_transient());
}

/// AUTH-42, AUTH-56: nobody is asked who was not named, or must not be.
#[test]
fn tokens_are_shown_to_nobody_else() {
    let (_, grant) = granted(config(), BOTH);
    let other = Arc::new(config()).revoke(now(), seed(), "https://h.example/other", &grant).unwrap_err();
    assert_eq!(other.kind(), &FlowErrorKind::Misuse);
    let inside = Grant { revocation_endpoint: Some("https://10.0.0.1/revoke".into()), ..grant.clone() };
    let refused = Arc::new(config()).revoke(now(), seed(), SERVER, &inside).unwrap_err();
    assert_eq!(refused.kind(), &FlowErrorKind::Forbidden);
    let none = Grant { revocation_endpoint: None, ..grant };
    let nowhere = Arc::new(config()).revoke(now(), seed(), SERVER, &none).unwrap_err();
    assert_eq!((nowhere.kind(), nowhere.found()), (&FlowErrorKind::Metadata, "none"));

    let further = r#","revocation_endpoint":"http://as.example/revoke""#;
    let mut world = World::ordinary().answer(METADATA, 200, &server_metadata(ISSUER, further));
    assert_eq!(world.authorize(config()).unwrap().revocation_endpoint, None, "not encrypted");
}

/// A grant that was stored before there was such a place is still one.
#[test]
fn older_grants_can_be_read() {
    let (_, grant) = granted(config(), BOTH);
    let stored = grant.to_json().replace(r#","revocation_endpoint":"https://as.example/revoke""#, "");
    assert_eq!(Grant::from_json(&stored).unwrap().revocation_endpoint, None);
}
