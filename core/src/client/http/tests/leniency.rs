use super::*;
use crate::leniency::Leniency;

fn strict() -> Peer {
    Peer::modern_with(config().leniency(Leniency::strict()))
}

/// `Leniency::untyped_body`
#[test]
fn a_response_without_a_type_is_read_unless_switched_off() {
    for (mut peer, read) in [(Peer::modern(), true), (strict(), false)] {
        let (call, sent) = peer.start(&CallTool::new("a"));
        let body = response(&sent, "{'content':[]}");
        peer.whole(&sent, ResponseHead::new(200), &body);
        let taken = peer.take(&call);
        assert_eq!(taken.is_ok(), read);
        if let Err(error) = taken {
            let text = error.to_string();
            assert!(text.contains("`application/json`") && text.contains("found none"), "{text}");
        }
        peer.wait(1_000);
        peer.is_empty();
    }
}

/// B18, `Leniency::foreign_error_id`; that it is tolerated by default is tested with the calls.
#[test]
fn an_error_with_a_foreign_id_is_not_believed_when_switched_off() {
    let error = |id: &str| format!("{{'jsonrpc':'2.0',{id}'error':{{'code':-32600,'message':'no'}}}}");
    for (id, believed) in
        [("'id':'server-error',", false), ("'id':99,", false), ("'id':null,", true), ("", true)]
    {
        let mut peer = strict();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.answer(&sent, 400, &error(id));
        assert_eq!(matches!(peer.take(&call), Err(CallError::Server { .. })), believed, "{id}");
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.answer(&sent, 200, &error(id));
        assert_eq!(matches!(peer.take(&call), Err(CallError::Server { .. })), believed, "{id}");
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.event(&sent, &error(id));
        assert_eq!(peer.http.take(&call).is_some(), believed, "{id}");
    }
    let mut peer = strict();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.error(&sent, 400, "{'code':-32602,'message':'bad'}");
    assert!(matches!(peer.take(&call), Err(CallError::Server { .. })));
}
