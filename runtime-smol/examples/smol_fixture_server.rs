//! The fixture server on smol: what measurements and black-box tests speak to.

use mcp_fixtures::{ServerOptions, Transport, server};
use mcp_smol::{Error, Smol};

fn main() -> Result<(), Error> {
    let options = ServerOptions::from_args();
    smol::block_on(async {
        match options.transport {
            Transport::Stdio => server::<Smol>(&options).serve_stdio().await,
            Transport::Port(port) => {
                let server = server::<Smol>(&options).bind_http(format!("127.0.0.1:{port}")).await?;
                println!("listening on {}", server.url());
                server.serve().await
            }
        }
    })
}
