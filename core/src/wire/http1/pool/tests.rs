//! The pool, driven by hand.

use super::*;
use std::format;
use std::string::String;
use std::vec::Vec;

fn at(seconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_secs(seconds)), Duration::ZERO)
}

fn head() -> RequestHead {
    let mut head = RequestHead::new("POST", "/mcp");
    head.headers.push("Host", "x");
    head
}

fn pool(connections: usize, in_flight: usize) -> Pool {
    Pool::new(&Limits { connections, in_flight, ..Limits::default() })
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Connect(ConnectionId),
    Close(ConnectionId),
    Head(ExchangeId, u16),
    Body(ExchangeId, String),
    End(ExchangeId),
    Failed(ExchangeId, bool),
}

fn drain(pool: &mut Pool) -> Vec<Said> {
    let mut said = Vec::new();
    while let Some(output) = pool.poll_output() {
        said.push(match output {
            PoolOutput::Connect(id) => Said::Connect(id),
            PoolOutput::Close(id) => Said::Close(id),
            PoolOutput::Head(id, head) => Said::Head(id, head.status),
            PoolOutput::Body(id, bytes) => Said::Body(id, String::from_utf8(bytes.to_vec()).unwrap()),
            PoolOutput::End(id) => Said::End(id),
            PoolOutput::Failed { exchange, unsent, .. } => Said::Failed(exchange, unsent),
        });
    }
    said
}

fn connects(said: &[Said]) -> Vec<ConnectionId> {
    let ids = said.iter().filter_map(|said| match said {
        Said::Connect(id) => Some(*id),
        _ => None,
    });
    ids.collect()
}

fn submit(pool: &mut Pool) -> ExchangeId {
    pool.submit(at(0), &head(), b"{}").unwrap()
}

fn write(pool: &mut Pool, connection: ConnectionId) {
    pool.advance(connection, pool.transmit(connection).len());
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Opens a connection by an exchange that succeeds, and leaves it free.
fn opened(pool: &mut Pool) -> ConnectionId {
    let exchange = submit(pool);
    let said = drain(pool);
    let connection = connects(&said)[0];
    pool.handle_connected(at(0), connection);
    write(pool, connection);
    pool.handle_bytes(at(0), connection, OK);
    let ok = [Said::Head(exchange, 200), Said::Body(exchange, "ok".into()), Said::End(exchange)];
    assert_eq!(drain(pool), ok);
    connection
}

/// What has not left can be taken back, wherever it waits, and is not sent again by the pool then.
#[test]
fn a_request_is_unsent_until_its_first_byte_is_written() {
    let mut pool = pool(1, 9);
    let connection = opened(&mut pool);
    let (first, second) = (submit(&mut pool), submit(&mut pool));
    assert!(pool.is_unsent(first) && pool.is_unsent(second));
    pool.advance(connection, 1);
    assert!(!pool.is_unsent(first) && pool.is_unsent(second));
    write(&mut pool, connection);
    pool.handle_bytes(at(0), connection, OK);
    drain(&mut pool);
    assert!(!pool.is_unsent(first) && pool.is_unsent(second), "on the connection by now, and not written");
    pool.abort(at(0), second);
    assert!(!pool.is_unsent(second));
    assert_eq!(drain(&mut pool), [Said::Close(connection)]);
    assert_eq!(pool.in_flight(), 0);
}

#[test]
fn a_free_connection_is_used_again() {
    let mut pool = pool(4, 9);
    let connection = opened(&mut pool);
    let exchange = submit(&mut pool);
    assert_eq!(drain(&mut pool), []);
    assert!(pool.transmit(connection).starts_with(b"POST /mcp HTTP/1.1\r\n"));
    assert!(pool.transmit(connection).ends_with(b"\r\n\r\n{}"));
    write(&mut pool, connection);
    pool.handle_bytes(at(0), connection, OK);
    assert_eq!(drain(&mut pool).last(), Some(&Said::End(exchange)));
}

#[test]
fn the_connection_used_last_is_used_next() {
    let mut pool = pool(4, 9);
    let exchanges = [submit(&mut pool), submit(&mut pool)];
    let connections = connects(&drain(&mut pool));
    for connection in &connections {
        pool.handle_connected(at(0), *connection);
        write(&mut pool, *connection);
    }
    for place in [1, 0] {
        pool.handle_bytes(at(0), connections[place], OK);
        assert_eq!(drain(&mut pool).last(), Some(&Said::End(exchanges[place])));
    }
    submit(&mut pool);
    assert!(pool.transmit(connections[1]).is_empty() && !pool.transmit(connections[0]).is_empty());
}

#[test]
fn exchanges_beyond_the_connections_wait_and_beyond_the_bound_are_refused() {
    let mut pool = pool(2, 3);
    let exchanges = [submit(&mut pool), submit(&mut pool), submit(&mut pool)];
    assert_eq!(pool.submit(at(0), &head(), b""), Err(Full::new("in_flight", 3)));
    let connections = connects(&drain(&mut pool));
    assert_eq!(connections.len(), 2);
    for connection in &connections {
        pool.handle_connected(at(0), *connection);
        write(&mut pool, *connection);
    }
    pool.handle_bytes(at(0), connections[0], OK);
    assert_eq!(drain(&mut pool).last(), Some(&Said::End(exchanges[0])));
    write(&mut pool, connections[0]);
    pool.handle_bytes(at(0), connections[0], OK);
    assert_eq!(drain(&mut pool).last(), Some(&Said::End(exchanges[2])));
    assert_eq!(pool.in_flight(), 1);
}

#[test]
fn a_free_connection_is_closed_when_it_has_grown_old() {
    let mut pool = pool(4, 9);
    let connection = opened(&mut pool);
    // Draining set it free and does not know the time: the pool asks for it at once.
    assert_eq!(pool.poll_timeout(), Some(at(0).mono));
    pool.handle_timeout(at(10));
    assert_eq!(pool.poll_timeout(), Some(at(40).mono));
    pool.handle_timeout(at(39));
    assert_eq!(drain(&mut pool), []);
    pool.handle_timeout(at(40));
    assert_eq!(drain(&mut pool), [Said::Close(connection)]);
    assert!(pool.is_finished(connection));
    assert_eq!(pool.poll_timeout(), None);
}

#[test]
fn a_free_connection_that_the_server_ends_is_closed() {
    let mut pool = pool(4, 9);
    let connection = opened(&mut pool);
    pool.handle_end(at(1), connection, End::Complete);
    assert_eq!(drain(&mut pool), [Said::Close(connection)]);
}

#[test]
fn a_stale_connection_costs_a_request_nothing_but_only_once() {
    let mut pool = pool(1, 9);
    let stale = opened(&mut pool);
    let exchange = submit(&mut pool);
    pool.handle_end(at(1), stale, End::Complete);
    let said = drain(&mut pool);
    let fresh = connects(&said)[0];
    assert_eq!(said, [Said::Close(stale), Said::Connect(fresh)]);
    pool.handle_connected(at(1), fresh);
    assert!(pool.transmit(fresh).ends_with(b"\r\n\r\n{}"));
    pool.handle_end(at(1), fresh, End::Broken);
    assert_eq!(drain(&mut pool), [Said::Failed(exchange, true), Said::Close(fresh)]);
}

#[test]
fn a_request_of_which_a_byte_was_written_is_not_repeated() {
    let mut pool = pool(4, 9);
    let connection = opened(&mut pool);
    let exchange = submit(&mut pool);
    pool.advance(connection, 1);
    pool.handle_end(at(1), connection, End::Broken);
    assert_eq!(drain(&mut pool), [Said::Failed(exchange, false), Said::Close(connection)]);
}

#[test]
fn a_repeated_request_does_not_take_another_used_connection() {
    let mut pool = pool(2, 9);
    let exchanges = [submit(&mut pool), submit(&mut pool)];
    let connections = connects(&drain(&mut pool));
    for connection in &connections {
        pool.handle_connected(at(0), *connection);
        write(&mut pool, *connection);
        pool.handle_bytes(at(0), *connection, OK);
    }
    assert_eq!(drain(&mut pool).last(), Some(&Said::End(exchanges[1])));
    submit(&mut pool);
    let stale = connections[1];
    pool.handle_end(at(1), stale, End::Complete);
    let said = drain(&mut pool);
    assert_eq!(said[0], Said::Close(stale));
    assert_eq!(connects(&said).len(), 1, "{said:?}");
    assert!(pool.transmit(connections[0]).is_empty());
}

#[test]
fn a_failed_connect_fails_the_exchange_that_waited_longest() {
    let mut pool = pool(1, 9);
    let exchanges = [submit(&mut pool), submit(&mut pool)];
    let said = drain(&mut pool);
    pool.handle_connect_failed(at(0), connects(&said)[0], "refused");
    let said = drain(&mut pool);
    assert_eq!(said[0], Said::Failed(exchanges[0], true));
    pool.handle_end(at(0), connects(&said)[0], End::Broken);
    let said = drain(&mut pool);
    assert_eq!(said, [Said::Failed(exchanges[1], true)]);
}

#[test]
fn abort_closes_the_connection_and_nothing_more_is_said() {
    let mut pool = pool(1, 9);
    let running = submit(&mut pool);
    let waiting = submit(&mut pool);
    let next = submit(&mut pool);
    let connection = connects(&drain(&mut pool))[0];
    pool.handle_connected(at(0), connection);
    write(&mut pool, connection);
    pool.handle_bytes(at(0), connection, OK);
    pool.abort(at(0), waiting);
    pool.abort(at(0), running);
    pool.abort(at(0), running);
    let said = drain(&mut pool);
    assert_eq!(said[0], Said::Close(connection));
    let fresh = connects(&said)[0];
    pool.handle_bytes(at(0), connection, OK);
    pool.handle_connected(at(0), fresh);
    write(&mut pool, fresh);
    pool.handle_bytes(at(0), fresh, OK);
    assert_eq!(drain(&mut pool).last(), Some(&Said::End(next)));
}

#[test]
fn a_connection_that_cannot_be_used_again_makes_room_for_a_new_one() {
    let mut pool = pool(1, 9);
    let first = submit(&mut pool);
    submit(&mut pool);
    let connection = connects(&drain(&mut pool))[0];
    pool.handle_connected(at(0), connection);
    write(&mut pool, connection);
    pool.handle_bytes(
        at(0),
        connection,
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    );
    let said = drain(&mut pool);
    assert_eq!(said[..3], [Said::Head(first, 200), Said::End(first), Said::Close(connection)]);
    assert_eq!(connects(&said).len(), 1);
}

#[test]
fn an_unsafe_request_fails_without_a_connection() {
    let mut pool = pool(1, 9);
    let mut unsafe_head = head();
    unsafe_head.headers.push("Mcp-Name", "a\r\nb");
    let exchange = pool.submit(at(0), &unsafe_head, b"").unwrap();
    assert_eq!(drain(&mut pool), [Said::Failed(exchange, true)]);
}

#[test]
fn what_wakes_a_pool_is_named() {
    let mut pool = pool(1, 9);
    assert_eq!(pool.wake_reason(), None);
    opened(&mut pool);
    assert_eq!(pool.wake_reason(), Some(WakeReason::Idle));
    submit(&mut pool);
    assert_eq!(pool.wake_reason(), Some(WakeReason::Write));
}

/// Timeouts that are none change nothing, and what was done once comes out the same again.
#[test]
fn a_pool_can_be_replayed_with_or_without_spurious_timeouts() {
    let run = |spurious: bool| {
        let mut pool = pool(2, 9);
        let mut said = Vec::new();
        let mut step = |pool: &mut Pool, second: u64| {
            let new = drain(pool);
            if spurious {
                pool.handle_timeout(at(second));
                pool.handle_timeout(at(0));
            }
            while pool.poll_timeout().is_some_and(|due| due <= at(second).mono) {
                pool.handle_timeout(at(second));
            }
            let ids = connects(&new);
            said.extend(new);
            ids
        };
        let exchanges: Vec<ExchangeId> = (0..3).map(|_| submit(&mut pool)).collect();
        let connections = step(&mut pool, 0);
        pool.handle_connected(at(1), connections[0]);
        step(&mut pool, 1);
        write(&mut pool, connections[0]);
        for piece in OK.chunks(5) {
            pool.handle_bytes(at(2), connections[0], piece);
            step(&mut pool, 2);
        }
        pool.handle_connect_failed(at(3), connections[1], "refused");
        step(&mut pool, 3);
        pool.abort(at(4), exchanges[2]);
        step(&mut pool, 4);
        pool.handle_timeout(at(100));
        step(&mut pool, 100);
        said
    };
    assert_eq!(run(true), run(false));
}

/// A timer that begins with the time at hand does not wake the pool first to learn it.
#[test]
fn a_request_on_a_free_connection_may_take_the_whole_of_stall() {
    let mut pool = pool(1, 9);
    opened(&mut pool);
    pool.submit(at(5), &head(), b"{}").unwrap();
    assert_eq!(pool.poll_timeout(), Some(at(35).mono));
}

#[test]
fn unknown_ids_are_ignored() {
    let mut pool = pool(1, 9);
    let connection = ConnectionId(77);
    pool.handle_connected(at(0), connection);
    pool.handle_connect_failed(at(0), connection, "x");
    pool.handle_bytes(at(0), connection, b"x");
    pool.handle_end(at(0), connection, End::Broken);
    pool.advance(connection, 1);
    pool.abort(at(0), ExchangeId(78));
    assert_eq!((pool.transmit(connection), pool.wants_read(connection)), (&b""[..], false));
    assert!(pool.is_finished(connection));
    assert_eq!(drain(&mut pool), []);
}

#[test]
fn draining_late_or_early_tells_each_exchange_the_same() {
    let run = |drains_each: bool| {
        let mut pool = pool(3, 9);
        let exchanges: Vec<ExchangeId> = (0..3).map(|_| submit(&mut pool)).collect();
        let connections = connects(&drain(&mut pool));
        for connection in &connections {
            pool.handle_connected(at(0), *connection);
            write(&mut pool, *connection);
        }
        let mut said = Vec::new();
        for (piece, connection) in OK.chunks(7).flat_map(|piece| connections.iter().map(move |c| (piece, c)))
        {
            pool.handle_bytes(at(0), *connection, piece);
            pool.handle_timeout(at(0));
            if drains_each {
                said.extend(drain(&mut pool));
            }
        }
        said.extend(drain(&mut pool));
        let of = |id: ExchangeId| -> String {
            let own = said.iter().filter_map(|said| match said {
                Said::Head(of, status) if *of == id => Some(format!("head {status} ")),
                Said::Body(of, text) if *of == id => Some(text.clone()),
                Said::End(of) if *of == id => Some(" end".into()),
                _ => None,
            });
            own.collect()
        };
        exchanges.into_iter().map(of).collect::<Vec<String>>()
    };
    assert_eq!(run(true), run(false));
    assert_eq!(run(true), ["head 200 ok end"; 3]);
}

/// Closing tells every exchange that it failed, and every connection, free, busy or on its way, to close;
/// one that opens afterwards is not wanted any more.
#[test]
fn close_ends_exchanges_and_connections() {
    let mut pool = pool(3, 10);
    let (first, second) = (submit(&mut pool), submit(&mut pool));
    let ids = connects(&drain(&mut pool));
    pool.handle_connected(at(0), ids[0]);
    write(&mut pool, ids[0]);
    pool.close(at(0));
    let said = drain(&mut pool);
    assert!(
        said.contains(&Said::Failed(first, false)) && said.contains(&Said::Failed(second, true)),
        "{said:?}"
    );
    assert!(said.contains(&Said::Close(ids[0])) && said.contains(&Said::Close(ids[1])), "{said:?}");
    pool.handle_connected(at(1), ids[1]);
    assert!(pool.is_finished(ids[1]) && pool.in_flight() == 0);
    assert_eq!(pool.poll_timeout(), None);
    submit(&mut pool);
    assert_eq!(connects(&drain(&mut pool)).len(), 1);
}
