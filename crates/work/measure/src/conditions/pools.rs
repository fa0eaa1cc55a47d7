//! ZFS: how far a pool compresses, whether it is whole or at work, and what its cache
//! (ARC) gave.

use std::time::Duration;

use disklab_exec::{Executor, Invocation};
use disklab_sample::{ArcActivity, Pool};

use crate::SystemRoot;

/// The cache's counters (OpenZFS: module/os/linux/spl/spl-kstat.c; arcstats).
const ARC: &str = "/proc/spl/kstat/zfs/arcstats";
/// Where each pool has a directory, with its state in a file.
const POOLS: &str = "/proc/spl/kstat/zfs";
const LIMIT: Duration = Duration::from_secs(60);

/// Counters since the module was loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArcCounts {
    hits: u64,
    misses: u64,
    bytes: u64,
}

impl ArcCounts {
    pub(super) fn read(root: &SystemRoot) -> Option<Self> {
        Self::parse(&root.text(ARC)?)
    }

    /// Lines of name, type and value.
    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            text.lines().find_map(|line| {
                let mut words = line.split_ascii_whitespace();
                (words.next()? == name).then(|| words.nth(1)?.parse::<u64>().ok())?
            })
        };
        Some(Self { hits: value("hits")?, misses: value("misses")?, bytes: value("size")? })
    }

    pub(super) fn until_now(self, root: &SystemRoot) -> Option<ArcActivity> {
        let now = Self::read(root)?;
        Some(ArcActivity {
            hits: now.hits.saturating_sub(self.hits),
            misses: now.misses.saturating_sub(self.misses),
            bytes: now.bytes,
        })
    }
}

/// The pools of this machine. Nothing is asked where the module is not loaded.
pub(super) fn pools(root: &SystemRoot, executor: &Executor) -> Vec<Pool> {
    let names = root.names(POOLS);
    let states = names.into_iter().filter_map(|name| {
        let state = root.value(format!("{POOLS}/{name}/state"))?;
        Some(Pool { name, state: Some(state), ..Pool::default() })
    });
    let mut pools: Vec<Pool> = states.collect();
    if pools.is_empty() {
        return pools;
    }
    let say = |program: &str, arguments: &[&str]| {
        let asked = Invocation::new(program).args(arguments).timeout(LIMIT);
        executor.run(&asked).map(|finished| finished.text()).unwrap_or_default()
    };
    let ratios = say("zfs", &["list", "-Hp", "-d", "0", "-o", "name,compressratio"]);
    for pool in &mut pools {
        pool.compression = ratio(&ratios, &pool.name);
        pool.at_work = at_work(&say("zpool", &["status", &pool.name]));
    }
    pools
}

/// `tank    1.52`, or `1.52x` of older versions.
fn ratio(text: &str, pool: &str) -> Option<f64> {
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('\t')?;
        (name == pool).then_some(value)
    })?;
    let ratio: f64 = value.trim().trim_end_matches('x').parse().ok()?;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// `scan: scrub in progress since …` (OpenZFS: cmd/zpool, print_scan_scrub_resilver_status).
fn at_work(status: &str) -> Option<String> {
    let scan = status.lines().find_map(|line| line.trim().strip_prefix("scan:"))?.trim();
    let (what, _) = scan.split_once(" in progress")?;
    Some(what.to_owned())
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn the_cache_is_counted() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        assert!(ArcCounts::read(&tree.root()).is_none());
        let text = |hits: u32| {
            format!("9 1 0x01 147\nname type data\nhits 4 {hits}\nmisses 4 7\nsize 4 4096\n")
        };
        tree.file(ARC, &text(10));
        let before = ArcCounts::read(&tree.root()).expect("counters");
        tree.file(ARC, &text(110));
        let arc = before.until_now(&tree.root());
        assert_eq!(arc, Some(ArcActivity { hits: 100, misses: 0, bytes: 4096 }));
    }

    #[test]
    fn pools_report_their_ratio_and_work() {
        assert_eq!(ratio("tank\t3.97\nother\t1.00\n", "tank"), Some(3.97));
        assert_eq!(ratio("tank\t1.52x\n", "tank"), Some(1.52));
        assert_eq!(ratio("tank\t-\n", "tank"), None);
        let busy = "  pool: t\n state: ONLINE\n  scan: scrub in progress since Sun\n";
        assert_eq!(at_work(busy).as_deref(), Some("scrub"));
        assert_eq!(at_work("  scan: scrub repaired 0B in 00:00:00\n"), None);
        assert_eq!(at_work("  pool: t\n"), None);
    }

    #[test]
    fn nothing_is_queried_without_a_pool() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        let executor = Executor::new(Interrupt::new());
        assert!(pools(&tree.root(), &executor).is_empty());
        assert!(executor.trace.entries().is_empty());
    }

    proptest! {
        #[test]
        fn hostile_text_does_no_harm(text in "((hits|misses|size|tank|scan:)?[\t ]?[0-9a-z .]{0,30}\n){0,8}") {
            let _ = (ArcCounts::parse(&text), ratio(&text, "tank"), at_work(&text));
        }
    }
}
