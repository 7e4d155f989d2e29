use super::*;

fn names(labels: &[&str]) -> Vec<String> {
    name_all(labels.iter().copied()).into_iter().map(|(name, ..)| name).collect()
}

/// Names that every provider takes stay what they are; others are made from theirs, and lead back to the tool.
#[test]
fn names_are_what_providers_take_and_lead_back() {
    let long = "x".repeat(65);
    let labels = ["add", "a-b_9", "files.read", "server/tool", "7up", "", "größe", &long, "add"];
    let tools: Vec<Tool> = labels.iter().map(|label| Tool::new(*label, Json::empty_object())).collect();
    let functions = Functions::new(&tools);
    for label in labels {
        let name = functions.function(label).unwrap();
        assert!((1..=64).contains(&name.len()), "{name}");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')),
            "{name}"
        );
        assert!(!name.starts_with(|first: char| first.is_ascii_digit() || first == '-'), "{name}");
        assert_eq!(functions.tool(name), Some(label));
    }
    assert_eq!(functions.function("add"), Some("add"));
    assert_eq!(functions.function("a-b_9"), Some("a-b_9"));
    assert!(functions.function("files.read").unwrap().starts_with("files_read_"));
    assert_eq!((functions.function("gone"), functions.tool("gone")), (None, None));
    assert_eq!(functions.0.len(), 8, "the same label counts once");
}

/// A name does not depend on what other tools there are, and never takes that of another.
#[test]
fn names_are_stable_and_different() {
    let [alone] = &names(&["a.b"])[..] else { panic!() };
    assert_eq!(names(&["a/b", "a.b"])[1], *alone);
    let crowd = names(&["a.b", "a/b", alone]);
    assert_eq!(crowd[2], *alone, "who has a name keeps it");
    assert!(crowd[0] != crowd[1] && crowd[0] != *alone);
}
