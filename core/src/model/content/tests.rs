use super::*;
use crate::dialect::Revision;
use crate::model::resources::ResourceLink;
use crate::model::tests::{encoded, json};

fn block(text: &str) -> ContentBlock {
    serde_json::from_str(text).unwrap()
}

/// TOOL-20: the tag decides, wherever it stands.
#[test]
fn the_tag_may_come_last() {
    let last = block(r#"{"mimeType":"image/png","data":"iVBORw0KGgo=","\u0074ype":"image"}"#);
    assert_eq!(last, ContentBlock::image("iVBORw0KGgo=", "image/png"));
}

#[test]
fn a_tag_that_comes_last_leaves_json_as_it_was() {
    let late = r#"{"_meta":{"a/b":[1.0,{"z":1, "a":2}]},"text":"7","type":"text"}"#;
    let ContentBlock::Text(content) = block(late) else { panic!("not text") };
    assert_eq!(content.meta.get("a/b").unwrap().get(), r#"[1.0,{"z":1, "a":2}]"#);
}

#[test]
fn a_kind_that_is_not_known_is_kept() {
    for text in [r#"{"type":"hologram","data":[1,2],"deep":{"x":null}}"#, r#"{"data":1,"type":"hologram"}"#] {
        let content = block(text);
        assert!(matches!(&content, ContentBlock::Unknown(unknown) if unknown.kind == "hologram"));
        for revision in Revision::ALL {
            assert_eq!(encoded(revision, &content), json(text));
        }
    }
}

#[test]
fn unknown_members_of_a_known_kind_are_ignored() {
    assert_eq!(block(r#"{"type":"text","future":{},"text":"7"}"#), ContentBlock::text("7"));
}

#[test]
fn content_without_a_kind_is_an_error() {
    let error = serde_json::from_str::<ContentBlock>(r#"{"text":"7"}"#).unwrap_err();
    assert!(alloc::string::ToString::to_string(&error).contains("missing field `type`"));
}

/// A known kind is decoded as that kind or not at all, never as another one.
#[test]
fn a_known_kind_with_the_wrong_members_is_an_error() {
    assert!(serde_json::from_str::<ContentBlock>(r#"{"type":"image","text":"7"}"#).is_err());
}

#[test]
fn a_resource_is_told_apart_by_text_or_blob() {
    let contents = |text| serde_json::from_str::<ResourceContents>(text);
    assert!(matches!(contents(r#"{"uri":"a:b","text":""}"#), Ok(ResourceContents::Text(_))));
    assert!(matches!(contents(r#"{"blob":"","uri":"a:b"}"#), Ok(ResourceContents::Blob(_))));
    assert!(contents(r#"{"uri":"a:b"}"#).is_err());
}

/// TOOL-20
#[test]
fn a_kind_that_the_peer_does_not_know_becomes_text() {
    assert_eq!(
        encoded(Revision::V2024_11_05, &ContentBlock::audio("UklGRg==", "audio/wav")),
        json(r#"{"type":"text","text":"[audio audio/wav, 8 bytes of base64]"}"#)
    );
    assert_eq!(
        encoded(Revision::V2025_03_26, &ContentBlock::from(ResourceLink::new("shop://bikes/42", "bike 42"))),
        json(r#"{"type":"text","text":"[resource bike 42: shop://bikes/42]"}"#)
    );
}

#[test]
fn hints_for_roles_that_are_not_known_are_dropped() {
    let ContentBlock::Text(content) =
        block(r#"{"type":"text","text":"7","annotations":{"audience":["robot","user"],"priority":1}}"#)
    else {
        panic!("not text")
    };
    let annotations = content.annotations.unwrap();
    assert_eq!(annotations.audience, [crate::model::annotations::Role::User]);
    assert_eq!(annotations.priority, Some(1.0));
}

/// RES-20, PROMPT-08, PROMPT-09
#[test]
fn bytes_travel_as_base64_and_come_back() {
    let bytes = [0, 0xff, 0xfe, b'a'];
    let blob = BlobResourceContents::from_bytes("x:a", &bytes);
    assert_eq!((blob.blob.as_str(), blob.bytes().as_deref()), ("AP/+YQ==", Some(&bytes[..])));
    assert_eq!(ImageContent::from_bytes(&bytes, "image/png").data, blob.blob);
    assert_eq!(AudioContent::from_bytes(&bytes, "audio/wav").bytes().as_deref(), Some(&bytes[..]));
    assert_eq!(BlobResourceContents::new("x:a", "AP/-YQ").bytes(), None);
    assert_eq!(ImageContent::new("*", "image/png").bytes(), None);
}
