//! The table of tasks: calls that go on after they were answered, and what has become of them.
//!
//! Like the table of sessions it does nothing by itself: whoever runs the handlers says what they do, hands the
//! [`Target::Task`](super::Target::Task)s of machines in, and does what comes out.
//!
//! <https://modelcontextprotocol.io/extensions/tasks/overview>

mod detail;
mod entry;
pub(super) mod fuzz;
mod request;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

pub use self::detail::TaskDetail;
use self::entry::{Entry, Stage, error_size, question_size};
pub(super) use self::request::{METHODS, are_declared, undeclared};
pub use self::request::{TaskAction, TaskAnswer, TaskOwner, TaskRequest};
use super::asks::{Answer, AskError, AskId};
use super::refusal;
use super::resource_server::Scopes;
use crate::change::TaskChange;
use crate::dialect::Revision;
use crate::entropy::{Entropy, Seed};
use crate::error::{ErrorObject, Full, code};
use crate::limits::Limits;
use crate::model::{InputRequest, Json, Task};
use crate::time::{Duration, Instant, Now};
use crate::wanted::Watched;

/// How often clients are asked to look, unless the task says it itself.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long clients may still hear that a task has come to its end unfinished.
const GRACE: Duration = Duration::from_secs(60);
/// What is kept of words on how far a task is, in characters.
const MESSAGE: usize = 1_024;

/// A task within its table; never used twice. Unlike its id, it is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey(u64);

/// How a task is to be kept.
///
/// ```
/// # use mcp_proto::server::TaskOptions;
/// # use core::time::Duration;
/// let options = TaskOptions::new().ttl(Duration::from_secs(600)).status_message("queued");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskOptions {
    /// For how long from its beginning on, whether it is finished or not; at the most
    /// [`Limits::task_ttl_max`]. Default [`Limits::task_ttl`].
    pub ttl: Option<Duration>,
    /// How long clients are asked to wait before they look again. Default 1 s.
    pub poll_interval: Option<Duration>,
    /// What it does, for people. Default nothing.
    pub status_message: Option<String>,
    /// What its owner must be allowed to do, whenever he asks for it. Default nothing; a handler's task has those of its
    /// tool besides.
    pub scopes: Scopes,
}

impl TaskOptions {
    /// As the server does it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Kept for so long.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Looked at so often.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = Some(interval);
        self
    }

    /// There for its owner only as long as he has these scopes, too.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// With words on what it does.
    #[must_use]
    pub fn status_message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }
}

/// Prints without words for people.
impl fmt::Debug for TaskOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskOptions")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .finish_non_exhaustive()
    }
}

/// What [`Tasks`] have to say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskOutput {
    /// What came of a question of a task; see [`Tasks::ask`].
    Answered(TaskKey, AskId, Answer),
    /// The handler of the task should stop: its client has taken it back, its time is over, or the server stops.
    Stop(TaskKey),
}

/// The tasks of one server. Prints how many there are.
pub struct Tasks {
    tasks: BTreeMap<TaskKey, Entry>,
    ids: BTreeMap<Arc<str>, TaskKey>,
    /// When to look at a task.
    looks: BTreeSet<(Instant, TaskKey)>,
    outputs: VecDeque<TaskOutput>,
    /// Those that are different now.
    changed: BTreeSet<TaskKey>,
    entropy: Entropy,
    last: u64,
    held: usize,
    limits: Limits,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("tasks", &self.tasks.len())
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl Tasks {
    /// An empty table. The seed makes the ids; nobody may be able to guess it (TASK-67).
    pub fn new(limits: &Limits, seed: Seed) -> Self {
        Self {
            tasks: BTreeMap::new(),
            ids: BTreeMap::new(),
            looks: BTreeSet::new(),
            outputs: VecDeque::new(),
            changed: BTreeSet::new(),
            entropy: Entropy::new(seed),
            last: 0,
            held: 0,
            limits: limits.clone(),
        }
    }

    /// A call whose `parameters` take so many bytes goes on as a task of this owner. What it returns is for the
    /// [`CreateTaskResult`](crate::model::CreateTaskResult): from now on clients find it (TASK-16).
    ///
    /// # Errors
    /// When there are as many as [`Limits::tasks`] allows, or they keep as much as [`Limits::task_bytes`], and none that is
    /// over gives way.
    pub fn create(
        &mut self,
        now: Now,
        owner: TaskOwner,
        options: TaskOptions,
        parameters: usize,
    ) -> Result<(TaskKey, Task), Full> {
        // What he may do is nothing that makes him another one.
        let owner = TaskOwner { scopes: None, ..owner };
        let most = self.limits.tasks;
        if self.tasks.len() >= most && !self.give_way(&owner, 1, |_| 1) {
            return Err(Full::new("tasks", most));
        }
        let bytes = self.limits.task_bytes;
        while self.held.saturating_add(parameters) > bytes {
            if parameters > bytes || !self.give_way(&owner, parameters, Entry::size) {
                return Err(Full::new("task_bytes", bytes));
            }
        }
        let ttl = options.ttl.unwrap_or(self.limits.task_ttl).min(self.limits.task_ttl_max);
        let mut entry = Entry::new(now, self.id(), owner, ttl, parameters);
        entry.poll_interval = options.poll_interval.unwrap_or(POLL_INTERVAL);
        entry.message = options.status_message.map(short);
        entry.scopes = options.scopes;
        self.last += 1;
        let (key, task) = (TaskKey(self.last), entry.task());
        self.ids.insert(entry.id.clone(), key);
        self.looks.insert((entry.next_look(), key));
        self.held += entry.size();
        self.tasks.insert(key, entry);
        Ok((key, task))
    }

    /// 256 bits of chance in hexadecimal.
    fn id(&mut self) -> Arc<str> {
        let digits = self.entropy.next().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let id: String = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        id.into()
    }

    /// Says in words how far a running task is, in place of what was said before. What is longer than 1,024 characters is
    /// cut.
    pub fn set_message(&mut self, now: Now, key: TaskKey, message: impl Into<String>) {
        self.change(now, key, |entry| {
            let message = Some(short(message.into()));
            (entry.is_running() && entry.message != message).then(|| entry.message = message)
        });
    }

    /// A running task asks its client something: `tasks/get` tells of it until it is answered, under a key that begins
    /// with `name` and is this question's alone. Comes to an end exactly once, by [`TaskOutput::Answered`], unless
    /// [`retract`](Self::retract) takes it back or the task ends: with an answer that fits, or with an error when there is
    /// none within `timeout`. Without one, it waits as long as the task runs.
    ///
    /// # Errors
    /// When the task does not run any more, and when as many questions are open, or as much is kept, as
    /// [`Limits::asks`] and [`Limits::task_bytes`] allow.
    pub fn ask(
        &mut self,
        now: Now,
        key: TaskKey,
        name: &str,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        let size = question_size(name, request);
        let (most, bytes) = (self.limits.asks, self.limits.task_bytes);
        let open = match self.tasks.get(&key).map(|entry| &entry.stage) {
            Some(Stage::Running(questions)) => questions.len(),
            _ => return Err(AskError::Over),
        };
        if open >= most {
            return Err(AskError::Full(Full::new("asks", most)));
        }
        if self.held.saturating_add(size) > bytes {
            return Err(AskError::Full(Full::new("task_bytes", bytes)));
        }
        let until = timeout.map(|timeout| (now.mono + timeout, timeout));
        self.change(now, key, |entry| Some(entry.ask(name, request.clone(), size, until)))
            .ok_or(AskError::Over)
    }

    /// Nobody waits for this answer any more: clients are not told of the question any longer.
    pub fn retract(&mut self, now: Now, key: TaskKey, ask: AskId) {
        self.change(now, key, |entry| entry.retract(ask).then_some(()));
    }

    /// The handler of a task is done: with what the call would have been answered with. For a task that does not run
    /// any more, nothing happens (TASK-14, TASK-15).
    ///
    /// # Errors
    /// When there is no room for it within [`Limits::task_bytes`]; then the task has failed.
    pub fn finish(&mut self, now: Now, key: TaskKey, outcome: Result<Json, ErrorObject>) -> Result<(), Full> {
        let Some(entry) = self.tasks.get(&key).filter(|entry| entry.is_running()) else { return Ok(()) };
        let (bytes, owner, before) = (self.limits.task_bytes, entry.owner.clone(), entry.size());
        let size = match &outcome {
            Ok(result) => result.get().len(),
            // Its text is kept twice.
            Err(error) => error_size(error) * 2,
        };
        let mut fits = self.held - before + size <= bytes;
        while !fits && size <= bytes && self.give_way(&owner, size, Entry::size) {
            fits = self.held - before + size <= bytes;
        }
        let outcome = if fits { outcome } else { Err(failure("there is no room to keep the result")) };
        self.change(now, key, |entry| {
            match outcome {
                Ok(result) => entry.stage = Stage::Completed(Arc::new(result)),
                Err(error) => fail(entry, error),
            }
            // Whoever looks as often as he was asked to must find it.
            entry.keep_until(entry.until.max(now.mono + GRACE));
            Some(())
        });
        if fits { Ok(()) } else { Err(Full::new("task_bytes", bytes)) }
    }

    /// Answers a request about a task, on behalf of whoever made it.
    ///
    /// # Errors
    /// What the client is told: of a task that there is not, or not for him (TASK-43, TASK-44, TASK-68).
    pub fn handle_request(
        &mut self,
        now: Now,
        owner: &TaskOwner,
        request: &TaskRequest,
    ) -> Result<TaskAnswer, ErrorObject> {
        // Whoever looks just in time must not see what is over.
        self.handle_timeout(now);
        let key = self.find(owner, &request.task_id).ok_or_else(unknown)?;
        match &request.action {
            TaskAction::Get => {
                let detail = self.tasks.get(&key).ok_or_else(unknown)?.detail();
                return Ok(TaskAnswer::Task(Box::new(detail)));
            }
            TaskAction::Update(responses) => {
                let rounds = self.limits.input_rounds;
                let answers =
                    self.change(now, key, |entry| entry.answer(responses, rounds)).unwrap_or_default();
                let answered = |(ask, answer)| TaskOutput::Answered(key, ask, answer);
                self.outputs.extend(answers.into_iter().map(answered));
            }
            TaskAction::Cancel => self.stop(now, key, |entry| {
                entry.stage = Stage::Cancelled;
                // Nobody wants it any more.
                entry.keep_until(entry.until.min(now.mono + GRACE));
            }),
        }
        Ok(TaskAnswer::Acknowledged)
    }

    /// Which of these tasks there are for somebody who wants to listen (TASK-51).
    pub fn listen(&mut self, now: Now, owner: &TaskOwner, wanted: &Watched) -> Watched {
        self.handle_timeout(now);
        wanted.iter().filter(|id| self.find(owner, id).is_some()).cloned().collect()
    }

    /// How a task is, for somebody who may listen to it.
    pub fn read(&self, task: &TaskChange) -> Option<TaskDetail> {
        let key = self.ids.get(task.id())?;
        self.tasks.get(key).map(Entry::detail)
    }

    /// A task that is different now, and the byte stream that it lives on, if it does: only there somebody may listen.
    /// `None` when there is no more. In whatever order they are told, all who listen hear how it is in the end, as that is
    /// [read](Self::read) when it is their turn.
    pub fn poll_changed(&mut self) -> Option<(TaskChange, Option<u64>)> {
        let key = self.changed.pop_first()?;
        let entry = self.tasks.get(&key)?;
        Some((TaskChange::new(entry.id.clone()), entry.owner.connection))
    }

    /// Forgets a task that its client has not been told of. Its handler should stop.
    pub fn abandon(&mut self, key: TaskKey) {
        let running = self.tasks.get(&key).is_some_and(Entry::is_running);
        self.remove(key);
        if running {
            self.outputs.push_back(TaskOutput::Stop(key));
        }
    }

    /// A byte stream has ended, and with it its tasks. Returns those whose handlers should stop.
    pub fn end_connection(&mut self, connection: u64) -> Vec<TaskKey> {
        let of = |(key, entry): (&TaskKey, &Entry)| {
            (entry.owner.connection == Some(connection)).then_some((*key, entry.is_running()))
        };
        let ended: Vec<_> = self.tasks.iter().filter_map(of).collect();
        ended.iter().for_each(|(key, _)| self.remove(*key));
        ended.into_iter().filter_map(|(key, running)| running.then_some(key)).collect()
    }

    /// The server waits no longer: whatever runs has failed.
    pub fn give_up(&mut self, now: Now) {
        let all: Vec<_> = self.tasks.keys().copied().collect();
        for key in all {
            self.stop(now, key, |entry| fail(entry, failure("the server is shutting down")));
        }
    }

    /// What is to be done; `None` when there is nothing more.
    pub fn poll_output(&mut self) -> Option<TaskOutput> {
        self.outputs.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.looks.first().map(|(at, _)| *at)
    }

    /// The time has come, or not: early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Now) {
        while let Some((_, key)) = self.looks.first().copied().filter(|(at, _)| *at <= now.mono) {
            self.look(now, key);
        }
    }

    fn look(&mut self, now: Now, key: TaskKey) {
        let Some(entry) = self.tasks.get(&key) else { return };
        if entry.until > now.mono {
            let overdue = |entry: &mut Entry| Some(entry.overdue(now.mono)).filter(|late| !late.is_empty());
            let overdue = self.change(now, key, overdue).unwrap_or_default();
            let timed_out =
                |(ask, after)| TaskOutput::Answered(key, ask, Answer(Err(AskError::TimedOut { after })));
            self.outputs.extend(overdue.into_iter().map(timed_out));
        } else if entry.is_running() {
            self.stop(now, key, |entry| {
                entry.keep_until(now.mono + GRACE);
                fail(entry, failure("the task was not finished within the time that it is kept"));
            });
        } else {
            self.remove(key);
        }
    }

    /// How many tasks there are, running or kept.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// What they keep, in bytes; see [`Limits::task_bytes`].
    pub fn held(&self) -> usize {
        self.held
    }

    fn find(&self, owner: &TaskOwner, id: &str) -> Option<TaskKey> {
        let key = *self.ids.get(id)?;
        self.tasks.get(&key).filter(|entry| entry.is_for(owner)).map(|_| key)
    }

    /// Brings a running task to an end, and has its handler told.
    fn stop(&mut self, now: Now, key: TaskKey, end: impl FnOnce(&mut Entry)) {
        if self.tasks.get(&key).is_some_and(Entry::is_running) {
            self.change(now, key, |entry| {
                end(entry);
                Some(())
            });
            self.outputs.push_back(TaskOutput::Stop(key));
        }
    }

    /// Changes a task, and what is counted and planned of it; unless `change` says, with `None`, that it has not.
    fn change<T>(
        &mut self,
        now: Now,
        key: TaskKey,
        change: impl FnOnce(&mut Entry) -> Option<T>,
    ) -> Option<T> {
        let entry = self.tasks.get_mut(&key)?;
        let (size, look) = (entry.size(), entry.next_look());
        let changed = change(entry)?;
        entry.touch(now);
        self.held = self.held - size + entry.size();
        self.looks.remove(&(look, key));
        self.looks.insert((entry.next_look(), key));
        self.changed.insert(key);
        Some(changed)
    }

    /// Forgets the oldest task that is over, of whoever has most by this measure, for one of `owner` that adds `size`. Who
    /// has less than he would then loses nothing. `false` when none gives way.
    fn give_way(&mut self, owner: &TaskOwner, size: usize, measure: impl Fn(&Entry) -> usize) -> bool {
        let mut shares = BTreeMap::from([(owner, size)]);
        for entry in self.tasks.values() {
            *shares.entry(&entry.owner).or_default() += measure(entry);
        }
        let share = |of: &TaskOwner| shares.get(of).copied().unwrap_or_default();
        let own = share(owner);
        let gives_way = |(_, entry): &(&TaskKey, &Entry)| {
            !entry.is_running() && measure(entry) > 0 && (entry.owner == *owner || share(&entry.owner) >= own)
        };
        let oldest = self.tasks.iter().filter(gives_way);
        let oldest = oldest.max_by_key(|(key, entry)| (share(&entry.owner), Reverse(**key)));
        let Some(key) = oldest.map(|(key, _)| *key) else { return false };
        self.remove(key);
        true
    }

    fn remove(&mut self, key: TaskKey) {
        let Some(entry) = self.tasks.remove(&key) else { return };
        self.held -= entry.size();
        self.ids.remove(&entry.id);
        self.changed.remove(&key);
        self.looks.remove(&(entry.next_look(), key));
    }
}

/// TASK-26, TASK-27
fn fail(entry: &mut Entry, error: ErrorObject) {
    let error = refusal::in_revision(&error, Revision::LATEST);
    entry.message = Some(short(error.message.clone()));
    entry.stage = Stage::Failed(error);
}

fn failure(message: &str) -> ErrorObject {
    ErrorObject::new(code::INTERNAL, message)
}

/// The same of a task that is another's, as of one that never was.
fn unknown() -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, "params.taskId: there is no such task, or no more")
}

fn short(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE) {
        message.truncate(end);
    }
    message
}
