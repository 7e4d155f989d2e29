//! Tools whose calls go on as tasks.

use std::time::Duration;

use mcp_driver::model::TaskSupport;
use mcp_driver::{Context, Runtime, Server, TaskOptions, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Nothing, tool};

pub(super) fn with_tasks<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .tool(tool("greet", "Greets, at once."), async |Greet { name }: Greet, _: Context| {
            Ok(format!("Hello, {name}!"))
        })
        .tool(as_task("slow_compute", "Takes its time.", TaskSupport::Optional), slow_compute)
        .tool(as_task("failing_job", "Fails, in a task.", TaskSupport::Required), {
            async |_: Nothing, cx: Context| {
                cx.continue_as_task(options()).await?;
                cx.sleep(PAUSE).await;
                Err::<(), _>(ToolError::new("the job fails, as it is asked to"))
            }
        })
        .tool(as_task("protocol_error_job", "Breaks, in a task.", TaskSupport::Required), {
            async |_: Nothing, cx: Context| {
                cx.continue_as_task(options()).await?;
                Err::<(), _>(ToolError::internal("the job breaks, as it is asked to"))
            }
        })
        .tool(as_task("confirm_delete", "Asks, in a task.", TaskSupport::Optional), {
            async |Delete { filename }: Delete, cx: Context| {
                cx.continue_as_task(options()).await?;
                let answer = cx.elicit::<Confirm>("confirm", format!("Delete {filename}?")).await?;
                Ok(if answer.confirm { format!("deleted {filename}") } else { "nothing deleted".to_owned() })
            }
        })
        .tool(as_task("multi_input", "Asks twice at once, in a task.", TaskSupport::Optional), {
            async |_: Nothing, cx: Context| {
                cx.continue_as_task(options()).await?;
                let asks = (
                    cx.elicit::<Name>("name", "What is your name?"),
                    cx.elicit::<Confirm>("confirm", "Are you sure?"),
                );
                let (Name { name }, Confirm { confirm }) = cx.all(asks).await?;
                Ok(format!("{name}: {confirm}"))
            }
        })
        .tool(as_task("test_tool_with_task", "Asks, and goes on as a task.", TaskSupport::Required), {
            async |_: Nothing, cx: Context| {
                let Name { name } = cx.elicit::<Name>("user_name", "What is your name?").await?;
                cx.continue_as_task(options()).await?;
                cx.sleep(PAUSE).await;
                Ok(format!("Hello, {name}!"))
            }
        })
}

async fn slow_compute(Compute { seconds, label }: Compute, cx: Context) -> Result<String, ToolError> {
    cx.continue_as_task(options()).await?;
    cx.status_message("computing");
    cx.sleep(Duration::from_secs(seconds)).await;
    Ok(format!("{} after {seconds} s", label.unwrap_or_else(|| "done".to_owned())))
}

const PAUSE: Duration = Duration::from_millis(200);

fn options() -> TaskOptions {
    TaskOptions::new().ttl(Duration::from_secs(300)).poll_interval(Duration::from_millis(200))
}

fn as_task(name: &str, description: &str, support: TaskSupport) -> Tool {
    tool(name, description).task_support(support)
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    seconds: u64,
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}
