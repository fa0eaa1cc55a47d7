//! The kinds of kernels that there are.

use super::linux::LinuxVersion;
use super::options::FRAGMENT;
use super::parts::Parts;
use super::zfs;

/// A kind of kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variant {
    /// What it is made from.
    pub version: LinuxVersion,
    /// Options that it has besides those of its parts.
    pub base: &'static str,
    pub parts: Parts,
    /// What is changed in OpenZFS, where the kernel has it.
    pub edits: &'static [zfs::Edit],
    /// Whether programs of the kernel's own are kept next to it.
    pub programs: bool,
    /// Objects of Linux 6.12 with the options besides those of parts, as one build made
    /// them. It only serves to guess how far the first build of a machine is.
    pub base_objects: u64,
    /// What a build takes in the cache directory while it lasts, with some to spare.
    pub needed_mib: u64,
}

impl Variant {
    /// All its options, as Kconfig writes them.
    pub fn fragment(&self) -> String {
        let all = self.base.to_owned() + &self.parts.fragment() + self.version.more_options();
        let always_on = self.version.always_on();
        if always_on.is_empty() {
            return all;
        }
        let is_on = |line: &&str| line.split('=').next().is_some_and(|n| always_on.contains(&n));
        all.lines().filter(|line| !is_on(line)).map(|line| format!("{line}\n")).collect()
    }

    /// Objects that its build makes from the beginning.
    pub fn objects(&self) -> u64 {
        self.base_objects + self.parts.objects()
    }

    /// The same of another version.
    pub fn of(self, version: LinuxVersion) -> Self {
        Self { version, ..self }
    }

    /// The same with other parts.
    pub fn with(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }
}

/// Linux with all that it has itself. Building it takes 740 MiB of source, 150 of
/// objects and, where it is fetched, 290 of packages.
pub(super) const PLAIN: Variant = Variant {
    version: LinuxVersion::V6_12,
    base: FRAGMENT,
    parts: Parts::ALL,
    edits: &[],
    programs: false,
    base_objects: 688,
    needed_mib: 1500,
};

/// The same with OpenZFS built in, and with OpenZFS's programs. A source that the
/// user names is copied, as OpenZFS changes it.
pub(super) const ZFS: Variant = Variant {
    base: concat!(
        include_str!("../../../../kernel/lab.config"),
        include_str!("../../../../kernel/zfs.config")
    ),
    edits: zfs::EDITS,
    programs: true,
    base_objects: 1022,
    needed_mib: 3000,
    ..PLAIN
};

/// What the kernel with OpenZFS has: all of `kernel`, as Kconfig writes it.
pub fn zfs_configuration() -> String {
    ZFS.fragment()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of it has everybody rebuild the kernel, and may move figures.
    #[test]
    fn default_kernel_has_the_options_of_the_files_and_no_others() {
        assert_eq!(PLAIN.fragment(), FRAGMENT.to_owned() + &Parts::ALL.fragment());
    }

    #[test]
    fn newer_kernel_has_the_same_but_for_what_it_cannot_have() {
        let [old, new] = LinuxVersion::ALL.map(|version| PLAIN.of(version).fragment());
        let dropped: Vec<&str> = old.lines().filter(|line| !new.contains(*line)).collect();
        assert_eq!(dropped, ["CONFIG_PREEMPT_NONE=y", "CONFIG_PROC_SYSCTL=y"]);
        assert!(new.ends_with("\nCONFIG_UML_MAX_USERSPACE_ITERATIONS=0\n"), "{new}");
    }
}
