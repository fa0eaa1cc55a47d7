//! What a run says of the day on which a drive fails.

use disklab_store::RunInfo;
use disklab_study::{DriveSpec, Study};

use crate::kept_data::KeptSummary;
use crate::rebuilds::RebuildSummary;
use crate::risk::{DriveAtRisk, RiskTable, RiskTerms, StackRisk};

/// What was measured of rebuilds, and what follows from it.
#[derive(Debug, Clone)]
pub struct Failures {
    /// How long each stack takes, and what bounds it.
    pub rebuilds: RebuildSummary,
    /// The chances to lose data.
    pub risk: RiskTable,
    /// What became of data that were read back.
    pub kept: KeptSummary,
}

impl Failures {
    /// Of a run's samples; nothing if they have neither.
    pub fn of(
        rebuilds: RebuildSummary,
        kept: KeptSummary,
        info: &RunInfo,
        study: &Study,
    ) -> Option<Self> {
        if rebuilds.is_empty() && kept.stacks.is_empty() {
            return None;
        }
        let drive = |drive: &DriveSpec| DriveAtRisk {
            name: drive.name.to_string(),
            model: drive.model.clone(),
            pass: None,
        };
        let drives: Vec<DriveAtRisk> = study.drives.iter().map(drive).collect();
        let hours = |stack: &str| rebuilds.hours(stack);
        let stacks = if rebuilds.is_empty() { &[][..] } else { &info.stacks };
        let risk = RiskTable::new(stacks, &drives, &hours, RiskTerms::default());
        Some(Self { rebuilds, risk, kept })
    }

    /// The chances of a stack.
    pub fn risk_of(&self, stack: &str) -> Option<&StackRisk> {
        self.risk.stacks.iter().find(|risk| risk.stack == stack)
    }
}
