//! How long to run, pure: which stacks continue, and when it is enough.
//!
//! [`decide()`] takes one [`Contest`], that is one figure of all stacks with its values by
//! block, and says which stacks are needed up to which block, or that it is over and what
//! came of it. It is a pure function of the samples: it plays the looks from the first
//! one on, so that an interrupted campaign resumes as if it had not been.
//!
//! A bench uses it so:
//! 1. Carry out whole blocks in randomised order until every stack has as many as
//!    [`Next::blocks`] says (at first: [`Rules::looks`]`()[0]`).
//! 2. Call [`decide()`] for each figure that a question asks for. A cell (stack × workload)
//!    is needed in the next blocks if any figure of that workload still lists the stack in
//!    [`Next::stacks`], up to the largest [`Next::blocks`] of these figures. Within a block
//!    the order is drawn anew of the cells that are left.
//! 3. Stop when every figure's [`Decision::next`] is none, or the budget is spent. What
//!    [`Decision::conclusion`] says then is what may be claimed; what is inconclusive stays so.
//!
//! A cell that failed counts as carried out, without a value. Values that a look did not
//! ask for (another figure needed the cell) change nothing of that look.
//!
//! What is guaranteed: for each contest, whatever the values, the true best is dropped
//! with a probability of at most half of [`Rules::error`] (goal best), any pair is put in
//! the wrong order or wrongly called tied with at most [`Rules::error`] (goal rank), and all
//! intervals hold together with at least 1 − [`Rules::error`] (precision), because the error
//! is divided by the looks and the pairs before the first look (Bonferroni). That is as
//! good as the test behind it, see [`disklab_stats::BlockTest`]: exact where ranks bear the
//! level, roughly normal noise before. A report on such a run must judge its comparisons by
//! [`Rules::looks`] too: multiply each p by the number of looks.
//!
//! A lone stack has no ratio; for a precision, its figure is measured until the
//! interval is narrow enough. That interval is at 99 % (see
//! [`disklab_stats::CONFIDENCE_OF_LOOKS`]): it holds the figure in 94 to 99 % of
//! campaigns, as far as repeats do not depend on each other.
//!
//! For the goal best, too, the error is divided by all pairs: the leader is chosen by the
//! samples, so that any two stacks may meet.
//!
//! After Even-Dar, Mannor and Mansour, 'Action elimination and stopping conditions',
//! Journal of Machine Learning Research 7 (2006), with paired blocks in place of
//! independent arms.

mod alone;
#[cfg(test)]
mod characterization_tests;
mod contest;
mod decide;
mod decision;
mod eliminate;
mod outcome;
mod rules;
#[cfg(test)]
mod tests;
mod width;

pub use contest::Contest;
pub use decide::decide;
pub use decision::{Conclusion, Decision, Next, Rank, StackStanding};
pub use outcome::{CampaignOutcome, Exactness, FigureOutcome, Nearest, Stop};
pub use rules::{Goal, Rules, looks};
