//! Bodies: their ends found and marked.

mod chunked;
mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub(super) use decode::Decoder;
pub(super) use encode::Encoder;
