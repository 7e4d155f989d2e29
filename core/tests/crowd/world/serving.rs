//! What becomes of the server's side of an exchange.

use super::*;

impl World {
    pub(super) fn pump_server(&mut self, id: u64) {
        let (now, key) = (self.timeline.now(), server::ExchangeId::new(id));
        let (index, _) = self.owners[usize::try_from(id).unwrap()];
        let weather = self.clients[index].weather;
        loop {
            let rng = &mut self.rng;
            let Some(wire) = self.wires.get_mut(&key) else { return };
            let Some(server) = &mut wire.server else { return };
            let event = match server.poll_output() {
                Some(ExchangeOutput::Head(mut head, _)) => {
                    if let Some(session) = head.headers.text("mcp-session-id") {
                        self.names.push(server::SessionId::new(session));
                    }
                    if wire.coded {
                        head.headers.remove("content-length");
                        head.headers.push("Content-Encoding", "deflate");
                        self.seen.coded += 1;
                    }
                    Event::Head(id, head)
                }
                Some(ExchangeOutput::Authenticate(token)) => {
                    let good = self.clients[index].token.map(|(_, good)| good.to_string());
                    if good.as_deref() == Some(token.as_str()) {
                        let grant = Grant::new(Principal::new("ada")).audience(format!("{ORIGIN}/mcp"));
                        server.handle_grant(now, grant);
                    } else {
                        server.handle_refusal(now, &AuthRefusal::Invalid);
                    }
                    continue;
                }
                Some(ExchangeOutput::Call(call, work)) => {
                    self.begin(id, call, &work);
                    continue;
                }
                Some(ExchangeOutput::Answered(call, ..)) => {
                    if let Some(text) = wire.asking.remove(&call) {
                        self.timeline.after(rng.millis(500), Event::Respond(id, call, text));
                    }
                    continue;
                }
                Some(ExchangeOutput::Listen(_)) => {
                    server.handle_admission(now, Admission::Granted);
                    continue;
                }
                Some(ExchangeOutput::Session(query_id, query)) => {
                    let answer = self.sessions.handle_query(now, query);
                    server.handle_session(now, query_id, answer);
                    self.route();
                    continue;
                }
                Some(ExchangeOutput::Sse(query)) => {
                    let answer = self.streams.handle_query(query);
                    server.handle_sse(now, answer);
                    self.route();
                    continue;
                }
                Some(ExchangeOutput::End) => {
                    let Some(wire) = self.wires.remove(&key) else { return };
                    keep(&mut self.timers, &mut { wire.timer }, None, Who::Server(id));
                    if wire.left > 0 {
                        if wire.coded {
                            self.timeline.at(wire.down, Event::Bytes(id, vec![1, 0, 0, 0xff, 0xff]));
                        }
                        self.timeline.at(wire.down, Event::End(id, End::Complete));
                    }
                    return;
                }
                Some(_) => continue,
                None if server.transmit().is_empty() => {
                    let next = server.poll_timeout();
                    return keep(&mut self.timers, &mut wire.timer, next, Who::Server(id));
                }
                None => {
                    let taken = piece(rng, server.transmit().len()).min(usize::from(u16::MAX));
                    let bytes = server.transmit()[..taken].to_vec();
                    server.advance(taken);
                    Event::Bytes(id, if wire.coded { stored(&bytes) } else { bytes })
                }
            };
            wire.down = wire.down.max(now.mono + weather.latency(rng));
            match wire.left {
                0 => {}
                1 => {
                    wire.left = 0;
                    let event =
                        if rng.once_in(2) { Event::Failed(id, false) } else { Event::End(id, End::Broken) };
                    self.timeline.at(wire.down, event);
                    self.timeline.at(wire.up.max(now.mono + weather.latency(rng)), Event::Gone(id));
                }
                left => {
                    wire.left = left.saturating_sub(usize::from(left != usize::MAX));
                    self.timeline.at(wire.down, event);
                }
            }
        }
    }

    /// The server is called.
    fn begin(&mut self, id: u64, call: server::CallId, work: &server::Call) {
        let (index, _) = self.owners[usize::try_from(id).unwrap()];
        let (rng, weather) = (&mut self.rng, self.clients[index].weather);
        let text = tools::text_of(work);
        let asks = asks(&text);
        if self.clients[index].http.verdict().is_some_and(over_sse) {
            self.seen.over_sse += 1;
        }
        if asks && work.era() == Era::Modern {
            if work.input_responses().is_none() {
                return self.timeline.after(rng.millis(500), Event::Need(id, call));
            }
            self.seen.rounds += 1;
        }
        let sends_off = demands(&text) && work.revision() == Revision::V2025_11_25;
        if sends_off && self.demanded.insert(text.clone()) {
            return self.timeline.after(rng.millis(500), Event::Demand(id, call, text));
        }
        self.deeds.note(&text, work, true);
        let mut delay = Duration::ZERO;
        for step in 0..rng.below(4) {
            delay += rng.millis(2_000);
            self.timeline.after(delay, Event::Progress(id, call, step as f64));
        }
        delay += rng.millis(500);
        if asks && work.era() == Era::Legacy {
            return self.timeline.after(delay, Event::Ask(id, call, text));
        }
        if weather.breaks(rng, 8) {
            delay += Duration::from_secs(50);
        }
        self.timeline.after(delay, Event::Respond(id, call, text));
    }

    /// Passes on what the tables have for exchanges.
    pub(super) fn route(&mut self) {
        let now = self.timeline.now();
        while let Some(output) = self.sessions.poll_output() {
            let Some(id) = output.exchange() else { continue };
            self.at_wire(id, |server| match output {
                SessionOutput::Cancel { request, .. } => server.handle_cancel(now, &request),
                SessionOutput::Deliver { event, .. } => server.handle_delivery(now, &event),
                SessionOutput::Close { .. } => server.handle_close(now),
                SessionOutput::Answer { response, .. } => server.handle_answer(now, response),
                _ => {}
            });
        }
        while let Some(output) = self.streams.poll_output() {
            self.at_wire(output.exchange, |server| {
                server.handle_message(now, &output.message, output.sender)
            });
        }
    }
}
