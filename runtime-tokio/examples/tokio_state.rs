//! Servers behind one address that share their keys: what one asks a user, another may be told, because all that is
//! remembered meanwhile travels with the client, sealed. The handler makes its rounds itself (`InputRequired`);
//! `tokio_elicit` shows the shorter way.
//!
//! ```text
//! STATE_KEYS=$(openssl rand -hex 32) cargo run --example tokio_state -- 8001 8002
//! ```
//!
//! To replace a key, list the new one second everywhere, then first, and drop the old one after five minutes.

use std::num::ParseIntError;

use mcp_tokio::model::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ElicitationSchema,
    UntitledSingleSelectEnumSchema,
};
use mcp_tokio::{Context, InputRequired, Server, StateKey, Tool, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    /// Which pizza.
    pizza: String,
}

#[derive(serde::Deserialize)]
struct Choice {
    choice: String,
}

/// Runs once a round: asks for the size, then for the topping, and remembers the size while it does.
async fn order(Order { pizza }: Order, cx: Context) -> Result<String, ToolError> {
    let size = match (cx.request_state(), chosen(&cx, "size")) {
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) => {
            return Err(InputRequired::new().ask("size", form("Which size?", ["small", "large"])).into());
        }
    };
    match chosen(&cx, "topping") {
        Some(topping) => Ok(format!("a {size} {pizza} with {topping}")),
        None => {
            let topping = form("Which topping?", ["olives", "capers"]);
            Err(InputRequired::new().ask("topping", topping).state(size).into())
        }
    }
}

fn form(message: &str, choices: [&str; 2]) -> ElicitRequestParams {
    let choice = UntitledSingleSelectEnumSchema::new(choices.map(str::to_owned).to_vec());
    ElicitRequestFormParams::new(message, ElicitationSchema::new().required("choice", choice)).into()
}

/// What the user chose. What was asked by hand is checked by hand: an answer of another form is no answer.
fn chosen(cx: &Context, key: &str) -> Option<String> {
    let answer: ElicitResult = cx.input_response(key)?;
    Some(answer.content?.decode::<Choice>().ok()?.choice)
}

/// One of several that share these keys.
pub fn server(keys: Vec<StateKey>) -> Server {
    Server::new("pizzeria", "1.0.0")
        .state_keys(keys)
        .tool(Tool::new("order").description("Orders a pizza"), order)
}

/// Keys as 64 hexadecimal digits each, separated by commas.
pub fn keys(text: &str) -> Result<Vec<StateKey>, Box<dyn std::error::Error>> {
    let key = |digits: &str| -> Result<StateKey, Box<dyn std::error::Error>> {
        let byte = |at| u8::from_str_radix(digits.get(at..at + 2).unwrap_or_default(), 16);
        let bytes: Result<Vec<u8>, ParseIntError> = (0..digits.len()).step_by(2).map(byte).collect();
        Ok(StateKey::new(bytes?.try_into().map_err(|_| "a key has 64 digits")?))
    };
    text.split(',').map(|digits| key(digits.trim())).collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys = keys(&std::env::var("STATE_KEYS").map_err(|_| "STATE_KEYS is not set")?)?;
    let mut ports = std::env::args().skip(1);
    let (first, second) = (ports.next(), ports.next());
    let address =
        |port: Option<String>, other: &str| format!("127.0.0.1:{}", port.as_deref().unwrap_or(other));
    tokio::try_join!(
        server(keys.clone()).serve_http(address(first, "8001")),
        server(keys).serve_http(address(second, "8002")),
    )?;
    Ok(())
}
