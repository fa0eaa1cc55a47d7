//! QEMU's cache modes of a virtual disk.

/// How a virtual disk's image is opened: the table of `qemu-system(1)`, `cache=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheMode {
    /// Its word, as QEMU, libvirt and Proxmox VE have it.
    pub word: &'static str,
    /// Whether the host's page cache is used (`cache.direct=off`); else the image is
    /// opened with O_DIRECT.
    pub page_cache: bool,
    /// Whether the guest is told of a write cache, which it must flush
    /// (`cache.writeback=on`); else each write is followed by a flush before it completes.
    pub write_cache: bool,
    /// Whether the guest's flushes are ignored (`cache.no-flush=on`).
    pub ignores_flushes: bool,
}

const fn mode(
    word: &'static str,
    page_cache: bool,
    write_cache: bool,
    ignores_flushes: bool,
) -> CacheMode {
    CacheMode { word, page_cache, write_cache, ignores_flushes }
}

impl CacheMode {
    /// All of them, by their words.
    pub const ALL: [(&'static str, Self); 5] = [
        ("none", mode("none", false, true, false)),
        ("writethrough", mode("writethrough", true, false, false)),
        ("writeback", mode("writeback", true, true, false)),
        ("directsync", mode("directsync", false, false, false)),
        ("unsafe", mode("unsafe", true, true, true)),
    ];

    /// The mode with this word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, mode)| *mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_is_found_by_its_word() {
        for (word, mode) in CacheMode::ALL {
            assert_eq!(CacheMode::by_word(word), Some(mode));
            assert_eq!(mode.word, word);
        }
        assert_eq!(CacheMode::by_word("write-back"), None);
    }
}
