//! A client that must be authorized: OAuth as steps.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>
//!
//! A flow is a sequence: find out whom the server trusts, come by a client id, ask the user, ask for a token. So each
//! step says what it needs next, and takes by value what came. Whoever drives it writes one loop:
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcp_proto::auth::{Config, FlowError, Grant, Refusal, Request, Response, Step};
//! use mcp_proto::entropy::Seed;
//! use mcp_proto::head::ResponseHead;
//! use mcp_proto::time::Now;
//!
//! fn authorize(
//!     config: &Arc<Config>,
//!     server: &str,
//!     refused: &ResponseHead,
//!     now: impl Fn() -> Now,
//!     seed: Seed,
//!     send: impl Fn(&Request) -> Result<(ResponseHead, Vec<u8>), String>,
//!     browse: impl Fn(&str) -> String,
//! ) -> Result<Option<Grant>, FlowError> {
//!     let Some(refusal) = Refusal::read(refused) else { return Ok(None) };
//!     let mut step = config.authorize(now(), seed, server, refusal, None)?;
//!     loop {
//!         step = match step {
//!             Step::Fetch(request, waiting) => match send(&request) {
//!                 Ok((head, body)) => waiting.on_response(now(), Response { head: &head, body: &body })?,
//!                 Err(why) => return Err(waiting.on_failure(&why)),
//!             },
//!             Step::Visit(url, waiting) => waiting.on_redirect(now(), &browse(url.as_str()))?,
//!             Step::Done(grant) => return Ok(Some(*grant)),
//!         };
//!     }
//! }
//! # let config = Arc::new(Config::new("Example").redirect_uri("http://127.0.0.1:8765/callback"));
//! # let answer = |request: &Request| -> Result<(ResponseHead, Vec<u8>), String> {
//! #     let body = match request.head.target.as_str() {
//! #         "/.well-known/oauth-protected-resource/mcp" => {
//! #             r#"{"resource":"https://h.example/mcp","authorization_servers":["https://as.example"]}"#
//! #         }
//! #         "/.well-known/oauth-authorization-server" => {
//! #             r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/a",
//! #                 "token_endpoint":"https://as.example/t","registration_endpoint":"https://as.example/r",
//! #                 "code_challenge_methods_supported":["S256"]}"#
//! #         }
//! #         "/r" => r#"{"client_id":"c-1"}"#,
//! #         "/t" => r#"{"access_token":"t-1","token_type":"Bearer"}"#,
//! #         other => return Err(other.into()),
//! #     };
//! #     Ok((ResponseHead::new(200), body.into()))
//! # };
//! # let browse = |url: &str| {
//! #     let state = url.split("state=").nth(1).and_then(|rest| rest.split('&').next()).unwrap();
//! #     format!("http://127.0.0.1:8765/callback?code=x&state={state}")
//! # };
//! # let refused = ResponseHead::new(401);
//! # let seed = Seed::new([7; 32]);
//! # let grant = authorize(&config, "https://h.example/mcp", &refused, Now::default, seed, answer, browse)?;
//! # assert_eq!(grant.unwrap().access_token.as_str(), "t-1");
//! # Ok::<(), FlowError>(())
//! ```
//!
//! A [`Grant`] that is not wanted any more is given back the same way, by [`Config::revoke`].
//!
//! With async I/O there is an `.await` in two of the arms. A flow asks nobody on a network that the server itself is
//! not on, sends nothing unencrypted except on the local machine, and follows no redirect. A [`Grant`] is all that has
//! to be stored; whatever goes wrong says in a [`FlowError`] where, what was expected, what came, and which setting
//! would change it.

mod attempts;
mod authorize;
mod callback;
mod challenge;
mod client;
mod config;
mod dpop;
mod error;
#[cfg(feature = "es256")]
mod es256;
mod flow;
mod form;
#[doc(hidden)]
pub mod fuzz;
mod grant;
mod jwt;
mod reach;
mod record;
mod resource;
mod revoke;
mod secret;
mod server;
#[cfg(test)]
mod tests;
mod token;
mod url;

use alloc::collections::BTreeSet;
use alloc::string::String;

pub use attempts::{Attempts, Presented, Tried, Verdict};
pub use callback::CallbackPage;
pub use challenge::{ReceivedChallenge, Refusal, challenges};
pub use client::{ApplicationType, AuthMethod, Origin, Registration, client_metadata_document};
pub use config::{AssertionFor, AssertionSource, Config, CrossApp, GrantType, SubjectTokenType};
pub use dpop::Dpop;
pub use error::{FlowError, FlowErrorKind};
#[cfg(feature = "es256")]
pub use es256::Es256;
pub use flow::{AwaitRedirect, AwaitResponse, Request, Response, Step};
pub use grant::{Grant, TokenType};
pub use jwt::Signer;
pub use record::{Entry, Record, Stage};
pub use revoke::{AwaitRevocation, Revocation};
pub use secret::Secret;
pub use url::{InvalidUrl, Network, Url};

/// Names of scopes.
pub type Scopes = BTreeSet<String>;
