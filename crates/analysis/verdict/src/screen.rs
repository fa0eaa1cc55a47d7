//! Which differences stand among all comparisons of a run.
//!
//! An answer's claims hold together by Holm's correction. A summary picks the strongest
//! of all answers: of thirty questions without any difference, one or two would claim
//! something by chance, and the summary would tell just these. So it tells only those
//! that stand among all comparisons of the run by Benjamini and Hochberg's correction: of
//! what such summaries tell, one in twenty is false at most, and where nothing differs,
//! one summary in twenty tells anything.

use disklab_stats::{CONFIDENCE, benjamini_hochberg};
use disklab_study::Measure;

use crate::compare::{level_of, ratio_of_looks};
use crate::{Answer, Comparison, Group};

/// The comparisons of a run that stand among all of them.
#[derive(Debug)]
pub(crate) struct Screen(Vec<(Key, bool)>);

/// Group, baseline's group, measure: the same figures may answer several questions.
type Key = (usize, usize, Measure);

fn key(measure: Measure, comparison: &Comparison) -> Key {
    (comparison.group, comparison.baseline_group, measure)
}

impl Screen {
    /// Looks at all answers together.
    pub fn of(groups: &[Group], answers: &[&Answer]) -> Self {
        let mut keys: Vec<Key> = Vec::new();
        for answer in answers {
            let judged = answer.comparisons.iter().filter(|c| c.p.is_some());
            keys.extend(judged.map(|c| key(answer.measure, c)));
        }
        let order = |k: &Key| (k.0, k.1, format!("{:?}", k.2));
        keys.sort_by_cached_key(order);
        keys.dedup();
        let level = level_of(keys.len());
        let looks = answers.iter().map(|answer| answer.looks).max().unwrap_or(1);
        let raw: Vec<f64> = keys
            .iter()
            .map(|(group, baseline, measure)| {
                let (group, baseline) = (&groups[*group], &groups[*baseline]);
                let ratio = ratio_of_looks(group, baseline, *measure, level, looks);
                ratio.and_then(|r| r.p).unwrap_or(1.0)
            })
            .collect();
        let adjusted = benjamini_hochberg(&raw);
        Self(keys.into_iter().zip(adjusted.into_iter().map(|p| p <= 1.0 - CONFIDENCE)).collect())
    }

    /// Whether a comparison stands among all of them.
    pub fn stands(&self, measure: Measure, comparison: &Comparison) -> bool {
        let wanted = key(measure, comparison);
        self.0.iter().any(|(key, stands)| *stands && *key == wanted)
    }
}

#[cfg(test)]
mod tests {
    use crate::ComparisonOutcome;
    use crate::testing::RunFixture;

    /// Twelve questions about the same two stacks, of which the first differ by this
    /// factor, and the others not at all.
    fn run(different: usize, factor: f64) -> crate::Analysis {
        let mut questions = String::new();
        for n in 0..12 {
            questions += &format!(
                "[[workloads]]\nid = \"w{n}\"\nfio = {{ size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }}\n\
                 [[questions]]\nask = \"{n}?\"\nworkloads = \"w{n}\"\nmeasure = \"throughput\"\n"
            );
        }
        let mut fixture = RunFixture::new(&questions);
        for n in 0..12 {
            let times = if n < different { factor } else { 1.0 };
            let rates = [100e6, 104e6, 97e6, 101e6];
            fixture.repeats("single/ext4", &format!("w{n}"), &rates);
            let others = [101e6, 101e6, 100e6, 99.5e6].map(|rate| rate * times);
            fixture.repeats("raid1/ext4", &format!("w{n}"), &others);
        }
        fixture.analyse()
    }

    #[test]
    fn a_lone_weak_claim_of_many_questions_is_not_the_runs_summary() {
        // Differs in its own answer with p near 0.02.
        let alone = run(1, 1.07);
        assert_eq!(alone.answers[0].comparisons[0].outcome, ComparisonOutcome::Better);
        assert!(alone.summary.iter().all(|s| !s.starts_with("For ")), "{:?}", alone.summary);
        let left_out = alone.summary.iter().find(|s| s.contains("among all 12 comparisons"));
        assert!(left_out.is_some(), "{:?}", alone.summary);
        // A strong one is, and so are weak ones that are many.
        let strong = run(1, 2.0);
        assert!(strong.summary[0].starts_with("For "), "{:?}", strong.summary);
        let many = run(10, 1.07);
        assert!(many.summary[0].starts_with("For "), "{:?}", many.summary);
        assert!(!many.summary.iter().any(|s| s.contains("among all")), "{:?}", many.summary);
    }
}
