//! A modern client by hand, which knows tasks: on a stream of lines, or over HTTP.

use serde_json::{Value, json};

use super::super::Host;
use super::super::asks::Peer;
use crate::kit::{Kit, Server};
use crate::support::{Events, Gate, Raw, eventually};

/// What clients declare that know tasks, and can be asked.
pub const KNOWING: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

/// What clients declare that do not know them.
pub const UNKNOWING: &str = r#"{"elicitation":{}}"#;

/// How a client reaches its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Lines,
    Http,
}

pub const WAYS: [Way; 2] = [Way::Lines, Way::Http];

pub struct Client<K: Kit> {
    way: Reached<K>,
    capabilities: &'static str,
}

enum Reached<K: Kit> {
    Lines(Box<Peer>),
    Http(Host<K>),
}

impl<K: Kit> Client<K> {
    pub fn of(way: Way, server: Server<K>, capabilities: &'static str) -> Self {
        let way = match way {
            Way::Lines => Reached::Lines(Box::new(Peer::connect::<K>(server, None, capabilities))),
            Way::Http => {
                let (gate, (_, events)) = (Gate::default(), Events::new());
                Reached::Http(super::super::hosted::<K>(server, gate, events))
            }
        };
        Self { way, capabilities }
    }

    /// Makes a request and reads its response. Notifications before that fail the test: of tasks there are none.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        match &mut self.way {
            Reached::Lines(peer) => {
                let id = peer.request(method, params);
                let response = peer.read();
                assert_eq!(response["id"], id, "{response}");
                response
            }
            Reached::Http(host) => post(&host.url, "", self.capabilities, method, params),
        }
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": {} }))
    }

    /// Calls a tool that goes on as a task, and returns the id of that.
    #[track_caller]
    pub fn begin(&mut self, tool: &str) -> String {
        let response = self.call(tool);
        assert_eq!(response["result"]["resultType"], "task", "{response}");
        response["result"]["taskId"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn get(&mut self, task: &str) -> Value {
        let response = self.request("tasks/get", json!({ "taskId": task }));
        assert_eq!(response["result"]["resultType"], "complete", "{response}");
        response["result"].clone()
    }

    /// Looks until the task has this status.
    #[track_caller]
    pub fn becomes(&mut self, task: &str, status: &str) -> Value {
        eventually(status, || {
            let task = self.get(task);
            if task["status"] == status { Ok(task) } else { Err(task) }
        })
    }

    /// The task, once it asks so many things.
    pub fn asks(&mut self, task: &str, count: usize) -> Value {
        eventually("it asks", || {
            let task = self.get(task);
            let open = task["inputRequests"].as_object().map_or(0, serde_json::Map::len);
            if open == count { Ok(task) } else { Err(task) }
        })
    }

    #[track_caller]
    pub fn update(&mut self, task: &str, responses: Value) {
        let params = json!({ "taskId": task, "inputResponses": responses });
        acknowledged(&self.request("tasks/update", params));
    }

    #[track_caller]
    pub fn cancel(&mut self, task: &str) {
        acknowledged(&self.request("tasks/cancel", json!({ "taskId": task })));
    }

    pub fn end(self) {
        match self.way {
            Reached::Lines(peer) => drop(peer),
            Reached::Http(host) => host.end(),
        }
    }
}

#[track_caller]
fn acknowledged(response: &Value) {
    let mut result = response["result"].clone();
    result.as_object_mut().unwrap_or_else(|| panic!("{response}")).remove("_meta");
    assert_eq!(result, json!({ "resultType": "complete" }));
}

/// The metadata of a request, which wants to hear of progress and logs.
pub fn meta(capabilities: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": serde_json::from_str::<Value>(capabilities).unwrap(),
        "progressToken": "p",
        "io.modelcontextprotocol/logLevel": "debug",
    })
}

/// One request over HTTP, on a connection of its own, with these fields besides.
#[track_caller]
pub fn post(url: &str, fields: &str, capabilities: &str, method: &str, mut params: Value) -> Value {
    let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap().to_owned();
    params["_meta"] = meta(capabilities);
    let mut raw = Raw::connect(url);
    let head = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\nConnection: close\r\n{fields}"
    );
    raw.post(&head, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string());
    let answer = raw.answer();
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
