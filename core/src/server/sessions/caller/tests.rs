use super::*;
use crate::dialect::Revision;

fn caller(owner: Option<&str>, origin: Option<&str>, reads: bool) -> Caller {
    Caller { owner: owner.map(Arc::from), origin: origin.map(String::from), reads }
}

/// SEC-10, SEC-11, SEC-13: who opened a session, from where it was opened; nobody else.
#[test]
fn a_session_is_for_its_owner_at_its_origin() {
    let page = Some("https://a.example");
    let of_ada = caller(Some("ada"), page, false).own(SessionState::unknown(Revision::V2025_11_25));
    let of_nobody = Caller::default().own(SessionState::unknown(Revision::V2025_11_25));
    for (owner, origin, reads, ada, nobody) in [
        (Some("ada"), page, false, true, false),
        (Some("ada"), page, true, true, false),
        (Some("bob"), page, false, false, false),
        (None, page, false, false, false),
        (Some("ada"), Some("https://b.example"), true, false, false),
        // A browser leaves the origin out of what only reads, and of nothing else.
        (Some("ada"), None, true, true, false),
        (Some("ada"), None, false, false, false),
        (None, None, false, false, true),
        (None, None, true, false, true),
        (None, page, true, false, false),
    ] {
        let caller = caller(owner, origin, reads);
        assert_eq!((caller.may_use(&of_ada), caller.may_use(&of_nobody)), (ada, nobody), "{caller:?}");
    }
}
