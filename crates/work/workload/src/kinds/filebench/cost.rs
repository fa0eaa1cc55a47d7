//! What a personality will cost.

use disklab_filebench::{ContentKind, Options};
use disklab_units::Bytes;
use disklab_wml::{Fileset, Flowop, Personality};

use crate::Cost;

/// What a pool of content takes (`disklab_content::POOL_BLOCKS` pages), and what a
/// file's last page takes besides, on average: it is a part of a page of the pool,
/// which is like no other.
const POOL: Bytes = Bytes::mib(4);
const LAST_PAGE: u64 = 2048;
/// What appends add to files until they are deleted: at most this share in the
/// shipped personalities, but for a margin.
const GROWTH: f64 = 1.15;
/// Making a file costs about so many positionings: its inode, its directory.
const SEEKS_PER_FILE: u64 = 2;

/// Bytes of all entries of a fileset, existing or not.
fn bytes(fileset: &Fileset) -> f64 {
    (fileset.entries.mean() * fileset.size.mean()).max(0.0)
}

/// Entries of all filesets, existing or not, and the bytes of all.
pub(super) fn entries(personality: &Personality) -> (f64, f64) {
    let files = personality.filesets.iter().map(|set| set.entries.mean()).sum();
    (files, personality.filesets.iter().map(bytes).sum())
}

pub(super) fn cost(personality: &Personality, options: &Options) -> Cost {
    let (files, all) = entries(personality);
    let share = |set: &Fileset| set.prealloc.mean().clamp(0.0, 100.0) / 100.0;
    let made: f64 = personality.filesets.iter().map(|set| bytes(set) * share(set)).sum();
    let space = Bytes((all * GROWTH) as u64);
    let content = match options.content {
        ContentKind::Pool => {
            let ends = Bytes((files as u64).saturating_mul(LAST_PAGE));
            Bytes((POOL + ends).0.min(space.0))
        }
        ContentKind::Random => space,
        ContentKind::Zeros => Bytes::ZERO,
    };
    let mut cost = Cost { space, content, prewrite: Bytes(made as u64), ..Cost::default() };
    match personality.run_time() {
        Some(time) => {
            cost.fixed_seconds = (time + options.warm_up).as_secs_f64();
            let writes = |flowop: &&Flowop| flowop.action.is_write();
            cost.writes_until_its_end = personality.flowops().iter().any(writes);
        }
        // It ends when all files have been dealt with.
        None => {
            cost.sequential_write = Bytes(all as u64);
            cost.sequential_read = Bytes(made as u64);
            cost.seeks = (files as u64).saturating_mul(SEEKS_PER_FILE);
        }
    }
    cost
}
