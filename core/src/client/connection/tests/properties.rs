use super::*;

/// A whole session as the server tells it.
fn script() -> Vec<u8> {
    let lines = [
        "noise",
        "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'é😀'}}",
        "{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-06-18','capabilities':{'tools':{}},'serverInfo':{'name':'s','version':'1'}}}",
        "{'jsonrpc':'2.0','id':9,'method':'ping'}",
        "",
        "{'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':3,'progress':0.5}}",
        "{'jsonrpc':'2.0','id':3,'result':{'content':[{'type':'text','text':'é😀'}]}}",
        "{'jsonrpc':'2.0','id':3,'result':{'content':[]}}",
    ];
    json(&(lines.join("\r\n") + "\n")).into_bytes()
}

/// Runs the script in pieces; `drain` after each piece or only at the end.
fn transcript(pieces: &[&[u8]], drain: bool, spurious: bool) -> (Vec<Output>, Vec<u8>, String) {
    let mut connection = Connection::new(at(0), shared());
    let call = connection.start(at(0), &CallTool::new("a"), CallOptions::new().progress()).unwrap();
    let (mut outputs, mut written) = (Vec::new(), Vec::new());
    let mut flush = |connection: &mut Connection| {
        while let Some(output) = connection.poll_output() {
            outputs.push(output);
        }
        written.extend_from_slice(connection.transmit());
        connection.advance(connection.transmit().len());
    };
    for piece in pieces {
        connection.handle_bytes(at(10), piece);
        if spurious {
            connection.handle_timeout(at(10));
            connection.handle_timeout(at(0));
            connection.poll_timeout();
        }
        if drain {
            flush(&mut connection);
        }
    }
    flush(&mut connection);
    let text = connection.take(&call).unwrap().unwrap().text().into_owned();
    assert_eq!(connection.calls(), 0);
    (outputs, written, text)
}

/// B05 and all framing: how the bytes are cut does not matter, nor when outputs are polled, nor timeouts that
/// are none.
#[test]
fn the_transcript_does_not_depend_on_pieces_polling_or_spurious_timeouts() {
    let script = script();
    let expected = transcript(&[&script], false, false);
    assert_eq!(expected.2, "é😀");
    let bytes: Vec<&[u8]> = script.chunks(1).collect();
    assert_eq!(transcript(&bytes, true, true), expected);
    for at in 0..script.len() {
        let (head, tail) = script.split_at(at);
        assert_eq!(transcript(&[head, tail], at % 2 == 0, at % 3 == 0), expected, "split at {at}");
    }
}

/// VER-13: the same, for a server whose answer to the probe comes when the handshake is under way, in whichever order and
/// pieces it answers both.
#[test]
fn a_late_answer_counts_however_it_comes() {
    let modern =
        "{'jsonrpc':'2.0','id':1,'result':{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}}}}";
    let refusal = "{'jsonrpc':'2.0','id':2,'error':{'code':-32601,'message':'é😀'}}";
    let legacy =
        "{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-06-18','capabilities':{'tools':{}}}}";
    for (lines, revision) in [
        ([modern, refusal], Revision::LATEST),
        ([refusal, modern], Revision::LATEST),
        ([modern, legacy], Revision::LATEST),
        ([legacy, modern], Revision::V2025_06_18),
    ] {
        let script = json(&(lines.join("\n") + "\n")).into_bytes();
        let visit = |pieces: &[&[u8]], drain: bool, spurious: bool| {
            let mut connection = Connection::new(at(0), shared());
            let call = connection.start(at(0), &ListTools::new(), CallOptions::new()).unwrap();
            connection.handle_timeout(at(5_000));
            let mut outputs = Vec::new();
            for piece in pieces {
                if spurious {
                    connection.handle_timeout(at(5_001));
                    connection.handle_timeout(at(0));
                }
                connection.handle_bytes(at(8_000), piece);
                while drain && let Some(output) = connection.poll_output() {
                    outputs.push(output);
                }
            }
            outputs.extend(core::iter::from_fn(|| connection.poll_output()));
            assert_eq!(connection.details().unwrap().revision, revision);
            connection.cancel(at(8_000), call.id());
            (outputs, connection.transmit().to_vec(), connection.take(&call).is_some())
        };
        let expected = visit(&[&script], false, false);
        let bytes: Vec<&[u8]> = script.chunks(1).collect();
        assert_eq!(visit(&bytes, true, true), expected);
        for at in 0..script.len() {
            let (head, tail) = script.split_at(at);
            assert_eq!(visit(&[head, tail], at % 2 == 0, at % 3 == 0), expected, "split at {at}");
        }
    }
}

#[test]
fn input_of_any_kind_after_the_end_is_nothing() {
    let mut peer = Peer::modern();
    peer.connection.close(peer.now);
    peer.drain();
    peer.connection.handle_bytes(peer.now, b"{}\n");
    peer.connection.handle_end(peer.now, End::Broken);
    peer.connection.handle_failed(peer.now, "again");
    peer.connection.handle_respawned(peer.now);
    peer.connection.cancel(peer.now, CallId(7));
    peer.connection.forget(CallId(7));
    peer.wait(1_000_000);
    peer.connection.advance(1_000);
    assert!(peer.drain().is_empty());
    assert!(peer.written().is_empty());
}
