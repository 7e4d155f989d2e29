//! The parameters of a request, before anybody knows what it asks for.

use super::refusal::Refusal;
use crate::error::{PeerError, code};
use crate::model::meta::RequestMeta;
use crate::wire::jsonrpc::Note;
use serde_json::value::RawValue;

/// The members of `params` that any method here looks at, noted when the message was read; each is decoded when its
/// method asks for it.
#[derive(Default)]
pub(super) struct Params<'a> {
    pub(super) raw_meta: Option<&'a RawValue>,
    pub(super) name: Option<&'a RawValue>,
    pub(super) uri: Option<&'a RawValue>,
    pub(super) arguments: Option<&'a RawValue>,
    pub(super) reference: Option<&'a RawValue>,
    pub(super) argument: Option<&'a RawValue>,
    pub(super) context: Option<&'a RawValue>,
    pub(super) cursor: Option<&'a RawValue>,
    pub(super) level: Option<&'a RawValue>,
    pub(super) input_responses: Option<&'a RawValue>,
    pub(super) request_state: Option<&'a RawValue>,
    pub(super) task_id: Option<&'a RawValue>,
    pub(super) meta: RequestMeta<'a>,
    /// What is wrong with them as a whole.
    flaw: Option<PeerError>,
}

impl<'a> Params<'a> {
    /// Those of a message that somebody else has read.
    pub(super) fn of(params: Option<&'a RawValue>) -> Self {
        let mut noted = Self::default();
        if let Some(params) = params {
            noted.note(params);
        }
        noted
    }

    /// Looks whether they can be relied on; what is null is not there from then on. They are large, so they stay where
    /// they are.
    pub(super) fn check(&mut self) -> Result<(), Refusal> {
        if let Some(flaw) = self.flaw.take() {
            return Err(flaw.into());
        }
        let Self { raw_meta, name, uri, arguments, reference, argument, context, cursor, level, .. } = self;
        for place in [raw_meta, name, uri, arguments, reference, argument, context, cursor, level] {
            *place = place.filter(|value| value.get() != "null");
        }
        for place in [&mut self.input_responses, &mut self.request_state, &mut self.task_id] {
            *place = place.filter(|value| value.get() != "null");
        }
        if let Some(text) = self.raw_meta {
            self.meta.note_text(text)?;
        }
        Ok(())
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<&'a RawValue>> {
        Some(match name {
            "_meta" => &mut self.raw_meta,
            "name" => &mut self.name,
            "uri" => &mut self.uri,
            "arguments" => &mut self.arguments,
            "ref" => &mut self.reference,
            "argument" => &mut self.argument,
            "context" => &mut self.context,
            "cursor" => &mut self.cursor,
            "level" => &mut self.level,
            "inputResponses" => &mut self.input_responses,
            "requestState" => &mut self.request_state,
            "taskId" => &mut self.task_id,
            _ => return None,
        })
    }
}

impl<'a> Note<'a> for Params<'a> {
    fn param(&mut self, name: &str, value: &'a RawValue) {
        let Some(place) = self.place(name) else { return };
        if place.replace(value).is_some() {
            // Of two, nobody can tell which one others have acted on.
            let message = alloc::format!("params.{name}: occurs twice");
            self.flaw = Some(PeerError::new(code::INVALID_PARAMS, message, "while reading `params`"));
        }
    }

    fn meta(&mut self, name: &str, value: &'a RawValue) {
        if let Err(flaw) = self.meta.note(name, value) {
            self.flaw = Some(flaw);
        }
    }
}
