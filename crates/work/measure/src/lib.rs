//! Asks the machine: device counters, CPU time, the environment, SMART. What it
//! finds goes into the sample of a cell (`disklab-sample`), which all later stages read.

mod block;
mod conditions;
mod counters;
mod drive_state;
mod environment;
mod error;
// For tests, of other crates too. Behind a feature, everything that depends on this crate
// would be compiled twice: for the program, and for the tests.
mod background;
#[doc(hidden)]
pub mod fabricated;
mod facts;
mod file_use;
mod foundation;
mod host;
mod loops;
mod medium;
mod meter;
mod mounts;
mod openers;
mod processors;
mod root;
mod served;
mod share;
mod smart;
mod tools;
mod totals;
mod write_cache;

pub use block::{BlockDevice, btrfs_families, devices_under};
pub use conditions::{ConditionsWatch, DriveTraits, file_data};
pub use counters::{Counters, SECTOR_BYTES, parse_diskstats};
pub use drive_state::{Identity, drive_state, drive_state_with_smart, identity};
pub use environment::{
    cell_environment, close_cell_environment, environment, environment_in, mounts_of,
};
pub use error::{CacheRefusal, MeasureError};
pub use facts::load_average;
pub use file_use::{FileUse, FileUses};
pub use foundation::{Foundation, FoundationLevel, foundation};
pub use loops::LoopBacking;
pub use medium::MEDIUM_DIRECTORY;
pub use meter::{Meter, NamedDevice, StepMeasurement};
pub use mounts::{Mount, mount_of, mounts, parse_mountinfo, unescape};
pub use openers::{Opener, fill_cache, has_cached, openers};
pub use processors::ProcessorTime;
pub use root::SystemRoot;
pub use served::{host_of, volume_of};
pub use share::round_trip;
pub use smart::smart;
pub use tools::{tool_version, tool_versions};
pub use totals::Totals;
pub use write_cache::{cache_switch, set_write_cache, write_cache};
