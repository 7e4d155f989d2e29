//! A server whose handlers ask.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use mcp_driver::model::{
    self, ContentBlock, CreateMessageRequestParams, ElicitAction, ElicitRequestFormParams,
    ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, ElicitationSchema, Json, Role,
    SamplingContent, SamplingMessage, SamplingMessageContentBlock as Block, StringSchema, ToolChoice,
    ToolChoiceMode, ToolResultContent,
};
use mcp_driver::{
    AskError, Context, InputRequired, Prompt, Resource, Runtime, Server, Tool, ToolError, Unanswered,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::Gate;

#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    /// Which seat?
    #[schemars(length(min = 2))]
    seat: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    really: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    number: u32,
}

/// A rule that no form can say.
fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    if number % 2 == 0 { Ok(number) } else { Err(serde::de::Error::custom("odd")) }
}

fn prompt() -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(
        vec![SamplingMessage::new(Role::User, SamplingContent::text("Say it"))],
        9,
    )
}

fn form(message: &str) -> ElicitRequestFormParams {
    ElicitRequestFormParams::new(message, ElicitationSchema::new().required("name", StringSchema::new()))
}

fn question(message: &str) -> ElicitRequestParams {
    form(message).into()
}

/// A server whose handlers ask. `holds` counts how often a step is done.
pub fn server<R: Runtime>(holds: &Arc<AtomicUsize>) -> Server<R> {
    let (held, blocking) = (holds.clone(), holds.clone());
    let server = Server::new("asking", "1")
        .tool(Tool::new("book"), move |_: Nothing, cx: Context| {
            let held = held.clone();
            async move {
                let seat = cx.elicit::<Seat>("seat", "seat").await?.seat;
                let hold = cx.step("hold", async || Ok(held.fetch_add(1, Ordering::SeqCst))).await?;
                let confirm = cx.elicit::<Confirm>("confirm", "confirm").await?;
                Ok(format!("{seat} {hold} {}", confirm.really))
            }
        })
        .tool(Tool::new("book_blocking"), move |_: Nothing, cx: Context| {
            let seat = cx.elicit::<Seat>("seat", "seat").wait()?.seat;
            let hold = cx.step("hold", || Ok(blocking.fetch_add(1, Ordering::SeqCst))).wait()?;
            let confirm = cx.elicit::<Confirm>("confirm", "confirm").wait()?;
            Ok(format!("{seat} {hold} {}", confirm.really))
        });
    asking(resourceful(withdrawing(manual(server))), holds)
}

fn asking<R: Runtime>(server: Server<R>, holds: &Arc<AtomicUsize>) -> Server<R> {
    let (held, paid) = (holds.clone(), holds.clone());
    server
        .tool(Tool::new("maybe"), async |_: Nothing, cx: Context| {
            let seat = cx.elicit::<Seat>("seat", "seat").optional().await?;
            Ok(seat.map_or("standing".to_owned(), |seat| seat.seat))
        })
        .tool(Tool::new("several"), async |_: Nothing, cx: Context| {
            let asks = (cx.elicit_form("who", form("who")), cx.sample("say", prompt()), cx.roots("dirs"));
            let (who, said, roots) = cx.all(asks).await?;
            Ok(format!(
                "{} {} {}",
                who.get(),
                serde_json::to_string(&roots[0].uri)?,
                said.content.as_text().unwrap_or("?")
            ))
        })
        .tool(Tool::new("steadily"), async |_: Nothing, cx: Context| {
            cx.progress((1.0, 2.0));
            let seat = cx.elicit::<Seat>("seat", "seat").await?.seat;
            cx.progress((2.0, 2.0));
            Ok(seat)
        })
        .tool(Tool::new("twice"), async |_: Nothing, cx: Context| {
            let first = cx.elicit::<Seat>("seat", "seat").await?.seat;
            Ok(first + &cx.elicit::<Seat>("seat", "seat").await?.seat)
        })
        .tool(Tool::new("confused"), async |_: Nothing, cx: Context| {
            cx.elicit::<Seat>("seat", "seat").await?;
            cx.elicit::<Confirm>("seat", "confirm").await?;
            Ok("never")
        })
        .tool(Tool::new("picky"), async |_: Nothing, cx: Context| {
            Ok(cx.elicit::<Even>("number", "number").await?.number)
        })
        .tool(Tool::new("stubborn"), move |_: Nothing, cx: Context| {
            let held = held.clone();
            async move {
                // Ignores that it is to leave.
                let seat = cx.elicit::<Seat>("seat", "seat").await.map_or("none".into(), |seat| seat.seat);
                let hold = cx.step("hold", async || Ok(held.fetch_add(1, Ordering::SeqCst))).await;
                Ok(format!("{seat} {}", hold.unwrap_or(99)))
            }
        })
        .tool(Tool::new("page"), async |_: Nothing, cx: Context| {
            cx.elicit_url("pay", "pay", "https://example.com/pay").await?;
            Ok("on the way")
        })
        .tool(Tool::new("deposit"), move |_: Nothing, cx: Context| {
            let paid = paid.clone();
            async move {
                // Which order it is the state says, and whether it is paid the page: consent says neither.
                if cx.request_state().is_some_and(|order| order == "order-1")
                    && paid.load(Ordering::SeqCst) > 0
                {
                    return Ok("paid");
                }
                let page = ElicitRequestUrlParams::new("pay", "https://example.com/pay/order-1");
                Err(InputRequired::new().ask("pay", ElicitRequestParams::from(page)).state("order-1").into())
            }
        })
        .tool(Tool::new("clock"), async |_: Nothing, cx: Context| {
            let mut messages =
                vec![SamplingMessage::new(Role::User, SamplingContent::text("What time is it?"))];
            let clock = model::Tool::new("now", Json::parse(r#"{"type":"object"}"#)?);
            let ask = |messages: &[SamplingMessage], mode| {
                CreateMessageRequestParams::new(messages.to_vec(), 9)
                    .tools([clock.clone()])
                    .tool_choice(ToolChoice::new(mode))
            };
            let used = cx.sample("use", ask(&messages, ToolChoiceMode::Required)).await?;
            let results: Vec<_> = used
                .content
                .blocks()
                .iter()
                .filter_map(|block| match block {
                    Block::ToolUse(it) => {
                        Some(ToolResultContent::new(&*it.id, vec![ContentBlock::text("noon")]))
                    }
                    _ => None,
                })
                .map(|result| Block::ToolResult(Box::new(result)))
                .collect();
            messages.push(SamplingMessage::new(Role::Assistant, used.content));
            messages.push(SamplingMessage::new(Role::User, SamplingContent::Array(results)));
            let said = cx.sample("say", ask(&messages, ToolChoiceMode::None)).await?;
            Ok(said.content.as_text().unwrap_or("?").to_owned())
        })
        .tool(Tool::new("speechless"), async |_: Nothing, cx: Context| {
            match cx.sample("say", CreateMessageRequestParams::new(Vec::new(), 9)).await {
                Err(Unanswered::Failed(AskError::Misuse(misuse))) => Ok(misuse.to_string()),
                other => Err(other.map(|_| ToolError::new("answered"))?),
            }
        })
        .tool(Tool::new("impatient"), async |_: Nothing, cx: Context| {
            let mut asking = Box::pin(cx.roots("dirs").into_future());
            poll_fn(|cx| Poll::Ready(asking.as_mut().poll(cx).is_ready())).await;
            drop(asking);
            Ok("went on")
        })
        .tool(Tool::new("hurried"), async |_: Nothing, cx: Context| {
            match cx.roots("dirs").within(Duration::from_millis(20)).await {
                Err(Unanswered::Failed(error)) => Ok(error.to_string()),
                other => Err(other.map(|_| ToolError::new("answered"))?),
            }
        })
}

/// Asks until it is told by another call that it need not.
fn withdrawing<R: Runtime>(server: Server<R>) -> Server<R> {
    let asking: Arc<Mutex<Gate>> = Arc::default();
    let told = asking.clone();
    server
        .tool(Tool::new("withdraw"), move |_: Nothing, cx: Context| {
            let enough = Gate::default();
            *asking.lock().unwrap() = enough.clone();
            async move {
                let (mut asked, mut enough) = (Box::pin(cx.roots("dirs").into_future()), pin!(enough.wait()));
                poll_fn(|cx| match asked.as_mut().poll(cx) {
                    Poll::Ready(_) => Poll::Ready(Err(ToolError::new("answered"))),
                    Poll::Pending => enough.as_mut().poll(cx).map(|()| Ok("withdrawn")),
                })
                .await
            }
        })
        .tool(Tool::new("enough"), move |_: Nothing, _: Context| {
            told.lock().unwrap().open();
            Ok("")
        })
}

fn manual<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .tool(Tool::new("manual"), async |_: Nothing, cx: Context| {
            let name = |key: &str| {
                let answer = cx.input_response::<ElicitResult>(key)?.content?;
                answer.decode::<serde_json::Value>().ok()?["name"].as_str().map(str::to_owned)
            };
            match (cx.request_state(), name("first"), name("last")) {
                (None, ..) => Err(InputRequired::new().ask("first", question("first")).state("1").into()),
                (Some(first), Some(name), _) if first == "1" => {
                    Err(InputRequired::new().ask("last", question("last")).state(format!("2{name}")).into())
                }
                (Some(first), _, Some(last)) => Ok(format!("{} {last}", &first[1..])),
                other => Err(ToolError::new(format!("{other:?}"))),
            }
        })
        .tool(Tool::new("later"), async |_: Nothing, cx: Context| match cx.request_state() {
            Some(state) => Ok(state),
            None => Err(InputRequired::new().state("as it is").into()),
        })
        .tool(Tool::new("insatiable"), async |_: Nothing, _: Context| {
            Err::<(), _>(InputRequired::new().ask("more", question("more")).into())
        })
        .tool(Tool::new("nothing"), async |_: Nothing, _: Context| Err::<(), _>(InputRequired::new().into()))
        .tool(Tool::new("visit"), async |_: Nothing, cx: Context| {
            if cx
                .input_response::<ElicitResult>("v1")
                .is_some_and(|given| given.action == ElicitAction::Accept)
            {
                return Ok("visited");
            }
            let page = ElicitRequestUrlParams::new("visit", "https://example.com/v1").elicitation_id("v1");
            Err(ToolError::url_elicitation_required([page]))
        })
}

fn resourceful<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .prompt(Prompt::new("greet"), async |_: Nothing, cx: Context| {
            Ok(format!("Greet {}", cx.elicit::<Seat>("seat", "seat").await?.seat))
        })
        .resource(Resource::new("x:dirs", "dirs"), |cx: Context| {
            Ok(cx.roots("dirs").wait()?.iter().map(|root| root.uri.clone()).collect::<String>())
        })
}
