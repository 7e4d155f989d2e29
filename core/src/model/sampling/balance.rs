//! Whether the uses of tools in a conversation and their results belong together.

use super::CreateMessageRequestParams;
use super::message::{SamplingMessage, SamplingMessageContentBlock as Block};
use crate::model::annotations::Role;
use alloc::vec::Vec;

impl CreateMessageRequestParams {
    /// Whether each use of a tool is answered in the next message, and nothing else is (SAMP-11 to SAMP-14).
    ///
    /// # Errors
    /// What is wrong, for people.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#message-content-constraints>
    pub fn check(&self) -> Result<(), &'static str> {
        let mut open: Vec<&str> = Vec::new();
        for message in &self.messages {
            open = follow(message, &open)?;
        }
        if open.is_empty() { Ok(()) } else { Err("a use of a tool has no result in the next message") }
    }
}

/// The uses that `message` leaves open, after `open` were.
fn follow<'a>(message: &'a SamplingMessage, open: &[&str]) -> Result<Vec<&'a str>, &'static str> {
    let blocks = message.content.blocks();
    let results: Vec<&str> = blocks
        .iter()
        .filter_map(|block| if let Block::ToolResult(it) = block { Some(&*it.tool_use_id) } else { None })
        .collect();
    let uses: Vec<&str> = blocks
        .iter()
        .filter_map(|block| if let Block::ToolUse(it) = block { Some(&*it.id) } else { None })
        .collect();
    if !results.is_empty() && (message.role != Role::User || results.len() != blocks.len()) {
        return Err("results of tools must be alone in a message of the user");
    }
    if !uses.is_empty() && message.role != Role::Assistant {
        return Err("only the assistant uses tools");
    }
    if !results.iter().all(|result| open.contains(result)) {
        return Err("a result of a tool belongs to no use of it in the message before");
    }
    if !open.iter().all(|open| results.contains(open)) {
        return Err("a use of a tool has no result in the next message");
    }
    Ok(uses)
}

#[cfg(test)]
mod tests {
    use super::super::message::{SamplingContent, ToolResultContent, ToolUseContent};
    use super::*;
    use crate::model::content::TextContent;
    use crate::model::json::Json;
    use alloc::boxed::Box;
    use alloc::vec;

    fn text() -> Block {
        Block::Text(TextContent::new("t"))
    }

    fn uses(id: &str) -> Block {
        Block::ToolUse(ToolUseContent::new(id, "t", Json::empty_object()))
    }

    fn result(id: &str) -> Block {
        Block::ToolResult(Box::new(ToolResultContent::new(id, Vec::new())))
    }

    fn check(messages: Vec<(Role, Vec<Block>)>) -> Result<(), &'static str> {
        let message = |(role, blocks)| SamplingMessage::new(role, SamplingContent::Array(blocks));
        CreateMessageRequestParams::new(messages.into_iter().map(message).collect(), 1).check()
    }

    /// SAMP-11, SAMP-12, SAMP-13, SAMP-14
    #[test]
    fn uses_of_tools_and_their_results_belong_together() {
        use Role::{Assistant, User};
        let used = || (Assistant, vec![text(), uses("a"), uses("b")]);
        let unanswered = Err("a use of a tool has no result in the next message");
        let alone = Err("results of tools must be alone in a message of the user");
        let stray = Err("a result of a tool belongs to no use of it in the message before");
        for (messages, expected) in [
            (vec![], Ok(())),
            (vec![(User, vec![text()]), used(), (User, vec![result("b"), result("a")])], Ok(())),
            (vec![used()], unanswered),
            (vec![used(), (User, vec![result("a")])], unanswered),
            (vec![used(), (User, vec![text()])], unanswered),
            (vec![used(), (User, vec![result("a"), result("b"), text()])], alone),
            (vec![used(), (Assistant, vec![result("a"), result("b")])], alone),
            (vec![used(), (User, vec![result("a"), result("b"), result("c")])], stray),
            (vec![(User, vec![result("a")])], stray),
            (vec![(User, vec![uses("a")])], Err("only the assistant uses tools")),
        ] {
            assert_eq!(check(messages.clone()), expected, "{messages:?}");
        }
    }
}
