//! From how much to how much a run goes.

use disklab_runner::{Plan, Prediction, RunEstimate};
use disklab_units::{Bytes, show_seconds};
use serde_json::{Value, json};

/// The blocks of a run: of a fixed one, all that it has.
pub struct PlanExtent {
    /// Real seconds of what it runs at least.
    seconds: f64,
    /// How many times as much it may run at most; 1 where that is fixed.
    times_at_most: f64,
    /// Where there is a budget: its seconds, seconds of a block, and blocks that end in it.
    budget: Option<(f64, f64, u32)>,
    first_look: u32,
    has_looks: bool,
    is_simulated: bool,
    /// Whether it rests on what cells of a run took.
    is_learnt: bool,
    /// Whether cells write more than is predicted, if the drives let them.
    writes_more: bool,
}

impl PlanExtent {
    /// Of a run of which this is predicted for the cells that it has at least.
    pub fn new(plan: &Plan, estimate: &RunEstimate<'_>, prediction: &Prediction) -> Self {
        let mut extent = Self {
            seconds: prediction.seconds,
            times_at_most: 1.0,
            budget: None,
            first_look: 0,
            has_looks: false,
            is_simulated: plan.bench.is_simulated,
            is_learnt: estimate.is_learnt(),
            writes_more: prediction.is_least && !estimate.is_learnt(),
        };
        let Some(how_long) = &plan.stop else { return extent };
        extent.has_looks = how_long.looks_for.is_some();
        extent.first_look = how_long.first_look();
        let mut most = how_long.most_blocks();
        if let Some(budget) = how_long.budget {
            let block = estimate.block_seconds();
            let fit = (budget.as_secs_f64() / block.max(1e-3)) as u32;
            most = most.min(fit);
            extent.budget = Some((budget.as_secs_f64(), block, most));
        }
        extent.times_at_most = f64::from(most) / f64::from(extent.first_look);
        extent
    }

    /// What to say of its time, line by line.
    pub fn times(&self) -> Vec<String> {
        let show = show_seconds;
        let mut lines = Vec::new();
        if self.has_looks && self.times_at_most >= 1.0 {
            lines.push(format!(
                "from about {} to about {}: all may be decided at the first look, after {} \
                 blocks, or be still open after {:.0}",
                show(self.seconds),
                show(self.seconds * self.times_at_most),
                self.first_look,
                f64::from(self.first_look) * self.times_at_most
            ));
        } else if self.budget.is_none() {
            lines.push(format!("about {}", show(self.seconds)));
        }
        if let Some((budget, block, fit)) = self.budget {
            let clock = if self.is_simulated { " of real time, not virtual" } else { "" };
            lines.push(format!(
                "{}{clock}: about {} a block, so that about {fit} blocks of all cells end in it",
                show(budget),
                show(block)
            ));
            if self.has_looks && fit < self.first_look {
                lines.push(format!(
                    "too short for the first look after {} blocks: nothing will be decided",
                    self.first_look
                ));
            }
        }
        lines.push(self.certainty().to_owned());
        lines
    }

    /// How sure the time is. Before anything ran, plans were off by 0.8 to 2 times on loop
    /// and by 3 to 11 times on a loaded machine in the lab; from a first block, by 1 %, and
    /// by 9 to 18 % where the load changed (docs/validation/calibration.md).
    fn certainty(&self) -> &'static str {
        if self.is_learnt {
            "from the cells of that run: within 15 %, unless the machine's load changes"
        } else {
            "estimated; this machine's speed is not known yet: between a third of that and three times \
             as long, or more if other programs keep it busy; after a first block, plan --from RUN \
             is within 15 %"
        }
    }

    /// What to say of bytes that what it runs at least writes.
    pub fn bytes(&self, written: Bytes) -> String {
        if self.writes_more {
            return format!(
                "at least {} ({}): some of it is written until its time is over",
                written.si(),
                written.iec()
            );
        }
        let about = |bytes: Bytes| format!("about {} ({})", bytes.si(), bytes.iec());
        if self.times_at_most == 1.0 {
            return about(written);
        }
        let most = Bytes((written.0 as f64 * self.times_at_most) as u64);
        if self.has_looks && self.times_at_most > 1.0 {
            format!("{} to the first look, at most {}", about(written), about(most))
        } else {
            about(most)
        }
    }

    /// What the times rest on, for programs: `formula`, or the cells of a `run`.
    pub fn rests_on(&self) -> &'static str {
        if self.is_learnt { "run" } else { "formula" }
    }

    /// The same for programs; null where it is fixed.
    pub fn describe(&self) -> Value {
        if self.first_look == 0 {
            return Value::Null;
        }
        json!({
            "first_look_blocks": self.first_look,
            "at_most_times_the_prediction": self.times_at_most,
            "budget_seconds": self.budget.map(|b| b.0),
            "block_seconds": self.budget.map(|b| b.1),
            "blocks_that_fit": self.budget.map(|b| b.2),
        })
    }
}
