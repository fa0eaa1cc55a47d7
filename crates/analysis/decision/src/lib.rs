//! What a run says in the end: for each purpose the stack to take, what a summary and each answer
//! say in sentences, and whether a second run differs from a first.
//!
//! [`analyse()`] makes one pass over a run's samples: they are grouped and audited, compared, and
//! put into words last. [`recommend()`] decides.

mod analyse;
mod analysis;
mod axis_effect;
#[cfg(test)]
mod characterization_tests;
mod contradictions;
mod directory;
mod drive_passes;
mod failures;
#[cfg(test)]
mod hostile;
mod kept_data;
mod purposes;
mod risk;
mod sentences;
mod summary;
#[cfg(test)]
mod testing;
mod versus;

pub use analyse::{AnalyseError, analyse};
pub use analysis::{Analyser, Analysis};
pub use axis_effect::AxisEffect;
pub use drive_passes::{PASS_PHASES, PassAction, PassSummary, StackPasses};
pub use failures::{FailureSamples, Failures};
pub use kept_data::{KeptSummary, StackKept, words as kept_words};
pub use purposes::{
    AdviceChange, Aspect, Confidence, DECIDES, DecidingFigure, NextBest, PURPOSES, Purpose,
    PurposeRank, RankVerdict, Recommendation, Score, StackChoice, Trade, recommend,
};
pub use risk::{RebuildSource, RiskTable, RiskTerms, StackRisk};
pub use versus::{
    ComparedRun, ComparisonTerms, Missing, Pair, RunVerdict, Unmatched, Versus, VersusError,
};
