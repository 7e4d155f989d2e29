//! Tasks of 2025-11-25.
