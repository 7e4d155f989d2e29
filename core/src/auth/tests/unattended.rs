//! Grants without a user, and tokens that are bound to a key.

use super::*;

fn service() -> Config {
    Config::new("Service")
        .registered(ISSUER, Registration::new("svc").secret("s3cr"))
        .grant(GrantType::ClientCredentials)
}

/// AUTHX-02 to AUTHX-04, AUTHX-06: discovery as ever, then one request.
#[test]
fn a_service_gets_a_token_for_itself() {
    let mut world = World::ordinary();
    let grant = world.authorize_after(service(), refusal(&["r"]), None).unwrap();
    assert_eq!(world.urls(), [RESOURCE, METADATA, TOKEN]);
    let token = world.last(TOKEN);
    assert_eq!(token.form("grant_type").as_deref(), Some("client_credentials"));
    assert_eq!(token.form("resource").as_deref(), Some(SERVER));
    assert_eq!(token.form("scope").as_deref(), Some("r"));
    assert_eq!(token.headers.text("authorization"), Some("Basic c3ZjOnMzY3I="));
    assert_eq!(grant.access_token.as_str(), "at-1");
    // AUTHX-08: one more flow takes the place of a refresh.
    assert_eq!(grant.refresh_token, None);
}

/// AUTHX-07: a service does not register itself, and needs neither PKCE nor a redirect URI.
#[test]
fn a_service_is_registered_beforehand() {
    let mut world = World::ordinary();
    let error = world.authorize(Config::new("Service").grant(GrantType::ClientCredentials)).unwrap_err();
    assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Client, Some("Config::registered")));
    assert_eq!(world.urls(), [RESOURCE, METADATA]);
    let metadata = format!(r#"{{"issuer":"{ISSUER}","token_endpoint":"{TOKEN}"}}"#);
    World::ordinary().answer(METADATA, 200, &metadata).authorize(service()).unwrap();
}

/// AUTH-64: a service steps up without anybody.
#[test]
fn a_service_steps_up() {
    let mut world = World::ordinary();
    let grant = world.authorize_after(service(), refusal(&["r"]), None).unwrap();
    world.authorize_after(service(), refusal(&["w"]), Some(grant)).unwrap();
    assert_eq!(world.last(TOKEN).form("scope").as_deref(), Some("r w"));
}

fn workload() -> Config {
    let source: AssertionSource = Arc::new(|wanted: AssertionFor<'_>| {
        Some(Secret::new(format!("jwt-for-{}-{}", wanted.issuer, wanted.resource)))
    });
    Config::new("Workload").grant(GrantType::JwtBearer(source))
}

/// AUTHX-28: the platform's token, meant for the issuer, is all that is shown.
#[test]
fn a_workload_is_vouched_for_by_its_platform() {
    for (config, id) in
        [(workload(), None), (workload().registered(ISSUER, Registration::new("w")), Some("w"))]
    {
        let mut world = World::ordinary();
        world.authorize(config).unwrap();
        assert_eq!(world.urls(), [RESOURCE, METADATA, TOKEN]);
        let token = world.last(TOKEN);
        assert_eq!(token.form("grant_type").as_deref(), Some("urn:ietf:params:oauth:grant-type:jwt-bearer"));
        assert_eq!(
            token.form("assertion").as_deref(),
            Some("jwt-for-https://as.example-https://h.example/api/mcp")
        );
        assert_eq!(token.form("resource").as_deref(), Some(SERVER));
        assert_eq!(token.form("client_id").as_deref(), id);
    }
    let none: AssertionSource = Arc::new(|_| None);
    let error = World::ordinary().authorize(workload().grant(GrantType::JwtBearer(none))).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Client);
}

/// AUTHX-28, AUTHX-29: no is surfaced, and nothing else is tried.
#[test]
fn a_refused_workload_tries_nothing_else() {
    for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
        let mut world = World::ordinary().answer(TOKEN, 400, &format!(r#"{{"error":"{code}"}}"#));
        let error = world.authorize(workload()).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::Denied { error: code.into() });
        assert_eq!(world.urls().iter().filter(|url| **url == TOKEN).count(), 1);
        assert!(world.visited.is_empty());
    }
}

const IDP: &str = "https://idp.example/token";

fn cross_app() -> Config {
    let source: AssertionSource =
        Arc::new(|wanted: AssertionFor<'_>| Some(Secret::new(format!("id-token-of-{}", wanted.issuer))));
    let cross = CrossApp::new("https://idp.example", IDP, Registration::new("idp-client"), source);
    service().grant(GrantType::CrossApp(cross))
}

const ID_JAG: &str = r#"{"access_token":"jag-1","token_type":"N_A",
    "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#;

/// AUTHX-12 to AUTHX-16, AUTHX-18 to AUTHX-20: exchanged at the identity provider, redeemed at the authorization server.
#[test]
fn an_identity_provider_vouches_for_the_user() {
    let mut world = World::ordinary().answer(IDP, 200, ID_JAG);
    let grant = world.authorize_after(cross_app(), refusal(&["r"]), None).unwrap();
    assert_eq!(world.urls(), [RESOURCE, METADATA, IDP, TOKEN]);
    assert!(world.visited.is_empty());
    let exchange = world.last(IDP);
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("audience", ISSUER),
        ("resource", SERVER),
        ("subject_token", "id-token-of-https://idp.example"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("scope", "r"),
        ("client_id", "idp-client"),
    ] {
        assert_eq!(exchange.form(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(exchange.headers.get("authorization"), None, "the secret of one is not shown to the other");
    let token = world.last(TOKEN);
    assert_eq!(token.form("grant_type").as_deref(), Some("urn:ietf:params:oauth:grant-type:jwt-bearer"));
    assert_eq!(token.form("assertion").as_deref(), Some("jag-1"));
    assert_eq!(token.headers.text("authorization"), Some("Basic c3ZjOnMzY3I="));
    assert_eq!(grant.access_token.as_str(), "at-1");
}

/// AUTHX-17, AUTHX-21: what the identity provider gave out must be an ID-JAG; its refusal is told.
#[test]
fn only_an_id_jag_is_redeemed() {
    for body in [
        ID_JAG.replace("N_A", "Bearer"),
        ID_JAG.replace("id-jag", "access_token"),
        r#"{"access_token":"jag-1","token_type":"N_A"}"#.into(),
    ] {
        let mut world = World::ordinary().answer(IDP, 200, &body);
        let error = world.authorize(cross_app()).unwrap_err();
        assert_eq!((error.kind(), error.stage()), (&FlowErrorKind::Token, Stage::Exchange));
        assert!(!world.urls().contains(&TOKEN));
    }
    let error = World::ordinary()
        .answer(IDP, 400, r#"{"error":"invalid_scope"}"#)
        .authorize(cross_app())
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.url()),
        (&FlowErrorKind::Denied { error: "invalid_scope".into() }, Some(IDP))
    );
}

const DPOP: &str = r#","dpop_signing_alg_values_supported":["ES256"]"#;

fn dpop_world() -> World {
    World::ordinary().answer(METADATA, 200, &server_metadata(ISSUER, DPOP)).answer(
        TOKEN,
        200,
        r#"{"access_token":"at-1","token_type":"DPoP"}"#,
    )
}

/// AUTHX-23, AUTHX-24: a proof with the token request, and a fresh one with every use of the token.
#[test]
fn a_token_is_bound_to_a_key() {
    let mut world = dpop_world();
    let grant = world.authorize(config().dpop(key())).unwrap();
    assert_eq!(grant.token_type, TokenType::Dpop);
    let (header, claims) = jwt_parts(world.last(TOKEN).headers.text("dpop").unwrap());
    assert_eq!((&header["typ"], &header["alg"]), (&"dpop+jwt".into(), &"ES256".into()));
    assert_eq!(header["jwk"]["kty"], "EC");
    assert_eq!(
        (&claims["htm"], &claims["htu"], &claims["iat"]),
        (&"POST".into(), &TOKEN.into(), &1_000_000.into())
    );
    assert_eq!((claims.get("ath"), claims.get("nonce")), (None, None));

    let mut dpop = Dpop::new(key(), Seed::new([9; 32]));
    let url = Url::parse(SERVER).unwrap();
    let mut names = Vec::new();
    for (target, htu) in [("/api/mcp?x=1", SERVER), ("/messages?s=1", "https://h.example/messages")] {
        let headers = grant.authorize_request(now(), "POST", &url, target, Some(&mut dpop)).unwrap();
        assert_eq!(headers.text("authorization"), Some("DPoP at-1"));
        let (_, claims) = jwt_parts(headers.text("dpop").unwrap());
        assert_eq!((&claims["htu"], &claims["htm"]), (&htu.into(), &"POST".into()));
        assert_eq!(claims["ath"], "R8PYaIQdcYEdkSc9TeGyiUqSAedmCQuOQImPRh1E3HI");
        names.push(claims["jti"].clone());
    }
    assert_ne!(names[0], names[1]);
    assert!(
        grant.authorize_request(now(), "POST", &url, "/api/mcp", None).is_err(),
        "without the key the token is of no use"
    );
}

/// AUTHX-23: proofs that are made in different places have different names, and the same nonces.
#[test]
fn forks_make_proofs_of_their_own() {
    let (mut dpop, url) = (Dpop::new(key(), seed()), Url::parse(SERVER).unwrap());
    dpop.learn(&url, &Headers::new().with("DPoP-Nonce", "n-2"));
    let mut names = BTreeMap::new();
    let mut forks = [dpop.fork(), dpop.fork()];
    for dpop in forks.iter_mut().chain([&mut dpop]) {
        for _ in 0..2 {
            let (_, claims) = jwt_parts(&dpop.proof(now(), "POST", &url, None).unwrap());
            assert_eq!(claims["nonce"], "n-2");
            names.insert(claims["jti"].to_string(), ());
        }
    }
    assert_eq!(names.len(), 6);
}

/// Whoever must not block is told where code of the application runs.
#[test]
fn it_is_known_which_flows_may_block() {
    let source: AssertionSource = Arc::new(|_| None);
    let asking = config().grant(GrantType::JwtBearer(source));
    for config in [asking, config().signer(key()), config().dpop(key())] {
        assert!(config.may_block());
    }
    assert!(!config().may_block() && !config().grant(GrantType::ClientCredentials).may_block());
}

/// AUTHX-24: the nonce that the authorization server wants, once; and that of the server.
#[test]
fn a_nonce_is_put_into_the_next_proof() {
    let wants = Headers::new().with("DPoP-Nonce", "n-1");
    let mut world = dpop_world().answer_with(TOKEN, 400, wants, r#"{"error":"use_dpop_nonce"}"#).then(
        TOKEN,
        200,
        r#"{"access_token":"at-1","token_type":"DPoP"}"#,
    );
    world.authorize(config().dpop(key())).unwrap();
    let sent: Vec<&Seen> = world.seen.iter().filter(|seen| seen.url == TOKEN).collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].form("code"), sent[1].form("code"));
    let proofs = [0, 1].map(|place: usize| jwt_parts(sent[place].headers.text("dpop").unwrap()).1);
    assert_eq!((proofs[0].get("nonce"), &proofs[1]["nonce"]), (None, &"n-1".into()));
    assert_ne!(proofs[0]["jti"], proofs[1]["jti"]);

    let wants = Headers::new().with("DPoP-Nonce", "n-1");
    let mut stubborn = dpop_world().answer_with(TOKEN, 400, wants, r#"{"error":"use_dpop_nonce"}"#);
    let error = stubborn.authorize(config().dpop(key())).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Denied { error: "use_dpop_nonce".into() });
    assert_eq!(stubborn.urls().iter().filter(|url| **url == TOKEN).count(), 2);

    let mut fickle = dpop_world();
    let answers = ["n-1", "n-2", "n-3"].map(|nonce| {
        (400, Headers::new().with("DPoP-Nonce", nonce), r#"{"error":"use_dpop_nonce"}"#.to_owned())
    });
    fickle.answers.insert(TOKEN.into(), answers.into());
    assert!(fickle.authorize(config().dpop(key())).is_err());
    assert_eq!(fickle.urls().iter().filter(|url| **url == TOKEN).count(), 2, "once, whatever comes");

    let mut dpop = Dpop::new(key(), seed());
    let url = Url::parse(SERVER).unwrap();
    dpop.learn(&url, &Headers::new().with("DPoP-Nonce", "n-2"));
    let grant = dpop_world().authorize(config().dpop(key())).unwrap();
    let headers = grant.authorize_request(now(), "POST", &url, "/api/mcp", Some(&mut dpop)).unwrap();
    assert_eq!(jwt_parts(headers.text("dpop").unwrap()).1["nonce"], "n-2");
}

/// AUTHX-25: proofs go where they are understood; who demands them takes nothing less.
#[test]
fn a_key_is_used_where_it_is_supported() {
    let bearer = r#"{"access_token":"at-1","token_type":"Bearer"}"#;
    let mut plain = World::ordinary();
    assert_eq!(plain.authorize(config().dpop(key())).unwrap().token_type, TokenType::Bearer);
    assert_eq!(plain.last(TOKEN).headers.get("dpop"), None);
    let unbound = dpop_world().answer(TOKEN, 200, bearer).authorize(config().dpop(key())).unwrap();
    assert_eq!(unbound.token_type, TokenType::Bearer);
    for mut world in [World::ordinary(), dpop_world().answer(TOKEN, 200, bearer)] {
        let error = world.authorize(config().dpop(key()).require_dpop(true)).unwrap_err();
        assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Token, Some("Config::require_dpop")));
    }
}

/// AUTHX-23, AUTHX-25: a server may take bound tokens only (RFC 9728, 2).
#[test]
fn a_server_may_demand_tokens_that_are_bound() {
    let metadata =
        resource_metadata(SERVER, &[ISSUER]).replace('}', r#","dpop_bound_access_tokens_required":true}"#);
    let mut world = dpop_world().answer(RESOURCE, 200, &metadata);
    let error = world.authorize(config()).unwrap_err();
    assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Client, Some("Config::dpop")));
    assert_eq!(world.urls(), [RESOURCE]);
    assert_eq!(world.authorize(config().dpop(key())).unwrap().token_type, TokenType::Dpop);
    let mut unbound = world.answer(TOKEN, 200, r#"{"access_token":"at-1","token_type":"Bearer"}"#);
    let error = unbound.authorize(config().dpop(key())).unwrap_err();
    assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Token, None));
}

/// AUTHX-01, AUTHX-11: grants that are an extension have a name to declare.
#[test]
fn a_grant_that_is_an_extension_is_declared() {
    assert_eq!(service().extension(), Some("io.modelcontextprotocol/oauth-client-credentials"));
    assert_eq!(cross_app().extension(), Some("io.modelcontextprotocol/enterprise-managed-authorization"));
    assert_eq!(config().extension(), None);
    assert_eq!(workload().extension(), None);
}
