//! The command line.

use std::time::Duration;

/// What `load` says of itself.
pub(crate) const USAGE: &str =
    "load --transport stdio|http --era legacy|modern --case echo|list|burst|start|idle
     [--size BYTES] [--flight N] [--seconds S] [--streams N] [--cpus CLIENT:SERVER] -- COMMAND ARGS...";

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
    /// How long is measured, after a third of it to warm up.
    pub(crate) time: Duration,
    /// How many idle streams.
    pub(crate) streams: usize,
    /// On which CPUs the client and the server are to run.
    pub(crate) cpus: Option<(usize, usize)>,
    pub(crate) command: Vec<String>,
}

impl Options {
    pub(crate) fn from_args() -> Result<Self, String> {
        let mut words = std::env::args().skip(1);
        let (mut transport, mut era, mut kind) = (None, None, None);
        let (mut size, mut flight, mut seconds, mut streams, mut cpus) = (100, 1, 1.0, 1_000, None);
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
                "--streams" => streams = number(&value)?,
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
            time: Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?,
            streams,
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

fn pair(value: &str) -> Result<(usize, usize), String> {
    let (client, server) = value.split_once(':').ok_or("--cpus wants CLIENT:SERVER")?;
    Ok((number(client)?, number(server)?))
}
