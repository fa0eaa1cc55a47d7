//! From samples to statements: groups with intervals, comparisons, findings.
//!
//! [`analyse()`] makes one pass over a run's samples. [`Analyser`] is its pure
//! core: samples go in one by one, and an [`Analysis`] comes out. Audits are one
//! file each in `audits/` and one line in [`AUDITS`].

mod ahead;
mod analyse;
mod analyser;
mod analysis;
mod answer;
mod asked;
mod audits;
mod blocks_needed;
mod choice;
mod compare;
mod contradictions;
mod decision;
mod describe;
mod evidence;
mod figures;
pub mod floors;
#[cfg(test)]
mod hostile;
mod modes;
mod nothing;
mod quantity;
mod screen;
mod sentences;
mod summary;
#[cfg(test)]
mod testing;
mod unsteady;
mod versus;
mod words;

pub use ahead::Ahead;
pub use analyse::{AnalyseError, analyse};
pub use analyser::Analyser;
pub use analysis::{
    Analysis, Answer, Comparison, ComparisonOutcome, DriveBytes, Finding, Group, GroupKey,
    LatencySummary, MemoryReadShare, Observation, Point, Severity,
};
pub use audits::{AUDITS, Audit, Reproducer, audits_markdown};
pub use blocks_needed::{Ask, BlocksError, Planned, Tails, blocks_needed};
pub use decision::{
    AdviceChange, Aspect, Confidence, DECIDES, DecidingFigure, NextBest, PURPOSES, Purpose,
    PurposeRank, RankWord, Recommendation, Score, StackChoice, Trade, recommend,
};
pub use quantity::{
    Quantity, Unit, confidence_level, measure_heading, range, show_figure, times, times_range,
};
pub use versus::{
    Change, Missing, Pair, RunVerdict, Side, Terms, Unmatched, Versus, VersusError, Why,
};
