//! Telling a client that what its user was sent to a page for is done.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Context;

/// Tells the client with this session that the elicitation of this id is complete. Holds on to neither: once they are
/// gone, nothing happens.
pub(crate) type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// An elicitation by URL, for whoever knows when it is complete; see [`Context::elicitation`].
///
/// Clones speak for the same elicitation.
#[derive(Clone)]
pub struct ElicitationHandle(Arc<Elicitation>);

struct Elicitation {
    id: String,
    tell: Option<Tell>,
    complete: AtomicBool,
}

impl ElicitationHandle {
    /// The id of the elicitation.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// What the user was sent to the page for is done: the client may try again, or stop waiting. Nothing happens the
    /// second time.
    ///
    /// It says nothing of who visited the page: that it was who was asked is for the page to make sure of (ELIC-48).
    pub fn complete(&self) {
        let Elicitation { id, tell, complete } = &*self.0;
        if let Some(tell) = tell
            && !complete.swap(true, Ordering::AcqRel)
        {
            tell(id);
        }
    }
}

impl fmt::Debug for ElicitationHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitationHandle").field("id", &self.0.id).finish_non_exhaustive()
    }
}

impl Context {
    /// A handle to tell this client, and no other, that the elicitation by URL with this id is complete. It outlives the
    /// call: what the client is told goes on the stream of the call while there is one, and after it on the one
    /// that the client listens on, or will.
    ///
    /// `id` is what the elicitation is asked under, by [`elicitation_id`](crate::Ask::elicitation_id) or in
    /// [`ToolError::url_elicitation_required`](crate::ToolError::url_elicitation_required), and unique for this server.
    /// Make the handle before: users may be quicker than their clients. Of an elicitation that it was not asked for a
    /// client takes no notice (ELIC-23).
    ///
    /// Only revision 2025-11-25 has this. To clients of all others nothing is said, so that handlers need not look: in
    /// the modern era a client comes back by itself. Nor is anything said once the session, or the connection on a
    /// byte stream, is over, or to a session that has moved to another process.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// # use std::sync::{Arc, Mutex};
    /// # use mcp_driver::{Context, ElicitationHandle, Runtime, Server, Tool, ToolError};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Pay { order: String }
    /// type Orders = Arc<Mutex<BTreeMap<String, ElicitationHandle>>>;
    ///
    /// async fn pay(orders: Orders, Pay { order }: Pay, cx: Context) -> Result<&'static str, ToolError> {
    ///     orders.lock().unwrap().insert(order.clone(), cx.elicitation(&*order));
    ///     let page = format!("https://shop.example/pay/{order}");
    ///     cx.elicit_url("pay", "Pay for your order", page).elicitation_id(order).await?;
    ///     Ok("the order is sent once it is paid")
    /// }
    ///
    /// /// The web server calls this when somebody has paid, and it is who ordered.
    /// fn paid(orders: &Orders, order: &str) {
    ///     if let Some(elicitation) = orders.lock().unwrap().remove(order) {
    ///         elicitation.complete();
    ///     }
    /// }
    /// # fn server<R: Runtime>(server: Server<R>, orders: Orders) -> Server<R> {
    /// #     server.tool(Tool::new("pay"), move |it: Pay, cx: Context| pay(orders.clone(), it, cx))
    /// # }
    /// ```
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation>
    pub fn elicitation(&self, id: impl Into<String>) -> ElicitationHandle {
        let named = self.revision().dialect().elicitation_id;
        let tell = named.then(|| self.shared.outlet.completes_elicitations(self.shared.id));
        let (id, complete) = (id.into(), AtomicBool::new(false));
        ElicitationHandle(Arc::new(Elicitation { id, tell, complete }))
    }
}
