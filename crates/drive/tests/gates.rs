//! The analytic gates: what any right model of a hard disk must do, computed apart
//! from the model, on every shipped drive.

mod common;

use common::{drives, expected_iops, random_iops, rate, rate_at, rewrite_turns, scan_seconds};
use disklab_drive::Operation::{Read, Write};
use disklab_drive::hdd::Parameters;

fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value / expected - 1.0).abs() <= tolerance
}

#[test]
fn random_reads_at_depth_1_cost_a_mean_seek_and_half_a_turn() {
    for (id, p) in drives() {
        let (iops, _) = random_iops(&p, Read, 1, p.capacity, 60_000);
        let expected = expected_iops(&p);
        assert!(near(iops, expected, 0.01), "{id}: {iops} IOPS, expected {expected}");
    }
}

#[test]
fn a_scan_of_the_drive_takes_its_capacity_over_the_mean_rate() {
    for (id, p) in drives() {
        // A link slower than the outer tracks would be the limit instead.
        assert!(p.link_rate > p.outer_rate, "{id}");
        let seconds = scan_seconds(&p, 16 << 20);
        let expected = p.capacity as f64 / f64::midpoint(p.outer_rate, p.inner_rate);
        assert!(near(seconds, expected, 0.01), "{id}: {seconds} s, expected {expected}");
    }
}

#[test]
fn throughput_over_position_follows_the_zones() {
    for (id, p) in drives() {
        for step in 0..=40 {
            let x = f64::from(step) / 40.0;
            let (measured, expected) = (rate_at(&p, x), rate(&p, x));
            assert!(near(measured, expected, 0.02), "{id} at {x}: {measured}, expected {expected}");
        }
    }
}

#[test]
fn without_write_cache_a_rewrite_costs_a_turn() {
    for (id, p) in drives() {
        let (same, next) = rewrite_turns(&p);
        assert!((same - 1.0).abs() < 1e-6, "{id}: {same} turns");
        // The next sectors come under the head by their own length later.
        let own = 4096.0 / (rate(&p, 0.5) * p.turn() as f64 * 1e-9);
        assert!((next - 1.0 - own).abs() < own * 0.2, "{id}: {next} turns, own length {own}");
    }
}

#[test]
fn queueing_gains_steadily() {
    for (id, p) in drives() {
        let ideal = Parameters { ncq_quality: 1.0, ..p };
        let iops: Vec<f64> = [1, 2, 4, 8, 16, 32]
            .into_iter()
            .map(|depth| random_iops(&ideal, Read, depth, ideal.capacity, 10_000).0)
            .collect();
        assert!(iops.windows(2).all(|pair| pair[0] < pair[1]), "{id}: {iops:?}");
        let gain = iops[5] / iops[0];
        assert!((2.3..=3.0).contains(&gain), "{id}: {gain}, {iops:?}");
    }
}

#[test]
fn a_better_queue_gains_more() {
    for (id, p) in drives() {
        let iops = [0.0, 0.5, 1.0].map(|ncq_quality| {
            random_iops(&Parameters { ncq_quality, ..p.clone() }, Read, 32, p.capacity, 6000).0
        });
        assert!(iops[0] < iops[1] && iops[1] < iops[2], "{id}: {iops:?}");
        let (single, _) = random_iops(&p, Read, 1, p.capacity, 6000);
        // In the order of coming, only the controller's overhead is hidden.
        assert!(near(iops[0], single, 0.05), "{id}: {iops:?}, depth 1: {single}");
    }
}

/// The figures of a throw-away model, written apart from this one, that the
/// parameters were gathered with: random reads of the whole drive at depths 1, 4
/// and 32. There the controller's overhead was not hidden behind the medium's work,
/// and a request that took another's place could be chosen at once; here it is
/// understood first, so depth 4 offers three to choose from. Hence the tolerances.
#[test]
fn agrees_with_another_model_of_the_same_drives() {
    for (id, expected) in [
        ("hdn721010ale604", [82.0, 121.0, 223.0]),
        ("wd40efrx-68n32n0", [61.0, 87.0, 154.0]),
        ("st3500418as", [79.0, 116.0, 211.0]),
        ("st8000as0002", [59.0, 87.0, 151.0]),
        ("md04aca400", [79.0, 116.0, 213.0]),
    ] {
        let (_, p) = drives().into_iter().find(|(drive, _)| *drive == id).unwrap();
        let ideal = Parameters { ncq_quality: 1.0, ..p };
        for ((depth, tolerance), expected) in
            [(1, 0.02), (4, 0.08), (32, 0.05)].into_iter().zip(expected)
        {
            let (iops, _) = random_iops(&ideal, Read, depth, ideal.capacity, 10_000);
            assert!(near(iops, expected, tolerance), "{id} at depth {depth}: {iops}, {expected}");
        }
    }
}

#[test]
fn the_write_cache_sorts_random_writes() {
    for (id, p) in drives() {
        let (cached, _) = random_iops(&p, Write, 1, p.capacity, 10_000);
        let uncached = Parameters { write_cache: false, ..p.clone() };
        let (uncached, drive) = random_iops(&uncached, Write, 1, p.capacity, 2000);
        assert!(cached > 3.0 * uncached, "{id}: {cached} and {uncached}");
        let written = disklab_drive::Drive::statistics(&drive).bytes_to_medium;
        assert_eq!(written % 4096, 0, "{id}");
    }
}
