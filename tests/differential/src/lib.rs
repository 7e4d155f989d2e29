//! Bodies of fuzz targets that read the same bytes twice: by our parser, and by one that others wrote. What ours takes,
//! theirs has to take as well, and for the same; what ours refuses, theirs may take. A difference between two readers of
//! one stream is where requests are smuggled.

mod http1;
mod sse;

pub use http1::{fuzz_requests, fuzz_responses};
pub use sse::fuzz_events;
