//! A server whose legacy clients may lose their connection, and whose sessions outlive its process.
//!
//! ```text
//! cargo run --example tokio_sessions -- 127.0.0.1:8000 /tmp/sessions
//! cargo run --example tokio_sessions -- 127.0.0.1:8000 --stateless
//! ```
//!
//! Start it once more on another port with the same folder, and a session of one is a session of the other. A call
//! of `census` is answered to a client that comes back for it: its stream is closed meanwhile, and so it may be
//! on any other connection that breaks.
//!
//! `--stateless` is the other way to have many servers behind one address: no sessions at all. Then there is
//! nothing to come back to, nothing to ask, and every answer may as well be one JSON object.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_tokio::proto::server::{Event, EventStore, MemoryEvents, StreamId};
use mcp_tokio::{
    BoxFuture, Context, Limits, Saved, Server, SessionId, SessionState, SessionStore, StoreError, Tool,
};

/// A file for each session. A real store would also forget what was not asked for in half an hour.
struct Folder(PathBuf);

impl Folder {
    /// Clients send what they like as the name of a session; only what was made here names a file.
    fn file(&self, session: &SessionId) -> Option<PathBuf> {
        let name = session.as_str();
        let ours = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        ours.then(|| self.0.join(name))
    }

    /// Does something while no other process changes anything in the folder.
    fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<Result<T, StoreError>> {
        let lock = self.0.join("lock");
        Box::pin(async move {
            let job = move || {
                let lock = File::create(lock)?;
                lock.lock()?;
                job()
            };
            tokio::task::spawn_blocking(job).await?
        })
    }
}

fn read(file: &Path) -> Result<Option<SessionState>, StoreError> {
    match std::fs::read(file) {
        Ok(state) => Ok(Some(serde_json::from_slice(&state)?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl SessionStore for Folder {
    fn load(&self, session: &SessionId) -> BoxFuture<Result<Option<SessionState>, StoreError>> {
        let file = self.file(session);
        Box::pin(async move {
            let Some(file) = file else { return Ok(None) };
            tokio::task::spawn_blocking(move || read(&file)).await?
        })
    }

    fn save(
        &self,
        session: &SessionId,
        expected: Option<u64>,
        state: &SessionState,
    ) -> BoxFuture<Result<Saved, StoreError>> {
        let (file, state) = (self.file(session), serde_json::to_vec(state));
        self.alone(move || {
            let file = file.ok_or("a session of another name than ours")?;
            if read(&file)?.map(|kept| kept.changes) != expected {
                return Ok(Saved::Conflict);
            }
            // Whole or not at all, whoever reads it meanwhile.
            let new = file.with_extension("new");
            std::fs::write(&new, state?)?;
            std::fs::rename(new, file)?;
            Ok(Saved::Kept)
        })
    }

    fn remove(&self, session: &SessionId) -> BoxFuture<Result<(), StoreError>> {
        let file = self.file(session);
        self.alone(move || match file.map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        })
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Census {
    /// how many to count
    sheep: u32,
}

async fn census(Census { sheep }: Census, cx: Context) -> Result<String, mcp_tokio::ToolError> {
    // A client that can come back does so every two seconds; others wait.
    cx.close_stream(Duration::from_secs(2));
    for counted in 1..=sheep {
        cx.sleep(Duration::from_secs(1)).await;
        cx.progress((f64::from(counted), f64::from(sheep)));
    }
    Ok(format!("{sheep} sheep"))
}

/// Events in memory, as they are anyway; what is given out a second time is told of. A store that keeps them
/// elsewhere answers from memory as well, and writes behind: whoever asks holds the table of sessions.
#[derive(Debug)]
struct Told(MemoryEvents);

impl EventStore for Told {
    fn append(&mut self, session: &SessionId, event: &Event) {
        self.0.append(session, event);
    }

    fn after(&mut self, session: &SessionId, stream: StreamId, number: u64) -> Option<Vec<Event>> {
        let events = self.0.after(session, stream, number);
        eprintln!("{} events again", events.as_ref().map_or(0, Vec::len));
        events
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.forget(session);
    }
}

/// A shepherd.
pub fn server() -> Server {
    Server::new("shepherd", "1.0.0")
        .tool(Tool::new("census").description("Counts sheep, one a second"), census)
}

/// The same with sessions that belong to somebody, and that outlive a process.
pub fn with_sessions(server: Server, folder: PathBuf) -> Server {
    server
        .session_store(Folder(folder))
        .event_store(Told(MemoryEvents::new(&Limits::default())))
        // Whoever has learned the name of a session does not have it yet: it belongs to one user.
        .session_owner(|head, principal| match principal {
            Some(principal) => Some(principal.subject.clone()),
            None => head.headers.text("x-user").map(str::to_owned),
        })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let server = match arguments.next() {
        Some(flag) if flag == "--stateless" => server().stateless().json_responses(),
        folder => {
            let folder = folder.map_or_else(|| std::env::temp_dir().join("mcp-sessions"), PathBuf::from);
            std::fs::create_dir_all(&folder)?;
            with_sessions(server(), folder)
        }
    };
    Ok(server.serve_http(address).await?)
}
