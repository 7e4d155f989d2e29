//! A server on tokio whose tool asks the user in the middle of a call. The same handler serves clients of the
//! handshake era, which are sent requests and answer them, and modern ones, which are told what is asked and come
//! back with the answers. Try it with `--stdio`, or with `--port 8000`.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_fixtures::{ServerOptions, Transport, prepare};
use mcp_tokio::{Context, Error, Server, Tool, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Book {
    /// Which train?
    train: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Seat {
    /// Number of the seat, such as 12A.
    seat: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Confirm {
    /// Whether to book it.
    really: bool,
}

/// Seats that were held so far.
static HELD: AtomicU32 = AtomicU32::new(0);

fn hold(seat: &str) -> String {
    format!("hold {} of {seat}", HELD.fetch_add(1, Ordering::Relaxed) + 1)
}

async fn book(Book { train }: Book, cx: Context) -> Result<String, ToolError> {
    let Seat { seat } = cx.elicit::<Seat>("seat", format!("Which seat on {train}?")).await?;
    // However often the client has to come back, the seat is held once.
    let held = cx.step("hold", || Ok(hold(&seat))).await?;
    let Confirm { really } = cx.elicit::<Confirm>("confirm", format!("Book {held}?")).await?;
    Ok(if really { format!("booked {held}") } else { format!("let go of {held}") })
}

fn server(options: &ServerOptions) -> Server {
    prepare(options).tool(Tool::new("book").describe("Books a seat; asks which one."), book)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let options = ServerOptions::from_args();
    match options.transport {
        Transport::Stdio => server(&options).serve_stdio().await,
        Transport::Port(port) => {
            let server = server(&options).bind_http(format!("127.0.0.1:{port}")).await?;
            println!("listening on {}", server.url());
            server.serve().await
        }
    }
}
