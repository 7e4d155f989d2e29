use super::*;
use alloc::string::ToString;
use alloc::vec::Vec;

#[test]
fn revisions_are_ordered_by_date_and_read_back() {
    assert!(Revision::ALL.is_sorted());
    for revision in Revision::ALL {
        assert_eq!(revision.to_string().parse(), Ok(revision));
    }
    assert_eq!(Revision::parse("2025-11-25 "), None);
    assert_eq!("DRAFT".parse::<Revision>(), Err(UnknownRevision));
}

#[test]
fn only_the_newest_revision_is_modern() {
    let modern: Vec<_> = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern).collect();
    assert_eq!(modern, [Revision::LATEST]);
    assert_eq!(Revision::LATEST_LEGACY.era(), Era::Legacy);
}

fn sent_by(revision: Revision, from: Side, kind: MethodKind) -> Vec<&'static str> {
    let mut names: Vec<_> = METHODS
        .iter()
        .filter(|method| method.kind == kind && method.extension.is_none())
        .filter(|method| revision.method(from, method.name).is_some_and(|found| found == *method))
        .map(|method| method.name)
        .collect();
    names.sort_unstable();
    names
}

/// The unions ClientRequest, ServerRequest, ClientNotification and ServerNotification of each schema.
#[test]
fn methods_are_those_of_the_schemas() {
    let client = [
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "tools/call",
        "tools/list",
    ];
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        assert_eq!(sent_by(revision, Side::Client, MethodKind::Request), client, "{revision}");
        assert_eq!(
            sent_by(revision, Side::Client, MethodKind::Notification),
            [
                "notifications/cancelled",
                "notifications/initialized",
                "notifications/progress",
                "notifications/roots/list_changed",
            ]
        );
        assert_eq!(
            sent_by(revision, Side::Server, MethodKind::Notification),
            [
                "notifications/cancelled",
                "notifications/message",
                "notifications/progress",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
                "notifications/resources/updated",
                "notifications/tools/list_changed",
            ]
        );
    }
    assert_eq!(
        sent_by(Revision::V2025_03_26, Side::Server, MethodKind::Request),
        ["ping", "roots/list", "sampling/createMessage"]
    );
    assert_eq!(
        sent_by(Revision::V2025_06_18, Side::Server, MethodKind::Request),
        ["elicitation/create", "ping", "roots/list", "sampling/createMessage"]
    );
    assert_eq!(
        sent_by(Revision::V2025_11_25, Side::Server, MethodKind::Request),
        [
            "elicitation/create",
            "ping",
            "roots/list",
            "sampling/createMessage",
            "tasks/cancel",
            "tasks/get",
            "tasks/list",
            "tasks/result",
        ]
    );
    assert_eq!(sent_by(Revision::V2025_11_25, Side::Client, MethodKind::Request).len(), client.len() + 4);
}

/// RPC-23, PRG-03, LOG-10, ROOT-04, ELIC-19, VER-22
#[test]
fn the_modern_revision_has_only_its_own_methods() {
    let modern = Revision::V2026_07_28;
    assert_eq!(
        sent_by(modern, Side::Client, MethodKind::Request),
        [
            "completion/complete",
            "prompts/get",
            "prompts/list",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "server/discover",
            "subscriptions/listen",
            "tools/call",
            "tools/list",
        ]
    );
    assert!(sent_by(modern, Side::Server, MethodKind::Request).is_empty());
    assert_eq!(sent_by(modern, Side::Client, MethodKind::Notification), ["notifications/cancelled"]);
    assert_eq!(
        sent_by(modern, Side::Server, MethodKind::Notification),
        [
            "notifications/cancelled",
            "notifications/message",
            "notifications/progress",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
        ]
    );
}

/// MRTR-01, MRTR-07
#[test]
fn asking_the_client_is_an_input_request_in_the_modern_era_only() {
    for name in ["sampling/createMessage", "roots/list", "elicitation/create"] {
        assert!(Revision::V2026_07_28.knows_input_request(name));
        assert!(!Revision::V2025_11_25.knows_input_request(name));
    }
    assert!(!Revision::V2026_07_28.knows_input_request("ping"));
}

#[test]
fn methods_of_an_extension_say_so() {
    let tasks = Some("io.modelcontextprotocol/tasks");
    let method = |revision: Revision, from, name| revision.method(from, name).map(|found| found.extension);
    assert_eq!(method(Revision::V2026_07_28, Side::Client, "tasks/get"), Some(tasks));
    assert_eq!(method(Revision::V2025_11_25, Side::Client, "tasks/get"), Some(None));
    assert_eq!(method(Revision::V2026_07_28, Side::Client, "tasks/result"), None);
    assert_eq!(method(Revision::V2026_07_28, Side::Server, "tasks/get"), None);
}

/// ERR-07, ERR-09, ELIC-26
#[test]
fn error_codes_belong_to_their_revisions() {
    use crate::error::code;
    for revision in Revision::ALL {
        let modern = revision.era() == Era::Modern;
        assert_eq!(revision.knows_error_code(code::HEADER_MISMATCH), modern);
        assert_eq!(revision.knows_error_code(code::MISSING_CLIENT_CAPABILITY), modern);
        assert_eq!(revision.knows_error_code(code::UNSUPPORTED_PROTOCOL_VERSION), modern);
        assert_eq!(revision.knows_error_code(code::RESOURCE_NOT_FOUND), !modern);
        assert_eq!(
            revision.knows_error_code(code::URL_ELICITATION_REQUIRED),
            revision == Revision::V2025_11_25
        );
        assert!(revision.knows_error_code(code::INVALID_PARAMS));
        assert!(!revision.knows_error_code(-32050));
    }
}

/// RPC-26, RPC-28
#[test]
fn batches_exist_in_one_revision() {
    let batching: Vec<_> = Revision::ALL.into_iter().filter(|revision| revision.dialect().batching).collect();
    assert_eq!(batching, [Revision::V2025_03_26]);
}
