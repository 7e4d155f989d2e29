use super::*;
use alloc::format;

/// B44: whatever is allowed was asked for, and can be named in a header.
#[test]
fn only_names_that_were_asked_for_and_are_known_are_allowed() {
    let cors = Cors::new().request_header("X-Tenant");
    let asked = Headers::new()
        .with("Access-Control-Request-Headers", "content-type,Mcp-Param-Region , x-tenant,x-other")
        .with("Access-Control-Request-Headers", "mcp-\u{e9}, mcp-a b, authorization,,traceparent");
    let fields = preflight(&cors, &asked, "POST");
    assert_eq!(
        fields.text("access-control-allow-headers"),
        Some("content-type, mcp-param-region, x-tenant, authorization, traceparent")
    );
    assert_eq!(fields.text("access-control-max-age"), Some("7200"));
    assert_eq!(preflight(&cors, &Headers::new(), "POST").get("access-control-allow-headers"), None);
}

/// SEC-27: never every origin together with credentials.
#[test]
fn every_origin_gets_no_credentials() {
    let cors = Cors::new().credentials(true).response_header("X-Cost");
    let listed = HttpPolicy::default().allow_origin("https://app.example").cors(cors);
    let any = listed.clone().origins(Origins::Any);
    let request = |origin: &str| Headers::new().with("Origin", origin);
    let text = |policy: &HttpPolicy, origin: &str| {
        let fields = fields(policy, &request(origin));
        let value = |name: &str| fields.text(name).unwrap_or("-").into();
        let names = ["allow-origin", "allow-credentials", "expose-headers"];
        let values: [String; 3] = names.map(|name| value(&format!("access-control-{name}")));
        (values, value("vary"))
    };
    let exposed = "Mcp-Session-Id, WWW-Authenticate, X-Cost".to_owned();
    let expected = (["https://app.example".into(), "true".into(), exposed.clone()], "Origin".into());
    assert_eq!(text(&listed, "https://app.example"), expected);
    assert_eq!(text(&listed, "https://evil.example"), (["-", "-", "-"].map(Into::into), "Origin".into()));
    assert_eq!(text(&any, "https://evil.example"), (["*".into(), "-".into(), exposed], "-".into()));
}

use alloc::borrow::ToOwned;
