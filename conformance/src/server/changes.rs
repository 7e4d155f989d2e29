//! Tools that change the server while it serves, for whoever listens.

use mcp_driver::{Context, Prompt, Runtime, Server};

use super::{Nothing, tool};

pub(super) fn with_changes<R: Runtime>(server: Server<R>) -> Server<R> {
    let (tools, prompts) = (server.registry(), server.registry());
    server
        .tool(
            tool("test_trigger_tool_change", "Changes the list of tools."),
            move |_: Nothing, _: Context| {
                tools.change(|offer| {
                    offer.remove_tool("test_changed_tool");
                    offer.tool(tool("test_changed_tool", "Came later."), async |_: Nothing, _: Context| {
                        Ok("later")
                    });
                })?;
                Ok("changed")
            },
        )
        .tool(tool("test_trigger_prompt_change", "Changes the list of prompts."), {
            move |_: Nothing, _: Context| {
                prompts.change(|offer| {
                    offer.remove_prompt("test_changed_prompt");
                    let prompt = Prompt::new("test_changed_prompt").description("Came later.");
                    offer.prompt(prompt, async |_: Nothing, _: Context| Ok("later"));
                })?;
                Ok("changed")
            }
        })
}
