//! Studies read from their text.

mod bounds;
mod inputs;
mod load;
