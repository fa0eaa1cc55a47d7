//! Tests of the archive, in both databases.

mod archive;
mod hostile;
mod schema;
mod support;
