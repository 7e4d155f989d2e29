//! How the client comes by authorization, and the browser of a user who always agrees.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use mcp_driver::auth::{
    AuthMethod, Authorize, Config, CrossApp, Es256, GrantType, Registration, Secret, Signer, Url,
};
use mcp_driver::model::Json;
use mcp_driver::{Runtime, Seed};
use serde::Deserialize;

use crate::Error;

/// Where the client's metadata would be, if it were published.
const METADATA_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// What the suite says to scenarios with a client that is known beforehand.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: String,
    client_secret: Option<String>,
    issuer: Option<String>,
    private_key_pem: String,
    idp_client_id: String,
    idp_id_token: String,
    idp_issuer: String,
    idp_token_endpoint: String,
    valid_jwt: String,
}

impl Context {
    fn registration(&self) -> Registration {
        let registration = Registration::new(&self.client_id);
        match &self.client_secret {
            Some(secret) => registration.secret(secret),
            None => registration,
        }
    }
}

/// What a scenario is about authorization; `None` for others.
pub(crate) fn authorize<R: Runtime>(
    scenario: &str,
    context: Option<&Json>,
) -> Result<Option<Authorize>, Error> {
    let Some(scenario) = scenario.strip_prefix("auth/") else { return Ok(None) };
    let context: Context = context.map(Json::decode).transpose()?.unwrap_or_default();
    let config = Config::new("conformance");
    let config = match scenario {
        "pre-registration" => match &context.issuer {
            Some(issuer) => config.registered(issuer, context.registration()),
            None => config.registered_with_first(context.registration()),
        },
        "client-credentials-basic" => {
            config.grant(GrantType::ClientCredentials).registered_with_first(context.registration())
        }
        "client-credentials-jwt" => {
            let registration = context.registration().method(AuthMethod::PrivateKeyJwt);
            let key = Es256::from_pem(&context.private_key_pem)?;
            config
                .grant(GrantType::ClientCredentials)
                .registered_with_first(registration)
                .signer(Arc::new(key))
        }
        "enterprise-managed-authorization" => {
            let token = Secret::new(&context.idp_id_token);
            let there = Registration::new(&context.idp_client_id);
            let provider = CrossApp::new(
                &context.idp_issuer,
                &context.idp_token_endpoint,
                there,
                Arc::new(move |_| Some(token.clone())),
            );
            config.grant(GrantType::CrossApp(provider)).registered_with_first(context.registration())
        }
        "wif-jwt-bearer" => {
            let token = Secret::new(&context.valid_jwt);
            let grant = GrantType::JwtBearer(Arc::new(move |_| Some(token.clone())));
            config.grant(grant).registered_with_first(context.registration())
        }
        "dpop" | "dpop-nonce" => {
            let seed: Seed = R::default().seed()?;
            let key: Arc<dyn Signer> = Arc::new(Es256::generate(seed));
            config.dpop(key).metadata_document(METADATA_DOCUMENT)
        }
        _ => config.metadata_document(METADATA_DOCUMENT),
    };
    Ok(Some(Authorize::new(config).open_with(browse)))
}

/// Visits a page, and follows where it leads.
fn browse(url: &str) -> io::Result<()> {
    let mut next = Some(url.to_owned());
    while let Some(url) = next {
        let url = Url::parse(&url).map_err(io::Error::other)?;
        let mut stream = TcpStream::connect((url.host(), url.port()))?;
        write!(
            stream,
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            url.target(),
            url.authority()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let head = answer.split("\r\n\r\n").next().unwrap_or_default();
        let mut lines = head.lines();
        let redirects = lines.next().is_some_and(|line| line.contains(" 30"));
        let location = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
        });
        next = location.filter(|_| redirects);
    }
    Ok(())
}
