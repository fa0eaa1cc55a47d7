//! What one report of fio says, in whichever form.

use std::collections::BTreeMap;

use disklab_sample::{Cpu, Direction, DriveTraffic};
use disklab_source::Location;

use super::figures::JobDone;

/// One report of fio: what it prints at the end, or in between with `--status-interval`.
pub(super) struct FioReport {
    pub version: Option<String>,
    pub jobs: Vec<FioJob>,
    /// Options of all jobs, as lines of a job file.
    pub global: Vec<String>,
    /// Whether every option is listed that was given.
    pub lists_options: bool,
    pub drives: Vec<DriveTraffic>,
    pub surroundings: BTreeMap<String, String>,
    pub notes: Vec<String>,
    pub clock: ReportClock,
    /// Whether it is of the same run as the one before, where fio says it.
    pub continues: Option<bool>,
    pub place: Location,
}

/// What a report says of the time at which it was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReportClock {
    /// In milliseconds since 1970.
    Milliseconds(f64),
    /// In milliseconds since 1970, of a clock of whole seconds.
    Seconds(f64),
    /// Nothing.
    Absent,
}

/// What one job did, or all of a group.
pub(super) struct FioJob {
    pub name: String,
    /// Jobs before and behind `stonewall` or `new_group` are of two groups.
    pub group: u64,
    /// Its own options, as lines of a job file.
    pub options: Vec<String>,
    pub failure: Option<String>,
    pub done: Vec<(Direction, JobDone)>,
    pub cpu: Cpu,
    /// What to know of its figures.
    pub note: Option<String>,
}

impl FioReport {
    /// One without jobs.
    pub fn new(place: Location) -> Self {
        Self {
            version: None,
            jobs: Vec::new(),
            global: Vec::new(),
            lists_options: false,
            drives: Vec::new(),
            surroundings: BTreeMap::new(),
            notes: Vec::new(),
            clock: ReportClock::Absent,
            continues: None,
            place,
        }
    }
}

/// The directions in which fio counts, by its names.
pub(super) const DIRECTIONS: [(&str, Direction); 4] = [
    ("read", Direction::Read),
    ("write", Direction::Write),
    ("trim", Direction::Trim),
    ("mixed", Direction::Mixed),
];
