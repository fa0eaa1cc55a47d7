//! Runs external programs, as they are, and keeps account of it.
//!
//! Every program that disklab starts goes through an [`Executor`]: its command
//! line lands in the [`Trace`], its CPU time is accounted, Ctrl-C stops
//! it and all that it started, it dies with disklab, and it inherits no descriptor that
//! is not its own. Nothing is ever passed through a shell.

mod capture;
mod check_directory;
mod error;
mod executor;
mod family;
mod guest;
mod held_directory;
mod inherited;
mod input_file;
mod interrupt;
mod invocation;
mod named_path;
mod named_path_error;
mod other_writers;
mod others_directory;
mod owner;
mod process_stat;
mod shared_error;
mod thread_cpu;
mod trace;
mod untrusted;
mod wait;
mod which;

pub use error::ExecError;
pub use executor::{Executor, Finished};
pub use guest::{BootClock, GuestFacts};
pub use held_directory::HeldDirectory;
pub use inherited::close_inherited;
pub use input_file::{
    LARGEST_TEXT, open_regular, read_file, read_file_below, read_input, read_start, read_text,
};
pub use interrupt::{Interrupt, Interrupted};
pub use invocation::Invocation;
pub use named_path::{follow_own_links, open_real_directory};
pub use named_path_error::NamedPathError;
pub use other_writers::OtherWriters;
pub use others_directory::{make_directories, refuse_others_content, refuse_others_directories};
pub use owner::{OWNER_VARIABLE, owner};
pub use process_stat::ProcessStat;
pub use shared_error::SharedError;
#[doc(hidden)]
pub use thread_cpu::thread_cpu_seconds;
pub use trace::Trace;
pub use untrusted::{LeftBehind, UntrustedDirectory};
pub use which::find_program;
