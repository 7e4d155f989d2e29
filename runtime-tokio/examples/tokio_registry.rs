//! A server that changes while it serves, and that is not the same for everybody: a shop whose keeper opens and
//! closes it. Customers see no tools but those for them, and hear when these change.
//!
//! Over stdio, so that a client has to start it, such as the tour:
//!
//! ```text
//! cargo run --example tour -- --trace --spawn cargo run --example tokio_registry
//! cargo run --example tour -- --trace --spawn cargo run --example tokio_registry -- --keeper
//! ```

use mcp_tokio::{
    Bus, Change, ChangeListener, Context, Item, LocalBus, Principal, Server, Tool, ToolError, Viewer,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Buy {
    /// What.
    article: String,
}

/// Where changes pass by on their way to whoever is to hear of them. With a message broker in the place of
/// `LocalBus`, the clients of every replica would.
#[derive(Default)]
pub struct Told(LocalBus);

impl Bus for Told {
    fn publish(&self, change: &Change) {
        eprintln!("changed: {change:?}");
        self.0.publish(change);
    }

    fn subscribe(&self, listener: ChangeListener) {
        self.0.subscribe(listener);
    }
}

/// The one rule for lists, calls and notifications alike.
fn is_there(viewer: &Viewer, item: Item<'_>) -> bool {
    !item.name().starts_with("keeper_") || viewer.has_scope("keep")
}

/// The shop, for whoever it is.
pub fn server(bus: impl Bus + 'static, who: Principal) -> Server {
    let server = Server::new("shop", "1.0.0").bus(bus).visible(is_there).principal(who);
    let (opening, closing) = (server.registry(), server.registry());
    server
        .tool(Tool::new("keeper_open").description("Opens the shop"), move |_: Nothing, _: Context| {
            // All of it at once: nobody sees a shop that is half open.
            opening.change(|offer| {
                offer.remove_tool("buy");
                offer.tool(
                    Tool::new("buy").description("Buys something"),
                    async |Buy { article }: Buy, _: Context| Ok(format!("{article}, wrapped up")),
                );
            })?;
            Ok("open")
        })
        .tool(Tool::new("keeper_close").description("Closes the shop"), move |_: Nothing, _: Context| {
            closing.change(|offer| offer.remove_tool("buy"))?;
            Ok::<_, ToolError>("closed")
        })
}

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    let is_keeper = std::env::args().any(|argument| argument == "--keeper");
    // On stdio, whoever started the server is its client.
    let who = if is_keeper { Principal::new("kay").scopes(["keep"]) } else { Principal::new("cleo") };
    server(Told::default(), who).serve_stdio().await
}
