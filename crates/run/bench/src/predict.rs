//! What a run will cost: time, bytes written, space.

use disklab_stack::KeptWrites;
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

/// What simulating drives takes. What costs is less the request than the moment at which one
/// ends: virtual time stops there, and the thread that waits is woken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Seconds for each drive of a cell beyond the first.
    pub drive_seconds: f64,
    /// Bytes of data per second that a pool checks and copies through a cache of its own.
    pub pool_bytes_per_second: f64,
    /// Seconds for a moment at which small writes, or what they read for a parity, end.
    pub moment_seconds: f64,
    /// Small writes for one that is durable, the file system's own included.
    pub writes_per_write: f64,
    /// Bytes per second that layers write more than they are given, as copies or parity. Content
    /// is drawn and compressed once.
    pub more_bytes_per_second: f64,
    /// Bytes per second of data and parity that go through md's stripe cache, page by page.
    pub stripe_bytes_per_second: f64,
    /// Bytes per second that making a stack writes, mostly zeros, in large requests.
    pub making_bytes_per_second: f64,
    /// The same through md's stripe cache.
    pub making_stripe_bytes_per_second: f64,
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
    /// half a second, an I/O of fio takes a fifth of a millisecond, data are drawn and copied
    /// at some 550 MB/s; a disk does some 200 I/Os in a second of its own time, and waiting
    /// takes none. As 160 cells of `nas` took on an idle machine with two processors
    /// (docs/validation/calibration.md, 'What a plan predicts'). A system
    /// call is caught by ptrace; with the switch to another program that it mostly is
    /// (PostgreSQL's clients and servers) it takes 25 µs.
    pub const LAB: Self = Self {
        bytes_per_second: 550e6,
        seek_seconds: 0.0002,
        call_seconds: 25e-6,
        cell_seconds: 0.5,
        clock_factor: 0.1,
        paced_factor: 0.0,
        simulation: Some(Simulation {
            drive_seconds: 0.03,
            pool_bytes_per_second: 750e6,
            // ext4 on RAID 5 has 41,900 of them when it is made, on one drive 4,657.
            moment_seconds: 60e-6,
            writes_per_write: 3.0,
            more_bytes_per_second: 5e9,
            stripe_bytes_per_second: 4e9,
            making_bytes_per_second: 20e9,
            making_stripe_bytes_per_second: 2.5e9,
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

/// What cells will write together, and what they take at once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictedBytes {
    /// Bytes written to each of the study's drives.
    pub drive_writes: Vec<Bytes>,
    /// Largest space that one cell takes over all drives.
    pub space: Bytes,
    /// The same for content alone, without zeros and repeats.
    pub content: Bytes,
    /// The same with what was overwritten, where its place is never used again.
    pub content_with_old: Bytes,
    /// Whether cells write until their time is over, so that all of it is the least that they do.
    pub is_least: bool,
}

/// What a cell costs, and what its stack makes of what it writes.
#[derive(Debug, Clone, Copy)]
pub struct CellWrites<'a> {
    /// That of its workload.
    pub cost: Cost,
    /// Bytes written to each drive for one byte written to the stack.
    pub shares: &'a [f64],
    /// What the drives keep besides the data as they are at last.
    pub kept: KeptWrites,
    /// Bytes that making the stack writes to each drive.
    pub making: &'a [f64],
}

impl CellWrites<'_> {
    /// Bytes that the workload writes.
    fn written(&self) -> Bytes {
        self.cost.prewrite + self.cost.sequential_write + self.cost.random_write
    }

    /// Bytes on the drives that are neither zeros nor repeats, as they are at last, and with
    /// what was overwritten.
    fn contents(&self) -> [Bytes; 2] {
        let Cost { space, content, rewritten, .. } = self.cost;
        let KeptWrites { old_data, metadata, hides_repeats } = self.kept;
        let written = self.written();
        let data = if hides_repeats { space } else { content };
        let old = match (old_data, hides_repeats) {
            (false, _) => Bytes::ZERO,
            (true, false) => rewritten,
            (true, true) => written.saturating_sub(space),
        };
        // Journals and tables are zeros, but for what is in use of them: up to a thousandth of
        // small files' data.
        let tables = (space.0 as f64 * TREES / 1000.0).max(written.0 as f64 * metadata);
        [data, data + old].map(|data| {
            let on_drive = |(drive, share): (usize, &f64)| {
                let made = self.making.get(drive).filter(|_| hides_repeats).copied();
                let bytes = (data.0 as f64 * TREES + tables) * share + made.unwrap_or_default();
                Bytes(bytes as u64) + Bytes::mib(8)
            };
            let used = self.shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
            used.map(on_drive).sum()
        })
    }
}

/// Inode tables, journals and trees take 2 % next to the data, and 32 MiB.
const TREES: f64 = 1.02;

/// What one cell costs on a stack of this layout: its seconds.
pub fn cell_seconds(cost: &Cost, layout: &LayoutCost, medium: Medium) -> f64 {
    let work = Work::of(cost, layout, medium);
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
    fn of(cost: &Cost, layout: &LayoutCost, medium: Medium) -> Self {
        let prewrite = cost.prewrite.0 as f64;
        let written = prewrite + cost.sequential_write.0 as f64 + cost.random_write.0 as f64;
        let bytes = cost.sequential_read.0 as f64 + written;
        let seeks = cost.seeks as f64;
        let Some(simulation) = medium.simulation else {
            let making_seconds = layout.passes.length / medium.bytes_per_second;
            let layout_seconds = 0.0;
            return Self { bytes, prewrite, requests: seeks, layout_seconds, making_seconds };
        };
        let writes = cost.small_writes.min(cost.seeks) as f64;
        let moments = writes * simulation.writes_per_write * layout.small_write.moments();
        let copied = written * (layout.write_bytes - 1.0).max(0.0);
        let mut more = match layout.has_stripe_cache {
            true => written * layout.write_bytes / simulation.stripe_bytes_per_second,
            false => copied / simulation.more_bytes_per_second,
        };
        if layout.is_imported {
            more += bytes / simulation.pool_bytes_per_second;
        }
        Self {
            bytes,
            prewrite,
            requests: seeks - writes,
            layout_seconds: moments * simulation.moment_seconds + more,
            making_seconds: simulation.making_seconds(layout)
                + layout.passes.content / medium.bytes_per_second,
        }
    }
}

impl Simulation {
    /// Seconds for a cell's drives and its stack.
    fn making_seconds(&self, layout: &LayoutCost) -> f64 {
        let rate = match layout.has_stripe_cache {
            true => self.making_stripe_bytes_per_second,
            false => self.making_bytes_per_second,
        };
        layout.drives.saturating_sub(1) as f64 * self.drive_seconds
            + layout.making_bytes / rate
            + layout.passes.zeros / self.making_stripe_bytes_per_second
            + layout.making_moments * self.moment_seconds
    }
}

/// What a run writes and takes.
pub fn predict_bytes<'a>(cells: impl IntoIterator<Item = CellWrites<'a>>) -> PredictedBytes {
    let mut total = PredictedBytes::default();
    for cell in cells {
        let written = cell.written().0 as f64;
        total.drive_writes.resize(total.drive_writes.len().max(cell.shares.len()), Bytes::ZERO);
        let mut space = Bytes::ZERO;
        for (drive, (sum, share)) in total.drive_writes.iter_mut().zip(cell.shares).enumerate() {
            *sum += Bytes((written * share) as u64);
            if *share > 0.0 {
                let made = cell.making.get(drive).copied().unwrap_or_default();
                let data = cell.cost.space.0 as f64 * share * TREES;
                space += Bytes((data + made) as u64) + Bytes::mib(32);
            }
        }
        let [content, with_old] = cell.contents();
        total.space = total.space.max(space);
        total.content = total.content.max(content);
        total.content_with_old = total.content_with_old.max(with_old);
        total.is_least |= cell.cost.writes_until_its_end;
    }
    total
}

#[cfg(test)]
mod tests {
    use disklab_stack::{FirstPass, FormatWrites, PassKind};

    use super::*;
    use crate::StackWrites;

    fn layout(shares: &[f64], tolerates: u32, bytes: &[f64], requests: f64) -> LayoutCost {
        let format = FormatWrites { bytes: bytes.to_vec(), requests, passes: Vec::new() };
        let writes = StackWrites { shares: shares.to_vec(), format, ..StackWrites::default() };
        LayoutCost::new(&writes, tolerates)
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
        assert!((seconds - 0.5 - 0.02).abs() < 1e-9, "{seconds}");
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
            let writes = StackWrites { shares: vec![1.0; 2], format, ..StackWrites::default() };
            LayoutCost::new(&writes, 1)
        };
        let none = layout(&[1.0; 2], 1, &[], 0.0);
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
        let raid5 = layout(&[1.0 / 3.0; 4], 1, &[], 0.0);
        let seconds = |layout, medium: Medium| {
            let none = Cost { seeks: 0, small_writes: 0, ..cost };
            cell_seconds(&cost, layout, medium) - cell_seconds(&none, layout, medium)
        };
        let ratio = |medium| seconds(&raid5, medium) / seconds(&LayoutCost::SINGLE, medium);
        assert_eq!(ratio(Medium::HARD_DISK), 1.0);
        assert!((ratio(Medium::LAB) - 4.0).abs() < 1e-9, "two read, two are written");
    }

    /// Cells of `nas --quick` with ext4 on drives of 10 TB, CPU time next to that of the same
    /// workload on one drive (docs/validation/calibration.md). The constants are those of RAID 5 and
    /// of one drive; the others follow.
    #[test]
    fn layouts_take_as_long_as_measured() {
        let commits = Cost { seeks: 256, small_writes: 256, ..Cost::default() };
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let single = layout(&[1.0], 0, &[133e6], 4657.0);
        for (name, layout, of_commits, of_write) in [
            ("raid5", layout(&[1.0 / 3.0; 4], 1, &[156e6; 4], 13_970.0), 3.7, 1.69),
            ("raid6", layout(&[0.5; 4], 2, &[151e6; 4], 9313.0), 2.9, 1.54),
            ("raid1", layout(&[1.0; 2], 1, &[133e6; 2], 4657.0), 1.44, 1.04),
            ("raid10", layout(&[0.5; 4], 1, &[138e6; 4], 9313.0), 2.67, 1.31),
        ] {
            for (cost, measured) in [(&commits, of_commits), (&write, of_write)] {
                let one = cell_seconds(cost, &single, Medium::LAB);
                let ratio = cell_seconds(cost, &layout, Medium::LAB) / one / measured;
                assert!((0.75..1.33).contains(&ratio), "{name}: {ratio} of {measured}");
            }
        }
    }

    #[test]
    fn parity_costs_time_for_what_is_written_in_the_lab_only() {
        let write = Cost { sequential_write: Bytes::gib(1), ..Cost::default() };
        let (mirror, raid5, raid6) = (
            layout(&[0.5; 4], 1, &[], 0.0),
            layout(&[1.0 / 3.0; 4], 1, &[], 0.0),
            layout(&[0.5; 4], 2, &[], 0.0),
        );
        let lab = |layout: &LayoutCost| cell_seconds(&write, layout, Medium::LAB);
        // RAID 5 writes fewer bytes than RAID 10, and takes longer.
        assert!(lab(&raid5) > 1.05 * lab(&mirror), "{} {}", lab(&raid5), lab(&mirror));
        assert!(lab(&raid6) > lab(&raid5), "{} {}", lab(&raid6), lab(&raid5));
        let whole =
            StackWrites { shares: vec![0.5; 4], are_whole_stripes: true, ..StackWrites::default() };
        let plain = lab(&LayoutCost::new(&whole, 2));
        assert!(plain < lab(&raid5), "a pool has no stripe cache");
        let pool = StackWrites { is_imported: true, ..whole };
        assert!(lab(&LayoutCost::new(&pool, 2)) > plain, "it has a cache of its own");
        let disk = |layout: &LayoutCost| cell_seconds(&write, layout, Medium::HARD_DISK);
        assert_eq!(disk(&raid5), disk(&mirror));
    }

    /// Without anything that is kept besides the data.
    fn in_place<'a>(shares: &'a [f64]) -> CellWrites<'a> {
        CellWrites { cost: cost(), shares, kept: KeptWrites::default(), making: &[] }
    }

    /// In MiB, without the 8 MiB of each drive.
    fn contents(cell: CellWrites<'_>) -> [u64; 2] {
        let total = predict_bytes([cell]);
        let drives = cell.shares.len() as u64;
        [total.content, total.content_with_old].map(|bytes| (bytes.0 >> 20) - 8 * drives)
    }

    #[test]
    fn what_drives_keep_is_the_data_and_what_their_stack_makes_of_them() {
        let cell = in_place(&[1.0]);
        let cost = Cost { rewritten: Bytes::gib(3), random_write: Bytes::gib(4), ..cost() };
        // Half of a GiB is content, and a thousandth of it all in tables.
        let data = 512 * 102 / 100 + 1;
        assert_eq!(contents(CellWrites { cost, ..cell }), [data, data]);
        let kept = KeptWrites { old_data: true, ..KeptWrites::default() };
        let old = 3 * 1024 * 102 / 100;
        assert_eq!(contents(CellWrites { cost, kept, ..cell }), [data, data + old]);
        // A log of a tenth of five GiB.
        let kept = KeptWrites { metadata: 0.1, ..KeptWrites::default() };
        assert_eq!(contents(CellWrites { cost, kept, ..cell }), [data - 1 + 512; 2]);
        // Encrypted, nothing repeats: not in what mkfs writes either.
        let kept = KeptWrites { hides_repeats: true, ..KeptWrites::default() };
        let making = &[100.0 * 1_048_576.0][..];
        assert_eq!(contents(CellWrites { cost, kept, making, ..cell }), [1044 + 1 + 100; 2]);
        assert_eq!(contents(CellWrites { shares: &[], ..cell }), [0; 2]);
    }

    #[test]
    fn bytes_of_cells_that_write_until_their_end_are_the_least() {
        let timed = Cost { writes_until_its_end: true, ..cost() };
        let cell = in_place(&[1.0]);
        assert!(predict_bytes([cell, CellWrites { cost: timed, ..cell }]).is_least);
        assert!(!predict_bytes([cell]).is_least);
    }

    #[test]
    fn writes_are_shared_out_over_drives() {
        let raid5 = [2.0 / 3.0 * 0.5; 4];
        let total = predict_bytes([in_place(&raid5); 2]);
        assert_eq!(total.drive_writes.len(), 4);
        let each = (1_073_741_824.0_f64 / 3.0) as u64;
        assert!(total.drive_writes.iter().all(|w| w.0.abs_diff(2 * each) <= 2));
        assert!(total.space > Bytes::gib(1) && total.space < Bytes::gib(2));
        assert!(total.content > Bytes::mib(512) && total.content < Bytes::gib(1));
    }
}
