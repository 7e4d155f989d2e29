//! What `tracing` is told: one span a request, and an event for each report. Never a payload, a token or the
//! value of a header.

#[cfg(feature = "tracing")]
pub(crate) use on::*;

#[cfg(not(feature = "tracing"))]
pub(crate) use off::*;

#[cfg(feature = "tracing")]
mod on {
    use std::sync::atomic::{AtomicBool, Ordering};

    use mcp_proto::diagnostic::Blame;
    use mcp_proto::model::TraceContext;
    use mcp_proto::server::{Call, Config};
    use mcp_proto::time::Instant;
    use tracing::field::{Empty, display};
    use tracing::{Span, debug, error, info_span, warn};

    use crate::around::AnswerKind;
    use crate::context::Report;

    /// Sees to it that requests come by which need no application.
    pub(crate) fn prepare(config: &mut Config) {
        config.hand_out_all = true;
    }

    /// A request, from when it is handed out until it is over.
    pub(crate) struct RequestSpan {
        span: Span,
        started: Instant,
        ended: AtomicBool,
    }

    impl RequestSpan {
        pub(crate) fn new(call: &Call, now: impl FnOnce() -> Instant) -> Self {
            // The longest id is what a client likes; this much of it tells requests apart.
            const SHOWN: usize = 64;
            let (id, target) = (call.request_id().to_string(), call.target());
            let id: String = id.chars().take(SHOWN).collect();
            let span = info_span!(
                target: "mcp",
                "request",
                method = target.method(),
                target = target.own_name(),
                era = %call.era(),
                revision = %call.revision(),
                request_id = %id,
                trace_id = Empty,
                parent_id = Empty,
                outcome = Empty,
                duration_us = Empty,
            );
            if span.is_disabled() {
                return Self { span, started: Instant::default(), ended: AtomicBool::new(true) };
            }
            let trace = TraceContext::of(&call.meta());
            if let (Some(trace), Some(parent)) = (trace.trace_id(), trace.parent_id()) {
                span.record("trace_id", trace);
                span.record("parent_id", parent);
            }
            Self { span, started: now(), ended: AtomicBool::new(false) }
        }

        /// The same for a further run on behalf of the request, whose end is told to this one.
        pub(crate) fn follow(&self) -> Self {
            Self { span: self.span.clone(), started: self.started, ended: AtomicBool::new(true) }
        }

        /// Runs code of the application within the span.
        pub(crate) fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
            self.span.in_scope(run)
        }

        /// The request is over. The first end counts.
        pub(crate) fn ended(&self, kind: AnswerKind, now: impl FnOnce() -> Instant) {
            if self.ended.swap(true, Ordering::Relaxed) {
                return;
            }
            let took = now().saturating_since(self.started);
            self.span.record("outcome", display(kind));
            self.span.record("duration_us", u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// As severe as it is for this side: what peers do can come as often as they like.
    pub(crate) fn report(report: &Report) {
        let (what, detail) = (&report.what, &report.detail);
        match report.blame {
            Blame::Ours => error!(target: "mcp", %what, "{detail}"),
            Blame::Peer => debug!(target: "mcp", %what, "{detail}"),
            // Nobody's, and whatever else may come: neither side has to be mended.
            _ => warn!(target: "mcp", %what, "{detail}"),
        }
    }
}

/// The same without `tracing`: nothing.
#[cfg(not(feature = "tracing"))]
mod off {
    use mcp_proto::server::{Call, Config};
    use mcp_proto::time::Instant;

    use crate::around::AnswerKind;
    use crate::context::Report;

    pub(crate) fn prepare(_: &mut Config) {}

    pub(crate) struct RequestSpan;

    impl RequestSpan {
        pub(crate) fn new(_: &Call, _: impl FnOnce() -> Instant) -> Self {
            Self
        }

        pub(crate) fn follow(&self) -> Self {
            Self
        }

        pub(crate) fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
            run()
        }

        pub(crate) fn ended(&self, _: AnswerKind, _: impl FnOnce() -> Instant) {}
    }

    pub(crate) fn report(_: &Report) {}
}
