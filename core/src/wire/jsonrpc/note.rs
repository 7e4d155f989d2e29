//! The members of `params`, noted while a message is read.

use super::raw;
use super::scan::{Broken, Cursor};
use serde_json::value::RawValue;

/// Notes members of `params` and of its `_meta`. Every request is looked at for a few of them, and going through a
/// message costs more than anything else that is done about a short one, so it is done once.
pub(crate) trait Note<'a>: Sized {
    /// A member of `params`. The members of `_meta` come before itself.
    fn param(&mut self, name: &str, value: &'a RawValue);

    /// A member of `_meta`.
    fn meta(&mut self, name: &str, value: &'a RawValue);

    /// Goes through `params` that were read before.
    fn note(&mut self, params: &'a RawValue) {
        // It is JSON, however deep it nests, so it is read to its end.
        let _ = self::params(&mut Cursor::new(params.get(), usize::MAX), self);
    }
}

/// Notes nothing.
impl<'a> Note<'a> for () {
    fn param(&mut self, _: &str, _: &'a RawValue) {}

    fn meta(&mut self, _: &str, _: &'a RawValue) {}
}

/// Takes the value of `params`, whatever it is.
pub(super) fn params<'a>(cursor: &mut Cursor<'a>, note: &mut impl Note<'a>) -> Result<&'a str, Broken> {
    members(cursor, &mut |cursor, name| {
        let value = if name == "_meta" {
            members(cursor, &mut |cursor, name| {
                let value = cursor.value()?;
                raw::lend(value).into_iter().for_each(|value| note.meta(name, value));
                Ok(())
            })?
        } else {
            cursor.value()?
        };
        raw::lend(value).into_iter().for_each(|value| note.param(name, value));
        Ok(())
    })
}

/// Takes a value; if it is an object, `member` takes the value of each member. A name that is no text is nobody's.
fn members<'a>(
    cursor: &mut Cursor<'a>,
    member: &mut impl FnMut(&mut Cursor<'a>, &str) -> Result<(), Broken>,
) -> Result<&'a str, Broken> {
    if cursor.peek() != Some(b'{') {
        return cursor.value();
    }
    cursor.object(|cursor, name| member(cursor, name.decode().as_deref().unwrap_or_default()))
}
