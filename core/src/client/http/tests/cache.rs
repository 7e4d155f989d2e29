use super::*;
use crate::client::{CacheUse, Fetch, Fetched, Freshness, ListResources, ReadResource};
use crate::model::caching::CacheScope;
use crate::model::resources::ReadResourceResult;
use crate::model::tools::ListToolsResult;

const PUBLIC: &str =
    "{'tools':[{'name':'saw','inputSchema':{'type':'object'}}],'ttlMs':5000,'cacheScope':'public'}";
const PRIVATE: &str = "{'tools':[],'ttlMs':5000,'cacheScope':'private'}";

fn peer(mut config: Config) -> Peer {
    // What cannot be sent fails at once.
    config.limits.retries = 0;
    let mut peer = Peer::new(config.header("Authorization", "Bearer one"));
    let probe = peer.one();
    let capabilities = "'capabilities':{'tools':{},'resources':{}}";
    peer.result(&probe, &format!("{{'supportedVersions':['2026-07-28'],{capabilities}}}"));
    peer.events();
    peer
}

/// Makes the call, whose result is `result`.
fn fill<C: Call>(peer: &mut Peer, call: &C, result: &str) -> C::Reply {
    let (pending, sent) = peer.start(call);
    peer.result(&sent, result);
    peer.take(&pending).unwrap()
}

/// Makes the call without anything being sent.
#[track_caller]
fn hit<C: Call>(peer: &mut Peer, call: &C) -> C::Reply {
    peer.events();
    let pending = peer.http.start(peer.now, call, CallOptions::new()).unwrap();
    peer.none();
    assert_eq!(peer.settled(), 1);
    peer.take(&pending).unwrap()
}

/// Makes the call, and it fails for this reason.
fn fail<C: Call>(peer: &mut Peer, call: &C, options: CallOptions) -> Result<C::Reply, CallError> {
    let pending = peer.http.start(peer.now, call, options).unwrap();
    let sent = peer.one();
    peer.http.handle_failed(peer.now, sent.exchange, "nobody is there", true);
    peer.take(&pending)
}

/// CACHE-20: fresh until its time is over, and not a moment longer.
#[test]
fn a_fresh_list_is_not_asked_for_again() {
    let mut peer = peer(config());
    let first = fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.wait(4_999);
    assert_eq!(hit(&mut peer, &ListTools::new()), first);
    peer.wait(1);
    peer.start(&ListTools::new());
}

/// CACHE-18: where nobody knows whose answers they are, those for one only are not kept.
#[test]
fn what_is_private_is_kept_for_whoever_is_known_only() {
    let mut peer = peer(config().cache_private(false));
    fill(&mut peer, &ListTools::new(), PRIVATE);
    fill(&mut peer, &ListTools::new(), PUBLIC);
    hit(&mut peer, &ListTools::new());
}

/// CACHE-18: whoever has another token may be somebody else, whether or not a call waited for it.
#[test]
fn another_authorization_forgets_what_is_private() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PRIVATE);
    fill(&mut peer, &ListResources::new(), "{'resources':[],'ttlMs':5000,'cacheScope':'public'}");
    let (on_its_way, sent) = peer.start(&ReadResource::new("x:a"));
    peer.http.reauthorized();
    peer.result(&sent, "{'contents':[],'ttlMs':5000,'cacheScope':'private'}");
    peer.take(&on_its_way).unwrap();
    hit(&mut peer, &ListResources::new());
    peer.start(&ListTools::new());
    peer.start(&ReadResource::new("x:a"));
}

/// HDR-51: a server that refuses the headers of a call has other tools than those that are kept of it, which are not
/// given out any more and teach nothing.
#[test]
fn a_header_mismatch_makes_kept_lists_worthless() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), "{'tools':[],'nextCursor':'p2','ttlMs':5000,'cacheScope':'public'}");
    fill(&mut peer, &ListTools::after("p2"), PUBLIC);
    let (call, sent) = peer.start(&CallTool::with("saw", Map::from([("region", "eu")])));
    peer.error(&sent, 400, "{'code':-32020,'message':'Header mismatch'}");
    let listing = peer.one();
    let schema = "{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'}}}";
    peer.result(&listing, &format!("{{'tools':[{{'name':'saw','inputSchema':{schema}}}]}}"));
    let again = peer.one();
    assert_eq!(again.header("mcp-param-region"), Some("eu"));
    peer.result(&again, "{'content':[]}");
    peer.take(&call).unwrap();
    // The tool is on another page now.
    peer.start(&ListTools::after("p2"));
    let (_, third) = peer.start(&CallTool::with("saw", Map::from([("region", "eu")])));
    assert_eq!(third.header("mcp-param-region"), Some("eu"));
}

/// CACHE-25, CACHE-24: nothing is asked because time has passed.
#[test]
fn what_is_stale_is_asked_for_when_it_is_wanted() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    assert_eq!(peer.http.poll_timeout(), None);
    peer.wait(1_000_000);
    peer.none();
}

/// CACHE-18: another token is another cache, for what is private.
#[test]
fn what_is_private_stays_with_its_authorization() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PRIVATE);
    hit(&mut peer, &ListTools::new());
    peer.http.set_header("authorization", "Bearer one");
    hit(&mut peer, &ListTools::new());
    peer.http.set_header("authorization", "Bearer two");
    let (_, sent) = peer.start(&ListTools::new());
    assert_eq!(sent.request.head.headers.all("authorization").collect::<Vec<_>>(), [b"Bearer two"]);
}

/// CACHE-18
#[test]
fn what_was_asked_with_another_token_is_not_kept() {
    let mut peer = peer(config());
    let (_, sent) = peer.start(&ListTools::new());
    peer.http.set_header("authorization", "Bearer two");
    peer.result(&sent, PRIVATE);
    assert_eq!(peer.http.cache(peer.now), []);
}

/// CACHE-18
#[test]
fn a_refused_token_is_not_shown_what_is_private() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PRIVATE);
    let (pending, sent) = peer.start(&ReadResource::new("x:a"));
    peer.answer(&sent, 401, "");
    assert!(matches!(peer.take(&pending), Err(CallError::Unauthorized { .. })));
    peer.start(&ListTools::new());
}

/// CACHE-19
#[test]
fn what_is_public_outlives_a_token() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.http.set_header("authorization", "Bearer two");
    hit(&mut peer, &ListTools::new());
}

/// CACHE-26: the reply says that it is stale, and why.
#[test]
fn what_is_stale_stands_in_for_a_server_out_of_reach() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.wait(5_001);
    let stale = fail(&mut peer, &Fetch(ListTools::new()), CallOptions::new()).unwrap();
    assert_eq!(stale.reply.tools.len(), 1);
    let Freshness::Stale { age, error } = stale.freshness else { panic!("{stale:?}") };
    assert_eq!(age, Duration::from_millis(5_001));
    assert!(matches!(*error, CallError::Broken { unsent: true, .. }), "{error:?}");
    let said = peer.diagnostics();
    assert!(said.iter().any(|said| said.contains("`tools/list`") && said.contains("stale")), "{said:?}");
    peer.is_empty();
}

/// CACHE-26
#[test]
fn what_is_stale_stands_in_for_a_server_that_is_silent() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.wait(5_001);
    let (pending, _) = peer.start(&Fetch(ListTools::new()));
    peer.wait(60_000);
    let fetched = peer.take(&pending).unwrap();
    assert!(matches!(fetched.freshness, Freshness::Stale { .. }), "{fetched:?}");
}

/// CACHE-26: trouble of the server, or on the way to it, is no answer.
#[test]
fn what_is_stale_stands_in_for_a_server_in_trouble() {
    for status in [429, 500, 502, 503, 504] {
        let mut peer = peer(config());
        fill(&mut peer, &ListTools::new(), PUBLIC);
        peer.wait(5_001);
        let (pending, sent) = peer.start(&Fetch(ListTools::new()));
        peer.answer(&sent, status, "");
        let Freshness::Stale { error, .. } = peer.take(&pending).unwrap().freshness else {
            panic!("{status}")
        };
        assert!(error.to_string().contains(&status.to_string()), "{error}");
    }
    for status in [400, 403, 404, 410] {
        let mut peer = peer(config());
        fill(&mut peer, &ListTools::new(), PUBLIC);
        peer.wait(5_001);
        let (pending, sent) = peer.start(&ListTools::new());
        peer.answer(&sent, status, "");
        assert!(matches!(peer.take(&pending), Err(CallError::Refused { .. })), "{status}");
    }
}

/// CACHE-26: for so long, where the application allows it, and never where the server gave an answer.
#[test]
fn what_is_stale_stands_in_for_nothing_else() {
    let limits = Limits { cache_stale: Duration::from_secs(10), ..Limits::default() };
    let mut peer = peer(config().limits(limits));
    fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.wait(14_999);
    let options = CallOptions::new().cache(CacheUse::Fresh);
    fail(&mut peer, &ListTools::new(), options).unwrap_err();
    let options = CallOptions::new().cache(CacheUse::Refresh);
    fail(&mut peer, &ListTools::new(), options).unwrap_err();
    for (status, error) in [(200, "{'code':-32603,'message':'m'}"), (401, "{'code':1,'message':'m'}")] {
        let (pending, sent) = peer.start(&ListTools::new());
        peer.error(&sent, status, error);
        peer.take(&pending).unwrap_err();
    }
    let (pending, _) = peer.start(&ListTools::new());
    peer.http.cancel(peer.now, pending.id());
    assert_eq!(peer.take(&pending).unwrap_err(), CallError::Cancelled);
    fail(&mut peer, &ListTools::new(), CallOptions::new()).unwrap();
    peer.wait(1);
    fail(&mut peer, &ListTools::new(), CallOptions::new()).unwrap_err();
}

/// CACHE-26: a client that is closed answers nothing any more.
#[test]
fn closing_ends_calls_with_nothing_stale() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    peer.wait(5_001);
    let (pending, _) = peer.start(&ListTools::new());
    peer.http.close(peer.now);
    peer.take(&pending).unwrap_err();
}

#[test]
fn a_reply_says_where_it_is_from() {
    let mut peer = peer(config());
    let Fetched { freshness, .. } = fill(&mut peer, &Fetch(ListTools::new()), PUBLIC);
    assert_eq!(freshness, Freshness::New);
    peer.wait(100);
    let Fetched { reply, freshness } = hit(&mut peer, &Fetch(ListTools::new()));
    assert_eq!(freshness, Freshness::Kept { age: Duration::from_millis(100) });
    let reply: ListToolsResult = reply;
    assert_eq!(reply.tools[0].name, "saw");
}

/// CACHE-17: not even when a later round is answered with hints.
#[test]
fn a_result_that_took_input_is_not_kept() {
    let mut peer = peer(config());
    let read = ReadResource::new("x:a");
    let (pending, sent) = peer.start(&read);
    peer.result(&sent, "{'resultType':'input_required','requestState':'s','ttlMs':9000}");
    peer.wait(250);
    let again = peer.one();
    assert!(again.body().contains("requestState"));
    peer.result(&again, "{'contents':[],'ttlMs':9000,'cacheScope':'public'}");
    peer.take(&pending).unwrap();
    assert_eq!(peer.http.cache(peer.now), []);
    // The same by hand.
    let params = Json::parse(json("{'uri':'x:a','requestState':'s'}")).unwrap();
    let custom = Custom::new("resources/read", Some(params)).unwrap();
    fill(&mut peer, &custom, "{'contents':[],'ttlMs':9000,'cacheScope':'public'}");
    assert_eq!(peer.http.cache(peer.now), []);
}

/// HDR-51, CACHE-26: a header that does not fit is a reason not to believe what was kept.
#[test]
fn looking_at_a_tool_again_asks_the_server_and_keeps_the_answer() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    let (_, sent) = peer.start(&CallTool::new("saw"));
    peer.error(&sent, 400, "{'code':-32020,'message':'Header mismatch'}");
    let listing = peer.one();
    assert_eq!(listing.method(), "tools/list");
    peer.result(
        &listing,
        "{'tools':[{'name':'saw','title':'New','inputSchema':{}}],'ttlMs':5000,'cacheScope':'public'}",
    );
    peer.one();
    assert_eq!(hit(&mut peer, &ListTools::new()).tools[0].display_name(), "New");
}

/// CACHE-27: before any listener can have heard of it.
#[test]
fn a_response_in_flight_when_the_list_changes_is_not_kept() {
    let mut peer = peer(config());
    let (_, listing) = peer.start(&ListTools::new());
    let (_, other) = peer.start(&CallTool::new("saw"));
    peer.stream(&other);
    peer.event(&other, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    peer.result(&listing, PUBLIC);
    assert_eq!(peer.http.cache(peer.now), []);
}

#[test]
fn what_is_kept_can_be_looked_at() {
    let mut peer = peer(config());
    fill(&mut peer, &ListTools::new(), PUBLIC);
    let read = ReadResource::new("x:secret?token=hush");
    let _: ReadResourceResult = fill(&mut peer, &read, "{'contents':[],'ttlMs':9000}");
    peer.wait(7_000);
    let entries = peer.http.cache(peer.now);
    let [tools, read] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((tools.method, tools.scope, tools.uri.as_deref()), ("tools/list", CacheScope::Public, None));
    assert_eq!((tools.age, tools.ttl), (Duration::from_secs(7), Duration::from_secs(5)));
    assert!(!tools.is_fresh() && read.is_fresh());
    assert_eq!((read.scope, read.uri.as_deref()), (CacheScope::Private, Some("x:secret?token=hush")));
    let printed = format!("{entries:?} {:?}", peer.http);
    assert!(!printed.contains("hush") && !printed.contains("saw"), "{printed}");
    peer.http.clear_cache();
    assert_eq!(peer.http.cache(peer.now), []);
}

/// A result that cannot be read is not given to the next one who asks.
#[test]
fn a_result_that_is_none_is_asked_for_again() {
    let mut peer = peer(config());
    let (pending, sent) = peer.start(&ListTools::new());
    peer.result(&sent, "{'tools':'none','ttlMs':5000,'cacheScope':'public'}");
    peer.take(&pending).unwrap_err();
    peer.start(&ListTools::new());
}

/// CACHE-30: whichever page had the cursor.
#[test]
fn a_refused_cursor_drops_all_pages_of_its_list() {
    let mut peer = peer(config());
    let page = "{'resources':[],'nextCursor':'2','ttlMs':5000,'cacheScope':'public'}";
    fill(&mut peer, &ListResources::new(), page);
    fill(&mut peer, &ListResources::after("2"), &page.replace("'2'", "'3'"));
    fill(&mut peer, &ListTools::new(), PUBLIC);
    let (_, sent) = peer.start(&ListResources::after("3"));
    peer.error(&sent, 200, "{'code':-32602,'message':'m'}");
    let left: Vec<_> = peer.http.cache(peer.now).iter().map(|entry| entry.method).collect();
    assert_eq!(left, ["tools/list"]);
}

/// CACHE-18: whoever puts tokens on requests has got another one.
#[test]
fn a_call_that_is_repeated_with_another_token_is_kept_under_that() {
    let mut peer = peer(config().authorize(true));
    fill(&mut peer, &ListTools::new(), PRIVATE);
    let (pending, refused) = peer.start(&ReadResource::new("x:a"));
    peer.answer(&refused, 401, "");
    peer.sent();
    peer.http.repeat(peer.now, refused.exchange);
    let again = peer.one();
    peer.result(&again, "{'contents':[],'ttlMs':9000,'cacheScope':'private'}");
    peer.take(&pending).unwrap();
    let left: Vec<_> = peer.http.cache(peer.now).iter().map(|entry| entry.method).collect();
    assert_eq!(left, ["resources/read"]);
}
