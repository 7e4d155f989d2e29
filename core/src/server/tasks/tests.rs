use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::model::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitationSchema, GetTaskResult, StringSchema, TaskStatus,
};
use crate::server::testing::{at, limits, now};

fn table(change: impl FnOnce(&mut Limits)) -> Tasks {
    Tasks::new(&limits(change), Seed::new([7; 32]))
}

fn kept(millis: u64) -> TaskOptions {
    TaskOptions::new().ttl(Duration::from_millis(millis))
}

/// A table with one task of `ada`, at the time of [`now`].
fn begun(options: TaskOptions) -> (Tasks, TaskKey, String) {
    let mut table = table(|_| {});
    let (key, task) = table.create(now(), ada(), options, 0).unwrap();
    (table, key, task.task_id)
}

fn ada() -> TaskOwner {
    TaskOwner::new(Some("ada"))
}

fn get(table: &mut Tasks, at: Now, id: &str) -> Result<GetTaskResult, ErrorObject> {
    match table.handle_request(at, &ada(), &TaskRequest::new(id, TaskAction::Get))? {
        TaskAnswer::Task(task) => Ok(GetTaskResult::new(task.to_detailed())),
        answer => panic!("{answer:?}"),
    }
}

#[track_caller]
fn status(table: &mut Tasks, at: Now, id: &str) -> TaskStatus {
    get(table, at, id).unwrap().task.task.status
}

fn update(table: &mut Tasks, id: &str, responses: &[(&str, &str)]) {
    let responses = responses.iter().map(|(key, json)| ((*key).into(), Json::parse(*json).unwrap()));
    let request = TaskRequest::new(id, TaskAction::Update(responses.collect()));
    assert!(matches!(table.handle_request(now(), &ada(), &request), Ok(TaskAnswer::Acknowledged)));
}

fn cancel(table: &mut Tasks, id: &str) {
    let request = TaskRequest::new(id, TaskAction::Cancel);
    assert!(matches!(table.handle_request(now(), &ada(), &request), Ok(TaskAnswer::Acknowledged)));
}

fn outputs(table: &mut Tasks) -> Vec<TaskOutput> {
    core::iter::from_fn(|| table.poll_output()).collect()
}

fn question() -> InputRequest {
    let schema = ElicitationSchema::new().required("name", StringSchema::new());
    ElicitRequestParams::from(ElicitRequestFormParams::new("Who?", schema)).into()
}

fn keys(table: &mut Tasks, id: &str) -> Vec<String> {
    get(table, now(), id).unwrap().task.input_requests.into_keys().collect()
}

const GRACE_HOPPER: &str = r#"{"action":"accept","content":{"name":"Grace"}}"#;

/// TASK-12, TASK-13, TASK-16, TASK-22: a task is found as soon as it is told of, with all that is known of it.
#[test]
fn a_task_is_there_at_once() {
    let options = kept(60_000).poll_interval(Duration::from_millis(250)).status_message("queued");
    let (mut table, key, id) = begun(options);
    let task = get(&mut table, at(1_500), &id).unwrap().task.task;
    assert_eq!((task.status, task.status_message.as_deref()), (TaskStatus::Working, Some("queued")));
    assert_eq!((task.ttl_ms, task.poll_interval_ms), (Some(60_000), Some(250)));
    assert_eq!((&*task.created_at, &*task.last_updated_at), ("2027-01-15T08:00:00.000Z", &*task.created_at));

    let later = Now::new(at(2_000).mono, now().unix + Duration::from_millis(1_001));
    table.set_message(later, key, "half way");
    let task = get(&mut table, later, &id).unwrap().task.task;
    assert_eq!(task.status_message.as_deref(), Some("half way"));
    assert_eq!(task.last_updated_at, "2027-01-15T08:00:01.001Z");
    table.set_message(later, key, "ä".repeat(2_000));
    assert_eq!(get(&mut table, later, &id).unwrap().task.task.status_message, Some("ä".repeat(1_024)));
}

/// TASK-67: ids have 256 bits of a seed's chance, and none is like another; tables of other seeds have others.
#[test]
fn ids_cannot_be_guessed() {
    let ids = |seed| {
        let mut table = Tasks::new(&Limits::default(), Seed::new([seed; 32]));
        [0; 3].map(|_| table.create(now(), ada(), TaskOptions::new(), 0).unwrap().1.task_id)
    };
    let all: BTreeSet<String> = ids(1).into_iter().chain(ids(2)).collect();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|id| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    assert_eq!(ids(1), ids(1));
}

/// TASK-43, TASK-44, TASK-68: to everybody but its owner a task is as one that never was, whatever is asked of it.
#[test]
fn a_task_is_its_owners_alone() {
    let (mut table, key, id) = begun(TaskOptions::new());
    let never = get(&mut table, now(), "nothing").unwrap_err();
    assert_eq!(never.code, -32602);
    for other in [TaskOwner::new(Some("bob")), TaskOwner::new(None), ada().on(1)] {
        for action in [TaskAction::Get, TaskAction::Update(Default::default()), TaskAction::Cancel] {
            let refused = table.handle_request(now(), &other, &TaskRequest::new(&*id, action));
            assert_eq!(refused.unwrap_err(), never);
        }
    }
    assert_eq!(status(&mut table, now(), &id), TaskStatus::Working);
    assert_eq!((outputs(&mut table), table.len()), (vec![], 1));
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
}

/// TASK-68: who could not call its tool does not get at its task, though he is its owner.
#[test]
fn a_task_needs_the_scopes_of_its_tool() {
    let (mut table, _, id) = begun(TaskOptions::new().scopes(["payroll"]));
    let may = |scope: &str| ada().scopes([scope.into()].into());
    let wanted: Watched = [&*id].into_iter().map(Arc::from).collect();
    for action in [TaskAction::Get, TaskAction::Update(Default::default()), TaskAction::Cancel] {
        let refused = table.handle_request(now(), &may("read"), &TaskRequest::new(&*id, action));
        assert_eq!(refused.unwrap_err().code, -32602);
    }
    assert!(table.listen(now(), &may("read"), &wanted).is_empty());
    assert_eq!(table.listen(now(), &may("payroll"), &wanted).len(), 1);
    assert!(table.handle_request(now(), &may("payroll"), &TaskRequest::new(&*id, TaskAction::Get)).is_ok());
    assert_eq!(status(&mut table, now(), &id), TaskStatus::Working);
}

/// TASK-14, TASK-15, TASK-24, TASK-26, TASK-27: a result completes a task, whatever it says, and an error fails it.
#[test]
fn what_a_handler_returns_becomes_of_its_task() {
    let result = Json::parse(r#"{"content":[],"isError":true}"#).unwrap();
    let (mut table, key, id) = begun(TaskOptions::new());
    table.finish(now(), key, Ok(result.clone())).unwrap();
    let task = get(&mut table, now(), &id).unwrap().task;
    assert_eq!((task.task.status, task.result, task.error), (TaskStatus::Completed, Some(result), None));

    let (mut table, key, id) = begun(TaskOptions::new());
    table.finish(now(), key, Err(ErrorObject::new(code::INTERNAL, "internal error"))).unwrap();
    let task = get(&mut table, now(), &id).unwrap().task;
    assert_eq!((task.task.status, task.result), (TaskStatus::Failed, None));
    assert_eq!(task.task.status_message.as_deref(), Some("internal error"));
    assert_eq!(task.error, Some(ErrorObject::new(code::INTERNAL, "internal error")));
    // The first end counts.
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    table.set_message(now(), key, "more");
    cancel(&mut table, &id);
    assert_eq!(status(&mut table, now(), &id), TaskStatus::Failed);
    assert_eq!(outputs(&mut table), []);
}

/// TASK-25, TASK-46: a task that is cancelled stays so; its handler is told once, and whoever asks again hears no more
/// than that it was understood.
#[test]
fn a_cancelled_task_stays_cancelled() {
    let (mut table, key, id) = begun(TaskOptions::new());
    cancel(&mut table, &id);
    cancel(&mut table, &id);
    assert_eq!(outputs(&mut table), [TaskOutput::Stop(key)]);
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    assert_eq!(status(&mut table, now(), &id), TaskStatus::Cancelled);
    assert_eq!(table.ask(now(), key, "name", &question(), None), Err(AskError::Over));
}

/// TASK-23, TASK-35, TASK-36, TASK-41, TASK-42: what is open is told under keys that come once, also where the handler
/// uses a name again; answers may come one by one, and those for other keys are ignored.
#[test]
fn questions_have_keys_of_their_own() {
    let (mut table, key, id) = begun(TaskOptions::new());
    let first = table.ask(now(), key, "name", &question(), None).unwrap();
    let second = table.ask(now(), key, "name", &question(), None).unwrap();
    assert_eq!(keys(&mut table, &id), ["name.1", "name.2"]);
    assert_eq!(status(&mut table, now(), &id), TaskStatus::InputRequired);

    update(&mut table, &id, &[("name.2", GRACE_HOPPER), ("name", GRACE_HOPPER), ("name.3", "7")]);
    let answer = Answer(Ok(Json::parse(GRACE_HOPPER).unwrap()));
    assert_eq!(outputs(&mut table), [TaskOutput::Answered(key, second, answer.clone())]);
    update(&mut table, &id, &[("name.2", GRACE_HOPPER)]);
    assert_eq!((outputs(&mut table), keys(&mut table, &id)), (vec![], vec!["name.1".to_string()]));
    update(&mut table, &id, &[("name.1", GRACE_HOPPER)]);
    assert_eq!(outputs(&mut table), [TaskOutput::Answered(key, first, answer)]);
    assert_eq!(status(&mut table, now(), &id), TaskStatus::Working);

    // One that is taken back is as one that was answered.
    let third = table.ask(now(), key, "name", &question(), None).unwrap();
    assert_eq!(keys(&mut table, &id), ["name.3"]);
    table.retract(now(), key, third);
    update(&mut table, &id, &[("name.3", GRACE_HOPPER)]);
    assert_eq!((outputs(&mut table), status(&mut table, now(), &id)), (vec![], TaskStatus::Working));
}

/// TASK-36, MRTR-29: an answer that does not fit is none: the same is asked again, under a key that is new.
#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    let (mut table, key, id) = begun(TaskOptions::new());
    let ask = table.ask(now(), key, "name", &question(), None).unwrap();
    for (turn, wrong) in ["7", "{}", r#"{"action":"accept"}"#, r#"{"action":"accept","content":{"name":1}}"#]
        .into_iter()
        .enumerate()
    {
        let open = keys(&mut table, &id);
        assert_eq!(open, [alloc::format!("name.{}", turn + 1)]);
        update(&mut table, &id, &[(&open[0], wrong)]);
        assert_eq!(outputs(&mut table), []);
    }
    update(&mut table, &id, &[("name.5", r#"{"action":"decline"}"#)]);
    assert!(matches!(&outputs(&mut table)[..], [TaskOutput::Answered(_, answered, _)] if *answered == ask));
}

/// TASK-30: a task is kept for its time and no longer: one that still runs fails then and is told to stop, and is there
/// for another minute.
#[test]
fn a_task_is_kept_for_its_time() {
    for finished in [true, false] {
        let (mut table, key, id) = begun(kept(62_000));
        if finished {
            table.finish(now(), key, Ok(Json::empty_object())).unwrap();
        }
        assert_eq!(table.poll_timeout(), Some(at(63_000).mono));
        let expected = if finished { TaskStatus::Completed } else { TaskStatus::Working };
        assert_eq!(status(&mut table, at(62_999), &id), expected);
        if !finished {
            assert_eq!(status(&mut table, at(63_000), &id), TaskStatus::Failed);
            assert_eq!(outputs(&mut table), [TaskOutput::Stop(key)]);
            assert_eq!(status(&mut table, at(122_999), &id), TaskStatus::Failed);
        }
        table.handle_timeout(at(123_000));
        assert_eq!(get(&mut table, at(123_000), &id).unwrap_err().code, -32602);
        assert!(table.is_empty() && table.poll_timeout().is_none() && table.held() == 0);
        assert_eq!(outputs(&mut table), []);
    }
}

/// `Limits::task_ttl`, `Limits::task_ttl_max`: the default, and the most that a task may ask for.
#[test]
fn how_long_a_task_is_kept_is_bounded() {
    let mut table = table(|limits| {
        (limits.task_ttl, limits.task_ttl_max) = (Duration::from_secs(1), Duration::from_secs(2));
    });
    for (options, millis) in [(TaskOptions::new(), 1_000), (kept(2_000), 2_000), (kept(2_001), 2_000)] {
        let (_, task) = table.create(now(), ada(), options, 0).unwrap();
        assert_eq!(task.ttl_ms, Some(millis));
    }
}

/// A question may have a time of its own; who answers later answers nothing.
#[test]
fn a_question_may_time_out() {
    let (mut table, key, id) = begun(TaskOptions::new());
    let after = Duration::from_millis(500);
    let ask = table.ask(now(), key, "name", &question(), Some(after)).unwrap();
    table.ask(now(), key, "other", &question(), None).unwrap();
    assert_eq!(table.poll_timeout(), Some(at(1_500).mono));
    table.handle_timeout(at(1_499));
    assert_eq!(outputs(&mut table), []);
    table.handle_timeout(at(1_500));
    let timed_out = Answer(Err(AskError::TimedOut { after }));
    assert_eq!(outputs(&mut table), [TaskOutput::Answered(key, ask, timed_out)]);
    update(&mut table, &id, &[("name.1", GRACE_HOPPER)]);
    assert_eq!((outputs(&mut table), keys(&mut table, &id)), (vec![], vec!["other.2".to_string()]));
}

/// `Limits::tasks`: reached exactly, and passed by one; who ends makes room.
#[test]
fn tasks_are_bounded() {
    let mut table = table(|limits| limits.tasks = 2);
    for _ in 0..2 {
        table.create(now(), ada(), kept(1_000), 0).unwrap();
    }
    assert_eq!(table.create(now(), ada(), TaskOptions::new(), 0).unwrap_err(), Full::new("tasks", 2));
    table.handle_timeout(at(2_000));
    table.create(at(2_000), ada(), TaskOptions::new(), 0).unwrap();
    assert_eq!(table.len(), 2);
}

/// `Limits::task_bytes`, `Limits::asks`: a result for which there is no room fails its task, a question that finds none
/// is not asked; each is reached exactly, and passed by one.
#[test]
fn what_tasks_keep_is_bounded() {
    let result = |length: usize| Json::parse(alloc::format!("\"{}\"", "x".repeat(length - 2))).unwrap();
    let mut bounded = table(|limits| limits.task_bytes = 1_000);
    let [first, second, third] = [0; 3].map(|_| bounded.create(now(), ada(), TaskOptions::new(), 0).unwrap());
    bounded.finish(now(), first.0, Ok(result(400))).unwrap();
    bounded.finish(now(), second.0, Ok(result(600))).unwrap();
    assert_eq!(bounded.held(), 1_000);
    let full = Full::new("task_bytes", 1_000);
    assert_eq!(bounded.ask(now(), third.0, "name", &question(), None), Err(AskError::Full(full.clone())));
    assert_eq!(bounded.finish(now(), third.0, Ok(result(1_001))), Err(full));
    let task = get(&mut bounded, now(), &third.1.task_id).unwrap().task;
    assert_eq!((task.task.status, task.error.unwrap().code), (TaskStatus::Failed, -32603));

    let mut bounded = table(|limits| limits.asks = 1);
    let (key, _) = bounded.create(now(), ada(), TaskOptions::new(), 0).unwrap();
    let ask = bounded.ask(now(), key, "name", &question(), None).unwrap();
    let full = AskError::Full(Full::new("asks", 1));
    assert_eq!(bounded.ask(now(), key, "name", &question(), None), Err(full));
    bounded.retract(now(), key, ask);
    bounded.ask(now(), key, "name", &question(), None).unwrap();
}

/// The tasks of a byte stream end with it, and no others; those of a server that stops have failed.
#[test]
fn tasks_end_with_what_they_live_on() {
    let mut table = table(|_| {});
    let (here, _) = table.create(now(), ada().on(1), TaskOptions::new(), 0).unwrap();
    let (done, _) = table.create(now(), ada().on(1), TaskOptions::new(), 0).unwrap();
    table.finish(now(), done, Ok(Json::empty_object())).unwrap();
    table.create(now(), ada().on(2), TaskOptions::new(), 0).unwrap();
    let (http, task) = table.create(now(), ada(), TaskOptions::new(), 0).unwrap();
    assert_eq!(table.end_connection(1), [here]);
    assert_eq!((table.len(), outputs(&mut table)), (2, vec![]));
    table.give_up(now());
    assert_eq!(outputs(&mut table).len(), 2);
    let task = get(&mut table, now(), &task.task_id).unwrap().task;
    assert_eq!(task.error.unwrap().message, "the server is shutting down");
    table.abandon(http);
    assert_eq!((table.len(), outputs(&mut table)), (1, vec![]));
}

/// TASK-67: nothing prints an id, an owner or what is kept.
#[test]
fn nothing_private_is_printed() {
    let (mut table, key, id) = begun(TaskOptions::new().status_message("private"));
    table.finish(now(), key, Ok(Json::parse(r#""private""#).unwrap())).unwrap();
    let request =
        TaskRequest::new(&*id, TaskAction::Update([("private".into(), Json::empty_object())].into()));
    let options = TaskOptions::new().status_message("private");
    let answer = table.handle_request(now(), &ada(), &TaskRequest::new(&*id, TaskAction::Get));
    let printed = alloc::format!("{table:?} {request:?} {options:?} {:?} {key:?} {answer:?}", ada());
    for secret in [&*id, "private", "ada"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

/// All that are said to be different, once each.
fn changed(table: &mut Tasks) -> Vec<(TaskChange, Option<u64>)> {
    core::iter::from_fn(|| table.poll_changed()).collect()
}

/// TASK-51, TASK-68: to a task only its owner may listen.
#[test]
fn owners_may_listen() {
    let (mut table, _, id) = begun(TaskOptions::new());
    let wanted: Watched = [&*id, "never"].into_iter().map(Arc::from).collect();
    assert!(table.listen(now(), &TaskOwner::new(Some("bob")), &wanted).is_empty());
    let listened = table.listen(now(), &ada(), &wanted);
    assert_eq!(listened.iter().map(|id| &**id).collect::<Vec<_>>(), [&*id]);
}

/// TASK-50: however often a task changes before anybody looks, that is said once; what is read then is what `tasks/get`
/// tells, and the byte stream that it lives on is named.
#[test]
fn a_task_that_changed_is_named_and_read() {
    let (mut table, key, id) = begun(TaskOptions::new());
    for message in ["one", "two"] {
        table.set_message(now(), key, message);
    }
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    let change = TaskChange::new(Arc::from(&*id));
    assert_eq!(changed(&mut table), [(change.clone(), None)]);
    assert_eq!(table.read(&change).unwrap().to_detailed(), get(&mut table, now(), &id).unwrap().task);
    assert_eq!((changed(&mut table), table.read(&TaskChange::new("never".into())).is_none()), (vec![], true));

    let (here, task) = table.create(now(), ada().on(7), TaskOptions::new(), 0).unwrap();
    table.set_message(now(), here, "at work");
    assert_eq!(changed(&mut table), [(TaskChange::new(Arc::from(&*task.task_id)), Some(7))]);
    table.set_message(now(), here, "still");
    table.end_connection(7);
    assert_eq!(changed(&mut table), []);
}

/// `Limits::tasks`, `Limits::task_bytes`: under any script, the bounds hold, whoever asks gets one answer, whoever runs is
/// told to stop once at the most, and nothing is left at the end.
#[test]
fn any_script_keeps_the_bounds() {
    let mut chance = Entropy::new(Seed::new([9; 32]));
    for _ in 0..400 {
        let script: Vec<u8> = (0..24).flat_map(|_| chance.next()).collect();
        fuzz::fuzz_tasks(&script);
    }
}

/// TASK-41: where nothing changes, the task says nothing of a change, and nobody is told of one.
#[test]
fn what_changes_nothing_touches_nothing() {
    let (mut table, key, id) = begun(TaskOptions::new().status_message("at work"));
    let before = get(&mut table, now(), &id).unwrap().task;
    let later = Now::new(at(2_000).mono, now().unix + Duration::from_secs(1));
    let update = |table: &mut Tasks| {
        let responses = [("never".into(), Json::empty_object())].into();
        let request = TaskRequest::new(&*id, TaskAction::Update(responses));
        assert!(table.handle_request(later, &ada(), &request).is_ok());
    };
    update(&mut table);
    table.set_message(later, key, "at work");
    table.retract(later, key, AskId(7));
    table.handle_timeout(later);
    assert_eq!((get(&mut table, later, &id).unwrap().task, changed(&mut table)), (before, vec![]));

    table.finish(later, key, Ok(Json::empty_object())).unwrap();
    let done = get(&mut table, later, &id).unwrap().task;
    changed(&mut table);
    update(&mut table);
    table.set_message(later, key, "too late");
    assert_eq!((get(&mut table, later, &id).unwrap().task, changed(&mut table)), (done, vec![]));
}

/// `Limits::tasks`: what is over gives way, the oldest first, of whoever has most; who has less loses nothing.
#[test]
fn of_too_many_tasks_those_that_are_over_give_way() {
    let mut table = table(|limits| limits.tasks = 4);
    let bob = TaskOwner::new(Some("bob"));
    let create = |table: &mut Tasks, owner: &TaskOwner| {
        table.create(now(), owner.clone(), TaskOptions::new(), 0).map(|(key, task)| (key, task.task_id))
    };
    let (mine, my_id) = create(&mut table, &ada()).unwrap();
    table.finish(now(), mine, Ok(Json::empty_object())).unwrap();
    let his = [(); 3].map(|()| create(&mut table, &bob).unwrap().0);
    assert!(create(&mut table, &bob).is_err(), "hers is over, but he has more");
    for key in his {
        table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    }
    create(&mut table, &bob).unwrap();
    assert_eq!(status(&mut table, now(), &my_id), TaskStatus::Completed);
    create(&mut table, &ada()).unwrap();
    assert_eq!(table.len(), 4);
    assert_eq!(status(&mut table, now(), &my_id), TaskStatus::Completed);
}

/// `Limits::task_bytes`: results give way as tasks do, and none does for what fits nowhere.
#[test]
fn of_too_many_bytes_results_that_wait_longest_give_way() {
    let mut table = table(|limits| limits.task_bytes = 10);
    let keys = [(); 3].map(|()| table.create(now(), ada(), TaskOptions::new(), 0).unwrap().0);
    for key in keys {
        table.finish(now(), key, Ok(Json::parse(r#""12""#).unwrap())).unwrap();
    }
    assert_eq!((table.len(), table.held()), (2, 8));
    let (large, _) = table.create(now(), ada(), TaskOptions::new(), 0).unwrap();
    assert!(table.finish(now(), large, Ok(Json::parse(r#""123456789""#).unwrap())).is_err());
    assert!(table.tasks.contains_key(&keys[2]));
}

/// TASK-30: what is finished just in time can be looked at; what nobody wants any more is not kept for long.
#[test]
fn what_is_over_is_kept_as_long_as_somebody_may_look() {
    let (mut table, key, id) = begun(kept(1_000));
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    assert_eq!(status(&mut table, at(60_999), &id), TaskStatus::Completed);
    assert_eq!(get(&mut table, at(60_999), &id).unwrap().task.task.ttl_ms, Some(60_000));
    assert!(get(&mut table, at(61_000), &id).is_err());

    let (mut table, _, id) = begun(TaskOptions::new());
    cancel(&mut table, &id);
    assert_eq!(status(&mut table, at(60_999), &id), TaskStatus::Cancelled);
    assert!(get(&mut table, at(61_000), &id).is_err());
}

/// Times are such as every client reads, and none is asked to look without a pause.
#[test]
fn times_are_integers_that_clients_read() {
    let mut table = table(|limits| limits.task_ttl_max = Duration::MAX);
    let options = |time| TaskOptions::new().ttl(time).poll_interval(time);
    let most = (1 << 53) - 1;
    for (time, ttl, poll) in [(Duration::MAX, most, most), (Duration::ZERO, 0, 1)] {
        let (_, task) = table.create(now(), ada(), options(time), 0).unwrap();
        assert_eq!((task.ttl_ms, task.poll_interval_ms), (Some(ttl), Some(poll)));
    }
}

/// `Limits::input_rounds`: what does not fit is asked for again so often, and no more.
#[test]
fn a_client_that_never_answers_right_is_given_up() {
    let (mut table, key, id) = begun(TaskOptions::new());
    table.limits.input_rounds = 1;
    let ask = table.ask(now(), key, "name", &question(), None).unwrap();
    for attempt in ["name.1", "name.2"] {
        assert!(outputs(&mut table).is_empty());
        update(&mut table, &id, &[(attempt, "7")]);
    }
    let told = outputs(&mut table);
    let [TaskOutput::Answered(of, asked, Answer(Err(AskError::Invalid { .. })))] = &*told else {
        panic!("{told:?}")
    };
    assert_eq!((*of, *asked), (key, ask));
}

/// `Limits::task_bytes`: the parameters of a call count as long as it runs.
#[test]
fn parameters_count_while_a_task_runs() {
    let mut table = table(|limits| limits.task_bytes = 10);
    let (key, _) = table.create(now(), ada(), TaskOptions::new(), 8).unwrap();
    let full = Full::new("task_bytes", 10);
    assert_eq!(table.create(now(), ada(), TaskOptions::new(), 3).unwrap_err(), full);
    table.create(now(), ada(), TaskOptions::new(), 2).unwrap();
    assert_eq!(table.held(), 10);
    table.finish(now(), key, Ok(Json::empty_object())).unwrap();
    assert_eq!(table.held(), 4);
    table.create(now(), ada(), TaskOptions::new(), 8).unwrap();
    assert_eq!((table.held(), table.len()), (10, 2));
}
