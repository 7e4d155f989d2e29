//! Every bound in one place.

use crate::time::Duration;

/// Bounds on what a peer can make us hold or wait for.
///
/// Start from [`Limits::default`] and change single fields. Sizes are bytes unless a name says otherwise. What the
/// specification bounds itself is no setting: a completion has 100 values (COMP-03), whoever suggests more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One line on a byte stream, one HTTP request body, one message or SSE event received by a client.
    /// Default 4 MiB each; that much is held while it is incomplete. A longer line is reported once and
    /// skipped, a longer body answered 413, a longer reply fails its call as too large.
    pub message: usize,
    /// Nesting of arrays and objects in a JSON message. Default 128 levels; deeper is a parse error.
    pub depth: usize,
    /// The head of an HTTP message. Default 64 KiB; a longer one is answered 431.
    pub head: usize,
    /// Fields in the head of an HTTP message. Default 128; more are answered 431.
    pub head_fields: usize,
    /// How long the head of an HTTP request may take to arrive. Default 30 s; the connection is closed.
    pub head_time: Duration,
    /// How long the body of an HTTP request may take to arrive, whatever progress it makes. Default 120 s; then
    /// the request is answered 408.
    pub body_time: Duration,
    /// How long the application may take to check an access token. Default 30 s; then the request is answered
    /// 503.
    pub authentication: Duration,
    /// How long an HTTP connection may sit without a request. Default 75 s; the connection is closed.
    pub keep_alive: Duration,
    /// How long reading a body or writing a response may make no progress. Default 30 s; closed.
    pub stall: Duration,
    /// Legacy sessions at one time. Default 10,000, about 1 KiB each and
    /// at most [`client_details`](Self::client_details) and [`watched_bytes`](Self::watched_bytes) more; a further `initialize` is answered 503.
    /// As many streams of HTTP with SSE besides, if [`listens`](Self::listens) allows; a further one is answered 503.
    pub sessions: usize,
    /// What a legacy client says of itself in `initialize`, as far as it is kept: names, prose and capabilities,
    /// not pictures. Default 16 KiB; a longer one is refused with an error.
    pub client_details: usize,
    /// How long a legacy session may sit unused. Default 30 min; then it is reclaimed and answers 404.
    pub session_idle: Duration,
    /// How long whoever keeps the legacy sessions, or the streams of HTTP with SSE, may take to answer a request of
    /// one. Default 30 s; then the request is answered 503. How many wait is bounded by
    /// [`in_flight`](Self::in_flight) for a session, and by [`accepted`](Self::accepted) for all.
    pub session_answer: Duration,
    /// Events of one legacy session that are kept, for a client that lost its connection and for messages that
    /// wait for a stream. Default 1,024; the oldest give way.
    pub events: usize,
    /// The same in bytes. Default 1 MiB. A longer response is sent, and not kept: who lost it is told so.
    pub event_bytes: usize,
    /// The same in bytes for all sessions of a server together. Default 64 MiB.
    pub all_event_bytes: usize,
    /// Interval of keep-alive comments on an idle event stream. Default 15 s.
    pub keep_alive_comment: Duration,
    /// Requests in flight on one connection or session, and messages in one batch. Default 1,024; a further
    /// request, or a longer batch, is refused with an error and the connection lives. On a byte stream they hold
    /// [`in_flight_bytes`](Self::in_flight_bytes) together; over HTTP each has a connection, and holds its
    /// [`message`](Self::message).
    pub in_flight: usize,
    /// The parameters, ids and tokens of the requests in flight on one byte stream together. Default 64 MiB; a further
    /// request that would pass it is refused with an error and the connection lives. Less than
    /// [`message`](Self::message) refuses requests that nothing else would.
    pub in_flight_bytes: usize,
    /// The id of a request, and the token that its progress is reported under. Default 1 KiB each; a request with a
    /// longer one is refused with an error. They are kept as long as the request is in flight, and by a stream of changes.
    pub id: usize,
    /// Requests of legacy sessions that go on although the connection of their client is gone (HTTPL-23), in all sessions
    /// of an HTTP server. Default 256, each with its message and whatever its handler holds; a further one is
    /// cancelled, which its client is told if it comes back.
    pub unattended: usize,
    /// How long a server waits for what it asked a client in the middle of a call. Default 600 s; the client is
    /// told that it is given up, and the call goes on with an error. A task waits as long as it is kept.
    pub ask: Duration,
    /// Requests to the client that one connection, exchange or task of a server has open. Default 1,024, about 100 bytes
    /// each; a further one fails.
    pub asks: usize,
    /// What servers ask of one client that is open at one time. Default 64, each with its parameters; a further
    /// request of a legacy server is answered with an error, and a call that asks for more ends.
    pub asked: usize,
    /// How often a modern server may answer one call with `input_required`. Default 10; then the call ends with an
    /// error, from which it can be gone on with.
    pub call_rounds: usize,
    /// How often at most a client asks how far a task is. Default 100 ms; a server that wants to be asked more often is
    /// not.
    pub task_poll_min: Duration,
    /// How often at least, whatever the server says. Default 300 s.
    pub task_poll_max: Duration,
    /// How often a server asks a legacy client on behalf of one call that is answered `input_required`.
    /// Default 8; then the call fails. With 0 it never does. A task asks so often again what was not answered as it has to be.
    pub input_rounds: usize,
    /// Tasks of one server, running or kept for their clients. Default 1,000, each with its parameters and whatever its
    /// handler holds as long as it runs. For a further one the oldest that is over gives way, of whoever has most; where
    /// all run, or only of such as have less than he then would, the call cannot go on as a task.
    pub tasks: usize,
    /// What all of them keep for their clients: results, errors and questions, and the parameters of those that run, in
    /// bytes. Default 64 MiB; for a
    /// result the oldest give way as for [`tasks`](Self::tasks), and one for which there is no room even so fails its
    /// task. A further question fails, and a further call
    /// cannot go on as a task.
    pub task_bytes: usize,
    /// How long a task is kept from its beginning on, unless it says so itself. Default 1 h; one that still runs fails
    /// then. Clients may hear of its end for a minute at least, and of one that they have cancelled no longer than that.
    pub task_ttl: Duration,
    /// How long a task may ask to be kept. Default 24 h; one that asks for longer is kept so long.
    pub task_ttl_max: Duration,
    /// How long running calls may still finish after the input of a byte stream has ended. Default 1 s; then
    /// they are cancelled.
    pub drain: Duration,
    /// How long requests under way may go on after an HTTP server was told to stop. Default 30 s; then they are
    /// cancelled and answered with an error.
    pub shutdown: Duration,
    /// How long a client request may wait; progress starts it again. Default 60 s.
    pub request: Duration,
    /// How long a client request may wait whatever progress it makes. Default 600 s.
    pub request_max: Duration,
    /// How long the era probe may wait for an answer before the server counts as legacy; and how long calls wait for what
    /// is sent before them, such as the log level that a legacy server is told. Default 5 s.
    pub probe: Duration,
    /// How long a client request that the server refused for want of authorization may wait for it, such as for a user
    /// in a browser; its other times stand still meanwhile. Default 600 s.
    pub authorization: Duration,
    /// The shortest delay honoured from an SSE `retry` field. Default 100 ms.
    pub retry_floor: Duration,
    /// Total wait for one resumption of an event stream, for one subscription that broke off, for the stream of a
    /// server with HTTP with SSE to come back, or for a server that cannot be asked how far a task is. Default 300 s.
    pub resume_total: Duration,
    /// How long a server may take to acknowledge a subscription, each time that it is asked. Default 60 s; then the
    /// subscription ends.
    pub acknowledgement: Duration,
    /// How often one request over HTTP is sent again, after half a second and longer, because it surely was not carried
    /// out: nobody could be connected to, or, where doing it twice does no harm, the server said when to come back.
    /// Default 2.
    pub retries: u32,
    /// How often in a row a child process is started again that dies while a client listens to it. Default 3: at once,
    /// after a second, after two. One that has lived for a minute counts from the beginning; past that the connection
    /// is over.
    pub restarts: u32,
    /// Length of an SSE event id; a longer one is ignored. Default 1 KiB.
    pub event_id: usize,
    /// Pages in one whole-collection call. Default 1,000; the error keeps what was read.
    pub pages: usize,
    /// Items in one whole-collection call. Default 100,000, which can take [`pages`](Self::pages) messages; the error keeps
    /// as many.
    pub items: usize,
    /// Results of a server that a client keeps because it may. Default 1,024, at most
    /// [`cache_bytes`](Self::cache_bytes) together; the one that was used least recently gives way. With 0 none is.
    pub cache_entries: usize,
    /// The same in bytes, about 256 for each besides its text. Default 16 MiB. A result that is longer is not kept.
    pub cache_bytes: usize,
    /// How long such a result is taken for fresh, whatever the server says. Default 24 h.
    pub cache_ttl: Duration,
    /// How much longer it may stand in over HTTP for a server that cannot be reached or does not answer. Default
    /// 10 min.
    pub cache_stale: Duration,
    /// Outgoing bytes that a machine holds for a peer that does not read. Default 16 MiB; input from that
    /// peer is not processed while more is waiting.
    pub transmit: usize,
    /// Notifications of changes that wait for one listener who reads slowly, besides 64 KiB that are on their
    /// way. Default 1,024; a repeat takes the place of what it repeats, and of more the oldest are lost. As many wait
    /// for the application of a client, together with what the server logs, progress and diagnostics; there a repeat gives
    /// way once all is full, and of the others the oldest are lost, those last that tell of a change. Both are counted.
    pub notifications: usize,
    /// The same in bytes. Default 4 MiB; a single one that is larger is lost, and no other for it: raise it with
    /// [`message`](Self::message).
    pub notification_bytes: usize,
    /// Nesting of subschemas in the schema of a tool. Default 64 levels; a tool with a deeper one is refused.
    pub schema_depth: usize,
    /// Subschemas in one schema of a tool. Default 4,096, which can take 2 MiB; a tool with more is refused.
    pub schemas: usize,
    /// What the patterns of one schema may take, each 32 or 512 KiB. Default 16 MiB; a tool whose schema needs more is
    /// refused.
    pub schema_patterns: usize,
    /// Tools of one server whose definitions a client keeps, for the headers and the results of their calls. Default
    /// 10,000; of more, those that were listed last.
    pub tools: usize,
    /// What is kept of them, in bytes: names, output schemas, and the latter ready to be checked against for those
    /// that are called. Default 16 MiB; the one that was listed first gives way.
    pub tool_bytes: usize,
    /// Steps that checking a value against a schema may take, besides 16 for each byte of the value. Default
    /// 1,000,000, some hundredths of a second; a value that needs more counts as one that does not fit.
    pub schema_steps: u64,
    /// Sealed request state, as it travels. Default 64 KiB; a longer one cannot be sealed, and one that comes is
    /// refused unread.
    pub state: usize,
    /// How long request state can be opened after it was sealed. Default 300 s.
    pub state_life: Duration,
    /// How far the clocks of servers that open each other's request state may be apart. Default 10 s, by which
    /// state may live longer.
    pub clock_skew: Duration,
    /// Subscriptions that are open at one time: those of one connection on a byte stream, those of one client, and those
    /// of an HTTP server together with the streams that its legacy clients keep open for what it has to say (GET, and
    /// HTTP with SSE), so that they leave connections to others. Default 1,000, about 2 KiB each and at most
    /// [`id`](Self::id), [`watched_bytes`](Self::watched_bytes) and
    /// [`notification_bytes`](Self::notification_bytes) more; a further one is refused, over HTTP with 503. A
    /// client on HTTP also needs [`connections`](Self::connections) for them.
    pub listens: usize,
    /// Resources that one subscription, or one legacy session, may watch, and as many tasks. Default 1,024; more are refused.
    pub watched: usize,
    /// The length of their URIs together, and of the ids of tasks. Default 64 KiB; more are refused.
    pub watched_bytes: usize,
    /// Redirects followed for one request, always to the same origin. Default 3.
    pub redirects: usize,
    /// How long a child process may take to exit after its standard input was closed, and again after it was
    /// asked to terminate. Default 2 s each; then it is told to, then killed, with its whole process group.
    pub child_exit: Duration,
    /// What a compressed response may come to, and an event stream from one message to the next. Default 64 MiB; a call
    /// fails as too large. It is decompressed as it comes, so that only what other bounds allow is held.
    pub decompressed: usize,
    /// How long each step of a new connection of an HTTP client may take: the look-up of a name, connecting to what it
    /// stands for, the tunnel through a proxy, the TLS handshake. Default 10 s; then it is given up, and what
    /// waited for it fails unsent.
    pub handshake: Duration,
    /// Addresses of one name that are tried, one after the other. Default 8; further ones are not.
    pub addresses: usize,
    /// Connections of one HTTP client to its origin. Default 64; further requests wait. Each subscription to a modern
    /// server takes one for as long as it lasts, and two are kept for calls and for changes of subscriptions: a further
    /// subscription is refused.
    pub connections: usize,
    /// Calls of blocking handlers that wait for a thread, and as many checks of tokens; of a client, as many look-ups of
    /// names and signatures of keys. Default 4,096; a further one is answered with an internal error, or 503, or fails.
    /// Each counts among the requests in flight, and holds nothing but its place any more when it is cancelled.
    pub blocking_jobs: usize,
    /// Blocking handlers of one server or client that run at one time, each on a thread, and as many blocking checks of
    /// tokens; of a client, as many look-ups of names and signatures of keys. Default 256; further ones wait for those of
    /// their kind, and nothing else does, whatever else the process runs: these threads are not taken from the runtime.
    /// Each costs its stack.
    pub blocking_threads: usize,
    /// Connections that wait, already accepted, for a server on a runtime of threads to take them. Default 128;
    /// further ones wait in the operating system. Each costs a descriptor.
    pub accept_queue: usize,
    /// Connections that one HTTP server has open. Default 2,048; further ones wait in the operating system.
    /// Each costs a few KiB, on a runtime of threads also a thread, and another one while its time has come or others
    /// write to it. As many requests wait for a store of legacy
    /// sessions, each with its message; a further one is answered 503.
    pub accepted: usize,
    /// One answer of an authorization server, such as its metadata. Default 256 KiB; a longer one ends the flow.
    pub auth_document: usize,
    /// Authorization servers of one server that are considered. Default 8; further ones are not.
    pub authorization_servers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 4 << 20,
            depth: 128,
            head: 64 << 10,
            head_fields: 128,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(120),
            authentication: Duration::from_secs(30),
            keep_alive: Duration::from_secs(75),
            stall: Duration::from_secs(30),
            sessions: 10_000,
            client_details: 16 << 10,
            session_idle: Duration::from_secs(30 * 60),
            session_answer: Duration::from_secs(30),
            events: 1_024,
            event_bytes: 1 << 20,
            all_event_bytes: 64 << 20,
            keep_alive_comment: Duration::from_secs(15),
            in_flight: 1_024,
            in_flight_bytes: 64 << 20,
            id: 1 << 10,
            unattended: 256,
            ask: Duration::from_secs(600),
            asks: 1_024,
            asked: 64,
            call_rounds: 10,
            task_poll_min: Duration::from_millis(100),
            task_poll_max: Duration::from_secs(300),
            input_rounds: 8,
            tasks: 1_000,
            task_bytes: 64 << 20,
            task_ttl: Duration::from_secs(60 * 60),
            task_ttl_max: Duration::from_secs(24 * 60 * 60),
            drain: Duration::from_secs(1),
            shutdown: Duration::from_secs(30),
            request: Duration::from_secs(60),
            request_max: Duration::from_secs(600),
            probe: Duration::from_secs(5),
            authorization: Duration::from_secs(600),
            retry_floor: Duration::from_millis(100),
            resume_total: Duration::from_secs(300),
            acknowledgement: Duration::from_secs(60),
            retries: 2,
            restarts: 3,
            event_id: 1 << 10,
            pages: 1_000,
            items: 100_000,
            cache_entries: 1_024,
            cache_bytes: 16 << 20,
            cache_ttl: Duration::from_secs(24 * 60 * 60),
            cache_stale: Duration::from_secs(10 * 60),
            transmit: 16 << 20,
            notifications: 1_024,
            notification_bytes: 4 << 20,
            schema_depth: 64,
            schemas: 4_096,
            schema_patterns: 16 << 20,
            tools: 10_000,
            tool_bytes: 16 << 20,
            schema_steps: 1_000_000,
            state: 64 << 10,
            state_life: Duration::from_secs(300),
            clock_skew: Duration::from_secs(10),
            listens: 1_000,
            watched: 1_024,
            watched_bytes: 64 << 10,
            redirects: 3,
            child_exit: Duration::from_secs(2),
            decompressed: 64 << 20,
            handshake: Duration::from_secs(10),
            addresses: 8,
            connections: 64,
            blocking_jobs: 4_096,
            blocking_threads: 256,
            accept_queue: 128,
            accepted: 2_048,
            auth_document: 256 << 10,
            authorization_servers: 8,
        }
    }
}
