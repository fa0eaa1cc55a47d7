//! What a run says of the day on which a drive fails.

use disklab_options::{BenchKind, RunOrigin};
use disklab_sample::Sample;
use disklab_store::RunInfo;
use disklab_study::Study;

use crate::drive_passes::{PassAction, PassSummary, StackPasses};
use crate::kept_data::KeptSummary;
use crate::risk::{DriveAtRisk, RiskTable, RiskTerms, StackRisk};

/// A chance is worth a word if another is so many times less. What is not certain is the same for both.
const MUCH_LESS: f64 = 1.5;

/// What was measured of rebuilds and scrubs, and what follows from it.
#[derive(Debug, Clone)]
pub struct Failures {
    /// How long each stack takes to be redundant again, and what bounds it.
    pub rebuilds: PassSummary,
    /// The same of scrubs.
    pub scrubs: PassSummary,
    /// The chances to lose data.
    pub risk: RiskTable,
    /// What became of data that were read back.
    pub kept: KeptSummary,
}

/// The samples of a run, as far as they say something of that day.
#[derive(Debug, Clone)]
pub struct FailureSamples {
    rebuilds: PassSummary,
    scrubs: PassSummary,
    kept: KeptSummary,
}

impl Default for FailureSamples {
    fn default() -> Self {
        let [rebuilds, scrubs] = [PassAction::Rebuild, PassAction::Scrub].map(PassSummary::new);
        Self { rebuilds, scrubs, kept: KeptSummary::default() }
    }
}

impl FailureSamples {
    /// Takes in a sample of this stack.
    pub fn add(&mut self, stack: &str, sample: &Sample) {
        self.rebuilds.add(stack, sample);
        self.scrubs.add(stack, sample);
        self.kept.add(stack, sample);
    }

    /// What follows from them, for the stacks of this run and on these terms.
    pub fn finish(self, info: &RunInfo, study: &Study, terms: RiskTerms) -> Failures {
        let Self { rebuilds, scrubs, kept } = self;
        let drives: Vec<DriveAtRisk> = match info.bench {
            RunOrigin::Bench(BenchKind::Lab) => {
                study.drives.iter().map(DriveAtRisk::modelled).collect()
            }
            RunOrigin::Bench(BenchKind::Disks(_)) => {
                info.environment.drives.iter().map(DriveAtRisk::real).collect()
            }
            _ => Vec::new(),
        };
        let mut stacks = info.stacks.clone();
        if drives.is_empty() {
            // Files fail with the disks that they lie on.
            stacks.iter_mut().for_each(|stack| stack.loss = None);
        }
        let measured = |stack: &str| rebuilds.hours(stack);
        let risk = RiskTable::new(&stacks, &drives, &measured, terms);
        Failures { rebuilds, scrubs, risk, kept }
    }
}

impl Failures {
    /// Adds what another level of an axis, in words, costs each rebuild and scrub, or saves.
    pub fn compare(&mut self, level: &str, other: &FailureSamples) {
        self.rebuilds.compare(level, &other.rebuilds);
        self.scrubs.compare(level, &other.scrubs);
    }

    /// Whether it says nothing of any stack.
    pub fn is_empty(&self) -> bool {
        let survives = |stack: &StackRisk| stack.tolerates > 0;
        self.kept.stacks.is_empty()
            && self.rebuilds.is_empty()
            && self.scrubs.is_empty()
            && !self.risk.stacks.iter().any(survives)
    }

    /// The chances of a stack.
    pub fn risk_of(&self, stack: &str) -> Option<&StackRisk> {
        self.risk.stacks.iter().find(|risk| risk.stack == stack)
    }

    /// How long a stack takes to be redundant again once a new drive is in; none if it never is, or
    /// that is not known.
    pub fn rebuilt_in(&self, stack: &str) -> Option<String> {
        let measured = self.rebuilds.of(stack).map(StackPasses::time_words);
        let risk = self.risk_of(stack).filter(|risk| risk.tolerates > 0);
        measured.or_else(|| risk.map(StackRisk::rebuild_words))
    }

    /// How long a scrub of a stack takes, if that was measured.
    pub fn scrubbed_in(&self, stack: &str) -> Option<String> {
        self.scrubs.of(stack).map(StackPasses::time_words)
    }

    /// What a stack may lose, next to the safest of these if that loses much less: 'It loses
    /// something in 5 years with a chance of 6 %; RAID 10 · XFS with 2 %'. `name` names stacks.
    pub fn sentence<'a>(
        &self,
        stack: &str,
        among: impl Iterator<Item = &'a str>,
        name: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let own = self.risk_of(stack)?;
        let chance = |risk: &StackRisk| risk.chance.some.value;
        let safest = among
            .filter_map(|other| self.risk_of(other))
            .min_by(|a, b| chance(a).total_cmp(&chance(b)))
            .filter(|safest| chance(safest) * MUCH_LESS <= chance(own));
        let mut text = format!(
            "Its chance of losing any data in {} is {}",
            self.risk.term_words(),
            own.some_words()
        );
        if let Some(safest) = safest {
            let (other, chance) = (name(&safest.stack), safest.some_words());
            text.push_str(&format!("; that of {other}, the safest of these, is {chance}"));
        }
        Some(text + ".")
    }
}

#[cfg(test)]
mod tests {
    use disklab_cell::LossTree;
    use disklab_sample::{Direction, DrivePass, Latency, LatencyHistogram, PassWindow};
    use disklab_study::PlannedStack;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn stack(id: &str, tolerates: u32) -> PlannedStack {
        let parts = (0..4).map(LossTree::Drive).collect();
        PlannedStack {
            id: id.to_owned(),
            layers: Vec::new(),
            drives: ["d-1", "d-2", "e-1", "e-2"].map(str::to_owned).to_vec(),
            capacity: 1,
            tolerates,
            loss: Some(LossTree::parts(tolerates, 10_000_000_000_000, parts)),
            copies: false,
        }
    }

    fn failures(bench: BenchKind, stacks: &[(&str, u32)]) -> Failures {
        let more = "[[drives]]\nmodel = \"m\"\nname = \"e\"\ncount = 2\nsize = \"1 TB\"";
        let mut fixture = RunFixture::new(more);
        fixture.info.bench = bench.into();
        fixture.info.stacks = stacks.iter().map(|(id, tolerates)| stack(id, *tolerates)).collect();
        let terms = RiskTerms { rebuild: Some(10.0), ..RiskTerms::default() };
        FailureSamples::default().finish(&fixture.info, &fixture.study, terms)
    }

    #[test]
    fn files_on_a_disk_fail_with_it() {
        let stacks = [("raid0/ext4", 0), ("raid5/ext4", 1)];
        let lab = failures(BenchKind::Lab, &stacks);
        assert!(!lab.is_empty());
        assert_eq!(lab.rebuilt_in("raid5/ext4").as_deref(), Some("10 h 00 min"));
        assert_eq!(lab.rebuilt_in("raid0/ext4"), None, "it never is redundant");
        assert_eq!(lab.scrubbed_in("raid5/ext4"), None);
        let files = failures(BenchKind::Loop, &stacks);
        assert!(files.is_empty() && files.risk_of("raid5/ext4").is_none());
        assert_eq!(files.risk.left_out.len(), 2);
        assert!(failures(BenchKind::Lab, &stacks[..1]).is_empty(), "nothing can be rebuilt");
    }

    #[test]
    fn the_safest_is_named_if_it_is_much_safer() {
        let lab =
            failures(BenchKind::Lab, &[("raid5/ext4", 1), ("raid5/xfs", 1), ("raid6/ext4", 2)]);
        let sentence = |among: &[&str]| {
            let name = |stack: &str| stack.to_uppercase();
            lab.sentence("raid5/ext4", among.iter().copied(), &name).expect("its risk is known")
        };
        let alone = sentence(&["raid5/ext4", "raid5/xfs"]);
        assert!(alone.starts_with("Its chance of losing any data in 5 years is "), "{alone}");
        assert!(alone.ends_with("].") && !alone.contains("safest"), "{alone}");
        let among = sentence(&["raid5/ext4", "raid6/ext4"]);
        assert!(among.contains("; that of RAID6/EXT4, the safest of these, is "), "{among}");
        assert_eq!(lab.sentence("dir", ["raid6/ext4"].into_iter(), &str::to_owned), None);
    }

    /// A pass over a drive at this rate, and the other work meanwhile.
    fn passed(action: PassAction, rate: u64) -> Sample {
        let window = PassWindow {
            stands_for: 1_000_000_000,
            bytes: rate,
            elapsed_ns: 1_000_000_000,
            busy: vec![0.9, 0.1],
            ..PassWindow::default()
        };
        let pass = Some(DrivePass { drive: String::new(), windows: vec![window] });
        let mut histogram = LatencyHistogram::new();
        histogram.record(1_000_000, 1);
        let mut write = figure(Direction::Write, 1, 1.0);
        write.latency = Some(Latency::from_histogram(histogram));
        let mut last = step("meanwhile", vec![write.clone()]);
        match action {
            PassAction::Rebuild => last.rebuild = pass,
            PassAction::Scrub => last.scrub = pass,
        }
        Sample { steps: vec![step("healthy", vec![write]), last], ..Sample::default() }
    }

    #[test]
    fn levels_of_an_axis_have_their_cost_in_rebuilds_and_scrubs() {
        let measured = |rate| {
            let mut samples = FailureSamples::default();
            for action in [PassAction::Rebuild, PassAction::Scrub] {
                samples.add("raid5/ext4", &passed(action, rate));
            }
            samples
        };
        let fixture = RunFixture::new("");
        let mut failures =
            measured(50_000_000).finish(&fixture.info, &fixture.study, RiskTerms::default());
        assert!(!failures.is_empty(), "passes were measured");
        assert_eq!(failures.rebuilt_in("raid5/ext4").as_deref(), Some("20.0 s (once)"));
        assert_eq!(failures.scrubbed_in("raid5/ext4").as_deref(), Some("20.0 s (once)"));
        failures.compare("memory 8GiB", &measured(100_000_000));
        for (summary, done) in [(&failures.rebuilds, "rebuilt"), (&failures.scrubs, "scrubbed")] {
            let sentences = summary.sentences();
            let expected =
                format!("raid5/ext4, memory 8GiB: {done} 2.00× as fast, with 1.00× write p99.");
            assert_eq!(sentences.last(), Some(&expected));
        }
    }
}
