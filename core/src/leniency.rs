//! What is tolerated of deployed peers that break a rule, in one place.
//!
//! Mistakes that are tolerated unless [`Leniency`] says otherwise are its fields. The rest always is: to refuse
//! it would protect nobody, or the specification asks for the tolerance. Each has its test.
//!
//! | mistake | what happens | test |
//! |---|---|---|
//! | CRLF, blank lines or a byte order mark between messages | skipped | `crlf_and_blank_lines_are_accepted`, `byte_order_mark_is_skipped_at_the_start_only` |
//! | a last line without its end | read if it is a whole message | `the_last_line_needs_no_end`, `a_last_line_without_its_end_still_counts` |
//! | a server that prints its log to stdout | diagnostics; never answered | `noise_on_the_output_of_the_server_is_survived_in_silence` |
//! | a client that writes noise to stdin | answered, see [`Config::answer_noise`](crate::server::Config::answer_noise) | `noise_is_not_answered_when_configured_off` |
//! | `null` for an optional parameter | as if it were absent | `null_counts_as_absent` |
//! | a request before `notifications/initialized` | served | `a_request_before_initialized_is_served`, `a_request_may_overtake_the_end_of_the_handshake` |
//! | a server that refuses `notifications/initialized` | a diagnostic; calls go on | `calls_do_not_wait_for_ever` |
//! | a server that answers the probe with any result, dies of it, or is silent | taken for a legacy one | `a_nonsense_result_of_the_probe_means_legacy`, `a_server_that_dies_of_the_probe_is_started_again_and_greeted_the_legacy_way`, `silence_means_legacy_and_a_late_answer_is_ignored` |
//! | a modern server too slow for the probe | probed again, with patience | `a_slow_modern_server_is_found_after_all` |
//! | `initialize` refused with a list of versions | tried once more with one of them | `an_initialize_refused_for_its_version_is_tried_once_with_another` |
//! | an introduction without capabilities or with `serverInfo` in the wrong place | read as far as it goes | `an_introduction_is_read_as_far_as_it_goes` |
//! | a tool result without `content` | an empty one | `a_tool_result_is_read_leniently` |
//! | responses that nobody asked for, or that come twice | dropped | `unsolicited_and_repeated_responses_are_dropped`, `responses_are_not_answered` |
//! | foreign or broken events in a stream | skipped, and said once | `foreign_events_and_bad_json_are_skipped_with_one_word` |
//! | progress that does not go forward | keeps the call alive, is not told | `progress_gives_more_time_up_to_a_maximum` |
//! | 404 for an unknown method within a session | the method is unknown, the session lives | `an_error_inside_an_error_status_reaches_the_call` |
//! | blank lines before an HTTP head | two are skipped | `two_blank_lines_may_precede_a_head` |
//!
//! Not tolerated, although seen: a message without `jsonrpc`, an `id` that is `null`, a batch outside revision
//! 2025-03-26, line ends other than CRLF in HTTP.

/// Which mistakes of deployed peers are tolerated. Default: all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leniency {
    /// Server: a POST whose `Accept` is missing, or lists one of `application/json` and `text/event-stream`, is
    /// answered in a form that it takes; clients must list both. Scripts and older clients. Off: 406.
    pub partial_accept: bool,
    /// Client: a response without `Content-Type` is read as JSON. Servers behind proxies that drop it. Off: the
    /// call fails as [`Invalid`](crate::error::CallError::Invalid).
    pub untyped_body: bool,
    /// Client: an error with an id that nobody used is the error of the request that it answers over HTTP.
    /// Servers that put a constant there. Off: in a stream it is dropped with a diagnostic, as a whole response
    /// it fails the call as [`Invalid`](crate::error::CallError::Invalid). An error without id counts always.
    pub foreign_error_id: bool,
    /// Client: on legacy revisions an empty `nextCursor`, or the one that was just used, ends a collection.
    /// Servers that never leave it out. Off: the collection goes on, until
    /// [`Limits::pages`](crate::limits::Limits::pages).
    pub endless_cursor: bool,
}

impl Default for Leniency {
    fn default() -> Self {
        Self { partial_accept: true, untyped_body: true, foreign_error_id: true, endless_cursor: true }
    }
}

impl Leniency {
    /// Tolerates nothing that can be refused: for testing a peer.
    pub const fn strict() -> Self {
        Self { partial_accept: false, untyped_body: false, foreign_error_id: false, endless_cursor: false }
    }
}
