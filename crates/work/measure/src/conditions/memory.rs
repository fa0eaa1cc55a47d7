//! Swapping, from `/proc/vmstat` (kernel: mm/vmstat.c; man page proc_vmstat(5)).

use disklab_sample::MemoryActivity;

use crate::SystemRoot;

/// Counters since boot.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryCounts {
    pages_in: u64,
    pages_out: u64,
    killed: u64,
}

impl MemoryCounts {
    pub(super) fn read(root: &SystemRoot) -> Option<Self> {
        Self::parse(&root.text("/proc/vmstat")?)
    }

    /// None without the counters of swap, which a kernel without swap lacks.
    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(' ')?;
                (key == name).then(|| value.trim().parse::<u64>().ok())?
            })
        };
        Some(Self {
            pages_in: value("pswpin")?,
            pages_out: value("pswpout")?,
            killed: value("oom_kill").unwrap_or(0),
        })
    }

    pub(super) fn until_now(self, root: &SystemRoot) -> Option<MemoryActivity> {
        let now = Self::read(root)?;
        let page = rustix::param::page_size() as u64;
        let bytes = |now: u64, before: u64| now.saturating_sub(before).saturating_mul(page);
        Some(MemoryActivity {
            swapped_in: bytes(now.pages_in, self.pages_in),
            swapped_out: bytes(now.pages_out, self.pages_out),
            killed: now.killed.saturating_sub(self.killed),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn swapping_is_what_the_counters_grew_by() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        assert!(MemoryCounts::read(&tree.root()).is_none());
        tree.file("/proc/vmstat", "nr_free_pages 9\npswpin 10\npswpout 20\noom_kill 1\n");
        let before = MemoryCounts::read(&tree.root()).expect("counters");
        tree.file("/proc/vmstat", "nr_free_pages 9\npswpin 11\npswpout 24\noom_kill 1\n");
        let page = rustix::param::page_size() as u64;
        let grown = before.until_now(&tree.root()).expect("counters");
        assert_eq!(grown, MemoryActivity { swapped_in: page, swapped_out: 4 * page, killed: 0 });
    }

    proptest! {
        #[test]
        fn hostile_text_does_no_harm(text in "((pswpin|pswpout|oom_kill|x)? ?[0-9a-z-]{0,25}\n){0,6}") {
            let _ = MemoryCounts::parse(&text);
        }
    }
}
