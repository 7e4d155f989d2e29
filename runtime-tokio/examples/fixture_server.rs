//! The fixture server on tokio: what measurements and black-box tests speak to.

use mcp_fixtures::{ServerOptions, Transport, server};
use mcp_tokio::{Error, Tokio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let options = ServerOptions::from_args();
    match options.transport {
        Transport::Stdio => server::<Tokio>(&options).serve_stdio().await,
        Transport::Port(port) => {
            let server = server::<Tokio>(&options).bind_http(format!("127.0.0.1:{port}")).await?;
            println!("listening on {}", server.url());
            server.serve().await
        }
    }
}
