//! What a kernel has, by its configuration.

use std::collections::BTreeSet;

use crate::Need;

/// A kernel that is not running here.
#[derive(Debug)]
pub(super) struct Configured {
    /// Options that are built in.
    options: BTreeSet<String>,
    /// Programs that come with it.
    programs: Vec<&'static str>,
}

impl Configured {
    /// From a `.config` or a part of one, and the programs that come with it.
    pub fn new(text: &str, programs: &[&'static str]) -> Self {
        let built_in = text.lines().filter_map(|line| line.trim().strip_suffix("=y"));
        Self { options: built_in.map(str::to_owned).collect(), programs: programs.to_vec() }
    }

    /// Whether it has what is needed; `None` where that is not the kernel's to have.
    pub fn has(&self, need: &Need) -> Option<bool> {
        match need {
            Need::Program { name, .. } => self.programs.contains(name).then_some(true),
            need => Some(self.options.contains(&option(need)?)),
        }
    }
}

impl Need {
    /// The option that a kernel must have for it, such as `CONFIG_EXT4_FS`.
    pub fn kernel_option(&self) -> Option<String> {
        option(self)
    }
}

/// The option that is needed (`fs/*/Kconfig`, `drivers/md/Kconfig`).
fn option(need: &Need) -> Option<String> {
    let upper = |name: &str| name.to_uppercase().replace('-', "_");
    Some(match need {
        Need::FileSystem(name) => format!("CONFIG_{}_FS", upper(name)),
        Need::Md("raid4" | "raid5" | "raid6") => "CONFIG_MD_RAID456".to_owned(),
        Need::Md(personality) => format!("CONFIG_MD_{}", upper(personality)),
        // Parts of dm-mod itself (drivers/md/Makefile).
        Need::DeviceMapper("linear" | "striped" | "error") => "CONFIG_BLK_DEV_DM".to_owned(),
        Need::DeviceMapper("thin-pool") => "CONFIG_DM_THIN_PROVISIONING".to_owned(),
        Need::DeviceMapper(target) => format!("CONFIG_DM_{}", upper(target)),
        Need::Zfs => "CONFIG_ZFS".to_owned(),
        Need::Loop => "CONFIG_BLK_DEV_LOOP".to_owned(),
        Need::Program { .. } | Need::Root => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_under_their_names() {
        let kernel = Configured::new(
            "CONFIG_EXT4_FS=y\nCONFIG_NILFS2_FS=m\n# CONFIG_XFS_FS is not set\n\
             CONFIG_MD_RAID456=y\nCONFIG_MD_LINEAR=y\nCONFIG_BLK_DEV_DM=y\nCONFIG_DM_CRYPT=y\n\
             CONFIG_DM_THIN_PROVISIONING=y\n",
            &["zpool"],
        );
        for need in [
            Need::FileSystem("ext4"),
            Need::Md("raid6"),
            Need::Md("linear"),
            Need::DeviceMapper("crypt"),
            Need::DeviceMapper("linear"),
            Need::DeviceMapper("thin-pool"),
        ] {
            assert_eq!(kernel.has(&need), Some(true), "{need}");
        }
        for need in [
            Need::FileSystem("nilfs2"),
            Need::FileSystem("xfs"),
            Need::Md("raid10"),
            Need::DeviceMapper("integrity"),
            Need::Zfs,
            Need::Loop,
        ] {
            assert_eq!(kernel.has(&need), Some(false), "{need}");
        }
        let program = |name| Need::Program { name, package: "any" };
        assert_eq!(kernel.has(&program("zpool")), Some(true));
        // The others are the machine's.
        assert_eq!(kernel.has(&program("sh")), None);
        assert_eq!(kernel.has(&Need::Root), None);
    }
}
