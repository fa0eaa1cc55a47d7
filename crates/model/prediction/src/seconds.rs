//! How long a cell takes.

use disklab_workload::Cost;

use crate::stack_cost::StackCost;
use crate::{Medium, Simulation};

/// What one cell costs on a stack: its seconds.
pub(crate) fn cell_seconds(cost: &Cost, stack: &StackCost, medium: Medium) -> f64 {
    let work = Work::of(cost, stack, medium);
    let factor = if cost.paced { medium.paced_factor } else { medium.clock_factor };
    let measured = cost.fixed_seconds * factor
        + work.bytes / medium.bytes_per_second
        + work.requests * medium.seek_seconds
        + work.layout_seconds;
    let prewrite = work.prewrite / medium.bytes_per_second;
    let bounded = cost
        .at_most_seconds
        .map_or(measured, |limit| measured.min(limit * medium.clock_factor + prewrite));
    let around = medium.cell_seconds + work.making_seconds;
    around + bounded + cost.calls as f64 * medium.call_seconds
}

/// What of [`cell_seconds`] is for the drives and their stack. In the lab, a guest of its own makes
/// them, once for all work of a block.
pub(crate) fn making_seconds(stack: &StackCost, medium: Medium) -> f64 {
    Work::of(&Cost::default(), stack, medium).making_seconds
}

/// What drives are given by a cell.
struct Work {
    /// Bytes read and written, the prewriting included.
    bytes: f64,
    /// Bytes that are written before the measurement.
    prewrite: f64,
    /// Small requests that wait for the medium.
    requests: f64,
    /// Seconds for what the layout makes of writes.
    layout_seconds: f64,
    /// Seconds for drives and stack.
    making_seconds: f64,
}

impl Work {
    fn of(cost: &Cost, stack: &StackCost, medium: Medium) -> Self {
        let prewrite = cost.prewrite.0 as f64;
        let written = cost.written().0 as f64;
        let bytes = cost.sequential_read.0 as f64 + written;
        let seeks = cost.seeks as f64;
        let Some(simulation) = medium.simulation else {
            let making_seconds = stack.passes.length / medium.bytes_per_second;
            let layout_seconds = 0.0;
            return Self { bytes, prewrite, requests: seeks, layout_seconds, making_seconds };
        };
        let writes = cost.small_writes.min(cost.seeks) as f64;
        let moments = writes * simulation.writes_per_write * stack.small_write_moments();
        let copied = written * (stack.write_bytes - 1.0).max(0.0);
        let mut more = match stack.has_stripe_cache() {
            true => written * stack.write_bytes / simulation.stripe_bytes_per_second,
            false => copied / simulation.more_bytes_per_second,
        };
        if stack.is_imported {
            more += bytes / simulation.pool_bytes_per_second;
        }
        Self {
            bytes,
            prewrite,
            requests: seeks - writes,
            layout_seconds: moments * simulation.moment_seconds + more,
            making_seconds: medium.cell_seconds
                + simulation.making_seconds(stack)
                + stack.passes.content / medium.bytes_per_second,
        }
    }
}

impl Simulation {
    /// Seconds for drives and their stack.
    fn making_seconds(&self, stack: &StackCost) -> f64 {
        let rate = match stack.has_stripe_cache() {
            true => self.making_stripe_bytes_per_second,
            false => self.making_bytes_per_second,
        };
        stack.drives.saturating_sub(1) as f64 * self.drive_seconds
            + stack.making_bytes / rate
            + stack.passes.zeros / self.making_stripe_bytes_per_second
            + stack.making_moments * self.moment_seconds
    }
}

#[cfg(test)]
mod tests {
    use disklab_stack::{FirstPass, FormatWrites, PassKind};
    use disklab_units::Bytes;

    use super::*;
    use crate::testing::volume;

    /// That of a stack on drives of 10 TB, which writes so much to each of them when it is made.
    fn stack(layers: &str, drives: usize, bytes: f64, requests: f64) -> StackCost {
        let format = FormatWrites { bytes: vec![bytes; drives], requests, passes: Vec::new() };
        StackCost::new(&volume(layers, drives), &format, false)
    }

    fn cost() -> Cost {
        Cost {
            space: Bytes::gib(1),
            content: Bytes::mib(512),
            prewrite: Bytes::gib(1),
            sequential_read: Bytes::gib(2),
            seeks: 1000,
            ..Cost::default()
        }
    }

    /// As measured when one guest made the stack and did the work.
    fn in_one_guest(cost: &Cost, stack: &StackCost) -> f64 {
        cell_seconds(cost, stack, Medium::LAB) - Medium::LAB.cell_seconds
    }

    #[test]
    fn a_hard_disk_pays_for_seeks_and_bytes() {
        let seconds = cell_seconds(&cost(), &StackCost::SINGLE, Medium::HARD_DISK);
        let expected = 3.0 + 3.0 * 1_073_741_824.0 / 150e6 + 12.0;
        assert!((seconds - expected).abs() < 1e-6, "{seconds} {expected}");
    }

    #[test]
    fn a_runtime_bounds_the_measurement_but_not_the_prewriting() {
        let cost = Cost { at_most_seconds: Some(2.0), seeks: 1_000_000, ..cost() };
        let seconds = cell_seconds(&cost, &StackCost::SINGLE, Medium::HARD_DISK);
        assert!((seconds - (3.0 + 2.0 + 1_073_741_824.0 / 150e6)).abs() < 1e-6, "{seconds}");
    }

    #[test]
    fn virtual_seconds_are_short() {
        let cost = Cost { fixed_seconds: 36_000.0, ..Cost::default() };
        assert_eq!(cell_seconds(&cost, &StackCost::SINGLE, Medium::HARD_DISK), 36_003.0);
        assert!(cell_seconds(&cost, &StackCost::SINGLE, Medium::LAB) < 3700.0);
    }

    #[test]
    fn waiting_takes_time_but_in_the_lab() {
        let film = Cost { fixed_seconds: 3600.0, paced: true, seeks: 100, ..Cost::default() };
        let seconds = cell_seconds(&film, &StackCost::SINGLE, Medium::LAB);
        // A guest makes the stack, another one is measured.
        assert!((seconds - 2.0 * 0.5 - 0.02).abs() < 1e-9, "{seconds}");
        assert!(cell_seconds(&film, &StackCost::SINGLE, Medium::HARD_DISK) > 3600.0);
    }

    #[test]
    fn calls_cost_time_in_the_lab_only_and_are_not_bounded_by_its_clock() {
        let cost = Cost { at_most_seconds: Some(2.0), calls: 1_000_000, ..Cost::default() };
        let quiet = Cost { calls: 0, ..cost };
        let more = |medium| {
            cell_seconds(&cost, &StackCost::SINGLE, medium)
                - cell_seconds(&quiet, &StackCost::SINGLE, medium)
        };
        assert_eq!(more(Medium::HARD_DISK), 0.0);
        assert!((more(Medium::LAB) - 25.0).abs() < 1e-9);
    }

    #[test]
    fn a_pass_over_whole_devices_takes_its_time() {
        let pass = FirstPass {
            layer: "md-raid1",
            kind: PassKind::Resync,
            length: 4e12,
            read: 4e12,
            written: 4e12,
            zeros: false,
        };
        let cost_with = |pass: FirstPass| {
            let format = FormatWrites {
                bytes: vec![0.0, pass.written],
                passes: vec![pass],
                ..FormatWrites::default()
            };
            StackCost::new(&volume("md-raid1/ext4", 2), &format, false)
        };
        let none = stack("md-raid1/ext4", 2, 0.0, 0.0);
        let more = |pass: &FirstPass, medium| {
            let with = cell_seconds(&cost(), &cost_with(pass.clone()), medium);
            with - cell_seconds(&cost(), &none, medium)
        };
        // 7 h 24 min at 150 MB/s: both drives work at once.
        assert!((more(&pass, Medium::HARD_DISK) - 4e12 / 150e6).abs() < 1e-3);
        assert!((more(&pass, Medium::LAB) - 8e12 / 550e6).abs() < 1e-3);
        let zeros = FirstPass { zeros: true, ..pass };
        assert!((more(&zeros, Medium::LAB) - 8e12 / 2.5e9).abs() < 1e-3);
    }

    #[test]
    fn layouts_cost_requests_in_the_lab_only() {
        let cost = Cost { seeks: 1000, small_writes: 1000, ..Cost::default() };
        let raid5 = stack("md-raid5/ext4", 4, 0.0, 0.0);
        let seconds = |stack, medium: Medium| {
            let none = Cost { seeks: 0, small_writes: 0, ..cost };
            cell_seconds(&cost, stack, medium) - cell_seconds(&none, stack, medium)
        };
        let ratio = |medium| seconds(&raid5, medium) / seconds(&StackCost::SINGLE, medium);
        assert_eq!(ratio(Medium::HARD_DISK), 1.0);
        assert!((ratio(Medium::LAB) - 4.0).abs() < 1e-9, "two read, two are written");
    }

    #[test]
    fn making_a_stack_takes_as_long_alone_as_with_work() {
        let raid5 = stack("md-raid5/ext4", 4, 156e6, 13_970.0);
        let simulation = Medium::LAB.simulation.expect("the lab is simulated");
        let (made, moments) = (raid5.making_bytes, raid5.making_moments);
        let expected = Medium::LAB.cell_seconds
            + 3.0 * simulation.drive_seconds
            + made / simulation.making_stripe_bytes_per_second
            + moments * simulation.moment_seconds;
        let alone = making_seconds(&raid5, Medium::LAB);
        assert!((alone - expected).abs() < 1e-9, "{alone} {expected}");
        let nothing = cell_seconds(&Cost::default(), &raid5, Medium::LAB);
        assert!((nothing - alone - Medium::LAB.cell_seconds).abs() < 1e-9, "{nothing} {alone}");
    }

    #[test]
    fn parity_takes_its_share_of_each_byte_written() {
        let raid5 = stack("md-raid5/ext4", 4, 0.0, 0.0);
        let simulation = Medium::LAB.simulation.expect("the lab is simulated");
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let more = in_one_guest(&write, &raid5) - in_one_guest(&Cost::default(), &raid5);
        // Four drives are written for each three of data.
        let parity = 1_073_741_824.0 * 4.0 / 3.0 / simulation.stripe_bytes_per_second;
        let expected = 1_073_741_824.0 / Medium::LAB.bytes_per_second + parity;
        assert!((more - expected).abs() < 1e-9, "{more} {expected}");
    }

    /// Cells of `nas --quick` with ext4 on drives of 10 TB, CPU time next to that of the same
    /// workload on one drive (docs/validation/calibration.md). The constants are those of RAID 5 and
    /// of one drive; the others follow.
    #[test]
    fn layouts_take_as_long_as_measured() {
        let commits = Cost { seeks: 256, small_writes: 256, ..Cost::default() };
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let single = stack("ext4", 1, 133e6, 4657.0);
        for (layers, drives, made, requests, of_commits, of_write) in [
            ("md-raid5/ext4", 4, 156e6, 13_970.0, 3.7, 1.69),
            ("md-raid6/ext4", 4, 151e6, 9313.0, 2.9, 1.54),
            ("md-raid1/ext4", 2, 133e6, 4657.0, 1.44, 1.04),
            ("md-raid10/ext4", 4, 138e6, 9313.0, 2.67, 1.31),
        ] {
            let stack = stack(layers, drives, made, requests);
            for (cost, measured) in [(&commits, of_commits), (&write, of_write)] {
                let ratio = in_one_guest(cost, &stack) / in_one_guest(cost, &single) / measured;
                assert!((0.75..1.33).contains(&ratio), "{layers}: {ratio} of {measured}");
            }
        }
    }

    #[test]
    fn parity_costs_time_for_what_is_written_in_the_lab_only() {
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let on_four = |layers: &str| stack(layers, 4, 0.0, 0.0);
        let [mirror, raid5, raid6] =
            ["md-raid10/ext4", "md-raid5/ext4", "md-raid6/ext4"].map(on_four);
        let lab = |stack: &StackCost| in_one_guest(&write, stack);
        // RAID 5 writes fewer bytes than RAID 10, and takes longer.
        assert!(lab(&raid5) > 1.05 * lab(&mirror), "{} {}", lab(&raid5), lab(&mirror));
        assert!(lab(&raid6) > lab(&raid5), "{} {}", lab(&raid6), lab(&raid5));
        let plain = on_four("zfs-raidz2");
        assert!(lab(&plain) < lab(&raid5), "a pool has no stripe cache");
        let pool = StackCost { is_imported: true, ..plain };
        let rate = Medium::LAB.simulation.expect("the lab is simulated").pool_bytes_per_second;
        let cached = lab(&pool) - lab(&plain);
        assert!((cached - 1_073_741_824.0 / rate).abs() < 1e-9, "it has a cache of its own");
        // A journal of checksums doubles what is written, and makes no copies of parity.
        let journal = on_four("integrity/md-raid5/ext4");
        assert!(journal.has_stripe_cache() && journal.write_bytes > 2.0);
        let disk = |stack: &StackCost| cell_seconds(&write, stack, Medium::HARD_DISK);
        assert_eq!(disk(&raid5), disk(&mirror));
    }
}
