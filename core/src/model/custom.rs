//! Results of methods that the protocol does not define.

use super::encode::{Members, Object};
use super::json::Json;
use super::meta::Meta;
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};

/// The result of a method of an application's own: any object.
///
/// Towards modern revisions it gets `resultType: "complete"`, unless it has a `resultType` of its own, which an
/// extension may define (EXT-12), and `_meta` names the server as in every other result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomResult {
    /// Its members but `_meta`, in order.
    pub members: Vec<(String, Json)>,
    /// Metadata.
    pub meta: Meta,
}

impl CustomResult {
    /// The result that `json` is: an object, or `null` for one without members.
    ///
    /// # Errors
    ///
    /// When it is anything else.
    pub fn new(json: &Json) -> Result<Self, ApiMisuse> {
        let read: Option<Self> = json
            .decode()
            .map_err(|_| ApiMisuse::new("the result of a method must be an object, or nothing"))?;
        Ok(read.unwrap_or_default())
    }

    /// With `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }
}

impl Members for CustomResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        if !self.members.iter().any(|(name, _)| name == RESULT_TYPE) {
            to.complete()?;
        }
        self.members.iter().try_for_each(|(name, value)| to.member(name, value))
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

const RESULT_TYPE: &str = "resultType";

impl<'de> Deserialize<'de> for CustomResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Open;
        impl<'de> Visitor<'de> for Open {
            type Value = CustomResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CustomResult, A::Error> {
                let mut result = CustomResult::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "_meta" {
                        result.meta = map.next_value()?;
                    } else {
                        result.members.push((name, map.next_value()?));
                    }
                }
                Ok(result)
            }
        }
        deserializer.deserialize_map(Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Identified, In};
    use serde_json::to_string;

    fn result(text: &str) -> Result<CustomResult, ApiMisuse> {
        CustomResult::new(&Json::parse(text).unwrap())
    }

    /// EXT-12, RPC-09, META-19: members keep their order, and what every result has is added.
    #[test]
    fn a_result_of_ones_own_is_completed_towards_each_era() {
        let own = result(r#"{"z":1,"a":[null],"_meta":{"k":2}}"#).unwrap();
        let server = Json::parse(r#"{"name":"s"}"#).unwrap();
        let identified = Identified::new(&own, Some(&server));
        assert_eq!(
            to_string(&In(Revision::LATEST, &identified)).unwrap(),
            r#"{"resultType":"complete","z":1,"a":[null],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"},"k":2}}"#
        );
        assert_eq!(
            to_string(&In(Revision::LATEST_LEGACY, &identified)).unwrap(),
            r#"{"z":1,"a":[null],"_meta":{"k":2}}"#
        );
        let typed = result(r#"{"resultType":"acme"}"#).unwrap();
        assert_eq!(to_string(&In(Revision::LATEST, &typed)).unwrap(), r#"{"resultType":"acme"}"#);
    }

    #[test]
    fn nothing_is_an_empty_object_and_scalars_are_refused() {
        assert_eq!(to_string(&In(Revision::LATEST_LEGACY, &result("null").unwrap())).unwrap(), "{}");
        for wrong in ["1", "[]", "\"x\"", "true"] {
            assert!(result(wrong).is_err(), "{wrong}");
        }
    }
}
