//! Studies read from their text.

mod load;
