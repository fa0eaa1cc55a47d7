//! From the samples so far to what comes next.

use crate::alone::play_alone;
use crate::eliminate::play;
use crate::{Contest, Decision, Goal, Rules};

/// Plays the looks for which there are samples, and says what comes next. Rules that make
/// no sense (no blocks, an error of 0) are taken at the nearest that do.
pub fn decide(rules: &Rules, contest: &Contest) -> Decision {
    match rules.goal {
        Goal::Precision(share) if contest.stacks() == 1 => play_alone(rules, contest, share),
        _ => play(rules, contest),
    }
}
