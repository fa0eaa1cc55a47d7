//! The lab as its guest sees it: what runs inside a guest, and what guest and host have agreed on.
//!
//! The kernel starts a program of a page (`launcher`), and that the guest's first program, on the
//! host's file system, read-only; there is nothing else: no `/proc`, no devices, no place to write.
//! [`begin`] makes a place to work in, [`release_memory`] and [`fixed_start()`] have each cell begin
//! alike, and [`power_off`] is the last thing.
//!
//! The host's side (`lab`) takes from here what both must call by the same name: disks, directories,
//! words on the kernel's command line, and the [frames](Frame) on the console line.

mod dirty_pages;
mod fixed_start;
mod frame;
mod free_memory;
mod heap;
pub mod kept_memory;
mod kernel_threads;
mod launcher;
mod mappings;
mod memory;
mod mounts;
mod names;
pub mod queues;
mod replaced;
mod start;
mod work_began;

pub use dirty_pages::limit_dirty_pages;
pub use fixed_start::fixed_start;
pub use frame::{Frame, FrameError, Frames, PAYLOAD_BYTES, WINDOW_BYTES};
pub use free_memory::release_memory;
pub use launcher::launcher;
pub use mounts::{make_state_writable, mount_host, mount_shown};
pub use names::{
    DiskTransport, GUEST, KERNEL_DIRECTORY, LAB_DIRECTORY, LAB_ON_HOST, OPERATOR_LINE, PLACE,
    WORK_BEGAN, medium_file, on_host, replaced_file,
};
pub use replaced::replace_drive;
pub use start::{arguments, begin, power_off, set_environment};
pub use work_began::tell_work_began;
