//! The page cache model: what holds whatever is read and written.

mod properties;
