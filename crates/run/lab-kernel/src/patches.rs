//! The changes to the kernel's source.

/// A change to the source; one that the user names may not take it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    /// The file's path below `kernel/patches`.
    pub name: &'static str,
    /// The patch, for `patch -p1`.
    pub text: &'static str,
}

impl Patch {
    /// The files that it changes.
    pub fn files(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.lines().filter_map(|line| Some(line.strip_prefix("+++ ")?.split_once('/')?.1))
    }
}

/// The patch of this name.
macro_rules! patch {
    ($name:literal) => {
        Patch { name: $name, text: include_str!(concat!("../../../../kernel/patches/", $name)) }
    };
}

/// The patches of Linux 6.12, in their order.
pub(super) const PATCHES_6_12: &[Patch] = &[
    patch!("entropy.patch"),
    patch!("clock.patch"),
    patch!("devices.patch"),
    patch!("processor.patch"),
    patch!("speed.patch"),
    patch!("checksums.patch"),
    patch!("registers.patch"),
    patch!("way.patch"),
    patch!("numbers.patch"),
    patch!("tags.patch"),
    patch!("memory.patch"),
    patch!("stops.patch"),
    patch!("kicks.patch"),
    patch!("kept.patch"),
    patch!("vdso.patch"),
    patch!("queues.patch"),
    patch!("hz.patch"),
    patch!("looks.patch"),
    patch!("shelves.patch"),
    patch!("depth.patch"),
    patch!("flushes.patch"),
    patch!("timeouts.patch"),
];

/// Those of Linux 7.3.
pub(super) const PATCHES_7_3: &[Patch] = &[
    patch!("7.3/entropy.patch"),
    patch!("7.3/clock.patch"),
    patch!("7.3/devices.patch"),
    patch!("7.3/processor.patch"),
    patch!("7.3/speed.patch"),
    patch!("7.3/checksums.patch"),
    patch!("7.3/spinning.patch"),
    patch!("7.3/numbers.patch"),
    patch!("7.3/tags.patch"),
    patch!("7.3/memory.patch"),
    patch!("7.3/kicks.patch"),
    patch!("7.3/registers.patch"),
    patch!("7.3/children.patch"),
    patch!("7.3/faults.patch"),
    patch!("7.3/getcpu.patch"),
    patch!("7.3/kept.patch"),
    patch!("7.3/queues.patch"),
    patch!("7.3/hz.patch"),
    patch!("7.3/looks.patch"),
    patch!("7.3/shelves.patch"),
    patch!("7.3/depth.patch"),
    patch!("7.3/flushes.patch"),
    patch!("7.3/timeouts.patch"),
    patch!("7.3/signs.patch"),
];
