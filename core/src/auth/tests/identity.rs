//! Coming by a client id.

use super::*;

const DOCUMENT: &str = "https://app.example/client.json";

fn takes_documents() -> World {
    let metadata = server_metadata(ISSUER, r#","client_id_metadata_document_supported":true"#);
    World::ordinary().answer(METADATA, 200, &metadata)
}

/// AUTH-17, AUTH-18, AUTH-23: registered, then the metadata document, then dynamic registration, then an error.
#[test]
fn the_client_id_is_come_by_in_the_specifications_order() {
    let all = || config().registered(ISSUER, Registration::new("pre-1")).metadata_document(DOCUMENT);
    takes_documents().authorize(all()).unwrap();
    for (mut world, config, expected) in [
        (takes_documents(), all(), "pre-1"),
        (takes_documents(), config().metadata_document(DOCUMENT), DOCUMENT),
        (World::ordinary(), config().metadata_document(DOCUMENT), "dyn-1"),
        (takes_documents(), config(), "dyn-1"),
    ] {
        let grant = world.authorize(config).unwrap();
        assert_eq!(world.asked()["client_id"], expected);
        assert_eq!(grant.registration.unwrap().client_id, expected);
        assert_eq!(world.urls().contains(&REGISTER), expected == "dyn-1");
    }
    let no_endpoint = server_metadata(ISSUER, "").replace("registration_endpoint", "none");
    for (world, config, setting) in [
        (World::ordinary().answer(METADATA, 200, &no_endpoint), config(), "Config::registered"),
        (World::ordinary(), config().dynamic_registration(false), "Config::dynamic_registration"),
    ] {
        let mut world = world;
        let error = world.authorize(config).unwrap_err();
        assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Client, Some(setting)));
    }
}

/// AUTH-19 to AUTH-22: the document and its URL.
#[test]
fn a_metadata_document_names_its_own_url() {
    for url in [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example/a/../client.json",
        "https://app.example/client.json?x",
        "urn:x",
    ] {
        let error = takes_documents().authorize(config().metadata_document(url)).unwrap_err();
        assert_eq!(error.setting(), Some("Config::metadata_document"), "{url}");
        assert!(client_metadata_document(&config().metadata_document(url)).is_err());
    }
    let written = client_metadata_document(&config().metadata_document(DOCUMENT)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(json["client_id"], DOCUMENT);
    assert_eq!(json["client_name"], "Example");
    assert_eq!(json["redirect_uris"], serde_json::json!([CALLBACK]));
    assert_eq!(json["token_endpoint_auth_method"], "none");
    let signs = client_metadata_document(&config().metadata_document(DOCUMENT).signer(key())).unwrap();
    assert!(signs.contains(r#""token_endpoint_auth_method":"private_key_jwt""#));
}

/// AUTH-24 to AUTH-26, AUTH-40, AUTH-67
#[test]
fn a_registration_says_what_the_client_is() {
    for (redirect, kind, expected) in [
        (CALLBACK, None, "native"),
        ("http://localhost:1/cb", None, "native"),
        ("https://app.example/cb", None, "web"),
        ("https://app.example/cb", Some(ApplicationType::Native), "native"),
    ] {
        let mut world = World::ordinary();
        let mut config = Config::new("Example").redirect_uri(redirect);
        config.application_type = kind;
        // The browser comes back to another place here; what was registered is what counts.
        let _ = world.authorize(config);
        let body = world.last(REGISTER).json();
        assert_eq!(body["application_type"], expected, "{redirect}");
        assert_eq!(body["redirect_uris"], serde_json::json!([redirect]));
        assert_eq!(body["grant_types"], serde_json::json!(["authorization_code", "refresh_token"]));
        assert_eq!(body["response_types"], serde_json::json!(["code"]));
        assert_eq!(body["client_name"], "Example");
        assert_eq!((body.get("client_id"), body.get("scope")), (None, None));
    }
}

/// AUTH-58, AUTH-63: what is asked for at once, and what may be asked for later.
#[test]
fn a_registration_names_scopes() {
    let metadata = resource_metadata(SERVER, &[ISSUER]).replace('}', r#","scopes_supported":["r","w"]}"#);
    let mut world = World::ordinary().answer(RESOURCE, 200, &metadata);
    world.authorize_after(config(), refusal(&["x"]), None).unwrap();
    assert_eq!(world.last(REGISTER).json()["scope"], "r w x");
    assert_eq!(world.asked()["scope"], "x");
}

/// AUTH-71: what the client registers for is what the authorization server has.
#[test]
fn a_registration_asks_for_a_way_to_authenticate_that_there_is() {
    for (listed, expected) in [
        ("", "none"),
        (r#","token_endpoint_auth_methods_supported":["none","client_secret_basic"]"#, "none"),
        (r#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#, "client_secret_basic"),
        (r#","token_endpoint_auth_methods_supported":["client_secret_post"]"#, "client_secret_post"),
    ] {
        let mut world = World::ordinary().answer(METADATA, 200, &server_metadata(ISSUER, listed)).answer(
            REGISTER,
            201,
            r#"{"client_id":"c","client_secret":"s3cr"}"#,
        );
        world.authorize(config()).unwrap();
        assert_eq!(world.last(REGISTER).json()["token_endpoint_auth_method"], expected, "{listed}");
    }
}

/// AUTH-27, AUTH-28: a refusal says why, and what can be done.
#[test]
fn a_refused_registration_is_told() {
    for (error, setting) in [
        ("invalid_redirect_uri", "Config::application_type"),
        ("invalid_client_metadata", "Config::registered"),
    ] {
        let body = format!(r#"{{"error":"{error}","error_description":"no loopback for web"}}"#);
        let told = World::ordinary().answer(REGISTER, 400, &body).authorize(config()).unwrap_err();
        assert_eq!(told.kind(), &FlowErrorKind::Denied { error: error.into() });
        assert_eq!((told.stage(), told.setting()), (Stage::Registration, Some(setting)));
        assert!(told.found().contains("no loopback for web"));
    }
    for (status, body) in [(200, "{}"), (200, "<html>"), (403, "<html>"), (302, "")] {
        let told = World::ordinary().answer(REGISTER, status, body).authorize(config()).unwrap_err();
        assert_eq!((told.kind(), told.url()), (&FlowErrorKind::Client, Some(REGISTER)), "{status} {body}");
    }
}

/// AUTH-28: an authorization server that refuses the scopes of others is asked once without them, and no other is.
#[test]
fn a_registration_goes_without_scopes_where_they_are_refused() {
    let refused = r#"{"error":"invalid_client_metadata"}"#;
    let mut world =
        World::ordinary().answer(REGISTER, 400, refused).then(REGISTER, 201, r#"{"client_id":"dyn-2"}"#);
    let grant = world.authorize_after(config(), refusal(&["a", "b"]), None).unwrap();
    assert_eq!(grant.registration.unwrap().client_id, "dyn-2");
    let asked: Vec<_> = world.seen.iter().filter(|seen| seen.url == REGISTER).map(Seen::json).collect();
    assert_eq!((asked.len(), &asked[0]["scope"], &asked[1]["scope"]), (2, &"a b".into(), &().into()));
    assert!(grant.record.to_string().contains("asked again without scopes"));

    let mut world = World::ordinary().answer(REGISTER, 400, refused);
    world.authorize_after(config(), refusal(&["a", "b"]), None).unwrap_err();
    assert_eq!(world.seen.iter().filter(|seen| seen.url == REGISTER).count(), 2);
}

/// AUTH-40, AUTH-41: a registration of another redirect URI is of no use.
#[test]
fn a_registration_is_for_the_redirect_uri() {
    for (uris, fits) in [
        ("[]", true),
        (r#"["http://127.0.0.1:8765/callback"]"#, true),
        (r#"["https://app.example/x","http://127.0.0.1/callback"]"#, true),
        (r#"["http://127.0.0.1:8765/other"]"#, false),
        (r#"["http://evil.example/callback"]"#, false),
    ] {
        let body = format!(r#"{{"client_id":"c","redirect_uris":{uris}}}"#);
        let result = World::ordinary().answer(REGISTER, 201, &body).authorize(config());
        assert_eq!(result.is_ok(), fits, "{uris}");
        assert_eq!(result.err().and_then(|error| error.setting()), (!fits).then_some("Config::redirect_uri"));
    }
}

/// AUTH-41: the user comes back to the local machine, or encrypted.
#[test]
fn a_redirect_uri_is_local_or_https() {
    for uri in
        ["http://app.example/cb", "com.example.app:/cb", "", "https://app.example/cb#x", "http://10.0.0.1/cb"]
    {
        let mut world = World::ordinary();
        let error = world.authorize(Config::new("Example").redirect_uri(uri).allow_http(true)).unwrap_err();
        assert_eq!(
            (error.kind(), error.setting()),
            (&FlowErrorKind::Misuse, Some("Config::redirect_uri")),
            "{uri}"
        );
        assert!(!world.urls().contains(&REGISTER));
    }
}

/// An authorization server has taken the place of another one.
fn moved() -> World {
    const NEW: &str = "https://new.example";
    World::ordinary()
        .answer(RESOURCE, 200, &resource_metadata(SERVER, &[NEW]))
        .answer("https://new.example/.well-known/oauth-authorization-server", 200, &server_metadata(NEW, ""))
        .answer("https://new.example/register", 201, r#"{"client_id":"dyn-2"}"#)
        .answer("https://new.example/token", 200, r#"{"access_token":"at-2","token_type":"Bearer"}"#)
        .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]))
}

/// AUTH-30 to AUTH-33: what one authorization server has given out is nothing to another.
#[test]
fn a_client_registers_anew_with_another_authorization_server() {
    let mut world =
        World::ordinary().answer(REGISTER, 201, r#"{"client_id":"dyn-1","client_secret":"s3cr"}"#);
    let old = world.authorize_after(config(), refusal(&["r"]), None).unwrap();
    let mut world = moved();
    let new = world.authorize_after(config(), Refusal::new(), Some(old)).unwrap();
    assert_eq!(new.registration.unwrap().client_id, "dyn-2");
    assert_eq!(
        world.asked().get("scope"),
        None,
        "the scopes of another authorization server are not asked for"
    );
    let sent = format!("{:?}{:?}", world.seen, world.visited);
    assert!(!sent.contains("dyn-1") && !sent.contains("s3cr"));
}

/// AUTH-32, AUTH-34: registered credentials that do not fit any more are an error.
#[test]
fn registered_credentials_are_not_shown_to_another_authorization_server() {
    let bound = || config().registered(ISSUER, Registration::new("pre-1").secret("s3cr"));
    let first = || config().registered_with_first(Registration::new("pre-1").secret("s3cr"));
    for config in [bound, first] {
        let old = World::ordinary().authorize(config()).unwrap();
        let mut world = moved();
        let error = world.authorize_after(config(), Refusal::new(), Some(old)).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::IssuerMismatch);
        assert_eq!(error.setting(), Some("Config::registered"));
        assert!(world.visited.is_empty());
    }
    let documents = || config().metadata_document(DOCUMENT);
    let old = takes_documents().authorize(documents()).unwrap();
    assert!(
        moved().authorize_after(documents(), Refusal::new(), Some(old)).is_ok(),
        "a document is the same everywhere"
    );
}

/// AUTH-31, AUTH-40: a registration is used again, as long as it lasts and for the redirect URI that it names.
#[test]
fn a_client_registers_once() {
    let body = r#"{"client_id":"dyn-1","client_secret":"s3cr","client_secret_expires_at":1000100}"#;
    let old = World::ordinary().answer(REGISTER, 201, body).authorize(config()).unwrap();
    let again = |config: Config, grant: Grant| {
        let mut world = World::ordinary();
        let _ = world.authorize_after(config, Refusal::new(), Some(grant));
        world.urls().contains(&REGISTER)
    };
    let stored = Grant::from_json(&old.to_json()).unwrap();
    assert!(!again(config(), stored));
    assert!(again(config().redirect_uri("http://127.0.0.1:9/cb"), old.clone()));
    let mut ended = old;
    ended.registration.as_mut().unwrap().secret_expires = Some(now().unix);
    assert!(again(config(), ended));
}
