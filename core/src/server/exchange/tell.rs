//! What is told to whoever asks how to speak to this server: browsers, and clients without a token.

use super::admit::Endpoint;
use super::{Exchange, Stage};
use crate::head::{Headers, RequestHead};
use crate::server::cors;

impl Exchange {
    /// Answers what pages of other origins may send.
    pub(super) fn tell_pages(&mut self, head: &RequestHead, endpoint: Endpoint) {
        if let Some(cors) = &self.config.http.cors {
            self.reply.add(cors::preflight(cors, &head.headers, endpoint.methods(&self.config)));
        }
        self.tell_nothing();
    }

    /// Answers with the metadata of the protected resource, or what pages may send to ask for it. Every page
    /// may: it holds no secret, and clients in browsers need it.
    pub(super) fn tell_metadata(&mut self, head: &RequestHead) {
        self.reply.add_always(cors::open());
        if head.method == "OPTIONS" {
            self.reply.add(cors::open_preflight());
            return self.tell_nothing();
        }
        let metadata = self.config.http.resource_described_at(head.path()).map(|place| place.metadata());
        self.reply.accept_json();
        self.reply.add(Headers::new().with("Cache-Control", "max-age=3600"));
        let head = self.reply.answer(|out| out.extend(metadata.unwrap_or_default().into_bytes()));
        self.outputs.extend(head);
        self.stage = Stage::Answered;
    }

    fn tell_nothing(&mut self) {
        let head = self.reply.nothing(204);
        self.outputs.extend(head);
        self.stage = Stage::Answered;
    }
}
