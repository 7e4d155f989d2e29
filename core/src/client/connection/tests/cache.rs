use super::*;
use crate::client::{CacheUse, ListPrompts, ListResourceTemplates, ListResources, ReadResource};
use crate::model::Meta;

const KEPT: &str = "'ttlMs':5000,'cacheScope':'public'";

fn peer(config: Config) -> Peer {
    let mut peer = Peer::new(config);
    let probe = peer.one();
    let capabilities = "'capabilities':{'tools':{},'prompts':{},'resources':{}}";
    peer.result(&probe, &format!("{{'supportedVersions':['2026-07-28'],{capabilities},{KEPT}}}"));
    peer.drain();
    peer
}

/// Makes the call; whether the server was asked, which then answers `result`.
fn asks_with<C: Call>(peer: &mut Peer, call: &C, options: CallOptions, result: &str) -> bool {
    let pending = peer.connection.start(peer.now, call, options).unwrap();
    let lines = peer.written();
    for line in &lines {
        peer.result(line, result);
    }
    assert_eq!(settled(&peer.drain()), 1);
    assert!(peer.connection.take(&pending).unwrap().is_ok());
    !lines.is_empty()
}

fn asks<C: Call>(peer: &mut Peer, call: &C) -> bool {
    asks_with(peer, call, CallOptions::new(), &everything(KEPT))
}

/// A result of any of the methods.
fn everything(hints: &str) -> String {
    format!(
        "{{'tools':[],'prompts':[],'resources':[],'resourceTemplates':[],'contents':[],\
         'supportedVersions':[],'capabilities':{{}},{hints}}}"
    )
}

/// CACHE-01 to CACHE-06 as a client reads them: these and no others.
#[test]
fn lists_reads_and_discovery_are_kept() {
    let mut peer = peer(config());
    // The probe was one.
    assert!(!asks(&mut peer, &Discover));
    assert!(asks(&mut peer, &ListTools::new()) && !asks(&mut peer, &ListTools::new()));
    assert!(asks(&mut peer, &ListPrompts::new()) && !asks(&mut peer, &ListPrompts::new()));
    assert!(asks(&mut peer, &ListResources::new()) && !asks(&mut peer, &ListResources::new()));
    assert!(
        asks(&mut peer, &ListResourceTemplates::new()) && !asks(&mut peer, &ListResourceTemplates::new())
    );
    assert!(asks(&mut peer, &ReadResource::new("x:a")) && !asks(&mut peer, &ReadResource::new("x:a")));
    let custom = Custom::new("x/list", None).unwrap();
    assert!(asks(&mut peer, &custom) && asks(&mut peer, &custom));
}

#[test]
fn a_call_that_waits_for_the_era_is_answered_by_the_probe() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let pending = peer.start(&Discover);
    peer.result(&probe, &format!("{{'supportedVersions':['2026-07-28'],'capabilities':{{}},{KEPT}}}"));
    assert_eq!(peer.written(), Vec::<String>::new());
    assert_eq!(settled(&peer.drain()), 1);
    assert_eq!(peer.connection.take(&pending).unwrap().unwrap().supported_versions, ["2026-07-28"]);
}

/// CACHE-28, CACHE-16: the method and all parameters, in whichever order and notation they are written.
#[test]
fn what_is_kept_answers_the_same_request_only() {
    let mut peer = peer(config());
    assert!(asks(&mut peer, &ReadResource::new("x:a")) && asks(&mut peer, &ReadResource::new("x:b")));
    assert!(asks(&mut peer, &ListTools::new()) && asks(&mut peer, &ListTools::after("2")));
    assert!(asks(&mut peer, &ListTools::after("")) && !asks(&mut peer, &ListTools::after("2")));
    let custom =
        |params: &str| Custom::new("resources/read", Some(Json::parse(json(params)).unwrap())).unwrap();
    assert!(!asks(&mut peer, &custom("{ 'uri' : 'x:\\u0061' }")));
    assert!(asks(&mut peer, &custom("{'uri':'x:a','v':10}")));
    assert!(!asks(&mut peer, &custom("{'v':1e1,'uri':'x:a'}")));
}

/// CACHE-16: what a server may look at; which request it is traced as is not among it.
#[test]
fn metadata_of_a_request_is_a_parameter() {
    let mut peer = peer(config());
    let mut asks = |key: &str, value: &str| {
        let meta = Meta::new().with(key, Json::new(value).unwrap());
        asks_with(&mut peer, &ListTools::new(), CallOptions::new().meta(meta), &everything(KEPT))
    };
    assert!(asks("com.example/tenant", "a") && asks("com.example/tenant", "b"));
    assert!(!asks("com.example/tenant", "a"));
    assert!(asks("traceparent", "00-1-1-01") && !asks("traceparent", "00-2-1-01"));
}

/// CACHE-21 to CACHE-23
#[test]
fn without_a_time_to_live_nothing_is_kept() {
    for hints in ["'x':1", "'ttlMs':0", "'ttlMs':-1", "'ttlMs':'5000'", "'ttlMs':null", "'ttlMs':0.5"] {
        let mut peer = peer(config());
        for _ in 0..2 {
            let hints = format!("{hints},'cacheScope':'public'");
            assert!(
                asks_with(&mut peer, &ListTools::new(), CallOptions::new(), &everything(&hints)),
                "{hints}"
            );
        }
    }
}

/// CACHE-22: hints of a revision that has none are none.
#[test]
fn legacy_results_are_not_kept() {
    let mut peer = Peer::legacy();
    assert!(asks(&mut peer, &ListTools::new()) && asks(&mut peer, &ListTools::new()));
}

/// CACHE-27
#[test]
fn a_change_is_asked_for_as_soon_as_it_has_arrived() {
    type Ask = fn(&mut Peer) -> bool;
    let calls: [(&str, Ask); 5] = [
        ("tools/list_changed", |peer| asks(peer, &ListTools::new())),
        ("prompts/list_changed", |peer| asks(peer, &ListPrompts::new())),
        ("resources/list_changed", |peer| asks(peer, &ListResources::new())),
        ("resources/list_changed", |peer| asks(peer, &ListResourceTemplates::new())),
        ("resources/updated", |peer| asks(peer, &ReadResource::new("x:a"))),
    ];
    for (notification, ask) in calls {
        let mut peer = peer(config());
        assert!(calls.iter().all(|(_, ask)| ask(&mut peer)));
        let params = if notification == "resources/updated" { ",'params':{'uri':'x:a'}" } else { "" };
        peer.says(&format!("{{'jsonrpc':'2.0','method':'notifications/{notification}'{params}}}"));
        // Nobody has polled the notification yet, so nobody can have acted on it.
        let pending = peer.connection.poll_output();
        assert!(matches!(pending, Some(Output::Event(Event::Notification { .. }))), "{notification}");
        let asked: Vec<_> = calls.iter().filter(|(_, ask)| ask(&mut peer)).map(|(name, _)| *name).collect();
        assert!(!asked.is_empty() && asked.iter().all(|name| *name == notification), "{asked:?}");
        assert!(!ask(&mut peer), "and once");
    }
}

/// CACHE-27, SUB-18: what was updated may be a part of what was read.
#[test]
fn an_update_concerns_what_holds_the_resource() {
    let mut peer = peer(config());
    for uri in ["x:dir/", "x:dir/a", "x:dir/b"] {
        asks(&mut peer, &ReadResource::new(uri));
    }
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'x:dir/a'}}");
    peer.drain();
    assert!(asks(&mut peer, &ReadResource::new("x:dir/")) && asks(&mut peer, &ReadResource::new("x:dir/a")));
    assert!(!asks(&mut peer, &ReadResource::new("x:dir/b")));
    peer.says("{'jsonrpc':'2.0','method':'notifications/resources/updated'}");
    peer.drain();
    assert!(asks(&mut peer, &ReadResource::new("x:dir/b")), "who does not say which may mean any");
}

#[test]
fn of_two_answers_the_one_that_was_asked_for_later_is_kept() {
    let mut peer = peer(config());
    let options = CallOptions::new().cache(CacheUse::Refresh);
    for _ in 0..2 {
        peer.connection.start(peer.now, &ListTools::new(), options.clone()).unwrap();
    }
    let lines = peer.written();
    let page = |cursor: &str| format!("{{'tools':[],'nextCursor':'{cursor}',{KEPT}}}");
    peer.result(&lines[1], &page("later"));
    peer.result(&lines[0], &page("sooner"));
    peer.drain();
    let pending = peer.start(&ListTools::new());
    let kept = peer.connection.take(&pending).unwrap().unwrap();
    assert_eq!(kept.next_cursor.unwrap().as_str(), "later");
}

/// CACHE-29
#[test]
fn it_can_be_turned_off_for_a_client_and_for_a_call() {
    let mut off = peer(config().cache(CacheUse::Off));
    assert!(
        asks(&mut off, &Discover) && asks(&mut off, &ListTools::new()) && asks(&mut off, &ListTools::new())
    );
    assert_eq!(off.connection.cache(off.now), []);

    let mut peer = peer(config());
    asks(&mut peer, &ListTools::new());
    let with = |cache| CallOptions::new().cache(cache);
    assert!(asks_with(&mut peer, &ListTools::new(), with(CacheUse::Off), &everything("'ttlMs':0")));
    assert!(!asks(&mut peer, &ListTools::new()), "what was kept is still there");
    peer.wait(4_000);
    assert!(asks_with(&mut peer, &ListTools::new(), with(CacheUse::Refresh), &everything(KEPT)));
    peer.wait(4_000);
    assert!(!asks_with(&mut peer, &ListTools::new(), with(CacheUse::Fresh), ""), "and the answer was kept");
}

/// Over a byte stream a server out of reach is gone, and so is the connection.
#[test]
fn nothing_stale_is_kept_for_a_byte_stream() {
    let mut peer = peer(config());
    asks(&mut peer, &ListTools::new());
    peer.wait(5_001);
    let pending = peer.start(&ListTools::new());
    peer.wait(60_000);
    assert!(matches!(peer.connection.take(&pending), Some(Err(CallError::TimedOut { .. }))));
    assert!(peer.connection.cache(peer.now).iter().all(|entry| entry.method != "tools/list"));
}

/// Whoever asks without the cache leaves what is kept as it is.
#[test]
fn a_call_without_the_cache_takes_nothing_out_of_it() {
    let mut peer = peer(config());
    let introduced = "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}}}";
    assert!(asks_with(&mut peer, &Discover, CallOptions::new().cache(CacheUse::Off), introduced));
    assert!(!asks(&mut peer, &Discover));
}
