//! Filebench's workload language WML. Pure: nothing here touches a file or a clock.

mod check;
mod error;
mod fileset;
mod flowop;
mod library;
pub mod output;
mod parse;
mod personality;
mod picks;
pub mod random;
mod system;
mod tree;
mod value;

pub use error::WmlError;
pub use fileset::{Fileset, FilesetId};
pub use flowop::{Action, Files, Finish, Flowop, Io, OpenHow, RowId, SLOTS};
pub use library::{BuiltIn, PERSONALITIES, find_personality};
pub use personality::{
    Command, DEFAULT_RUN_SECONDS, Dialect, Personality, Process, Quit, RunTime, Setting, Thread,
};
pub use picks::{Picks, Pool};
pub use system::SystemStep;
pub use tree::{MAX_ENTRIES, Tree, preallocated};
pub use value::{PerInstance, Value, Variable};

/// What is given from outside, in place of what the script says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Values of variables, by name (with or without the `$`): as if every `set`
    /// of the script gave this value. Written as in WML: `1000`, `16k`, `true`, a
    /// text.
    pub variables: Vec<(String, String)>,
    /// How long every `run` lasts.
    pub run_time: Option<std::time::Duration>,
}
