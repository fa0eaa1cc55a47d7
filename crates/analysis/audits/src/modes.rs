//! Figures whose repeats fall into two modes.
//!
//! A stack that is sometimes fast and sometimes slow has no typical repeat: the centre of its
//! ratios jumps with the share of the modes, and a dozen repeats that happened to agree are no
//! evidence that two stacks are equivalent.

use disklab_stats::{TwoModes, two_modes};
use disklab_study::Measure;

use crate::Group;

/// Of a hundred figures with one mode, at most one is taken for one with two.
const SIGNIFICANCE: f64 = 0.01;

/// Modes nearer than this cannot carry a ratio over the margin of ±5 %.
const NEAREST: f64 = 1.025;

/// The modes of positive values, of their logarithms.
pub fn modes(values: impl Iterator<Item = f64>) -> Option<TwoModes> {
    let logs: Vec<f64> = values.filter(|v| *v > 0.0).map(f64::ln).collect();
    two_modes(&logs).filter(|modes| modes.p < SIGNIFICANCE && modes.high - modes.low > NEAREST.ln())
}

/// The modes of a group's figure.
pub fn modes_of(group: &Group, measure: Measure) -> Option<TwoModes> {
    modes(group.values(measure))
}
