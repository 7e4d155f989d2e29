//! Decoding without guessing: tagged unions by their tag, open objects in one pass.
//!
//! `serde(flatten)` and `serde(untagged)` would buffer every value in a tree first, and could not keep raw
//! JSON; these do the same in one pass.

use super::json::Json;
use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a member, borrowed from the input where it holds no escapes.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A union whose variant is named by a member.
pub(crate) trait Tagged: Sized {
    /// The member that names the variant.
    const TAG: &'static str;
    /// What is expected, for errors.
    const EXPECTED: &'static str;

    /// Decodes the variant that `tag` names; `None` when there was no such member.
    fn variant<'de, A: MapAccess<'de>>(tag: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error>;
}

/// Reads the tag wherever it stands. When it comes first, as it nearly always does, nothing is buffered.
pub(crate) fn tagged<'de, D: Deserializer<'de>, T: Tagged>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);
    impl<'de, T: Tagged> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut buffered: Vec<(Cow<'de, str>, Json)> = Vec::new();
            let mut tag = None;
            while let Some(Key(name)) = map.next_key()? {
                if name != T::TAG {
                    buffered.push((name, map.next_value()?));
                    continue;
                }
                let value = map.next_value::<Key<'de>>()?.0;
                if buffered.is_empty() {
                    return T::variant(Some(&value), Rest::Unread(map));
                }
                tag = Some(value);
            }
            let members = buffered.iter().map(|(name, value)| (name, value));
            let text = serde_json::to_string(&Collected(members)).map_err(A::Error::custom)?;
            T::variant(tag.as_deref(), Rest::<A>::Buffered(text))
        }
    }
    deserializer.deserialize_map(Union(PhantomData))
}

/// The members of a tagged object other than its tag.
pub(crate) enum Rest<A> {
    /// Still to be read.
    Unread(A),
    /// Read before the tag was known: the same object again, as text.
    Buffered(String),
}

impl<'de, A: MapAccess<'de>> Rest<A> {
    /// Decodes them as a `T`.
    pub(crate) fn decode<T: DeserializeOwned>(self) -> Result<T, A::Error> {
        match self {
            Self::Unread(map) => T::deserialize(MapAccessDeserializer::new(map)),
            Self::Buffered(text) => serde_json::from_str(&text).map_err(A::Error::custom),
        }
    }
}

struct Collected<I>(I);

impl<'a, I: Iterator<Item = (&'a Cow<'a, str>, &'a Json)> + Clone> Serialize for Collected<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// A list in which an item that does not decode is left out. For decorations only, such as icons: one that
/// is malformed should not cost the tool that it decorates.
pub(crate) fn lenient_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let items = Option::<Vec<Json>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(items.iter().filter_map(|item| item.decode().ok()).collect())
}

/// A decoration that counts as absent when it does not decode.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(Json::deserialize(deserializer)?.decode().ok())
}

/// A value that counts as present even when it is `null` (TOOL-24).
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// A value that is the default when it is `null`.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
