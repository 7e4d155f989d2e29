//! The fixture server on tokio: what measurements and black-box tests speak to.

use mcp_fixtures::{ServerOptions, Transport, server};
use mcp_tokio::{Error, Tokio};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = ServerOptions::from_args();
    let mut runtime = match options.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        threads => {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            runtime.worker_threads(threads);
            runtime
        }
    };
    Ok(runtime.enable_all().build()?.block_on(serve(&options))?)
}

async fn serve(options: &ServerOptions) -> Result<(), Error> {
    match options.transport {
        Transport::Stdio => server::<Tokio>(options).serve_stdio().await,
        Transport::Port(port) => {
            let server = server::<Tokio>(options).bind_http(format!("127.0.0.1:{port}")).await?;
            println!("listening on {}", server.url());
            server.serve().await
        }
    }
}
