//! The body of the fuzz target of tasks. Not part of the API.

use super::*;
use crate::model::{ElicitRequestFormParams, ElicitRequestParams, ElicitationSchema, StringSchema};
use alloc::format;

/// A table under any script: within its bounds, each question and each handler comes to one end, and the same again.
pub fn fuzz_tasks(data: &[u8]) {
    assert!(run(data) == run(data), "a replay differs");
}

/// The longest text that a table has for a task.
const WORDS: usize = 64;

/// What a table said, and what it answered.
fn run(data: &[u8]) -> Vec<String> {
    let mut limits = Limits::default();
    (limits.tasks, limits.task_bytes, limits.asks) = (3, 300, 2);
    (limits.task_ttl, limits.task_ttl_max) = (Duration::from_millis(400), Duration::from_millis(900));
    let mut table = Tasks::new(&limits, Seed::new([3; 32]));
    let (mut ids, mut said, mut clock) = (Vec::new(), Vec::new(), 0_u64);
    let mut open: BTreeSet<(TaskKey, AskId)> = BTreeSet::new();
    let mut running: BTreeSet<TaskKey> = BTreeSet::new();
    for step in data.chunks(3) {
        let [action, which, choice] = [0, 1, 2].map(|place| step.get(place).copied().unwrap_or_default());
        clock += u64::from(action >> 4) * 10;
        let now = Now::new(Instant::new(Duration::from_millis(clock)), Duration::from_millis(clock));
        let key = TaskKey(u64::from(which % 8));
        let owner = TaskOwner::new(Some(if choice & 1 == 0 { "a" } else { "b" }));
        let owner = if choice & 2 == 0 { owner } else { owner.on(1) };
        match action % 12 {
            0 | 1 => {
                let ttl = (choice & 4 == 4).then(|| Duration::from_millis(u64::from(which) * 5));
                let options = TaskOptions { ttl, ..TaskOptions::default() };
                if let Ok((key, task)) = table.create(now, owner, options, usize::from(choice)) {
                    ids.push(task.task_id);
                    running.insert(key);
                }
            }
            2 | 3 => {
                let schema = ElicitationSchema::new().optional("k", StringSchema::new());
                let params = ElicitRequestParams::from(ElicitRequestFormParams::new("m", schema));
                let request =
                    if choice & 8 == 8 { InputRequest::ListRoots } else { InputRequest::from(params) };
                let timeout = (choice & 4 == 4).then(|| Duration::from_millis(u64::from(choice)));
                if let Ok(ask) = table.ask(now, key, "k", &request, timeout) {
                    assert!(open.insert((key, ask)), "a name twice");
                }
            }
            4 => {
                let ask = AskId(u64::from(choice % 4));
                table.retract(now, key, ask);
                open.remove(&(key, ask));
            }
            5 => {
                let result =
                    Json::parse(format!("\"{}\"", "x".repeat(usize::from(choice)))).map_err(|_| failure("e"));
                let outcome = if choice & 1 == 0 { result } else { Err(failure("e")) };
                // One that does not fit has failed, which `tasks/get` tells.
                let _ = table.finish(now, key, outcome);
                running.remove(&key);
                open.retain(|(of, _)| *of != key);
            }
            6 => table.set_message(now, key, "m"),
            7..=9 => {
                let id = ids.get(usize::from(which) % ids.len().max(1)).map_or("none", String::as_str);
                let answer =
                    Json::parse(if choice & 4 == 4 { r#"{"action":"decline"}"# } else { r#"{"roots":[]}"# });
                let responses = (0..4_u8)
                    .filter_map(|number| Some((format!("k.{number}"), answer.as_ref().ok()?.clone())));
                let action = match action % 12 {
                    7 => TaskAction::Get,
                    8 => TaskAction::Update(responses.collect()),
                    _ => TaskAction::Cancel,
                };
                said.push(format!("{:?}", table.handle_request(now, &owner, &TaskRequest::new(id, action))));
                let wanted = [Arc::from(id)].into_iter().collect();
                let listened = table.listen(now, &owner, &wanted);
                for id in listened.iter() {
                    said.push(format!("{:?}", table.read(&TaskChange::new(id.clone()))));
                }
            }
            10 if choice > 250 => table.give_up(now),
            10 if choice > 240 => {
                for key in table.end_connection(1) {
                    assert!(running.remove(&key), "told to stop and did not run");
                    open.retain(|(of, _)| *of != key);
                }
            }
            10 => table.abandon(key),
            _ => table.handle_timeout(now),
        }
        while let Some(output) = table.poll_output() {
            said.push(format!("{output:?}"));
            match output {
                TaskOutput::Answered(key, ask, _) => assert!(open.remove(&(key, ask)), "nobody asked"),
                TaskOutput::Stop(key) => {
                    assert!(running.remove(&key), "told to stop and did not run");
                    open.retain(|(of, _)| *of != key);
                }
            }
        }
        if choice & 16 == 16 {
            said.push(format!("{:?}", core::iter::from_fn(|| table.poll_changed()).count()));
        }
        assert!(table.changed.len() <= limits.tasks, "more changed than there are");
        assert!(table.len() <= limits.tasks, "more than there may be");
        // Why a task has failed is said, and kept twice, whether there is room or not.
        let words = limits.tasks * 2 * WORDS;
        assert!(table.held() <= limits.task_bytes + words, "{} bytes are too much", table.held());
        assert!(table.poll_timeout().is_some() != table.is_empty(), "nobody looks after it");
    }
    while let Some(at) = table.poll_timeout() {
        table.handle_timeout(Now::new(at, Duration::ZERO));
    }
    assert!(table.is_empty() && table.held() == 0 && table.ids.is_empty(), "something is left");
    said
}
