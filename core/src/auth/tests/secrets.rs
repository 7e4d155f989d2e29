//! What is printed.

use super::*;

/// AUTH-66, AUTH-70: nothing that is printed on the way holds a secret.
#[test]
fn no_secret_is_printed() {
    let config =
        Arc::new(config().registered(ISSUER, Registration::new("pre").secret("hush-secret")).dpop(key()));
    let mut world = World::ordinary().answer(
        TOKEN,
        200,
        r#"{"access_token":"hush-access","token_type":"Bearer","refresh_token":"hush-refresh"}"#,
    );
    let mut printed = format!("{config:?}");
    let mut step = config.authorize(now(), seed(), SERVER, Refusal::new(), None).unwrap();
    let grant = loop {
        printed.push_str(&format!("{step:?}"));
        step = match step {
            Step::Fetch(request, waiting) => {
                let (head, body) = world.send(&request);
                waiting.on_response(now(), Response { head: &head, body: body.as_bytes() }).unwrap()
            }
            Step::Visit(url, waiting) => {
                let query = form::decode(url.query().unwrap()).unwrap();
                let state = &query.iter().find(|(name, _)| name == "state").unwrap().1;
                waiting.on_redirect(now(), &format!("{CALLBACK}?code=hush-code&state={state}")).unwrap()
            }
            Step::Done(grant) => break grant,
        };
    };
    printed.push_str(&format!("{grant:?} {} {:?}", grant.record, Dpop::new(key(), seed())));
    let sent = world.last(TOKEN);
    assert_eq!(sent.form("code").as_deref(), Some("hush-code"));
    let verifier = sent.form("code_verifier").unwrap();
    for secret in ["hush", verifier.as_str(), sent.headers.text("authorization").unwrap()] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
    let stored = grant.to_json();
    assert!(stored.contains("hush-access") && stored.contains("hush-refresh"));
    let error = Grant::from_json(&stored.replace("issuer", "x")).unwrap_err();
    assert!(!error.to_string().contains("hush"));
}

/// AUTH-66: an authorization server that repeats what it was sent does not get it into an error.
#[test]
fn an_error_repeats_no_secret() {
    let mut world = World::ordinary()
        .answer(
            TOKEN,
            400,
            r#"{"error":"invalid_grant","error_description":"code c-secret of pre:hush-secret"}"#,
        )
        .browser(|query| format!("{CALLBACK}?code=c-secret&state={}", query["state"]));
    let config = config().registered(ISSUER, Registration::new("pre").secret("hush-secret"));
    let error = world.authorize(config).unwrap_err();
    assert_eq!(error.found(), "`invalid_grant`: code .. of pre:..");
    assert!(!format!("{error:?}").contains("secret"));
}

/// A URL that is refused is named without what logs in, and without its query.
#[test]
fn an_error_names_a_url_without_its_secrets() {
    for url in ["https://u:secret@host/mcp", "https://host/mcp?key=secret#secret", "ftp://secret@a@host/"] {
        let config = Arc::new(config());
        let error = config.authorize(now(), seed(), url, Refusal::new(), None).unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("secret") && error.found().contains("host"),
            "{error}"
        );
    }
}

/// AUTH-70: what is stored comes back as it was.
#[test]
fn a_grant_survives_being_stored() {
    let body = r#"{"client_id":"dyn-1","client_secret":"s","client_secret_expires_at":2000000}"#;
    let grant = World::ordinary()
        .answer(REGISTER, 201, body)
        .authorize_after(config(), refusal(&["r"]), None)
        .unwrap();
    let again = Grant::from_json(&grant.to_json()).unwrap();
    assert_eq!(again, Grant { record: Record::default(), ..grant });
}
