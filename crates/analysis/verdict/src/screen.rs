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

use crate::compare::{Scatter, level_of, ratio_of_looks};
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
                let ratio = ratio_of_looks(
                    group,
                    baseline,
                    *measure,
                    level,
                    &Scatter { looks, prior: None },
                );
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

    #[test]
    fn the_faster_of_two_stands_or_falls_with_their_comparison() {
        let mut questions = String::new();
        for id in ["w0", "w1"] {
            questions += &format!(
                "[[workloads]]\nid = \"{id}\"\nfio = {{ size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }}\n\
                 [[questions]]\nask = \"{id}?\"\nworkloads = \"{id}\"\nmeasure = \"throughput\"\n"
            );
        }
        let mut fixture = RunFixture::new(&questions);
        // Two equal stacks in the lab, each with its own drives, as they came out.
        let same = [
            [173.89, 181.14, 182.89, 177.34, 181.72, 179.76, 180.0, 181.71],
            [184.15, 175.4, 177.07, 175.56, 181.09, 180.96, 176.39, 174.26],
        ];
        let by_chance = [
            [110.36, 113.17, 109.84, 115.51, 110.36, 109.54, 115.69, 108.05],
            [109.92, 113.3, 109.16, 103.0, 100.09, 106.74, 101.13, 103.41],
        ];
        for (id, rates) in [("w0", same), ("w1", by_chance)] {
            for (stack, rates) in ["single/ext4", "raid1/ext4"].iter().zip(rates) {
                fixture.repeats(stack, id, &rates.map(|rate| rate * 1e6));
            }
        }
        let analysis = fixture.analyse();
        assert_eq!(analysis.answers[1].comparisons[0].outcome, ComparisonOutcome::Worse);
        let summary = &analysis.summary;
        assert!(summary.iter().any(|s| s.starts_with("Left out here")), "{summary:?}");
        assert!(summary.iter().all(|s| !s.starts_with("For ")), "{summary:?}");
    }
}
