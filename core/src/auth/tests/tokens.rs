//! Token requests and their answers.

use super::*;

fn registered(registration: Registration) -> Config {
    config().registered(ISSUER, registration)
}

fn methods(names: &str) -> String {
    server_metadata(ISSUER, &format!(r#","token_endpoint_auth_methods_supported":{names}"#))
}

/// AUTH-71, B77: as the registration says, else the best that is listed, else Basic.
#[test]
fn a_client_authenticates_as_the_authorization_server_wants_it() {
    let secret = || Registration::new("a b:c").secret("p%+/=");
    let basic = Some("Basic YStiJTNBYzpwJTI1JTJCJTJGJTNE");
    let silent = server_metadata(ISSUER, "");
    for (metadata, registration, field, id, sent) in [
        (&silent, secret(), basic, None, None),
        (&methods(r#"["client_secret_post","client_secret_basic"]"#), secret(), basic, None, None),
        (&methods(r#"["client_secret_post"]"#), secret(), None, Some("a b:c"), Some("p%+/=")),
        (&methods(r#"["none"]"#), secret(), None, Some("a b:c"), None),
        (
            &methods(r#"["client_secret_post"]"#),
            secret().method(AuthMethod::ClientSecretBasic),
            basic,
            None,
            None,
        ),
        (&silent, secret().method(AuthMethod::ClientSecretPost), None, Some("a b:c"), Some("p%+/=")),
        (&silent, Registration::new("pub"), None, Some("pub"), None),
        (&silent, Registration::new("pub").secret(""), None, Some("pub"), None),
        (&methods(r#"["client_secret_basic"]"#), Registration::new("pub"), None, Some("pub"), None),
    ] {
        let mut world = World::ordinary().answer(METADATA, 200, metadata);
        world.authorize(registered(registration.clone())).unwrap();
        let token = world.last(TOKEN);
        assert_eq!(token.headers.text("authorization"), field, "{metadata} {registration:?}");
        assert_eq!(token.form("client_id").as_deref(), id);
        assert_eq!(token.form("client_secret").as_deref(), sent);
    }
    for (metadata, registration) in [
        (&methods(r#"["private_key_jwt"]"#), secret()),
        (&silent, Registration::new("pub").method(AuthMethod::ClientSecretBasic)),
        (&silent, Registration::new("pub").method(AuthMethod::PrivateKeyJwt)),
    ] {
        let mut world = World::ordinary().answer(METADATA, 200, metadata);
        let error = world.authorize(registered(registration)).unwrap_err();
        assert_eq!((error.kind(), error.stage()), (&FlowErrorKind::Client, Stage::Token));
    }
}

/// AUTH-71, B77: a registration that names a way is taken at its word.
#[test]
fn a_dynamic_registration_decides_how_the_client_authenticates() {
    for (named, has_field, has_secret) in
        [("client_secret_basic", true, false), ("client_secret_post", false, true), ("none", false, false)]
    {
        let body =
            format!(r#"{{"client_id":"c","client_secret":"s3cr","token_endpoint_auth_method":"{named}"}}"#);
        let mut world = World::ordinary().answer(REGISTER, 201, &body);
        world.authorize(config()).unwrap();
        let token = world.last(TOKEN);
        assert_eq!(token.headers.get("authorization").is_some(), has_field, "{named}");
        assert_eq!(token.form("client_secret").is_some(), has_secret, "{named}");
    }
}

/// AUTHX-04, AUTHX-05, AUTH-22: an assertion that is made for this issuer, now.
#[test]
fn a_client_with_a_key_signs_who_it_is() {
    let metadata = methods(r#"["private_key_jwt"]"#);
    let mut world = World::ordinary().answer(METADATA, 200, &metadata);
    world.authorize(registered(Registration::new("c-9")).signer(key())).unwrap();
    let token = world.last(TOKEN);
    assert_eq!(
        token.form("client_assertion_type").as_deref(),
        Some("urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    );
    assert_eq!(token.form("client_id"), None);
    let (header, claims) = jwt_parts(&token.form("client_assertion").unwrap());
    assert_eq!(header, serde_json::json!({ "alg": "ES256", "typ": "JWT", "kid": "k-1" }));
    assert_eq!(
        (&claims["iss"], &claims["sub"], &claims["aud"]),
        (&"c-9".into(), &"c-9".into(), &ISSUER.into())
    );
    assert_eq!((&claims["iat"], &claims["exp"]), (&1_000_000.into(), &1_000_060.into()));
    assert!(claims["jti"].as_str().unwrap().len() >= 22);
}

/// AUTHX-25: no key that both sides know, and no `none`.
#[test]
fn only_asymmetric_keys_sign() {
    for algorithm in ["none", "HS256", ""] {
        let metadata = methods(r#"["private_key_jwt"]"#);
        let mut world = World::ordinary().answer(METADATA, 200, &metadata);
        let config = registered(Registration::new("c")).signer(Arc::new(Key(algorithm)));
        assert_eq!(world.authorize(config).unwrap_err().kind(), &FlowErrorKind::Misuse, "{algorithm}");
    }
}

fn answered(status: u16, body: &str) -> Result<Grant, FlowError> {
    World::ordinary().answer(TOKEN, status, body).authorize(config())
}

/// B74: lifetimes in all their spellings, and none that nobody means.
#[test]
fn a_lifetime_is_read_as_it_was_meant() {
    for (value, expected) in [
        ("3600", Some(3600)),
        ("\"3600\"", Some(3600)),
        ("3600.0", Some(3600)),
        ("3600.9", Some(3600)),
        ("0", Some(0)),
        ("\"3600abc\"", None),
        ("\"\"", None),
        ("-1", None),
        ("null", None),
        ("true", None),
        ("1e300", None),
        ("{\"a\":1}", None),
        ("\"NaN\"", None),
    ] {
        let body = format!(r#"{{"access_token":"t","token_type":"Bearer","expires_in":{value}}}"#);
        let grant = answered(200, &body).unwrap();
        assert_eq!(grant.expires, expected.map(|life| Duration::from_secs(1_000_000 + life)), "{value}");
    }
    assert_eq!(answered(201, r#"{"access_token":"t","token_type":"bearer"}"#).unwrap().expires, None);
}

/// B74: renewed early, but not all the time.
#[test]
fn a_token_is_renewed_before_it_ends() {
    let mut grant = answered(200, r#"{"access_token":"t","token_type":"Bearer","expires_in":3600}"#).unwrap();
    assert!(!grant.is_expiring(at(1_003_569)));
    assert!(grant.is_expiring(at(1_003_570)));
    grant.expires = Some(Duration::from_secs(1_000_020));
    assert!(!grant.is_expiring(at(1_000_014)), "one that lives for 20 s is used for 15");
    assert!(grant.is_expiring(at(1_000_015)));
    grant.expires = Some(grant.issued);
    assert!(grant.is_expiring(now()));
    grant.expires = None;
    assert!(!grant.is_expiring(at(u64::MAX)));
}

/// B74, AUTH-57: bearer tokens in any case; what is no such token is refused.
#[test]
fn only_tokens_of_a_known_type_are_taken() {
    for kind in ["Bearer", "bearer", "BEARER"] {
        let grant = answered(200, &format!(r#"{{"access_token":"t","token_type":"{kind}"}}"#)).unwrap();
        assert_eq!(grant.token_type, TokenType::Bearer);
    }
    let silent = r#"{"access_token":"t"}"#;
    assert_eq!(answered(200, silent).unwrap_err().setting(), Some("Config::assume_bearer"));
    assert!(World::ordinary().answer(TOKEN, 200, silent).authorize(config().assume_bearer(true)).is_ok());
    for body in [
        r#"{"access_token":"t","token_type":"mac"}"#,
        r#"{"access_token":"t","token_type":"DPoP"}"#,
        r#"{"access_token":"t","token_type":""}"#,
        r#"{"token_type":"Bearer"}"#,
        r#"{"access_token":"","token_type":"Bearer"}"#,
        r#"{"access_token":"a b","token_type":"Bearer"}"#,
        r#"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#,
        r#"{"access_token":5,"token_type":"Bearer"}"#,
        "access_token=t&token_type=bearer",
        "",
    ] {
        assert_eq!(answered(200, body).unwrap_err().kind(), &FlowErrorKind::Token, "{body}");
    }
}

/// B74, B75: no is no, with whatever status; a failing server says nothing.
#[test]
fn an_error_of_the_token_endpoint_is_told_apart() {
    for status in [200, 400, 401] {
        let error =
            answered(status, r#"{"error":"invalid_grant","error_description":"too late"}"#).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::Denied { error: "invalid_grant".into() });
        assert!(!error.is_transient() && error.found().contains("too late"));
    }
    for status in [500, 502, 503, 429] {
        assert!(answered(status, r#"{"error":"invalid_grant"}"#).unwrap_err().is_transient());
    }
    for (status, body) in [(302, ""), (404, "<html>")] {
        assert_eq!(answered(status, body).unwrap_err().kind(), &FlowErrorKind::Token);
    }
}

fn grant_to_refresh() -> Grant {
    let body =
        r#"{"access_token":"at-1","token_type":"Bearer","expires_in":60,"refresh_token":"rt-1","scope":"r"}"#;
    answered(200, body).unwrap()
}

fn refresh(world: &mut World, grant: Grant) -> Result<Grant, FlowError> {
    let step = Arc::new(config()).refresh(now(), seed(), SERVER, grant);
    world.run(step)
}

/// B75, AUTH-51: one request, and what is not sent anew stays.
#[test]
fn a_token_is_refreshed() {
    for (body, token, scope) in [
        (r#"{"access_token":"at-2","token_type":"Bearer","expires_in":60}"#, "rt-1", "r"),
        (r#"{"access_token":"at-2","token_type":"Bearer","refresh_token":"rt-2","scope":"q"}"#, "rt-2", "q"),
    ] {
        let mut world = World::ordinary().answer(TOKEN, 200, body);
        let stored = Grant::from_json(&grant_to_refresh().to_json()).unwrap();
        let grant = refresh(&mut world, stored).unwrap();
        assert_eq!(world.urls(), [TOKEN]);
        let sent = world.last(TOKEN);
        assert_eq!(sent.form("grant_type").as_deref(), Some("refresh_token"));
        assert_eq!(sent.form("refresh_token").as_deref(), Some("rt-1"));
        assert_eq!(sent.form("resource").as_deref(), Some(SERVER));
        assert_eq!(sent.form("client_id").as_deref(), Some("dyn-1"));
        assert_eq!(grant.access_token.as_str(), "at-2");
        assert_eq!(grant.refresh_token.unwrap().as_str(), token);
        assert_eq!(grant.scopes, Some(scopes([scope])));
        assert_eq!(grant.issuer, ISSUER);
    }
}

/// B75: only `invalid_grant` means that the user has to be asked again.
#[test]
fn a_failed_refresh_says_whether_it_is_for_good() {
    let mut world = World::ordinary().answer(TOKEN, 503, "");
    assert!(refresh(&mut world, grant_to_refresh()).unwrap_err().is_transient());
    let mut world = World::ordinary().answer(TOKEN, 400, r#"{"error":"invalid_grant"}"#);
    let error = refresh(&mut world, grant_to_refresh()).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Denied { error: "invalid_grant".into() });
    assert_eq!(error.stage(), Stage::Refresh);
}

/// AUTH-57, AUTH-69: nothing is sent for a grant that is none, or is for another server.
#[test]
fn a_refresh_needs_a_grant_for_this_server() {
    let config = Arc::new(config());
    let without = Grant { refresh_token: None, ..grant_to_refresh() };
    let elsewhere = Grant { resource: "https://other.example".into(), ..grant_to_refresh() };
    let inward = Grant { token_endpoint: "https://10.0.0.1/token".into(), ..grant_to_refresh() };
    for (grant, kind) in [
        (without, FlowErrorKind::Misuse),
        (elsewhere, FlowErrorKind::Misuse),
        (inward, FlowErrorKind::Forbidden),
    ] {
        assert_eq!(config.refresh(now(), seed(), SERVER, grant).unwrap_err().kind(), &kind);
    }
}

/// AUTH-34: a secret that was changed in the configuration is the one that is used.
#[test]
fn a_refresh_uses_the_registration_that_is_configured_now() {
    let first = Arc::new(registered(Registration::new("pre").secret("old-secret")));
    let body = r#"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#;
    let mut world = World::ordinary().answer(TOKEN, 200, body);
    let step = first.authorize(now(), seed(), SERVER, Refusal::new(), None);
    let grant = world.run(step).unwrap();
    assert!(!grant.to_json().contains("old-secret"), "what is configured is not stored");
    let stored = Grant::from_json(&grant.to_json()).unwrap();
    let second = Arc::new(registered(Registration::new("pre").secret("new-secret")));
    let step = second.refresh(now(), seed(), SERVER, stored);
    world.run(step).unwrap();
    let field = world.last(TOKEN).headers.text("authorization").unwrap().to_owned();
    let decoded =
        base64::engine::general_purpose::STANDARD.decode(field.strip_prefix("Basic ").unwrap()).unwrap();
    assert_eq!(decoded, b"pre:new-secret");
}

/// AUTH-56, AUTH-57: a token goes to the server that it is for, and to nobody else.
#[test]
fn a_token_does_not_leave_its_resource() {
    let grant = grant_to_refresh();
    for url in [
        "https://evil.example/api/mcp",
        "http://h.example/api/mcp",
        "https://h.example:8443/api/mcp",
        "https://h.example/other",
    ] {
        let server = Url::parse(url).unwrap();
        let error = grant.authorize_request(now(), "POST", &server, "/api/mcp", None).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::Misuse, "{url}");
    }
}

/// AUTH-55, AUTH-57: whatever that server itself names at its origin gets the token, and no target leads elsewhere.
#[test]
fn a_token_goes_where_its_server_leads_at_its_own_origin() {
    let (grant, server) = (grant_to_refresh(), Url::parse(SERVER).unwrap());
    for target in
        ["/api/mcp", "/api/mcp?session=1", "/messages?sessionId=1", "/v2/mcp", "/", "//evil.example/x"]
    {
        let headers = grant.authorize_request(now(), "POST", &server, target, None).unwrap();
        assert_eq!(headers.text("authorization"), Some("Bearer at-1"), "{target}");
    }
    for target in [
        "",
        "messages",
        ".evil.example/",
        ":1/",
        "@evil.example/",
        "https://evil.example/",
        "/api/../admin",
        "/api/%2E%2e/admin",
        "/a b",
    ] {
        let error = grant.authorize_request(now(), "POST", &server, target, None).unwrap_err();
        assert_eq!((error.kind(), error.stage()), (&FlowErrorKind::Misuse, Stage::Request), "{target}");
    }
}
