//! The server side.
