//! The vocabulary of the protocol, one file a feature.
