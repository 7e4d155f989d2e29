//! Authorization requests, and what the user comes back with.

use super::*;
use sha2::{Digest, Sha256};

/// AUTH-35, AUTH-36, AUTH-39, AUTH-51
#[test]
fn an_authorization_request_has_a_challenge_a_state_and_a_resource() {
    let mut world = World::ordinary();
    world.authorize(config()).unwrap();
    let asked = world.asked();
    let token = world.last(TOKEN);
    let verifier = token.form("code_verifier").unwrap();
    assert_eq!(verifier.len(), 43);
    assert_eq!(asked["code_challenge"], URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)));
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["redirect_uri"], CALLBACK);
    assert_eq!(asked["resource"], SERVER);
    assert!(asked["state"].len() >= 43 && asked["state"] != verifier);
    assert_eq!(token.form("grant_type").as_deref(), Some("authorization_code"));
    assert_eq!(token.form("code").as_deref(), Some("c-1"));
    assert_eq!(token.form("redirect_uri").as_deref(), Some(CALLBACK));
    assert_eq!(token.headers.text("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(token.method, "POST");
}

/// AUTH-37, B73: no PKCE, no visit; unless the application knows better.
#[test]
fn an_authorization_server_without_pkce_is_refused() {
    let silent = server_metadata(ISSUER, "").replace("code_challenge_methods_supported", "none");
    let plain = server_metadata(ISSUER, "").replace("S256", "plain");
    for metadata in [&silent, &plain] {
        for place in [METADATA, OPENID] {
            let mut world = World::ordinary().answer(METADATA, 404, "").answer(place, 200, metadata);
            let error = world.authorize(config()).unwrap_err();
            assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Pkce, Some("Config::assume_pkce")));
            assert!(world.visited.is_empty());
        }
    }
    let mut world = World::ordinary().answer(METADATA, 200, &silent);
    world.authorize(config().assume_pkce(true)).unwrap();
    assert_eq!(world.asked()["code_challenge_method"], "S256");
}

/// RFC 6749, 3.1: the query that an endpoint has is kept; nothing is said twice.
#[test]
fn the_query_of_the_endpoint_is_kept() {
    let metadata = server_metadata(ISSUER, "")
        .replace("as.example/authorize", "as.example/authorize?tenant=a%20b&client_id=x&&p");
    let mut world = World::ordinary().answer(METADATA, 200, &metadata);
    world.authorize(config()).unwrap();
    let url = &world.visited[0];
    assert!(
        url.starts_with("https://as.example/authorize?tenant=a%20b&p&response_type=code&client_id=dyn-1&"),
        "{url}"
    );
    assert_eq!(url.matches("client_id=").count(), 1);
}

/// AUTH-42, SEC-05, SEC-06: no other scheme is opened, and nothing unencrypted.
#[test]
fn only_encrypted_endpoints_are_used() {
    for endpoint in
        ["javascript:alert(1)", "http://as.example/authorize", "https://127.0.0.1/a", "file:///x", ""]
    {
        for name in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            let good = server_metadata(ISSUER, "");
            let metadata =
                good.replace(&format!("\"{name}\":\""), &format!("\"{name}\":\"{endpoint}\",\"x\":\""));
            let mut world = World::ordinary().answer(METADATA, 200, &metadata);
            let error = world.authorize(config()).unwrap_err();
            assert_eq!(error.kind(), &FlowErrorKind::Forbidden, "{name} {endpoint}");
            assert_eq!(world.urls(), [RESOURCE, METADATA]);
        }
    }
}

/// AUTH-43 to AUTH-50, B79: `iss` is compared as it is, before the code goes anywhere.
#[test]
fn the_issuer_in_the_response_is_checked() {
    let wrong = [
        "https://as.example/",
        "https%3A%2F%2FAS.example",
        "https://as.example:443",
        "https://evil.example",
        "",
    ];
    for advertised in [true, false] {
        let metadata = format!(r#","authorization_response_iss_parameter_supported":{advertised}"#);
        let metadata = server_metadata(ISSUER, &metadata);
        let run = |iss: Option<&'static str>, rest: &'static str| {
            let mut world = World::ordinary().answer(METADATA, 200, &metadata).browser(move |query| {
                let iss = iss.map(|iss| format!("&iss={iss}")).unwrap_or_default();
                format!("{CALLBACK}?{rest}&state={}{iss}", query["state"])
            });
            let result = world.authorize(config());
            (result, world.urls().contains(&TOKEN))
        };
        assert!(run(Some("https%3A%2F%2Fas.example"), "code=c").0.is_ok());
        let (absent, sent) = run(None, "code=c");
        assert_eq!((absent.is_ok(), sent), (!advertised, !advertised));
        for iss in wrong {
            for rest in ["code=c", "error=access_denied&error_description=look%20here"] {
                let (result, sent) = run(Some(iss), rest);
                let error = result.unwrap_err();
                assert_eq!(error.kind(), &FlowErrorKind::IssuerMismatch, "{iss}");
                assert!(
                    !sent
                        && !format!("{error:?}").contains("look here")
                        && !error.to_string().contains("denied")
                );
            }
        }
    }
}

/// AUTH-39: a response that does not belong to the request is discarded.
#[test]
fn a_response_with_another_state_is_discarded() {
    for query in [
        "code=c",
        "code=c&state=",
        "code=c&state=guess",
        "error=access_denied",
        "code=c&state=STATE&state=STATE",
        "code=c&code=d&state=STATE",
        "code=c&state=STATE&x=1&x=1",
        "code=c&state=STATE&iss=https://as.example&iss=https://as.example",
        "error=a&error=b&state=STATE",
        "code=%&state=STATE",
        "state=STATE",
        "code=&state=STATE",
    ] {
        let mut world = World::ordinary()
            .browser(move |asked| format!("{CALLBACK}?{}", query.replace("STATE", &asked["state"])));
        let error = world.authorize(config()).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::Redirect, "{query}");
        assert!(!world.urls().contains(&TOKEN));
    }
}

/// AUTH-39: a listener can tell the answer from everything else that comes its way.
#[test]
fn a_listener_recognises_the_response() {
    let (state, waiting) = visiting(config());
    for (text, expected) in [
        ("http://127.0.0.1:8765/callback?code=c&state=STATE", true),
        ("/callback?code=c&state=STATE", true),
        ("?code=c&state=STATE#_=_", true),
        ("/favicon.ico", false),
        ("/other?code=c&state=STATE", false),
        ("http://127.0.0.1:9/callback?code=c&state=STATE", false),
        ("https://evil.example/callback?code=c&state=STATE", false),
        ("/callback?code=c&state=guess", false),
        ("/callback", false),
        ("/callback/?code=c&state=STATE", true),
    ] {
        assert_eq!(waiting.recognises(&text.replace("STATE", &state)), expected, "{text}");
    }
    assert_eq!(waiting.on_failure("nobody came back").kind(), &FlowErrorKind::Redirect);
}

/// AUTH-39, AUTH-50: the user sees what came of it, in words that are ours; nothing else is answered.
#[test]
fn a_listener_shows_a_page() {
    let (state, waiting) = visiting(Config::new("A <b> & \"c\"").redirect_uri(CALLBACK));
    let answer = |method: &str, target: &str| {
        waiting.answer(&crate::head::RequestHead::new(method, target.replace("STATE", &state)))
    };
    for (method, target, status, is_response, title) in [
        ("GET", "/callback?code=c&state=STATE", 200, true, "A &lt;b&gt; &amp; &quot;c&quot; may go on"),
        (
            "GET",
            "/callback?error=<i>&state=STATE",
            200,
            true,
            "A &lt;b&gt; &amp; &quot;c&quot; is not authorized",
        ),
        (
            "GET",
            "/callback?code=c&state=STATE&iss=x",
            200,
            true,
            "A &lt;b&gt; &amp; &quot;c&quot; is not authorized",
        ),
        ("GET", "/callback?code=c&state=guess", 404, false, "Nothing here"),
        ("GET", "/favicon.ico", 404, false, "Nothing here"),
        ("POST", "/callback?code=c&state=STATE", 405, false, "Not here"),
    ] {
        let page = answer(method, target);
        assert_eq!((page.head.status, page.is_response), (status, is_response), "{method} {target}");
        assert!(page.body.contains(&format!("<h1>{title}</h1>")), "{}", page.body);
        assert!(!page.body.contains("<i>"));
        assert_eq!(page.head.headers.text("cache-control"), Some("no-store"));
        assert_eq!(page.head.headers.text("referrer-policy"), Some("no-referrer"));
    }
}

/// RFC 6749, 4.1.2.1: the user said no.
#[test]
fn a_refusal_of_the_user_is_told() {
    let mut world = World::ordinary().browser(|query| {
        format!(
            "{CALLBACK}?error=access_denied&error_description=Not+now%0a&state={}&iss={ISSUER}",
            query["state"]
        )
    });
    let error = world.authorize(config()).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Denied { error: "access_denied".into() });
    assert_eq!(error.found(), "`access_denied`: Not now ");
    assert!(!error.is_transient());
}

fn scope_asked(further: &str, supported: Option<&str>, config: Config, refusal: Refusal) -> Option<String> {
    let mut metadata = resource_metadata(SERVER, &[ISSUER]);
    if let Some(supported) = supported {
        metadata = metadata.replace('}', &format!(r#","scopes_supported":{supported}}}"#));
    }
    let mut world = World::ordinary().answer(RESOURCE, 200, &metadata).answer(
        METADATA,
        200,
        &server_metadata(ISSUER, further),
    );
    world.authorize_after(config, refusal, None).unwrap();
    world.asked().get("scope").cloned()
}

/// AUTH-58 to AUTH-61: the challenge, else what the metadata lists, else nothing is said.
#[test]
fn scopes_are_chosen_by_the_specifications_order() {
    let listed = Some(r#"["r","w"]"#);
    for (supported, challenge, own, expected) in [
        (listed, &["x"][..], &[][..], Some("x")),
        (listed, &[], &[], Some("r w")),
        (None, &["x", "a"], &[], Some("a x")),
        (None, &[], &[], None),
        (Some("[]"), &[], &[], None),
        (listed, &[], &["own"], Some("own")),
        (listed, &["x"], &["own"], Some("own x")),
    ] {
        let config = config().scopes(own.iter().copied());
        assert_eq!(scope_asked("", supported, config, refusal(challenge)).as_deref(), expected);
    }
}

/// AUTH-68: `offline_access` where the authorization server lists it, and never alone.
#[test]
fn offline_access_is_asked_for_where_it_is_listed() {
    let lists = r#","scopes_supported":["r","offline_access"]"#;
    let lists_not = r#","scopes_supported":["r"]"#;
    let no_refresh =
        r#","scopes_supported":["r","offline_access"],"grant_types_supported":["authorization_code"]"#;
    for (further, supported, config, expected) in [
        (lists, Some(r#"["r"]"#), config(), Some("offline_access r")),
        (lists, None, config(), None),
        (lists, Some(r#"["r"]"#), config().offline_access(false), Some("r")),
        (lists_not, Some(r#"["r"]"#), config(), Some("r")),
        (lists_not, Some(r#"["r","offline_access"]"#), config(), Some("r")),
        ("", Some(r#"["r","offline_access"]"#), config(), Some("r")),
        ("", None, config().scopes(["offline_access", "q"]), Some("q")),
        (no_refresh, Some(r#"["r"]"#), config(), Some("r")),
        ("", Some(r#"["r"]"#), config(), Some("r")),
    ] {
        assert_eq!(scope_asked(further, supported, config, Refusal::new()).as_deref(), expected, "{further}");
    }
}

/// AUTH-62, AUTH-63, B78: a step-up asks for what there was, too.
#[test]
fn a_step_up_asks_for_the_union() {
    let mut world = World::ordinary().answer(
        TOKEN,
        200,
        r#"{"access_token":"t","token_type":"Bearer","scope":"r extra"}"#,
    );
    let grant = world.authorize_after(config(), refusal(&["r", "x"]), None).unwrap();
    assert_eq!(grant.scopes, Some(scopes(["r", "extra"])));
    assert_eq!(grant.requested, Some(scopes(["r", "x"])));
    let refused = Refusal { status: 403, error: Some("insufficient_scope".into()), ..refusal(&["w"]) };
    let stored = Grant::from_json(&grant.to_json()).unwrap();
    world.authorize_after(config(), refused, Some(stored)).unwrap();
    assert_eq!(world.asked()["scope"], "extra r w x");
}

/// A flow that waits for its user, and its state.
fn visiting(config: Config) -> (String, AwaitRedirect) {
    let mut world = World::ordinary();
    let mut step = Arc::new(config).authorize(now(), seed(), SERVER, Refusal::new(), None).unwrap();
    loop {
        step = match step {
            Step::Fetch(request, waiting) => {
                let (head, body) = world.send(&request);
                waiting.on_response(now(), Response { head: &head, body: body.as_bytes() }).unwrap()
            }
            Step::Visit(url, waiting) => {
                let pairs = form::decode(url.query().unwrap()).unwrap();
                return (pairs.into_iter().find(|(name, _)| name == "state").unwrap().1, waiting);
            }
            Step::Done(_) => panic!("no visit"),
        }
    }
}
