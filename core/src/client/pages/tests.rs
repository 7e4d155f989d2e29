use super::*;
use crate::client::testing;
use crate::error::ErrorObject;
use crate::leniency::Leniency;
use crate::limits::Limits;
use alloc::string::ToString;

fn config(pages: usize) -> Config {
    testing::config().limits(Limits { pages, ..Limits::default() })
}

fn pages(revision: Revision, limit: usize) -> Pages<u32> {
    Pages::new(revision, &config(limit))
}

/// PAGE-02, B56: modern, only absence ends; the empty cursor is one, and one may come twice.
#[test]
fn a_modern_collection_ends_where_there_is_no_cursor() {
    let mut all = pages(Revision::V2026_07_28, 10);
    assert_eq!(all.add([1], Some("".into())).unwrap(), Some("".into()));
    assert_eq!(all.add([2], Some("a".into())).unwrap(), Some("a".into()));
    assert_eq!(all.add([3], Some("a".into())).unwrap(), Some("a".into()));
    assert_eq!(all.add([], None).unwrap(), None);
    assert_eq!(all.into_items(), [1, 2, 3]);
}

/// B56: legacy, an empty or repeated cursor ends it too.
#[test]
fn a_legacy_collection_ends_at_an_empty_or_repeated_cursor() {
    let mut all = pages(Revision::V2025_11_25, 10);
    assert_eq!(all.add([1], Some("".into())).unwrap(), None);
    let mut all = pages(Revision::V2025_11_25, 10);
    assert_eq!(all.add([1], Some("a".into())).unwrap(), Some("a".into()));
    assert_eq!(all.add([2], Some("b".into())).unwrap(), Some("b".into()));
    assert_eq!(all.add([3], Some("b".into())).unwrap(), None);
    assert_eq!(all.items(), [1, 2, 3]);
}

/// `Leniency::endless_cursor`
#[test]
fn without_leniency_a_legacy_collection_ends_where_there_is_no_cursor() {
    let mut all = Pages::new(Revision::V2025_11_25, &config(10).leniency(Leniency::strict()));
    assert_eq!(all.add([1], Some("".into())).unwrap(), Some("".into()));
    assert_eq!(all.add([2], Some("".into())).unwrap(), Some("".into()));
    assert_eq!(all.add([3], None).unwrap(), None);
}

/// B56, P06
#[test]
fn a_collection_that_never_ends_is_an_error_that_keeps_what_was_read() {
    let mut all = pages(Revision::V2026_07_28, 3);
    for page in 0..2 {
        assert!(all.add([page], Some("more".into())).unwrap().is_some());
    }
    assert!(matches!(all.add([2], Some("more".into())), Err(CallError::Invalid { .. })));
    assert_eq!(all.items(), [0, 1, 2]);
    // Exactly as many as allowed is no error.
    let mut all = pages(Revision::V2026_07_28, 3);
    all.add([0], Some("more".into())).unwrap();
    all.add([1], Some("more".into())).unwrap();
    assert_eq!(all.add([2], None).unwrap(), None);
}

/// B56, P06: however they come in pages; the error keeps as many as there may be.
#[test]
fn a_collection_has_so_many_items_and_no_more() {
    let limits = || testing::config().limits(Limits { items: 3, ..Limits::default() });
    let mut all = Pages::new(Revision::V2026_07_28, &limits());
    assert!(all.add([0, 1], Some("more".into())).unwrap().is_some());
    assert!(all.add([2], Some("more".into())).unwrap().is_some(), "as many as allowed");
    assert_eq!(all.add([], None).unwrap(), None);
    for page in [&[2, 3][..], &[2, 3, 4, 5]] {
        let mut all = Pages::new(Revision::V2026_07_28, &limits());
        all.add([0, 1], Some("more".into())).unwrap();
        let error = all.add(page.iter().copied(), None).unwrap_err();
        assert!(error.to_string().contains("`Limits::items`"), "{error}");
        assert_eq!(all.items(), [0, 1, 2]);
    }
}

/// CACHE-30: once, and only when a further page was refused for its cursor.
#[test]
fn a_refused_cursor_is_a_reason_to_begin_anew() {
    let refused = |code: i32| CallError::Server { error: ErrorObject::new(code, "m"), status: None };
    let mut all = pages(Revision::V2026_07_28, 2);
    assert!(!all.restart(&refused(-32602)), "it was the first page");
    all.add([1], Some("a".into())).unwrap();
    assert!(!all.restart(&refused(-32603)) && !all.restart(&CallError::Cancelled));
    assert!(all.restart(&refused(-32602)));
    assert!(all.items().is_empty());
    all.add([2], Some("b".into())).unwrap();
    assert!(!all.restart(&refused(-32602)), "it was done before");
    assert_eq!(all.add([3], None).unwrap(), None);
    assert_eq!(all.items(), [2, 3]);
}
