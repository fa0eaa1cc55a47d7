//! Changes of level in a history of results, as Hunter finds them.
//!
//! Fleming, Kołaczkowski, Kumar, Nilakantan and Rodriguez, 'Hunter: using change point
//! detection to hunt for performance regressions', ICPE 2023 (now Apache Otava).
//! Candidates are the largest splits of [E-divisive](crate::best_split) in overlapping
//! windows; a t test in place of permutations decides, so that the same history always
//! gives the same answer, and a change that was found once does not vanish when results
//! are added.

use crate::energy::best_split;
use crate::welch::welch_p;

/// Values in a window.
const WINDOW: usize = 50;
/// What a candidate's p-value may be: ten times that of a change.
const CANDIDATE: f64 = 0.01;
/// What a change's p-value may be.
const CHANGE: f64 = 0.001;
/// Changes of less are of no interest.
const LEAST_CHANGE: f64 = 0.05;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// The first value at the new level.
    pub index: usize,
    /// Mean since the change before.
    pub before: f64,
    /// Mean until the next one.
    pub after: f64,
    /// Probability of such a difference where there is none (Welch's t).
    pub p: f64,
}

impl LevelChange {
    /// The change as a share of the level before; infinite where that was 0.
    pub fn relative(&self) -> f64 {
        (self.after - self.before) / self.before.abs()
    }
}

/// The changes of level by more than 5 % with p below 0.001, in order. None are found
/// in fewer than four values, nor where a value is not finite.
pub fn level_changes(values: &[f64]) -> Vec<LevelChange> {
    if values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let mut points = candidates(values);
    loop {
        let changes: Vec<LevelChange> =
            (0..points.len()).map(|at| change(values, &points, at)).collect();
        // The weakest: first by p, then by size.
        let weak = |c: &LevelChange| c.p >= CHANGE || c.relative().abs() <= LEAST_CHANGE;
        let weakest =
            changes.iter().enumerate().filter(|(_, c)| weak(c)).max_by(|(_, a), (_, b)| {
                let size = |c: &LevelChange| (c.after - c.before).abs();
                a.p.total_cmp(&b.p).then(size(b).total_cmp(&size(a)))
            });
        let Some((at, _)) = weakest else { return changes };
        points.remove(at);
    }
}

fn candidates(values: &[f64]) -> Vec<usize> {
    let mut points = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let end = (start + WINDOW).min(values.len());
        split(values, start, end, &mut points);
        if end == values.len() {
            break;
        }
        start += WINDOW / 2;
    }
    points.sort_unstable();
    points.dedup();
    points
}

/// Adds the candidates within a part. A part has at most a window's values, so that
/// the depth of calls is bounded.
fn split(values: &[f64], start: usize, end: usize, points: &mut Vec<usize>) {
    let Some(best) = best_split(&values[start..end]) else { return };
    let at = start + best.index;
    if welch_p(&values[start..at], &values[at..end]) <= CANDIDATE {
        points.push(at);
        split(values, start, at, points);
        split(values, at, end, points);
    }
}

fn change(values: &[f64], points: &[usize], at: usize) -> LevelChange {
    let index = points[at];
    let start = if at == 0 { 0 } else { points[at - 1] };
    let end = points.get(at + 1).copied().unwrap_or(values.len());
    let (left, right) = (&values[start..index], &values[index..end]);
    let mean = |part: &[f64]| part.iter().map(|v| v / part.len() as f64).sum::<f64>();
    LevelChange { index, before: mean(left), after: mean(right), p: welch_p(left, right) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::energy::tests::HALVED;

    #[test]
    fn hunters_own_case() {
        let found = level_changes(&HALVED);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].index, 10);
        assert!((found[0].relative() + 0.501).abs() < 1e-3, "{found:?}");
        // Hunter's 1.4e-17 is of population deviations and equal variances.
        assert!(found[0].p < 1e-12, "{found:?}");
    }

    #[test]
    fn small_changes_and_noise_are_left_out() {
        let noise = |i: i32| (f64::from(i) * 12.9898).sin() * 0.5;
        let flat: Vec<f64> = (0..200).map(|i| 100.0 + noise(i)).collect();
        assert_eq!(level_changes(&flat), []);
        let three_per_cent: Vec<f64> =
            (0..200).map(|i| if i < 100 { 100.0 } else { 103.0 } + noise(i)).collect();
        assert_eq!(level_changes(&three_per_cent), []);
        let ten: Vec<f64> =
            (0..200).map(|i| if i < 110 { 100.0 } else { 110.0 } + noise(i)).collect();
        let found: Vec<usize> = level_changes(&ten).iter().map(|c| c.index).collect();
        assert_eq!(found, [110]);
    }

    #[test]
    fn hostile_input_has_no_changes() {
        assert_eq!(level_changes(&[]), []);
        assert_eq!(level_changes(&[f64::NAN; 50]), []);
        assert_eq!(level_changes(&[0.0; 50]), []);
        assert_eq!(level_changes(&[1.0, 2.0]), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn found_changes_are_what_they_say(values in proptest::collection::vec(0.0_f64..100.0, 0..120)) {
            let found = level_changes(&values);
            prop_assert!(found.windows(2).all(|w| w[0].index < w[1].index));
            for change in found {
                prop_assert!(change.p < CHANGE && change.relative().abs() > LEAST_CHANGE);
            }
        }
    }
}
