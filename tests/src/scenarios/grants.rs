//! Grants as they are kept, renewed, forgotten and given back.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_driver::auth::{Authorize, Config, FileStore, Grant, GrantStore, MemoryStore, Secret, SignedOut};
use mcp_driver::{BoxFuture, CallError, EraChoice};

use super::authorize::{asked, connect, protected, visiting};
use super::{builder, call, calling, text};
use crate::authorization_server::{AuthorizationServer, browse};
use crate::kit::{AsyncKit, Kit};
use crate::support::{Events, Gate};

/// B75, AUTH-69: a token that has ended, or that the server does not take any more, is renewed without the user; a
/// refresh token that is not good any more leads back to the user.
pub fn tokens_are_renewed<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, _events) = Events::new();
    let client = connect(EraChoice::Modern, &host, visiting(tell)).unwrap();
    by.set(|policy| policy.good.clear());
    assert_eq!(text::<K>(&client, "who"), "ada");
    assert_eq!(asked(&by).last().unwrap(), "token refresh_token 200");
    by.set(|policy| {
        policy.refresh = None;
        policy.good.clear();
    });
    assert_eq!(text::<K>(&client, "who"), "ada");
    let all = asked(&by);
    let end = ["token refresh_token 400", "authorize use", "token authorization_code 200"];
    assert!(all.ends_with(&end.map(String::from)), "{all:?}");
    host.end();
}

/// AUTHX-08: a token that is about to end is renewed first; one that ends as it comes is used for as long as it is taken.
pub fn tokens_are_renewed_early<K: Kit>(_: &str) {
    for expires_in in [Some(3600), Some(0)] {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, _events) = Events::new();
        let store = MemoryStore::default();
        let authorize = visiting(tell).store(store.clone());
        K::wait(connect(EraChoice::Modern, &host, authorize.clone()).unwrap().close()).unwrap();
        let mut grant = K::block_on(store.load(&host.url, None)).unwrap().unwrap();
        grant.expires = Some(grant.issued);
        K::block_on(store.save(&host.url, &grant)).unwrap();
        by.set(|policy| policy.expires_in = expires_in);
        let before = asked(&by).len();
        let client = connect(EraChoice::Modern, &host, authorize).unwrap();
        assert_eq!(text::<K>(&client, "who"), "ada");
        assert_eq!(asked(&by)[before..], ["token refresh_token 200"]);
        host.end();
    }
}

/// B75: an authorization server that fails leaves the credential as good as it was.
pub fn a_server_that_fails_deletes_nothing<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, _events) = Events::new();
    let store = MemoryStore::default();
    let client = connect(EraChoice::Modern, &host, visiting(tell).store(store.clone())).unwrap();
    by.set(|policy| (policy.failure, policy.good) = (Some((503, "later")), Vec::new()));
    let error = call::<K>(&client, "who", serde_json::json!({})).unwrap_err();
    let CallError::Unauthorized { reason, record, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("failed at the token refresh") && reason.contains("503"), "{reason}");
    assert!(record.lines().count() > 0 || reason.contains("/token"), "{record}");
    by.set(|policy| policy.failure = None);
    assert_eq!(text::<K>(&client, "who"), "ada");
    assert_eq!(asked(&by).iter().filter(|event| event.starts_with("authorize")).count(), 1);
    let stored = K::block_on(store.load(&host.url, Some(&by.url))).unwrap().unwrap();
    assert_eq!(stored.refresh_token.unwrap().as_str(), "r-2", "the rotated one");
    host.end();
}

/// AUTH-30, AUTH-70: what is stored serves the next run, with nobody asked, and is for its owner alone.
pub fn grants_outlive_the_program<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let folder = std::env::temp_dir().join(format!("mcp-grants-{}-{}", K::NAME, std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = FileStore::new(folder.join("grants.json"));
    for _ in 0..2 {
        let (tell, _events) = Events::new();
        let client = connect(EraChoice::Modern, &host, visiting(tell).store(store.clone())).unwrap();
        assert_eq!(text::<K>(&client, "who"), "ada");
        K::wait(client.close()).unwrap();
    }
    assert_eq!(asked(&by), ["register", "authorize use", "token authorization_code 200"]);
    std::fs::remove_dir_all(&folder).unwrap();
    host.end();
}

/// B75, AUTHX-08: a refresh token that is dead is forgotten in the store, too, with nobody asked before the token has
/// ended; a server that fails takes nothing away. Either is told.
pub fn a_dead_refresh_token_is_forgotten<K: Kit>(_: &str) {
    for (dead, why) in [(true, "`invalid_grant`"), (false, "HTTP status 503")] {
        let by = AuthorizationServer::start();
        let host = protected::<K>(&by);
        let (tell, _events) = Events::new();
        let store = MemoryStore::default();
        let authorize = visiting(tell).store(store.clone());
        K::wait(connect(EraChoice::Modern, &host, authorize.clone()).unwrap().close()).unwrap();
        let stored = || K::block_on(store.load(&host.url, None)).unwrap().unwrap();
        let mut grant = stored();
        grant.expires = Some(grant.issued);
        K::block_on(store.save(&host.url, &grant)).unwrap();
        by.set(|policy| match dead {
            true => policy.refresh = None,
            false => policy.failure = Some((503, "later")),
        });
        let before = asked(&by).len();
        let (tell, told) = Events::new();
        let builder = builder::<K>(EraChoice::Modern).authorize(authorize);
        let client = builder.on_diagnostic(move |report| tell.tell(report.to_string())).http(&host.url);
        let client = K::wait(client).unwrap();
        assert_eq!(text::<K>(&client, "who"), "ada", "the token is still taken");
        assert!(told.expect("token refresh").contains(why));
        assert_eq!(asked(&by).len(), before + 1, "one try");
        let kept = stored();
        assert_eq!(kept.refresh_token, grant.refresh_token.clone().filter(|_| !dead));
        assert_eq!(kept.registration, grant.registration);
        host.end();
    }
}

/// A store in which another program keeps its own grant just after it was looked at for the second time.
#[derive(Clone, Default)]
struct Raced {
    store: MemoryStore,
    theirs: Arc<Mutex<Option<Grant>>>,
    looks: Arc<AtomicUsize>,
}

impl GrantStore for Raced {
    fn load(&self, server: &str, issuer: Option<&str>) -> BoxFuture<io::Result<Option<Grant>>> {
        let found = self.store.load(server, issuer);
        if issuer.is_some()
            && self.looks.fetch_add(1, Ordering::SeqCst) == 1
            && let Some(theirs) = &*self.theirs.lock().unwrap()
        {
            drop(self.store.save(server, theirs));
        }
        found
    }

    fn save(&self, server: &str, grant: &Grant) -> BoxFuture<io::Result<()>> {
        self.store.save(server, grant)
    }

    fn replace(&self, server: &str, access_token: &Secret, grant: &Grant) -> BoxFuture<io::Result<bool>> {
        self.store.replace(server, access_token, grant)
    }

    fn remove(&self, server: &str, issuer: &str) -> BoxFuture<io::Result<()>> {
        self.store.remove(server, issuer)
    }
}

/// B75: another program that has used the refresh token first, and stores what came of it at the last moment, loses
/// nothing, and nobody is asked.
pub fn what_another_program_stores_meanwhile_stays<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, _events) = Events::new();
    let store = Raced::default();
    let client = connect(EraChoice::Modern, &host, visiting(tell).store(store.clone())).unwrap();
    let mut theirs = K::block_on(store.store.load(&host.url, None)).unwrap().unwrap();
    (theirs.access_token, theirs.refresh_token) = (Secret::new("t-9.use"), Some(Secret::new("r-9")));
    *store.theirs.lock().unwrap() = Some(theirs.clone());
    store.looks.store(0, Ordering::SeqCst);
    by.set(|policy| (policy.refresh, policy.good) = (Some("r-9".into()), vec!["t-9.use".into()]));
    let before = asked(&by).len();
    assert_eq!(text::<K>(&client, "who"), "ada");
    assert_eq!(asked(&by)[before..], ["token refresh_token 400"]);
    let stored = K::block_on(store.store.load(&host.url, None)).unwrap().unwrap();
    assert_eq!((stored.access_token, stored.refresh_token), (theirs.access_token, theirs.refresh_token));
    host.end();
}

/// AUTH-66, AUTH-70, RFC 7009: who signs out leaves no token behind, and starts from the beginning.
pub fn signing_out_leaves_no_token_behind<K: Kit>(_: &str) {
    for status in [200, 503] {
        let by = AuthorizationServer::start();
        by.set(|policy| policy.revocation = status);
        let host = protected::<K>(&by);
        let (tell, _events) = Events::new();
        let store = MemoryStore::default();
        let client = connect(EraChoice::Modern, &host, visiting(tell).store(store.clone())).unwrap();
        assert_eq!(text::<K>(&client, "who"), "ada");
        let before = asked(&by).len();
        let outcome = K::wait(client.sign_out()).unwrap();
        if status == 200 {
            assert_eq!(outcome, SignedOut::Revoked);
            assert_eq!(asked(&by)[before..], ["revoke refresh_token 200", "revoke access_token 200"]);
        } else {
            let SignedOut::Forgotten { reason } = outcome else { panic!("{outcome:?}") };
            assert!(reason.contains("token revocation") && reason.contains("503"), "{reason}");
            assert_eq!(asked(&by)[before..], ["revoke refresh_token 503"]);
        }
        assert!(K::block_on(store.load(&host.url, None)).unwrap().is_none());
        assert_eq!(K::wait(client.sign_out()).unwrap(), SignedOut::NotSignedIn);
        let before = asked(&by).len();
        assert_eq!(text::<K>(&client, "who"), "ada");
        assert_eq!(asked(&by)[before..], ["register", "authorize use", "token authorization_code 200"]);
        // What is stored is enough, whoever signs out.
        K::wait(client.close()).unwrap();
        let error = K::wait(client.sign_out()).unwrap_err();
        assert!(error.to_string().starts_with("signing out: "), "{error}");
        host.end();
    }
}

/// AUTH-66: who signs out while a user is asked is signed out when that is over, and not asked again before the next call.
/// Where a call is a future, it has begun by the time that there is one.
pub fn signing_out_waits_for_a_flow<K: AsyncKit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, visits) = Events::new();
    let (gate, first) = (Gate::default(), Mutex::new(true));
    let door = gate.clone();
    let store = MemoryStore::default();
    let authorize = Authorize::new(Config::new("Spokes")).store(store.clone()).open_with(move |url| {
        if !std::mem::take(&mut *first.lock().unwrap()) {
            tell.tell("asked again");
            door.block();
        }
        browse(url).map(drop)
    });
    let client = connect(EraChoice::Modern, &host, authorize).unwrap();
    by.set(|policy| (policy.refresh, policy.good) = (None, Vec::new()));
    let call = calling::<K>(&client, "who");
    visits.expect("asked again");
    let leaving = client.sign_out();
    gate.open();
    // The token that the call waited for is gone, if it was not faster, and nobody is asked for another.
    match call.join() {
        Ok(reply) => assert_eq!(reply.text(), "ada"),
        Err(error) => assert!(error.to_string().contains("the user has signed out"), "{error}"),
    }
    assert_eq!(K::wait(leaving).unwrap(), SignedOut::Revoked);
    assert!(visits.others().is_empty());
    assert_eq!(text::<K>(&client, "who"), "ada");
    visits.expect("asked again");
    host.end();
}

/// AUTH-66: without authorization there is nothing to sign out of.
pub fn signing_out_needs_authorization<K: Kit>(_: &str) {
    let plain = super::host::<K>(|_| {});
    let client = plain.client(EraChoice::Modern);
    let error = K::wait(client.sign_out()).unwrap_err();
    assert!(error.to_string().contains("`ClientBuilder::authorize`"), "{error}");
    plain.end();
}
