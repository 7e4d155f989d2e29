//! Tools and a prompt that ask the client.

use mcp_driver::model::{
    CreateMessageRequestParams, ElicitRequestFormParams, ElicitationSchema, EnumOption,
    LegacyTitledEnumSchema, Role, SamplingContent, SamplingMessage, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use mcp_driver::{Context, Prompt, Runtime, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Nothing;

pub(super) fn with_asks<R: Runtime>(server: Server<R>) -> Server<R> {
    with_rounds(
        server
            .tool(tool("test_sampling", "Asks the model."), async |Ask { prompt }: Ask, cx: Context| {
                Ok(format!("LLM response: {}", sampled(&cx, "sample", &prompt).await?))
            })
            .tool(tool("test_elicitation", "Asks the user."), {
                async |Message { message }: Message, cx: Context| {
                    let user = cx.elicit::<User>("user", message).await?;
                    Ok(format!("User response: {}", serde_json::to_string(&user)?))
                }
            })
            .tool(tool("test_elicitation_sep1034_defaults", "Asks with defaults."), {
                async |_: Nothing, cx: Context| {
                    let filled = cx.elicit::<Defaults>("defaults", "Please review these values").await?;
                    Ok(format!("Elicitation completed: {}", serde_json::to_string(&filled)?))
                }
            })
            .tool(tool("test_elicitation_sep1330_enums", "Asks for choices."), {
                async |_: Nothing, cx: Context| {
                    let chosen = cx.elicit_form("choices", choices()).await?;
                    Ok(format!("Elicitation completed: {}", chosen.get()))
                }
            }),
    )
}

fn with_rounds<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .tool(tool("test_input_required_result_elicitation", "Asks for a name."), {
            async |_: Nothing, cx: Context| {
                Ok(format!("Hello, {}!", cx.elicit::<Name>("user_name", "What is your name?").await?.name))
            }
        })
        .tool(tool("test_input_required_result_sampling", "Asks the model."), {
            async |_: Nothing, cx: Context| {
                sampled(&cx, "capital_question", "What is the capital of France?").await
            }
        })
        .tool(tool("test_input_required_result_list_roots", "Asks for roots."), {
            async |_: Nothing, cx: Context| {
                Ok(format!("The client has {} roots.", cx.roots("client_roots").await?.len()))
            }
        })
        .tool(tool("test_input_required_result_request_state", "Remembers."), remember)
        .tool(tool("test_input_required_result_tampered_state", "Remembers."), remember)
        .tool(tool("test_input_required_result_multiple_inputs", "Asks thrice at once."), {
            async |_: Nothing, cx: Context| {
                cx.step("begun", || Ok(true)).await?;
                let asks = (
                    cx.elicit::<Name>("user_name", "What is your name?"),
                    cx.sample("greeting", question("Generate a greeting")),
                    cx.roots("client_roots"),
                );
                let (user, greeting, roots) = cx.all(asks).await?;
                let greeting = greeting.content.as_text().unwrap_or_default();
                Ok(format!("{greeting}, {}: {} roots", user.name, roots.len()))
            }
        })
        .tool(tool("test_input_required_result_multi_round", "Asks twice in a row."), {
            async |_: Nothing, cx: Context| {
                cx.step("begun", || Ok(true)).await?;
                let name = cx.elicit::<Name>("step1", "Step 1: What is your name?").await?.name;
                let colour =
                    cx.elicit::<Colour>("step2", "Step 2: What is your favorite color?").await?.color;
                Ok(format!("{name} likes {colour}."))
            }
        })
        .tool(tool("test_input_required_result_capabilities", "Asks whatever the client can do."), {
            async |_: Nothing, cx: Context| match cx.client().capabilities.sampling {
                Some(_) => sampled(&cx, "sample", "Say hello").await,
                None => Ok(cx.elicit::<Name>("user_name", "What is your name?").await?.name),
            }
        })
        .prompt(Prompt::new("test_input_required_result_prompt").description("Asks for its context."), {
            async |_: Nothing, cx: Context| {
                let context =
                    cx.elicit::<Topic>("user_context", "What context should the prompt use?").await?;
                Ok(format!("Use this context: {}", context.context))
            }
        })
}

async fn remember(_: Nothing, cx: Context) -> Result<&'static str, ToolError> {
    let seen = cx.step("seen", || Ok("state-ok".to_owned())).await?;
    let confirm = cx.elicit::<Confirm>("confirm", "Please confirm").await?;
    Ok(if confirm.ok && seen == "state-ok" { "state-ok" } else { "state-ok, but not confirmed" })
}

async fn sampled(cx: &Context, key: &str, text: &str) -> Result<String, ToolError> {
    Ok(cx.sample(key, question(text)).await?.content.as_text().unwrap_or("No text response").to_owned())
}

fn question(text: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, SamplingContent::text(text))], 100)
}

/// Each way to offer a choice.
fn choices() -> ElicitRequestFormParams {
    let options =
        || vec![EnumOption::new("value1", "First Option"), EnumOption::new("value2", "Second Option")];
    let values = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let plain = values(&["option1", "option2", "option3"]);
    let legacy =
        LegacyTitledEnumSchema::new(values(&["opt1", "opt2"]), values(&["Option One", "Option Two"]));
    let schema = ElicitationSchema::new()
        .optional("untitledSingle", UntitledSingleSelectEnumSchema::new(plain.clone()))
        .optional("titledSingle", TitledSingleSelectEnumSchema::new(options()))
        .optional("legacyEnum", legacy)
        .optional("untitledMulti", UntitledMultiSelectEnumSchema::new(plain))
        .optional("titledMulti", TitledMultiSelectEnumSchema::new(options()));
    ElicitRequestFormParams::new("Please choose", schema)
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// What to ask the model.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What to ask the user.
    message: String,
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Colour {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    context: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    ok: bool,
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(default)]
struct Defaults {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { name: "John Doe".into(), age: 30, score: 95.5, status: Status::Active, verified: true }
    }
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

fn tool(name: &str, description: &str) -> Tool {
    Tool::new(name).description(description)
}
