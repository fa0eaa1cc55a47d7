//! What a cell will cost, from its plan.

use disklab_cell::{CellEstimate, CellPlan, MachinePlan};
use disklab_source::SourceError;
use disklab_stack::{
    DeviceState, FirstPass, FormatWrites, KeptWrites, Redundancy, ShapeError, Stack,
};
use disklab_units::Bytes;
use disklab_workload::{Context, Cost, StudyFiles, read_workload};

use crate::Medium;
use crate::seconds::{cell_seconds, making_seconds};
use crate::stack_cost::StackCost;

/// Inode tables, journals and trees take 2 % next to the data, and 32 MiB.
const TREES: f64 = 1.02;

/// What a cell will cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellPrediction {
    /// Wall-clock seconds, if nothing is shared with other cells.
    pub seconds: f64,
    /// Of these, what cells of the same block and stack can share.
    pub shared_seconds: f64,
    /// Seconds of the machine's own clock that the work takes, as far as they are fixed.
    pub clock_seconds: f64,
    /// Bytes written to each of the study's drives.
    pub drive_writes: Vec<Bytes>,
    /// Space that it takes over all drives; if they are models, what they store.
    pub space: Bytes,
    /// What of the drives' content is neither zeros nor repeats, with what was overwritten if its
    /// place is not used again.
    pub content: Bytes,
    /// Whether it writes until its time is over, so that it may write more, and take more.
    pub is_least: bool,
    /// What goes over whole devices before its stack's first use.
    pub passes: Vec<FirstPass>,
}

/// Nothing can be predicted of a plan.
#[derive(Debug, thiserror::Error)]
pub enum PredictionError {
    /// Its layers or its work are not understood.
    #[error(transparent)]
    Plan(#[from] SourceError),
    /// Its stack cannot be made on its drives.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl CellPrediction {
    /// That of a plan on a machine of such drives: `drives` the study has, or lie below the
    /// directory.
    ///
    /// # Errors
    /// [`PredictionError`] if the plan is not understood, or its stack does not fit on its drives.
    pub fn new(plan: &CellPlan, medium: Medium, drives: usize) -> Result<Self, PredictionError> {
        let files = StudyFiles::of_plan(plan.files.clone());
        let context = Context { scale: plan.scale, files };
        let cost = read_workload(&plan.workload, &context)?.cost();
        let writes = StackWrites::of_plan(plan, &cost, drives)?;
        let mut stored = writes.shares.clone();
        if writes.are_copies && medium.simulation.is_some() {
            // The lab keeps equal blocks once, and so all copies of a mirror.
            let sum: f64 = stored.iter().sum();
            stored.iter_mut().for_each(|share| *share /= sum.max(1.0));
        }
        let [content, with_old] = writes.contents(&cost, &stored);
        Ok(Self {
            seconds: cell_seconds(&cost, &writes.cost, medium),
            shared_seconds: match medium.simulation {
                Some(_) => making_seconds(&writes.cost, medium),
                None => 0.0,
            },
            clock_seconds: cost.fixed_seconds,
            drive_writes: writes.drive_writes(&cost),
            space: if medium.simulation.is_some() { content } else { writes.space(&cost) },
            content: with_old,
            is_least: cost.writes_until_its_end,
            passes: writes.format.passes,
        })
    }

    /// Has it pay its part of what so many cells share.
    pub fn shared_by(&mut self, cells: usize) {
        self.seconds -= self.shared_seconds * (1.0 - 1.0 / cells.max(1) as f64);
    }

    /// For the cell's plan.
    pub fn estimate(&self) -> CellEstimate {
        let Self { seconds, clock_seconds, content, .. } = *self;
        CellEstimate { seconds, clock_seconds, content }
    }
}

/// What a stack makes of what its workload writes, by the study's drives.
struct StackWrites {
    cost: StackCost,
    /// Bytes written to each drive for one byte written to the stack.
    shares: Vec<f64>,
    /// What making it writes.
    format: FormatWrites,
    /// What drives keep besides the data as they are at last.
    kept: KeptWrites,
    /// Whether all of it are equal copies.
    are_copies: bool,
}

impl StackWrites {
    /// Of a stack that is made for a workload of this cost.
    fn of_plan(plan: &CellPlan, cost: &Cost, drives: usize) -> Result<Self, PredictionError> {
        let state = match &plan.making.machine {
            MachinePlan::Directory(_) => return Ok(Self::of_directory(drives)),
            MachinePlan::Lab(_) => DeviceState { reads_zeros: true, simulated: true },
            MachinePlan::Loop => DeviceState { reads_zeros: true, simulated: false },
            MachinePlan::Disks => DeviceState::default(),
        };
        let stack = Stack::of_plan(&plan.making.stack)?;
        let sizes: Vec<Bytes> = plan.making.drives.iter().map(|drive| drive.size).collect();
        let volume = stack.shape(&sizes)?;
        let format = stack.format_writes(&sizes, state);
        let first = stack.shape_of_first(&sizes, cost.space)?;
        let of_study = |of_stack: &[f64]| {
            let mut all = vec![0.0; drives];
            for (drive, value) in plan.making.drives.iter().zip(of_stack) {
                if let Some(of_drive) = all.get_mut(drive.position as usize) {
                    *of_drive = *value;
                }
            }
            all
        };
        Ok(Self {
            cost: StackCost::new(&volume, &format, stack.is_imported()),
            shares: of_study(&first.drive_writes),
            format: FormatWrites { bytes: of_study(&format.bytes), ..format },
            kept: stack.kept_writes(),
            are_copies: volume.redundancy == Redundancy::Copies,
        })
    }

    /// Of a directory on so many drives: which of them gets what is not known.
    fn of_directory(drives: usize) -> Self {
        Self {
            cost: StackCost::SINGLE,
            shares: vec![1.0; drives],
            format: FormatWrites { bytes: vec![0.0; drives], ..FormatWrites::default() },
            kept: KeptWrites::default(),
            are_copies: false,
        }
    }

    /// Bytes written to each drive.
    fn drive_writes(&self, cost: &Cost) -> Vec<Bytes> {
        let written = cost.written().0 as f64;
        let drives = self.shares.iter().zip(&self.format.bytes);
        drives.map(|(share, made)| Bytes((written * share) as u64) + Bytes(*made as u64)).collect()
    }

    /// Space on all drives together.
    fn space(&self, cost: &Cost) -> Bytes {
        let data = cost.space.0 as f64 * TREES;
        let drives = self.shares.iter().zip(&self.format.bytes).filter(|(share, _)| **share > 0.0);
        drives.map(|(share, made)| Bytes((data * share + made) as u64) + Bytes::mib(32)).sum()
    }

    /// Bytes on drives with these shares that are neither zeros nor repeats, as they are at last,
    /// and with what was overwritten.
    fn contents(&self, cost: &Cost, shares: &[f64]) -> [Bytes; 2] {
        let Cost { space, content, rewritten, .. } = *cost;
        let KeptWrites { old_data, metadata, hides_repeats } = self.kept;
        let written = cost.written();
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
            let of_drive = |(share, made): (&f64, &f64)| {
                let made = if hides_repeats { *made } else { 0.0 };
                Bytes(((data.0 as f64 * TREES + tables) * share + made) as u64) + Bytes::mib(8)
            };
            let drives = shares.iter().zip(&self.format.bytes);
            drives.filter(|(share, _)| **share > 0.0).map(of_drive).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost() -> Cost {
        Cost {
            space: Bytes::gib(1),
            content: Bytes::mib(512),
            prewrite: Bytes::gib(1),
            ..Cost::default()
        }
    }

    /// Without anything that is kept besides the data.
    fn in_place(shares: &[f64]) -> StackWrites {
        StackWrites { shares: shares.to_vec(), ..StackWrites::of_directory(shares.len()) }
    }

    /// In MiB, without the 8 MiB of each drive.
    fn contents(cost: &Cost, writes: &StackWrites) -> [u64; 2] {
        let drives = writes.shares.len() as u64;
        writes.contents(cost, &writes.shares).map(|bytes| (bytes.0 >> 20) - 8 * drives)
    }

    #[test]
    fn what_drives_keep_is_the_data_and_what_their_stack_makes_of_them() {
        let cost = Cost { rewritten: Bytes::gib(3), random_write: Bytes::gib(4), ..cost() };
        let mut writes = in_place(&[1.0]);
        // Half of a GiB is content, and a thousandth of it all in tables.
        let data = 512 * 102 / 100 + 1;
        assert_eq!(contents(&cost, &writes), [data, data]);
        writes.kept = KeptWrites { old_data: true, ..KeptWrites::default() };
        let old = 3 * 1024 * 102 / 100;
        assert_eq!(contents(&cost, &writes), [data, data + old]);
        // A log of a tenth of five GiB.
        writes.kept = KeptWrites { metadata: 0.1, ..KeptWrites::default() };
        assert_eq!(contents(&cost, &writes), [data - 1 + 512; 2]);
        // Encrypted, nothing repeats: not in what mkfs writes either.
        writes.kept = KeptWrites { hides_repeats: true, ..KeptWrites::default() };
        writes.format.bytes = vec![100.0 * 1_048_576.0];
        assert_eq!(contents(&cost, &writes), [1044 + 1 + 100; 2]);
        assert_eq!(contents(&cost, &in_place(&[])), [0; 2]);
    }

    #[test]
    fn writes_are_shared_out_over_drives() {
        let raid5 = in_place(&[1.0 / 3.0; 4]);
        let each = (1_073_741_824.0_f64 / 3.0) as u64;
        assert_eq!(raid5.drive_writes(&cost()), [Bytes(each); 4]);
        let space = raid5.space(&cost());
        assert!(space > Bytes::gib(1) && space < Bytes::gib(2));
        let [content, _] = raid5.contents(&cost(), &raid5.shares);
        assert!(content > Bytes::mib(512) && content < Bytes::gib(1));
    }

    const TERABYTE: u64 = 1_000_000_000_000;

    /// A GiB of random bytes by dd, on one of the study's three drives, or on an array of two.
    fn predicted(machine: &str, stack: &str, medium: Medium) -> CellPrediction {
        let drive = |position: u32| {
            let name = format!("d-{position}");
            format!(r#"{{"name":"{name}","position":{position},"size":{TERABYTE},"kind":"file"}}"#)
        };
        let drives =
            if stack.starts_with("md-") { vec![drive(0), drive(2)] } else { vec![drive(0)] };
        let layers = stack.split('/').map(|name| format!(r#"{{"name":"{name}"}}"#));
        let text = format!(
            r#"{{"format":2,"cell":{{"number":0,"block":0,"stack":"s","workload":"w","seed":1}},
            "making":{{"machine":{machine},"drives":[{}],"stack":[{}],"seed":1}},
            "workload":{{"id":"w","kind":"dd","caches":"cold","body":
                {{"direction":"write","bs":"1M","count":1024,"source":"random"}}}},
            "scale":1.0,"needs":{{"kernel":[],"programs":[]}},
            "estimate":{{"seconds":0.0,"clock_seconds":0.0,"content":0}}}}"#,
            drives.join(","),
            layers.collect::<Vec<_>>().join(",")
        );
        let plan = CellPlan::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        CellPrediction::new(&plan, medium, 3).unwrap_or_else(|e| panic!("{e}"))
    }

    const LAB: &str =
        r#"{"lab":{"machine":"m","memory":1,"parts":[],"limit":{"secs":1,"nanos":0}}}"#;
    const GIB: f64 = 1_073_741_824.0;

    #[test]
    fn a_mirror_writes_everything_twice_and_the_lab_keeps_it_once() {
        for (machine, medium, copies) in
            [("\"loop\"", Medium::SOLID_STATE, 2.0), (LAB, Medium::LAB, 1.0)]
        {
            let mirror = predicted(machine, "md-raid1/ext4", medium);
            let [one, none, other] = [0, 1, 2].map(|drive| mirror.drive_writes[drive].0 as f64);
            assert_eq!((one, none), (other, 0.0), "{machine}");
            assert!((1.0..1.3).contains(&(one / GIB)), "{mirror:?}");
            let single = predicted(machine, "ext4", medium);
            assert_eq!(single.drive_writes[2], Bytes::ZERO, "{machine}");
            let more = mirror.space.0 as f64 / single.space.0 as f64;
            assert!((more / copies - 1.0).abs() < 0.02, "{machine}: {more}");
        }
    }

    #[test]
    fn only_the_labs_cells_share_what_made_their_stack() {
        let mut alone = predicted("\"loop\"", "ext4", Medium::SOLID_STATE);
        assert_eq!(alone.shared_seconds, 0.0);
        let whole = predicted(LAB, "ext4", Medium::LAB);
        assert!(whole.shared_seconds > 0.5 && whole.shared_seconds < whole.seconds, "{whole:?}");
        for cells in [0, 1, 4] {
            let mut shared = whole.clone();
            shared.shared_by(cells);
            let part = whole.shared_seconds / cells.max(1) as f64;
            let expected = whole.seconds - whole.shared_seconds + part;
            assert!((shared.seconds - expected).abs() < 1e-9, "{cells}: {shared:?}");
        }
        let before = alone.seconds;
        alone.shared_by(4);
        assert_eq!(alone.estimate().seconds, before);
    }

    #[test]
    fn disks_of_others_are_made_equal_first_and_new_files_are_already() {
        let disks = predicted("\"disks\"", "md-raid1/ext4", Medium::HARD_DISK);
        assert_eq!(disks.passes.len(), 1, "{disks:?}");
        let hours = TERABYTE as f64 / Medium::HARD_DISK.bytes_per_second / 3600.0;
        assert!((disks.seconds / 3600.0 / hours - 1.0).abs() < 0.02, "{disks:?}");
        assert_eq!(predicted("\"loop\"", "md-raid1/ext4", Medium::HARD_DISK).passes, []);
    }

    #[test]
    fn a_directory_may_lie_on_any_of_the_drives() {
        let found = predicted(r#"{"directory":"/somewhere"}"#, "ext4", Medium::HARD_DISK);
        assert_eq!(found.drive_writes, [Bytes::gib(1); 3]);
        // 1.02 GiB and 32 MiB on each.
        let each = (GIB * TREES) as u64 + Bytes::mib(32).0;
        assert_eq!(found.space, Bytes(3 * each));
    }
}
