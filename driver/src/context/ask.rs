//! Asking the client in the middle of a call: its user, its model, its roots.

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use mcp_proto::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, InputRequest, Json, ListRootsResult, Root,
};
use mcp_proto::server::AskError;
use mcp_proto::wire::jsonrpc::decode_at;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::asking::{Asking, Pollable, Slot, all};
use super::{CallState, Context, form};
use crate::reply::block_on;
use crate::runtime::BoxFuture;
use crate::tool::{Failure, ToolError};

/// Asking the client, in every era.
///
/// A client of the legacy era is sent a request, and the handler waits for the answer. In the modern era
/// servers send no requests: the handler leaves by `?`, the client is told what is asked, and when it comes
/// back with the answers **the handler runs again from the beginning**, finds the answers it had, and goes on.
/// So a handler that asks is written for being run again:
///
/// - whatever must not happen twice goes into [`step`](Self::step), which is done once and remembered;
/// - what decides which questions come next depends on arguments, answers and steps alone, not on chance or the
///   time of day;
/// - an error of an ask that is not expected leaves by `?`. (Ignoring one does no harm but this: what the handler
///   returns does not count as long as a question is open.)
///
/// Each question has a key, unique in its handler and the same in every run. Asked twice under one key, the
/// same question has one answer.
///
/// ```
/// # use mcp_driver::{Context, Runtime, Server, Tool, ToolError};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Book { train: String }
/// # fn hold(_: &str, seat: &str) -> Result<String, std::io::Error> { Ok(seat.to_owned()) }
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Seat {
///     /// Window or aisle?
///     place: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Confirm {
///     really: bool,
/// }
///
/// async fn book(Book { train }: Book, cx: Context) -> Result<String, ToolError> {
///     let seat = cx.elicit::<Seat>("seat", "Which seat?").await?;
///     let held = cx.step("hold", || Ok(hold(&train, &seat.place)?)).await?;
///     let confirm = cx.elicit::<Confirm>("confirm", format!("Book {held}?")).optional().await?;
///     Ok(if confirm.is_some_and(|confirm| confirm.really) { "booked" } else { "not booked" }.to_owned())
/// }
/// # fn server<R: Runtime>(server: Server<R>) -> Server<R> { server.tool(Tool::new("book"), book) }
/// ```
///
/// A blocking handler writes `.wait()?` where this one writes `.await?`. Everything is checked before it is
/// asked: what the client has not declared is an [`AskError::Missing`], and left by `?` it tells the client so.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
impl Context {
    /// Asks the user to fill in a form, which is made from a Rust type: a struct whose fields are strings,
    /// numbers, booleans, enums without data (one choice) and lists of such enums (several). Doc comments
    /// describe the fields, `Option` makes them optional, `#[serde(default)]` fills them in. Fields are shown in
    /// alphabetical order; for another one, or for what a type cannot say, use [`elicit_form`](Self::elicit_form).
    ///
    /// The answer is checked against the form. A form must never ask for secrets: those go to a page of your own,
    /// by [`elicit_url`](Self::elicit_url) (ELIC-34).
    ///
    /// A user who says no is an error, [`Unanswered::Declined`] or [`Unanswered::Cancelled`]. Left by `?`, the
    /// tool fails with a text that says so. To go on instead, use [`optional`](Ask::optional), or match.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>
    pub fn elicit<T: DeserializeOwned + JsonSchema>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Ask<T> {
        let question = form::of::<T>()
            .map(|schema| ElicitRequestParams::from(ElicitRequestFormParams::new(message, schema)).into())
            .map_err(|misuse| Unanswered::Failed(misuse.into()));
        Ask::new(self, key, question, Box::new(|answer| decode(&accepted(answer)?)))
    }

    /// Asks the user to fill in a form that was built by hand. The answer is what they filled in, an object.
    pub fn elicit_form(&self, key: impl Into<String>, form: ElicitRequestFormParams) -> Ask<Json> {
        let question = Ok(ElicitRequestParams::from(form).into());
        Ask::new(self, key, question, Box::new(accepted))
    }

    /// Sends the user to a page, for secrets, payments, or signing in somewhere else. Revisions from 2025-11-25 on.
    ///
    /// The answer says that they are willing to go there, not that they have been (ELIC-31): whether they have,
    /// your own page knows. It must make sure that whoever visits it is who was asked (ELIC-48), by a login of its
    /// own and not by what the client says (ELIC-47). The URL must hold nothing secret nor let anybody in
    /// (ELIC-43), and is `https` outside of development (ELIC-44). Tokens of other services stay between that page
    /// and them (ELIC-50); to let the client into this server there is
    /// [`resource_server`](crate::Server::resource_server) instead (ELIC-49).
    ///
    /// When it has seen them, [`elicitation`](Self::elicitation) lets it tell the client so.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests>
    pub fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Ask<()> {
        let question = Ok(ElicitRequestParams::from(ElicitRequestUrlParams::new(message, url)).into());
        Ask::new(self, key, question, Box::new(|answer| agreed(answer).map(drop)))
    }

    /// Lets the client's model continue a conversation. Deprecated by revision 2026-07-28; it still works.
    ///
    /// Tools, and context of other servers, need capabilities of their own (SAMP-04, SAMP-06). A loop of tool
    /// uses is for the handler to bound (SAMP-28), and what a model says is to be checked like anything that comes
    /// from outside (SAMP-27). Nothing of a conversation is kept here: to go on with one, send all of it again
    /// (SAMP-23). What is sent is read by whoever runs the model (SAMP-29).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>
    pub fn sample(
        &self,
        key: impl Into<String>,
        params: CreateMessageRequestParams,
    ) -> Ask<CreateMessageResult> {
        Ask::new(self, key, Ok(params.into()), Box::new(decode))
    }

    /// The places that the client lets the server work in. Deprecated by revision 2026-07-28; it still works. To stay
    /// inside them, whatever paths come, is up to the handler (ROOT-10).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>
    pub fn roots(&self, key: impl Into<String>) -> Ask<Vec<Root>> {
        let read: Read<Vec<Root>> =
            Box::new(|answer| decode::<ListRootsResult>(answer).map(|result| result.roots));
        Ask::new(self, key, Ok(InputRequest::ListRoots), read)
    }

    /// Asks several things at once: all of them are under way at the same time, in the modern era in one round.
    /// Takes a tuple or a `Vec` of [`Ask`]s, and gives the answers in the same form. Of several that fail the first
    /// counts. Where the client cannot be asked one of them nobody is asked any, and an [`AskError::Missing`] names
    /// all that it lacks.
    ///
    /// ```
    /// # use mcp_driver::{Context, ToolError};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Name { name: String }
    /// async fn greet(cx: Context) -> Result<String, ToolError> {
    ///     let (name, roots) = cx.all((cx.elicit::<Name>("name", "Who are you?"), cx.roots("roots"))).await?;
    ///     Ok(format!("{} has {} roots", name.name, roots.len()))
    /// }
    /// ```
    pub fn all<A: Asks>(&self, asks: A) -> Together<A> {
        Together(asks)
    }
}

/// A question to the client. Nothing happens until it is awaited, or waited for.
#[must_use = "nothing is asked until this is awaited, or waited for with `.wait()`"]
pub struct Ask<T> {
    pub(super) cx: Context,
    pub(super) key: String,
    pub(super) question: Result<InputRequest, Unanswered>,
    pub(super) timeout: Option<Duration>,
    pub(super) read: Read<T>,
}

/// How an answer is read.
pub(super) type Read<T> = Box<dyn FnOnce(&Json) -> Result<T, Unread> + Send>;

impl<T> Ask<T> {
    pub(super) fn new(
        cx: &Context,
        key: impl Into<String>,
        question: Result<InputRequest, Unanswered>,
        read: Read<T>,
    ) -> Self {
        Self { cx: cx.clone(), key: key.into(), question, timeout: None, read }
    }

    /// Waits so long for an answer, in place of [`Limits::ask`](mcp_proto::limits::Limits::ask). In the modern era
    /// only a [task](Context::continue_as_task) waits, as long as it is kept if this says nothing; elsewhere it has no
    /// effect there.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// A user who says no, or turns away, is no error but `None`.
    pub fn optional(self) -> Ask<Option<T>>
    where
        T: 'static,
    {
        let Self { cx, key, question, timeout, read } = self;
        let read: Read<Option<T>> = Box::new(move |answer| match read(answer) {
            Err(Unread::Answer(Unanswered::Declined | Unanswered::Cancelled)) => Ok(None),
            outcome => outcome.map(Some),
        });
        Ask { cx, key, question, timeout, read }
    }

    /// Blocks the thread until there is an answer. For blocking handlers; on async ones use `.await`.
    ///
    /// # Errors
    /// As awaiting it.
    pub fn wait(self) -> Result<T, Unanswered> {
        block_on(self.into_future())
    }
}

impl Ask<()> {
    /// Names an elicitation by URL, for the revision that has such names (2025-11-25): unique for this server.
    /// Without one a name is made by chance.
    pub fn elicitation_id(mut self, id: impl Into<String>) -> Self {
        if let Ok(InputRequest::Elicit(ElicitRequestParams::Url(params))) = &mut self.question {
            params.elicitation_id = Some(id.into());
        }
        self
    }
}

impl<T> IntoFuture for Ask<T> {
    type Output = Result<T, Unanswered>;
    type IntoFuture = Asking<T>;

    fn into_future(self) -> Asking<T> {
        Asking::new(self)
    }
}

impl<T> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Why there is no answer.
///
/// Leaving a handler by `?` with it does what is right for each: the client is asked first, is told what it lacks,
/// or learns in words that nobody answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unanswered {
    /// The user said no.
    Declined,
    /// The user turned away without a decision.
    Cancelled,
    /// The client could not be asked, or did not answer as it should.
    Failed(AskError),
    /// Not yet: return, by `?`. What the handler returns does not count.
    Leave(Leave),
}

/// Only this library makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave(());

impl Leave {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => f.write_str("the user declined to answer"),
            Self::Cancelled => f.write_str("the user dismissed the question"),
            Self::Failed(error) => error.fmt(f),
            Self::Leave(_) => f.write_str("the client has not been asked yet"),
        }
    }
}

// Not an `Error`: those become internal errors of a tool.
impl From<Unanswered> for ToolError {
    fn from(unanswered: Unanswered) -> Self {
        let text = unanswered.to_string();
        Self(match unanswered {
            Unanswered::Leave(_) => Failure::Leave,
            Unanswered::Failed(AskError::Missing { required }) => Failure::Missing(required, text),
            Unanswered::Failed(AskError::Misuse(_) | AskError::Full(_)) => Failure::Internal(text),
            _ => Failure::Shown(text),
        })
    }
}

/// Why an answer is not what was asked for.
pub(super) enum Unread {
    /// It does not fit the type.
    Unfit(String),
    /// It is an answer, but none to go on with.
    Answer(Unanswered),
}

impl Unread {
    pub(super) fn tell(self, state: &CallState, key: &str) -> Unanswered {
        match self {
            Self::Answer(unanswered) => unanswered,
            Self::Unfit(reason) if state.waits_for_answers() => {
                Unanswered::Failed(AskError::Invalid { reason })
            }
            Self::Unfit(_) => {
                state.journal(|journal| journal.reject(key));
                Unanswered::Leave(Leave::new())
            }
        }
    }
}

fn decode<T: DeserializeOwned>(answer: &Json) -> Result<T, Unread> {
    decode_at(answer.get(), "result").map_err(|error| Unread::Unfit(error.message.into_owned()))
}

/// The answer of a user who agreed.
fn agreed(answer: &Json) -> Result<ElicitResult, Unread> {
    let result: ElicitResult = decode(answer)?;
    match result.action {
        ElicitAction::Accept => Ok(result),
        ElicitAction::Decline => Err(Unread::Answer(Unanswered::Declined)),
        ElicitAction::Cancel => Err(Unread::Answer(Unanswered::Cancelled)),
    }
}

/// What a user who agreed filled in.
fn accepted(answer: &Json) -> Result<Json, Unread> {
    agreed(answer)?.content.ok_or_else(|| Unread::Unfit("result.content: missing".into()))
}

/// Several questions; see [`Context::all`].
#[must_use = "nothing is asked until this is awaited, or waited for with `.wait()`"]
#[derive(Debug)]
pub struct Together<A>(A);

impl<A: Asks> Together<A> {
    /// Blocks the thread until there are all answers. For blocking handlers.
    ///
    /// # Errors
    /// As awaiting it.
    pub fn wait(self) -> Result<A::Answers, Unanswered> {
        block_on(self.0.ask())
    }
}

impl<A: Asks> IntoFuture for Together<A> {
    type Output = Result<A::Answers, Unanswered>;
    type IntoFuture = BoxFuture<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.0.ask()
    }
}

/// A tuple or a `Vec` of [`Ask`]s.
pub trait Asks {
    /// The same of answers.
    type Answers;

    /// Puts all questions, and waits for all answers.
    fn ask(self) -> BoxFuture<Result<Self::Answers, Unanswered>>;
}

impl<T: Send + 'static> Asks for Vec<Ask<T>> {
    type Answers = Vec<T>;

    fn ask(self) -> BoxFuture<Result<Vec<T>, Unanswered>> {
        let mut slots: Vec<_> = self.into_iter().map(Slot::new).collect();
        Box::pin(async move {
            let mut refs: Vec<&mut (dyn Pollable + Send)> =
                slots.iter_mut().map(|slot| slot as &mut (dyn Pollable + Send)).collect();
            all(&mut refs).await?;
            slots.iter_mut().map(Slot::take).collect()
        })
    }
}

macro_rules! tuples {
    ($($($ask:ident $place:tt),+;)+) => {$(
        impl<$($ask: Send + 'static),+> Asks for ($(Ask<$ask>,)+) {
            type Answers = ($($ask,)+);

            fn ask(self) -> BoxFuture<Result<Self::Answers, Unanswered>> {
                let mut slots = ($(Slot::new(self.$place),)+);
                Box::pin(async move {
                    let mut refs: Vec<&mut (dyn Pollable + Send)> = vec![$(&mut slots.$place),+];
                    all(&mut refs).await?;
                    Ok(($(slots.$place.take()?,)+))
                })
            }
        }
    )+};
}

tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}
