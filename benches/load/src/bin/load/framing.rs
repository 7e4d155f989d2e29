//! Bytes that came, cut into answers: lines, or responses of HTTP/1.1.

use memchr::{memchr, memmem};

/// What one answer is judged by.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The id in it; none over HTTP, where a lane has one request at a time.
    pub(crate) id: Option<u64>,
    /// Bytes of its message or messages.
    pub(crate) length: usize,
    /// Notifications of progress that came before it.
    pub(crate) notifications: usize,
    /// What the server said about a session.
    pub(crate) session: Option<String>,
    /// The JSON of the answer, if that was asked for.
    pub(crate) json: Vec<u8>,
}

/// How much of either end of a message is looked through for its members.
const END: usize = 200;

/// A reader of answers.
#[derive(Debug)]
pub(crate) struct Framing {
    http: bool,
    buffer: Vec<u8>,
    /// Of `buffer`, what has been read already.
    used: usize,
    /// Of `buffer`, what has been searched without finding an end.
    searched: usize,
    head: Option<Head>,
    body: Vec<u8>,
    notifications: usize,
}

#[derive(Clone, Debug)]
struct Head {
    length: Length,
    session: Option<String>,
    events: bool,
}

#[derive(Clone, Copy, Debug)]
enum Length {
    Known(usize),
    Chunked,
}

impl Framing {
    pub(crate) fn new(http: bool) -> Self {
        Self {
            http,
            buffer: Vec::new(),
            used: 0,
            searched: 0,
            head: None,
            body: Vec::new(),
            notifications: 0,
        }
    }

    /// Takes bytes that came.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.used == self.buffer.len() {
            self.buffer.clear();
            self.used = 0;
            self.searched = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next answer that is there whole. With `keep`, its JSON is in it.
    pub(crate) fn next(&mut self, keep: bool) -> Result<Option<Reply>, String> {
        if self.http { self.next_response(keep) } else { self.next_line(keep) }
    }

    /// Whether the head of a stream of events has come, and if `event`, an event on it.
    pub(crate) fn listens(&mut self, event: bool) -> Result<bool, String> {
        if self.head.is_none() && !self.read_head()? {
            return Ok(false);
        }
        if self.head.as_ref().is_some_and(|head| !head.events) {
            return Err("asked for a stream of events, got another response".to_owned());
        }
        Ok(!event || memmem::find(self.rest(), b"data:").is_some())
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    fn next_line(&mut self, keep: bool) -> Result<Option<Reply>, String> {
        loop {
            let from = self.used.max(self.searched);
            let Some(end) = self.buffer.get(from..).and_then(|rest| memchr(b'\n', rest)) else {
                self.searched = self.buffer.len();
                return Ok(None);
            };
            let line = self.buffer.get(self.used..from + end).unwrap_or_default();
            let (first, last) = ends(line);
            let told = |key: &[u8]| memmem::find(first, key).is_some() || memmem::find(last, key).is_some();
            self.used = from + end + 1;
            if told(b"notifications/progress") {
                self.notifications += 1;
                continue;
            }
            // Another notification, such as a message for the log.
            let Some(id) = id(first).or_else(|| id(last)) else { continue };
            if told(b"\"error\":") {
                return Err(format!("an error: {}", String::from_utf8_lossy(first)));
            }
            let json = if keep { line.to_vec() } else { Vec::new() };
            let notifications = std::mem::take(&mut self.notifications);
            return Ok(Some(Reply { id: Some(id), length: line.len(), notifications, session: None, json }));
        }
    }

    fn next_response(&mut self, keep: bool) -> Result<Option<Reply>, String> {
        if self.head.is_none() && !self.read_head()? {
            return Ok(None);
        }
        let Some(head) = &self.head else { return Ok(None) };
        match head.length {
            Length::Known(length) => {
                let Some(body) = self.buffer.get(self.used..self.used + length) else { return Ok(None) };
                self.body.extend_from_slice(body);
                self.used += length;
            }
            Length::Chunked => {
                if !self.read_chunks()? {
                    return Ok(None);
                }
            }
        }
        let head = self.head.take();
        let (session, events) = head.map_or((None, false), |head| (head.session, head.events));
        let reply = judge(&self.body, events, session, keep);
        self.body.clear();
        reply.map(Some)
    }

    fn read_head(&mut self) -> Result<bool, String> {
        let Some(end) = memmem::find(self.rest(), b"\r\n\r\n") else { return Ok(false) };
        let head = String::from_utf8_lossy(self.rest().get(..end).unwrap_or_default()).into_owned();
        self.used += end + 4;
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if !status.starts_with("HTTP/1.1 20") {
            let body = String::from_utf8_lossy(self.rest()).into_owned();
            return Err(format!("the server answered `{status}`: {body}"));
        }
        let (mut length, mut session, mut events) = (Length::Known(0), None, false);
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = Length::Known(value.parse().map_err(|_| format!("`{line}`"))?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                length = Length::Chunked;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.to_owned());
            } else if name.eq_ignore_ascii_case("content-type") {
                events = value.starts_with("text/event-stream");
            }
        }
        self.head = Some(Head { length, session, events });
        Ok(true)
    }

    /// Whether the last chunk has come.
    fn read_chunks(&mut self) -> Result<bool, String> {
        loop {
            let rest = self.buffer.get(self.used..).unwrap_or_default();
            let Some(line) = memmem::find(rest, b"\r\n") else { return Ok(false) };
            let digits = String::from_utf8_lossy(rest.get(..line).unwrap_or_default()).into_owned();
            let length = usize::from_str_radix(digits.trim(), 16)
                .map_err(|_| format!("`{digits}` is no length of a chunk"))?;
            let Some(chunk) = rest.get(line + 2..line + 2 + length + 2) else { return Ok(false) };
            self.body.extend_from_slice(chunk.get(..length).unwrap_or_default());
            self.used += line + 2 + length + 2;
            if length == 0 {
                return Ok(true);
            }
        }
    }
}

/// A response that has come whole.
fn judge(body: &[u8], events: bool, session: Option<String>, keep: bool) -> Result<Reply, String> {
    let notifications = if events { memmem::find_iter(body, b"notifications/progress").count() } else { 0 };
    let (first, last) = ends(body);
    if memmem::find(first, b"\"error\":").is_some() || memmem::find(last, b"\"error\":").is_some() {
        return Err(format!("an error: {}", String::from_utf8_lossy(first)));
    }
    let json = match (keep, events) {
        (false, _) => Vec::new(),
        (true, false) => body.to_vec(),
        (true, true) => {
            let mut lines = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
            lines.rfind(|line| memmem::find(line, b"\"result\":").is_some()).unwrap_or_default().to_vec()
        }
    };
    Ok(Reply { id: None, length: body.len(), notifications, session, json })
}

fn ends(message: &[u8]) -> (&[u8], &[u8]) {
    let first = message.get(..END).unwrap_or(message);
    let last = message.get(message.len().saturating_sub(END)..).unwrap_or_default();
    (first, last)
}

fn id(part: &[u8]) -> Option<u64> {
    let digits = part.get(memmem::find(part, b"\"id\":")? + 5..)?.trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}
