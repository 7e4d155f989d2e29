//! The end of what a user has agreed to.

use std::future::poll_fn;
use std::io;

use mcp_proto::auth::{Grant, Response, Revocation};
use mcp_proto::error::ApiMisuse;

use super::flow::{Failure, Worker};
use super::guard::Done;
use crate::client::{AnyLink, Client};
use crate::error::Error;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;
use crate::wake::Promise;

/// Authorization servers whose grants for one server are looked for: whatever a store says, there is an end.
const ISSUERS: usize = 16;

/// What became of the tokens of a client that has signed out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignedOut {
    /// They are of no use to anybody any more.
    Revoked,
    /// They are forgotten here, but not revoked: they are good until they end.
    Forgotten {
        /// Why: the authorization server cannot revoke tokens, could not be reached, or refused.
        reason: String,
    },
    /// There were none.
    NotSignedIn,
}

/// What a guard tells whoever signs out.
pub(in crate::client) type Answer = Promise<Result<SignedOut, String>>;

impl<R: Runtime> Client<R> {
    /// Signs out: the grants for this server are removed from the [store](super::GrantStore), their tokens revoked at the
    /// authorization server where it can do that, and private results that were kept are forgotten. The connection
    /// stays.
    ///
    /// Nobody is asked to sign in again before the application calls anew, or listens to something new: its next call
    /// that the server wants authorization for begins with a new flow. What goes on by itself until then gets no token: calls
    /// and subscriptions under way that the server refuses without one end as
    /// [`CallError::Unauthorized`](crate::CallError::Unauthorized), and a session that has to be opened again, or its
    /// stream, waits for that next call. Calls that wait for tasks end at once, as
    /// [`Unfinished::Lost`](crate::Unfinished::Lost): the tasks are of who made them, and are not taken back.
    ///
    /// An authorization that is under way is waited for. Other clients that have the same grants in memory find out by
    /// being refused.
    ///
    /// <https://www.rfc-editor.org/rfc/rfc7009>
    ///
    /// # Errors
    /// When the client has no [`authorize`](crate::ClientBuilder::authorize) or is closed, and when the store fails or all of
    /// it took longer than [`Limits::authorization`](crate::Limits::authorization): then a grant may still be in the store, or be
    /// good until it ends, but this client has it no more.
    pub fn sign_out(&self) -> <R::Mode as Mode>::Reply<SignedOut, Error> {
        let answer = Answer::default();
        let begun = match &self.link.0 {
            AnyLink::Http(link) => link.sign_out(answer.clone()),
            AnyLink::Line(_) => false,
        };
        self.runtime.run(Running::task(async move {
            if !begun {
                return Err(Error::from(ApiMisuse::new(
                    "there is nothing to sign out of: this client was built without `ClientBuilder::authorize`, or for a \
                     server that is not connected to by URL",
                )));
            }
            let outcome = poll_fn(|cx| answer.poll_take(cx.waker())).await;
            outcome.map_err(|reason| Error::io("signing out", io::Error::other(reason)))
        }))
    }
}

impl<R: Runtime> Worker<R> {
    /// Forgets first, and revokes then: whatever the authorization server says, the user is signed out here. What a store
    /// cannot forget is revoked all the same: then what it keeps is of no use.
    pub(super) async fn sign_out(&self, mut current: Option<Grant>) -> Done {
        let mut outcome = SignedOut::NotSignedIn;
        let mut failed = None;
        for _ in 0..ISSUERS {
            let issuer = current.as_ref().map(|grant| &*grant.issuer);
            let stored = self.options.store.load(&self.server, issuer).await.unwrap_or_else(|error| {
                failed = Some(format!("stored grants cannot be read: {error}"));
                None
            });
            // What is stored is the newer one.
            let last = current.take();
            let Some(grant) = stored.or(last) else { break };
            if let Err(error) = self.options.store.remove(&self.server, &grant.issuer).await {
                failed.get_or_insert(format!("a stored grant cannot be removed: {error}"));
            }
            match self.revoke(&grant).await {
                Ok(()) if outcome == SignedOut::NotSignedIn => outcome = SignedOut::Revoked,
                Ok(()) => {}
                Err(failure) => outcome = SignedOut::Forgotten { reason: failure.to_string() },
            }
            if failed.is_some() {
                break;
            }
        }
        Done::SignedOut(match (failed, outcome) {
            (None, outcome) => Ok(outcome),
            (Some(failed), SignedOut::Revoked) => Err(format!("{failed}; its tokens were revoked")),
            (Some(failed), SignedOut::Forgotten { reason }) => {
                Err(format!("{failed}; nor were tokens revoked: {reason}"))
            }
            (Some(failed), SignedOut::NotSignedIn) => Err(failed),
        })
    }

    async fn revoke(&self, grant: &Grant) -> Result<(), Failure> {
        let seed = self.runtime.seed().map_err(|error| Failure::Other(format!("no entropy: {error}")))?;
        let (config, server, grant) = (self.options.config.clone(), self.server.clone(), grant.clone());
        let mut step = self.apart(move |now| config.revoke(now, seed, &server, &grant)).await??;
        loop {
            step = match step {
                Revocation::Fetch(request, waiting) => match self.fetcher.fetch(request).await {
                    Ok((head, body)) => {
                        let answered =
                            move |now| waiting.on_response(now, Response { head: &head, body: &body });
                        self.apart(answered).await??
                    }
                    Err(why) => return Err(waiting.on_failure(&why).into()),
                },
                Revocation::Done(_) => return Ok(()),
            };
        }
    }
}
