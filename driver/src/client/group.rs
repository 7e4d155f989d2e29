//! Several servers as one: their tools in one list, and calls to whichever has the tool.

mod call;
mod error;
mod join;
mod route;
mod tasks;

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::client::{
    GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools, ReadResource, ToolReply,
};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::model::{GetPromptResult, Json, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool};
use serde::Serialize;

use super::calls::{Options, after};
use super::collection::Incomplete;
use super::{Client, ClientBuilder, ServerFile, Target};
use crate::error::Error;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;
use join::join;
use route::Routes;

pub use call::GroupCall;
pub use error::GroupError;

/// Connections to several servers. Clones share them.
///
/// A server that cannot be reached takes nothing from the others: [`failure`](Self::failure) says why, and
/// [`reconnect`](Self::reconnect) tries again. Whatever a group does not do itself, the [`client`](Self::client) of a
/// server does.
///
/// ```
/// # use mcp_driver::{Async, Client, Command, Error, Group, Runtime};
/// # async fn use_them<R: Runtime<Mode = Async>>() -> Result<(), Box<dyn std::error::Error>> {
/// let group = Group::<R>::builder(Client::builder("my-host", "1.0.0"))
///     .server("files", "npx -y files-server /srv")
///     .server("search", Command::new("search-server"))
///     .connect()
///     .await?;
/// for tool in group.list_tools().await?.items {
///     println!("{} of {}", tool.name, tool.server);
/// }
/// let reply = group.call_tool("read_file", serde_json::json!({ "path": "/srv/a" })).await?;
/// println!("{}", reply.text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Group<R: Runtime> {
    runtime: R,
    members: Arc<[Member<R>]>,
    routes: Arc<Mutex<Routes>>,
}

struct Member<R: Runtime> {
    name: String,
    builder: ClientBuilder<R>,
    target: Result<Target, Arc<Error>>,
    state: Mutex<Result<Client<R>, Arc<Error>>>,
}

/// A call, and whom it goes to.
struct Called<R: Runtime> {
    client: Client<R>,
    server: String,
    name: String,
    arguments: Json,
    options: Options,
}

/// The servers of a [`Group`], before they are connected to.
#[derive(Clone)]
pub struct GroupBuilder<R: Runtime> {
    client: ClientBuilder<R>,
    servers: Vec<(String, ClientBuilder<R>, Result<Target, Arc<Error>>)>,
}

/// Something that one of several servers has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listed<T> {
    /// The name of the server.
    pub server: String,
    /// The name to call it by in the group: its own, or with its server in front (`server__name`) where several servers
    /// have one of that name. Of a resource its URI, of a template its pattern; those are never changed.
    pub name: String,
    /// What the server says of it.
    pub item: T,
}

/// What several servers have together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listing<T> {
    /// All of it, in the order of the servers.
    pub items: Vec<Listed<T>>,
    /// What went wrong with servers that are missing in it.
    pub failures: Vec<GroupError>,
}

impl<T> Listing<T> {
    /// Servers, and their names of things.
    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.items.iter().map(|item| (&*item.server, &*item.name))
    }

    /// Servers that have not said all that they have.
    fn failed(&self) -> BTreeSet<&str> {
        self.failures.iter().filter_map(GroupError::server).collect()
    }
}

impl<R: Runtime> GroupBuilder<R> {
    /// Adds a server: a URL or command line, a [`Command`](crate::Command), or a [`Target`].
    #[must_use]
    pub fn server<T>(self, name: impl Into<String>, target: T) -> Self
    where
        T: TryInto<Target>,
        Error: From<T::Error>,
    {
        let client = self.client.clone();
        self.server_with(name, target, client)
    }

    /// Adds a server that is connected to by a builder of its own.
    #[must_use]
    pub fn server_with<T>(mut self, name: impl Into<String>, target: T, client: ClientBuilder<R>) -> Self
    where
        T: TryInto<Target>,
        Error: From<T::Error>,
    {
        let target = target.try_into().map_err(|error| Arc::new(Error::from(error)));
        self.servers.push((name.into(), client, target));
        self
    }

    /// Adds the servers of a file, those apart that it disables. One whose entry has something wrong is in the group with
    /// that as its [`failure`](Group::failure).
    #[must_use]
    pub fn file(mut self, file: &ServerFile) -> Self {
        for server in file.enabled() {
            let target = server.target.clone().map_err(|error| Arc::new(Error::from(error)));
            self.servers.push((server.name.clone(), self.client.clone(), target));
        }
        self
    }

    /// Connects to all servers at once. Those that cannot be reached are in the group all the same.
    ///
    /// # Errors
    /// When a name is empty, or that of two servers.
    pub fn connect(self) -> <R::Mode as Mode>::Reply<Group<R>, Error> {
        let runtime = self.client.runtime.clone();
        runtime.run(Running::task(async move {
            for (at, (name, ..)) in self.servers.iter().enumerate() {
                if name.is_empty() || self.servers.iter().take(at).any(|(other, ..)| other == name) {
                    let message = format!("`{name}` is the name of two servers, or empty");
                    return Err(ApiMisuse::new(message).into());
                }
            }
            let runtime = self.client.runtime.clone();
            let members = self.servers.into_iter().map(|(name, builder, target)| Member {
                name,
                builder,
                target,
                state: Mutex::new(Err(Arc::new(ApiMisuse::new("it was not connected to yet").into()))),
            });
            let group = Group { runtime, members: members.collect(), routes: Arc::default() };
            join((0..group.members.len()).map(|at| group.clone().open(at))).await;
            Ok(group)
        }))
    }
}

impl<R: Runtime> Group<R> {
    /// A group of servers that are connected to by this builder.
    pub fn builder(client: ClientBuilder<R>) -> GroupBuilder<R> {
        GroupBuilder { client, servers: Vec::new() }
    }

    /// The names of the servers, in the order in which they were added.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The client of a server.
    ///
    /// # Errors
    /// When there is no server of this name, or it is not connected.
    pub fn client(&self, server: &str) -> Result<Client<R>, GroupError> {
        self.member(server)?.client()
    }

    /// Why a server is not connected; `None` when it is, as far as was seen, or there is none of this name.
    pub fn failure(&self, server: &str) -> Option<Arc<Error>> {
        self.member(server).ok()?.state().as_ref().err().cloned()
    }

    /// Connects to a server again, in place of the connection there was: that is closed.
    ///
    /// # Errors
    /// When there is no server of this name, or it cannot be reached.
    pub fn reconnect(&self, server: &str) -> <R::Mode as Mode>::Reply<Client<R>, GroupError> {
        let (group, server) = (self.clone(), server.to_owned());
        self.runtime.run(Running::task(async move {
            let at = group.position(&server)?;
            if let Ok(before) = group.client(&server) {
                before.ending().await;
            }
            group.clone().open(at).await;
            group.client(&server)
        }))
    }

    /// The tools of all servers.
    ///
    /// # Errors
    /// None: what a server fails with is in [`Listing::failures`].
    pub fn list_tools(&self) -> <R::Mode as Mode>::Reply<Listing<Tool>, GroupError> {
        let group = self.clone();
        self.runtime.run(Running::task(async move { Ok(group.tools().await) }))
    }

    /// The prompts of all servers.
    ///
    /// # Errors
    /// As of [`list_tools`](Self::list_tools).
    pub fn list_prompts(&self) -> <R::Mode as Mode>::Reply<Listing<Prompt>, GroupError> {
        let group = self.clone();
        self.runtime.run(Running::task(async move { Ok(group.prompts().await) }))
    }

    /// The resources of all servers.
    ///
    /// # Errors
    /// As of [`list_tools`](Self::list_tools).
    pub fn list_resources(&self) -> <R::Mode as Mode>::Reply<Listing<Resource>, GroupError> {
        let group = self.clone();
        self.runtime.run(Running::task(async move { Ok(group.resources().await) }))
    }

    /// The resource templates of all servers.
    ///
    /// # Errors
    /// As of [`list_tools`](Self::list_tools).
    pub fn list_resource_templates(&self) -> <R::Mode as Mode>::Reply<Listing<ResourceTemplate>, GroupError> {
        let group = self.clone();
        self.runtime.run(Running::task(async move {
            let list = |client: Client<R>| {
                let page = after(ListResourceTemplates::new, ListResourceTemplates::after);
                client.read_all(page, |reply| (reply.resource_templates, reply.next_cursor), Options::new())
            };
            Ok(group.list(list, |template| template.uri_template.clone()).await)
        }))
    }

    /// Calls a tool of whichever server has it: by its own name, or as `server__tool`. Which server that is was learned
    /// when the tools were last listed; they are listed where it is not known.
    ///
    /// # Errors
    /// When no server has such a tool or several have, the server is not connected, or the call fails.
    pub fn call_tool(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> <R::Mode as Mode>::Reply<ToolReply, GroupError> {
        self.call(GroupCall::new(name, arguments))
    }

    /// Makes a call.
    ///
    /// # Errors
    /// As of [`call_tool`](Self::call_tool).
    pub fn call(&self, call: GroupCall) -> <R::Mode as Mode>::Reply<ToolReply, GroupError> {
        self.runtime.run(Running::task(self.clone().calling(call)))
    }

    /// Makes several calls at once. The outcomes are in the order of the calls.
    ///
    /// # Errors
    /// None: each call has an outcome of its own.
    pub fn call_all(
        &self,
        calls: impl IntoIterator<Item = GroupCall>,
    ) -> <R::Mode as Mode>::Reply<Vec<Result<ToolReply, GroupError>>, GroupError> {
        let (group, calls) = (self.clone(), calls.into_iter().collect::<Vec<_>>());
        self.runtime.run(Running::task(async move {
            // Looked for once, and not by each call.
            let unknown =
                calls.iter().any(|call| call.server.is_none() && group.find_tool(&call.name).is_none());
            if unknown {
                group.tools().await;
            }
            Ok(join(calls.into_iter().map(|call| group.clone().calling(call))).await)
        }))
    }

    /// A prompt of whichever server has it, filled in.
    ///
    /// # Errors
    /// As of [`call_tool`](Self::call_tool).
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> <R::Mode as Mode>::Reply<GetPromptResult, GroupError> {
        let (group, name) = (self.clone(), name.to_owned());
        let arguments: Vec<_> =
            arguments.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        self.runtime.run(Running::task(async move {
            let find = || group.routes().prompts.find(&name);
            let known = find();
            let found = match known {
                Some(found) => found,
                None => {
                    group.prompts().await;
                    find().ok_or_else(|| group.unknown("prompt", &name))?
                }
            };
            let (server, name) = found.sole("prompt", &name)?;
            let client = group.client(&server)?;
            let arguments = arguments.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            let call = GetPrompt::new(name).arguments(arguments);
            client.start_call(&call, Options::new()).await.map_err(|error| GroupError::call(server, error))
        }))
    }

    /// What is at a URI that one of the servers lists.
    ///
    /// # Errors
    /// As of [`call_tool`](Self::call_tool). What only a template makes is read by the [`client`](Self::client) of its
    /// server.
    pub fn read_resource(&self, uri: &str) -> <R::Mode as Mode>::Reply<ReadResourceResult, GroupError> {
        let (group, uri) = (self.clone(), uri.to_owned());
        self.runtime.run(Running::task(async move {
            let find = || group.routes().resources.find(&uri);
            let known = find();
            let found = match known {
                Some(found) => found,
                None => {
                    group.resources().await;
                    find().ok_or_else(|| group.unknown("resource", &uri))?
                }
            };
            let (server, uri) = found.sole("resource", &uri)?;
            let client = group.client(&server)?;
            let call = ReadResource::new(uri);
            client.start_call(&call, Options::new()).await.map_err(|error| GroupError::call(server, error))
        }))
    }

    /// Closes all connections and waits until that is done.
    ///
    /// # Errors
    /// None so far.
    pub fn close(&self) -> <R::Mode as Mode>::Reply<(), Error> {
        let group = self.clone();
        self.runtime.run(Running::task(async move {
            let clients = group.members.iter().filter_map(|member| member.client().ok());
            join(clients.map(|client| async move { client.ending().await })).await;
            Ok(())
        }))
    }

    async fn calling(self, call: GroupCall) -> Result<ToolReply, GroupError> {
        let Called { client, server, name, arguments, options } = self.find(call).await?;
        let call = mcp_proto::client::CallTool::with(name, arguments);
        client.start_call(&call, options).await.map_err(|error| GroupError::call(server, error))
    }

    /// Whom a call goes to, and what it is there.
    async fn find(&self, call: GroupCall) -> Result<Called<R>, GroupError> {
        let GroupCall { server, name, arguments, options } = call;
        let arguments = arguments.map_err(GroupError::Misuse)?;
        let (server, name) = match server {
            Some(server) => (server, name),
            None => {
                let found = match self.find_tool(&name) {
                    Some(found) => found,
                    None => {
                        self.tools().await;
                        self.find_tool(&name).ok_or_else(|| self.unknown("tool", &name))?
                    }
                };
                found.sole("tool", &name)?
            }
        };
        Ok(Called { client: self.client(&server)?, server, name, arguments, options })
    }

    async fn tools(&self) -> Listing<Tool> {
        let list = |client: Client<R>| {
            let page = after(ListTools::new, ListTools::after);
            client.read_all(page, |reply| (reply.tools, reply.next_cursor), Options::new())
        };
        let mut listing = self.list(list, |tool| tool.name.clone()).await;
        let mut routes = self.routes();
        routes.tools.learn(listing.names(), &listing.failed());
        routes.tools.distinguish(&mut listing.items);
        drop(routes);
        listing
    }

    async fn prompts(&self) -> Listing<Prompt> {
        let list = |client: Client<R>| {
            let page = after(ListPrompts::new, ListPrompts::after);
            client.read_all(page, |reply| (reply.prompts, reply.next_cursor), Options::new())
        };
        let mut listing = self.list(list, |prompt| prompt.name.clone()).await;
        let mut routes = self.routes();
        routes.prompts.learn(listing.names(), &listing.failed());
        routes.prompts.distinguish(&mut listing.items);
        drop(routes);
        listing
    }

    async fn resources(&self) -> Listing<Resource> {
        let list = |client: Client<R>| {
            let page = after(ListResources::new, ListResources::after);
            client.read_all(page, |reply| (reply.resources, reply.next_cursor), Options::new())
        };
        let listing = self.list(list, |resource| resource.uri.clone()).await;
        self.routes().resources.learn(listing.names(), &listing.failed());
        listing
    }

    /// Lists what all servers have. A server that does not have the feature at all is not missing in it.
    async fn list<T, F: Future<Output = Result<Vec<T>, Incomplete<T>>> + Send + 'static>(
        &self,
        list: impl Fn(Client<R>) -> F,
        name: impl Fn(&T) -> String,
    ) -> Listing<T>
    where
        T: Send + 'static,
    {
        let asked = self.members.iter().map(|member| {
            let asked = member.client().map(&list);
            let server = member.name.clone();
            async move {
                match asked?.await {
                    Ok(items) => Ok((server, items, None)),
                    Err(Incomplete { error: CallError::Unsupported { .. }, read }) => {
                        Ok((server, read, None))
                    }
                    // What was read of it is there all the same.
                    Err(Incomplete { error, read }) => {
                        Ok((server.clone(), read, Some(GroupError::call(server, error))))
                    }
                }
            }
        });
        let mut listing = Listing { items: Vec::new(), failures: Vec::new() };
        for outcome in join(asked).await {
            match outcome {
                Ok((server, items, failure)) => {
                    listing.failures.extend(failure);
                    listing.items.extend(items.into_iter().map(|item| Listed {
                        server: server.clone(),
                        name: name(&item),
                        item,
                    }));
                }
                Err(error) => listing.failures.push(error),
            }
        }
        listing
    }

    async fn open(self, at: usize) {
        let Some(member) = self.members.get(at) else { return };
        let opened = match &member.target {
            Ok(target) => member.builder.clone().opening(target.clone()).await.map_err(Arc::new),
            Err(error) => Err(error.clone()),
        };
        let before = std::mem::replace(&mut *member.state(), opened);
        drop(before);
    }

    fn find_tool(&self, name: &str) -> Option<route::Found> {
        self.routes().tools.find(name)
    }

    fn unknown(&self, what: &'static str, name: &str) -> GroupError {
        let failed = self.members.iter().filter(|member| member.client().is_err());
        GroupError::Unknown {
            what,
            name: name.to_owned(),
            unavailable: failed.map(|member| member.name.clone()).collect(),
        }
    }

    fn position(&self, server: &str) -> Result<usize, GroupError> {
        self.members.iter().position(|member| member.name == server).ok_or_else(|| GroupError::NoServer {
            server: server.to_owned(),
            known: self.servers().map(str::to_owned).collect(),
        })
    }

    fn member(&self, server: &str) -> Result<&Member<R>, GroupError> {
        self.position(server).map(|at| &self.members[at])
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Runtime> Member<R> {
    fn state(&self) -> MutexGuard<'_, Result<Client<R>, Arc<Error>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Result<Client<R>, GroupError> {
        let state = self.state();
        state
            .as_ref()
            .cloned()
            .map_err(|error| GroupError::Unavailable { server: self.name.clone(), error: error.clone() })
    }
}

impl<R: Runtime> fmt::Debug for Group<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("servers", &self.servers().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl<R: Runtime> fmt::Debug for GroupBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers.iter().map(|(name, _, target)| (name, target));
        f.debug_map().entries(servers).finish()
    }
}
