//! Which differences stand among all comparisons of a run.
//!
//! An answer's claims hold together by Holm's correction. A summary picks the strongest
//! of all answers: of thirty questions without any difference, one or two would claim
//! something by chance, and the summary would tell just these. So it tells only those
//! that stand among all comparisons of the run by Benjamini and Hochberg's correction: of
//! what such summaries tell, one in twenty is false at most, and where nothing differs,
//! one summary in twenty tells anything.

use disklab_audits::Group;
use disklab_stats::{CONFIDENCE, benjamini_hochberg};
use disklab_study::Measure;

use crate::compare::{Scatter, level_of, ratio_of_looks};
use crate::{Answer, Comparison};

/// The comparisons of a run that stand among all of them.
#[derive(Debug)]
pub struct StandingClaims(Vec<(Key, bool)>);

/// Group, baseline's group, measure: the same figures may answer several questions.
type Key = (usize, usize, Measure);

fn key(measure: Measure, comparison: &Comparison) -> Key {
    (comparison.group, comparison.baseline_group, measure)
}

impl StandingClaims {
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
