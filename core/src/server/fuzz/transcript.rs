//! Outputs as lines that can be compared: whole, with what they do not print of themselves.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::*;

pub(super) fn line(output: &Output) -> String {
    let whole = match output {
        Output::Call(_, call) => call.params().into(),
        Output::Answered(_, _, answer) => outcome(answer),
        Output::Notification { params, .. } => params.clone(),
        Output::Listen(_, listen) => listener(listen),
        _ => String::new(),
    };
    format!("{output:?} {whole}")
}

pub(super) fn exchange_line(output: &ExchangeOutput) -> String {
    let whole = match output {
        ExchangeOutput::Head(head, _) => {
            let fields = head.headers.iter().map(|(name, value)| (name, String::from_utf8_lossy(value)));
            format!("{:?}", fields.collect::<Vec<_>>())
        }
        ExchangeOutput::Call(_, call) => {
            format!("{} {:?}", call.params(), call.head().map(|head| &head.target))
        }
        ExchangeOutput::Answered(_, _, answer) => outcome(answer),
        ExchangeOutput::Authenticate(token) => token.as_str().into(),
        ExchangeOutput::Session(_, query) => session(query),
        ExchangeOutput::Sse(query) => sse(query),
        ExchangeOutput::Notification { params, .. } => params.clone(),
        ExchangeOutput::Listen(listen) => listener(listen),
        _ => String::new(),
    };
    format!("{output:?} {whole}")
}

fn outcome(answer: &Answer) -> String {
    match &answer.0 {
        Err(AskError::Refused(error)) => {
            format!("{} {:?}", error.message, error.data.as_ref().map(|data| data.get()))
        }
        outcome => format!("{outcome:?}"),
    }
}

fn listener(listen: &Listen) -> String {
    let uris = listen.wanted.watched.iter().collect::<Vec<_>>();
    format!("{uris:?} {}", details(&listen.client))
}

fn details(client: &ClientDetails) -> String {
    format!("{:?} {:?}", client.info, client.capabilities)
}

fn session(query: &SessionQuery) -> String {
    let name = |session: &SessionId| String::from(session.as_str());
    match query {
        SessionQuery::Open { state } => {
            format!("{} {:?} {:?}", details(&state.client), state.owner, state.origin)
        }
        SessionQuery::Answer { session, response } => {
            format!("{} {}", name(session), outcome(&response.outcome))
        }
        SessionQuery::Watch { session, uri } | SessionQuery::Unwatch { session, uri } => {
            format!("{} {uri}", name(session))
        }
        SessionQuery::Listen { session, after, .. } => format!("{} {after:?}", name(session)),
        SessionQuery::Record { session, event } => {
            format!("{} {}", name(session), String::from_utf8_lossy(&event.message))
        }
        SessionQuery::As { caller, query } => {
            format!("{:?} {:?} {}", caller.owner, caller.origin, self::session(query))
        }
        SessionQuery::Load { session }
        | SessionQuery::Begin { session, .. }
        | SessionQuery::BeginBatch { session, .. }
        | SessionQuery::Finish { session, .. }
        | SessionQuery::Cancel { session, .. }
        | SessionQuery::Initialized { session }
        | SessionQuery::SetLevel { session, .. }
        | SessionQuery::End { session }
        | SessionQuery::Detach { session, .. } => name(session),
    }
}

fn sse(query: &SseQuery) -> String {
    match query {
        SseQuery::Open { exchange, caller } => format!("{exchange:?} {:?} {:?}", caller.owner, caller.origin),
        SseQuery::Send { session, message, caller, sender } => {
            let sender = sender.as_ref().map(|sender| (&sender.subject, &sender.scopes));
            format!("{} {message} {:?} {:?} {sender:?}", session.as_str(), caller.owner, caller.origin)
        }
        SseQuery::Takes { session, takes } => format!("{} {takes}", session.as_str()),
        SseQuery::Close { session } => session.as_str().into(),
    }
}
