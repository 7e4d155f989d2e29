use super::*;
use crate::client::{Transport, Verdict};

/// VER-12, META-08, META-09, META-10, P07
#[test]
fn the_probe_comes_first_and_carries_version_identity_and_capabilities() {
    let mut peer = Peer::new(config());
    assert_eq!(
        peer.one(),
        json(
            "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{'_meta':{\
             'io.modelcontextprotocol/protocolVersion':'2026-07-28',\
             'io.modelcontextprotocol/clientInfo':{'name':'kiln','version':'0.3.0'},\
             'io.modelcontextprotocol/clientCapabilities':{}}}}"
        )
    );
}

/// VER-13, DISC-09
#[test]
fn a_discover_result_means_modern() {
    let peer = Peer::modern();
    let details = peer.details();
    assert_eq!(details.revision, Revision::V2026_07_28);
    assert_eq!(details.info.as_ref().unwrap().name, "spokes");
    assert_eq!(details.instructions.as_deref(), Some("Be kind."));
    assert!(details.capabilities.tools.is_some());
}

/// VER-14, INIT-02, INIT-08, INIT-04
#[test]
fn an_error_to_the_probe_means_legacy() {
    for code in ["-32601", "-32602", "-32000", "-1", "-32002"] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.error(&probe, &format!("{{'code':{code},'message':'no'}}"));
        let initialize = peer.one();
        assert_eq!(
            initialize,
            json(
                "{'jsonrpc':'2.0','id':2,'method':'initialize','params':{'protocolVersion':'2025-11-25',\
                 'capabilities':{},'clientInfo':{'name':'kiln','version':'0.3.0'}}}"
            )
        );
        peer.result(&initialize, INITIALIZED);
        assert_eq!(peer.one(), json("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
        assert_eq!(peer.details().revision, Revision::V2025_11_25);
    }
}

/// VER-14: silence; the probe is not cancelled, and what it is answered once the era is known is no news.
#[test]
fn silence_means_legacy_and_an_answer_behind_the_handshake_is_ignored() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    assert_eq!(peer.connection.poll_timeout(), Some(at(5_000).mono));
    peer.wait(4_999);
    assert!(peer.written().is_empty());
    peer.wait(1);
    let initialize = peer.one();
    assert_eq!(method(&initialize), "initialize");
    peer.result(&initialize, INITIALIZED);
    assert_eq!(peer.details().revision, Revision::V2025_11_25);
    peer.drain();
    peer.result(&probe, DISCOVERED);
    assert_eq!(peer.details().revision, Revision::V2025_11_25);
    assert_eq!(method(&peer.one()), "notifications/initialized");
    assert!(peer.drain().is_empty());
    peer.result(&probe, DISCOVERED);
    assert_eq!(diagnostics(&peer.drain()), 1, "it was answered already");
}

/// VER-13: a server that starts slowly answers the probe when the handshake is under way: it is modern, is spoken to as
/// one, and whatever it says to the handshake is no news, an error or a result.
#[test]
fn a_modern_server_that_starts_slowly_is_modern() {
    for refused in [false, true] {
        let mut peer = Peer::new(config());
        let call = peer.start(&ListTools::new());
        let probe = peer.one();
        peer.wait(5_000);
        let initialize = peer.one();
        assert_eq!(method(&initialize), "initialize");
        peer.wait(3_000);
        peer.result(&probe, DISCOVERED);
        assert_eq!(peer.details().revision, Revision::LATEST);
        assert_eq!(peer.connection.verdict(), Some(Verdict::new(Transport::Stream, Revision::LATEST)));
        let list = peer.one();
        assert!(list.contains("io.modelcontextprotocol/protocolVersion"), "{list}");
        peer.drain();
        if refused {
            peer.error(&initialize, "{'code':-32601,'message':'what?','data':{'supported':['2026-07-28']}}");
        } else {
            peer.result(&initialize, INITIALIZED);
        }
        assert!(peer.written().is_empty() && peer.drain().is_empty());
        assert_eq!(peer.details().revision, Revision::LATEST);
        peer.result(&list, "{'resultType':'complete','tools':[],'ttlMs':0,'cacheScope':'private'}");
        peer.connection.take(&call).unwrap().unwrap();
        assert_eq!(peer.connection.poll_timeout(), None);
    }
}

/// VER-14: a late answer to the probe that does not say modern leaves the handshake as it is.
#[test]
fn a_late_answer_that_is_not_modern_leaves_the_handshake_under_way() {
    for answer in [
        "'error':{'code':-32601,'message':'what?'}",
        "'result':{}",
        "'result':{'supportedVersions':['2025-06-18','2024-11-05'],'capabilities':{}}",
    ] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.wait(5_000);
        let initialize = peer.one();
        let probed = id(&probe);
        peer.says(&format!("{{'jsonrpc':'2.0','id':{probed},{answer}}}"));
        assert!(peer.written().is_empty() && peer.connection.details().is_none());
        peer.result(&initialize, INITIALIZED);
        assert_eq!(peer.details().revision, Revision::V2025_11_25);
        assert_eq!(method(&peer.one()), "notifications/initialized");
    }
}

/// VER-20, VER-14: so it is the other way about, with a server that was legacy before and greets slowly.
#[test]
fn a_legacy_server_that_greets_slowly_is_legacy() {
    let mut peer = Peer::new(config().verdict(Verdict::new(Transport::Stream, Revision::V2025_06_18)));
    let initialize = peer.one();
    peer.wait(60_000);
    let probe = peer.one();
    assert_eq!(method(&probe), "server/discover");
    peer.result(&initialize, INITIALIZED);
    assert_eq!(peer.details().revision, Revision::V2025_11_25);
    assert_eq!(method(&peer.one()), "notifications/initialized");
    peer.drain();
    peer.error(&probe, "{'code':-32601,'message':'what?'}");
    assert!(peer.written().is_empty() && peer.drain().is_empty());
}

/// STDIO-19: what a process was asked is not answered by the next one.
#[test]
fn a_new_process_answers_for_itself() {
    let mut peer = Peer::new(config().verdict(Verdict::new(Transport::Stream, Revision::V2025_06_18)));
    let initialize = peer.one();
    peer.wait(60_000);
    peer.one();
    peer.connection.handle_end(peer.now, End::Complete);
    peer.drain();
    peer.connection.handle_respawned(peer.now);
    peer.one();
    peer.result(&initialize, INITIALIZED);
    assert!(peer.connection.details().is_none());
}

/// VER-14: where nothing but modern will do, a server that starts slowly has the time of a request.
#[test]
fn a_probe_without_an_alternative_is_patient() {
    for choice in [EraChoice::Modern, EraChoice::Pinned(Revision::V2026_07_28)] {
        let mut peer = Peer::new(config().era(choice));
        let probe = peer.one();
        peer.wait(59_999);
        peer.result(&probe, DISCOVERED);
        assert_eq!(peer.details().revision, Revision::V2026_07_28);
    }
}

/// Some servers end when anything but `initialize` comes first.
#[test]
fn a_server_that_dies_of_the_probe_is_started_again_and_greeted_the_legacy_way() {
    let mut peer = Peer::new(config());
    peer.one();
    let call = peer.start(&ListTools::new());
    peer.connection.handle_end(peer.now, End::Complete);
    assert_eq!(peer.drain(), [Output::Respawn { after: Duration::ZERO }]);
    peer.says("{'jsonrpc':'2.0','id':1,'result':{}}");
    peer.connection.handle_respawned(peer.now);
    let initialize = peer.one();
    assert_eq!(method(&initialize), "initialize");
    peer.result(&initialize, INITIALIZED);
    let lines = peer.written();
    assert_eq!(
        lines.iter().map(|line| method(line)).collect::<Vec<_>>(),
        ["notifications/initialized", "tools/list"]
    );
    peer.result(&lines[1], "{'tools':[]}");
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// VER-14: the Python SDK of 2024 stops at a probe without a word, and ends as soon as anything follows.
#[test]
fn a_server_that_dies_of_the_probe_only_when_it_is_greeted_is_started_again_and_greeted() {
    let mut peer = Peer::new(config());
    assert_eq!(method(&peer.one()), "server/discover");
    peer.wait(5_000);
    assert_eq!(method(&peer.one()), "initialize");
    peer.connection.handle_failed(peer.now, "exit status 1");
    assert_eq!(peer.drain(), [Output::Respawn { after: Duration::ZERO }]);
    peer.connection.handle_respawned(peer.now);
    let initialize = peer.one();
    assert_eq!(method(&initialize), "initialize");
    peer.result(&initialize, INITIALIZED);
    assert_eq!(peer.details().era(), Era::Legacy);

    // One that ends of `initialize` alone does so each time.
    let mut peer = Peer::new(config());
    peer.one();
    peer.wait(5_000);
    peer.one();
    peer.connection.handle_failed(peer.now, "exit status 1");
    peer.drain();
    peer.connection.handle_respawned(peer.now);
    assert_eq!(method(&peer.one()), "initialize");
    peer.connection.handle_failed(peer.now, "exit status 1");
    assert!(peer.closed().unwrap().to_string().contains("exit status 1"));
}

#[test]
fn a_server_that_cannot_be_started_again_is_lost() {
    let mut peer = Peer::new(config());
    let call = peer.start(&ListTools::new());
    peer.connection.handle_end(peer.now, End::Complete);
    peer.connection.handle_end(peer.now, End::Complete);
    assert!(matches!(peer.connection.take(&call), Some(Err(CallError::Broken { unsent: true, .. }))));
    assert!(peer.connection.is_closed());
    peer.connection.handle_respawned(peer.now);
    assert!(peer.connection.is_closed());
}

#[test]
fn a_server_that_dies_of_the_handshake_is_lost() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    peer.connection.handle_failed(peer.now, "exit status 3, stderr ends with `panic`");
    assert!(peer.closed().unwrap().to_string().contains("panic"));
}

/// VER-20: a server that was legacy and is modern by now may end when it is greeted; it is started again and asked, and
/// one that ends of anything is given up.
#[test]
fn a_server_that_dies_of_a_handshake_that_was_assumed_is_started_again_and_asked() {
    let known = || config().verdict(Verdict::new(Transport::Stream, Revision::V2025_06_18));
    let mut peer = Peer::new(known());
    assert_eq!(method(&peer.one()), "initialize");
    peer.connection.handle_end(peer.now, End::Complete);
    assert_eq!(peer.drain(), [Output::Respawn { after: Duration::ZERO }]);
    peer.connection.handle_respawned(peer.now);
    let probe = peer.one();
    assert_eq!(method(&probe), "server/discover");
    peer.result(&probe, DISCOVERED);
    assert_eq!(peer.connection.verdict(), Some(Verdict::new(Transport::Stream, Revision::LATEST)));

    let mut peer = Peer::new(known());
    for asked in ["initialize", "server/discover"] {
        assert_eq!(method(&peer.one()), asked);
        peer.connection.handle_end(peer.now, End::Complete);
        assert_eq!(peer.drain(), [Output::Respawn { after: Duration::ZERO }]);
        peer.connection.handle_respawned(peer.now);
    }
    assert_eq!(method(&peer.one()), "initialize");
    peer.connection.handle_failed(peer.now, "exit status 3");
    assert!(peer.closed().unwrap().to_string().contains("exit status 3"));
    assert_eq!(peer.connection.verdict(), None, "nothing was found out");
}

/// The answer to anything is an empty object: no DiscoverResult, so legacy.
#[test]
fn a_nonsense_result_of_the_probe_means_legacy() {
    for result in ["{}", "[]", "null", "{'supportedVersions':'2026-07-28'}"] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.result(&probe, result);
        assert_eq!(method(&peer.one()), "initialize", "{result}");
    }
}

/// VER-10, VER-03, B31: the server names the very revision that it refused.
#[test]
fn an_unsupported_version_error_is_answered_with_a_supported_version() {
    let error = "{'code':-32022,'message':'v','data':{'supported':['2026-07-28'],'requested':'x'}}";
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.error(&probe, error);
    let again = peer.one();
    assert_eq!(method(&again), "server/discover");
    assert_ne!(id(&again), id(&probe));
    peer.result(&again, DISCOVERED);
    assert_eq!(peer.details().revision, Revision::V2026_07_28);

    let mut peer = Peer::new(config());
    for _ in 0..3 {
        let probe = peer.one();
        peer.error(&probe, error);
    }
    assert!(peer.written().is_empty());
    assert!(matches!(peer.closed(), Some(CallError::Server { error, .. }) if error.code == -32022));
}

/// B31
#[test]
fn without_a_version_in_common_the_error_names_both_sides() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.error(&probe, "{'code':-32022,'message':'v','data':{'supported':['2099-02-02'],'requested':'x'}}");
    assert!(peer.written().is_empty());
    let error = peer.closed().unwrap();
    assert_eq!(error.supported_versions().unwrap(), ["2099-02-02"]);
    let text = error.to_string();
    assert!(text.contains("2099-02-02") && text.contains("2026-07-28"), "{text}");
}

/// B31: the list holds legacy versions only.
#[test]
fn an_unsupported_version_error_with_legacy_versions_leads_to_initialize() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.error(&probe, "{'code':-32022,'message':'v','data':{'supported':['2025-03-26','2025-06-18']}}");
    let initialize = peer.one();
    assert!(initialize.contains("\"protocolVersion\":\"2025-06-18\""), "{initialize}");
}

/// ERR-08, VER-10: codes that only modern servers know never lead to `initialize`.
#[test]
fn recognised_modern_errors_never_fall_back() {
    for code in [-32020, -32021, -32022] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.error(&probe, &format!("{{'code':{code},'message':'no'}}"));
        assert!(peer.written().is_empty(), "{code}");
        assert!(matches!(peer.closed(), Some(CallError::Server { error, .. }) if error.code == code));
    }
}

#[test]
fn a_discover_result_with_legacy_versions_only_leads_to_initialize() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, "{'supportedVersions':['2025-06-18','2024-11-05'],'capabilities':{}}");
    assert!(peer.one().contains("\"protocolVersion\":\"2025-06-18\""));
}

/// VER-15
#[test]
fn a_modern_client_refuses_a_legacy_server_with_a_reason() {
    let mut peer = Peer::new(config().era(EraChoice::Modern));
    let probe = peer.one();
    peer.error(&probe, "{'code':-32601,'message':'what?'}");
    assert!(peer.written().is_empty());
    let text = peer.closed().unwrap().to_string();
    assert!(text.contains("what?") && text.contains("EraChoice::Auto"), "{text}");
}

#[test]
fn a_legacy_client_does_not_probe() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    assert_eq!(method(&peer.one()), "initialize");
}

#[test]
fn a_pinned_revision_is_that_revision_or_nothing() {
    let mut peer = Peer::new(config().era(EraChoice::Pinned(Revision::V2025_03_26)));
    let initialize = peer.one();
    assert!(initialize.contains("2025-03-26"));
    peer.result(&initialize, INITIALIZED);
    let text = peer.closed().unwrap().to_string();
    assert!(text.contains("2025-03-26") && text.contains("2025-11-25"), "{text}");
}

/// B26, INIT-12
#[test]
fn a_revision_that_is_not_spoken_ends_the_connection_and_is_named() {
    for version in ["2031-01-01", "2026-07-28", ""] {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.result(&initialize, &format!("{{'protocolVersion':'{version}','capabilities':{{}}}}"));
        assert!(peer.written().is_empty());
        let text = peer.closed().unwrap().to_string();
        assert!(text.contains(version) && text.contains("2025-11-25"), "{text}");
    }
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, "{'capabilities':{}}");
    assert!(peer.closed().unwrap().to_string().contains("protocolVersion"));
}

/// B27
#[test]
fn an_error_to_initialize_fails_the_connection_with_that_error() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let call = peer.start(&ListTools::new());
    let initialize = peer.one();
    peer.error(&initialize, "{'code':-32001,'message':'token expired'}");
    let expected = CallError::Server { error: ErrorObject::new(-32001, "token expired"), status: None };
    assert_eq!(peer.connection.take(&call).unwrap().unwrap_err(), expected);
    assert_eq!(peer.closed(), Some(expected));
}

/// The example of the specification: an error that names the versions.
#[test]
fn an_initialize_refused_for_its_version_is_tried_once_with_another() {
    let error =
        "{'code':-32602,'message':'Unsupported protocol version','data':{'supported':['2024-11-05']}}";
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.error(&initialize, error);
    let again = peer.one();
    assert!(again.contains("2024-11-05"));
    peer.error(&again, error);
    assert!(peer.written().is_empty());
    assert!(peer.connection.is_closed());
}

/// INIT-16, B28, CAN-15
#[test]
fn initialize_times_out_without_being_cancelled() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    peer.one();
    peer.wait(59_999);
    assert!(peer.closed().is_none());
    peer.wait(1);
    assert!(peer.written().is_empty());
    assert!(peer.closed().is_some());
    assert_eq!(peer.connection.poll_timeout(), None);
}

/// VER-21: a modern server that was too slow for the probe refuses the handshake, and is asked again in
/// patience.
#[test]
fn a_slow_modern_server_is_found_after_all() {
    for code in ["-32022", "-32602"] {
        let mut peer = Peer::new(config());
        peer.one();
        peer.wait(5_000);
        let initialize = peer.one();
        peer.error(
            &initialize,
            &format!("{{'code':{code},'message':'v','data':{{'supported':['2026-07-28']}}}}"),
        );
        let probe = peer.one();
        assert_eq!(peer.connection.poll_timeout(), Some(at(65_000).mono));
        peer.result(&probe, DISCOVERED);
        assert_eq!(peer.details().revision, Revision::V2026_07_28);
    }
}

/// Only the version is needed to go on; where else a server says who it is was seen in the wild.
#[test]
fn an_introduction_is_read_as_far_as_it_goes() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.result(&probe, "{'supportedVersions':['2026-07-28'],'serverInfo':{'name':'s','version':'1'}}");
    assert_eq!(peer.details().info.as_ref().unwrap().name, "s");
    assert!(peer.details().capabilities.tools.is_none());

    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, "{'protocolVersion':'2025-06-18','serverInfo':7}");
    assert_eq!(peer.details().revision, Revision::V2025_06_18);
    assert!(peer.details().info.is_none());
}
