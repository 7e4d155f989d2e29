//! A server that asks its user in the middle of a call: clients of the legacy era by requests, clients of
//! 2026-07-28 by results that they come back from. The handler does not know which it is.
//!
//! `cargo run --example tokio_elicit -- --stdio`, or `-- --port 8000`; `blocking_elicit` is the same without async.

use mcp_tokio::{Context, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Book {
    /// Where to.
    destination: String,
}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    /// Window or aisle?
    place: Place,
    /// How many bags?
    #[serde(default)]
    #[schemars(range(max = 3))]
    bags: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Place {
    Window,
    Aisle,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    /// Book it?
    really: bool,
}

async fn book(Book { destination }: Book, cx: Context) -> Result<String, ToolError> {
    let seat = cx.elicit::<Seat>("seat", "Which seat?").await?;
    // Done once, however often the handler runs.
    let number = cx.step("hold", async || hold(&seat).await).await?;
    let message = format!("Book seat {number} to {destination}?");
    Ok(match cx.elicit::<Confirm>("confirm", message).optional().await? {
        Some(Confirm { really: true }) => format!("Booked seat {number} to {destination}."),
        _ => "Nothing was booked.".to_owned(),
    })
}

/// Stands for an inventory.
async fn hold(seat: &Seat) -> Result<String, ToolError> {
    eprintln!("holding a seat, {:?}, {} bags", seat.place, seat.bags);
    Ok(match seat.place {
        Place::Window => "12A".to_owned(),
        Place::Aisle => "12C".to_owned(),
    })
}

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    let tool = Tool::new("book").description("Books a seat, and asks which");
    let server = Server::new("travel", "1.0.0").tool(tool, book);
    match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [flag] if flag == "--stdio" => server.serve_stdio().await,
        [flag, port] if flag == "--port" => {
            let server = server.bind_http(format!("127.0.0.1:{port}")).await?;
            println!("listening on {}", server.url());
            server.serve().await
        }
        _ => {
            eprintln!("usage: tokio_elicit --stdio | --port PORT");
            std::process::exit(2);
        }
    }
}
