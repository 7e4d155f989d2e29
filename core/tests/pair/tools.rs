//! The application on both sides: a tool that echoes in its own time, and a ledger of calls.

use mcp_proto::client::{
    self, CallId, CallOptions, CallTool, Event, Notice, Pending, Subscription, SubscriptionId, ToolReply,
};
use mcp_proto::dialect::Era;
use mcp_proto::error::CallError;
use mcp_proto::model::{Implementation, Json, SubscriptionFilter, Tool};
use mcp_proto::server::{self, Tools};
use mcp_proto::time::{Duration, Now};
use std::collections::BTreeMap;

use super::network::Rng;

/// The configuration of a server with the tool `echo`.
pub(crate) fn server(revisions: server::Revisions) -> server::Config {
    let schema = r#"{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}"#;
    let mut tools = Tools::new();
    tools.insert(Tool::new("echo", Json::parse(schema).unwrap())).unwrap();
    let mut changes = server::ListChanges::default();
    changes.tools = true;
    let config = server::Config::new(Implementation::new("spokes", "1")).changes(changes);
    config.tools(tools).revisions(revisions)
}

pub(crate) fn client(era: client::EraChoice) -> client::Config {
    client::Config::new(Implementation::new("kiln", "1")).era(era)
}

/// The text that a call of `echo` carries.
pub(crate) fn text_of(call: &server::Call) -> String {
    let arguments = Json::parse(call.arguments()).unwrap();
    arguments.decode::<BTreeMap<String, String>>().unwrap().remove("text").unwrap()
}

/// What a client has asked for, and what it got.
#[derive(Default)]
pub(crate) struct Ledger {
    open: BTreeMap<CallId, (Pending<ToolReply>, String, f64)>,
    settled: BTreeMap<CallId, usize>,
    pub(crate) succeeded: usize,
    pub(crate) errors: Vec<CallError>,
    pub(crate) closed: Option<CallError>,
    started: usize,
    listens: Option<SubscriptionId>,
    /// How often that has changed.
    pub(crate) listened: usize,
    /// Notices of changes, and that some may have been missed.
    pub(crate) heard: usize,
    pub(crate) missed: usize,
}

/// How often each call was carried out, by its text.
#[derive(Default)]
pub(crate) struct Deeds(BTreeMap<String, usize>);

impl Deeds {
    /// A server is about to carry out a call. Once, and only over HTTP with a modern server, whose broken stream is a
    /// cancellation, once more.
    pub(crate) fn note(&mut self, text: &str, call: &server::Call, streams: bool) {
        let count = self.0.entry(text.to_owned()).or_default();
        *count += 1;
        let again = streams && call.revision().era() == Era::Modern;
        assert!(*count <= 1 + usize::from(again), "`{text}` was carried out {count} times");
    }
}

/// The calling surface that both machines have.
pub(crate) trait Caller {
    fn start(
        &mut self,
        call: &CallTool<'_, BTreeMap<&str, &str>>,
        options: CallOptions,
    ) -> Result<Pending<ToolReply>, CallError>;
    fn take(&mut self, pending: &Pending<ToolReply>) -> Option<Result<ToolReply, CallError>>;
    fn listen(&mut self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError>;
    fn relisten(&mut self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError>;
    fn unlisten(&mut self, id: SubscriptionId);
    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription>;
    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice>;
}

/// A client on HTTP, at a moment.
pub(crate) struct At<'a>(pub(crate) &'a mut client::Http, pub(crate) Now);

impl Caller for At<'_> {
    fn start(
        &mut self,
        call: &CallTool<'_, BTreeMap<&str, &str>>,
        options: CallOptions,
    ) -> Result<Pending<ToolReply>, CallError> {
        self.0.start(self.1, call, options)
    }

    fn take(&mut self, pending: &Pending<ToolReply>) -> Option<Result<ToolReply, CallError>> {
        self.0.take(pending)
    }

    fn listen(&mut self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        self.0.listen(self.1, wanted)
    }

    fn relisten(&mut self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError> {
        self.0.relisten(self.1, id, wanted)
    }

    fn unlisten(&mut self, id: SubscriptionId) {
        self.0.unlisten(self.1, id);
    }

    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.0.subscription(id)
    }

    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice> {
        self.0.take_notice(id)
    }
}

impl Ledger {
    /// Calls `echo` with a text that no other call has.
    pub(crate) fn start(&mut self, rng: &mut Rng, name: &str, caller: &mut impl Caller) {
        self.started += 1;
        let text = format!("{name}/{} é😀", self.started);
        let mut options = CallOptions::new().timeout(Duration::from_secs(1 + rng.below(30) as u64));
        if rng.once_in(2) {
            options = options.progress();
        }
        match caller.start(&CallTool::with("echo", BTreeMap::from([("text", &*text)])), options) {
            Ok(pending) => {
                assert!(self.open.insert(pending.id(), (pending, text, -1.0)).is_none(), "ids are new")
            }
            Err(error) => self.errors.push(error),
        }
    }

    /// Listens for changes of the tools, and from the second time on for something else each time besides.
    pub(crate) fn listen(&mut self, caller: &mut impl Caller) {
        let wanted = SubscriptionFilter::new().tools_list_changed(true);
        match self.listens {
            Some(id) => {
                self.listened += 1;
                caller.relisten(id, wanted.prompts_list_changed(self.listened % 2 == 1)).unwrap();
            }
            None => self.listens = caller.listen(wanted).ok(),
        }
    }

    /// The connection is over, and so is what was listened for.
    pub(crate) fn stop_listening(&mut self, caller: &mut impl Caller) {
        let Some(id) = self.listens.take() else { return };
        assert!(caller.subscription(id).is_some_and(|it| it.ended().is_some()), "a subscription ends");
        caller.unlisten(id);
    }

    /// One of the calls under way.
    pub(crate) fn pick(&self, rng: &mut Rng) -> Option<CallId> {
        self.open.keys().nth(rng.below(self.open.len().max(1))).copied()
    }

    pub(crate) fn note(&mut self, event: Event, caller: &mut impl Caller) {
        assert!(
            self.closed.is_none() || matches!(event, Event::Diagnostic(_)),
            "after the last event: {event:?}"
        );
        match event {
            Event::Settled(id) => {
                *self.settled.entry(id).or_default() += 1;
                assert_eq!(self.settled[&id], 1, "a call ends once");
                let (pending, text, _) = self.open.remove(&id).expect("a call that was made");
                match caller.take(&pending).expect("settled") {
                    Ok(reply) => {
                        assert_eq!(reply.text(), text, "the answer of this call and no other");
                        self.succeeded += 1;
                    }
                    Err(error) => self.errors.push(error),
                }
                assert!(caller.take(&pending).is_none(), "taken once");
            }
            Event::Progress(id, progress) => {
                let (_, _, last) = self.open.get_mut(&id).expect("progress comes before the end");
                assert!(progress.progress > *last, "progress goes forward");
                *last = progress.progress;
            }
            Event::Subscription(id) => {
                while let Some(notice) = caller.take_notice(id) {
                    match notice {
                        Notice::Missed => self.missed += 1,
                        _ => self.heard += 1,
                    }
                }
            }
            Event::Closed(error) => {
                assert!(self.open.is_empty(), "calls end before the connection");
                self.closed = Some(error);
            }
            _ => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
