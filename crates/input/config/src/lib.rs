//! TOML files that people write: studies, drives, processors, hosts. Every value knows its
//! place, so that an error shows the line and the column.
//!
//! Pure, and without a word of what such a file is about.

mod fields;
mod node;
mod serial;
mod setting;

pub use fields::Fields;
pub use node::{Key, Node, Value};
pub use setting::{ModelSetting, Setting};
