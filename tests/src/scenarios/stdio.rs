//! A server on its own standard input and output, spoken to by hand.

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::kit::Kit;
use crate::support::{Events, eventually};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn request(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{META},"name":"{tool}","arguments":{arguments}}}}}"#
    ) + "\n"
}

/// A rig, and the lines that it writes to standard error.
fn start<K: Kit>(program: &str, input: impl Into<Stdio>, output: impl Into<Stdio>) -> (Child, Events) {
    start_with::<K>(program, &[], input, output)
}

fn start_with<K: Kit>(
    program: &str,
    flags: &[&str],
    input: impl Into<Stdio>,
    output: impl Into<Stdio>,
) -> (Child, Events) {
    let mut command = Command::new(program);
    command.args([K::NAME, "--stdio"]).args(flags).stdin(input).stdout(output).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let errors = lines(child.stderr.take().unwrap());
    (child, errors)
}

#[track_caller]
fn exited(mut child: Child) -> ExitStatus {
    eventually("the server has exited", || child.try_wait().unwrap().ok_or("it runs"))
}

/// The lines of a stream, as events.
fn lines(stream: impl Read + Send + 'static) -> Events {
    let (tell, events) = Events::new();
    let lines = BufReader::new(stream).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| tell.tell(line)));
    events
}

/// B82, STDIO-23: a server whose input is closed exits in order.
pub fn closed_input_ends_the_server<K: Kit>(program: &str) {
    let (mut child, _) = start::<K>(program, Stdio::piped(), Stdio::piped());
    let (mut input, output) = (child.stdin.take().unwrap(), lines(child.stdout.take().unwrap()));
    input.write_all(request(1, "echo", r#"{"text":"hello"}"#).as_bytes()).unwrap();
    output.expect("hello");
    drop(input);
    assert_eq!(exited(child).code(), Some(0));
}

/// B82: one whose output nobody reads any more exits in order when it notices, without an abort by SIGPIPE,
/// although its input stays open.
pub fn closed_output_ends_the_server<K: Kit>(program: &str) {
    let (mut child, _) = start::<K>(program, Stdio::piped(), Stdio::piped());
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(request(1, "echo", r#"{"text":"hello"}"#).as_bytes()).unwrap();
    assert_eq!(exited(child).code(), Some(0));
}

/// B82: also when it is a handler that blocks that finds nobody there to read its answer.
pub fn closed_output_ends_a_server_that_blocks<K: Kit>(program: &str) {
    let (mut child, _) = start::<K>(program, Stdio::piped(), Stdio::piped());
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(request(1, "add", r#"{"a":1,"b":2}"#).as_bytes()).unwrap();
    assert_eq!(exited(child).code(), Some(0));
}

/// B82: what still runs when the input ends may finish, but not for ever.
pub fn a_running_call_ends_with_the_input<K: Kit>(program: &str) {
    let (mut child, events) = start::<K>(program, Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(request(1, "wait", "{}").as_bytes()).unwrap();
    events.expect("wait started");
    drop(input);
    events.expect("wait cancelled");
    assert_eq!(exited(child).code(), Some(0));
}

/// Some launchers, such as Node's, connect sockets instead of pipes.
pub fn sockets_serve_as_pipes<K: Kit>(program: &str) {
    let ((mut input, theirs_in), (output, theirs_out)) =
        (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    let (child, _) = start::<K>(program, OwnedFd::from(theirs_in), OwnedFd::from(theirs_out));
    let answers = lines(output.try_clone().unwrap());
    for id in 1..=3 {
        input.write_all(request(id, "echo", r#"{"text":"hello"}"#).as_bytes()).unwrap();
        answers.expect("hello");
    }
    drop(input);
    assert_eq!(exited(child).code(), Some(0));
    assert_eq!((&output).read(&mut [0; 1]).unwrap(), 0);
}

/// A launcher may leave its ends in non-blocking mode, which they share with ours.
pub fn pipes_that_do_not_block_serve_as_well<K: Kit>(program: &str) {
    let ((mut input, theirs_in), (output, theirs_out)) =
        (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    for theirs in [&theirs_in, &theirs_out] {
        theirs.set_nonblocking(true).unwrap();
    }
    let (child, _) = start::<K>(program, OwnedFd::from(theirs_in), OwnedFd::from(theirs_out));
    // More than fits into the socket, so that its answers find it full.
    let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    let requests: String = (1..=20).map(|id| request(id, "echo", &arguments)).collect();
    let writing = std::thread::spawn(move || input.write_all(requests.as_bytes()).unwrap());
    let answers = BufReader::new(output).lines().map_while(Result::ok);
    assert_eq!(answers.filter(|line| line.contains("xxx")).count(), 20);
    writing.join().unwrap();
    assert_eq!(exited(child).code(), Some(0));
}

/// A regular file is read to its end, and the answers are written to another.
pub fn files_serve_as_pipes<K: Kit>(program: &str) {
    let directory = std::env::temp_dir().join(format!("mcp-rig-{}-{}", K::NAME, std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let open = |name| {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).open(directory.join(name)).unwrap()
    };
    let (mut input, mut output) = (open("input"), open("output"));
    for id in 1..=200 {
        input.write_all(request(id, "echo", r#"{"text":"hello"}"#).as_bytes()).unwrap();
    }
    input.write_all(request(201, "add", r#"{"a":40,"b":2}"#).as_bytes()).unwrap();
    input.rewind().unwrap();
    let (child, _) = start::<K>(program, input.try_clone().unwrap(), output.try_clone().unwrap());
    assert_eq!(exited(child).code(), Some(0));
    let mut answers = String::new();
    output.rewind().unwrap();
    output.read_to_string(&mut answers).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!((answers.lines().count(), answers.matches("hello").count()), (201, 200), "{answers}");
    assert!(answers.contains("42"), "{answers}");
}

/// Calls that had to wait until there was room for their answers are made then, although nothing else comes
/// in.
pub fn backpressure_loses_no_call<K: Kit>(program: &str) {
    // Room for one list at a time.
    let (mut child, _) = start_with::<K>(program, &["--transmit", "1000"], Stdio::piped(), Stdio::piped());
    let list =
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{META}}}}}"#) + "\n";
    let lists: String = (2..12).map(list).collect();
    let mut input = child.stdin.take().unwrap();
    input.write_all((lists + &request(1, "echo", r#"{"text":"last"}"#)).as_bytes()).unwrap();
    let output = lines(child.stdout.take().unwrap());
    for _ in 0..10 {
        output.expect("tools");
    }
    output.expect("last");
    drop(input);
    assert_eq!(exited(child).code(), Some(0));
}
