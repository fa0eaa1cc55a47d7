//! What the cells of a run took.

use std::collections::HashMap;
use std::path::Path;

use disklab_cell::Levels;
use disklab_store::Run;
use disklab_study::load;

use crate::estimate::RunEstimate;
use crate::pilot::{ObservedCells, Pilot};
use crate::pilot_error::PilotError;
use crate::plan::Plan;

impl Pilot {
    /// From a run of the same study at the same scale on the same bench.
    ///
    /// # Errors
    /// [`PilotError`] if there is no run, if it is another study's, bench's or scale's, or has
    /// no cell.
    pub fn read(directory: &Path, plan: &Plan) -> Result<Self, PilotError> {
        let run = Run::open(directory)?;
        let info = run.info()?;
        let other = |what: &'static str, then: &str, now: &str| {
            let (directory, then, now) = (directory.to_owned(), then.to_owned(), now.to_owned());
            Err(PilotError::Differs { directory, what, then, now })
        };
        let study = load(&info.study_file, &info.study_text)?;
        if study.digest != plan.campaign.study.digest {
            return other("the study", &study.id, "another text");
        }
        if info.bench != plan.kind.clone().into() {
            return Err(PilotError::OtherBench {
                directory: directory.to_owned(),
                then: info.bench.to_string(),
                now: plan.bench.name.clone(),
            });
        }
        if plan.bench.is_simulated && info.bench_about != plan.bench.about {
            return other("the lab", &info.bench_about, &plan.bench.about);
        }
        if info.is_quick() != plan.is_quick() {
            let form = |quick| if quick { "the quick one" } else { "the whole one" };
            return other("the study's form", form(info.is_quick()), form(plan.is_quick()));
        }
        if info.scale != plan.campaign.scale {
            let (then, now) = (info.scale.to_string(), plan.campaign.scale.to_string());
            return other("the scale", &then, &now);
        }
        let formula = RunEstimate::new(plan);
        let mut cells: HashMap<Levels, ObservedCells> = HashMap::new();
        let (mut taken, mut predicted) = (0.0, 0.0);
        run.for_each_sample(|record, sample| {
            let Some(seconds) = record.seconds else { return };
            taken += seconds;
            predicted += formula.seconds(&record.cell);
            let seen = cells.entry(record.cell.levels.clone()).or_default();
            seen.cells += 1.0;
            seen.seconds += seconds;
            let steps: u64 = sample.steps.iter().map(|step| step.elapsed_ns).sum();
            seen.clock += sample.overhead.total_seconds()
                + sample.overhead.prewrite_seconds
                + steps as f64 / 1e9;
            seen.with_written += f64::from(u8::from(!sample.whole.is_empty()));
            for drive in &sample.whole {
                *seen.written.entry(drive.drive.clone()).or_default() += drive.write_bytes as f64;
            }
        })?;
        if cells.is_empty() {
            return Err(PilotError::NoCells { directory: directory.to_owned() });
        }
        let correction = if predicted > 0.0 { taken / predicted } else { 1.0 };
        Ok(Self { cells, correction })
    }
}
