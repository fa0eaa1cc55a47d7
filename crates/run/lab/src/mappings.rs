//! How many mappings of memory the system allows a process.
//!
//! User-Mode Linux maps each page of its kernel's `vmalloc` area by itself. OpenZFS keeps its
//! buffers there: in a guest of 4 GiB with 40 jobs of random writes (`qiita-2014`), its kernel had
//! more than the 65,530 mappings that Linux allows by default (`vm.max_map_count`,
//! `DEFAULT_MAX_MAP_COUNT` in `include/linux/mm.h`), and panicked.

use disklab_units::Bytes;

/// Where the limit stands.
const FILE: &str = "/proc/sys/vm/max_map_count";
/// Memory of a guest with ZFS for each mapping that it may need, by the guest above.
const BYTES_PER_MAPPING: u64 = 64 << 10;

/// The system's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappingLimit(u64);

impl MappingLimit {
    /// This system's; `None` if it cannot be read.
    pub fn of_this_system() -> Option<Self> {
        std::fs::read_to_string(FILE).ok()?.trim().parse().ok().map(Self)
    }

    /// What to do if a guest with ZFS and so much memory may reach it.
    pub fn remedy(self, memory: Bytes) -> Option<String> {
        let needed = memory.0 / BYTES_PER_MAPPING;
        let enough = needed.saturating_mul(4);
        (self.0 < needed).then(|| {
            format!(
                "a guest with ZFS and {} of memory may need more mappings of memory than the {} that \
                 this system allows a process: `sudo sysctl vm.max_map_count={enough}`",
                memory.iec(),
                self.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_enough_for_small_guests_only() {
        let remedy = |memory| MappingLimit(65_530).remedy(memory);
        assert_eq!(remedy(Bytes::gib(1)), None);
        let large = remedy(Bytes::gib(4)).expect("too few");
        assert!(large.contains("65530") && large.contains("vm.max_map_count=262144"), "{large}");
        assert_eq!(MappingLimit(262_144).remedy(Bytes::gib(4)), None);
    }

    #[test]
    fn this_system_has_a_limit() {
        assert!(MappingLimit::of_this_system().is_some_and(|limit| limit.0 > 0));
    }
}
