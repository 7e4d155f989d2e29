use super::*;
use alloc::vec::Vec;

/// RES-06, RES-22
#[test]
fn a_resource_has_a_uri_and_a_name() {
    let mut resources = Resources::new();
    for uri in ["", "static", "x:a b", "::not a uri"] {
        assert!(resources.insert(Resource::new(uri, "n")).unwrap_err().message.contains("RFC 3986"), "{uri}");
    }
    assert!(resources.insert(Resource::new("x:a", "")).unwrap_err().message.contains("must have a name"));
    resources.insert(Resource::new("x:a", "n")).unwrap();
    assert!(resources.insert(Resource::new("x:a", "m")).unwrap_err().message.contains("already"));
}

/// RES-06, RES-09
#[test]
fn the_first_template_that_makes_a_uri_has_it() {
    let mut templates = Templates::new();
    assert!(templates.insert(ResourceTemplate::new("x:{a}", "")).is_err());
    assert!(templates.insert(ResourceTemplate::new("x:{+a}", "n")).unwrap_err().message.contains("x:{+a}"));
    for template in ["x:{a}/{b}", "x:{c}/{d}{?e}", "x:{f}"] {
        templates.insert(ResourceTemplate::new(template, "n")).unwrap();
    }
    let read = |uri: &str| {
        let read = templates.find(uri, |_| true)?;
        assert_eq!(read.uri, uri);
        assert_eq!(read.variable("nobody"), None);
        Some(read.variables().map(|(name, value)| alloc::format!("{name}={value}")).collect::<Vec<_>>())
    };
    assert_eq!(read("x:1/2").unwrap(), ["a=1", "b=2"]);
    assert_eq!(read("x:1/2?e=3").unwrap(), ["c=1", "d=2", "e=3"]);
    assert_eq!(read("x:1").unwrap(), ["f=1"]);
    assert_eq!(read("x:1/2/3"), None);
    assert_eq!(templates.find("x:1/2?f=3", |_| true).unwrap().variable("e"), None);
}
