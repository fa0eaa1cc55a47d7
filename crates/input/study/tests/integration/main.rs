//! Studies read from their text.

mod bounds;
mod load;
