//! What a client sends of what was filled in: with defaults, checked, and only what a form can have.

use super::schema::{ElicitationSchema, PrimitiveSchemaDefinition};
use super::{ElicitAction, ElicitRequestParams, ElicitResult};
use crate::dialect::{ElicitationModes, Revision};
use crate::model::encode::Number;
use crate::model::json::{Json, JsonMap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl ElicitationSchema {
    /// Fills in the defaults of fields that `content` does not have (ELIC-15). A default that does not fit its
    /// own field is the server's mistake, and left out.
    pub fn fill(&self, content: &mut JsonMap) {
        for (name, field) in &self.properties {
            if !content.contains_key(name)
                && let Some(default) = field.default_json()
                && field.check(&default).is_ok()
            {
                content.insert(name.clone(), default);
            }
        }
    }
}

impl PrimitiveSchemaDefinition {
    /// What the field is filled in with at first, and if it is left empty.
    pub fn default_json(&self) -> Option<Json> {
        let json = match self {
            Self::String(schema) => Json::new(schema.default_value.as_ref()?),
            Self::Number(schema) => Json::new(&Number(schema.default_value?)),
            Self::Boolean(schema) => Json::new(&schema.default_value?),
            Self::UntitledSingleSelect(schema) => Json::new(schema.default_value.as_ref()?),
            Self::TitledSingleSelect(schema) => Json::new(schema.default_value.as_ref()?),
            Self::LegacyTitled(schema) => Json::new(schema.default_value.as_ref()?),
            Self::UntitledMultiSelect(schema) => Json::new(schema.default_value.as_ref()?),
            Self::TitledMultiSelect(schema) => Json::new(schema.default_value.as_ref()?),
            Self::Unknown(_) => return None,
        };
        json.ok()
    }
}

impl ElicitResult {
    /// This result as it may be sent in answer to `request`: content only of a form that was accepted (ELIC-28),
    /// with defaults (ELIC-15), of values that a form can have (ELIC-29), and as the form demands (ELIC-32).
    /// `null` means that a field was left empty.
    ///
    /// # Errors
    /// What does not fit, for people: the field, what was expected, and never what is there.
    pub fn answering(mut self, request: &ElicitRequestParams, revision: Revision) -> Result<Self, String> {
        let content = self.content.take();
        let (ElicitRequestParams::Form(form), ElicitAction::Accept) = (request, self.action) else {
            return Ok(self);
        };
        let mut members = match content {
            Some(content) => {
                content.decode::<JsonMap>().map_err(|_| String::from("expected an object as content"))?
            }
            None => JsonMap::new(),
        };
        members.retain(|_, value| value.get() != "null");
        form.requested_schema.fill(&mut members);
        let lists = revision.dialect().elicitation == ElicitationModes::FormAndUrl;
        if let Some((name, _)) = members.iter().find(|(_, value)| !is_primitive(value, lists)) {
            return Err(format!("{name}: expected a string, a number, a boolean or strings"));
        }
        let content = Json::new(&members).map_err(|error| format!("{error}"))?;
        form.requested_schema.check(&content)?;
        self.content = Some(content);
        Ok(self)
    }
}

fn is_primitive(value: &Json, lists: bool) -> bool {
    match value.get().as_bytes().first() {
        Some(b'{') | None => false,
        Some(b'[') => lists && value.decode::<Vec<String>>().is_ok(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{
        BooleanSchema, NumberSchema, StringSchema, UntitledMultiSelectEnumSchema,
        UntitledSingleSelectEnumSchema,
    };
    use super::super::{ElicitRequestFormParams, ElicitRequestUrlParams};
    use super::*;
    use alloc::vec;

    fn json(text: &str) -> Json {
        Json::parse(text.replace('\'', "\"")).unwrap()
    }

    fn form(schema: ElicitationSchema) -> ElicitRequestParams {
        ElicitRequestFormParams::new("m", schema).into()
    }

    fn accept(schema: &ElicitationSchema, content: &str) -> Result<String, String> {
        let result = ElicitResult::accept(json(content));
        let result = result.answering(&form(schema.clone()), Revision::LATEST)?;
        Ok(result.content.unwrap().get().replace('"', "'"))
    }

    /// ELIC-15: a field of each kind has its default where nothing was filled in, and only there.
    #[test]
    fn defaults_are_filled_in() {
        let values = || vec![String::from("a"), "b".into()];
        let schema = ElicitationSchema::new()
            .optional("s", StringSchema::new().default_value("x"))
            .optional("i", NumberSchema::integer().default_value(30.0))
            .optional("n", NumberSchema::number().default_value(95.5))
            .optional("b", BooleanSchema::new().default_value(true))
            .optional("e", UntitledSingleSelectEnumSchema::new(values()).default_value("b"))
            .optional("m", UntitledMultiSelectEnumSchema::new(values()).default_value(values()))
            .optional("none", StringSchema::new());
        let all = "{'b':true,'e':'b','i':30,'m':['a','b'],'n':95.5,'s':'x'}";
        assert_eq!(accept(&schema, "{}").unwrap(), all);
        assert_eq!(accept(&schema, "{'s':null}").unwrap(), all);
        assert_eq!(
            accept(&schema, "{'b':false,'s':''}").unwrap(),
            all.replace("true", "false").replace("'x'", "''")
        );
    }

    /// A form can say nonsense.
    #[test]
    fn a_default_that_does_not_fit_is_left_out() {
        let schema =
            ElicitationSchema::new().optional("s", StringSchema::new().min_length(2u64).default_value("x"));
        assert_eq!(accept(&schema, "{}").unwrap(), "{}");
    }

    /// ELIC-32, ELIC-29
    #[test]
    fn what_does_not_fit_the_form_is_not_sent() {
        let schema = ElicitationSchema::new().required("s", StringSchema::new().max_length(1u64));
        assert_eq!(accept(&schema, "{'s':'a','more':1}").unwrap(), "{'more':1,'s':'a'}");
        for (content, reason) in [
            ("{}", "s: missing"),
            ("{'s':null}", "s: missing"),
            ("{'s':'secret'}", "s: expected at most 1 characters"),
            ("{'s':'a','o':{}}", "o: expected a string, a number, a boolean or strings"),
            ("{'s':'a','o':[1]}", "o: expected a string, a number, a boolean or strings"),
            ("[]", "expected an object as content"),
        ] {
            assert_eq!(accept(&schema, content), Err(reason.into()), "{content}");
        }
        let lists = ElicitResult::accept(json("{'s':'a','o':['x']}"));
        assert!(lists.clone().answering(&form(schema.clone()), Revision::V2025_11_25).is_ok());
        assert!(lists.answering(&form(schema), Revision::V2025_06_18).is_err());
    }

    /// ELIC-28
    #[test]
    fn only_a_form_that_was_accepted_has_content() {
        let schema = ElicitationSchema::new().required("s", StringSchema::new());
        for action in [ElicitAction::Decline, ElicitAction::Cancel] {
            let result = ElicitResult::new(action).content(json("{'s':1}"));
            assert_eq!(result.answering(&form(schema.clone()), Revision::LATEST).unwrap().content, None);
        }
        let page = ElicitRequestUrlParams::new("m", "https://example.com").into();
        let result = ElicitResult::accept(json("{'s':1}")).answering(&page, Revision::LATEST);
        assert_eq!(result, Ok(ElicitResult::new(ElicitAction::Accept)));
    }
}
