//! Behaviour across crates. The scenarios in [`scenarios`] run on every runtime, over real sockets and with
//! real child processes (the program `mcp-rig`); each test binary in `tests/` runs them on one.

/// P08: its code is what newcomers copy, so it is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod authorization_server;
pub mod kit;
pub mod requirements;
pub mod rig;
pub mod scenarios;
pub mod soak;
pub mod stage;
pub mod support;

pub use kit::{Kit, OnBlocking, OnSmol, OnTokio};

/// Makes a test of every scenario.
#[macro_export]
macro_rules! parity {
    ($kit:ty) => {
        $crate::scenario_tests! { $kit;
            authorized: a_token_is_demanded_and_checked, scopes_are_checked, a_check_that_fails_lets_nobody_in,
                tokens_are_told_to_nobody, a_session_belongs_to_whoever_opened_it;
            authorize: a_client_gets_through_with_the_browser, a_call_that_needs_more_scopes_gets_them,
                an_answer_outlives_its_token, a_token_that_is_never_taken_is_given_up,
                many_calls_whose_token_is_never_taken_ask_once, the_old_transport_is_authorized_as_well,
                a_token_follows_a_redirect_at_its_origin, the_limits_of_a_client_are_those_of_its_flows,
                calls_wait_for_one_flow, a_user_may_say_no, an_application_may_show_pages_itself,
                the_listener_waits_for_its_own_answer, nobody_waits_for_a_browser_in_vain, a_source_of_assertions_may_block,
                requests_are_signed_one_by_one,
                an_http_client_of_ones_own_carries_flows;
            grants: tokens_are_renewed, tokens_are_renewed_early, a_server_that_fails_deletes_nothing,
                a_dead_refresh_token_is_forgotten, what_another_program_stores_meanwhile_stays, signing_out_leaves_no_token_behind,
                signing_out_needs_authorization, grants_outlive_the_program;
            signed_out: taking_back_is_no_reason_to_sign_in, a_key_that_is_slow_sends_no_token_that_was_taken_back,
                what_waits_for_a_connection_sends_no_token_that_was_taken_back,
                keys_sign_on_so_many_threads;
            calls: every_revision_is_spoken, progress_is_live_and_precedes_the_result,
                an_abandoned_call_is_cancelled, a_canceller_cancels, a_blocking_handler_learns_of_its_cancellation,
                a_handler_sleeps_on_its_runtime, a_timeout_cancels_on_the_wire, a_panic_is_answered_and_the_server_lives,
                a_blocking_tool_stops_nobody, wrong_arguments_are_named_by_their_path,
                an_unknown_tool_is_refused_with_a_suggestion, many_calls_run_at_once,
                hooks_may_panic_and_call_back, a_closed_client_fails_calls_at_once,
                closing_fails_the_calls_under_way;
            tasks: a_call_goes_on_as_a_task, who_knows_no_tasks_gets_a_plain_answer, a_task_asks_its_client,
                a_task_can_be_cancelled, tasks_fail_as_calls_do, tasks_report_by_their_status,
                a_task_is_its_callers_alone, tasks_live_as_long_as_they_can_be_reached, stopping_ends_tasks,
                a_task_that_takes_too_long_fails, tasks_are_bounded, who_listens_to_a_task_hears_its_end, hooks_are_around_the_request;
            answers: one_set_of_handlers_serves_both_eras, handlers_may_block, what_is_asked_together_is_answered_together,
                what_has_no_handler_is_not_declared, failures_of_handlers_are_not_told, what_is_taken_back_is_dropped,
                abandoning_a_call_drops_what_it_asks, roots_may_change, waiting_is_steered_by_the_application,
                calls_are_gone_on_with_by_hand, an_answer_outlives_its_call, progress_goes_on_over_rounds, questions_outside_of_calls_are_answered, deprecated_answers_are_said_once,
                pages_are_visited_before_a_call_goes_on;
            asks: one_handler_asks_clients_of_both_eras,
                a_user_may_decline_or_turn_away,
                several_things_are_asked_in_one_round,
                a_key_is_asked_once,
                answers_that_do_not_fit_are_not_taken,
                clients_are_told_what_they_lack,
                states_are_taken_as_they_were_given_only,
                prompts_and_resources_ask,
                what_a_handler_returns_while_a_question_is_open_does_not_count,
                users_are_sent_to_pages,
                consent_to_visit_a_page_is_no_visit,
                a_model_uses_tools_of_the_server,
                a_conversation_without_a_message_is_not_sent,
                handlers_may_make_the_rounds_themselves,
                rounds_on_behalf_of_a_handler_are_bounded,
                a_page_can_be_demanded,
                clients_hear_that_a_page_has_done_its_part,
                sessions_hear_that_a_page_has_done_its_part,
                asks_end_with_their_time_and_their_call,
                a_question_that_is_dropped_is_taken_back,
                hooks_are_around_handlers_that_ask,
                deprecated_questions_are_said_once,
                asks_over_http_are_answered_by_a_post, clients_without_a_way_back_are_not_asked,
                modern_clients_over_http_are_asked_by_results;
            caching: a_ping_is_sent_each_time, what_is_fresh_is_not_asked_for, another_token_is_another_cache,
                what_is_stale_stands_in_for_a_server_that_is_gone, a_listener_finds_nothing_of_before_a_change,
                a_collection_begins_anew_when_its_cursor_is_refused, a_server_that_offers_more_by_now_is_asked_for_it,
                what_is_private_is_kept_for_credentials_of_ours_only;
            crowded: questions_end_in_time_however_many_wait, time_passes_however_many_handlers_block,
                tokens_are_checked_however_many_handlers_block, threads_are_there_however_many_servers_block;
            groups: calls_find_the_server_that_is_meant, one_failing_server_does_not_take_the_rest_down,
                a_batch_runs_at_once_and_keeps_its_order, a_group_is_made_of_a_file;
            faults: a_child_that_dies_at_any_byte_hangs_nobody, a_server_that_is_killed_at_any_byte_hangs_nobody,
                a_client_that_is_killed_at_any_byte_leaves_nothing, a_server_ends_with_its_client_at_any_byte,
                a_line_without_measure_costs_a_message, a_server_that_talks_without_measure_is_understood,
                unknown_responses_are_nothing, a_storm_of_cancellations_passes,
                a_full_disk_keeps_no_client_from_its_token, a_full_disk_costs_resumption_only,
                a_client_out_of_descriptors_says_so;
            task_clients: a_call_waits_for_its_task, an_abandoned_call_takes_its_task_back, a_task_is_held_and_found_again,
                a_question_without_an_answer_leaves_the_task, tasks_go_to_the_server_that_has_them,
                what_is_told_of_a_task_is_heard, both_halves_agree;
            hooks: hooks_see_every_request, hooks_may_refuse_every_request, sessions_are_the_same_with_hooks;
            sealed: a_call_goes_on_wherever_its_key_is, a_state_is_for_its_audience, a_codec_of_ones_own_is_asked,
                a_ring_without_keys_does_not_serve;
            options: a_collection_that_ends_early_keeps_what_was_read, what_is_not_offered_is_a_typed_error,
                a_ping_is_answered_in_both_eras, the_level_of_logs_can_be_changed, a_level_is_judged_as_a_call_is, a_trace_reaches_the_server,
                a_ping_and_a_level_have_options, metadata_of_a_client_reaches_the_server,
                what_a_client_uses_of_the_deprecated_is_said_once;
            results: structured_content_is_checked_by_the_client, a_bad_definition_is_not_learned;
            rounds: a_state_is_checked_before_its_handler_runs, a_step_before_a_question_by_hand_is_done_once,
                a_handler_may_do_without_what_a_client_lacks, nobody_is_asked_in_vain,
                a_call_keeps_its_handler_from_round_to_round;
            features: prompts_are_listed_and_filled_in, a_prompt_is_no_tool_of_the_same_name,
                what_a_prompt_fails_with_is_told, resources_are_listed_and_read, templates_make_resources,
                what_is_not_there_is_told_by_era, arguments_and_variables_are_completed,
                completion_of_what_is_not_declared_is_refused, a_failing_prompt_is_reported;
            children: closing_ends_the_child, dropping_the_client_ends_the_child,
                calls_fail_at_once_when_the_child_dies, a_missing_program_is_named, a_directory_is_no_program,
                a_child_that_says_nothing_is_quoted, a_stubborn_child_is_killed_with_its_group, a_child_that_never_connects_is_gone_with_the_error,
                the_standard_error_of_a_child_is_passed_on,
                a_grandchild_goes_with_its_launcher, an_escaped_grandchild_holds_nobody_up,
                a_server_that_dies_of_the_probe_is_started_again, a_server_that_dies_of_the_probe_when_it_is_greeted_is_started_again,
                the_end_of_the_standard_error_is_quoted, a_server_that_ignores_the_probe_is_legacy,
                a_server_that_starts_slowly_is_what_it_says, a_program_that_is_no_server_is_named,
                noise_on_the_output_is_skipped, a_subprocess_of_a_handler_gets_no_input,
                a_stray_print_does_not_reach_the_client, the_last_words_of_a_child_are_read,
                a_child_may_say_what_it_likes_and_outlives_who_started_it;
            connecting: a_string_says_where_a_server_is, a_file_of_servers_is_connected_to,
                a_child_inherits_the_basics_of_the_environment, a_verdict_is_for_the_next_connection, a_command_is_a_target,
                compressed_responses_are_read, details_are_those_of_the_present_session;
            dialing: a_server_that_takes_no_connection_is_given_up, a_flow_gives_up_whoever_takes_no_connection,
                a_flow_that_is_over_asks_nobody_any_more;
            in_process: a_server_in_this_process_needs_no_stream, a_dropped_client_ends_its_server,
                an_http_client_of_ones_own_carries_everything, an_http_client_of_ones_own_may_fail;
            secure: a_flow_goes_over_tls, servers_are_reached_over_tls, a_server_must_show_who_it_is, a_handshake_ends_in_time, a_proxy_makes_a_tunnel,
                the_environment_has_proxy_and_roots, a_proxy_is_given_requests, a_proxy_is_spoken_to_by_tls;
            stdio: closed_input_ends_the_server, closed_output_ends_the_server, closed_output_ends_a_server_that_blocks,
                a_running_call_ends_with_the_input, sockets_serve_as_pipes, pipes_that_do_not_block_serve_as_well, files_serve_as_pipes,
                backpressure_loses_no_call;
            http: a_server_on_every_interface_needs_a_name, a_disconnect_cancels_a_modern_call_only, connections_are_used_again,
                stopping_lets_calls_finish, stopping_and_closing_in_any_order_is_harmless,
                closing_ends_the_session, dropping_the_client_ends_the_session, foreign_hosts_and_origins_are_refused,
                a_refusal_is_told_in_the_words_of_the_server,
                a_refused_host_is_told_once, wrong_hosts_origins_and_addresses_serve_nothing,
                slow_heads_and_bodies_time_out, silent_and_deaf_peers_are_let_go, connections_are_bounded,
                a_missing_server_is_named, calls_fail_at_once_when_the_server_dies,
                an_early_answer_is_heard, connections_leave_nothing_behind, a_connection_takes_one_descriptor, clients_leave_nothing_behind;
            http_sse: clients_of_the_old_transport_are_served, handlers_ask_on_the_stream, changes_are_told_on_the_stream,
                the_end_of_a_stream_ends_its_calls, what_is_no_message_is_refused, a_stream_is_of_whoever_opened_it,
                streams_end_with_their_server, a_client_of_ours_speaks_the_old_transport, one_url_is_enough_for_either_transport,
                a_client_hears_that_its_stream_has_ended, a_client_opens_a_lost_stream_again;
            hygiene: requests_that_are_not_admitted_are_told_why, connections_stay_in_step, event_streams_are_not_held_back,
                a_body_that_drips_is_cut_off, pages_of_other_origins_are_let_in_where_that_is_asked_for,
                jobs_of_blocking_handlers_are_bounded;
            request: handlers_see_the_head_of_their_request, handlers_find_what_the_application_attached;
            content: every_kind_of_content_arrives, structured_content_is_mirrored, failures_are_told_to_whom_they_concern,
                results_carry_metadata_and_hints, a_server_introduces_itself_and_lists_in_pages, a_tool_without_parameters_says_so;
            listening: changes_are_heard, a_subscription_is_changed_and_ended, dropping_a_subscription_ends_it,
                subscriptions_leave_a_connection_for_calls,
                the_end_in_good_order_is_told_apart, resources_are_watched_one_by_one, what_is_taken_back_is_not_waited_for,
                what_is_granted_no_more_is_told, what_is_watched_again_may_have_changed,
                a_child_that_dies_is_started_again_for_listeners, restarts_of_a_child_are_bounded;
            observe: methods_of_ones_own_are_served, methods_of_ones_own_fail_like_others, names_of_the_protocol_are_kept,
                a_method_may_be_named_by_a_parameter, notifications_reach_their_listeners, extensions_of_the_client_are_known,
                traces_are_read, hooks_go_around_every_request, a_hook_may_refuse, a_hook_sees_a_cancellation,
                a_hook_starts_no_handler_of_a_cancelled_call,
                hooks_may_panic_look_and_replace, a_client_may_leave_while_hooks_are_at_work, deprecated_features_are_said_once;
            schemas: arguments_that_do_not_fit_a_schema_by_hand_reach_no_handler,
                a_type_is_checked_for_what_its_schema_adds, checks_of_arguments_can_be_switched_off,
                results_that_do_not_fit_become_internal_errors, failures_are_not_held_against_the_output_schema,
                checks_of_results_can_warn_or_be_off, structured_content_of_any_kind_comes_with_its_text;
            sessions: a_lost_connection_is_taken_up_again, a_handler_lets_its_client_poll,
                a_client_that_comes_back_is_asked_still, what_was_asked_has_its_time_without_a_connection,
                the_end_of_a_session_ends_its_streams, stopping_ends_streams, a_foreign_event_id_is_refused,
                a_session_belongs_to_who_opened_it, two_services_share_a_store, a_store_that_fails_is_no_session,
                a_stateless_server_needs_no_session, a_server_may_answer_in_json_only;
            stopping: calls_without_a_connection_may_finish, calls_without_a_connection_are_given_up,
                calls_without_a_connection_are_bounded, what_runs_too_long_is_given_up, a_stream_ends_with_its_result, stopping_is_bounded_by_itself,
                stopping_does_not_wait_for_dead_peers, a_connection_that_is_gone_has_no_place,
                a_server_out_of_descriptors_recovers;
            streaming: a_call_is_heard_item_by_item, dropping_a_stream_cancels_its_call, a_stream_ends_with_its_error,
                what_is_logged_for_a_call_is_heard_with_it;
            streams: any_stream_carries_messages;
            subscriptions: a_registry_changes_a_server_that_serves, resources_and_templates_come_and_go,
                changes_are_told_whatever_was_said_to_caches, each_list_and_resource_has_hints_of_its_own, a_change_with_a_fault_changes_nothing,
                a_registry_changes_a_server_before_it_serves, a_call_keeps_the_handler_it_began_with,
                listeners_are_told_once_over_http, listeners_are_told_once_on_a_stream,
                stopping_ends_streams_with_their_result, streams_of_changes_are_bounded, streams_that_clients_keep_are_bounded_together,
                the_application_refuses_listeners, a_client_that_does_not_read_holds_up_nobody,
                servers_share_a_bus, legacy_sessions_are_told_on_their_stream,
                a_rule_decides_what_is_there, unwise_tools_that_come_later_are_reported;
            tools: arguments_come_raw_under_a_schema_by_hand, a_schema_by_hand_comes_first, a_tool_without_parameters_says_so,
                a_tool_without_a_schema_is_refused, schemas_of_types_are_of_the_default_dialect, unwise_names_are_reported, reports_blame_the_right_side;
        }
    };
}

/// Makes a test of every scenario that needs futures.
#[macro_export]
macro_rules! parity_of_futures {
    ($kit:ty) => {
        mod futures {
            $crate::scenario_tests! { $kit;
                streams: dropping_the_server_cancels_its_calls;
                listening: who_does_not_wait_for_it_watches_nothing;
                grants: signing_out_waits_for_a_flow;
            }
        }
    };
}

/// Named modules of named tests; see [`parity`].
#[macro_export]
macro_rules! scenario_tests {
    ($kit:ty; $($module:ident: $($name:ident),+;)+) => {
        $(mod $module {
            $(#[test]
            fn $name() {
                let _entered = <$kit as $crate::Kit>::enter();
                $crate::scenarios::$module::$name::<$kit>(env!("CARGO_BIN_EXE_mcp-rig"));
            })+
        })+
    };
}
