//! The server's process: where it runs, and what it has used.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

use crate::options::{Options, Transport};

/// A server that is ended with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
}

/// How to talk to it.
#[derive(Debug)]
pub(crate) enum Place {
    Pipes(ChildStdin, ChildStdout),
    /// `HOST:PORT`.
    Address(String),
}

impl Server {
    /// Starts it. Over HTTP, returns once it has said where it listens.
    pub(crate) fn start(options: &Options) -> Result<(Self, Place), String> {
        let (program, arguments) = options.command.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        command.stdin(if options.transport == Transport::Stdio { Stdio::piped() } else { Stdio::null() });
        // A child inherits where its parent runs.
        if let Some((_, server)) = options.cpus {
            pin(server)?;
        }
        let spawned = command.spawn().map_err(|error| format!("cannot start {program}: {error}"));
        if let Some((client, _)) = options.cpus {
            pin(client)?;
        }
        let mut child = spawned?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut server = Self { child };
        let stdout = stdout.ok_or("no pipe from the server")?;
        let place = match stdin {
            Some(stdin) => Place::Pipes(stdin, stdout),
            None => Place::Address(server.announced(stdout)?),
        };
        Ok((server, place))
    }

    /// Reads until the server has said where it is, and goes on reading in a thread.
    fn announced(&mut self, stdout: ChildStdout) -> Result<String, String> {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(Ok(line)) = lines.next() {
            if let Some((_, place)) = line.split_once("listening on http://") {
                let host = place.trim().trim_end_matches("/mcp").to_owned();
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(host);
            }
        }
        let status = self.child.wait().map_err(|error| error.to_string())?;
        Err(format!("the server ended ({status}) before it listened"))
    }

    /// Waits until it ends, which one that reads lines does by itself once its pipes are closed.
    pub(crate) fn end(mut self, transport: Transport) -> Result<(), String> {
        if transport == Transport::Http {
            kill(self.pid()?, Signal::SIGTERM).map_err(|error| format!("ending it: {error}"))?;
        }
        self.child.wait().map(drop).map_err(|error| error.to_string())
    }

    fn pid(&self) -> Result<Pid, String> {
        i32::try_from(self.child.id()).map(Pid::from_raw).map_err(|error| error.to_string())
    }

    /// CPU time of all its threads, also of those that have ended.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        let clock = clock_getcpuclockid(self.pid()?).and_then(ClockId::now);
        clock.map(Duration::from).map_err(|error| format!("its CPU time: {error}"))
    }

    /// The most memory it has had, in KiB.
    pub(crate) fn peak(&self) -> Result<u64, String> {
        self.kib("status", "VmHWM:")
    }

    /// What it has in memory now, counted page by page, in KiB.
    pub(crate) fn resident(&self) -> Result<u64, String> {
        self.kib("smaps_rollup", "Rss:")
    }

    fn kib(&self, file: &str, key: &str) -> Result<u64, String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).ok_or_else(|| format!("{path}: no {key}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|error| format!("CPU {cpu}: {error}"))
}
