//! Grants in a file that only its owner can read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;

use mcp_proto::auth::{Grant, Secret};
use mcp_proto::model::Json;
use serde::{Deserialize, Serialize};

use super::store::GrantStore;
use crate::runtime::BoxFuture;
use crate::wake::Promise;

/// Keeps grants in a file, for programs that run again and again; several may use it at the same time.
///
/// Where there are permissions the file is for its owner alone (0600). It is replaced as a whole, so that nobody sees a
/// half of it, under a lock on a second file beside it, whose name ends in `.lock`. What in it cannot be read is an
/// error, and stays as it is.
#[derive(Clone, Debug)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// The file at this path. It is made when something is saved, and its folder has to be there by then.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl GrantStore for FileStore {
    fn load(&self, server: &str, issuer: Option<&str>) -> BoxFuture<io::Result<Option<Grant>>> {
        let (path, server, issuer) = (self.path.clone(), server.to_owned(), issuer.map(str::to_owned));
        aside(move || Contents::read(&path)?.find(&server, issuer.as_deref()))
    }

    fn save(&self, server: &str, grant: &Grant) -> BoxFuture<io::Result<()>> {
        let (path, server) = (self.path.clone(), server.to_owned());
        let (issuer, grant) = (grant.issuer.clone(), grant.to_json());
        aside(move || {
            let _lock = lock(&path)?;
            let mut file = Contents::read(&path)?;
            file.keep(server, issuer, grant)?;
            file.write(&path)
        })
    }

    fn replace(&self, server: &str, access_token: &Secret, grant: &Grant) -> BoxFuture<io::Result<bool>> {
        let (path, server, access_token) = (self.path.clone(), server.to_owned(), access_token.clone());
        let (issuer, grant) = (grant.issuer.clone(), grant.to_json());
        aside(move || {
            let _lock = lock(&path)?;
            let mut file = Contents::read(&path)?;
            let kept = file.find(&server, Some(&issuer))?;
            if kept.is_none_or(|kept| kept.access_token != access_token) {
                return Ok(false);
            }
            file.keep(server, issuer, grant)?;
            file.write(&path).map(|()| true)
        })
    }

    fn remove(&self, server: &str, issuer: &str) -> BoxFuture<io::Result<()>> {
        let (path, server, issuer) = (self.path.clone(), server.to_owned(), issuer.to_owned());
        aside(move || {
            let _lock = lock(&path)?;
            let mut file = Contents::read(&path)?;
            let Some(grants) = file.servers.get_mut(&server) else { return Ok(()) };
            let before = grants.len();
            grants.retain(|kept| kept.issuer != issuer);
            if grants.len() == before {
                return Ok(());
            }
            if grants.is_empty() {
                file.servers.remove(&server);
            }
            file.write(&path)
        })
    }
}

/// Runs on a thread of its own: files block, and it is done seldom.
fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> BoxFuture<io::Result<T>> {
    let promise = Promise::default();
    let done = promise.clone();
    let thread = thread::Builder::new().name("mcp-grants".into()).spawn(move || done.set(work()));
    Box::pin(async move {
        thread?;
        poll_fn(|cx| promise.poll_take(cx.waker())).await
    })
}

/// Grants by server, the one that was saved last at the end.
#[derive(Default, Serialize, Deserialize)]
struct Contents {
    servers: BTreeMap<String, Vec<Kept>>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    issuer: String,
    grant: Json,
}

impl Contents {
    fn read(path: &Path) -> io::Result<Self> {
        let mut text = String::new();
        match File::open(path) {
            Ok(mut file) => file.read_to_string(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let unreadable = || {
            let what = format!("{} holds no grants as they are written here", path.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        };
        serde_json::from_str(&text).map_err(|_| unreadable())
    }

    fn find(&self, server: &str, issuer: Option<&str>) -> io::Result<Option<Grant>> {
        let Some(grants) = self.servers.get(server) else { return Ok(None) };
        let found = grants.iter().rev().find(|kept| issuer.is_none_or(|issuer| kept.issuer == issuer));
        found.map(|kept| Grant::from_json(kept.grant.get()).map_err(io::Error::other)).transpose()
    }

    fn keep(&mut self, server: String, issuer: String, grant: String) -> io::Result<()> {
        let grants = self.servers.entry(server).or_default();
        grants.retain(|kept| kept.issuer != issuer);
        grants.push(Kept { issuer, grant: Json::parse(grant).map_err(io::Error::other)? });
        Ok(())
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let beside = beside(path, ".new");
        // Whatever is there is left from a program that ended while it wrote, and may have other permissions.
        if let Err(error) = std::fs::remove_file(&beside)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        for_owner(&mut options);
        let mut file = options.open(&beside)?;
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    }
}

/// Waits until nobody else writes. The lock ends with the file, however the program ends.
fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    for_owner(&mut options);
    let file = options.open(beside(path, ".lock"))?;
    file.lock()?;
    Ok(file)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

#[cfg(unix)]
fn for_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn for_owner(_: &mut OpenOptions) {}

#[cfg(test)]
mod tests;
