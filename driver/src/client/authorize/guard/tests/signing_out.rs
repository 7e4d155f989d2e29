//! What goes out, and who is asked, once somebody has signed out.

use super::*;

/// AUTH-66: calls and subscriptions from before somebody signed out lead to nobody, whether they were refused then, held
/// behind it or under way; the next call of the application does.
#[test]
fn who_signed_out_is_not_asked_for_what_was_before() {
    for held in [true, false] {
        let mut world = World::connected();
        let before = world.call();
        let subscription =
            world.http.listen(at(0), SubscriptionFilter::new().tools_list_changed(true)).unwrap();
        let mut sent = [world.next(), world.next()];
        world.leave();
        if held {
            for exchange in &sent {
                assert_eq!(way(world.refuse(at(0), *exchange)), None);
            }
            world.left();
            sent = [world.bare(), world.bare()];
        } else {
            world.left();
        }
        for mut exchange in sent {
            if !held {
                // The token was another then: it may do without.
                assert_eq!(way(world.refuse(at(0), exchange)), None);
                exchange = world.bare();
            }
            assert_eq!(way(world.refuse(at(0), exchange)), None);
        }
        let Some(Err(CallError::Unauthorized { reason, .. })) = world.http.take(&before) else { panic!() };
        assert!(reason.contains("signed out"), "{reason}");
        assert!(world.http.subscription(subscription).unwrap().ended().is_some());
        assert_eq!(world.http.held(), 0);
        let _pending = world.call();
        let exchange = world.next();
        assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
    }
}

/// AUTH-66: what the session needs is not given up, which would be the end of the client: it waits for the next call.
#[test]
fn a_session_waits_for_the_next_call_of_who_signed_out() {
    let mut world = World::with(Config::new("c"), Some(*lasting("t-1")));
    let exchange = world.next();
    world.leave();
    world.left();
    assert_eq!(way(world.refuse(at(0), exchange)), None);
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), None);
    for _ in 0..3 {
        let due = world.http.poll_timeout().unwrap();
        world.http.handle_timeout(Now::new(due + Duration::from_secs(3_600), Duration::ZERO));
        assert!(world.http.is_held(exchange) && !world.http.is_closed());
    }
    let _pending = world.call();
    let exchange = world.next();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
    world.grant("t-2", false);
    assert_eq!(token(&world.admit(at(0)).1), "Bearer t-2");
}

/// AUTH-66: who signs out is signed out, also where revoking the tokens took too long.
#[test]
fn signing_out_that_is_cut_off_keeps_no_token() {
    let mut world = World::connected();
    world.leave();
    let next =
        world.finish(at(0), Done::Failed { reason: "late".to_owned(), record: String::new(), denied: false });
    assert_eq!(next.answers[0].1, Err("late".to_owned()));
    let _pending = world.call();
    world.bare();
}

/// AUTH-66: who calls while that is under way wants to be signed in again.
#[test]
fn who_calls_while_somebody_signs_out_is_asked() {
    let mut world = World::connected();
    world.leave();
    let _pending = world.call();
    assert!(matches!(world.admit(at(0)).1, Admitted::Held(None)));
    world.left();
    let exchange = world.bare();
    assert_eq!(way(world.refuse(at(0), exchange)), Some(Way::Authorize));
}
