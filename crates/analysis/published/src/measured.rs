//! A run's figures, looked up.

use disklab_audits::{Group, Observation};
use disklab_stats::{CONFIDENCE, block_ratio, estimate};
use disklab_study::{LeftOut, Part, Study, matches};

use crate::{MeasuredStep, MeasuredTarget, NoFigure};

/// The input of a comparison with published rows.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredRun<'a> {
    /// As the run keeps it, so that it may have fewer questions than the shipped one.
    pub study: &'a Study,
    /// Its figures.
    pub groups: &'a [Group],
    /// All its cells.
    pub cells: &'a [CellFate],
    /// What its bench cannot do.
    pub left_out: &'a [LeftOut],
    /// Whether the run took place in the lab with a price on CPU time,
    /// without which that is free there.
    pub processor_charged: bool,
    /// By how much sizes were scaled; 1 is as the study says.
    pub scale: f64,
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellFate {
    /// The stack's id.
    pub stack: String,
    /// The workload's id.
    pub workload: String,
    /// Its block: which repeat it belongs to.
    pub block: u32,
    /// How it ended; `None` if it still waits.
    pub end: Option<CellEnd>,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellEnd {
    /// It has a sample.
    Done,
    /// It failed, with this text in the run's record.
    Failed(String),
}

/// One measured figure: its value in each block in which it was measured, in the
/// measurement's own unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MeasuredValues {
    /// (block, value).
    pub(crate) values: Vec<(u32, f64)>,
    /// What was done to it besides looking it up.
    pub(crate) note: Option<String>,
}

/// A figure with its interval: (centre, interval, blocks).
pub(crate) type Summed = (f64, Option<(f64, f64)>, usize);

impl MeasuredValues {
    /// The figure over all blocks.
    pub(crate) fn summed(&self) -> Option<Summed> {
        let values: Vec<f64> = self.values.iter().map(|(_, value)| *value).collect();
        let e = estimate(&values)?;
        Some((e.centre, e.interval.filter(|_| e.n > 1).map(|i| (i.low, i.high)), e.n))
    }

    /// This figure ÷ another, paired over the blocks that both have; over the figures
    /// as wholes, and without an interval, where there is no such block or a figure
    /// is 0.
    pub(crate) fn ratio_to(&self, other: &Self) -> Option<Summed> {
        let pairs: Vec<(f64, f64)> = self
            .values
            .iter()
            .filter_map(|(block, value)| {
                let (_, other) = other.values.iter().find(|(b, _)| b == block)?;
                Some((*value, *other))
            })
            .collect();
        // The interval of verdicts; each row is one comparison of its own.
        let ratio = block_ratio(&pairs, 1.0 - CONFIDENCE, None);
        if let Some(ratio) = ratio.filter(|r| r.pairs == pairs.len()) {
            let interval = ratio.interval.map(|i| (i.low, i.high));
            return Some((ratio.centre, interval, ratio.pairs));
        }
        let ((a, _, n), (b, _, m)) = (self.summed()?, other.summed()?);
        let ratio = a / b;
        ratio.is_finite().then_some((ratio, None, n.min(m)))
    }
}

impl MeasuredRun<'_> {
    /// A figure of `stack`.
    ///
    /// # Errors
    /// [`NoFigure`]: what the run lacks.
    pub(crate) fn values(
        &self,
        target: &MeasuredTarget,
        stack: &str,
    ) -> Result<MeasuredValues, NoFigure> {
        let stack = target.stack.as_deref().unwrap_or(stack);
        let fates = || {
            self.cells.iter().filter(|c| c.stack == stack && matches(&target.workload, &c.workload))
        };
        let values = if target.measure == MeasuredStep::Completes {
            let ended = fates().filter_map(|c| Some((c.block, c.end.as_ref()?)));
            let values =
                ended.map(|(b, end)| (b, if *end == CellEnd::Done { 1.0 } else { 0.0 })).collect();
            MeasuredValues { values, note: None }
        } else {
            self.figures(target, stack)
        };
        if values.values.is_empty() { Err(self.why_not(target, stack)) } else { Ok(values) }
    }

    fn figures(&self, target: &MeasuredTarget, stack: &str) -> MeasuredValues {
        let group = self.groups.iter().find(|group| {
            let key = &group.key;
            // The authors' figures are of whole steps.
            key.part == Part::Whole
                && key.levels.stack == stack
                && matches(&target.workload, &key.levels.workload)
                && matches(&target.step, &key.step)
                && matches(&target.direction, key.direction.word())
        });
        let Some(group) = group else { return MeasuredValues::default() };
        let mut note = None;
        let values = group
            .observations
            .iter()
            .filter_map(|o| {
                let mut value = value(o, target.measure)?;
                if let Some(work) = target.work_bytes.filter(|_| o.bytes > 0) {
                    let times = work as f64 / o.bytes as f64;
                    if (times - 1.0).abs() > 0.02 {
                        value *= times;
                        note = Some(format!(
                            "converted: this run moved 1/{} of the author's data",
                            disklab_units::significant(times, 3)
                        ));
                    }
                }
                Some((o.block, value))
            })
            .filter(|(_, value)| value.is_finite())
            .collect();
        MeasuredValues { values, note }
    }

    /// Why a figure is not there.
    fn why_not(&self, target: &MeasuredTarget, stack: &str) -> NoFigure {
        if self.study.stack_index(stack).is_none() {
            return NoFigure::NoStack(stack.to_owned());
        }
        let left_out = self.left_out.iter().find(|l| {
            l.stack.as_deref().is_none_or(|s| s == stack)
                && l.workload.as_deref().is_none_or(|w| matches(&target.workload, w))
        });
        if let Some(left_out) = left_out {
            return NoFigure::LeftOut(left_out.why.clone());
        }
        let cells: Vec<&CellFate> = self
            .cells
            .iter()
            .filter(|c| c.stack == stack && matches(&target.workload, &c.workload))
            .collect();
        let failed = cells.iter().find_map(|c| match &c.end {
            Some(CellEnd::Failed(error)) => Some(error),
            _ => None,
        });
        if let Some(error) = failed {
            return NoFigure::Failed(error.lines().next().unwrap_or_default().to_owned());
        }
        if cells.is_empty() {
            return NoFigure::NoCell;
        }
        if cells.iter().all(|c| c.end.is_none()) {
            return NoFigure::Waiting;
        }
        NoFigure::NoStep(target.step.clone())
    }
}

fn value(o: &Observation, measure: MeasuredStep) -> Option<f64> {
    match measure {
        MeasuredStep::Throughput => o.throughput,
        MeasuredStep::Iops => o.iops,
        MeasuredStep::Elapsed => Some(o.elapsed),
        MeasuredStep::Operations => o.operations.map(|n| n as f64),
        MeasuredStep::MeanLatency => o.latency.map(|l| l.mean_ns),
        MeasuredStep::WorstLatency => o.latency.map(|l| l.worst_ns),
        // Told by the cells, not by what they measured.
        MeasuredStep::Completes => None,
    }
}
