//! From samples to statements: groups with intervals, comparisons, findings.

mod analysis;

pub use analysis::{
    Analysis, Answer, Comparison, Finding, Group, GroupKey, Observation, Outcome, Point, Severity,
};
