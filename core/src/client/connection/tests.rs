mod asks;
mod bounds;
mod cache;
mod calls;
mod discovery;
mod features;
mod interrupted;
mod level;
mod negotiation;
mod offered;
mod outputs;
mod properties;
mod rounds;
mod rules;
mod server;
mod subscriptions;
mod tasks;
mod time;
mod visits;

use super::super::testing::{at, config, json, shared};
use super::super::{CallTool, Custom, Discover, EraChoice, ListTools, Ping, Progress, SetLevel};
use super::*;
use crate::dialect::Revision;
use crate::error::ErrorObject;
use crate::head::End;
use crate::limits::Limits;
use crate::model::logging::LoggingLevel;

use alloc::string::ToString;
use std::vec;

/// A connection, and what it wrote.
struct Peer {
    connection: Connection,
    now: Now,
}

const DISCOVERED: &str = "{'resultType':'complete','supportedVersions':['2026-07-28'],\
    'capabilities':{'tools':{},'logging':{}},'instructions':'Be kind.','ttlMs':0,'cacheScope':'private',\
    '_meta':{'io.modelcontextprotocol/serverInfo':{'name':'spokes','version':'2.1.0'}}}";
const INITIALIZED: &str = "{'protocolVersion':'2025-11-25','capabilities':{'tools':{},'logging':{}},\
    'serverInfo':{'name':'spokes','version':'2.1.0'}}";

impl Peer {
    fn new(config: Config) -> Self {
        let connection = Connection::new(at(0), Arc::new(config));
        Self { connection, now: at(0) }
    }

    /// After the probe was answered by a modern server.
    fn modern() -> Self {
        Self::modern_with(config())
    }

    fn modern_with(config: Config) -> Self {
        let mut peer = Self::new(config);
        let probe = peer.one();
        peer.result(&probe, DISCOVERED);
        peer.drain();
        peer
    }

    fn legacy() -> Self {
        Self::legacy_with(config())
    }

    fn legacy_with(config: Config) -> Self {
        let mut peer = Self::new(config.era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.result(&initialize, INITIALIZED);
        assert_eq!(method(&peer.one()), "notifications/initialized");
        peer.drain();
        peer
    }

    /// The lines written since the last time.
    fn written(&mut self) -> Vec<String> {
        let bytes = self.connection.transmit().to_vec();
        self.connection.advance(bytes.len());
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(String::from).collect()
    }

    fn one(&mut self) -> String {
        let mut lines = self.written();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    }

    fn says(&mut self, line: &str) {
        let line = json(line) + "\n";
        self.connection.handle_bytes(self.now, line.as_bytes());
    }

    fn result(&mut self, request: &str, result: &str) {
        let id = id(request);
        self.says(&format!("{{'jsonrpc':'2.0','id':{id},'result':{result}}}"));
    }

    fn error(&mut self, request: &str, error: &str) {
        let id = id(request);
        self.says(&format!("{{'jsonrpc':'2.0','id':{id},'error':{error}}}"));
    }

    fn drain(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.connection.poll_output() {
            outputs.push(output);
        }
        outputs
    }

    fn wait(&mut self, ms: u64) {
        self.now.mono = self.now.mono + Duration::from_millis(ms);
        self.connection.handle_timeout(self.now);
    }

    fn start<C: Call>(&mut self, call: &C) -> Pending<C::Reply> {
        self.connection.start(self.now, call, CallOptions::new()).unwrap()
    }

    fn closed(&mut self) -> Option<CallError> {
        self.drain().into_iter().find_map(|output| match output {
            Output::Event(Event::Closed(error)) => Some(error),
            _ => None,
        })
    }

    fn details(&self) -> &super::super::ServerDetails {
        self.connection.details().unwrap()
    }
}

fn id(request: &str) -> String {
    let value: std::collections::BTreeMap<String, Json> = serde_json::from_str(request).unwrap();
    value["id"].get().to_string()
}

fn method(request: &str) -> String {
    let value: std::collections::BTreeMap<String, Json> = serde_json::from_str(request).unwrap();
    value["method"].decode().unwrap()
}

fn settled(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::Event(Event::Settled(_)))).count()
}

fn diagnostics(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::Event(Event::Diagnostic(_)))).count()
}
