//! Guests for measuring.

use std::path::{Path, PathBuf};

use crate::SpeedOptions;
use crate::drive::{DriveMark, Record, Recorded};
use crate::job::{SPEED_JOB, SpeedJob};
use disklab_lab::ContentLimits;
use disklab_lab::console;
use disklab_lab::{DiskOptions, Lab, LabError, LabOptions, LabReport};
use disklab_lab_guest::GUEST;

/// Reads of one measurement: a second or two.
pub(crate) const READS: u64 = 20_000;
/// Memory of the guests but for booting, in MiB: booting is not what they tell.
const SMALL_MIB: u64 = 128;

/// A guest to be measured.
pub(crate) struct TimedGuest<'o> {
    pub options: &'o SpeedOptions,
    pub core: usize,
    pub job: SpeedJob,
    pub drives: usize,
    pub memory_mib: u64,
}

impl TimedGuest<'_> {
    /// Boots it, has it do its job, and returns its marks.
    pub fn run(&self) -> Result<(LabReport, Vec<DriveMark>), LabError> {
        let directory = Directory::new(&self.options.directory, self.core)?;
        let record = Record::default();
        let mut options =
            LabOptions::new(&self.options.kernel, &directory.0, &self.options.program);
        options.init_arguments = [GUEST.to_owned(), SPEED_JOB.to_owned()].into();
        options.init_arguments.extend(self.job.words());
        options.memory_bytes = self.memory_mib << 20;
        options.kernel_arguments.clone_from(&self.options.kernel_arguments);
        options.core = Some(self.core);
        options.interrupt = self.options.interrupt.clone();
        let disk = |n| DiskOptions::new(Recorded::boxed(&record), format!("SPEED{n}"));
        options.disks = (0..self.drives).map(disk).collect();
        options.content = ContentLimits::default();
        let report = Lab::start(options)?.run()?;
        let marks = record.marks();
        if marks.len() == self.job.marks() {
            return Ok((report, marks));
        }
        let console = console::tail(&directory.0.join(console::FILE));
        Err(LabError::Ended { status: "without doing its job".to_owned(), console })
    }
}

/// A guest on the core that is measured.
pub(crate) fn guest(options: &SpeedOptions, job: SpeedJob, drives: usize) -> TimedGuest<'_> {
    TimedGuest { options, core: options.core, job, drives, memory_mib: SMALL_MIB }
}

/// A directory that goes when this does.
struct Directory(PathBuf);

impl Directory {
    fn new(parent: &Path, core: usize) -> Result<Self, LabError> {
        let path = parent.join(format!("core{core}"));
        std::fs::create_dir(&path)
            .map_err(LabError::system(format!("create directory '{}'", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
