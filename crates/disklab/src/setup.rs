//! From the command line to a bench and the cells that will run on it.

mod bench_options;
mod lab;
mod making;
mod pilot;
mod prediction;
mod scratch;
mod selection;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_bench::{
    Bench, Campaign, DeviceBench, DirBench, DiskDrives, Drives, LoopDrives, Medium, Survey,
    free_space, needs_zfs,
};
use disklab_campaign::Goal;
use disklab_exec::{Executor, Interrupt};
use disklab_lab::kernel::NamedKernel;
use disklab_measure::{SystemRoot, Watched, devices_under, mounts};
use disklab_stack::Ledger;
use disklab_store::RunInfo;
use disklab_study::{Cell, check_run_size};
use disklab_units::{Bytes, show_duration};
use disklab_workload::Context;

use crate::adaptive::{HowLong, block_seconds};
use crate::cli::CampaignArgs;
use crate::exit::Failure;
use crate::on::On;
use crate::places::state_folder;
use crate::studies::Found;
use crate::words::{Skipped, left_out_lines};
pub use lab::{check_zfs, kernel_parts, machine_memory};

use self::pilot::Pilot;
use self::scratch::Scratch;
use self::selection::Selection;

/// Whether anything may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A plan: nothing is touched, and the machine may lack what a run needs.
    Look,
    /// A run.
    Run,
}

/// A bench, a campaign on it, and its cells.
pub struct Setup {
    pub campaign: Campaign,
    pub bench: Box<dyn Bench>,
    pub survey: Survey,
    pub cells: Vec<Cell>,
    pub seed: u64,
    pub repeats: u32,
    /// How long it runs, where the samples or the clock decide that.
    pub how_long: Option<HowLong>,
    /// What a run's cells really took, where predictions are to rest on that.
    pilot: Option<Pilot>,
    /// The bench's settings, by the names of their flags.
    pub options: BTreeMap<String, String>,
    scratch: Scratch,
    /// Where the cells' data go; none where that is the drives themselves, as the
    /// survey has left out what finds no room on them.
    pub room: Option<Room>,
    is_lab: bool,
    /// The lab's kernel, if the user named one.
    named_kernel: Option<NamedKernel>,
}

/// A folder that the cells' data go to.
pub struct Room {
    pub folder: PathBuf,
    /// Bytes free there.
    pub free: Bytes,
    /// What to do where that is too little.
    remedy: &'static str,
}

impl Room {
    /// That of a bench whose large files go to `scratch`.
    fn of(on: &On, scratch: &Path) -> Option<Self> {
        match on {
            On::Disks(_) => None,
            On::Dir(path) => Some(Self {
                folder: path.clone(),
                free: free_space(path),
                remedy: "take another place with --on dir:PATH",
            }),
            On::Lab | On::Loop => Some(Self {
                folder: scratch.to_owned(),
                free: free_space(&existing_ancestor(scratch)),
                remedy: "take another place with --scratch",
            }),
        }
    }
}

impl Setup {
    /// Understands the command line. Makes nothing yet. `out` is the run's directory.
    pub fn new(
        found: Found,
        args: &CampaignArgs,
        out: &Path,
        mode: Mode,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        bench_options::check(args)?;
        let Found { study, folder } = found;
        let context = Context { scale: args.scale(), folder: folder.clone() };
        let campaign = Campaign::new(study, &context).map_err(Failure::usage_error)?;
        let scratch = Scratch::new(args.scratch.as_deref(), out)?;
        let mut options = BTreeMap::new();
        if args.scratch.is_some() {
            options.insert("scratch".to_owned(), scratch.path().display().to_string());
        }
        // `study.toml` lies in no folder that its path names.
        let folder =
            std::path::absolute(Path::new(".").join(&folder)).map_err(Failure::usage_error)?;
        let named_kernel = lab::named_kernel(args)?;
        let place =
            Place { scratch: scratch.path(), study: &folder, kernel: named_kernel.as_ref() };
        let bench = bench(args, &campaign, &place, mode, &mut options, interrupt)?;
        let mut survey = bench.survey(&campaign);
        Selection::new(&args.only, &args.without).narrow(&mut survey, &campaign.study)?;
        for (name, patterns) in [("only", &args.only), ("without", &args.without)] {
            if !patterns.is_empty() {
                options.insert(name.to_owned(), patterns.join(" "));
            }
        }
        let repeats = args.repeats.unwrap_or(campaign.study.repeats);
        let seed = match args.seed {
            Some(seed) => seed,
            None => draw_seed()?,
        };
        check_run_size(survey.pairs.len(), repeats).map_err(Failure::usage_error)?;
        let cells = campaign.study.order(&survey.pairs, repeats, seed);
        let room = Room::of(&args.on(), scratch.path());
        Ok(Self {
            campaign,
            bench,
            survey,
            cells,
            seed,
            repeats,
            how_long: None,
            pilot: None,
            options,
            scratch,
            room,
            is_lab: args.on() == On::Lab,
            named_kernel,
        })
    }

    /// All cells of so many blocks.
    pub fn order(&self, blocks: u32) -> Vec<Cell> {
        self.campaign.study.order(&self.survey.pairs, blocks, self.seed)
    }

    /// Leaves out all cells but those of these pairs of stack and workload.
    pub fn keep(&mut self, pairs: &std::collections::BTreeSet<(String, String)>) {
        self.survey.pairs.retain(|pair| pairs.contains(pair));
        self.cells = self.order(self.repeats);
    }

    /// Has the samples or the clock decide how long it runs. The cells are then those that
    /// a campaign runs at least.
    ///
    /// # Errors
    /// Where there is nothing to decide, or not even one block would end in time.
    pub fn adapt(&mut self, how: &HowLong) -> Result<(), Failure> {
        let mut stacks: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, workload) in &self.survey.pairs {
            *stacks.entry(workload).or_default() += 1;
        }
        let compares = how.rules.as_ref().is_some_and(|r| !matches!(r.goal, Goal::Precision(_)));
        if compares && !stacks.is_empty() && stacks.values().all(|n| *n < 2) {
            return Err(Failure::usage_error(
                "--goal compares stacks, and no workload runs on two of them here, so that there \
                 is nothing to be best of; --precision 5% alone runs until each figure is known \
                 within 5 %, or take --repeats or --budget",
            ));
        }
        check_run_size(self.survey.pairs.len(), how.most_blocks()).map_err(Failure::usage_error)?;
        self.repeats = how.most_blocks();
        self.cells = self.order(how.first_look());
        self.how_long = Some(how.clone());
        Ok(())
    }

    /// Refuses a budget in which not even one block would end.
    pub fn check_budget(&self) -> Result<(), Failure> {
        let Some(budget) = self.how_long.as_ref().and_then(|how| how.budget) else {
            return Ok(());
        };
        let block = self.block_seconds();
        if block <= budget.as_secs_f64() {
            return Ok(());
        }
        Err(Failure::usage_error(format!(
            "--budget {}: one block of {} cells would take about {}; give it more, fewer cells \
             with --only, or smaller files with --scale",
            show_duration(budget),
            self.survey.pairs.len(),
            show_duration(Duration::from_secs_f64(block))
        )))
    }

    /// What a block of all cells will take, in real seconds.
    pub fn block_seconds(&self) -> f64 {
        let block = self.order(1);
        block_seconds(&block, &[], |cell| self.seconds(cell), self.bench.at_once())
    }

    /// Whether drives and time are modelled.
    pub fn is_lab(&self) -> bool {
        self.is_lab
    }

    /// In the lab: whether it takes the kernel with ZFS, and where that or the plain one
    /// is, if it is there.
    pub fn lab_kernel(&self) -> Option<(bool, Option<PathBuf>)> {
        let named = self.named_kernel.as_ref();
        self.is_lab.then(|| lab::kernel_of(&self.campaign, &self.cells, named))
    }

    /// Makes the directory below which the run makes its own for large files and mount
    /// points.
    pub fn make_scratch(&self) -> Result<(), Failure> {
        self.scratch.make()
    }

    /// Refuses a run that has no cells, no room, or nowhere to put its files.
    pub fn check(&self) -> Result<(), Failure> {
        self.check_cells()?;
        self.scratch.check()?;
        self.check_room()
    }

    /// Refuses a run that has no cells, or some that the named kernel cannot run.
    pub fn check_cells(&self) -> Result<(), Failure> {
        if let Some(named) = &self.named_kernel {
            lab::check_zfs(named, needs_zfs(&self.campaign, &self.cells))
                .map_err(Failure::usage_error)?;
        }
        if self.cells.is_empty() {
            let mut text = String::from("nothing of this study can run here:");
            for line in left_out_lines(&self.survey.left_out) {
                text.push_str(&format!("\n  {line}"));
            }
            if self.survey.left_out.is_empty() {
                text.push_str("\n  no cell matches both --only and --without");
            }
            if let Some(remedy) = Skipped::new(&self.survey.left_out, 0).remedy() {
                text.push_str(&format!("\n  {remedy}"));
            }
            return Err(Failure::usage_error(text));
        }
        Ok(())
    }

    /// Has the bench look at what the cells would write to, and refuses what must
    /// not be written to.
    pub fn look(&mut self) -> Result<(), Failure> {
        self.bench.look(&self.campaign, &self.cells).map_err(Failure::usage_error)
    }

    /// Refuses a run that has no room.
    pub fn check_room(&self) -> Result<(), Failure> {
        let Some(room) = &self.room else { return Ok(()) };
        let space = self.predict(&self.cells).space;
        if space > room.free {
            return Err(Failure::usage_error(format!(
                "the largest {} {} in {}, and {} is free there; make the files smaller with \
                 --scale, or {}",
                if self.is_lab && self.bench.at_once() > 1 {
                    "cells that run side by side take"
                } else {
                    "cell takes"
                },
                space.iec(),
                room.folder.display(),
                room.free.iec(),
                room.remedy
            )));
        }
        Ok(())
    }
}

/// Folders that a bench uses.
struct Place<'a> {
    /// For large files and mount points.
    scratch: &'a Path,
    /// In which a study's own files are looked for.
    study: &'a Path,
    /// The lab's kernel, if the user named one.
    kernel: Option<&'a NamedKernel>,
}

fn bench(
    args: &CampaignArgs,
    campaign: &Campaign,
    place: &Place<'_>,
    mode: Mode,
    options: &mut BTreeMap<String, String>,
    interrupt: &Interrupt,
) -> Result<Box<dyn Bench>, Failure> {
    let scratch = place.scratch;
    let executor = Executor::new(interrupt.clone());
    let ledger = || Ledger::open(&ledger_folder()).map_err(Failure::usage_error);
    match &args.on() {
        On::Lab => {
            let (bench, memory) = lab::bench(args, campaign, place, ledger()?, executor)?;
            options.insert("memory".to_owned(), memory.short());
            if let Some(named) = place.kernel {
                let path = named.kernel.display().to_string();
                options.insert(RunInfo::KERNEL.to_owned(), path);
            }
            if !args.set_drive.is_empty() {
                options.insert("set-drive".to_owned(), shell_words::join(&args.set_drive));
            }
            if let Some(processor) = &args.processor {
                options.insert("processor".to_owned(), processor.clone());
            }
            if let Some(limit) = args.cell_limit {
                let text = format!("{} s", limit.as_secs_f64());
                options.insert(RunInfo::CELL_LIMIT.to_owned(), text);
            }
            if let Some(bus) = &args.bus {
                options.insert("bus".to_owned(), bus.to_string());
            }
            Ok(Box::new(bench))
        }
        On::Loop => {
            let size = args.drive_size.unwrap_or_else(|| loop_drive_size(campaign));
            options.insert("drive-size".to_owned(), size.short());
            let drives =
                LoopDrives::new(scratch, size, medium_below(&existing_ancestor(scratch)).0);
            let bench = DeviceBench::new(drives, ledger()?, executor, scratch);
            ready(bench, mode)
        }
        On::Dir(path) => {
            let meta = path
                .metadata()
                .map_err(|e| Failure::usage_error(format!("--on dir:{}: {e}", path.display())))?;
            if !meta.is_dir() {
                return Err(Failure::usage_error(format!(
                    "--on dir:{0}: '{0}' is no directory",
                    path.display()
                )));
            }
            let path = path.canonicalize().map_err(Failure::usage_error)?;
            if mode == Mode::Run {
                scratch::check_writable("--on dir:", &path)?;
            }
            let (medium, watched) = medium_below(&path);
            Ok(Box::new(DirBench::new(&path, watched, medium, ledger()?, executor)))
        }
        On::Disks(names) => {
            let drives = DiskDrives::new(names, &args.erase).map_err(|refusals| {
                let lines: Vec<_> = refusals.iter().map(ToString::to_string).collect();
                Failure::usage_error(lines.join("\n"))
            })?;
            ready(DeviceBench::new(drives, ledger()?, executor, scratch), mode)
        }
    }
}

/// A bench whose needs are met; a plan does without.
fn ready<D: Drives + 'static>(
    bench: DeviceBench<D>,
    mode: Mode,
) -> Result<Box<dyn Bench>, Failure> {
    let missing = bench.missing();
    if mode == Mode::Look || missing.is_empty() {
        return Ok(Box::new(bench));
    }
    Err(Failure::usage_error(format!(
        "the bench '{}' needs {}; `disklab doctor` says more, and --on dir:PATH works without",
        bench.name(),
        missing.join(", ")
    )))
}

/// Twice the largest workload and room for a file system's own, and no less
/// than the study asks for.
fn loop_drive_size(campaign: &Campaign) -> Bytes {
    let space = campaign.workloads.iter().map(|w| w.cost().space).max().unwrap_or_default();
    let asked = campaign.study.loop_drive_size.unwrap_or(Bytes::gib(1));
    (space.saturating_mul(2) + Bytes::mib(512)).max(asked).round_up(Bytes::mib(64))
}

/// The block devices below a folder, and what they are like.
fn medium_below(folder: &Path) -> (Medium, Vec<Watched>) {
    let root = SystemRoot::here();
    let devices = devices_under(&root, &mounts(&root), folder).unwrap_or_default();
    let medium = devices.first().map_or(Medium::SOLID_STATE, |device| {
        let whole = device.whole();
        let rotational = whole.attribute("queue/rotational");
        Medium::of(whole.name(), rotational.map(|text| text.trim() == "1"))
    });
    let watched =
        devices.iter().map(|d| Watched { name: d.name().to_owned(), device: d.node() }).collect();
    (medium, watched)
}

/// The nearest folder that exists already, for free space and devices.
fn existing_ancestor(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute
        .ancestors()
        .find(|ancestor| ancestor.is_dir())
        .map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

/// Ledgers of things to take down.
pub fn ledger_folder() -> PathBuf {
    state_folder().join("ledger")
}

/// A seed from the kernel, of 53 bits: readers of JSON that keep numbers as doubles, such as
/// browsers, hold no more exactly.
fn draw_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(|e| Failure::failed(format!("cannot draw a seed from /dev/urandom: {e}")))?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}
