//! What another level of an axis changes, within one run.

use disklab_comparisons::Change;

use crate::purposes::StackChoice;
use crate::versus::{ComparedRun, ComparisonTerms, Pair, Versus};

/// What is within this counts as the same, as a share.
const MARGIN: f64 = 0.05;

/// A run's figures at another level of one axis, against those at its first.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisEffect {
    /// Such as `memory`.
    pub axis: String,
    /// Its first level.
    pub ordinary: String,
    /// The other one.
    pub level: String,
    /// A is the first level, B the other.
    pub versus: Versus,
    /// Where another stack is the one to take, in sentences.
    pub choices: Vec<String>,
}

impl AxisEffect {
    /// Of the cells at the first level (`ordinary`) and at the other. `None` if one of them has
    /// measured nothing yet.
    pub fn of(
        axis: &str,
        (ordinary, a): (&str, &ComparedRun<'_>),
        (level, b): (&str, &ComparedRun<'_>),
    ) -> Option<Self> {
        let terms =
            ComparisonTerms { margin: MARGIN, unplanned: true, ..ComparisonTerms::default() };
        let versus = Versus::of(a, b, &terms).ok()?;
        let choices = choices(a, b, &format!("{axis} {level}"));
        let [axis, ordinary, level] = [axis, ordinary, level].map(str::to_owned);
        Some(Self { axis, ordinary, level, versus, choices })
    }

    /// What is compared: 'memory 8GiB against 1GiB'.
    pub fn title(&self) -> String {
        format!("{} {} against {}", self.axis, self.level, self.ordinary)
    }

    /// What is faster and slower, in a sentence.
    pub fn headline(&self) -> String {
        self.versus.headline_of(&self.title())
    }

    /// The figures that are known to have changed, worst first.
    pub fn changed(&self) -> Vec<&Pair> {
        let is_changed = |pair: &&Pair| matches!(pair.change, Change::Slower | Change::Faster);
        self.versus.worst_first().into_iter().filter(is_changed).collect()
    }
}

/// A sentence for each purpose for which another stack is to be taken at B's level.
fn choices(a: &ComparedRun<'_>, b: &ComparedRun<'_>, at: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for there in &b.analysis.recommendations {
        let here = a.analysis.recommendations.iter().find(|r| r.purpose == there.purpose);
        for choice in &there.decisions {
            let same = |other: &&StackChoice| other.survives == choice.survives;
            let Some(before) = here.and_then(|r| r.decisions.iter().find(same)) else { continue };
            if before.take == choice.take || before.as_good.contains(&choice.take) {
                continue;
            }
            let survives = match choice.survives {
                None => String::new(),
                Some(0) => ", if no drive may fail".to_owned(),
                Some(1) => ", if one drive may fail".to_owned(),
                Some(n) => format!(", if {n} drives may fail"),
            };
            sentences.push(format!(
                "With {at}, for {}{survives}: {} instead of {}.",
                there.purpose.title, choice.take, before.take
            ));
        }
    }
    sentences
}
