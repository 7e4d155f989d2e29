//! Clients: byte streams and HTTP, of both eras.

use std::sync::Arc;

use mcp_proto::client::{
    AskId, CallOptions, CallTool, Config, Connection, Custom, Endpoint, EraChoice, Event, ExchangeId,
    GetPrompt, Http, HttpOutput, HttpRequest, InputResponse, Output, ReadResource,
};
use mcp_proto::entropy::Seed;
use mcp_proto::head::{End, ResponseHead};
use mcp_proto::model::{
    ClientCapabilities, ElicitResult, ElicitationCapability, Implementation, Json, LoggingLevel,
};

use super::{Reader, SECRET, now, text};

const DISCOVERED: &str = "{'resultType':'complete','supportedVersions':['2026-07-28'],'capabilities':{'tools':{},'logging':{},'prompts':{},'resources':{}},'ttlMs':0,'cacheScope':'private'}";
const INITIALIZED: &str = "{'protocolVersion':'2025-11-25','capabilities':{'tools':{},'logging':{},'prompts':{},'resources':{}},'serverInfo':{'name':'s','version':'1'}}";
const RESULT: &str = "{'resultType':'complete','content':[{'type':'text','text':'SECRET'}]}";
const FORM: &str = "{'message':'SECRET','requestedSchema':{'type':'object','properties':{'a':{'type':'string'}},'required':['a']}}";

fn asking() -> String {
    format!(
        "{{'resultType':'input_required','requestState':'SECRET','inputRequests':{{'k':{{'method':'elicitation/create','params':{FORM}}}}}}}"
    )
}

fn config(era: EraChoice) -> Arc<Config> {
    let capabilities =
        ClientCapabilities::new().elicitation(ElicitationCapability::new().form(Json::empty_object()));
    let config = Config::new(Implementation::new("c", "1")).era(era).capabilities(capabilities);
    Arc::new(config.log_level(LoggingLevel::Debug))
}

fn json(json: &str) -> Json {
    Json::parse(text(json)).unwrap()
}

fn options() -> CallOptions {
    let mut options = CallOptions::new().progress();
    options.meta = json("{'acme/x':'SECRET'}").decode().unwrap();
    options
}

fn call() -> CallTool<'static, Json> {
    CallTool::with("add", json("{'a':'SECRET'}"))
}

fn response(id: &str, outcome: &str) -> String {
    text(&format!("{{'jsonrpc':'2.0','id':{id},{outcome}}}"))
}

/// What a server tells and asks of itself.
fn told(token: &str) -> [String; 3] {
    [
        format!("{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':1,'message':'SECRET'}}}}"),
        "{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'error','logger':'l','data':{'x':'SECRET'}}}".to_string(),
        "{'jsonrpc':'2.0','method':'notifications/acme','params':{'x':'SECRET'}}".to_string(),
    ]
    .map(|message| text(&message))
}

fn question() -> String {
    text(&format!("{{'jsonrpc':'2.0','id':'q','method':'elicitation/create','params':{FORM}}}"))
}

fn accepted() -> InputResponse {
    ElicitResult::accept(json("{'a':'SECRET'}")).into()
}

/// The id of the last request in what was sent.
fn id(sent: &str) -> String {
    let (_, rest) = sent.rsplit_once("\"id\":").unwrap();
    rest.chars().take_while(char::is_ascii_digit).collect()
}

struct Stream {
    client: Connection,
    reader: Reader,
    asked: Vec<AskId>,
}

impl Stream {
    fn new(era: EraChoice, opened: &str) -> Self {
        let client = Connection::new(now(), config(era));
        let mut stream = Self { client, reader: Reader::default(), asked: Vec::new() };
        let id = id(&stream.take());
        stream.receive(&response(&id, &format!("'result':{opened}")));
        let sent = stream.take();
        if era == EraChoice::Legacy {
            assert!(sent.contains("logging/setLevel"));
            stream.receive(&response(&self::id(&sent), "'result':{}"));
        }
        assert!(stream.client.details().is_some());
        stream
    }

    fn take(&mut self) -> String {
        let sent = String::from_utf8(self.client.transmit().to_vec()).unwrap();
        self.client.advance(sent.len());
        sent
    }

    fn receive(&mut self, message: &str) {
        let bytes = [message.as_bytes(), b"\n"].concat();
        let half = message.rfind("1f2e3d").map_or(bytes.len() / 2, |at| at + 8);
        for part in [&bytes[..half], &bytes[half..]] {
            self.client.handle_bytes(now(), part);
            self.read(message);
        }
    }

    fn read(&mut self, when: &str) {
        self.reader.read(when, &self.client);
        while let Some(output) = self.client.poll_output() {
            self.reader.read(when, &output);
            if let Output::Event(Event::Asked(id, _)) = output {
                self.asked.push(id);
            }
        }
        self.reader.read(when, &self.client);
    }
}

/// Calls that wait, are sent, report, are asked something, and are answered or fail; what a server tells and asks.
#[test]
fn a_client_on_a_byte_stream_prints_no_payload() {
    for (era, opened) in [(EraChoice::Modern, DISCOVERED), (EraChoice::Legacy, INITIALIZED)] {
        let mut early = Connection::new(now(), config(era));
        early.start(now(), &call(), options()).unwrap();
        let mut stream = Stream::new(era, opened);
        stream.reader.read("waiting", &early);
        stream.reader.read("call", &call());
        stream.reader.read("call", &options());
        let custom = Custom::new("acme/x", Some(json("{'a':'SECRET'}"))).unwrap();
        stream.reader.read("call", &custom);
        stream.reader.read("call", &GetPrompt::new("p").argument("a", SECRET));
        stream.reader.read("call", &ReadResource::new(format!("f:s?key={SECRET}")));
        let pending = stream.client.start(now(), &call(), options()).unwrap();
        stream.read("sent");
        let mut wire = id(&stream.take());
        for message in told(&wire) {
            stream.receive(&message);
        }
        if era == EraChoice::Modern {
            stream.receive(&response(&wire, &format!("'result':{}", asking())));
            let ask = stream.asked.pop().unwrap();
            stream.client.answer(now(), ask, Ok(accepted())).unwrap();
            stream.read("made again");
            wire = id(&stream.take());
        } else {
            stream.receive(&question());
            let ask = stream.asked.pop().unwrap();
            stream.client.answer(now(), ask, Ok(accepted())).unwrap();
            stream.read("answered");
            assert!(stream.take().contains(SECRET));
        }
        stream.receive(&response(&wire, &format!("'result':{RESULT}")));
        let reply = stream.client.take(&pending).unwrap().unwrap();
        assert_eq!(reply.text(), SECRET);
        stream.reader.read("reply", &reply);

        let pending = stream.client.start(now(), &call(), options()).unwrap();
        let wire = id(&stream.take());
        stream.receive(&response(&wire, "'error':{'code':7,'message':'m','data':{'x':'SECRET'}}"));
        let error = stream.client.take(&pending).unwrap().unwrap_err();
        stream.reader.read("error", &error);
        if era == EraChoice::Modern {
            let mut manual = options();
            manual.manual_input = true;
            let pending = stream.client.start(now(), &call(), manual).unwrap();
            let wire = id(&stream.take());
            stream.receive(&response(&wire, &format!("'result':{}", asking())));
            let error = stream.client.take(&pending).unwrap().unwrap_err();
            stream.reader.read("error", &error);
        }
        stream.reader.judge(40);
    }
}

struct Web {
    client: Http,
    reader: Reader,
    asked: Vec<AskId>,
    sent: Vec<(ExchangeId, Arc<HttpRequest>)>,
}

impl Web {
    fn new(era: EraChoice, opened: &str) -> Self {
        let endpoint = Endpoint::parse(&format!("https://h.example/mcp?key={SECRET}")).unwrap();
        let mut reader = Reader::default();
        reader.read("endpoint", &endpoint);
        let client = Http::new(now(), config(era), endpoint, Seed::new([9; 32]));
        let mut web = Self { client, reader, asked: Vec::new(), sent: Vec::new() };
        web.read("opening");
        let (exchange, body) = web.next();
        web.answer(exchange, "application/json", &response(&id(&body), &format!("'result':{opened}")));
        if era == EraChoice::Legacy {
            let (exchange, _) = web.next();
            web.head(exchange, ResponseHead::new(202));
            web.end(exchange);
            // The stream for what belongs to no call.
            let (exchange, _) = web.next();
            web.head(exchange, ResponseHead::new(405));
            web.end(exchange);
            let (exchange, body) = web.next();
            assert!(body.contains("logging/setLevel"));
            web.answer(exchange, "application/json", &response(&id(&body), "'result':{}"));
        }
        assert!(web.client.details().is_some() && web.sent.is_empty());
        web
    }

    fn next(&mut self) -> (ExchangeId, String) {
        let (exchange, request) = self.sent.remove(0);
        (exchange, String::from_utf8(request.body.clone()).unwrap())
    }

    fn read(&mut self, when: &str) {
        self.reader.read(when, &self.client);
        while let Some(output) = self.client.poll_output() {
            self.reader.read(when, &output);
            match output {
                HttpOutput::Send { exchange, request } => {
                    self.reader.read(when, &request.head);
                    self.sent.push((exchange, request));
                }
                HttpOutput::Event(Event::Asked(id, _)) => self.asked.push(id),
                _ => {}
            }
        }
        self.reader.read(when, &self.client);
    }

    fn head(&mut self, exchange: ExchangeId, mut head: ResponseHead) {
        head.headers.push("Set-Cookie", SECRET);
        head.headers.push("Mcp-Session-Id", SECRET);
        self.client.handle_head(now(), exchange, head);
        self.read("head");
    }

    fn body(&mut self, exchange: ExchangeId, body: &str) {
        let half = body.rfind("1f2e3d").map_or(body.len() / 2, |at| at + 8);
        for part in [&body[..half], &body[half..]] {
            self.client.handle_body(now(), exchange, part.as_bytes());
            self.read(body);
        }
    }

    fn end(&mut self, exchange: ExchangeId) {
        self.client.handle_end(now(), exchange, End::Complete);
        self.read("end");
    }

    fn answer(&mut self, exchange: ExchangeId, kind: &str, body: &str) {
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", kind);
        self.head(exchange, head);
        self.body(exchange, body);
        self.end(exchange);
    }

    fn event(&mut self, exchange: ExchangeId, message: &str) {
        self.body(exchange, &format!("event: message\ndata: {message}\n\n"));
    }
}

/// The same over HTTP: as one message, as a stream, and as a refusal.
#[test]
fn a_client_over_http_prints_no_payload() {
    for (era, opened) in [(EraChoice::Modern, DISCOVERED), (EraChoice::Legacy, INITIALIZED)] {
        let mut web = Web::new(era, opened);
        let pending = web.client.start(now(), &call(), options()).unwrap();
        web.read("sent");
        let (exchange, body) = web.next();
        let wire = id(&body);
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "text/event-stream");
        web.head(exchange, head);
        for message in told(&wire) {
            web.event(exchange, &message);
        }
        if era == EraChoice::Modern {
            web.event(exchange, &response(&wire, &format!("'result':{}", asking())));
            let ask = web.asked.pop().unwrap();
            web.client.answer(now(), ask, Ok(accepted())).unwrap();
            web.read("made again");
            let (exchange, body) = web.next();
            assert!(body.contains(SECRET));
            web.answer(exchange, "application/json", &response(&id(&body), &format!("'result':{RESULT}")));
        } else {
            web.event(exchange, &question());
            let ask = web.asked.pop().unwrap();
            web.client.answer(now(), ask, Ok(accepted())).unwrap();
            web.read("answered");
            assert!(web.next().1.contains(SECRET));
            web.event(exchange, &response(&wire, &format!("'result':{RESULT}")));
        }
        assert_eq!(web.client.take(&pending).unwrap().unwrap().text(), SECRET);

        let pending = web.client.start(now(), &call(), options()).unwrap();
        web.read("sent");
        let (exchange, body) = web.next();
        let mut head = ResponseHead::new(400);
        head.headers.push("Content-Type", "application/json");
        web.head(exchange, head);
        let refusal = response(&id(&body), "'error':{'code':7,'message':'m','data':{'x':'SECRET'}}");
        web.body(exchange, &refusal);
        web.end(exchange);
        let error = web.client.take(&pending).unwrap().unwrap_err();
        web.reader.read("error", &error);
        web.reader.judge(40);
    }
}
