//! What will run on a bench, and what will not.

use disklab_cell::{DATA, LossTree, PlannedLayer};
use serde::{Deserialize, Serialize};

/// A stack on a bench.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStack {
    /// As the study gives it: `raid1/ext4`.
    pub id: String,
    /// Its layers, bottom-up; none for a directory as it is.
    pub layers: Vec<PlannedLayer>,
    /// The drives below it, by their names in the study.
    pub drives: Vec<String>,
    /// Predicted usable bytes.
    pub capacity: u64,
    /// How many drives may fail.
    pub tolerates: u32,
    /// Which drives must fail before data are lost, by their places in `drives`; a directory as it
    /// is, and runs of older versions, do not say it.
    pub loss: Option<LossTree>,
    /// Whether it keeps data by copies alone, all of them equal: a read may take any of them.
    pub copies: bool,
}

impl PlannedStack {
    /// Its drives, each with what it is for.
    pub fn roles(&self) -> impl Iterator<Item = (&str, &str)> {
        let roles = PlannedLayer::roles(&self.layers, self.drives.len());
        self.drives.iter().map(String::as_str).zip(roles)
    }

    /// What a drive is for: [`DATA`] if it is not one of them.
    pub fn role_of(&self, drive: &str) -> &str {
        self.roles().find(|(name, _)| *name == drive).map_or(DATA, |(_, role)| role)
    }

    /// The drives that its data are on.
    pub fn data_drives(&self) -> impl Iterator<Item = &str> {
        self.roles().filter(|(_, role)| *role == DATA).map(|(drive, _)| drive)
    }

    /// Its drives for people: `hdd-1, hdd-2; log nvme-1`.
    pub fn drive_words(&self) -> String {
        let (mut words, mut last) = (String::new(), DATA);
        for (drive, role) in self.roles() {
            match (words.is_empty(), role == last) {
                (true, true) => {}
                (false, true) => words.push_str(", "),
                (first, false) => {
                    words.push_str(if first { "" } else { "; " });
                    words.push_str(&format!("{role} "));
                }
            }
            (words, last) = (words + drive, role);
        }
        words
    }
}

/// A stack, a workload or a pair of them that does not run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The stack; every stack where absent.
    pub stack: Option<String>,
    /// The workload; every workload where absent.
    pub workload: Option<String>,
    /// Why: `needs md (raid5) in the kernel`.
    pub why: String,
    /// Debian's packages without which it does not run; installing them all may not be
    /// enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
}

impl LeftOut {
    /// A stack, with all its workloads.
    pub fn stack(id: &str, why: impl Into<String>) -> Self {
        Self { stack: Some(id.to_owned()), workload: None, why: why.into(), packages: Vec::new() }
    }

    /// A workload, on all stacks.
    pub fn workload(id: &str, why: impl Into<String>) -> Self {
        Self { stack: None, workload: Some(id.to_owned()), why: why.into(), packages: Vec::new() }
    }

    /// One workload on one stack.
    pub fn pair(stack: &str, workload: &str, why: impl Into<String>) -> Self {
        Self { workload: Some(workload.to_owned()), ..Self::stack(stack, why) }
    }

    /// The same, with the packages that it lacks.
    #[must_use]
    pub fn lacking<'a>(mut self, packages: impl IntoIterator<Item = &'a str>) -> Self {
        self.packages = packages.into_iter().map(str::to_owned).collect();
        self
    }
}
