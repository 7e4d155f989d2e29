//! TLS between a stream and the connection on it: bytes in, bytes out, like everything else.

use std::fmt;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::error::ApiMisuse;
use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::pooled::Channel;
use crate::endpoint::{Endpoint, Status};

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
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ApiMisuse::new("the URL of the server has a host that TLS has no name for"))?;
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
    pub(super) fn over(&self, inner: Arc<dyn Channel>) -> Arc<dyn Channel> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        let (session, fault) = match session {
            Ok(session) => (Some(session), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let state = State { session, fault, stage: Stage::Waiting, out: Vec::new(), sent: 0, closing: false };
        let (host, patience) = (self.host.clone(), self.patience);
        Arc::new(Layer { inner, host, patience, state: Mutex::new(state) })
    }
}

/// TLS on one stream.
struct Layer {
    inner: Arc<dyn Channel>,
    host: String,
    patience: Duration,
    state: Mutex<State>,
}

struct State {
    session: Option<ClientConnection>,
    /// Why there is no session.
    fault: Option<String>,
    stage: Stage,
    /// What is to be written, and how much of it is on its way.
    out: Vec<u8>,
    sent: usize,
    /// It was said that nothing more comes.
    closing: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// What is below is not ready.
    Waiting,
    Shaking {
        until: Instant,
    },
    Open,
    Over,
}

/// So much is encrypted ahead of what the stream takes.
const AHEAD: usize = 64 << 10;

/// What came of bytes.
struct Heard {
    opened: bool,
    plain: Vec<u8>,
    closed: bool,
    fault: Option<String>,
}

impl State {
    fn hear(&mut self, mut bytes: &[u8]) -> Heard {
        let mut heard = Heard { opened: false, plain: Vec::new(), closed: false, fault: None };
        let Some(session) = self.session.as_mut().filter(|_| self.stage != Stage::Over) else { return heard };
        while !bytes.is_empty() {
            let taken = session.read_tls(&mut bytes);
            match session.process_new_packets() {
                Ok(state) => heard.closed |= state.peer_has_closed(),
                Err(error) => {
                    heard.fault = Some(error.to_string());
                    break;
                }
            }
            // Taken out at once, so that there is room for what follows.
            let _ = session.reader().read_to_end(&mut heard.plain);
            if heard.closed || !matches!(taken, Ok(1..)) {
                break;
            }
        }
        if matches!(self.stage, Stage::Shaking { .. }) && !session.is_handshaking() && heard.fault.is_none() {
            self.stage = Stage::Open;
            heard.opened = true;
        }
        if heard.fault.is_some() {
            self.stage = Stage::Over;
        }
        heard
    }

    /// Encrypts what is to be sent.
    fn fill(&mut self, now: Now, inner: &dyn Channel) {
        let Some(session) = &mut self.session else { return };
        if self.stage == Stage::Open && self.out.len() < AHEAD {
            let mut idle = true;
            inner.transmit(now, &mut |bytes| {
                let taken = session.writer().write(bytes).unwrap_or(0);
                idle = taken == 0;
                taken
            });
            if idle && !self.closing && inner.status().finished {
                self.closing = true;
                session.send_close_notify();
            }
        }
        if self.stage != Stage::Waiting {
            // A `Vec` takes whatever is written.
            while session.wants_write() && session.write_tls(&mut self.out).is_ok() {}
        }
    }
}

impl Layer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handshake is over for this reason, unless it was over before; whether it was not.
    fn give_up(&self, now: Now, reason: &str) -> bool {
        let mut state = self.lock();
        let shaking = matches!(state.stage, Stage::Waiting | Stage::Shaking { .. });
        if shaking {
            state.stage = Stage::Over;
        }
        drop(state);
        if shaking {
            self.inner.refused(now, &format!("no TLS connection to {}: {reason}", self.host));
        }
        shaking
    }
}

impl Channel for Layer {
    fn established(&self, now: Now) {
        let mut state = self.lock();
        match state.fault.clone() {
            None => state.stage = Stage::Shaking { until: now.mono + self.patience },
            Some(fault) => {
                drop(state);
                self.give_up(now, &fault);
            }
        }
    }

    fn refused(&self, now: Now, reason: &str) {
        self.lock().stage = Stage::Over;
        self.inner.refused(now, reason);
    }
}

impl Endpoint for Layer {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        let before = self.lock().stage;
        let heard = self.lock().hear(bytes);
        if heard.opened {
            self.inner.established(now);
        }
        if !heard.plain.is_empty() {
            self.inner.handle_bytes(now, &heard.plain);
        }
        match heard.fault {
            Some(fault) if before != Stage::Open && !heard.opened => {
                self.inner.refused(now, &format!("no TLS connection to {}: {fault}", self.host));
            }
            Some(_) => self.inner.handle_end(now, End::Broken),
            None if heard.closed => self.inner.handle_end(now, End::Complete),
            None => {}
        }
    }

    /// An end without `close_notify` may be that of somebody in between, who cut off what was to come.
    fn handle_end(&self, now: Now, _: End) {
        if !self.give_up(now, "the connection ended in the middle of the handshake") {
            self.inner.handle_end(now, End::Broken);
        }
    }

    fn handle_write_failed(&self, now: Now) {
        if !self.give_up(now, "the connection broke in the middle of the handshake") {
            self.inner.handle_write_failed(now);
        }
    }

    fn handle_timeout(&self, now: Now) {
        let late = matches!(self.lock().stage, Stage::Shaking { until } if until <= now.mono);
        if late {
            self.give_up(now, &format!("the handshake took longer than {:?}", self.patience));
        }
        self.inner.handle_timeout(now);
    }

    fn transmit(&self, now: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let state = &mut *self.lock();
        state.fill(now, &*self.inner);
        let left = state.out.get(state.sent..).unwrap_or_default();
        if !left.is_empty() {
            state.sent += write(left);
        }
        if state.sent >= state.out.len() {
            state.out.clear();
            state.sent = 0;
        }
    }

    fn status(&self) -> Status {
        let stage = self.lock().stage;
        let mut status = self.inner.status();
        match stage {
            Stage::Waiting => status.wants_read = false,
            Stage::Shaking { until } => {
                status.wants_read = true;
                status.timeout = Some(status.timeout.map_or(until, |at| at.min(until)));
            }
            Stage::Open => {}
            Stage::Over => status.finished = true,
        }
        status
    }

    fn register(&self, waker: &Waker) {
        self.inner.register(waker);
    }
}
