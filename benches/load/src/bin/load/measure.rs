//! What is measured, and the figures.

use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::Serialize;
use serde_json::Value;

use crate::case::{Dialect, FIRST_ID, NOTIFICATIONS, Request};
use crate::framing::Reply;
use crate::lane::Lanes;
use crate::options::{Era, Kind, Options, Transport};
use crate::process::{Place, Server};

/// Figures of calls: requests a second, latencies, what each took of the server's CPU time, and its peak memory.
#[derive(Debug, Serialize)]
struct Calls {
    requests: usize,
    rate: f64,
    p50_us: f64,
    p99_us: f64,
    cpu_us: f64,
    peak_kib: u64,
}

/// Figures of starts.
#[derive(Debug, Serialize)]
struct Starts {
    starts: usize,
    p50_us: f64,
    cpu_us: f64,
    peak_kib: u64,
}

/// Figures of idle streams.
#[derive(Debug, Serialize)]
struct Idle {
    streams: usize,
    stream_bytes: f64,
    cpu_us: f64,
    peak_kib: u64,
}

/// Requests one after the other, or `flight` of them at once; with `streams`, beside so many on which nothing happens.
pub(crate) fn calls(options: &Options) -> Result<String, String> {
    let (server, place) = Server::start(options)?;
    let idle = match (&place, options.streams) {
        (Place::Address(host), Some(streams)) => open(options, host, streams)?,
        _ => Lanes::new(options.requests.is_some())?,
    };
    let mut client = Client::connect(options, place, options.flight)?;
    let text = "x".repeat(options.size);
    let request = client.dialect.case(options.kind, &text);
    let length = client.first(&request, options, &text)?;
    let over_http = options.transport == Transport::Http;
    let mut flight = Flight::new(client, request, length, if over_http { 1 } else { options.flight });

    let (mut began, mut used) = (now(), server.cpu()?);
    if let Some(requests) = options.requests {
        flight.left = requests;
        flight.take_off()?;
        while flight.latencies.len() < requests {
            flight.go_on()?;
        }
    } else {
        flight.take_off()?;
        while server.cpu()? - used < options.warm {
            flight.go_on()?;
        }
        flight.latencies.clear();
        (began, used) = (now(), server.cpu()?);
        while began.elapsed() < options.time {
            flight.go_on()?;
        }
    }
    let (took, used, peak_kib) = (began.elapsed(), server.cpu()? - used, server.peak()?);

    let requests = flight.latencies.len();
    let (p50_us, p99_us) = (percentile(&mut flight.latencies, 50), percentile(&mut flight.latencies, 99));
    drop((flight, idle));
    if options.requests.is_some() {
        server.end(options.transport)?;
    }
    print(&Calls {
        requests,
        rate: requests as f64 / took.as_secs_f64(),
        p50_us,
        p99_us,
        cpu_us: micros(used) / requests as f64,
        peak_kib,
    })
}

/// From starting a process to the answer to the first message of a client, again and again.
pub(crate) fn start(options: &Options) -> Result<String, String> {
    let (mut latencies, mut used, mut peak) = (Vec::new(), Duration::ZERO, 0);
    let first = now();
    while latencies.is_empty() || first.elapsed() < options.time {
        let began = now();
        let (server, place) = Server::start(options)?;
        let mut lanes = Lanes::new(options.requests.is_some())?;
        let dialect = Dialect::of(options, &place);
        lanes.reach(place, 1)?;
        dialect.hello().write(FIRST_ID, lanes.out(0)?);
        lanes.exchange(0)?;
        latencies.push(began.elapsed());
        used += server.cpu()?;
        peak = peak.max(server.peak()?);
    }
    let starts = latencies.len();
    let cpu_us = micros(used) / starts as f64;
    print(&Starts { starts, p50_us: percentile(&mut latencies, 50), cpu_us, peak_kib: peak })
}

/// How many streams there are if nothing else is asked for.
const STREAMS: usize = 1_000;

/// Streams on which nothing happens. The first tenth of them fills what a server keeps only once.
pub(crate) fn idle(options: &Options) -> Result<String, String> {
    if options.transport == Transport::Stdio {
        return Err("idle streams are a matter of HTTP".to_owned());
    }
    let (server, place) = Server::start(options)?;
    let Place::Address(host) = place else { return Err("no address".to_owned()) };
    let streams = options.streams.unwrap_or(STREAMS);
    let warm = streams / 10;
    let mut lanes = open(options, &host, warm)?;
    let (before, used) = (server.resident()?, server.cpu()?);
    let rest = streams - warm;
    (0..rest).try_for_each(|_| listen(&mut lanes, options, &host))?;
    let grown = server.resident()?.saturating_sub(before);
    let figures = Idle {
        streams: lanes.len(),
        stream_bytes: grown as f64 * 1024.0 / rest as f64,
        cpu_us: micros(server.cpu()? - used) / rest as f64,
        peak_kib: server.peak()?,
    };
    if options.requests.is_some() {
        server.end(options.transport)?;
    }
    print(&figures)
}

fn open(options: &Options, host: &str, count: usize) -> Result<Lanes, String> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).map_err(|error| error.to_string())?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most).map_err(|error| error.to_string())?;
    let mut lanes = Lanes::new(options.requests.is_some())?;
    (0..count).try_for_each(|_| listen(&mut lanes, options, host))?;
    Ok(lanes)
}

/// One client with a stream: a legacy one has a session to itself.
fn listen(lanes: &mut Lanes, options: &Options, host: &str) -> Result<(), String> {
    let mut dialect = Dialect::of(options, &Place::Address(host.to_owned()));
    let index = lanes.connect(host)?;
    if options.era == Era::Legacy {
        dialect.shake_hands(lanes, index)?;
    }
    dialect.listen().write(FIRST_ID, lanes.out(index)?);
    lanes.listen(index, options.era == Era::Modern)
}

/// Somebody who has made himself known to the server.
struct Client {
    lanes: Lanes,
    dialect: Dialect,
}

impl Client {
    fn connect(options: &Options, place: Place, connections: usize) -> Result<Self, String> {
        let mut lanes = Lanes::new(options.requests.is_some())?;
        let mut dialect = Dialect::of(options, &place);
        lanes.reach(place, connections)?;
        dialect.shake_hands(&mut lanes, 0)?;
        Ok(Self { lanes, dialect })
    }

    /// Makes sure that the answer is what it should be, and returns its length.
    fn first(&mut self, request: &Request, options: &Options, text: &str) -> Result<usize, String> {
        request.write(FIRST_ID, self.lanes.out(0)?);
        let reply = self.lanes.exchange(0)?;
        let answer: Value =
            serde_json::from_slice(&reply.json).map_err(|error| format!("no JSON: {error}"))?;
        let result = answer.get("result").ok_or_else(|| format!("no result: {answer}"))?;
        let right = match options.kind {
            Kind::List => {
                let tools = result.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
                tools == options.tools && result.get("nextCursor").is_none()
            }
            Kind::Burst => reply.notifications == NOTIFICATIONS,
            Kind::Change => result.get("content").is_some(),
            _ => result.pointer("/content/0/text").and_then(Value::as_str) == Some(text),
        };
        if !right {
            let notified = reply.notifications;
            let answer: String = answer.to_string().chars().take(300).collect();
            return Err(format!("not what was asked for, after {notified} notifications: {answer}"));
        }
        Ok(reply.length)
    }
}

impl Dialect {
    fn of(options: &Options, place: &Place) -> Self {
        let host = match place {
            Place::Pipes(..) => String::new(),
            Place::Address(host) => host.clone(),
        };
        Self { transport: options.transport, era: options.era, host, session: None }
    }

    fn shake_hands(&mut self, lanes: &mut Lanes, index: usize) -> Result<(), String> {
        self.hello().write(FIRST_ID, lanes.out(index)?);
        self.session = lanes.exchange(index)?.session;
        if self.era == Era::Legacy {
            let initialized = self.initialized();
            lanes.out(index)?.extend_from_slice(&initialized);
            match self.transport {
                Transport::Stdio => lanes.flush(index)?,
                Transport::Http => drop(lanes.exchange(index)?),
            }
        }
        Ok(())
    }
}

/// Requests under way, as many as there may be.
struct Flight {
    lanes: Lanes,
    request: Request,
    /// Bytes that an answer has.
    length: usize,
    /// Requests under way on each lane.
    each: usize,
    /// Requests that may still be sent.
    left: usize,
    id: u64,
    /// When a request was sent, by its id or its lane.
    sent: Vec<Instant>,
    read: Vec<usize>,
    latencies: Vec<Duration>,
}

/// More than there can be between the oldest and the newest request under way.
const SLOTS: u64 = 1 << 16;

impl Flight {
    fn new(client: Client, request: Request, length: usize, each: usize) -> Self {
        let Client { lanes, .. } = client;
        let sent = vec![now(); SLOTS as usize];
        Self {
            lanes,
            request,
            length,
            each,
            left: usize::MAX,
            id: FIRST_ID,
            sent,
            read: Vec::new(),
            latencies: Vec::new(),
        }
    }

    fn take_off(&mut self) -> Result<(), String> {
        for lane in 0..self.lanes.len() {
            for _ in 0..self.each {
                self.send(lane)?;
            }
            self.lanes.flush(lane)?;
        }
        Ok(())
    }

    /// Waits for answers, and sends as many requests as have been answered, in one write.
    fn go_on(&mut self) -> Result<(), String> {
        let mut read = std::mem::take(&mut self.read);
        self.lanes.wait(&mut read)?;
        for &lane in &read {
            while let Some(reply) = self.lanes.next(lane, false)? {
                self.land(lane, &reply)?;
                self.send(lane)?;
            }
            self.lanes.flush(lane)?;
        }
        self.read = read;
        Ok(())
    }

    fn send(&mut self, lane: usize) -> Result<(), String> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        self.id += 1;
        self.request.write(self.id, self.lanes.out(lane)?);
        let slot = if self.each == 1 { lane as u64 } else { self.id };
        if let Some(sent) = self.sent.get_mut((slot % SLOTS) as usize) {
            *sent = now();
        }
        Ok(())
    }

    fn land(&mut self, lane: usize, reply: &Reply) -> Result<(), String> {
        // Event ids and the like vary by a few bytes.
        if reply.length.abs_diff(self.length) > self.length / 10 {
            return Err(format!("an answer of {} bytes, where {} are right", reply.length, self.length));
        }
        let slot = if self.each == 1 { lane as u64 } else { reply.id.unwrap_or_default() };
        if let Some(sent) = self.sent.get((slot % SLOTS) as usize) {
            self.latencies.push(sent.elapsed());
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "measuring is reading the clock")]
fn now() -> Instant {
    Instant::now()
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(index).copied().map_or(f64::NAN, micros)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn print(figures: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(figures).map_err(|error| error.to_string())
}
