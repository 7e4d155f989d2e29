//! Files in which desktop hosts keep their servers: `mcpServers` (Claude Desktop, Cursor and others) and `servers`
//! (VS Code).

mod entry;
mod error;
mod expand;
mod jsonc;

use std::fmt;
use std::path::Path;

use super::target::Target;
use entry::Members;

pub use error::ServerFileError;

/// The servers of a file as desktop hosts write it, in its order.
///
/// ```
/// let text = r#"{
///   "mcpServers": {
///     "files": { "command": "npx", "args": ["-y", "files-server", "${ROOT:-/srv}"], "env": { "LEVEL": "info" } },
///     "weather": { "type": "http", "url": "https://weather.example/mcp",
///                  "headers": { "Authorization": "Bearer ${WEATHER_TOKEN}" } },
///     "old": { "type": "sse", "url": "http://localhost:8000/sse", "disabled": true }
///   }
/// }"#;
/// # let lookup = |name: &str| (name == "WEATHER_TOKEN").then(|| "t".to_owned());
/// let file = mcp_driver::ServerFile::parse_with(text, lookup)?;      // or ServerFile::read("mcp.json")
/// let names: Vec<&str> = file.enabled().map(|server| server.name.as_str()).collect();
/// assert_eq!(names, ["files", "weather"]);
/// let target = file.target("files")?;                                // for `Client::connect`
/// # drop(target);
/// # Ok::<_, mcp_driver::ServerFileError>(())
/// ```
///
/// The servers are under `mcpServers`, `servers` or `mcp.servers`. Each has `command`, `args`, `env` and `cwd`, or `url`
/// and `headers`; `type` is `stdio`, `http`, `streamable-http` or `sse`, and follows from the rest where it is left out.
/// In all of these `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for variables of the environment. Comments and
/// trailing commas are let pass. Members with other names are for the host, and ignored.
///
/// A server whose entry has something wrong is in the list with its error: the others can be connected to.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFile {
    /// What there is, in the order of the file.
    pub servers: Vec<NamedServer>,
}

/// One server of a [`ServerFile`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedServer {
    /// Its name.
    pub name: String,
    /// Whether the file says that it is not to be used (`disabled`).
    pub disabled: bool,
    /// Where it is, or what is wrong with its entry.
    pub target: Result<Target, ServerFileError>,
}

impl ServerFile {
    /// Reads a file, with the variables of the environment.
    ///
    /// # Errors
    /// When it cannot be read, is no JSON, or has no list of servers.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ServerFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ServerFileError::new(error.to_string()).of(path))?;
        let mut file = Self::parse(&text).map_err(|error| error.of(path))?;
        for server in &mut file.servers {
            server.target = std::mem::replace(&mut server.target, Err(ServerFileError::new("")))
                .map_err(|error| error.of(path));
        }
        Ok(file)
    }

    /// Reads the text of a file, with the variables of the environment.
    ///
    /// # Errors
    /// When it is no JSON, or has no list of servers.
    pub fn parse(text: &str) -> Result<Self, ServerFileError> {
        Self::parse_with(text, |name| std::env::var(name).ok())
    }

    /// Reads the text of a file, with variables from somewhere else.
    ///
    /// # Errors
    /// When it is no JSON, or has no list of servers.
    pub fn parse_with(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ServerFileError> {
        let text = jsonc::plain(text);
        let root: Members = serde_json::from_str(&text).map_err(|error| ServerFileError::syntax(&error))?;
        let mut servers = Vec::new();
        for (name, value) in list(root)?.0 {
            let (target, disabled) = entry::read(&value, &lookup);
            let target = target.map_err(|error| error.server(&name));
            servers.push(NamedServer { name, disabled, target });
        }
        Ok(Self { servers })
    }

    /// Those that are not disabled.
    pub fn enabled(&self) -> impl Iterator<Item = &NamedServer> {
        self.servers.iter().filter(|server| !server.disabled)
    }

    /// Where the server with this name is, disabled or not.
    ///
    /// # Errors
    /// When there is none, or its entry has something wrong.
    pub fn target(&self, name: &str) -> Result<Target, ServerFileError> {
        match self.servers.iter().find(|server| server.name == name) {
            Some(server) => server.target.clone(),
            None => {
                let known: Vec<&str> = self.servers.iter().map(|server| &*server.name).collect();
                let problem = format!("there is no server of this name, only: {}", known.join(", "));
                Err(ServerFileError::new(problem).server(name))
            }
        }
    }
}

/// The list of servers, wherever it is.
fn list(root: Members) -> Result<Members, ServerFileError> {
    let missing =
        || ServerFileError::new("expected the servers under `mcpServers` or `servers`, found neither");
    let find =
        |members: Members, wanted: &[&str]| members.0.into_iter().find(|(name, _)| wanted.contains(&&**name));
    let (field, value) = find(root, &["mcpServers", "servers", "mcp"]).ok_or_else(missing)?;
    let servers = Members::read(&value)
        .map_err(|found| entry::expected("an object of servers", found).field(&field))?;
    if field != "mcp" {
        return Ok(servers);
    }
    let (_, value) = find(servers, &["servers"]).ok_or_else(missing)?;
    Members::read(&value).map_err(|found| entry::expected("an object of servers", found).field("mcp.servers"))
}

impl fmt::Debug for ServerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.servers).finish()
    }
}

impl fmt::Debug for NamedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, disabled, target } = self;
        f.debug_struct("NamedServer")
            .field("name", name)
            .field("disabled", disabled)
            .field("target", target)
            .finish()
    }
}

#[cfg(test)]
mod tests;
