//! Building the lab's kernel, and keeping it.
//!
//! The kernel is Linux for User-Mode Linux, with the options of `kernel/lab.config`, those
//! of the [`Parts`] that a study needs, and no others. [`ensure()`] builds it from Debian's
//! source package or from a directory, once for each version, source, compiler and configuration; its
//! objects are kept, so that a kernel with more parts compiles only these.
//! [`ensure_zfs`] builds another one, with OpenZFS in it and `kernel/zfs.config`
//! besides. They need no root, and change nothing outside their cache directory.

mod apt;
mod apt_problem;
#[cfg(test)]
mod apt_tests;
mod archives;
mod backports;
mod build;
mod cache;
mod cache_files;
#[cfg(test)]
mod differences;
mod digest;
mod ensure;
mod error;
mod failure;
pub mod fingerprint;
mod headers;
mod left_out;
mod linux;
mod make;
mod named;
mod options;
mod parts;
mod patches;
mod progress;
mod recipe;
mod source;
mod source_problem;
mod tools;
mod tree;
mod variant;
mod zfs;

pub use apt_problem::AptProblem;
pub use cache::{
    KERNEL_VARIABLE, ZfsKernel, cache_directory, check_cache, find, find_version, find_zfs,
};
pub use ensure::{build_time, check, check_processor, ensure, ensure_zfs, zfs_build_time};
pub use error::{KernelError, NamedProblem};
pub use left_out::{LeftOutPatch, left_out};
pub use linux::{LinuxChoice, LinuxVersion, SyscallInterception, UnknownLinux};
pub use named::NamedKernel;
pub use parts::{Parts, UnknownPart};
pub use progress::{BuildProgress, BuildStep};
pub use source::LinuxSource;
pub use source_problem::{LinuxProblem, ZfsProblem};
pub use variant::zfs_configuration;
pub use zfs::{ZFS_HOST, ZfsSource};
