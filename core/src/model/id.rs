//! Strings or integers that a peer picks and has echoed.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! string_or_integer {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            /// An integer.
            Number(i64),
            /// A string.
            String(String),
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Number(number) => write!(f, "{number}"),
                    Self::String(text) => write!(f, "{text:?}"),
                }
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self::Number(number)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::String(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::String(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Number(number) => serializer.serialize_i64(*number),
                    Self::String(text) => serializer.serialize_str(text),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl Visitor<'_> for Either {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$name, E> {
                        Ok($name::Number(number))
                    }

                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$name, E> {
                        i64::try_from(number)
                            .map($name::Number)
                            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        Ok($name::String(text.to_owned()))
                    }

                    fn visit_string<E: de::Error>(self, text: String) -> Result<$name, E> {
                        Ok($name::String(text))
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}

string_or_integer! {
    /// Pairs a response with its request (RPC-03). Never `null` (RPC-04), and echoed with its type (RPC-07).
    RequestId, "a string or an integer as request id"
}

string_or_integer! {
    /// Pairs progress with the request that asked for it (PRG-01).
    ProgressToken, "a string or an integer as progress token"
}
