//! Finding the metadata: of the server, and of its authorization server.

use super::*;

fn challenged(url: &str) -> Refusal {
    Refusal { resource_metadata: Some(url.into()), ..Refusal::new() }
}

/// AUTH-06: the challenge, then the path, then the root; each is tried if those before have nothing.
#[test]
fn metadata_of_the_server_is_looked_for_in_order() {
    const OWN: &str = "https://h.example/own.json";
    let good = resource_metadata(SERVER, &[ISSUER]);
    for (there, asked) in
        [(OWN, &[OWN][..]), (RESOURCE, &[OWN, RESOURCE]), (RESOURCE_ROOT, &[OWN, RESOURCE, RESOURCE_ROOT])]
    {
        let mut world = World::ordinary().answer(RESOURCE, 404, "").answer(there, 200, &good);
        world.authorize_after(config(), challenged(OWN), None).unwrap();
        assert_eq!(world.urls()[..asked.len()], *asked);
        assert_eq!(world.urls()[asked.len()], METADATA);
    }
    let mut world = World::ordinary();
    world.authorize_after(config(), challenged(RESOURCE), None).unwrap();
    assert_eq!(world.urls()[..2], [RESOURCE, METADATA], "nothing is asked twice");
}

/// AUTH-06, SEC-01: a challenge cannot have us ask anybody but the server itself.
#[test]
fn a_challenge_stays_on_the_servers_own_origin() {
    for elsewhere in [
        "https://evil.example/own.json",
        "http://h.example/own.json",
        "https://h.example:8443/own.json",
        "https://h.example.evil.example/own.json",
        "https://h.example@evil.example/own.json",
        "https://169.254.169.254/own.json",
        "file:///etc/passwd",
        "/own.json",
        "",
    ] {
        let mut world = World::ordinary();
        let grant = world.authorize_after(config(), challenged(elsewhere), None).unwrap();
        assert_eq!(world.urls()[0], RESOURCE, "{elsewhere}");
        assert!(grant.record.to_string().contains("not asked"), "{elsewhere}");
    }
}

/// AUTH-12, B72: metadata of another resource ends the flow, before anybody else is asked.
#[test]
fn metadata_of_another_resource_is_refused() {
    for resource in ["https://evil.example/api/mcp", "https://h.example/ap", "https://h.example/other"] {
        let mut world = World::ordinary().answer(RESOURCE, 200, &resource_metadata(resource, &[ISSUER]));
        let error = world.authorize(config()).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::ResourceMismatch, "{resource}");
        assert!(error.found().contains(resource));
        assert_eq!(world.urls(), [RESOURCE]);
    }
}

/// AUTH-51 to AUTH-53, B72: tokens are asked for what the metadata says, as it says it.
#[test]
fn the_resource_is_named_as_the_metadata_spells_it() {
    for resource in ["https://h.example/api/mcp/", "https://h.example", "https://H.EXAMPLE/api/mcp"] {
        let mut world = World::ordinary().answer(RESOURCE, 200, &resource_metadata(resource, &[ISSUER]));
        let grant = world.authorize(config()).unwrap();
        assert_eq!(world.asked()["resource"], resource);
        assert_eq!(world.last(TOKEN).form("resource").as_deref(), Some(resource));
        assert_eq!(grant.resource, resource);
    }
}

/// AUTH-08 to AUTH-10, B71: in the specification's order; a place with nothing usable is passed by.
#[test]
fn metadata_of_the_authorization_server_is_looked_for_in_order() {
    const TENANT: &str = "https://as.example/t1";
    const PLACES: [&str; 3] = [
        "https://as.example/.well-known/oauth-authorization-server/t1",
        "https://as.example/.well-known/openid-configuration/t1",
        "https://as.example/t1/.well-known/openid-configuration",
    ];
    for (issuer, places) in
        [(TENANT, &PLACES[..]), ("https://as.example/t1/", &PLACES), (ISSUER, &[METADATA, OPENID])]
    {
        for (missing, (status, body)) in
            [(404, ""), (200, "<html>"), (502, ""), (301, ""), (200, "{}"), (403, "{")]
                .into_iter()
                .flat_map(|wrong| (0..places.len()).map(move |missing| (missing, wrong)))
        {
            let mut world = World::ordinary()
                .answer(METADATA, 404, "")
                .answer(RESOURCE, 200, &resource_metadata(SERVER, &[issuer]))
                .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]));
            for place in &places[..missing] {
                world = world.answer(place, status, body);
            }
            world = world.answer(places[missing], 200, &server_metadata(issuer, ""));
            let grant = world.authorize(config()).unwrap();
            assert_eq!(grant.issuer, issuer);
            assert_eq!(world.urls()[1..=missing + 1], places[..=missing], "{status} {body}");
        }
    }
}

/// B71: a server that fails may have metadata; that it fails is what is told.
#[test]
fn a_failing_server_is_not_one_without_metadata() {
    for (place, stage) in [(RESOURCE, Stage::ResourceMetadata), (METADATA, Stage::ServerMetadata)] {
        for status in [500, 503, 504, 429] {
            let mut world = World::ordinary().answer(place, status, "");
            let error = world.authorize(config()).unwrap_err();
            assert_eq!(error.kind(), &FlowErrorKind::Unavailable { status });
            assert_eq!((error.stage(), error.url()), (stage, Some(place)));
            assert!(error.is_transient());
        }
    }
    let step = Arc::new(config()).authorize(now(), seed(), SERVER, Refusal::new(), None).unwrap();
    let Step::Fetch(_, waiting) = step else { panic!("{step:?}") };
    let error = waiting.on_failure("no such host");
    assert_eq!(error.kind(), &FlowErrorKind::Unreachable);
    assert!(error.is_transient() && error.to_string().contains("no such host"));
}

/// AUTH-11, B71: the metadata of another issuer is not used, and what would be next is tried.
#[test]
fn metadata_of_another_issuer_is_discarded() {
    let foreign = server_metadata("https://honest.example", "");
    let mut world =
        World::ordinary().answer(METADATA, 200, &foreign).answer(OPENID, 200, &server_metadata(ISSUER, ""));
    world.authorize(config()).unwrap();
    assert_eq!(world.urls()[1..3], [METADATA, OPENID]);

    let mut world = World::ordinary().answer(METADATA, 200, &foreign);
    let error = world.authorize(config()).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::IssuerMismatch);
    assert_eq!(error.url(), Some(METADATA));
    assert_eq!(error.setting(), None);
    assert!(error.expected().contains(ISSUER) && error.found().contains("https://honest.example"));
}

/// AUTH-11: identical means identical; one slash can be forgiven, on request.
#[test]
fn an_issuer_is_compared_letter_by_letter() {
    for spelled in ["https://as.example/", "https://AS.example", "https://as.example:443"] {
        let mut world = World::ordinary().answer(METADATA, 200, &server_metadata(spelled, ""));
        let error = world.authorize(config()).unwrap_err();
        assert_eq!(error.kind(), &FlowErrorKind::IssuerMismatch, "{spelled}");
        let slash = spelled.ends_with('/');
        assert_eq!(error.setting(), slash.then_some("Config::tolerate_issuer_slash"));
        let mut world = World::ordinary()
            .answer(METADATA, 200, &server_metadata(spelled, ""))
            .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]));
        let tolerated = world.authorize(config().tolerate_issuer_slash(true));
        assert_eq!(tolerated.map(|grant| grant.issuer == spelled).ok(), slash.then_some(true));
    }
}

/// AUTH-07: where the client was before, then where it is known, then as the server lists them.
#[test]
fn the_client_picks_among_authorization_servers() {
    const OTHER: &str = "https://other.example";
    let world = || {
        World::ordinary()
            .answer(RESOURCE, 200, &resource_metadata(SERVER, &[ISSUER, OTHER]))
            .answer(
                "https://other.example/.well-known/oauth-authorization-server",
                200,
                &server_metadata(OTHER, ""),
            )
            .answer("https://other.example/register", 200, r#"{"client_id":"c"}"#)
            .answer("https://other.example/token", 200, r#"{"access_token":"t","token_type":"bearer"}"#)
            .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]))
    };
    assert_eq!(world().authorize(config()).unwrap().issuer, ISSUER);
    let known = config().registered(OTHER, Registration::new("r"));
    let there = world().authorize(known).unwrap();
    assert_eq!(there.issuer, OTHER);
    let back = world().authorize_after(config(), Refusal::new(), Some(there)).unwrap();
    assert_eq!(back.issuer, OTHER);
    let mut half = world().answer(METADATA, 404, "");
    assert_eq!(half.authorize(config()).unwrap().issuer, OTHER, "one without metadata is passed by");
}

/// AUTH-07: so many and no more.
#[test]
fn a_server_names_a_bounded_number_of_authorization_servers() {
    let issuers: Vec<String> = (0..20).map(|number| format!("https://as{number}.example")).collect();
    let issuers: Vec<&str> = issuers.iter().map(String::as_str).collect();
    let mut world = World::ordinary().answer(RESOURCE, 200, &resource_metadata(SERVER, &issuers));
    let error = world.authorize(config()).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::Metadata);
    assert_eq!(world.seen.len(), 1 + 2 * 8);
}

/// AUTH-04: an answer has a bound.
#[test]
fn an_answer_that_is_too_long_ends_the_flow() {
    let limit = crate::limits::Limits::default().auth_document;
    let body = resource_metadata(SERVER, &[ISSUER]);
    for (length, fits) in [(limit, true), (limit + 1, false)] {
        let padded = format!("{body}{}", " ".repeat(length - body.len()));
        let result = World::ordinary().answer(RESOURCE, 200, &padded).authorize(config());
        assert_eq!(result.is_ok(), fits);
        assert_eq!(
            result.err().and_then(|error| error.setting()),
            (!fits).then_some("Limits::auth_document")
        );
    }
}

/// AUTH-13: without metadata of the resource, the origin of the server is its own authorization server.
#[test]
fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    const AT_ROOT: &str = "https://h.example/.well-known/oauth-authorization-server";
    let metadata = r#"{"issuer":"https://h.example","authorization_endpoint":"https://h.example/oauth/authorize",
        "token_endpoint":"https://h.example/oauth/token","registration_endpoint":"https://h.example/oauth/register",
        "code_challenge_methods_supported":["S256"]}"#;
    let mut world = World::empty()
        .answer(AT_ROOT, 200, metadata)
        .answer("https://h.example/oauth/register", 200, r#"{"client_id":"c"}"#)
        .answer("https://h.example/oauth/token", 200, r#"{"access_token":"t","token_type":"Bearer"}"#)
        .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]));
    let grant = world.authorize(config()).unwrap();
    assert_eq!(world.urls()[..3], [RESOURCE, RESOURCE_ROOT, AT_ROOT]);
    assert_eq!(grant.resource, SERVER);
    assert_eq!(grant.issuer, "https://h.example");
}

/// AUTH-14, AUTH-38: and where there is no metadata at all, everything has its place, and PKCE is used.
#[test]
fn a_server_of_2025_03_26_without_metadata_has_default_endpoints() {
    let mut world = World::empty()
        .answer("https://h.example/register", 200, r#"{"client_id":"c"}"#)
        .answer("https://h.example/token", 200, r#"{"access_token":"t","token_type":"Bearer"}"#)
        .browser(|query| format!("{CALLBACK}?code=c&state={}", query["state"]));
    world.authorize(config()).unwrap();
    assert!(
        world.urls().contains(&"https://h.example/.well-known/oauth-authorization-server"),
        "metadata first"
    );
    assert!(world.visited[0].starts_with("https://h.example/authorize?"));
    assert_eq!(world.asked()["code_challenge_method"], "S256");
    assert!(world.last("https://h.example/token").form("code_verifier").is_some());

    let error = World::empty().authorize(config().fallback(false)).unwrap_err();
    assert_eq!((error.kind(), error.setting()), (&FlowErrorKind::Metadata, Some("Config::fallback")));
}

/// AUTH-14: metadata of somebody else is not the same as none.
#[test]
fn default_endpoints_do_not_replace_foreign_metadata() {
    let mut world = World::empty().answer(
        "https://h.example/.well-known/oauth-authorization-server",
        200,
        &server_metadata("https://evil.example", ""),
    );
    let error = world.authorize(config()).unwrap_err();
    assert_eq!(error.kind(), &FlowErrorKind::IssuerMismatch);
}

/// AUTH-11, AUTH-13, AUTH-30: a front of another authorization server, where the application trusts it, gets nothing
/// that belongs to that one.
#[test]
fn a_front_is_tolerated_on_request() {
    let run = |config: Config| {
        let mut world = World::empty()
            .answer(
                "https://h.example/.well-known/oauth-authorization-server",
                200,
                &server_metadata(ISSUER, ""),
            )
            .answer(REGISTER, 201, r#"{"client_id":"dyn-1"}"#)
            .answer(TOKEN, 200, r#"{"access_token":"t","token_type":"Bearer"}"#);
        world.authorize(config)
    };
    let error = run(config()).unwrap_err();
    assert_eq!(error.setting(), Some("Config::tolerate_foreign_issuer"));
    let known = config().registered(ISSUER, Registration::new("pre-1").secret("s3cr"));
    let grant = run(known.tolerate_foreign_issuer(true)).unwrap();
    assert_eq!(grant.issuer, "https://h.example");
    assert_eq!(grant.registration.unwrap().client_id, "dyn-1");

    let mut named = World::ordinary().answer(METADATA, 200, &server_metadata("https://other.example", ""));
    assert!(
        named.authorize(config().tolerate_foreign_issuer(true)).is_err(),
        "one that is named is never a front"
    );
}

/// AUTH-15: requests for metadata name the revision.
#[test]
fn requests_for_metadata_name_the_revision() {
    let mut world = World::ordinary();
    world.authorize(config().revision(crate::dialect::Revision::V2025_03_26)).unwrap();
    for seen in &world.seen[..2] {
        assert_eq!(seen.headers.text("mcp-protocol-version"), Some("2025-03-26"), "{}", seen.url);
    }
}

/// AUTH-04, AUTH-05, AUTHS-03: what our own server says is understood.
#[test]
fn our_own_server_is_understood() {
    use crate::server::ResourceServer;
    use crate::wire::challenge::Challenge;

    let server = ResourceServer::new(SERVER).authorization_server(ISSUER).scopes(["r"]).further_scopes(["w"]);
    let mut head = ResponseHead::new(401);
    let challenge = Challenge::new().error("invalid_token").resource_metadata(&server.metadata_url());
    head.headers.push("WWW-Authenticate", challenge.description("a \"quoted\", b").to_string());
    let refusal = Refusal::read(&head).unwrap();
    assert_eq!(refusal.error.as_deref(), Some("invalid_token"));
    let mut world = World::ordinary().answer(&server.metadata_url(), 200, &server.metadata());
    world.authorize_after(config(), refusal, None).unwrap();
    assert_eq!(world.urls()[..2], [server.metadata_url().as_str(), METADATA]);
    assert_eq!(world.asked()["scope"], "r w");
}
