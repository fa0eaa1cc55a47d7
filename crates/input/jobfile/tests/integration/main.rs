//! The options of job files, compared with their documentation.

mod docs;
