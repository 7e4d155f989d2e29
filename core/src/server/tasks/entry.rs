//! One task.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::detail::TaskDetail;
use super::request::TaskOwner;
use crate::dialect::Revision;
use crate::error::ErrorObject;
use crate::model::{DetailedTask, In, InputRequest, InputRequests, InputResponses, Json, Task, TaskStatus};
use crate::server::asks::{Answer, AskError, AskId};
use crate::server::resource_server::Scopes;
use crate::time::{Duration, Instant, Now};
use crate::wire::date::iso8601;

/// What every client reads as an integer; of milliseconds.
const MOST: u64 = (1 << 53) - 1;

pub(super) struct Entry {
    pub(super) id: Arc<str>,
    pub(super) owner: TaskOwner,
    /// What its owner must be allowed to do each time.
    pub(super) scopes: Scopes,
    pub(super) message: Option<String>,
    pub(super) poll_interval: Duration,
    /// What its call takes, as long as it runs.
    parameters: usize,
    ttl: Duration,
    began: Instant,
    /// When it is kept no longer.
    pub(super) until: Instant,
    created: Duration,
    updated: Duration,
    pub(super) stage: Stage,
    /// How many questions it has asked.
    asked: u64,
}

pub(super) enum Stage {
    Running(BTreeMap<String, Question>),
    Completed(Arc<Json>),
    Failed(ErrorObject),
    Cancelled,
}

/// Something that the client has not answered yet.
pub(super) struct Question {
    ask: AskId,
    /// What the handler calls it.
    name: String,
    request: InputRequest,
    size: usize,
    /// How often it was answered with what does not fit.
    misfits: usize,
    /// When it is given up, and how long that is.
    until: Option<(Instant, Duration)>,
}

impl Entry {
    pub(super) fn new(now: Now, id: Arc<str>, owner: TaskOwner, ttl: Duration, parameters: usize) -> Self {
        Self {
            id,
            owner,
            scopes: Scopes::new(),
            message: None,
            poll_interval: Duration::ZERO,
            parameters,
            ttl,
            began: now.mono,
            until: now.mono + ttl,
            created: now.unix,
            updated: now.unix,
            stage: Stage::Running(BTreeMap::new()),
            asked: 0,
        }
    }

    /// Whether it is there for somebody.
    pub(super) fn is_for(&self, owner: &TaskOwner) -> bool {
        self.owner.subject == owner.subject
            && self.owner.connection == owner.connection
            && owner.scopes.as_ref().is_none_or(|scopes| self.scopes.is_subset(scopes))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }

    /// It is kept so long, and says so.
    pub(super) fn keep_until(&mut self, until: Instant) {
        if self.until != until {
            self.until = until;
            self.ttl = until.saturating_since(self.began);
        }
    }

    /// Something of it is different now.
    pub(super) fn touch(&mut self, now: Now) {
        self.updated = self.updated.max(now.unix);
    }

    pub(super) fn status(&self) -> TaskStatus {
        match &self.stage {
            Stage::Running(questions) if questions.is_empty() => TaskStatus::Working,
            Stage::Running(_) => TaskStatus::InputRequired,
            Stage::Completed(_) => TaskStatus::Completed,
            Stage::Failed(_) => TaskStatus::Failed,
            Stage::Cancelled => TaskStatus::Cancelled,
        }
    }

    pub(super) fn task(&self) -> Task {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(MOST).min(MOST);
        let mut task = Task::new(&*self.id, iso8601(self.created))
            .status(self.status())
            .last_updated_at(iso8601(self.updated))
            .ttl_ms(millis(self.ttl))
            .poll_interval_ms(millis(self.poll_interval).max(1));
        task.status_message.clone_from(&self.message);
        task
    }

    pub(super) fn detail(&self) -> TaskDetail {
        let (mut detail, mut result) = (DetailedTask::new(self.task()), None);
        match &self.stage {
            Stage::Running(questions) => {
                let asked = questions.iter().map(|(key, asked)| (key.clone(), asked.request.clone()));
                detail.input_requests = asked.collect::<InputRequests>();
            }
            Stage::Completed(completed) => result = Some(completed.clone()),
            Stage::Failed(error) => detail.error = Some(error.clone()),
            Stage::Cancelled => {}
        }
        TaskDetail::new(detail, result)
    }

    /// What it keeps for its client, in bytes.
    pub(super) fn size(&self) -> usize {
        let kept = match &self.stage {
            Stage::Running(questions) => {
                self.parameters + questions.values().map(|asked| asked.size).sum::<usize>()
            }
            Stage::Completed(result) => result.get().len(),
            Stage::Failed(error) => error_size(error),
            Stage::Cancelled => 0,
        };
        kept + self.message.as_ref().map_or(0, String::len)
    }

    /// Asks something, under a key that this task has not had and will not have again (TASK-35, TASK-36).
    pub(super) fn ask(
        &mut self,
        name: &str,
        request: InputRequest,
        size: usize,
        until: Option<(Instant, Duration)>,
    ) -> AskId {
        let key = self.next_key(name);
        let ask = AskId(self.asked);
        if let Stage::Running(questions) = &mut self.stage {
            questions.insert(key, Question { ask, name: name.to_string(), request, size, misfits: 0, until });
        }
        ask
    }

    /// The number after the last dot is another one each time, whatever the name is.
    fn next_key(&mut self, name: &str) -> String {
        self.asked += 1;
        alloc::format!("{name}.{}", self.asked)
    }

    /// Nobody waits for this answer any more. `false` when nobody did.
    pub(super) fn retract(&mut self, ask: AskId) -> bool {
        let Stage::Running(questions) = &mut self.stage else { return false };
        let before = questions.len();
        questions.retain(|_, question| question.ask != ask);
        questions.len() < before
    }

    /// Takes the answers to what is open; of others nothing is made (TASK-41, TASK-42): `None` when there is none to take.
    /// What does not fit is asked again, under a key of its own, as clients answer none twice, but for so many `rounds`.
    pub(super) fn answer(
        &mut self,
        responses: &InputResponses,
        rounds: usize,
    ) -> Option<Vec<(AskId, Answer)>> {
        let (mut answers, mut taken) = (Vec::new(), false);
        for (key, answer) in responses {
            let Stage::Running(questions) = &mut self.stage else { break };
            let Some(mut question) = questions.remove(key) else { continue };
            taken = true;
            let Err(reason) = question.request.check_answer(answer) else {
                answers.push((question.ask, Answer(Ok(answer.clone()))));
                continue;
            };
            question.misfits += 1;
            if question.misfits > rounds {
                answers.push((question.ask, Answer(Err(AskError::Invalid { reason }))));
                continue;
            }
            let key = self.next_key(&question.name);
            if let Stage::Running(questions) = &mut self.stage {
                questions.insert(key, question);
            }
        }
        taken.then_some(answers)
    }

    /// Takes out what was not answered in time.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<(AskId, Duration)> {
        let Stage::Running(questions) = &mut self.stage else { return Vec::new() };
        let late = |question: &Question| question.until.filter(|(until, _)| *until <= now);
        let overdue = questions.values().filter_map(|question| Some((question.ask, late(question)?.1)));
        let overdue = overdue.collect();
        questions.retain(|_, question| late(question).is_none());
        overdue
    }

    /// When it is to be looked at again.
    pub(super) fn next_look(&self) -> Instant {
        match &self.stage {
            Stage::Running(questions) => {
                let next = questions.values().filter_map(|question| Some(question.until?.0)).min();
                next.map_or(self.until, |next| next.min(self.until))
            }
            _ => self.until,
        }
    }
}

/// What an error takes, in bytes.
pub(super) fn error_size(error: &ErrorObject) -> usize {
    error.message.len() + error.data.as_ref().map_or(0, |data| data.get().len())
}

/// What a question takes, in bytes.
pub(super) fn question_size(name: &str, request: &InputRequest) -> usize {
    let written = Json::new(&In(Revision::LATEST, request));
    name.len() + written.map_or(0, |json| json.get().len())
}
