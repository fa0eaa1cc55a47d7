//! Which stack is ahead during a run: for a line of progress. Nothing here claims to be
//! sure; that is what the report is for.

use disklab_audits::{Group, measure_of};
use disklab_study::{Measure, Study};

use crate::asked::asked;
use crate::figures::{FigureSet, figures};

/// Ratios below this are reported as equivalent.
const AHEAD_FROM: f64 = 1.01;

/// How the stacks rank in one figure of a question, by the means of the repeats so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Ahead {
    /// The question.
    pub ask: String,
    /// Which of its figures; empty where it has one alone.
    pub figure: String,
    /// The best stack.
    pub first: String,
    /// The next best.
    pub second: String,
    /// By how many times the first is better; 1 and more.
    pub ratio: f64,
    /// How many repeats each of the stacks has at least.
    pub repeats: usize,
}

impl Ahead {
    /// In a line whose end may be cut: 'xfs ahead, 1.35x ext4, after 3 repeats: How fast are large
    /// files read?'
    pub fn line(&self) -> String {
        let Self { ask, figure, first, second, ratio, repeats } = self;
        let figure = if figure.is_empty() { String::new() } else { format!(" {figure}") };
        let verdict = if *ratio < AHEAD_FROM {
            format!("{first} and {second} equal so far")
        } else {
            format!("{first} ahead, {ratio:.2}x {second}")
        };
        let s = if *repeats == 1 { "" } else { "s" };
        format!("{verdict}, after {repeats} repeat{s}: {ask}{figure}")
    }
}

/// How the stacks rank in the first question about this workload. `None` until two stacks
/// have its figure, and for latencies that nobody measured.
pub fn ahead(study: &Study, groups: &[Group], workload: &str) -> Option<Ahead> {
    let of_workload =
        |set: &FigureSet| set.groups.iter().any(|g| groups[*g].key.levels.workload == workload);
    asked(study, groups).into_iter().find_map(|asked| {
        let sets = figures(study, groups, &asked);
        let set = sets.iter().find(|set| of_workload(set))?;
        let covered: Vec<&Group> =
            sets.iter().flat_map(|s| &s.groups).map(|g| &groups[*g]).collect();
        let question = asked.question;
        let measure = question.measure.unwrap_or_else(|| measure_of(&covered, &question.chart));
        let mut stacks: Vec<Mean<'_>> =
            set.groups.iter().filter_map(|g| Mean::of(&groups[*g], measure)).collect();
        stacks.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        if measure.higher_is_better() {
            stacks.reverse();
        }
        let [first, second, ..] = stacks.as_slice() else { return None };
        let ratio = first.mean / second.mean;
        Some(Ahead {
            ask: question.ask,
            figure: [set.name.as_str(), set.x.as_deref().unwrap_or_default()]
                .join(" ")
                .trim()
                .to_owned(),
            first: first.stack.to_owned(),
            second: second.stack.to_owned(),
            ratio: ratio.max(ratio.recip()),
            repeats: stacks.iter().map(|s| s.repeats).min().unwrap_or_default(),
        })
    })
}

struct Mean<'a> {
    stack: &'a str,
    /// Above zero.
    mean: f64,
    repeats: usize,
}

impl<'a> Mean<'a> {
    fn of(group: &'a Group, measure: Measure) -> Option<Self> {
        let values: Vec<f64> = group.values(measure).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean.is_finite() && mean > 0.0).then_some(Self {
            stack: &group.key.levels.stack,
            mean,
            repeats: values.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ahead, ahead};
    use crate::testing::RunFixture;

    fn ahead_in(fixture: &RunFixture, workload: &str) -> Option<Ahead> {
        ahead(&fixture.study, fixture.auditor().groups(), workload)
    }

    #[test]
    fn the_best_stack_so_far_is_reported_with_its_lead() {
        let mut fixture =
            RunFixture::new("[[questions]]\nask = \"Well?\"\nworkloads = [\"buffered\"]");
        fixture.measured("single/ext4", "buffered", 0, 1e6);
        assert_eq!(ahead_in(&fixture, "buffered"), None, "one stack alone leads nobody");
        fixture.measured("single/xfs", "buffered", 0, 3e6);
        fixture.measured("single/xfs", "buffered", 1, 1e6);
        let ahead = ahead_in(&fixture, "buffered").expect("two stacks");
        assert_eq!(ahead.line(), "single/xfs ahead, 2.00x single/ext4, after 1 repeat: Well?");
        assert_eq!(ahead_in(&fixture, "dd-4k"), None, "it was not measured");
    }

    #[test]
    fn similar_stacks_are_equivalent() {
        let mut fixture = RunFixture::new("[[questions]]\nask = \"Well?\"\nworkloads = [\"dd-*\"]");
        for block in 0..2 {
            fixture.measured("single/ext4", "dd-4k", block, 1e6);
            fixture.measured("single/xfs", "dd-4k", block, 1.001e6);
            fixture.measured("single/xfs", "dd-64k", block, 1e6);
        }
        let line = ahead_in(&fixture, "dd-4k").expect("two stacks").line();
        assert_eq!(line, "single/xfs and single/ext4 equal so far, after 2 repeats: Well? dd-4k");
    }
}
