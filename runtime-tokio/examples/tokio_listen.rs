//! A client that listens to a server that changes, in either era: that of `cargo run --example tokio_subscriptions`.
//!
//! `cargo run --example tokio_listen`, and `cargo run --example tokio_listen -- --legacy`

use mcp_tokio::{Calls, Change, Client, EraChoice, Error, Notice, SubscriptionFilter};

/// Tells what changes, until the server has nothing more to tell.
pub async fn listen(url: &str, era: EraChoice, mut tell: impl FnMut(String)) -> Result<(), Error> {
    let client = Client::builder("listener", "1.0.0").era(era).http(url).await?;
    let wanted = SubscriptionFilter::new()
        .tools_list_changed(true)
        .resource_subscriptions(vec!["kiln://temperature".to_owned()]);
    let subscription = client.listen(wanted).await?;
    tell("listening".to_owned());
    while let Some(notice) = subscription.next().await? {
        match notice {
            // A stream that broke is there again, and what happened meanwhile is not known.
            Notice::Changed(Change::Tools) | Notice::Missed => {
                let tools = client.list_tools().await?;
                tell(format!("the tools are {:?}", tools.iter().map(|tool| &tool.name).collect::<Vec<_>>()));
            }
            Notice::Changed(change) => tell(format!("{change:?} has changed")),
            _ => {}
        }
    }
    tell("the server has nothing more to tell".to_owned());
    client.close().await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let is_legacy = std::env::args().any(|argument| argument == "--legacy");
    let era = if is_legacy { EraChoice::Legacy } else { EraChoice::Auto };
    listen("http://127.0.0.1:8000/mcp", era, |line| println!("{line}")).await
}
