//! What is between a stream and the connection on it, and has to be opened before anything gets through.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};

use super::pooled::Channel;
use crate::endpoint::{Endpoint, Status};

/// What goes on in a layer: bytes in, bytes out.
pub(super) trait Codec: Send + 'static {
    /// What opens it, such as `the handshake`.
    const OPENING: &'static str;

    /// What there is none of when it is not opened, such as `no TLS connection to h`.
    fn none(&self) -> String;

    /// The stream below is ready. An error if nothing can come of it.
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Bytes have come from below; whether it was open before.
    fn hear<'a>(&mut self, bytes: &'a [u8], open: bool) -> Heard<'a>;

    /// Gives out what is to go below, also from above once it is open.
    fn transmit(&mut self, now: Now, above: Option<&dyn Channel>, write: &mut dyn FnMut(&[u8]) -> usize);

    /// What an end of the stream below is for those above.
    fn end(&self, end: End) -> End;
}

/// What came of bytes.
#[derive(Default)]
pub(super) struct Heard<'a> {
    /// It is open now.
    pub(super) opened: bool,
    /// What is for those above.
    pub(super) plain: Cow<'a, [u8]>,
    /// The peer says that nothing more comes.
    pub(super) closed: bool,
    /// It cannot go on.
    pub(super) fault: Option<String>,
}

/// A layer below a channel.
pub(super) struct Layer<C> {
    above: Arc<dyn Channel>,
    /// How long opening it may take.
    patience: Duration,
    state: Mutex<State<C>>,
}

struct State<C> {
    stage: Stage,
    codec: C,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// What is below is not ready.
    Waiting,
    Opening {
        until: Instant,
    },
    Open,
    Over,
}

impl<C: Codec> Layer<C> {
    pub(super) fn new(codec: C, patience: Duration, above: Arc<dyn Channel>) -> Arc<Self> {
        let state = Mutex::new(State { stage: Stage::Waiting, codec });
        Arc::new(Self { above, patience, state })
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It will not be opened, for this reason, unless it is already; whether it is not.
    fn give_up(&self, now: Now, reason: &str) -> bool {
        let mut state = self.lock();
        let opening = matches!(state.stage, Stage::Waiting | Stage::Opening { .. });
        if opening {
            state.stage = Stage::Over;
        }
        let none = state.codec.none();
        drop(state);
        if opening {
            self.above.refused(now, &format!("{none}: {reason}"));
        }
        opening
    }
}

fn ended<C: Codec>() -> String {
    format!("the connection ended in the middle of {}", C::OPENING)
}

impl<C: Codec> Channel for Layer<C> {
    fn established(&self, now: Now) {
        let mut state = self.lock();
        if state.stage != Stage::Waiting {
            return;
        }
        state.stage = Stage::Opening { until: now.mono + self.patience };
        let begun = state.codec.begin();
        drop(state);
        if let Err(fault) = begun {
            self.give_up(now, &fault);
        }
    }

    fn refused(&self, now: Now, reason: &str) {
        self.lock().stage = Stage::Over;
        self.above.refused(now, reason);
    }
}

impl<C: Codec> Endpoint for Layer<C> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        let heard = {
            let State { stage, codec } = &mut *self.lock();
            let open = *stage == Stage::Open;
            if !open && !matches!(stage, Stage::Opening { .. }) {
                return;
            }
            let heard = codec.hear(bytes, open);
            if heard.opened {
                *stage = Stage::Open;
            }
            heard
        };
        if heard.opened {
            self.above.established(now);
        }
        if !heard.plain.is_empty() {
            self.above.handle_bytes(now, &heard.plain);
        }
        let (reason, end) = match heard.fault {
            Some(fault) => (fault, End::Broken),
            None if heard.closed => (ended::<C>(), End::Complete),
            None => return,
        };
        if !self.give_up(now, &reason) {
            if end == End::Broken {
                self.lock().stage = Stage::Over;
            }
            self.above.handle_end(now, end);
        }
    }

    fn handle_end(&self, now: Now, end: End) {
        if !self.give_up(now, &ended::<C>()) {
            let end = self.lock().codec.end(end);
            self.above.handle_end(now, end);
        }
    }

    fn handle_write_failed(&self, now: Now) {
        if !self.give_up(now, &format!("the connection broke in the middle of {}", C::OPENING)) {
            self.above.handle_write_failed(now);
        }
    }

    fn handle_timeout(&self, now: Now) {
        let late = matches!(self.lock().stage, Stage::Opening { until } if until <= now.mono);
        if late {
            self.give_up(now, &format!("{} took longer than {:?}", C::OPENING, self.patience));
        }
        self.above.handle_timeout(now);
    }

    fn transmit(&self, now: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let State { stage, codec } = &mut *self.lock();
        match stage {
            Stage::Waiting => {}
            Stage::Open => codec.transmit(now, Some(&*self.above), write),
            // What is left to say, such as why it is over.
            Stage::Opening { .. } | Stage::Over => codec.transmit(now, None, write),
        }
    }

    fn status(&self) -> Status {
        let stage = self.lock().stage;
        let mut status = self.above.status();
        match stage {
            Stage::Waiting => status.wants_read = false,
            Stage::Opening { until } => {
                status.wants_read = true;
                status.timeout = Some(status.timeout.map_or(until, |at| at.min(until)));
            }
            Stage::Open => {}
            Stage::Over => status.finished = true,
        }
        status
    }

    fn register(&self, waker: &Waker) {
        self.above.register(waker);
    }
}
