//! What the embedding application attaches to requests, by type.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Values of the application, one of each type. Empty ones take no memory, and clones share the values.
///
/// A server has those of [`Server::extension`](crate::Server::extension). A request over HTTP may bring more:
/// those that were given to [`ExchangeHandle::open_with`](crate::ExchangeHandle::open_with), which a tower
/// service does with the extensions of its request. Handlers find them in
/// [`Context::extensions`](crate::Context::extensions).
#[derive(Clone, Default)]
pub struct Extensions {
    values: Option<Arc<Values>>,
    #[cfg(feature = "http-types")]
    http: Option<Arc<http::Extensions>>,
}

type Values = BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>;

impl Extensions {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this value, in place of another one of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let values = self.values.get_or_insert_default();
        Arc::make_mut(values).insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let ours = self.values.as_ref().and_then(|values| values.get(&TypeId::of::<T>())?.downcast_ref());
        #[cfg(feature = "http-types")]
        return ours.or_else(|| self.http.as_ref()?.get());
        #[cfg(not(feature = "http-types"))]
        ours
    }

    /// With those of `others` whose types are not among these.
    #[cfg(feature = "http")]
    pub(crate) fn or(mut self, others: &Self) -> Self {
        match (&mut self.values, &others.values) {
            (_, None) => {}
            (values @ None, others) => values.clone_from(others),
            (Some(values), Some(others)) => {
                let values = Arc::make_mut(values);
                for (kind, value) in others.iter() {
                    values.entry(*kind).or_insert_with(|| value.clone());
                }
            }
        }
        #[cfg(feature = "http-types")]
        if self.http.is_none() {
            self.http.clone_from(&others.http);
        }
        self
    }
}

/// Those of a request or response, found as they are found there.
#[cfg(feature = "http-types")]
impl From<http::Extensions> for Extensions {
    fn from(extensions: http::Extensions) -> Self {
        Self { values: None, http: (!extensions.is_empty()).then(|| Arc::new(extensions)) }
    }
}

/// Prints how many there are: the values may be secrets.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.values.as_ref().map_or(0, |values| values.len());
        f.debug_struct("Extensions").field("values", &count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Extensions;

    #[derive(Debug, PartialEq)]
    struct Tenant(&'static str);

    /// One of each type; the later one counts, and what shares with it keeps what it had.
    #[test]
    fn values_are_found_by_their_type() {
        let first = Extensions::new().with(Tenant("a")).with(7_u32);
        let second = first.clone().with(Tenant("b"));
        assert_eq!((first.get::<Tenant>(), first.get::<u32>()), (Some(&Tenant("a")), Some(&7)));
        assert_eq!((second.get::<Tenant>(), second.get::<u32>()), (Some(&Tenant("b")), Some(&7)));
        assert_eq!(first.get::<u64>(), None);
        assert!(!format!("{first:?}").contains('a') || !format!("{first:?}").contains("Tenant"));
    }

    /// What a request brings comes before what the server has.
    #[cfg(feature = "http")]
    #[test]
    fn nearer_values_come_first() {
        let server = Extensions::new().with(Tenant("server")).with(7_u32);
        let both = Extensions::new().with(Tenant("request")).or(&server);
        assert_eq!((both.get::<Tenant>(), both.get::<u32>()), (Some(&Tenant("request")), Some(&7)));
        assert_eq!(Extensions::new().or(&server).get::<Tenant>(), Some(&Tenant("server")));
    }

    #[cfg(feature = "http-types")]
    #[test]
    fn extensions_of_a_request_are_found() {
        let mut theirs = http::Extensions::new();
        theirs.insert(5_u8);
        let extensions = Extensions::from(theirs).or(&Extensions::new().with(6_u8).with(7_u16));
        assert_eq!((extensions.get::<u8>(), extensions.get::<u16>()), (Some(&6), Some(&7)));
    }
}
