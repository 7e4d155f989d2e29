//! TLS between a stream and the connection on it: bytes in, bytes out, like everything else.

use std::fmt;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_proto::error::ApiMisuse;
use mcp_proto::head::End;
use mcp_proto::time::Now;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Error, RootCertStore};

use super::layer::{Codec, Heard, Layer};
use super::pooled::Channel;

/// Whom to believe that a server is who it says: by default whomever this system believes.
///
/// The handshake is TLS 1.2 or 1.3 with the server's name and `http/1.1` in it, by rustls. Its time is bounded by
/// [`Limits::handshake`](mcp_proto::limits::Limits::handshake).
#[derive(Clone, Default)]
pub struct Tls {
    roots: Vec<CertificateDer<'static>>,
    only: bool,
    custom: Option<Arc<ClientConfig>>,
}

impl Tls {
    /// Trusts the certificate authorities of this system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts further authorities, such as that of a company or a test: certificates in PEM.
    ///
    /// # Errors
    /// When there is no certificate in it, or something that is none.
    pub fn trust(mut self, pem: impl AsRef<[u8]>) -> Result<Self, ApiMisuse> {
        let before = self.roots.len();
        for root in CertificateDer::pem_slice_iter(pem.as_ref()) {
            self.roots.push(
                root.map_err(|error| ApiMisuse::new(format!("expected certificates in PEM: {error}")))?,
            );
        }
        if self.roots.len() == before {
            return Err(ApiMisuse::new("expected certificates in PEM, found none"));
        }
        Ok(self)
    }

    /// Trusts those authorities only, and none of this system's.
    #[must_use]
    pub fn only_these(mut self) -> Self {
        self.only = true;
        self
    }

    /// Goes by a configuration of rustls instead, such as one with a certificate for this client.
    #[must_use]
    pub fn custom(mut self, config: Arc<ClientConfig>) -> Self {
        self.custom = Some(config);
        self
    }

    fn config(&self) -> Result<Arc<ClientConfig>, ApiMisuse> {
        static OF_SYSTEM: OnceLock<Arc<ClientConfig>> = OnceLock::new();
        if let Some(custom) = &self.custom {
            return Ok(custom.clone());
        }
        let is_plain = self.roots.is_empty() && !self.only;
        if let Some(config) = OF_SYSTEM.get().filter(|_| is_plain) {
            return Ok(config.clone());
        }
        let mut roots = RootCertStore::empty();
        if !self.only {
            // What cannot be read of them is not trusted, and the error of a handshake tells of that.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        for root in &self.roots {
            roots
                .add(root.clone())
                .map_err(|error| ApiMisuse::new(format!("a certificate authority is none: {error}")))?;
        }
        if roots.is_empty() {
            return Err(ApiMisuse::new(
                "this system has no certificate authorities that can be read, and none were given: use `Tls::trust`",
            ));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| ApiMisuse::new(format!("TLS cannot be used: {error}")))?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        Ok(if is_plain { OF_SYSTEM.get_or_init(|| config).clone() } else { config })
    }

    /// What is needed to speak to this host.
    pub(super) fn with(&self, host: &str, patience: Duration) -> Result<TlsTo, ApiMisuse> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            ApiMisuse::new("expected a host that TLS has a name for, found another in the URL")
        })?;
        Ok(TlsTo { config: self.config()?, name, host: host.to_owned(), patience })
    }
}

/// Prints how many authorities were given.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("roots", &self.roots.len())
            .field("only", &self.only)
            .field("is_custom", &self.custom.is_some())
            .finish()
    }
}

/// How to speak to one host.
pub(super) struct TlsTo {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    host: String,
    patience: Duration,
}

impl TlsTo {
    /// Puts TLS over a channel.
    pub(super) fn over(&self, above: Arc<dyn Channel>) -> Arc<dyn Channel> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        let session = Session {
            host: self.host.clone(),
            session: session.map_err(|error| error.to_string()),
            out: Vec::new(),
            sent: 0,
            closing: false,
        };
        Layer::new(session, self.patience, above)
    }
}

/// TLS on one stream.
struct Session {
    host: String,
    /// Or why there is none.
    session: Result<ClientConnection, String>,
    /// What is to be written, and how much of it is on its way.
    out: Vec<u8>,
    sent: usize,
    /// It was said that nothing more comes.
    closing: bool,
}

/// What went wrong, and what that often means.
fn words(error: &Error, open: bool) -> String {
    let hint = match error {
        Error::InvalidMessage(_) if !open => " (this is no TLS: does the server speak plain `http`?)",
        _ => "",
    };
    format!("{error}{hint}")
}

/// So much is encrypted ahead of what the stream takes.
const AHEAD: usize = 64 << 10;

impl Codec for Session {
    const OPENING: &'static str = "the handshake";

    fn none(&self) -> String {
        format!("no TLS connection to {}", self.host)
    }

    fn begin(&mut self) -> Result<(), String> {
        self.session.as_ref().map(drop).map_err(Clone::clone)
    }

    fn hear<'a>(&mut self, mut bytes: &'a [u8], open: bool) -> Heard<'a> {
        let mut heard = Heard::default();
        let Ok(session) = &mut self.session else { return heard };
        let plain = heard.plain.to_mut();
        while !bytes.is_empty() {
            let taken = session.read_tls(&mut bytes);
            match session.process_new_packets() {
                Ok(state) => heard.closed |= state.peer_has_closed(),
                Err(error) => {
                    heard.fault = Some(words(&error, open));
                    break;
                }
            }
            // Taken out at once, so that there is room for what follows.
            let _ = session.reader().read_to_end(plain);
            if heard.closed || !matches!(taken, Ok(1..)) {
                break;
            }
        }
        heard.opened = !open && !session.is_handshaking() && heard.fault.is_none();
        heard
    }

    fn transmit(&mut self, now: Now, above: Option<&dyn Channel>, write: &mut dyn FnMut(&[u8]) -> usize) {
        let Ok(session) = &mut self.session else { return };
        if let Some(above) = above
            && self.out.len() < AHEAD
        {
            let mut idle = true;
            above.transmit(now, &mut |bytes| {
                let taken = session.writer().write(bytes).unwrap_or(0);
                idle = taken == 0;
                taken
            });
            if idle && !self.closing && above.status().finished {
                self.closing = true;
                session.send_close_notify();
            }
        }
        // A `Vec` takes whatever is written.
        while session.wants_write() && session.write_tls(&mut self.out).is_ok() {}
        let left = self.out.get(self.sent..).unwrap_or_default();
        if !left.is_empty() {
            self.sent += write(left);
        }
        if self.sent >= self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }

    /// An end without `close_notify` may be that of somebody in between, who cut off what was to come.
    fn end(&self, _: End) -> End {
        End::Broken
    }
}

#[cfg(test)]
mod tests;
