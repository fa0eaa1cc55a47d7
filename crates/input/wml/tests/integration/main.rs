//! Filebench's language, construct by construct.

mod constructs;
