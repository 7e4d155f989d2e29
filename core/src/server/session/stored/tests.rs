use super::*;
use crate::model::lifecycle::InitializeRequestParams;

fn state() -> SessionState {
    let params = r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true},"x":1},"clientInfo":{"name":"kiln","version":"0.3.0","title":"Kiln"}}"#;
    let params: InitializeRequestParams = serde_json::from_str(params).unwrap();
    let mut state = SessionState::open(Revision::V2025_06_18, params);
    (state.level, state.initialized) = (LoggingLevel::Error, true);
    state.watched = ["a:1", "b:2"].into_iter().map(Arc::from).collect();
    (state.owner, state.origin) = (Some("ada".into()), Some("https://a.example".into()));
    state.changes = 3;
    state
}

/// The format stays: what was written by an earlier version is read.
#[test]
fn a_session_is_one_json_value() {
    let text = r#"{"version":1,"revision":"2025-06-18","clientInfo":{"name":"kiln","title":"Kiln","version":"0.3.0"},"capabilities":{"roots":{"listChanged":true},"x":1},"level":"error","initialized":true,"watched":["a:1","b:2"],"owner":"ada","origin":"https://a.example","changes":3}"#;
    let written = serde_json::to_value(state()).unwrap();
    assert_eq!(written, serde_json::from_str::<serde_json::Value>(text).unwrap());
    let read: SessionState = serde_json::from_str(text).unwrap();
    assert_eq!((read.revision, &read.client, read.level), (state().revision, &state().client, state().level));
    assert_eq!(read.watched, state().watched);
    assert_eq!((read.initialized, read.owner, read.origin), (true, state().owner, state().origin));
    assert_eq!(read.changes, 3);
    let earlier: SessionState = serde_json::from_str(&text.replace(r#","changes":3"#, "")).unwrap();
    assert_eq!(earlier.changes, 0);
}

#[test]
fn what_is_no_session_is_refused() {
    let text = serde_json::to_string(&state()).unwrap();
    for (from, to) in [
        (r#""version":1"#, r#""version":2"#),
        ("2025-06-18", "2026-07-28"),
        ("2025-06-18", "x"),
        (r#""level":"error""#, r#""level":"loud""#),
        (r#""name":"kiln""#, r#""name":5"#),
    ] {
        let wrong = text.replace(from, to);
        assert!(wrong != text && serde_json::from_str::<SessionState>(&wrong).is_err(), "{to}");
    }
}
