//! How much fits on unequal devices, by Btrfs's own rule: each chunk goes to
//! the devices with the most free space (`gather_device_info` and
//! `decide_stripe_size` in fs/btrfs/volumes.c).
//!
//! Chunks are small against devices, so they are taken as a fluid: devices
//! empty at steady rates, which change only when one meets another's level or
//! is full. So the answer takes a step per device, not one per chunk.

use disklab_units::Bytes;

use super::Profile;

/// Not used by Btrfs at the beginning of a device
/// (`BTRFS_DEVICE_RANGE_RESERVED`).
pub(super) const RESERVED: Bytes = Bytes::mib(1);

/// Levels nearer than this, in bytes, are one: rounding must not keep devices
/// apart that are equal.
const CLOSE: f64 = 1.0;

/// How much data fits on devices of these sizes next to the first metadata
/// chunk, and how many bytes go to each device per byte of data, on average
/// until all is full.
pub(super) fn allocate(sizes: &[Bytes], data: Profile, metadata: Profile) -> (Bytes, Vec<f64>) {
    let mut free: Vec<f64> =
        sizes.iter().map(|size| size.saturating_sub(RESERVED).0 as f64).collect();
    fill(&mut free, metadata, first_metadata(sizes, metadata));
    let before = free.clone();
    let fits = fill(&mut free, data, f64::INFINITY);
    let shares = before
        .iter()
        .zip(&free)
        .map(|(before, after)| if fits > 0.0 { (before - after) / fits } else { 0.0 })
        .collect();
    (Bytes(fits as u64).round_down(Bytes::kib(64)), shares)
}

/// The size of the first metadata chunk: 1 GiB on file systems over 50 GiB,
/// else 256 MiB; all its copies take a tenth of the whole at most
/// (`init_alloc_chunk_ctl` in btrfs-progs).
pub(super) fn first_metadata(sizes: &[Bytes], profile: Profile) -> f64 {
    let total: Bytes = sizes.iter().copied().sum();
    let chunk = if total > Bytes::gib(50) { Bytes::gib(1) } else { Bytes::mib(256) };
    let width = profile.width(sizes.len()).max(1);
    let tenth = total.0 as f64 / 10.0 * profile.data(width) / width as f64;
    tenth.min(chunk.0 as f64)
}

/// Allocates up to `wanted` bytes of data with this profile; lowers `free`, and
/// returns how much data was placed.
pub(super) fn fill(free: &mut [f64], profile: Profile, wanted: f64) -> f64 {
    let mut placed = 0.0;
    // Each step joins two levels or fills a device.
    for _ in 0..=2 * free.len() {
        let mut levels: Vec<f64> = free.to_vec();
        levels.sort_by(|a, b| b.total_cmp(a));
        let roomy = levels.iter().filter(|level| **level > CLOSE).count();
        let width = profile.width(roomy);
        let data_rate = profile.data(width);
        if width == 0 || data_rate <= 0.0 || placed >= wanted {
            break;
        }
        // The devices above the marginal level take part in each chunk; those
        // at it take turns.
        let margin = levels[width - 1];
        let above = levels.iter().filter(|level| **level > margin + CLOSE).count();
        let tied = levels.iter().filter(|level| (**level - margin).abs() <= CLOSE).count();
        let round = (width - above) as f64 / tied as f64;
        // Until the lowest above meets the margin, the margin meets the next
        // below, or the margin is full.
        let below = levels.iter().copied().find(|level| *level < margin - CLOSE).unwrap_or(0.0);
        let mut step = (margin - below) / round;
        if let Some(lowest) = levels[..above].last()
            && round < 1.0
        {
            step = step.min((lowest - margin) / (1.0 - round));
        }
        step = step.min((wanted - placed) / data_rate);
        for level in free.iter_mut() {
            if *level > margin + CLOSE {
                *level = (*level - step).max(0.0);
            } else if (*level - margin).abs() <= CLOSE {
                *level = (*level - step * round).max(0.0);
            }
        }
        placed += step * data_rate;
    }
    placed
}
