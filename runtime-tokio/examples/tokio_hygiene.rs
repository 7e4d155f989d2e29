//! A server that faces the network: it answers for its own host, lets one web application in and tells its browser so,
//! bounds what clients can make it hold, and finishes what it has begun when it is told to stop.
//!
//! `cargo run --example tokio_hygiene`, then Ctrl-C while somebody counts:
//!
//! ```sh
//! curl -i http://127.0.0.1:8000/mcp -H 'Host: evil.example' -d '{}'             # 403
//! curl -i http://127.0.0.1:8000/mcp -X OPTIONS -H 'Origin: https://app.example' -H 'Access-Control-Request-Method: POST'
//! ```

use std::time::Duration;

use mcp_tokio::{Context, Cors, Error, Limits, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    /// How far.
    to: u32,
}

/// A counter.
pub fn server() -> Server {
    let mut limits = Limits::default();
    limits.message = 64 << 10;
    limits.sessions = 100;
    limits.head_time = Duration::from_secs(5);
    Server::new("counter", "1.0.0")
        .limits(limits)
        // As clients write it. Without this only loopback names are answered for, whatever the address.
        .allow_host("mcp.example.com")
        .allow_origin("https://app.example")
        .cors(Cors::new().max_age(Duration::from_secs(600)))
        .tool(
            Tool::new("count").description("Counts, ten a second"),
            async |Count { to }: Count, cx: Context| {
                for number in 1..=to {
                    cx.sleep(Duration::from_millis(100)).await;
                    cx.progress((f64::from(number), f64::from(to)));
                }
                Ok(format!("counted to {to}"))
            },
        )
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = server().bind_http("127.0.0.1:8000").await?;
    let stop = server.stop_handle();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            eprintln!("finishing what has begun, for ten seconds at the most");
            stop.drain(Duration::from_secs(10));
        }
    });
    server.serve().await
}
