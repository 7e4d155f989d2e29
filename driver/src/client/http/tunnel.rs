//! A connection that a proxy is asked to make.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#name-connect>

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::Endpoint as Url;
use mcp_proto::head::End;
use mcp_proto::time::Now;

use super::layer::{Codec, Heard, Layer};
use super::pooled::Channel;
use super::proxy::Address;

/// Puts a tunnel to a server over a channel; `most` bytes the proxy may answer at the most.
pub(super) fn through(
    proxy: &Address,
    url: &Url,
    patience: Duration,
    most: usize,
    above: Arc<dyn Channel>,
) -> Arc<dyn Channel> {
    Layer::new(Tunnel::new(proxy, url, most), patience, above)
}

struct Tunnel {
    proxy: String,
    to: String,
    /// As much as the heads of the answers may have.
    most: usize,
    /// What the proxy is still to be asked.
    out: Vec<u8>,
    /// What it has answered.
    heard: Vec<u8>,
    /// So much came ahead of its answer.
    ahead: usize,
    /// So much of what it has answered is known not to be the beginning of its end.
    searched: usize,
}

const END: &[u8] = b"\r\n\r\n";

impl Tunnel {
    fn new(proxy: &Address, url: &Url, most: usize) -> Self {
        let host = if url.host().contains(':') { format!("[{}]", url.host()) } else { url.host().to_owned() };
        let to = format!("{host}:{}", url.port());
        let mut ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some(authorization) = proxy.authorization() {
            ask.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        ask.push_str("\r\n");
        let (host, port) = proxy.place();
        let proxy = format!("{host}:{port}");
        Self { proxy, to, most, out: ask.into_bytes(), heard: Vec::new(), ahead: 0, searched: 0 }
    }

    /// What is behind the answer, which is the server's already; `None` before there is one. The error says why there
    /// will be none.
    fn answered(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Self { heard, searched, ahead, most, .. } = self;
        let most = *most;
        let too_long = || Err(format!("its answer to CONNECT has a head of more than {most} bytes"));
        loop {
            let behind = heard.get(*searched..).unwrap_or_default();
            let Some(place) = behind.windows(END.len()).position(|window| window == END) else {
                *searched = heard.len().saturating_sub(END.len() - 1).max(*searched);
                return if *ahead + heard.len() >= most { too_long() } else { Ok(None) };
            };
            let end = *searched + place + END.len();
            if *ahead + end > most {
                return too_long();
            }
            match status(heard) {
                Some(200..300) => return Ok(Some(heard.split_off(end))),
                Some(407) => {
                    return Err(
                        "it wants other credentials (HTTP status 407): put them into its URL".to_owned()
                    );
                }
                // What it says ahead of its answer counts for the bound.
                Some(100 | 102..200) => {
                    heard.drain(..end);
                    (*ahead, *searched) = (*ahead + end, 0);
                }
                Some(status) => return Err(format!("it answered CONNECT with HTTP status {status}")),
                None => return Err("it does not answer CONNECT in HTTP/1.1".to_owned()),
            }
        }
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head.get(..12)?).ok()?;
    line.starts_with("HTTP/1.").then(|| line.get(9..)?.parse().ok()).flatten()
}

impl Codec for Tunnel {
    const OPENING: &'static str = "asking for it";

    fn none(&self) -> String {
        format!("no connection to {} through the proxy {}", self.to, self.proxy)
    }

    fn hear<'a>(&mut self, bytes: &'a [u8], open: bool) -> Heard<'a> {
        if open {
            return Heard { plain: Cow::Borrowed(bytes), ..Heard::default() };
        }
        self.heard.extend_from_slice(bytes);
        match self.answered() {
            Ok(None) => Heard::default(),
            Ok(Some(rest)) => {
                self.heard = Vec::new();
                Heard { opened: true, plain: Cow::Owned(rest), ..Heard::default() }
            }
            Err(fault) => Heard { fault: Some(fault), ..Heard::default() },
        }
    }

    fn transmit(&mut self, now: Now, above: Option<&dyn Channel>, write: &mut dyn FnMut(&[u8]) -> usize) {
        match above {
            Some(above) => above.transmit(now, write),
            None if self.out.is_empty() => {}
            None => {
                let taken = write(&self.out);
                self.out.drain(..taken);
            }
        }
    }

    fn end(&self, end: End) -> End {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunnel(most: usize) -> Tunnel {
        let url = Url::parse("https://h.example/mcp").unwrap();
        Tunnel::new(&Address::parse("http://p:1").unwrap(), &url, most)
    }

    /// What came of an answer: what is behind it, or why there is none.
    fn hear<'a>(most: usize, parts: impl Iterator<Item = &'a [u8]>) -> Option<Result<Vec<u8>, String>> {
        let (mut tunnel, mut open, mut plain) = (tunnel(most), false, Vec::new());
        for part in parts {
            let heard = tunnel.hear(part, open);
            if let Some(fault) = heard.fault {
                return Some(Err(fault));
            }
            open |= heard.opened;
            plain.extend_from_slice(&heard.plain);
        }
        open.then_some(Ok(plain))
    }

    /// An answer means the same in whatever pieces it comes. What a proxy says ahead of it (1xx) is skipped, and what is
    /// behind it is the server's, whatever it looks like.
    #[test]
    fn answers_are_read_in_any_pieces() {
        let ok = "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n";
        for (answer, found) in [
            (ok.to_owned(), Some(Ok(""))),
            (format!("{ok}HTTP/1.1 400 No\r\n\r\n"), Some(Ok("HTTP/1.1 400 No\r\n\r\n"))),
            (format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n{ok}x"), Some(Ok("x"))),
            ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), None),
            ("HTTP/1.1 101 Switching\r\n\r\n".to_owned(), Some(Err("status 101"))),
            ("HTTP/1.0 502 Bad Gateway\r\n\r\nwhy".to_owned(), Some(Err("status 502"))),
            ("HTTP/1.1 407 Who?\r\n\r\n".to_owned(), Some(Err("put them into its URL"))),
            ("SSH-2.0-x\r\n\r\n".to_owned(), Some(Err("does not answer CONNECT in HTTP/1.1"))),
            ("HTTP/1.1 200 OK\r\n".to_owned(), None),
        ] {
            for size in [1, 2, 3, 5, answer.len()] {
                let heard = hear(1_000, answer.as_bytes().chunks(size));
                match (&heard, &found) {
                    (None, None) => {}
                    (Some(Ok(plain)), Some(Ok(text))) => {
                        assert_eq!(plain, text.as_bytes(), "{answer} {size}")
                    }
                    (Some(Err(fault)), Some(Err(text))) => assert!(fault.contains(text), "{fault} {size}"),
                    _ => panic!("{answer} in pieces of {size}: {heard:?}"),
                }
            }
        }
    }

    /// The head of an answer is bounded, with what came ahead of it, and the bound itself is allowed.
    #[test]
    fn an_answer_is_bounded() {
        for (ahead, more) in
            [("", 0), ("", 1), ("HTTP/1.1 100 Go\r\n\r\n", 0), ("HTTP/1.1 100 Go\r\n\r\n", 1)]
        {
            let answer = format!("{ahead}HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(50));
            let most = answer.len() - more;
            for size in [1, 7, answer.len()] {
                let heard = hear(most, answer.as_bytes().chunks(size)).unwrap();
                assert_eq!(heard.is_err(), more == 1, "{most} of {} in pieces of {size}", answer.len());
            }
            let endless = vec![b'x'; most];
            assert!(hear(most, endless.chunks(9)).unwrap().is_err());
        }
    }
}
