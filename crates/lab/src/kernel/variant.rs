//! The kinds of kernels that there are.

use super::options::FRAGMENT;
use super::zfs;

/// A kind of kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variant {
    /// Its options.
    pub fragment: &'static str,
    /// What is changed in OpenZFS, where the kernel has it.
    pub edits: &'static [zfs::Edit],
    /// Whether programs of the kernel's own are kept beside it.
    pub programs: bool,
    /// Objects of Linux 6.12 with these options, as one build made them. It only
    /// serves to guess how far the first build of a machine is.
    pub usual_objects: u64,
    /// What a build takes in the cache folder while it lasts, with some to spare.
    pub needed_mib: u64,
}

/// Linux with all that it has itself. Building it takes 740 MiB of source, 150 of
/// objects and, where it is fetched, 290 of packages.
pub(super) const PLAIN: Variant = Variant {
    fragment: FRAGMENT,
    edits: &[],
    programs: false,
    usual_objects: 1151,
    needed_mib: 1500,
};

/// The same with OpenZFS built in, and with OpenZFS's programs. A source that the
/// user names is copied, as OpenZFS changes it.
pub(super) const ZFS: Variant = Variant {
    fragment: ZFS_FRAGMENT,
    edits: zfs::EDITS,
    programs: true,
    usual_objects: 1485,
    needed_mib: 3000,
};

/// What the kernel with OpenZFS has: `kernel/lab.config` and `kernel/zfs.config`,
/// as Kconfig writes it.
pub const ZFS_FRAGMENT: &str = concat!(
    include_str!("../../../../kernel/lab.config"),
    include_str!("../../../../kernel/zfs.config")
);
