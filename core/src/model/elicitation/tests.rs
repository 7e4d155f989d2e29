use super::*;
use crate::model::tests::{encoded, json, names};
use alloc::string::ToString;
use alloc::vec;

fn strings(values: &[&str]) -> vec::Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// ELIC-08, ELIC-09
#[test]
fn without_a_mode_it_is_a_form() {
    let text = r#"{"message":"Replace chain?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}"#;
    let params: ElicitRequestParams = serde_json::from_str(text).unwrap();
    let ElicitRequestParams::Form(form) = &params else { panic!("not a form") };
    assert_eq!(form.requested_schema.properties, [("ok".into(), BooleanSchema::new().into())]);
    // 2025-06-18 has no modes, later revisions are told.
    assert_eq!(encoded(Revision::V2025_06_18, &params), json(text));
    assert_eq!(encoded(Revision::V2025_11_25, &params)["mode"], "form");
}

/// ELIC-06: the receiver refuses what it does not know.
#[test]
fn a_mode_that_is_not_known_is_an_error() {
    assert!(serde_json::from_str::<ElicitRequestParams>(r#"{"mode":"telepathy","message":"?"}"#).is_err());
}

#[test]
fn fields_keep_their_order() {
    let text = r#"{"type":"object","properties":{"z":{"type":"boolean"},"a":{"type":"boolean"},"m":{"type":"boolean"}}}"#;
    let schema: ElicitationSchema = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&crate::model::In(Revision::LATEST, &schema)).unwrap(), text);
}

/// ELIC-11, ELIC-12, ELIC-13, ELIC-14
#[test]
fn every_kind_of_field_is_told_apart() {
    let options = || vec![EnumOption::new("d", "Dry"), EnumOption::new("w", "Wet")];
    let kinds: [(&str, PrimitiveSchemaDefinition); 9] = [
        (
            r#"{"type":"string","title":"Day","description":"Which","minLength":1,"maxLength":10,"format":"date","default":"2026-08-03"}"#,
            StringSchema::new()
                .title("Day")
                .description("Which")
                .min_length(1u64)
                .max_length(10u64)
                .format(StringFormat::Date)
                .default_value("2026-08-03")
                .into(),
        ),
        (
            r#"{"type":"number","minimum":0.5,"default":1}"#,
            NumberSchema::number().minimum(0.5).default_value(1.0).into(),
        ),
        (
            r#"{"type":"integer","minimum":1,"maximum":8}"#,
            NumberSchema::integer().minimum(1.0).maximum(8.0).into(),
        ),
        (r#"{"type":"boolean","default":false}"#, BooleanSchema::new().default_value(false).into()),
        (
            r#"{"type":"string","enum":["d","w"],"default":"d"}"#,
            UntitledSingleSelectEnumSchema::new(strings(&["d", "w"])).default_value("d").into(),
        ),
        (
            r#"{"type":"string","oneOf":[{"const":"d","title":"Dry"},{"const":"w","title":"Wet"}],"default":"w"}"#,
            TitledSingleSelectEnumSchema::new(options()).default_value("w").into(),
        ),
        (
            r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["d","w"]},"default":["d"]}"#,
            UntitledMultiSelectEnumSchema::new(strings(&["d", "w"]))
                .min_items(1u64)
                .max_items(2u64)
                .default_value(strings(&["d"]))
                .into(),
        ),
        (
            r#"{"type":"array","items":{"anyOf":[{"const":"d","title":"Dry"},{"const":"w","title":"Wet"}]}}"#,
            TitledMultiSelectEnumSchema::new(options()).into(),
        ),
        (
            r#"{"type":"string","enum":["d","w"],"enumNames":["Dry","Wet"]}"#,
            LegacyTitledEnumSchema::new(strings(&["d", "w"]), strings(&["Dry", "Wet"])).into(),
        ),
    ];
    for (text, definition) in kinds {
        assert_eq!(serde_json::from_str::<PrimitiveSchemaDefinition>(text).unwrap(), definition, "{text}");
        assert_eq!(encoded(Revision::LATEST, &definition), json(text));
    }
}

#[test]
fn a_field_of_another_kind_is_kept_and_not_sent() {
    let text = r#"{"type":"object","properties":{"ok":{"type":"boolean"},"deep":{"type":"object"}},"required":["ok","deep"]}"#;
    let schema: ElicitationSchema = serde_json::from_str(text).unwrap();
    assert!(matches!(&schema.properties[1].1, PrimitiveSchemaDefinition::Unknown(_)));
    assert_eq!(
        encoded(Revision::LATEST, &schema),
        json(r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#)
    );
}

/// ELIC-11, ELIC-14
#[test]
fn a_form_for_2025_06_18_has_only_what_that_revision_has() {
    let schema = ElicitationSchema::new()
        .required("day", StringSchema::new().default_value("2026-08-03"))
        .optional("hours", NumberSchema::integer().default_value(2.0))
        .optional("rush", BooleanSchema::new().default_value(false))
        .optional(
            "wax",
            TitledSingleSelectEnumSchema::new(vec![EnumOption::new("d", "Dry")]).default_value("d"),
        )
        .required("extras", UntitledMultiSelectEnumSchema::new(strings(&["wash"])));
    assert_eq!(
        encoded(Revision::V2025_06_18, &schema),
        json(
            r#"{"type":"object","properties":{
                "day":{"type":"string"},
                "hours":{"type":"integer"},
                "rush":{"type":"boolean","default":false},
                "wax":{"type":"string","enum":["d"],"enumNames":["Dry"]}
            },"required":["day"]}"#
        )
    );
}

/// ELIC-18, ELIC-19
#[test]
fn the_id_of_a_url_elicitation_goes_to_2025_11_25_only() {
    let params = ElicitRequestUrlParams::new("Pay", "https://pay.spokes.example/d/81")
        .elicitation_id("el-81")
        .task(Json::empty_object())
        .meta(Meta::new().with("a/b", Json::empty_object()));
    assert_eq!(
        names(&encoded(Revision::V2025_11_25, &params)),
        ["_meta", "elicitationId", "message", "mode", "task", "url"]
    );
    assert_eq!(names(&encoded(Revision::V2026_07_28, &params)), ["message", "mode", "url"]);
}

#[test]
fn the_answer_decodes_as_the_form_it_fills() {
    #[derive(Deserialize)]
    struct Slot<'a> {
        day: &'a str,
    }
    let result: ElicitResult =
        serde_json::from_str(r#"{"action":"accept","content":{"day":"2026-08-04"}}"#).unwrap();
    assert_eq!(result.content.unwrap().decode::<Slot<'_>>().unwrap().day, "2026-08-04");
}
