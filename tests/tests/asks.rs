//! Handlers that run again, as properties: however the rounds of asking them are cut, they come to the same,
//! and no state but one that was given is taken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_driver::model::{ElicitRequestFormParams, ElicitationSchema, NumberSchema};
use mcp_driver::{Context, Server, Tool, ToolError, Unanswered};
use mcp_tests::scenarios::asks::{ALL, Peer, accept};
use mcp_tests::{Kit, OnTokio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One thing that a handler does.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum Op {
    Ask(u8),
    /// Asks and takes a refusal for an answer.
    Optional(u8),
    /// Asks, and goes on whatever comes of it.
    Careless(u8),
    All(Vec<u8>),
    Step(u8),
    /// Leaves out so many of the rest if the answer is odd.
    Branch(u8, usize),
}

#[derive(Deserialize, JsonSchema)]
struct Program {
    call: u64,
    ops: Vec<Op>,
}

/// How often each step of each call was done.
type Done = Arc<Mutex<BTreeMap<(u64, u8), u32>>>;

#[derive(Deserialize)]
struct Number {
    number: u32,
}

fn form(key: u8) -> ElicitRequestFormParams {
    let schema = ElicitationSchema::new().required("number", NumberSchema::integer());
    ElicitRequestFormParams::new(format!("q{key}"), schema)
}

fn number(json: &mcp_driver::Json) -> u32 {
    json.decode::<Number>().unwrap().number
}

async fn interpret(program: Program, cx: &Context, done: &Done) -> Result<String, ToolError> {
    let ask = |key: u8| cx.elicit_form(format!("q{key}"), form(key));
    let (mut said, mut place) = (String::new(), 0);
    while let Some(op) = program.ops.get(place) {
        place += 1;
        match op {
            Op::Ask(key) => said += &format!("{} ", number(&ask(*key).await?)),
            Op::Optional(key) => match ask(*key).optional().await? {
                Some(answer) => said += &format!("{} ", number(&answer)),
                None => said += "- ",
            },
            Op::Careless(key) => match ask(*key).await {
                Ok(answer) => said += &format!("{} ", number(&answer)),
                Err(Unanswered::Declined) => said += "no ",
                Err(_) => said += "? ",
            },
            Op::All(keys) => {
                let answers = cx.all(keys.iter().map(|key| ask(*key).optional()).collect::<Vec<_>>()).await?;
                for answer in answers {
                    said += &answer.map_or("- ".to_owned(), |answer| format!("{} ", number(&answer)));
                }
            }
            Op::Step(key) => {
                let step = cx.step(format!("s{key}"), async || {
                    let mut done = done.lock().unwrap();
                    *done.entry((program.call, *key)).or_default() += 1;
                    Ok(format!("s{key}"))
                });
                said += &format!("{} ", step.await?);
            }
            Op::Branch(key, skip) => {
                if number(&ask(*key).await?) % 2 == 1 {
                    place += skip;
                }
            }
        }
    }
    Ok(said)
}

fn server(done: &Done) -> Server<<OnTokio as Kit>::Runtime> {
    let done = done.clone();
    Server::new("interpreter", "1").on_error(|report| panic!("{report}")).tool(
        Tool::new("run"),
        move |program: Program, cx: Context| {
            let done = done.clone();
            async move { interpret(program, &cx, &done).await }
        },
    )
}

/// Chance that anybody can have again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }

    fn key(&mut self) -> u8 {
        self.below(6) as u8
    }

    fn program(&mut self) -> Vec<Op> {
        (0..1 + self.below(8))
            .map(|_| match self.below(8) {
                0 | 1 => Op::Ask(self.key()),
                2 => Op::Optional(self.key()),
                3 => Op::Careless(self.key()),
                4 => Op::All((0..self.below(4)).map(|_| self.key()).collect()),
                5 | 6 => Op::Step(self.key()),
                _ => Op::Branch(self.key(), self.below(3) as usize),
            })
            .collect()
    }
}

/// What the user of program `seed` answers. Key 5 is declined.
fn answer(seed: u64, key: &str) -> Option<Value> {
    let key: u64 = key[1..].parse().unwrap();
    if key == 5 {
        return Some(json!({ "action": "decline" }));
    }
    accept(json!({ "number": seed.wrapping_mul(31).wrapping_add(key * 7) % 100 }))
}

fn run(peer: &mut Peer, call: u64, ops: &[Op], answer: impl FnMut(&str, &Value) -> Option<Value>) -> Value {
    let response = peer.call("run", json!({ "call": call, "ops": ops }), answer).response;
    response["result"]["content"][0]["text"].clone()
}

/// MRTR-19, MRTR-32: the outcome is that of a handler that asks and waits, and each step is done once, whichever
/// of what is asked a client answers in which round, and whatever else it brings.
#[test]
fn however_the_rounds_are_cut_a_handler_comes_to_the_same() {
    let _entered = OnTokio::enter();
    let done = Done::default();
    let mut legacy = Peer::connect::<OnTokio>(server(&done), Some("2025-11-25"), ALL);
    let mut modern = Peer::connect::<OnTokio>(server(&done), None, ALL);
    let mut rounds = 0;
    for seed in 1..=300 {
        let mut chance = Chance(seed * 0x9e37_79b9);
        let ops = chance.program();
        let waited = run(&mut legacy, 1_000 + seed, &ops, |key, _| answer(seed, key));
        let mut cut = Chance(seed + 7);
        let again = run(&mut modern, 2_000 + seed, &ops, |key, _| {
            rounds += 1;
            match cut.below(4) {
                0 => None,
                1 => Some(json!({ "action": "accept", "content": { "number": "wrong" } })),
                _ => answer(seed, key),
            }
        });
        assert_eq!(waited, again, "seed {seed}: {ops:?}");
        let done = std::mem::take(&mut *done.lock().unwrap());
        assert!(done.values().all(|times| *times == 1), "seed {seed}: {ops:?}: {done:?}");
        let steps = |call: u64| done.keys().filter(|(of, _)| *of == call).count();
        assert_eq!(steps(1_000 + seed), steps(2_000 + seed), "seed {seed}: {ops:?}");
    }
    assert!(rounds > 500, "{rounds} questions are too few to mean anything");
}

/// MRTR-12: altering any byte of a state, leaving some out or adding some, is refused.
#[test]
fn every_altered_state_is_refused() {
    let _entered = OnTokio::enter();
    let done = Done::default();
    let quiet = server(&done).on_error(|_| {});
    let mut peer = Peer::connect::<OnTokio>(quiet, None, ALL);
    let programs =
        [vec![Op::Step(1), Op::Ask(1)], vec![Op::Ask(1), Op::Ask(2), Op::Step(3), Op::Step(4), Op::Ask(3)]];
    for (seed, ops) in programs.iter().enumerate() {
        let arguments = json!({ "call": seed, "ops": ops });
        let outcome = peer.call("run", arguments.clone(), |key, _| answer(1, key));
        let state = outcome.state.clone().expect("there is something to remember");
        let mut try_with = |state: &str| {
            let params = json!({ "name": "run", "arguments": arguments, "requestState": state });
            peer.complete("tools/call", params, |key, _| answer(1, key)).response
        };
        assert_eq!(try_with(&state)["result"], outcome.response["result"], "as it was given, it is taken");
        let mut altered: Vec<String> = (0..state.len())
            .flat_map(|place| {
                let (before, after) = (&state[..place], &state[place + 1..]);
                let other = |byte: u8| if state.as_bytes()[place] == byte { 'B' } else { char::from(byte) };
                [
                    format!("{before}{}{after}", other(b'A')),
                    format!("{before}{}{after}", other(b'~')),
                    format!("{before}{after}"),
                ]
            })
            .collect();
        altered.extend([state.clone() + "A", state.clone() + "=", format!(" {state}"), state.repeat(2)]);
        for state in altered.iter().filter(|altered| **altered != state) {
            let response = try_with(state);
            let expected = json!({ "code": -32602, "message": "requestState is not valid" });
            assert_eq!(response["error"], expected, "{state}");
        }
    }
    assert!(done.lock().unwrap().values().all(|times| *times == 1));
}
