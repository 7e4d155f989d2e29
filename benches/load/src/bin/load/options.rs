//! The command line.

use std::time::Duration;

/// What `load` says of itself.
pub(crate) const USAGE: &str =
    "load --transport stdio|http --era legacy|modern --case echo|list|burst|change|start|idle
     [--size BYTES] [--flight N] [--warm S] [--seconds S | --requests N] [--streams N] [--tools N] [--cpus CLIENT:SERVER]
     -- COMMAND ARGS...

     --warm is CPU time of the server. Without --seconds or --requests, a second. With --requests the server is ended so that it can still write what it
     counted.";

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// Whether there is a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `tools/call` of `echo`.
    Echo,
    /// `tools/list` with 100 tools.
    List,
    /// `tools/call` of `burst`: 100 progress notifications and an answer.
    Burst,
    /// `tools/call` of `change`, which tells all streams of it.
    Change,
    /// From starting the process to its first answer.
    Start,
    /// Streams on which nothing happens.
    Idle,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    pub(crate) era: Era,
    pub(crate) kind: Kind,
    /// Bytes of text that `echo` is given.
    pub(crate) size: usize,
    /// Requests under way at once.
    pub(crate) flight: usize,
    /// How much CPU time the server has used for requests before anything is measured.
    pub(crate) warm: Duration,
    /// How long is measured.
    pub(crate) time: Duration,
    /// So many requests are made instead, and the server is asked to end by itself.
    pub(crate) requests: Option<usize>,
    /// How many idle streams; with calls, beside them.
    pub(crate) streams: Option<usize>,
    /// How many tools are listed.
    pub(crate) tools: usize,
    /// On which CPUs the client and the server are to run.
    pub(crate) cpus: Option<(usize, usize)>,
    pub(crate) command: Vec<String>,
}

impl Options {
    pub(crate) fn from_args() -> Result<Self, String> {
        let mut words = std::env::args().skip(1);
        let (mut transport, mut era, mut kind) = (None, None, None);
        let (mut size, mut flight, mut seconds, mut tools) = (100, 1, 1.0, 100);
        let (mut warm, mut requests, mut streams, mut cpus) = (0.3, None, None, None);
        while let Some(flag) = words.next() {
            if flag == "--" {
                break;
            }
            let value = words.next().ok_or_else(|| format!("`{flag}` wants a value"))?;
            match flag.as_str() {
                "--transport" => transport = Some(one_of(&value, TRANSPORTS)?),
                "--era" => era = Some(one_of(&value, ERAS)?),
                "--case" => kind = Some(one_of(&value, KINDS)?),
                "--size" => size = number(&value)?,
                "--flight" => flight = number(&value)?,
                "--seconds" => seconds = number(&value)?,
                "--warm" => warm = number(&value)?,
                "--requests" => requests = Some(number(&value)?),
                "--streams" => streams = Some(number(&value)?),
                "--tools" => tools = number(&value)?,
                "--cpus" => cpus = Some(pair(&value)?),
                _ => return Err(format!("unknown flag `{flag}`")),
            }
        }
        let command: Vec<String> = words.collect();
        if command.is_empty() {
            return Err("no command of a server after `--`".to_owned());
        }
        Ok(Self {
            transport: transport.ok_or("which --transport?")?,
            era: era.ok_or("which --era?")?,
            kind: kind.ok_or("which --case?")?,
            size,
            flight: flight.max(1),
            warm: duration(warm)?,
            time: duration(seconds)?,
            requests,
            streams,
            tools,
            cpus,
            command,
        })
    }
}

const TRANSPORTS: &[(&str, Transport)] = &[("stdio", Transport::Stdio), ("http", Transport::Http)];
const ERAS: &[(&str, Era)] = &[("legacy", Era::Legacy), ("modern", Era::Modern)];
const KINDS: &[(&str, Kind)] = &[
    ("echo", Kind::Echo),
    ("list", Kind::List),
    ("burst", Kind::Burst),
    ("change", Kind::Change),
    ("start", Kind::Start),
    ("idle", Kind::Idle),
];

fn one_of<T: Copy>(value: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|(_, meant)| *meant).ok_or_else(|| format!("what is `{value}`?"))
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{value}` is no number"))
}

fn duration(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn pair(value: &str) -> Result<(usize, usize), String> {
    let (client, server) = value.split_once(':').ok_or("--cpus wants CLIENT:SERVER")?;
    Ok((number(client)?, number(server)?))
}
