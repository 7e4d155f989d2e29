//! The tasks of one server: their table, and the handlers that are at work on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::entropy::Seed;
use mcp_proto::error::{ErrorObject, Full};
use mcp_proto::head::End;
use mcp_proto::limits::Limits;
use mcp_proto::model::{InputRequest, Json, Task};
use mcp_proto::server::{
    AskError, AskId, Change, TaskAnswer, TaskChange, TaskDetail, TaskKey, TaskOptions, TaskOutput, TaskOwner,
    TaskRequest, Tasks, Watched,
};
use mcp_proto::time::Now;

use super::hub::Hub;
use crate::context::CallState;
use crate::endpoint::{Endpoint, Status};
use crate::runtime::Runtime;
use crate::timekeeper::keep_time;
use crate::turn::Turn;
use crate::wake::WakerSlot;

/// Where tasks are asked for, whichever connection or exchange that comes in.
pub(crate) struct Board {
    table: Mutex<Tasks>,
    /// Whom to tell; whoever polls a handler keeps it.
    running: Mutex<BTreeMap<TaskKey, Weak<CallState>>>,
    /// What the table says must arrive in order.
    turn: Turn,
    /// Telling who listens, which may take its time.
    telling: Turn,
    /// Has the time kept for the table, from the first task on.
    keep_time: Mutex<Option<Box<dyn FnOnce(Weak<Board>) + Send>>>,
    timer: WakerSlot,
    /// Who hears of changes.
    hub: Arc<Hub>,
    this: Weak<Self>,
}

impl Board {
    pub(super) fn new<R: Runtime>(runtime: &R, limits: &Limits, seed: Seed, hub: Arc<Hub>) -> Arc<Self> {
        let runtime = runtime.clone();
        let timekeeper = move |board| {
            let clock = Arc::new(Clock(board));
            runtime.spawn(Box::pin(keep_time(runtime.clone(), clock)));
        };
        Arc::new_cyclic(|this| Self {
            table: Mutex::new(Tasks::new(limits, seed)),
            running: Mutex::default(),
            turn: Turn::default(),
            telling: Turn::default(),
            keep_time: Mutex::new(Some(Box::new(timekeeper))),
            timer: WakerSlot::default(),
            hub,
            this: this.clone(),
        })
    }

    /// A call goes on as a task, which `state` is at work on.
    pub(crate) fn begin(
        &self,
        now: Now,
        owner: TaskOwner,
        options: TaskOptions,
        state: &Arc<CallState>,
    ) -> Result<(TaskKey, Task), Full> {
        // Before anybody can cancel it.
        let mut running = self.running();
        let created = self.table().create(now, owner, options, state.call().params().len())?;
        running.insert(created.0, Arc::downgrade(state));
        drop(running);
        let start = self.keep_time.lock().unwrap_or_else(PoisonError::into_inner).take();
        match start {
            Some(start) => start(self.this.clone()),
            None => self.timer.wake(),
        }
        Ok(created)
    }

    pub(crate) fn set_message(&self, now: Now, key: TaskKey, message: impl Into<String>) {
        self.input(|table| table.set_message(now, key, message));
    }

    pub(crate) fn ask(
        &self,
        now: Now,
        key: TaskKey,
        name: &str,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        let asked = self.input(|table| table.ask(now, key, name, request, timeout));
        if timeout.is_some() {
            self.timer.wake();
        }
        asked
    }

    pub(crate) fn retract(&self, now: Now, key: TaskKey, ask: AskId) {
        self.input(|table| table.retract(now, key, ask));
    }

    pub(crate) fn finish(
        &self,
        now: Now,
        key: TaskKey,
        outcome: Result<Json, ErrorObject>,
    ) -> Result<(), Full> {
        self.input(|table| table.finish(now, key, outcome))
    }

    /// Nobody is at work on the task any more.
    pub(crate) fn done(&self, key: TaskKey) -> bool {
        self.running().remove(&key).is_some()
    }

    pub(crate) fn handle_request(
        &self,
        now: Now,
        owner: &TaskOwner,
        request: &TaskRequest,
    ) -> Result<TaskAnswer, ErrorObject> {
        self.input(|table| table.handle_request(now, owner, request))
    }

    /// Which of these tasks somebody may listen to.
    pub(super) fn listen(&self, now: Now, owner: &TaskOwner, wanted: &Watched) -> Watched {
        self.input(|table| table.listen(now, owner, wanted))
    }

    /// How a task is, for somebody who was let in.
    pub(super) fn read(&self, task: &TaskChange) -> Option<TaskDetail> {
        self.table().read(task)
    }

    pub(crate) fn abandon(&self, key: TaskKey) {
        self.input(|table| table.abandon(key));
    }

    /// A byte stream has ended. What is left of its async handlers is dropped here and now, as the process may end next.
    pub(super) fn end_connection(&self, connection: u64) {
        let ended = self.input(|table| table.end_connection(connection));
        for key in ended {
            if let Some(state) = self.take(key) {
                state.cancel_here();
            }
        }
    }

    /// The server waits no longer.
    #[cfg(feature = "http")]
    pub(super) fn give_up(&self, now: Now) {
        self.input(|table| table.give_up(now));
    }

    /// Gives the table an input, and does what it says with no lock held.
    fn input<T>(&self, input: impl FnOnce(&mut Tasks) -> T) -> T {
        let said = input(&mut self.table());
        self.turn.run(|| {
            loop {
                let output = self.table().poll_output();
                let Some(output) = output else { break };
                self.perform(output);
            }
        });
        self.telling.run(|| {
            loop {
                let changed = self.table().poll_changed();
                let Some((task, connection)) = changed else { break };
                self.hub.tell_at(connection, &Change::Task(task));
            }
        });
        said
    }

    fn perform(&self, output: TaskOutput) {
        match output {
            TaskOutput::Answered(key, ask, answer) => {
                let state = self.running().get(&key).and_then(Weak::upgrade);
                if let Some(state) = state {
                    state.answered(ask, answer);
                }
            }
            TaskOutput::Stop(key) => {
                if let Some(state) = self.take(key) {
                    state.cancel();
                }
            }
            _ => {}
        }
    }

    fn take(&self, key: TaskKey) -> Option<Arc<CallState>> {
        self.running().remove(&key)?.upgrade()
    }

    fn table(&self) -> MutexGuard<'_, Tasks> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<TaskKey, Weak<CallState>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.timer.wake();
    }
}

/// The table as a machine with timers only, until the server is gone.
struct Clock(Weak<Board>);

impl Endpoint for Clock {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, now: Now) {
        if let Some(board) = self.0.upgrade() {
            board.input(|table| table.handle_timeout(now));
        }
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let board = self.0.upgrade();
        let timeout = board.as_ref().and_then(|board| board.table().poll_timeout());
        Status { timeout, wants_read: false, write_closed: false, finished: board.is_none() }
    }

    fn register(&self, waker: &Waker) {
        if let Some(board) = self.0.upgrade() {
            board.timer.register(waker);
        }
    }
}
