//! What stands before the server: it sends requests elsewhere, and is not ready for each of those that begin a session.

use super::*;
use mcp_proto::head::RequestHead;

/// Before the paths that requests are sent to; the server does not see it.
const ELSEWHERE: &str = "/elsewhere";

impl World {
    /// The head of a request as the server gets it, unless it does not.
    pub(super) fn pass(&mut self, id: u64, request: &HttpRequest) -> Option<RequestHead> {
        let (index, _) = self.owners[usize::try_from(id).unwrap()];
        let mut head = request.head.clone();
        if let Some(rest) = head.target.strip_prefix(ELSEWHERE) {
            head.target = rest.to_owned();
        } else if self.rng.once_in(20) {
            self.seen.redirected += 1;
            let mut answer = ResponseHead::new(if self.rng.once_in(4) { 308 } else { 307 });
            answer.headers.push("Location", format!("{ELSEWHERE}{}", head.target));
            self.reply(id, answer, "");
            return None;
        }
        let body = core::str::from_utf8(&request.body).unwrap();
        self.seen.levels += usize::from(body.contains("logging/setLevel"));
        // The first handshake is not made again: whoever connects wants to know at once.
        let is_known = self.clients[index].http.verdict().is_some();
        if is_known && body.contains("\"method\":\"initialize\"") && self.rng.once_in(3) {
            self.seen.unready += 1;
            let status = [502, 503, 504][self.rng.below(3)];
            self.reply(id, ResponseHead::new(status), "no server");
            return None;
        }
        Some(head)
    }

    fn reply(&mut self, id: u64, head: ResponseHead, body: &str) {
        let Some(wire) = self.wires.remove(&server::ExchangeId::new(id)) else { return };
        let (index, _) = self.owners[usize::try_from(id).unwrap()];
        let latency = self.clients[index].weather.latency(&mut self.rng);
        let at = wire.down.max(self.timeline.now + latency);
        self.timeline.at(at, Event::Head(id, head));
        self.timeline.at(at, Event::Bytes(id, body.into()));
        self.timeline.at(at, Event::End(id, End::Complete));
    }
}
