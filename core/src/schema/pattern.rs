//! Regular expressions of ECMA-262, as JSON Schema has them, in time linear in the text: no backtracking. So there
//! is no looking around and no referring back.

#[cfg(feature = "jsonschema")]
mod translate;

use alloc::string::String;

/// As much as one compiled expression may take, and again while it is used. Most take no more than the first.
#[cfg(feature = "jsonschema")]
const SIZES: [usize; 2] = [16 << 10, 256 << 10];

#[derive(Clone)]
pub(super) struct Pattern {
    #[cfg(feature = "jsonschema")]
    pub(super) source: String,
    #[cfg(feature = "jsonschema")]
    regex: regex::Regex,
}

#[cfg(feature = "jsonschema")]
impl Pattern {
    /// Takes what it needs from `room`, in bytes. The error says why, for whoever wrote the pattern.
    pub(super) fn new(source: &str, room: &mut usize) -> Result<Self, String> {
        let refused = |why: &str| alloc::format!("the pattern cannot be used: {why}");
        let translated = translate::translate(source).map_err(refused)?;
        for size in SIZES {
            let held = 2 * size;
            if held > *room {
                return Err(refused("with the others of the schema it is too large"));
            }
            let mut builder = regex::RegexBuilder::new(&translated);
            match builder.size_limit(size).dfa_size_limit(size).nest_limit(64).build() {
                Ok(regex) => {
                    *room -= held;
                    return Ok(Self { source: source.into(), regex });
                }
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => {
                    return Err(refused("it is no regular expression that can be matched in linear time"));
                }
            }
        }
        Err(refused("it is too large"))
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

#[cfg(not(feature = "jsonschema"))]
impl Pattern {
    /// Without checks of values, nobody matches it.
    pub(super) fn new(_: &str, _: &mut usize) -> Result<Self, String> {
        Ok(Self {})
    }
}
