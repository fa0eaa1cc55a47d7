//! The faults and events that a plan's cells have.

use std::collections::{BTreeMap, BTreeSet};

use disklab_bench::{BenchError, FaultProblem, check_events, check_faults, check_speed};
use disklab_cell::Levels;
use disklab_study::{FAULT_AXIS, LeftOut, StudyFault};

use crate::{Plan, RunnerError};

/// A stack whose drives cannot have a fault of the study.
struct TooFewDrives {
    stack: String,
    level: String,
    error: BenchError,
}

fn level(levels: &Levels) -> Option<&String> {
    levels.further.get(FAULT_AXIS)
}

impl Plan {
    /// Refuses faults that drives cannot have and events that a stack cannot, leaves out stacks that
    /// have too few drives for a fault of the study, and says of the bench which faults all of its
    /// cells have.
    ///
    /// # Errors
    /// [`RunnerError`] with the first of them.
    pub(crate) fn check_stacks(&mut self) -> Result<(), RunnerError> {
        let mut seen = BTreeSet::new();
        let is_pass = self.settings.rebuild.is_some() || self.settings.scrub.is_some();
        let (mut without, mut unable) = (Vec::new(), BTreeMap::new());
        for cell in &self.cells {
            let (stack, level) = (&cell.levels.stack, level(&cell.levels));
            if !seen.insert((stack, level, &cell.levels.workload)) {
                continue;
            }
            let plan = self.compile(cell).map_err(RunnerError::prepare)?;
            match check_events(&plan).and_then(|()| check_speed(&plan)) {
                Err(why @ BenchError::Care { .. }) if is_pass => {
                    unable.entry(stack.clone()).or_insert(why);
                    continue;
                }
                checked => checked.map_err(RunnerError::prepare)?,
            }
            let Err(error) = check_faults(&plan) else { continue };
            let of_study = level.and_then(|level| self.fault(level));
            let is_short =
                matches!(error, BenchError::Fault { why: FaultProblem::NoSuchDrive { .. }, .. });
            match of_study {
                None => return Err(RunnerError::prepare(error)),
                Some(fault) if is_short => {
                    let (stack, level) = (stack.clone(), fault.id.clone());
                    without.push(TooFewDrives { stack, level, error });
                }
                Some(fault) => return Err(fault.place.error(error.to_string()).into()),
            }
        }
        self.leave_out(&without)?;
        self.leave_out_unable(unable)?;
        let faults: Vec<String> = self.campaign.faults.iter().map(ToString::to_string).collect();
        if !faults.is_empty() {
            self.bench.about.push_str(&format!("; with faults: {}", faults.join("; ")));
        }
        Ok(())
    }

    /// What goes wrong at a level of the study's axis.
    fn fault(&self, level: &str) -> Option<&StudyFault> {
        self.campaign.study.faults.iter().find(|fault| fault.id == level)
    }

    /// Leaves out stacks that cannot be rebuilt or scrubbed.
    fn leave_out_unable(
        &mut self,
        mut unable: BTreeMap<String, BenchError>,
    ) -> Result<(), RunnerError> {
        if unable.is_empty() {
            return Ok(());
        }
        self.preflight.levels.retain(|levels| !unable.contains_key(&levels.stack));
        if self.preflight.levels.is_empty()
            && let Some((_, error)) = unable.pop_first()
        {
            return Err(RunnerError::prepare(error));
        }
        let out = unable.iter().map(|(stack, why)| LeftOut::stack(stack, why.to_string()));
        self.preflight.left_out.extend(out);
        self.cells = self.order(self.repeats);
        Ok(())
    }

    fn leave_out(&mut self, without: &[TooFewDrives]) -> Result<(), RunnerError> {
        if without.is_empty() {
            return Ok(());
        }
        let is_out = |levels: &Levels| {
            without.iter().any(|w| w.stack == levels.stack && Some(&w.level) == level(levels))
        };
        self.preflight.levels.retain(|levels| !is_out(levels));
        for TooFewDrives { stack, level: missing, error } in without {
            let has = |levels: &Levels| level(levels) == Some(missing);
            if let Some(fault) = self.fault(missing)
                && !self.preflight.levels.iter().any(has)
            {
                return Err(fault.place.error(error.to_string()).into());
            }
            let why = format!("with the fault '{missing}': {error}");
            self.preflight.left_out.push(LeftOut::stack(stack, why));
        }
        self.cells = self.order(self.repeats);
        Ok(())
    }
}
