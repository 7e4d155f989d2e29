//! How bytes get to the server: straight or through a proxy, as they are or under TLS.

use std::borrow::Cow;
#[cfg(feature = "auth")]
use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
#[cfg(feature = "auth")]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcp_proto::client::Endpoint as Url;
use mcp_proto::error::ApiMisuse;
use mcp_proto::head::RequestHead;
use mcp_proto::limits::Limits;

use super::Means;
use super::dial::Patience;
use super::pooled::Channel;
use super::proxy::Address;
#[cfg(feature = "tls")]
use super::tls::TlsTo;
use super::tunnel;
use crate::runtime::Runtime;

/// The way to a server.
pub(super) struct Route {
    url: Url,
    proxy: Option<Arc<Address>>,
    /// With the server, and with the proxy.
    #[cfg(feature = "tls")]
    tls: (Option<TlsTo>, Option<TlsTo>),
    dialing: Patience,
    /// How long tunnel and handshake may take, each.
    patience: Duration,
    /// As much as a proxy may answer.
    head: usize,
    #[cfg(feature = "auth")]
    arrived: Mutex<Option<IpAddr>>,
}

impl Route {
    pub(super) fn new(url: &Url, means: &Means, limits: &Limits) -> Result<Self, ApiMisuse> {
        let patience = limits.handshake;
        let proxy = means.proxy.towards(url)?;
        #[cfg(feature = "tls")]
        let tls = {
            let with = |host: &str| means.tls.with(host, patience);
            let proxy = proxy.as_ref().filter(|proxy| proxy.is_secure());
            let server = if url.secure { Some(with(url.host())?) } else { None };
            (server, proxy.map(|proxy| with(proxy.place().0)).transpose()?)
        };
        #[cfg(not(feature = "tls"))]
        if url.secure {
            return Err(ApiMisuse::new(
                "a server with an `https` URL needs the feature `tls`, or an `exchanger`",
            ));
        }
        Ok(Self {
            url: url.clone(),
            proxy,
            #[cfg(feature = "tls")]
            tls,
            dialing: Patience::new(limits, means.lookups.clone()),
            patience,
            head: limits.head,
            #[cfg(feature = "auth")]
            arrived: Mutex::new(None),
        })
    }

    /// Opens the stream that everything else is on.
    pub(super) async fn open<R: Runtime>(&self, runtime: &R) -> Result<(SocketAddr, R::Stream), String> {
        let addresses = self.addresses(runtime).await?;
        self.open_at(runtime, &addresses).await
    }

    /// The addresses of where the stream goes.
    pub(super) async fn addresses<R: Runtime>(&self, runtime: &R) -> Result<Vec<SocketAddr>, String> {
        let (host, port) = self.first();
        self.dialing.look_up(runtime, host, port).await
    }

    /// Opens the stream at one of these addresses.
    pub(super) async fn open_at<R: Runtime>(
        &self,
        runtime: &R,
        addresses: &[SocketAddr],
    ) -> Result<(SocketAddr, R::Stream), String> {
        let stream = self.dialing.connect(runtime, addresses).await;
        let (host, port) = self.first();
        stream.map_err(|(address, why)| match address {
            Some(address) if address.to_string() != host => {
                format!("cannot connect to {host}, port {port}: {address}: {why}")
            }
            _ => format!("cannot connect to {host}, port {port}: {why}"),
        })
    }

    /// Where the stream goes that everything else is on.
    fn first(&self) -> (&str, u16) {
        match &self.proxy {
            Some(proxy) => proxy.place(),
            None => (self.url.host(), self.url.port()),
        }
    }

    /// The server was found to be at this address, and to be the one that is meant. A proxy knows better where it is.
    #[cfg(feature = "auth")]
    pub(super) fn arrive(&self, address: IpAddr) {
        if self.is_direct() {
            *self.arrived.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
        }
    }

    /// Where the server was last.
    #[cfg(feature = "auth")]
    pub(super) fn arrived(&self) -> Option<IpAddr> {
        *self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody else looks up the name of the server.
    #[cfg(feature = "auth")]
    pub(super) fn is_direct(&self) -> bool {
        self.proxy.is_none()
    }

    /// Puts what is in between over a stream to the first place.
    pub(super) fn layers(&self, channel: Arc<dyn Channel>) -> Arc<dyn Channel> {
        #[cfg(feature = "tls")]
        let channel = match &self.tls.0 {
            Some(tls) => tls.over(channel),
            None => channel,
        };
        let channel = match &self.proxy {
            Some(proxy) if self.url.secure => {
                tunnel::through(proxy, &self.url, self.patience, self.head, channel)
            }
            _ => channel,
        };
        #[cfg(feature = "tls")]
        let channel = match &self.tls.1 {
            Some(tls) => tls.over(channel),
            None => channel,
        };
        channel
    }

    /// The head as a proxy wants it that passes requests on itself.
    pub(super) fn head<'a>(&self, head: &'a RequestHead) -> Cow<'a, RequestHead> {
        let Some(proxy) = self.proxy.as_ref().filter(|_| !self.url.secure) else {
            return Cow::Borrowed(head);
        };
        let mut head = head.clone();
        head.target.insert_str(0, &self.url.origin());
        if let Some(authorization) = proxy.authorization() {
            head.headers.push("Proxy-Authorization", authorization);
        }
        Cow::Owned(head)
    }
}
