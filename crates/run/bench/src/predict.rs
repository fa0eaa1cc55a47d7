//! What a run will cost: time, bytes written, space.

use disklab_units::Bytes;
use disklab_workload::Cost;

use crate::LayoutCost;

/// What drives are like, for predictions before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Medium {
    /// Sequential bytes per second.
    pub bytes_per_second: f64,
    /// Seconds for one small operation at a random offset, or one that waits for
    /// the medium.
    pub seek_seconds: f64,
    /// Seconds for a system call of a program, where that is worth counting.
    pub call_seconds: f64,
    /// Seconds that a cell takes outside its workload.
    pub cell_seconds: f64,
    /// Seconds that the user waits for a second of a workload's own clock: less
    /// than one where time is virtual.
    pub clock_factor: f64,
    /// The same for a workload that waits for its own clock ([`Cost::paced`]).
    pub paced_factor: f64,
    /// What each drive and each request to it costs, if drives are simulated. Real ones work
    /// side by side, and what a layout does to time is not predicted.
    pub simulation: Option<Simulation>,
}

/// What simulating drives takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Seconds for each drive of a cell beyond the first.
    pub drive_seconds: f64,
    /// Bytes per second that making a stack writes, mostly zeros.
    pub making_bytes_per_second: f64,
    /// Seconds for a request while a stack is made, when nothing waits for it.
    pub making_request_seconds: f64,
    /// Requests for one small write that is durable, the file system's own included, for one
    /// that the layout would make of it.
    pub requests_per_write: f64,
    /// Bytes of data per second for each parity that is computed of them, apart from writing: md
    /// copies them into its stripe cache and gives them to the drives in pages.
    pub parity_bytes_per_second: f64,
    /// The same while a stack is made: zeros, in large pieces.
    pub making_parity_bytes_per_second: f64,
    /// How many times as long a request takes that reads or writes for a parity: md's thread
    /// handles each stripe again and again.
    pub parity_request_factor: f64,
}

impl Medium {
    /// A 7200 rpm disk: 150 MB/s over the whole surface, 12 ms a seek with half
    /// a revolution (the middle of the drives in the research notes).
    pub const HARD_DISK: Self = Self {
        bytes_per_second: 150e6,
        seek_seconds: 0.012,
        call_seconds: 0.0,
        cell_seconds: 3.0,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };
    /// A SATA or virtual solid-state drive.
    pub const SOLID_STATE: Self = Self {
        bytes_per_second: 400e6,
        seek_seconds: 0.0004,
        call_seconds: 0.0,
        cell_seconds: 0.7,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };

    /// A virtual machine's disk, which says that it rotates whatever lies below
    /// (virtio_blk and xen-blkfront leave the kernel's default).
    pub const VIRTUAL: Self = Self {
        bytes_per_second: 300e6,
        seek_seconds: 0.001,
        call_seconds: 0.0,
        cell_seconds: 0.7,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };

    /// The lab: what counts is the work of simulating. A guest boots and ends in
    /// about a second, an I/O of fio takes a fifth of a millisecond, data are drawn and copied
    /// at some 550 MB/s; a disk does some 200 I/Os in a second of its own time, and waiting
    /// takes none. As 160 cells of `nas` took on an idle machine with two processors
    /// (docs/validation/calibration.md, 'What a plan predicts'). A system
    /// call is caught by ptrace; with the switch to another program that it mostly is
    /// (PostgreSQL's clients and servers) it takes 25 µs.
    pub const LAB: Self = Self {
        bytes_per_second: 550e6,
        seek_seconds: 0.0002,
        call_seconds: 25e-6,
        cell_seconds: 0.9,
        clock_factor: 0.1,
        paced_factor: 0.0,
        simulation: Some(Simulation {
            drive_seconds: 0.2,
            making_bytes_per_second: 3e9,
            // ext4 on RAID 5 makes 55,900 of them, on one drive 4,657.
            making_request_seconds: 75e-6,
            requests_per_write: 3.0,
            parity_bytes_per_second: 400e6,
            making_parity_bytes_per_second: 1.5e9,
            parity_request_factor: 1.75,
        }),
    };

    /// By a drive's kernel name, such as `sda`, and what the kernel says of it.
    pub fn of(name: &str, rotational: Option<bool>) -> Self {
        if name.starts_with("vd") || name.starts_with("xvd") {
            Self::VIRTUAL
        } else if rotational == Some(true) {
            Self::HARD_DISK
        } else {
            Self::SOLID_STATE
        }
    }
}

/// What cells will cost together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prediction {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Bytes written to each of the study's drives.
    pub drive_writes: Vec<Bytes>,
    /// Largest space that one cell takes over all drives.
    pub space: Bytes,
    /// The same for content alone, without zeros and repeats.
    pub content: Bytes,
}

/// What one cell costs on a stack of this layout: its seconds.
pub fn cell_seconds(cost: &Cost, layout: &LayoutCost, medium: Medium) -> f64 {
    let work = Work::of(cost, layout, medium.simulation);
    let factor = if cost.paced { medium.paced_factor } else { medium.clock_factor };
    let measured = cost.fixed_seconds * factor
        + work.bytes / medium.bytes_per_second
        + work.requests * medium.seek_seconds;
    let prewrite = work.prewrite / medium.bytes_per_second;
    let bounded = cost
        .at_most_seconds
        .map_or(measured, |limit| measured.min(limit * medium.clock_factor + prewrite));
    let around = medium.cell_seconds + work.making_seconds + work.parity_seconds;
    around + bounded + cost.calls as f64 * medium.call_seconds
}

/// What drives are given by a cell.
struct Work {
    /// Bytes read and written, the prewriting included.
    bytes: f64,
    /// Bytes that are written before the measurement.
    prewrite: f64,
    /// Small requests.
    requests: f64,
    /// Seconds for drives and stack.
    making_seconds: f64,
    /// Seconds for the parities of what is written, the prewriting included.
    parity_seconds: f64,
}

impl Work {
    fn of(cost: &Cost, layout: &LayoutCost, simulation: Option<Simulation>) -> Self {
        let read = cost.sequential_read.0 as f64;
        let prewrite = cost.prewrite.0 as f64;
        let written = prewrite + cost.sequential_write.0 as f64 + cost.random_write.0 as f64;
        let seeks = cost.seeks as f64;
        let Some(simulation) = simulation else {
            return Self {
                bytes: read + written,
                prewrite,
                requests: seeks,
                making_seconds: 0.0,
                parity_seconds: 0.0,
            };
        };
        let writes = cost.small_writes.min(cost.seeks) as f64;
        let parities = f64::from(layout.parities);
        let parity_factor = if parities > 0.0 { simulation.parity_request_factor } else { 1.0 };
        let for_each_write =
            layout.small_write_requests * simulation.requests_per_write * parity_factor;
        let made = layout.making_bytes / layout.write_bytes;
        let more_drives = layout.drives.saturating_sub(1) as f64;
        Self {
            bytes: read + written * layout.write_bytes,
            prewrite: prewrite * layout.write_bytes,
            requests: seeks - writes + writes * for_each_write,
            making_seconds: more_drives * simulation.drive_seconds
                + layout.making_bytes / simulation.making_bytes_per_second
                + layout.making_requests * simulation.making_request_seconds
                + parities * made / simulation.making_parity_bytes_per_second,
            parity_seconds: parities * written / simulation.parity_bytes_per_second,
        }
    }
}

/// What a run costs. `cells` gives each cell's cost, that of its layout and, per drive, the
/// bytes written to it for one byte written to the stack.
pub fn predict<'a>(
    cells: impl IntoIterator<Item = (Cost, LayoutCost, &'a [f64])>,
    medium: Medium,
) -> Prediction {
    let mut total = Prediction::default();
    for (cost, layout, drive_writes) in cells {
        total.seconds += cell_seconds(&cost, &layout, medium);
        let written = cost.prewrite + cost.sequential_write + cost.random_write;
        total.drive_writes.resize(total.drive_writes.len().max(drive_writes.len()), Bytes::ZERO);
        let (mut space, mut content) = (Bytes::ZERO, Bytes::ZERO);
        for (sum, factor) in total.drive_writes.iter_mut().zip(drive_writes) {
            *sum += Bytes((written.0 as f64 * factor) as u64);
            // What lies on a drive at once: the data, and 2 % plus 32 MiB for
            // inode tables, journals and trees.
            let on_drive =
                |bytes: Bytes, more: Bytes| Bytes((bytes.0 as f64 * factor * 1.02) as u64) + more;
            if *factor > 0.0 {
                space += on_drive(cost.space, Bytes::mib(32));
                // Journals and tables are zeros, but for what is in use of them: up to a
                // thousandth of small files' data.
                content +=
                    on_drive(cost.content, Bytes(on_drive(cost.space, Bytes::ZERO).0 / 1000));
                content += Bytes::mib(8);
            }
        }
        total.space = total.space.max(space);
        total.content = total.content.max(content);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_hard_disk_pays_for_seeks_and_bytes() {
        let seconds = cell_seconds(&cost(), &LayoutCost::SINGLE, Medium::HARD_DISK);
        let expected = 3.0 + 3.0 * 1_073_741_824.0 / 150e6 + 12.0;
        assert!((seconds - expected).abs() < 1e-6, "{seconds} {expected}");
    }

    #[test]
    fn a_runtime_bounds_the_measurement_but_not_the_prewriting() {
        let cost = Cost { at_most_seconds: Some(2.0), seeks: 1_000_000, ..cost() };
        let seconds = cell_seconds(&cost, &LayoutCost::SINGLE, Medium::HARD_DISK);
        assert!((seconds - (3.0 + 2.0 + 1_073_741_824.0 / 150e6)).abs() < 1e-6, "{seconds}");
    }

    #[test]
    fn virtual_seconds_are_short() {
        let cost = Cost { fixed_seconds: 36_000.0, ..Cost::default() };
        assert_eq!(cell_seconds(&cost, &LayoutCost::SINGLE, Medium::HARD_DISK), 36_003.0);
        assert!(cell_seconds(&cost, &LayoutCost::SINGLE, Medium::LAB) < 3700.0);
    }

    #[test]
    fn waiting_takes_time_but_in_the_lab() {
        let film = Cost { fixed_seconds: 3600.0, paced: true, seeks: 100, ..Cost::default() };
        let seconds = cell_seconds(&film, &LayoutCost::SINGLE, Medium::LAB);
        assert!((seconds - 0.9 - 0.02).abs() < 1e-9, "{seconds}");
        assert!(cell_seconds(&film, &LayoutCost::SINGLE, Medium::HARD_DISK) > 3600.0);
    }

    #[test]
    fn calls_cost_time_in_the_lab_only_and_are_not_bounded_by_its_clock() {
        let cost = Cost { at_most_seconds: Some(2.0), calls: 1_000_000, ..Cost::default() };
        let quiet = Cost { calls: 0, ..cost };
        let more = |medium| {
            cell_seconds(&cost, &LayoutCost::SINGLE, medium)
                - cell_seconds(&quiet, &LayoutCost::SINGLE, medium)
        };
        assert_eq!(more(Medium::HARD_DISK), 0.0);
        assert!((more(Medium::LAB) - 25.0).abs() < 1e-9);
    }

    #[test]
    fn layouts_cost_requests_in_the_lab_only() {
        let cost = Cost { seeks: 1000, small_writes: 1000, ..Cost::default() };
        let raid5 = LayoutCost::new(&[1.0 / 3.0; 4], 1, &[100e6; 4], 0.0);
        let ratio = |medium| {
            let one = cell_seconds(&cost, &LayoutCost::SINGLE, medium) - medium.cell_seconds;
            (cell_seconds(&cost, &raid5, medium) - medium.cell_seconds) / one
        };
        assert_eq!(ratio(Medium::HARD_DISK), 1.0);
        // Four requests for one, each longer, and what four drives and the making take.
        assert!((7.0..9.5).contains(&ratio(Medium::LAB)), "{}", ratio(Medium::LAB));
    }

    #[test]
    fn parity_costs_time_for_what_is_written_in_the_lab_only() {
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let (mirror, raid5, raid6) = (
            LayoutCost::new(&[0.5; 4], 1, &[], 0.0),
            LayoutCost::new(&[1.0 / 3.0; 4], 1, &[], 0.0),
            LayoutCost::new(&[0.5; 4], 2, &[], 0.0),
        );
        let lab = |layout| cell_seconds(&write, layout, Medium::LAB);
        // As measured: RAID 5 writes fewer bytes than RAID 10, and takes longer.
        assert!(lab(&raid5) > 1.2 * lab(&mirror), "{} {}", lab(&raid5), lab(&mirror));
        assert!(lab(&raid6) > 1.3 * lab(&raid5), "{} {}", lab(&raid6), lab(&raid5));
        let disk = |layout| cell_seconds(&write, layout, Medium::HARD_DISK);
        assert_eq!(disk(&raid5), disk(&mirror));
    }

    #[test]
    fn writes_are_shared_out_over_drives() {
        let raid5 = [2.0 / 3.0 * 0.5; 4];
        let total = predict([(cost(), LayoutCost::SINGLE, &raid5[..]); 2], Medium::SOLID_STATE);
        assert_eq!(total.drive_writes.len(), 4);
        let each = (1_073_741_824.0_f64 / 3.0) as u64;
        assert!(total.drive_writes.iter().all(|w| w.0.abs_diff(2 * each) <= 2));
        assert!(total.space > Bytes::gib(1) && total.space < Bytes::gib(2));
        assert!(total.content > Bytes::mib(512) && total.content < Bytes::gib(1));
    }
}
