//! What differs between the revisions, as data.
