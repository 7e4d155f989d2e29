//! Tasks that ask something.

use super::*;

/// TASK-31 to TASK-34, TASK-37: what a task asks is asked of the application, once, and answered by `tasks/update`; then it
/// is polled on. Questions are put as those of rounds are.
#[test]
fn what_a_task_asks_is_answered_once() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    let both = asking(&format!("'who':{FORM},'dirs':{ROOTS}"));
    peer.result(&poll, &both);
    let asked = peer.puts();
    assert_eq!(asked.len(), 2);
    // It is polled while somebody thinks, and asks the same.
    let poll = peer.after(500);
    peer.result(&poll, &both);
    assert!(peer.puts().is_empty());
    peer.name_roots(asked["roots/list"]);
    assert!(peer.written().is_empty(), "one answer is missing");
    peer.fill(asked["elicitation/create"]);
    let update = peer.one();
    assert_eq!((method(&update), params(&update)["taskId"].get()), ("tasks/update".into(), "\"t-1\""));
    let answers = json("{'dirs':{'roots':[]},'who':{'action':'accept','content':{'name':'Ada'}}}");
    assert_eq!(params(&update)["inputResponses"].get(), answers);
    peer.result(&update, "{'resultType':'complete'}");
    // The server may not have noticed yet (TASK-40).
    let poll = peer.after(500);
    peer.result(&poll, &both);
    assert!(peer.puts().is_empty());
    let poll = peer.after(500);
    peer.result(&poll, &task("completed", &format!(",'result':{DONE}")));
    assert_eq!(peer.outcome(&call).unwrap().text(), "done");
    peer.is_idle();
}

/// TASK-32: answers that are given while the server is being asked go out once it has answered that.
#[test]
fn an_answer_waits_for_the_poll_under_way() {
    let mut peer = peer();
    peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    let poll = peer.after(500);
    peer.fill(ask);
    assert!(peer.written().is_empty());
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    peer.wait(0);
    assert_eq!(method(&peer.one()), "tasks/update");
}

/// TASK-34: what a task does not ask any more is asked of nobody.
#[test]
fn a_question_that_a_task_takes_back_is_retracted() {
    let mut peer = peer();
    peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'who':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    let poll = peer.after(500);
    peer.result(&poll, &task("working", ""));
    let outputs = peer.drain();
    assert!(outputs.contains(&Output::Event(Event::Retracted(ask))), "{outputs:?}");
    peer.fill(ask);
    assert!(peer.written().is_empty());
    assert_eq!(method(&peer.after(500)), "tasks/get");
}

/// TASK-32, TASK-33: when one question has no answer, those that people gave to the others are sent all the same; only then
/// the call ends, with what is needed to go on by hand.
#[test]
fn answers_are_sent_although_one_is_refused() {
    let inadmissible = "{'method':'sampling/createMessage','params':{'messages':[],'maxTokens':1}}";
    for (other, admissible) in [(FORM, true), (inadmissible, false)] {
        let mut peer = peer();
        let call = peer.task();
        let poll = peer.after(500);
        peer.result(&poll, &asking(&format!("'dirs':{ROOTS},'other':{other}")));
        let asked = peer.puts();
        if admissible {
            peer.connection.answer(peer.now, asked["elicitation/create"], Err(Refusal::Failed)).unwrap();
        }
        peer.name_roots(asked["roots/list"]);
        let update = peer.one();
        assert_eq!(params(&update)["inputResponses"].get(), json("{'dirs':{'roots':[]}}"));
        peer.result(&update, "{}");
        let (why, task) = peer.unfinished(&call);
        match why {
            Unfinished::Input(Unmet::Refused { key, refusal: Refusal::Failed }) if admissible => {
                assert_eq!(key, "other");
            }
            Unfinished::Input(Unmet::Inadmissible { key, .. }) if !admissible => assert_eq!(key, "other"),
            other => panic!("{other:?}"),
        }
        assert_eq!(task.task_id(), "t-1");
        peer.is_idle();
    }
}

/// TASK-33: when nothing that it asks has an answer, nothing is sent.
#[test]
fn a_task_whose_only_question_is_refused_ends_the_call() {
    let mut peer = peer();
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'w':{FORM}")));
    let ask = peer.puts()["elicitation/create"];
    peer.connection.answer(peer.now, ask, Err(Refusal::Rejected)).unwrap();
    assert!(matches!(peer.unfinished(&call).0, Unfinished::Input(Unmet::Refused { .. })));
    peer.is_idle();
}

/// How often a task may ask something new is bounded, and how much at once.
#[test]
fn what_a_task_asks_is_bounded() {
    let limits = Limits { call_rounds: 2, asked: 2, ..Limits::default() };
    let mut peer = peer_with(declaring().limits(limits));
    let call = peer.task();
    for key in ["a", "b"] {
        let poll = peer.after(500);
        peer.result(&poll, &asking(&format!("'{key}':{FORM}")));
        let ask = peer.puts()["elicitation/create"];
        peer.fill(ask);
        let update = peer.one();
        peer.result(&update, "{}");
    }
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'c':{FORM}")));
    assert_eq!(peer.unfinished(&call).0, Unfinished::Input(Unmet::Rounds { limit: 2 }));
    let call = peer.task();
    let poll = peer.after(500);
    peer.result(&poll, &asking(&format!("'a':{FORM},'b':{FORM},'c':{FORM}")));
    assert!(matches!(peer.unfinished(&call).0, Unfinished::Input(Unmet::Full(_))));
    peer.is_idle();
}
