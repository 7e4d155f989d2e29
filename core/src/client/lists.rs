//! The lists of a server, a page at a time. To read all pages see [`Pages`](super::Pages).

use super::call::Call;
use super::reply::RawReply;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::prompts::ListPromptsResult;
use crate::model::resources::{ListResourceTemplatesResult, ListResourcesResult};
use crate::model::tasks::ListTasksResult;
use crate::model::tools::ListToolsResult;
use crate::wire::jsonrpc::write_json;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

macro_rules! list {
    ($(#[$docs:meta])* $name:ident, $method:literal, $page:ident, $read:expr) => {
        $(#[$docs])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            cursor: Option<String>,
        }

        impl $name {
            /// The first page.
            pub fn new() -> Self {
                Self::default()
            }

            /// The page that the `next_cursor` of an earlier one stands for, passed on untouched (PAGE-01).
            pub fn after(cursor: impl Into<String>) -> Self {
                Self { cursor: Some(cursor.into()) }
            }
        }

        impl Call for $name {
            type Reply = $page;

            fn method(&self) -> &str {
                $method
            }

            fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
                write_cursor(self.cursor.as_deref(), out)
            }

            fn read(reply: RawReply<'_>) -> Result<$page, CallError> {
                $read(reply)
            }

            fn is_repeatable(&self) -> bool {
                true
            }

            fn is_of_session(&self) -> bool {
                self.cursor.is_some()
            }
        }
    };
}

list! {
    /// `tools/list`: one page of the server's tools.
    ///
    /// Over modern HTTP, tools with bad `x-mcp-header` annotations are left out of the reply and reported
    /// (HDR-26 to HDR-28). To read all pages see [`Pages`](super::Pages).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools>
    ListTools, "tools/list", ListToolsResult, sifted
}

list! {
    /// `prompts/list`: one page of the server's prompts. To read all pages see [`Pages`](super::Pages).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#listing-prompts>
    ListPrompts, "prompts/list", ListPromptsResult, |reply: RawReply<'_>| reply.decode()
}

list! {
    /// `resources/list`: one page of the server's resources. To read all pages see [`Pages`](super::Pages).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources>
    ListResources, "resources/list", ListResourcesResult, |reply: RawReply<'_>| reply.decode()
}

list! {
    /// `resources/templates/list`: one page of the server's resource templates. To read all pages see
    /// [`Pages`](super::Pages).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates>
    ListResourceTemplates, "resources/templates/list", ListResourceTemplatesResult,
    |reply: RawReply<'_>| reply.decode()
}

list! {
    /// `tasks/list`: one page of the tasks that the server has for this client; 2025-11-25 only.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#listing-tasks>
    ListTasks, "tasks/list", ListTasksResult, |reply: RawReply<'_>| reply.decode()
}

fn sifted(mut reply: RawReply<'_>) -> Result<ListToolsResult, CallError> {
    let mut page: ListToolsResult = reply.decode()?;
    reply.sift_tools(&mut page.tools);
    Ok(page)
}

fn write_cursor(cursor: Option<&str>, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<&'a str>,
    }
    write_json(out, &Params { cursor })
}
