//! Servers as child processes: how they are started, how they end, what they leave.

use std::time::Duration;

use mcp_driver::{CallError, Command, Era, EraChoice, Error, Limits};
use serde_json::json;

use super::{builder, call, calling, command, script, spawn, text};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, SOON, gone, number_in, within};

fn pid<K: Kit>(client: &Client<K>) -> u32 {
    text::<K>(client, "pid").parse().unwrap()
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// STDIO-15: closing returns when the child has exited, and leaves no zombie.
pub fn closing_ends_the_child<K: Kit>(program: &str) {
    let (client, _) = spawn::<K>(command::<K>(program), builder::<K>(EraChoice::Auto)).unwrap();
    let pid = pid::<K>(&client);
    K::wait(client.close()).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

/// A client that is dropped ends its child as well, once the last clone is gone.
pub fn dropping_the_client_ends_the_child<K: Kit>(program: &str) {
    let (client, _) = spawn::<K>(command::<K>(program), builder::<K>(EraChoice::Auto)).unwrap();
    let pid = pid::<K>(&client);
    let clone = client.clone();
    drop(client);
    assert_eq!(call::<K>(&clone, "echo", json!({ "text": "here" })).unwrap().text(), "here");
    drop(clone);
    gone(pid);
}

/// B85: when the child dies, every call under way fails at once, with its exit status and its last words;
/// later calls fail without waiting.
pub fn calls_fail_at_once_when_the_child_dies<K: Kit>(program: &str) {
    let (client, events) = spawn::<K>(command::<K>(program), builder::<K>(EraChoice::Auto)).unwrap();
    let calls = [(); 3].map(|()| calling::<K>(&client, "wait"));
    calls.iter().for_each(|_| drop(events.expect("wait started")));
    let check = |outcome| match outcome {
        Err(CallError::Broken { reason, .. }) => {
            let reason: String = reason;
            assert!(reason.contains("exit status: 3") && reason.contains("panic: x"), "{reason}");
        }
        other => panic!("{other:?}"),
    };
    within(SOON, || {
        check(call::<K>(&client, "die", json!({ "code": 3 })));
        calls.into_iter().for_each(|call| check(call.join()));
        check(call::<K>(&client, "echo", json!({ "text": "anybody?" })));
        K::wait(client.close()).unwrap();
    });
}

/// B84: a program that is not there is named, and where it was looked for.
pub fn a_missing_program_is_named<K: Kit>(_: &str) {
    within(SOON, || {
        let error = K::wait(Client::<K>::spawn("no-such-mcp-server")).unwrap_err().to_string();
        assert!(error.contains("`no-such-mcp-server`") && error.contains("PATH="), "{error}");
        let error = K::wait(Client::<K>::spawn("/no/such/server")).unwrap_err().to_string();
        assert!(error.contains("`/no/such/server`") && !error.contains("PATH"), "{error}");
        let error = K::wait(Client::<K>::spawn("npx server")).unwrap_err().to_string();
        assert!(error.contains("`npx server`") && error.contains("`Command::arg`"), "{error}");
    });
}

/// B84: neither is a directory a program.
pub fn a_directory_is_no_program<K: Kit>(_: &str) {
    within(SOON, || {
        let error = K::wait(Client::<K>::spawn("/tmp")).unwrap_err();
        assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("`/tmp`"), "{error}");
    });
}

/// A child that ends before it says anything is quoted: connecting fails with its status and last words.
pub fn a_child_that_says_nothing_is_quoted<K: Kit>(_: &str) {
    let command = Command::new("sh").args(["-c", "echo 'no config' >&2; exit 7"]);
    let error = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap_err().to_string();
    assert!(error.contains("exit status: 7") && error.contains("no config"), "{error}");
}

/// B83, STDIO-16: a child that ignores the end of its input and TERM is killed, with all of its group.
pub fn a_stubborn_child_is_killed_with_its_group<K: Kit>(program: &str) {
    let command = script::<K>(
        program,
        "trap '' TERM; (while :; do sleep 100; done) & echo \"pid $!\" >&2; echo \"pid $$\" >&2; \"$@\"; \
         while :; do sleep 100; done",
    );
    let limits = limits(|limits| limits.child_exit = Duration::from_millis(100));
    let builder = builder::<K>(EraChoice::Auto).limits(limits);
    let (client, events) = spawn::<K>(command, builder).unwrap();
    let pids = [(); 2].map(|()| number_in(&events.expect("pid ")));
    within(SOON, || K::wait(client.close()).unwrap());
    pids.into_iter().for_each(gone);
}

/// Nobody can close what never opened, and the program may end with the error: the child is gone before that.
pub fn a_child_that_never_connects_is_gone_with_the_error<K: Kit>(_: &str) {
    let child = r#"trap '' TERM; echo "pid $$" >&2; read -r probe
        echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not today"}}'
        while :; do sleep 100; done"#;
    let limits = limits(|limits| limits.child_exit = Duration::from_millis(100));
    let (tell, events) = Events::new();
    let builder = builder::<K>(EraChoice::Modern).limits(limits).on_stderr(tell.lines());
    let client = K::wait(builder.spawn(Command::new("sh").args(["-c", child])));
    assert!(matches!(client, Err(Error::Call(_))), "{client:?}");
    let pid = number_in(&events.expect("pid "));
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

/// STDIO-05: what a child says on its standard error is passed on to that of the client's program, where nobody has said
/// who is to hear of it.
pub fn the_standard_error_of_a_child_is_passed_on<K: Kit>(program: &str) {
    let parent = std::process::Command::new(program).args([K::NAME, "--parent"]).output().unwrap();
    assert!(parent.status.success(), "{parent:?}");
    let heard = String::from_utf8_lossy(&parent.stderr);
    assert!(heard.contains("no more, no less"), "{heard}");
}

/// B83: what a launcher started goes with it, even if it never hears that its input has ended.
pub fn a_grandchild_goes_with_its_launcher<K: Kit>(program: &str) {
    let command = script::<K>(program, "sleep 1000 & echo \"pid $!\" >&2; exec \"$@\"");
    let (client, events) = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap();
    let pid = number_in(&events.expect("pid "));
    within(SOON, || K::wait(client.close()).unwrap());
    gone(pid);
}

/// A process that has left the group and holds the output holds nobody up: neither calls under way, which
/// fail when the child is gone, nor whoever closes.
pub fn an_escaped_grandchild_holds_nobody_up<K: Kit>(program: &str) {
    let command = script::<K>(program, "setsid sleep 60 & exec \"$@\"");
    let (client, _) = spawn::<K>(command.clone(), builder::<K>(EraChoice::Auto)).unwrap();
    within(SOON, || {
        let error = call::<K>(&client, "die", json!({ "code": 4 })).unwrap_err();
        assert!(error.to_string().contains("exit status: 4"), "{error}");
    });
    let (client, _) = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap();
    within(SOON, || K::wait(client.close()).unwrap());
}

/// What a child said last is in the error, however much it had said before: 8 KiB are kept, in which the end is quoted.
pub fn the_end_of_the_standard_error_is_quoted<K: Kit>(_: &str) {
    let flood = "i=0; while [ $i -lt 400 ]; do echo \"line $i of many that nobody needs to read\" >&2; i=$((i+1)); done";
    let command = Command::new("sh").args(["-c", &format!("{flood}; echo 'no config' >&2; exit 7")]);
    let error = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap_err().to_string();
    assert!(error.contains("no config") && error.contains("line 399"), "{error}");
    assert!(!error.contains("line 0 ") && error.len() < 9_000, "{error}");
}

/// VER-14: others stop at the probe without a word, as the Python SDK of 2024 does, and end when they are greeted.
pub fn a_server_that_dies_of_the_probe_when_it_is_greeted_is_started_again<K: Kit>(program: &str) {
    let command = script::<K>(
        program,
        r#"IFS= read -r line; case $line in
        *'"server/discover"'*) IFS= read -r line; exit 1;;
        *) { printf '%s\n' "$line"; cat; } | "$@" --legacy-only;;
        esac"#,
    );
    let limits = limits(|limits| limits.probe = Duration::from_millis(50));
    let (client, _) = spawn::<K>(command, builder::<K>(EraChoice::Auto).limits(limits)).unwrap();
    assert_eq!(client.era(), Era::Legacy);
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "here" })).unwrap().text(), "here");
    K::wait(client.close()).unwrap();
}

/// STDIO-19: some legacy servers die of the probe. They are started again and greeted the legacy way.
pub fn a_server_that_dies_of_the_probe_is_started_again<K: Kit>(program: &str) {
    let command = script::<K>(
        program,
        r#"IFS= read -r line; case $line in
        *'"initialize"'*) { printf '%s\n' "$line"; cat; } | "$@" --legacy-only;;
        *) echo 'expected initialize' >&2; exit 3;;
        esac"#,
    );
    let (client, events) = spawn::<K>(command.clone(), builder::<K>(EraChoice::Auto)).unwrap();
    events.expect("expected initialize");
    assert_eq!(client.era(), Era::Legacy);
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "again" })).unwrap().text(), "again");
    K::wait(client.close()).unwrap();
    let error = spawn::<K>(command, builder::<K>(EraChoice::Modern)).unwrap_err().to_string();
    assert!(error.contains("exit status: 3") && error.contains("expected initialize"), "{error}");
}

/// VER-18: a server that does not answer the probe in time is taken for a legacy one.
pub fn a_server_that_ignores_the_probe_is_legacy<K: Kit>(program: &str) {
    let command = script::<K>(program, "read -r probe; exec \"$@\" --legacy-only");
    let limits = limits(|limits| limits.probe = Duration::from_millis(60));
    let (client, _) = spawn::<K>(command, builder::<K>(EraChoice::Auto).limits(limits)).unwrap();
    assert_eq!(client.era(), Era::Legacy);
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "yes" })).unwrap().text(), "yes");
    K::wait(client.close()).unwrap();
}

/// VER-13: a server that starts so slowly that its answer to the probe comes when it is greeted already is what it says.
pub fn a_server_that_starts_slowly_is_what_it_says<K: Kit>(program: &str) {
    // It begins once both lie there, and reads them in order.
    let command = script::<K>(
        program,
        r#"IFS= read -r probe; IFS= read -r greeting; { printf '%s\n' "$probe" "$greeting"; cat; } | "$@""#,
    );
    let limits = limits(|limits| limits.probe = Duration::from_millis(60));
    let (client, _) = spawn::<K>(command, builder::<K>(EraChoice::Auto).limits(limits)).unwrap();
    assert_eq!(client.era(), Era::Modern);
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "at last" })).unwrap().text(), "at last");
    K::wait(client.close()).unwrap();
}

/// A program that says something and ends, and is no server, is named, with the first thing that it said.
pub fn a_program_that_is_no_server_is_named<K: Kit>(_: &str) {
    for (said, count) in [("printf 'usage: x\\033[2J\\nmore\\n'", "2 lines"), ("printf 'usage: x'", "a line")]
    {
        let command = Command::new("sh").args(["-c", &format!("{said}; exit 3; # s3cret")]);
        let error = spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap_err().to_string();
        for part in [count, "`usage: x", "the server process `sh` ended (exit status: 3)"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("s3cret") && !error.contains(['\u{1b}', '\n']), "{error}");
    }
}

/// B03: what a server prints besides messages is skipped, told of, and never answered.
pub fn noise_on_the_output_is_skipped<K: Kit>(program: &str) {
    let command = script::<K>(program, "echo 'Starting...'; echo '{\"level\":\"info\"}'; echo; exec \"$@\"");
    let (tell, diagnostics) = Events::new();
    let builder = builder::<K>(EraChoice::Auto).on_diagnostic(move |report| tell.tell(report.to_string()));
    let (client, events) = spawn::<K>(command, builder).unwrap();
    assert_eq!(client.era(), Era::Modern);
    diagnostics.expect("server: ");
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "fine" })).unwrap().text(), "fine");
    K::wait(client.close()).unwrap();
    assert_eq!(events.others(), Vec::<String>::new(), "the server had nothing to complain of");
}

/// B83: a process that a handler starts finds no input, instead of the client's next request.
pub fn a_subprocess_of_a_handler_gets_no_input<K: Kit>(program: &str) {
    let (client, _) = spawn::<K>(command::<K>(program), builder::<K>(EraChoice::Auto)).unwrap();
    let cat = calling::<K>(&client, "cat");
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "mine" })).unwrap().text(), "mine");
    assert_eq!(cat.join().unwrap().text(), "");
    K::wait(client.close()).unwrap();
}

/// B83, STDIO-02, STDIO-04: what a handler prints ends up in the log.
pub fn a_stray_print_does_not_reach_the_client<K: Kit>(program: &str) {
    let (tell, diagnostics) = Events::new();
    let builder = builder::<K>(EraChoice::Auto).on_diagnostic(move |report| tell.tell(report.to_string()));
    let (client, events) = spawn::<K>(command::<K>(program), builder).unwrap();
    assert_eq!(text::<K>(&client, "print"), "printed");
    events.expect("{\"stray\":\"print\"}");
    K::wait(client.close()).unwrap();
    assert_eq!(diagnostics.others(), Vec::<String>::new());
}

/// An answer that a child gave before it died counts, although it did not read what came after.
pub fn the_last_words_of_a_child_are_read<K: Kit>(_: &str) {
    // Answers the probe and one call, the id of which it takes from the line, and is gone. What is sent to it
    // meanwhile finds its input closed.
    let result = r#""result":{"resultType":"complete","content":[{"type":"text","text":"bye"}]}"#;
    let discovered = r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;
    let script = format!(
        r#"id() {{ printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }}
        IFS= read -r line; printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$(id "$line")" '{discovered}'
        IFS= read -r line; exec 0<&-
        printf 'closed\n' >&2
        printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$(id "$line")" '{result}'"#
    );
    let command = Command::new("sh").args(["-c", &script]);
    let (client, events) = spawn::<K>(command, builder::<K>(EraChoice::Modern)).unwrap();
    let first = calling::<K>(&client, "first");
    events.expect("closed");
    // Whether this is written before or after the end of the process, it fails, and the other does not.
    let second = call::<K>(&client, "second", json!({ "text": "x".repeat(1 << 20) }));
    assert!(matches!(second, Err(CallError::Broken { .. })), "{second:?}");
    assert_eq!(first.join().unwrap().text(), "bye");
}

/// STDIO-05, STDIO-06: what a child says on standard error is heard, and is no failure. STDIO-11, STDIO-21: it belongs
/// to no thread, but to whoever has the client.
pub fn a_child_may_say_what_it_likes_and_outlives_who_started_it<K: Kit>(program: &str) {
    let command = script::<K>(program, "echo 'ERROR: all is lost' >&2; exec \"$@\"");
    let started = background::<K, _>(move || spawn::<K>(command, builder::<K>(EraChoice::Auto)).unwrap());
    let (client, events) = started.join();
    events.expect("ERROR: all is lost");
    for _ in 0..2 {
        let client = client.clone();
        let called = background::<K, _>(move || call::<K>(&client, "echo", json!({ "text": "x" })));
        assert_eq!(called.join().unwrap().text(), "x");
    }
    K::wait(client.close()).unwrap();
}
