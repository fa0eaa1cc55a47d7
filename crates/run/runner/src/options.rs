//! What a run is asked for, and which of it applies to which bench: elsewhere it would be
//! ignored, and the run be another one than was asked for.

use std::fmt::Display;

use disklab_cell::{Axes, AxesError, FaultPlan, FaultTextError};
use disklab_lab_kernel::LinuxChoice;
use disklab_options::{BenchKind, RunOrigin, RunSettings};
use disklab_store::RunInfo;
use disklab_study::DriveRequests;
use disklab_units::Bytes;

/// What a run is asked for. What is `None` or empty is the study's, the bench's, or drawn.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Where to run; in the lab if `None`.
    pub bench: Option<BenchKind>,
    /// How often each cell runs.
    pub repeats: Option<u32>,
    /// Seed of everything random.
    pub seed: Option<u64>,
    /// By how much sizes are scaled; 1 if `None`.
    pub scale: Option<f64>,
    /// For the lab alone: drives in place of the study's.
    pub drives: Option<DriveRequests>,
    /// For the lab alone: which of its own kernels; the default one if `None`.
    pub linux: Option<LinuxChoice>,
    /// For the lab alone: how many cells run side by side.
    pub at_once: Option<usize>,
    /// For disks alone: serial numbers of those that may be erased although they carry data.
    pub erase: Vec<String>,
    /// What a run records as it was typed; [`RunOptions::drives`] and [`RunOptions::linux`] go
    /// there when it is planned.
    pub settings: RunSettings,
}

/// Options contradict each other, the bench, or the run that is resumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The bench would ignore an option.
    #[error("{flag} applies only to {}; the bench is '{bench}'", applies.as_str())]
    WrongBench {
        /// The option.
        flag: &'static str,
        /// Where it applies.
        applies: Applies,
        /// The one that the option does not apply to.
        bench: BenchKind,
    },
    /// A kernel is named for a bench that runs on this machine's own.
    #[error("{0} is for the lab's guests; the bench '{1}' runs on this machine's own kernel")]
    KernelElsewhere(&'static str, BenchKind),
    /// A text is not a fault.
    #[error("--fault: {0}")]
    Fault(#[from] FaultTextError),
    /// A study of a directory is run elsewhere.
    #[error("the study '{0}' is about a directory: name it with --on dir:PATH")]
    NeedsDirectory(String),
    /// A kernel is named twice.
    #[error("--kernel names a kernel, and --linux one that disklab builds: give one or the other")]
    KernelTwice,
    /// An option differs from that of the run that is resumed.
    #[error(
        "{flag} is {now}, but this run was started with {then}; leave {flag} out to resume it, or \
         start a new run"
    )]
    Differs {
        /// The option.
        flag: &'static str,
        /// As given now.
        now: String,
        /// As given when the run began.
        then: String,
    },
    /// The run that is resumed was begun with a kernel of the lab that this version does not build.
    #[error(
        "this run was begun with the lab's Linux {linux:?}, which this disklab does not build; \
         resume it with the version that began it, or name its kernel with --kernel"
    )]
    UnknownLinux {
        /// Its version, as the run has it.
        linux: String,
    },
    /// The run that is resumed has the study's whole sizes.
    #[error(
        "--quick: this run was begun with the study's whole sizes; leave --quick out to resume \
         it, or start a new run"
    )]
    NotQuick,
    /// The quick form has sizes of its own.
    #[error(
        "--quick takes the sizes that the study's table [quick] gives, and --scale changes them: \
         give one or the other"
    )]
    QuickAndScale,
    /// Cells are selected for a run that has its cells.
    #[error(
        "--only and --without cannot be given with --resume: the cells were fixed when the run \
         began"
    )]
    SelectionFixed,
    /// Axes are named for a run that has its cells.
    #[error("--axis cannot be another one with --resume: the cells were fixed when the run began")]
    AxesFixed,
    /// There is nothing to resume in what other programs measured.
    #[error("the run was imported, so that nothing of it is left to run; start a new run")]
    Import,
    /// Axes that cannot be crossed.
    #[error("--axis: {0}")]
    Axes(AxesError),
    /// An axis, and an option for all its levels.
    #[error("{flag} is for all cells, and the axis {axis} has a level for each: give one of them")]
    AxisAndOption {
        /// The option.
        flag: &'static str,
        /// By its name.
        axis: &'static str,
    },
    /// The number of repeats and a rule that decides it.
    #[error(
        "--repeats fixes how often each cell runs, and {} lets the samples or the clock decide: \
         give one or the other",
        given.join(" and ")
    )]
    RepeatsAndRule {
        /// The options of the rule.
        given: Vec<&'static str>,
    },
    /// A precision of what has none.
    #[error(
        "--precision is about figures, and --goal purposes about stacks to take, which are \
         equivalent within 5 %: give one or the other"
    )]
    PrecisionOfPurposes,
    /// No time at all.
    #[error("--budget 0: nothing can be run in no time")]
    ZeroBudget,
    /// A guest's memory is too little, or more than there is.
    #[error(
        "a guest's memory of {} (--memory, an axis, or the study's `lab.memory`): it takes from {} to what \
         disklab may use here, {}",
        memory.iec(),
        least.iec(),
        most.iec()
    )]
    Memory {
        /// What was asked for.
        memory: Bytes,
        /// What a guest needs.
        least: Bytes,
        /// This machine's, or what its control group allows.
        most: Bytes,
    },
    /// More guests than processors, or none.
    #[error(
        "--at-once {wanted}: this process may use {processors} processors, and each lab needs one"
    )]
    AtOnce {
        /// What was asked for.
        wanted: usize,
        /// What there are.
        processors: usize,
    },
}

/// The bench that an option applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    /// The lab, and a directory whose drives are not seen.
    Drives,
    /// It concerns runs in the lab alone.
    Lab,
    /// Loop devices.
    Loop,
    /// Real disks.
    Disks,
}

impl Applies {
    fn to(self, bench: &BenchKind) -> bool {
        matches!(
            (self, bench),
            (Self::Drives, BenchKind::Lab | BenchKind::Dir(_))
                | (Self::Lab, BenchKind::Lab)
                | (Self::Loop, BenchKind::Loop)
                | (Self::Disks, BenchKind::Disks(_))
        )
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Drives => "the lab, which models drives, and to a study of a directory",
            Self::Lab => "the lab, which models drives",
            Self::Loop => "--on loop, whose drives are files",
            Self::Disks => "--on disks:…, which erases drives",
        }
    }
}

impl RunOptions {
    /// Which of the benches these options are for.
    pub fn bench(&self) -> BenchKind {
        self.bench.clone().unwrap_or_default()
    }

    /// By how much sizes are scaled.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// The faults of the lab's drives.
    ///
    /// # Errors
    /// [`OptionsError::Fault`] with the first text that is not one.
    pub fn faults(&self) -> Result<Vec<FaultPlan>, OptionsError> {
        self.settings.fault.iter().map(|text| Ok(text.parse()?)).collect()
    }

    /// Refuses options that the bench would ignore.
    ///
    /// # Errors
    /// [`OptionsError::WrongBench`] with the first of them, and [`OptionsError::QuickAndScale`].
    pub fn check(&self) -> Result<(), OptionsError> {
        let settings = &self.settings;
        if settings.quick && self.scale() != 1.0 {
            return Err(OptionsError::QuickAndScale);
        }
        let given = [
            ("--drive-size", Applies::Loop, settings.drive_size.is_some()),
            ("--drives", Applies::Drives, self.drives.is_some()),
            ("--memory", Applies::Lab, settings.memory.is_some()),
            ("--processor", Applies::Lab, settings.processor.is_some()),
            ("--bus", Applies::Lab, settings.bus.is_some()),
            ("--fault", Applies::Lab, !settings.fault.is_empty()),
            ("--set-drive", Applies::Lab, !settings.set_drive.is_empty()),
            ("--at-once", Applies::Lab, self.at_once.is_some()),
            ("--cell-limit", Applies::Lab, settings.cell_limit.is_some()),
            ("--erase", Applies::Disks, !self.erase.is_empty()),
        ];
        let bench = self.bench();
        match given.into_iter().find(|(_, applies, given)| *given && !applies.to(&bench)) {
            None => Ok(()),
            Some((flag, applies, _)) => Err(OptionsError::WrongBench { flag, applies, bench }),
        }
    }

    /// Refuses options that an axis of the study overrules.
    ///
    /// # Errors
    /// [`OptionsError::AxisAndOption`] with the first of them.
    pub fn check_axes(&self, axes: &Axes) -> Result<(), OptionsError> {
        let (settings, crossed) = (&self.settings, axes.ordinary());
        let given = [
            ("--bus", "bus", settings.bus.is_some()),
            ("--kernel", "linux", settings.kernel.is_some()),
            ("--linux", "linux", self.linux.is_some()),
            ("--memory", "memory", settings.memory.is_some()),
            ("--processor", "processor", settings.processor.is_some()),
        ];
        let twice = |(_, axis, given): &(_, &str, bool)| *given && crossed.contains_key(*axis);
        match given.into_iter().find(twice) {
            Some((flag, axis, _)) => Err(OptionsError::AxisAndOption { flag, axis }),
            None => Ok(()),
        }
    }

    /// The same as when a run was begun: what is left out now is taken from then, and what
    /// is given must be the same.
    ///
    /// # Errors
    /// [`OptionsError::Differs`] and [`OptionsError::SelectionFixed`] for what is given,
    /// [`OptionsError::UnknownLinux`] if it is not given and the run's is unknown, and
    /// [`OptionsError::Import`].
    pub fn as_begun(&self, info: &RunInfo) -> Result<Self, OptionsError> {
        let RunOrigin::Bench(bench) = info.bench.clone() else {
            return Err(OptionsError::Import);
        };
        differs("--on", self.bench.as_ref(), &bench)?;
        differs("--scale", self.scale.as_ref(), &info.scale)?;
        differs("--seed", self.seed.as_ref(), &info.seed)?;
        differs("--repeats", self.repeats.as_ref(), &info.repeats)?;
        if self.settings.quick && !info.is_quick() {
            return Err(OptionsError::NotQuick);
        }
        if !self.settings.axis.is_empty() && self.settings.axis != info.options.axis {
            return Err(OptionsError::AxesFixed);
        }
        if !self.settings.only.is_empty() || !self.settings.without.is_empty() {
            return Err(OptionsError::SelectionFixed);
        }
        let is_named = self.settings.kernel.is_some() || self.linux.is_some();
        Ok(Self {
            bench: Some(bench),
            repeats: Some(info.repeats),
            seed: Some(info.seed),
            scale: Some(info.scale),
            drives: self.drives_as_begun(&info.options)?,
            // That it is the same is seen by its digest, and by how it runs programs.
            linux: if is_named { self.linux } else { linux_of(&info.options)? },
            at_once: self.at_once,
            erase: self.erase.clone(),
            settings: as_begun(&self.settings, &info.options, is_named),
        })
    }

    fn drives_as_begun(&self, then: &RunSettings) -> Result<Option<DriveRequests>, OptionsError> {
        let drives = then.drives.as_ref().and_then(|drives| drives.parse().ok());
        if let Some(now) = self.drives.as_ref().filter(|now| Some(*now) != drives.as_ref()) {
            let then = then.drives.clone().unwrap_or_else(|| "those of the study".to_owned());
            return Err(OptionsError::Differs { flag: "--drives", now: now.to_string(), then });
        }
        Ok(drives)
    }
}

/// What is given now, and else what was then. That it is the same is seen by the bench's
/// description. `is_named` if a kernel is given now.
fn as_begun(now: &RunSettings, then: &RunSettings, is_named: bool) -> RunSettings {
    let (now, then) = (now.clone(), then.clone());
    RunSettings {
        memory: now.memory.or(then.memory),
        drive_size: now.drive_size.or(then.drive_size),
        processor: now.processor.or(then.processor),
        bus: now.bus.or(then.bus),
        fault: if now.fault.is_empty() { then.fault } else { now.fault },
        set_drive: if now.set_drive.is_empty() { then.set_drive } else { now.set_drive },
        kernel: if is_named { now.kernel } else { then.kernel },
        cell_limit: now.cell_limit.or(then.cell_limit),
        only: Vec::new(),
        without: Vec::new(),
        // The rule that ends it is asked for apart.
        goal: None,
        precision: None,
        budget: None,
        looks: None,
        ..then
    }
}

/// Which of the lab's kernels a run was begun with.
fn linux_of(then: &RunSettings) -> Result<Option<LinuxChoice>, OptionsError> {
    let unknown = |linux: &str| OptionsError::UnknownLinux { linux: linux.to_owned() };
    let read = |linux: &str| linux.parse().map_err(|_| unknown(linux));
    then.linux.as_deref().map(read).transpose()
}

/// Refuses an option that is given now and was another one then.
pub(crate) fn differs<T: Display + PartialEq>(
    flag: &'static str,
    now: Option<&T>,
    then: &T,
) -> Result<(), OptionsError> {
    match now {
        Some(now) if now != then => {
            Err(OptionsError::Differs { flag, now: now.to_string(), then: then.to_string() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use disklab_sample::Environment;
    use jiff::Timestamp;

    use super::*;

    fn info(options: RunSettings) -> RunInfo {
        RunInfo {
            disklab: String::new(),
            study: "s".to_owned(),
            title: String::new(),
            study_file: "s.toml".to_owned(),
            study_text: String::new(),
            bench: BenchKind::Lab.into(),
            bench_about: String::new(),
            options,
            scale: 0.5,
            repeats: 3,
            seed: 7,
            created: Timestamp::UNIX_EPOCH,
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        }
    }

    #[test]
    fn option_of_another_bench_is_refused() {
        let (bench, at_once) = (Some(BenchKind::Loop), Some(2));
        let on_loop = RunOptions { bench, at_once, ..RunOptions::default() };
        let error = on_loop.check().expect_err("refused");
        let expected = OptionsError::WrongBench {
            flag: "--at-once",
            applies: Applies::Lab,
            bench: BenchKind::Loop,
        };
        assert_eq!(error, expected);
        let in_lab = RunOptions { bench: None, ..on_loop };
        assert_eq!(in_lab.check(), Ok(()));
        for bench in [BenchKind::Lab, BenchKind::Dir("/srv".into())] {
            let settings =
                RunSettings { drive_size: Some(Bytes::gib(1)), ..RunSettings::default() };
            let sized = RunOptions { settings, bench: Some(bench), ..RunOptions::default() };
            let error = sized.check().expect_err("refused");
            let is_named = matches!(error, OptionsError::WrongBench { flag: "--drive-size", .. });
            assert!(is_named, "{error}");
        }
    }

    #[test]
    fn resumed_options_are_those_of_the_run() {
        let info = info(RunSettings {
            memory: Some(Bytes::gib(2)),
            cell_limit: Some(Duration::from_secs(60)),
            ..RunSettings::default()
        });
        let begun = RunOptions::default().as_begun(&info).expect("begun");
        assert_eq!((begun.seed, begun.repeats, begun.scale), (Some(7), Some(3), Some(0.5)));
        assert_eq!(begun.settings.memory, Some(Bytes::gib(2)));
        assert_eq!(begun.settings.cell_limit, Some(Duration::from_secs(60)));
        let drives = "wd-red-pro-22tb:6".parse().ok();
        let error =
            RunOptions { drives, ..RunOptions::default() }.as_begun(&info).expect_err("own");
        assert!(matches!(error, OptionsError::Differs { flag: "--drives", .. }), "{error}");
        let other = RunOptions { seed: Some(8), ..RunOptions::default() };
        let error = other.as_begun(&info).expect_err("differs");
        assert!(matches!(error, OptionsError::Differs { flag: "--seed", .. }), "{error}");
        let settings = RunSettings { only: vec!["a".to_owned()], ..RunSettings::default() };
        let only = RunOptions { settings, ..RunOptions::default() };
        assert_eq!(only.as_begun(&info).err(), Some(OptionsError::SelectionFixed));
    }

    #[test]
    fn resumed_run_keeps_its_kernel_unless_one_is_named() {
        let linux: LinuxChoice = "7.3".parse().expect("known");
        let begun = RunSettings { linux: Some(linux.to_string()), ..RunSettings::default() };
        let resumed = |options: RunOptions, begun: &RunSettings| {
            let begun = options.as_begun(&info(begun.clone())).expect("known");
            (begun.settings.kernel, begun.linux)
        };
        assert_eq!(resumed(RunOptions::default(), &begun), (None, Some(linux)));
        let kernel = Some("/k".into());
        let settings = RunSettings { kernel: kernel.clone(), ..RunSettings::default() };
        let named = RunOptions { settings: settings.clone(), ..RunOptions::default() };
        assert_eq!(resumed(named, &begun), (kernel, None));
        let chosen = RunOptions { linux: Some(linux), ..RunOptions::default() };
        assert_eq!(resumed(chosen, &settings), (None, Some(linux)));
    }

    #[test]
    fn run_with_an_unknown_kernel_is_not_resumed_with_another() {
        let unknown = RunSettings { linux: Some("9.1".to_owned()), ..RunSettings::default() };
        let error = RunOptions::default().as_begun(&info(unknown.clone())).err();
        assert_eq!(error, Some(OptionsError::UnknownLinux { linux: "9.1".to_owned() }));
        let settings = RunSettings { kernel: Some("/k".into()), ..RunSettings::default() };
        let named = RunOptions { settings, ..RunOptions::default() };
        let resumed = named.as_begun(&info(unknown)).expect("its kernel is named");
        assert_eq!((resumed.settings.kernel, resumed.linux), (Some("/k".into()), None));
    }
}
