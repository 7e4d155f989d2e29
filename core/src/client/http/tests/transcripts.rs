//! Exchanges that are held, streams that are listened on, and bodies that are compressed: what comes of them depends on
//! what came, and neither on how it was cut, nor on when outputs are polled, nor on timeouts that are none.

use super::super::super::Notice;
use super::refused::challenged;
use super::*;
use crate::model::subscriptions::SubscriptionFilter;
use std::string::String;
use std::vec::Vec;

/// How a transcript is come by.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// So many bytes of a body come at once.
    piece: usize,
    /// Outputs are polled after each input, and not only at the end.
    drain: bool,
    spurious: bool,
}

/// A client whose exchanges have the numbers from 1 on, and what it has said.
struct Run {
    http: Http,
    way: Way,
    time: u64,
    outputs: Vec<HttpOutput>,
}

impl Run {
    /// A client that has found a modern server by its first exchange.
    fn new(way: Way, config: Config) -> Self {
        let mut run = Self::unanswered(way, config);
        run.answer(1, &format!("{{'jsonrpc':'2.0','id':1,'result':{DISCOVERED}}}"));
        run
    }

    fn unanswered(way: Way, config: Config) -> Self {
        let endpoint = Endpoint::parse("http://localhost:1/mcp").unwrap();
        let http = Http::new(at(0), Arc::new(config.era(EraChoice::Modern)), endpoint, Seed::new([9; 32]));
        Self { http, way, time: 0, outputs: Vec::new() }
    }

    fn step<T>(&mut self, input: impl FnOnce(&mut Http, Now) -> T) -> T {
        let value = input(&mut self.http, at(self.time));
        if self.way.spurious {
            self.http.handle_timeout(at(self.time));
            self.http.handle_timeout(at(0));
            self.http.poll_timeout();
        }
        if self.way.drain {
            self.drain();
        }
        value
    }

    fn drain(&mut self) {
        while let Some(output) = self.http.poll_output() {
            // News that waits to be heard is told once, so how often that is depends on who listens.
            if !matches!(output, HttpOutput::Event(Event::Subscription(_))) {
                self.outputs.push(output);
            }
        }
    }

    fn head(&mut self, exchange: u64, head: ResponseHead) {
        self.step(|http, now| http.handle_head(now, ExchangeId(exchange), head));
    }

    fn body(&mut self, exchange: u64, bytes: &[u8]) {
        for piece in bytes.chunks(self.way.piece) {
            self.step(|http, now| http.handle_body(now, ExchangeId(exchange), piece));
        }
    }

    fn end(&mut self, exchange: u64) {
        self.step(|http, now| http.handle_end(now, ExchangeId(exchange), End::Complete));
    }

    /// A whole response.
    fn answer(&mut self, exchange: u64, body: &str) {
        self.head(exchange, typed("application/json"));
        self.body(exchange, json(body).as_bytes());
        self.end(exchange);
    }

    fn refuse(&mut self, exchange: u64, status: u16) {
        self.head(exchange, challenged(status));
        self.body(exchange, b"no");
        self.end(exchange);
    }

    fn call(&mut self, tool: &str) -> Pending<crate::client::ToolReply> {
        self.step(|http, now| http.start(now, &CallTool::new(tool), CallOptions::new())).unwrap()
    }

    fn text(&mut self, call: &Pending<crate::client::ToolReply>) -> String {
        self.drain();
        match self.http.take(call).expect("it has ended") {
            Ok(reply) => reply.text().into_owned(),
            Err(error) => error.to_string(),
        }
    }
}

fn typed(kind: &str) -> ResponseHead {
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", kind);
    head
}

fn said(id: u64, text: &str) -> String {
    format!("{{'jsonrpc':'2.0','id':{id},'result':{{'content':[{{'type':'text','text':'{text}'}}]}}}}")
}

fn same<T: PartialEq + core::fmt::Debug>(pieces: impl Iterator<Item = usize>, run: impl Fn(Way) -> T) -> T {
    let expected = run(Way { piece: usize::MAX, drain: false, spurious: false });
    for (number, piece) in pieces.enumerate() {
        for drain in [true, false] {
            let way = Way { piece, drain, spurious: number % 2 == 0 };
            assert_eq!(run(way), expected, "{way:?}");
        }
    }
    expected
}

/// AUTH-05: what is refused or held before it is sent, and then sent again or given up.
#[test]
fn holding_is_the_same_however_it_comes() {
    let (_, texts) = same([1, 2, 3, 7, 64].into_iter(), |way| {
        let mut run = Run::unanswered(way, config().authorize(true));
        let calls = ["a", "b", "c"].map(|tool| run.call(tool));
        // The probe is refused, and calls wait for it.
        run.refuse(1, 401);
        run.time = 40;
        run.step(|http, now| http.repeat(now, ExchangeId(1)));
        run.answer(2, &format!("{{'jsonrpc':'2.0','id':1,'result':{DISCOVERED}}}"));
        // One is held before it is sent, one refused, one answered.
        assert!(run.step(|http, now| http.hold(now, ExchangeId(3))));
        run.refuse(4, 403);
        run.answer(5, &said(4, "c"));
        run.time = 90;
        run.step(|http, now| http.give_up(now, ExchangeId(4), "r", ""));
        run.step(|http, now| http.repeat(now, ExchangeId(3)));
        run.step(|http, now| http.repeat(now, ExchangeId(4)));
        run.answer(6, &said(2, "a"));
        let texts = calls.map(|call| run.text(&call));
        assert_eq!((run.http.exchanges(), run.http.held()), (0, 0));
        (run.outputs, texts)
    });
    assert_eq!((&*texts[0], &*texts[2]), ("a", "c"));
    assert!(texts[1].contains("403"), "{}", texts[1]);
}

/// SUB-03, SUB-08: a stream that is listened on, and the one that takes its place.
#[test]
fn listening_is_the_same_however_it_comes() {
    let acknowledged = |id: u64| {
        format!(
            "data: {{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{{'notifications':\
             {{'toolsListChanged':true}},'_meta':{{'io.modelcontextprotocol/subscriptionId':{id}}}}}}}\n\n"
        )
    };
    let changed =
        "event: message\r\ndata: {'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\r\n\r\n";
    let (_, notices, ended) = same((1..80).chain([500]), |way| {
        let mut run = Run::new(way, config());
        let wanted = SubscriptionFilter::new().tools_list_changed(true);
        let id = run.step(|http, now| http.listen(now, wanted.clone())).unwrap();
        run.head(2, typed("text/event-stream"));
        run.body(2, json(&[&acknowledged(2), ": hi\n\n", changed].concat()).as_bytes());
        run.time = 100;
        run.step(|http, now| http.relisten(now, id, wanted.prompts_list_changed(true))).unwrap();
        run.head(3, typed("text/event-stream"));
        run.body(3, json(&[&acknowledged(3), changed].concat()).as_bytes());
        // What was on its way on the one before still comes.
        run.body(2, json(changed).as_bytes());
        run.time = 1_100;
        run.step(|http, now| http.handle_timeout(now));
        run.body(3, json("data: {'jsonrpc':'2.0','id':3,'result':{'resultType':'complete'}}\n\n").as_bytes());
        run.end(3);
        run.drain();
        let notices: Vec<_> = core::iter::from_fn(|| run.http.take_notice(id)).collect();
        let ended = run.http.subscription(id).unwrap().ended().cloned();
        (run.outputs, notices, ended)
    });
    assert!(notices.iter().all(|notice| matches!(notice, Notice::Changed(_))) && !notices.is_empty());
    assert_eq!(ended, Some(Ok(())));
}

/// B40: a body and a stream that are compressed.
#[cfg(feature = "gzip")]
#[test]
fn decoding_is_the_same_however_it_comes() {
    use crate::fuzz::gzip;
    let coded = |kind: &str| {
        let mut head = typed(kind);
        head.headers.push("Content-Encoding", "gzip");
        head
    };
    let progress = "data: {'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':3,'progress':1}}\n\n";
    let (_, texts) = same((1..200).chain([500]), |way| {
        let mut run = Run::new(way, config());
        let whole = run.call("a");
        let options = CallOptions::new().progress();
        let streamed = run.step(|http, now| http.start(now, &CallTool::new("b"), options)).unwrap();
        run.head(2, coded("application/json"));
        run.head(3, coded("text/event-stream"));
        run.body(2, &gzip(json(&said(2, "a é😀")).as_bytes()));
        run.body(3, &gzip(json(&format!("{progress}data: {}\n\n", said(3, "b"))).as_bytes()));
        run.end(3);
        run.end(2);
        let texts = [whole, streamed].map(|call| run.text(&call));
        (run.outputs, texts)
    });
    assert_eq!(texts, ["a é😀", "b"]);
}
