//! Regular expressions of ECMA-262, as JSON Schema has them, in time linear in the text: no backtracking. So there
//! is no looking around and no referring back.

#[cfg(feature = "jsonschema")]
mod translate;

use alloc::string::String;

/// As much as one compiled expression may take.
#[cfg(feature = "jsonschema")]
const SIZE: usize = 256 << 10;

#[derive(Clone)]
pub(super) struct Pattern {
    #[cfg(feature = "jsonschema")]
    pub(super) source: String,
    #[cfg(feature = "jsonschema")]
    regex: regex::Regex,
}

#[cfg(feature = "jsonschema")]
impl Pattern {
    /// The error says why, for whoever wrote the pattern.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let refused = |why: &str| alloc::format!("the pattern cannot be used: {why}");
        let translated = translate::translate(source).map_err(refused)?;
        let built = regex::RegexBuilder::new(&translated).size_limit(SIZE).nest_limit(64).build();
        let regex = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => refused("it is too large"),
            _ => refused("it is no regular expression that can be matched in linear time"),
        })?;
        Ok(Self { source: source.into(), regex })
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

#[cfg(not(feature = "jsonschema"))]
impl Pattern {
    /// Without checks of values, nobody matches it.
    pub(super) fn new(_: &str) -> Result<Self, String> {
        Ok(Self {})
    }
}
