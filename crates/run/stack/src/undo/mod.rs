//! Teardown: one file for each kind of thing.
//!
//! Each is safe to do twice, and makes sure that the thing is the one that was
//! entered: names such as `/dev/loop3` or `/dev/sdb` may mean something else by
//! the time a ledger is recovered.

mod btrfs;
mod detach_loop;
mod device_mapping;
mod devices;
mod file_identity;
mod inspect;
mod kinds;
mod mapping;
mod marks;
mod obstacle;
mod partitions;
mod pool;
mod program;
mod queue;
mod queue_setting;
mod remove;
mod stop_array;
mod teardown;
mod tree;
mod unmount;
mod users;
mod volume_group;
mod wipe_drive;
mod write_cache;

pub(crate) use marks::Marks;
pub(crate) use pool::{DATASET_NAME, POOL_MARK};
pub(crate) use program::started;
pub(crate) use queue::instance;
pub(crate) use teardown::TeardownContext;
pub(crate) use users::end_programs_of;
pub(crate) use volume_group::LOGICAL_VOLUME;

use devices::any_is_built_on;
use teardown::Teardown;

pub use btrfs::RemoveBtrfs;
pub use detach_loop::DetachLoop;
pub use device_mapping::DeviceMapping;
pub use file_identity::FileIdentity;
pub use kinds::Undo;
pub use mapping::{CloseCrypt, CloseIntegrity};
pub use obstacle::{Obstacle, UnseenContent};
pub use partitions::RemovePartitions;
pub use pool::DestroyPool;
pub use program::EndProgram;
pub use queue::RestoreQueue;
pub use queue_setting::QueueSetting;
pub use remove::{RemoveDirectory, RemoveFile};
pub use stop_array::StopArray;
pub use tree::RemoveTree;
pub use unmount::Unmount;
pub use volume_group::RemoveVolumeGroup;
pub use wipe_drive::WipeDrive;
pub use write_cache::RestoreWriteCache;
