//! The benches with the real programs, on loop devices and in a directory.

use std::path::{Path, PathBuf};

use disklab_bench::{
    Bench, BenchError, CellExecutor, CellOutcome, CellWatcher, DeviceBench, DirBench, EndedCell,
    LoadedStudy, LoopDrives, Phase, Preflight,
};
use disklab_cell::{Cell, Levels, MachinePlan, SeedSharing, order};
use disklab_exec::{Executor, Interrupt};
use disklab_prediction::Medium;
use disklab_sample::Sample;
use disklab_stack::Ledger;
use disklab_study::load;
use disklab_units::Bytes;
use disklab_workload::Context;

const STUDY: &str = r#"
id = "t"
title = "T"
[[drives]]
model = "m"
name = "d"
count = 2
size = "1 TB"
[layouts]
single = { drives = 1 }
md = "md-raid1"
[file-systems]
ext4 = "ext4"
xfs = "xfs"
[stacks]
btrfs-raid1 = "btrfs-raid1"
cached = { layers = "ext4", write-cache = "off", drives = 1 }
[[workloads]]
id = "write"
dd = { direction = "write", bs = "64k", count = 64, flags = "direct" }
[[workloads]]
id = "too-large"
dd = { direction = "write", bs = "1G", count = 64 }
"#;

struct Collector {
    raw: PathBuf,
    phases: Vec<Phase>,
    ended: Vec<(String, CellOutcome)>,
    interrupt_at: Option<(usize, Interrupt)>,
}

impl Collector {
    fn new(directory: &Path) -> Self {
        Self {
            raw: directory.join("raw"),
            phases: Vec::new(),
            ended: Vec::new(),
            interrupt_at: None,
        }
    }

    fn sample(&self, stack: &str) -> &Sample {
        let found = self.ended.iter().find(|(s, _)| s == stack);
        let (_, outcome) = found.unwrap_or_else(|| panic!("no cell of {stack}"));
        outcome.result.as_ref().unwrap_or_else(|e| panic!("{stack}: {e}"))
    }
}

impl CellWatcher for Collector {
    fn phase(&mut self, _: &Cell, phase: Phase) {
        self.phases.push(phase);
        if let Some((at, interrupt)) = &self.interrupt_at
            && self.phases.len() > *at
        {
            interrupt.raise();
        }
    }
}

/// Carries cells out, one after the other.
fn carry_out(
    executor: &mut dyn CellExecutor,
    campaign: &LoadedStudy,
    preflight: &Preflight,
    cells: &[Cell],
    collector: &mut Collector,
) -> Result<(), BenchError> {
    let mut all = || {
        for cell in cells {
            let plan = campaign.compile(preflight, cell, 1)?;
            assert!(executor.has_room(&plan), "one cell at a time");
            let outputs = collector.raw.join(cell.number.to_string());
            executor.submit(plan, &outputs)?;
            if let Some(EndedCell { cell, outcome }) = executor.next(collector)? {
                collector.ended.push((cell.levels.stack, outcome));
            }
        }
        Ok(())
    };
    let result = all();
    executor.finish();
    result
}

fn campaign() -> LoadedStudy {
    let context = Context::new(1.0, ".");
    LoadedStudy::new(load("t.toml", STUDY).expect("study"), &context).expect("campaign")
}

/// The loop bench in `directory`, or a line on what the machine lacks.
fn loop_bench(directory: &Path, state: &Path, interrupt: &Interrupt) -> Option<Bench> {
    let drives = LoopDrives::new(directory, Bytes::mib(400), Medium::SOLID_STATE);
    let ledger = Ledger::open(state).expect("ledger");
    let executor = Executor::new(interrupt.clone());
    let bench = DeviceBench::new(drives, MachinePlan::Loop, ledger, executor, directory);
    let bench = Bench::from(bench);
    let missing = bench.missing();
    if missing.is_empty() {
        return Some(bench);
    }
    eprintln!("skipped: needs {}", missing.join(", "));
    None
}

/// A bench on which these cells run.
fn ready(bench: Bench, campaign: &LoadedStudy, cells: &[Cell]) -> Box<dyn CellExecutor> {
    let needs = campaign.needs(cells);
    let checked = bench.check(&needs).expect("checked");
    checked.confirm(true).and_then(|bench| bench.prepare(&needs)).expect("ready")
}

fn nothing_is_left(directory: &Path) {
    let shown = directory.canonicalize().expect("directory").display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    assert!(!mounts.contains(&shown), "still mounted: {mounts}");
    for entry in std::fs::read_dir("/sys/block").expect("sysfs").flatten() {
        let backing = std::fs::read_to_string(entry.path().join("loop/backing_file"));
        assert!(!backing.is_ok_and(|b| b.contains(&shown)), "still looped: {entry:?}");
    }
    let left: Vec<_> = std::fs::read_dir(directory)
        .expect("directory")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "raw" && name != "state")
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn the_loop_bench_makes_measures_and_tears_down() {
    let temp = tempfile::tempdir().expect("temp");
    let Some(bench) = loop_bench(temp.path(), &temp.path().join("state"), &Interrupt::new()) else {
        return;
    };
    let campaign = campaign();
    let preflight = bench.preflight(&campaign);
    let left_out = |what: &str| {
        preflight
            .left_out
            .iter()
            .find(|l| l.stack.as_deref() == Some(what) || l.workload.as_deref() == Some(what))
            .map(|l| l.why.clone())
            .unwrap_or_default()
    };
    assert!(left_out("cached").contains("write cache"), "{preflight:?}");
    assert!(left_out("too-large").contains("--scale"), "{preflight:?}");
    let cells = order(&preflight.levels, 1, 1, SeedSharing::Shared);
    assert!(cells.iter().any(|c| c.levels.stack == "btrfs-raid1"));
    let mut sink = Collector::new(temp.path());
    let mut bench = ready(bench, &campaign, &cells);
    carry_out(bench.as_mut(), &campaign, &preflight, &cells, &mut sink).expect("carry out");
    nothing_is_left(temp.path());
    let bytes = 64 * 64 * 1024;
    for (stack, copies) in [("single/ext4", 1), ("single/xfs", 1), ("btrfs-raid1", 2)] {
        let sample = sink.sample(stack);
        let step = &sample.steps[0];
        assert_eq!(step.figures[0].bytes, bytes, "{stack}");
        let written: u64 = step.drives.iter().map(|d| d.write_bytes).sum();
        assert!(written >= copies * bytes, "{stack}: {written} bytes for {bytes}");
        assert!(written < 3 * copies * bytes, "{stack}: {written} bytes for {bytes}");
        assert!(!sample.environment.mounts.is_empty(), "{stack}");
        assert!(sample.trace.iter().any(|t| t.argv[0].starts_with("mkfs")), "{stack}");
        assert!(sample.overhead.make_seconds > 0.0 && sample.overhead.tear_down_seconds > 0.0);
    }
}

/// What `--scratch` names is the user's: names that a run would give to its own are taken,
/// by files, links and directories.
#[test]
fn scratch_of_the_user_is_left_as_it_is() {
    use std::os::unix::fs::symlink;
    let temp = tempfile::tempdir().expect("temp");
    let photos = temp.path().join("photos");
    let scratch = temp.path().join("scratch");
    std::fs::create_dir_all(scratch.join("mnt")).expect("make");
    std::fs::write(&photos, "photos").expect("write");
    for name in ["d-1.img", "drive-1.img"] {
        std::fs::write(scratch.join(name), "mine").expect("write");
    }
    for name in ["d-2.img", "drive-0.img"] {
        symlink(&photos, scratch.join(name)).expect("link");
    }
    // Two runs at once do not meet.
    std::thread::scope(|scope| {
        for (number, state) in ["state", "other"].into_iter().enumerate() {
            let (scratch, state) = (&scratch, temp.path().join(state));
            let raw = temp.path().join(format!("raw-{number}"));
            scope.spawn(move || {
                let Some(bench) = loop_bench(scratch, &state, &Interrupt::new()) else { return };
                let campaign = campaign();
                let preflight = bench.preflight(&campaign);
                let mut levels = preflight.levels.clone();
                levels.retain(|l| l.stack == "md/ext4" || l.stack == "btrfs-raid1");
                levels.push(Levels::new("single/ext4", "write"));
                let cells = order(&levels, 2, 1, SeedSharing::Shared);
                let mut sink = Collector::new(&raw);
                let mut bench = ready(bench, &campaign, &cells);
                carry_out(bench.as_mut(), &campaign, &preflight, &cells, &mut sink).expect("run");
                assert_eq!(sink.ended.len(), cells.len());
                for (stack, outcome) in &sink.ended {
                    let sample = outcome.result.as_ref().unwrap_or_else(|e| panic!("{stack}: {e}"));
                    assert_eq!(sample.steps[0].figures[0].bytes, 64 * 64 * 1024, "{stack}");
                }
            });
        }
    });
    assert_eq!(std::fs::read_to_string(&photos).expect("photos"), "photos");
    for name in ["d-1.img", "drive-1.img"] {
        assert_eq!(std::fs::read_to_string(scratch.join(name)).expect(name), "mine");
    }
    assert!(scratch.join("d-2.img").is_symlink() && scratch.join("drive-0.img").is_symlink());
    let left = std::fs::read_dir(&scratch).expect("scratch").flatten().map(|e| e.path());
    let left: Vec<_> = left.collect();
    assert_eq!(left.len(), 5, "something is left, or gone: {left:?}");
}

#[test]
fn an_interrupted_cell_is_torn_down_and_not_handed_over() {
    for at in 0..4 {
        let temp = tempfile::tempdir().expect("temp");
        let interrupt = Interrupt::new();
        let Some(bench) = loop_bench(temp.path(), &temp.path().join("state"), &interrupt) else {
            return;
        };
        let campaign = campaign();
        let cells = order(&[Levels::new("single/ext4", "write")], 1, 1, SeedSharing::Shared);
        let mut sink = Collector::new(temp.path());
        sink.interrupt_at = Some((at, interrupt));
        let preflight = bench.preflight(&campaign);
        let mut bench = ready(bench, &campaign, &cells);
        let error = carry_out(bench.as_mut(), &campaign, &preflight, &cells, &mut sink);
        let error = error.expect_err("interrupted");
        assert!(error.is_interrupt(), "{error}");
        assert!(sink.ended.is_empty());
        nothing_is_left(temp.path());
    }
}

#[test]
fn a_cell_that_fails_is_torn_down_and_reported() {
    let temp = tempfile::tempdir().expect("temp");
    let Some(bench) = loop_bench(temp.path(), &temp.path().join("state"), &Interrupt::new()) else {
        return;
    };
    // 400 MiB of drive, and the largest workload does not fit: never checked,
    // but carried out all the same.
    let cells = order(&[Levels::new("single/ext4", "too-large")], 1, 1, SeedSharing::Shared);
    let mut sink = Collector::new(temp.path());
    let campaign = campaign();
    let preflight = bench.preflight(&campaign);
    let mut bench = ready(bench, &campaign, &cells);
    carry_out(bench.as_mut(), &campaign, &preflight, &cells, &mut sink).expect("continues");
    let error = sink.ended[0].1.result.as_ref().expect_err("no space").to_string();
    assert!(error.to_lowercase().contains("no space"), "{error}");
    nothing_is_left(temp.path());
}

#[test]
fn a_directory_is_measured_as_it_is() {
    let temp = tempfile::tempdir().expect("temp");
    let directory = temp.path().join("here");
    std::fs::create_dir(&directory).expect("make");
    std::fs::write(directory.join("precious"), "data").expect("write");
    let ledger = Ledger::open(&temp.path().join("state")).expect("ledger");
    let executor = Executor::new(Interrupt::new());
    let bench = DirBench::new(&directory, Vec::new(), Medium::SOLID_STATE, ledger, executor);
    let bench = Bench::from(bench);
    let campaign = campaign();
    let preflight = bench.preflight(&campaign);
    assert!(preflight.levels.contains(&Levels::new("as-it-is", "write")), "{preflight:?}");
    let cells = order(&[Levels::new("as-it-is", "write")], 1, 1, SeedSharing::Shared);
    let mut sink = Collector::new(temp.path());
    let mut bench = ready(bench, &campaign, &cells);
    carry_out(bench.as_mut(), &campaign, &preflight, &cells, &mut sink).expect("carry out");
    assert_eq!(sink.sample("as-it-is").steps[0].figures[0].bytes, 64 * 64 * 1024);
    let left: Vec<_> = std::fs::read_dir(&directory).expect("dir").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
