//! Filebench's workload language WML: scripts (*personalities*) become checked,
//! typed [`Personality`]s for a runner. Pure: nothing here touches a file, a clock or
//! a shell.
//!
//! Both dialects are read, Filebench 1.5 and 1.4.9 with its `usage`, `foreach`,
//! `define randvar`, `stats` and `set $a=$b*$c`. Errors have line and column, and
//! say what was expected. What is accepted without effect is in
//! [`Personality::notes`].
//!
//! # Reading
//!
//! ```
//! use disklab_wml::{Overrides, Personality, find_personality};
//!
//! let source = find_personality("fileserver").ok_or("not there")?.source();
//! let overrides = Overrides {
//!     variables: vec![("nfiles".to_owned(), "1000".to_owned())],
//!     run_time: Some(std::time::Duration::from_secs(10)),
//! };
//! let personality = Personality::read(&source, &overrides)?;
//! assert_eq!(personality.filesets[0].entries.fixed(), Some(1000));
//! assert_eq!(personality.processes[0].threads[0].instances.fixed(), Some(50));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Running
//!
//! Carry out [`Personality::commands`] in their order. There is at least one
//! [`ScriptCommand::Run`], and a [`ScriptCommand::CreateFiles`] before it.
//!
//! - **Files.** For each fileset draw a [`FilesetTree`], then [`preallocated`] says which
//!   files to make, in which order; [`Picks`] with those existing says what comes next
//!   during the run. The same with empty directories, and a [`PickPool`] of all inner
//!   directories for `listdir`. [`Fileset::name`] is safe as a directory's name;
//!   [`Fileset::path`] is only what the script wished.
//! - **Picking.** [`PickPool::pick`] gives an entry to one thread alone. Put it back as soon
//!   as the call on it is done (Filebench's BUSY): after opening an existing file into
//!   `existing`, after making one from `missing` into `existing`, after deleting one
//!   into `missing`; after a failure to where it came from. A file may be open many
//!   times: tell [`Picks::opened`] and [`Picks::closed`], and do not delete one that is
//!   open.
//! - **Values.** Each use of a [`Attribute`] draws anew; a [`PerInstance`] is drawn once
//!   when its thread starts. Draws cost nanoseconds and take no lock. Each thread has a
//!   [`random::Rng`] with a stream of its own, or all of a process share
//!   [`random::Rng::compat`].
//! - **Places.** [`random::random_offset`], or [`random::upstream_offset`] in `strict`.
//! - **Rows.** Flowops of one name share the row [`Flowop::row`]; a `target` names a
//!   row. State that belongs to one flowop (a semaphore, what a limit has counted) goes
//!   by [`Flowop::id`], for each thread instance.
//! - **Changes.** On [`ScriptCommand::Set`] call [`Variable::set`], then look at counts such
//!   as [`Thread::instances`] again; before a second pass call [`Personality::rewind`].
//! - **Shell.** [`ScriptCommand::System`] is never executed: do its [`SystemStep`]s.
//! - **Output.** [`output::Output`] writes what Filebench would.
//!
//! # Differences from Filebench
//!
//! Fixed, whatever `strict` says, as scripts that relied on them did not run: local
//! variables of composites have values; a name may be a word of the language or have
//! one letter; an unknown name, a variable that is not set, a `randtable` that is not
//! 100 % and an attribute given twice are errors before anything is touched; there are
//! no limits of 16 filesets and 16 random variables. Of a tabular variable without
//! `mean` the table's own mean counts. A directory that holds files and empty
//! directories numbers them on.

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

pub use check::MAX_THREADS;
pub use error::{OverrideProblem, WmlError};
pub use fileset::{Fileset, FilesetId};
pub use flowop::{Action, Finish, Flowop, FlowopFiles, Io, OpenHow, RowId, SLOTS};
pub use library::{BuiltIn, PERSONALITIES, find_personality};
pub use parse::lex::WmlNumberError;
pub use personality::{
    Assignment, DEFAULT_RUN_SECONDS, Dialect, Personality, Process, Quit, RunTime, ScriptCommand,
    Thread,
};
pub use picks::{PickPool, Picks};
pub use system::SystemStep;
pub use tree::{FilesetTree, MAX_ENTRIES, TreeError, preallocated};
pub use value::{Attribute, PerInstance, Variable};

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
