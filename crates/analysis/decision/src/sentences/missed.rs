//! Deadlines missed: counts, of which 0 is the best and has no ratio.

use disklab_comparisons::{ComparisonOutcome, Point};
use disklab_units::{count, list};

use super::{AnswerWriter, NAMES};

impl AnswerWriter<'_> {
    /// Per figure, who missed none and how many the others missed; then the
    /// differences of which a ratio can be given.
    pub(super) fn missed(&self) -> Vec<String> {
        let figures = self.answer.points.chunk_by(|a, b| a.figure == b.figure && a.x == b.x);
        let mut all: Vec<String> = figures.map(|points| self.counts(points)).collect();
        let comparisons = &self.answer.comparisons;
        if comparisons.iter().any(|c| c.outcome != ComparisonOutcome::Once) {
            all.extend(self.differences());
            all.extend(self.level());
            all.extend(self.open());
        }
        all.extend(self.without_ratio());
        all
    }

    fn counts(&self, points: &[Point]) -> String {
        let Some(first) = points.first() else { return String::new() };
        let (none, some): (Vec<&Point>, Vec<&Point>) =
            points.iter().partition(|p| p.estimate.centre == 0.0);
        let name = |p: &&Point| format!("{}{}", self.stack(p.group), self.suspicion(&[p.group]));
        let runs = points.iter().map(|p| p.estimate.n).max().unwrap_or_default();
        let mut parts = Vec::new();
        if !none.is_empty() {
            let names: Vec<String> = none.iter().map(name).collect();
            let names = list(names.iter().map(String::as_str), NAMES);
            parts.push(format!("no deadline is missed by {names}"));
        }
        if !some.is_empty() {
            let mut some = some;
            some.sort_by(|a, b| a.estimate.centre.total_cmp(&b.estimate.centre));
            let figures: Vec<String> =
                some.iter().map(|p| format!("{} by {}", self.figure(p), name(p))).collect();
            let figures = list(figures.iter().map(String::as_str), NAMES);
            parts.push(if none.is_empty() { format!("missed are {figures}") } else { figures });
        }
        let runs =
            if runs > 1 { format!(" in {}", count(runs, "run")) } else { " (one run)".to_owned() };
        format!("{}{}{runs}.", self.prefix(first.group), parts.join("; "))
    }

    /// Says that ratios are wanting, where they are.
    fn without_ratio(&self) -> Option<String> {
        let zero =
            |p: &Point| self.groups[p.group].observations.iter().any(|o| o.missed == Some(0));
        let mut figures = self.answer.points.chunk_by(|a, b| a.figure == b.figure && a.x == b.x);
        // Where nobody has missed any there is nothing to compare.
        let wanting = |points: &[Point]| {
            points.iter().any(zero) && points.iter().any(|p| p.estimate.centre > 0.0)
        };
        figures.any(wanting).then(|| {
            "A count of 0 has no ratio to others: stacks that missed none in a run are not \
             compared by a factor."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use disklab_comparisons::{Answer, ComparisonOutcome};
    use disklab_sample::Direction;
    use disklab_study::Measure;

    use crate::testing::{RunFixture, figure, step};

    fn answer(counts: &[(&str, &[u64])]) -> (Answer, Vec<String>) {
        let mut fixture = RunFixture::new("[[questions]]\nask = \"?\"\nworkloads = \"fio\"");
        for (stack, counts) in counts {
            for (block, missed) in counts.iter().enumerate() {
                let mut read = figure(Direction::Read, 1 << 20, 1.0);
                read.missed = Some(*missed);
                fixture.sample(stack, "fio", block as u32, vec![step("play", vec![read])]);
            }
        }
        let analysis = fixture.analyse();
        let summary = analysis.summary.join(" ");
        assert!(!summary.contains("NaN") && !summary.contains("inf"), "{summary}");
        assert!(!summary.contains("fastest"), "{summary}");
        (analysis.answers.into_iter().next().expect("one question"), analysis.sentences.concat())
    }

    #[test]
    fn counts_of_zero_are_reported_and_not_compared() {
        let (answer, sentences) = answer(&[
            ("single/ext4", &[0, 0, 0]),
            ("single/btrfs", &[4, 6, 5]),
            ("raid1/ext4", &[0, 1, 0]),
        ]);
        assert_eq!(answer.measure, Measure::Missed);
        assert!(answer.comparisons.is_empty(), "{:?}", answer.comparisons);
        let text = sentences.join(" ");
        assert!(text.contains("no deadline is missed by single/ext4; "), "{text}");
        assert!(text.contains("by raid1/ext4 and 4.93 deadlines ["), "{text}");
        assert!(text.contains("has no ratio"), "{text}");
        let low = answer.points[2].estimate.interval.expect("three runs").low;
        assert_eq!(low, 0.0);
    }

    #[test]
    fn who_never_misses_has_no_ratio_to_who_always_does() {
        let (_, sentences) = answer(&[("single/ext4", &[0, 0, 0]), ("raid1/ext4", &[4, 6, 5])]);
        assert!(sentences.join(" ").contains("has no ratio"), "{sentences:?}");
    }

    #[test]
    fn counts_above_zero_are_compared() {
        let (answer, sentences) =
            answer(&[("single/ext4", &[10, 11, 10]), ("raid1/ext4", &[40, 44, 41])]);
        let comparison = &answer.comparisons[0];
        assert_eq!((comparison.outcome, comparison.pairs), (ComparisonOutcome::Worse, 3));
        let text = sentences.join(" ");
        assert!(text.contains("single/ext4 misses 10.3 deadlines ["), "{text}");
        assert!(text.contains("fewer by a factor of 4.0 ["), "{text}");
        assert!(!text.contains("has no ratio"), "{text}");
    }

    #[test]
    fn one_run_is_called_so() {
        let (_, sentences) = answer(&[("single/ext4", &[0]), ("raid1/ext4", &[3])]);
        let text = sentences.join(" ");
        assert!(text.contains("3 deadlines (once) by raid1/ext4 (one run)."), "{text}");
    }

    #[test]
    fn one_stack_alone_has_its_count() {
        let (_, sentences) = answer(&[("single/ext4", &[0, 0])]);
        assert_eq!(sentences.len(), 1, "{:?}", sentences);
        assert!(sentences[0].contains("no deadline is missed by single/ext4 in 2 runs"));
    }
}
