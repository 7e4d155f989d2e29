//! What every object of the vocabulary has: setters, and for open ones a decoder that keeps the rest.

/// Setters by value, one a field. An optional field is set to `Some`.
macro_rules! setters {
    ($name:ident { $($rest:tt)* }) => {
        impl $name {
            setters!(@each $($rest)*);
        }
    };
    (@each $field:ident?: $type:ty $(, $($rest:tt)*)?) => {
        #[doc = concat!("With the field `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = Some($field.into());
            self
        }
        setters!(@each $($($rest)*)?);
    };
    (@each $field:ident: $type:ty $(, $($rest:tt)*)?) => {
        #[doc = concat!("With the field `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = $field.into();
            self
        }
        setters!(@each $($($rest)*)?);
    };
    (@each) => {};
}

/// `Deserialize` for an object with an `extra` field that keeps members not listed (RPC-10).
///
/// A `required` field has to be there. An `optional` one takes its default when absent or `null`; a
/// `verbatim` one is JSON that counts as present when `null`. `ignored` members belong to the envelope.
macro_rules! open_object {
    ($name:ident {
        required { $($req_key:literal => $req:ident,)* }
        optional { $($opt_key:literal => $opt:ident,)* }
        $(verbatim { $($raw_key:literal => $raw:ident,)* })?
        $(ignored { $($skip:literal,)* })?
    }) => {
        impl $name {
            const KNOWN: &'static [&'static str] =
                &[$($req_key,)* $($opt_key,)* $($($raw_key,)*)? $($($skip,)*)?];
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        $(let mut $req = None;)*
                        $(let mut $opt = None;)*
                        $($(let mut $raw = None;)*)?
                        let mut extra = crate::model::json::JsonMap::new();
                        while let Some(crate::model::decode::Key(key)) = map.next_key()? {
                            match &*key {
                                $($req_key => $req = Some(map.next_value()?),)*
                                $($opt_key => $opt = map.next_value()?,)*
                                $($($raw_key => $raw = Some(map.next_value()?),)*)?
                                $($($skip => { map.next_value::<serde::de::IgnoredAny>()?; })*)?
                                _ => { extra.insert(key.into_owned(), map.next_value()?); }
                            }
                        }
                        Ok($name {
                            $($req: $req.ok_or_else(|| serde::de::Error::missing_field($req_key))?,)*
                            $($opt: $opt.unwrap_or_default(),)*
                            $($($raw,)*)?
                            extra,
                        })
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
}

pub(crate) use {open_object, setters};
