//! Two runs in words.

use disklab_comparisons::{Change, Distance, InconclusiveReason, MOST, ratio, value};
use disklab_stats::Interval;
use disklab_study::Measure;
use disklab_units::{list, per_cent};

use super::{Missing, Pair, Unmatched, Versus};

/// At most so many names in a list.
const NAMES: usize = 8;

impl Pair {
    /// The figure in A and in B, each with its interval, as `180 kB/s [171, 190]`.
    pub fn values(&self) -> [String; 2] {
        [&self.a, &self.b].map(|side| value(self.measure, self.operation, side))
    }

    /// B ÷ A with its interval, as `0.88 [0.84, 0.92]`; a dash where there is none.
    pub fn ratio_text(&self) -> String {
        self.ratio.map_or_else(|| "–".to_owned(), |centre| ratio(centre, self.interval))
    }

    /// How much worse B is, for sorting: the logarithm of the ratio, more being worse; 0
    /// without one.
    pub fn worse_by(&self) -> f64 {
        let sign = if self.measure.higher_is_better() { -1.0 } else { 1.0 };
        self.ratio.map_or(0.0, |ratio| sign * ratio.ln())
    }

    /// How far apart the two are: `12 % [8, 16]` or `a factor of 2.1 [1.9, 2.4]`; none where the
    /// interval has 1 in it, or there is none.
    pub fn distance(&self) -> Option<String> {
        let (centre, interval) = (self.ratio?, self.interval?);
        if interval.contains(1.0) || interval.low <= 0.0 {
            return None;
        }
        Some(match Distance::of(centre, interval) {
            Distance::Factor(factor, i) => format!("a factor of {factor} {i}"),
            Distance::Percent(share) => share,
        })
    }

    /// What may be said of it, in a few words: 'slower by 12 % [8, 16]', 'equivalent within
    /// 5 %', 'inconclusive: 8 repeats on each side would show 5 %'.
    pub fn verdict(&self, margin: f64) -> String {
        let margin = margin_text(margin);
        let by = || self.distance().map_or_else(String::new, |d| format!(" by {d}"));
        match &self.change {
            Change::Slower | Change::Faster if self.measure == Measure::Missed => {
                let word = if self.change == Change::Slower { "more" } else { "fewer" };
                format!("{word} missed{}", by())
            }
            Change::Slower => format!("slower{}", by()),
            Change::Faster => format!("faster{}", by()),
            Change::Equivalent => format!("equivalent within {margin}"),
            Change::Identical => "identical".to_owned(),
            Change::Inconclusive(why) => {
                format!("inconclusive: {}{}", self.so_far(why), self.why(why, &margin))
            }
        }
    }

    fn why(&self, why: &InconclusiveReason, margin: &str) -> String {
        let (a, b) = (self.a.n, self.b.n);
        match why {
            InconclusiveReason::TooFew { needed: None } if a.min(b) == 1 => {
                let where_ = match (a, b) {
                    (1, 1) => "in both runs",
                    (1, _) => "in A",
                    _ => "in B",
                };
                format!("measured once {where_}; at least 3 repeats on each side are needed")
            }
            InconclusiveReason::TooFew { needed: None } => {
                format!("{} repeats are too few; at least 3 on each side are needed", a.min(b))
            }
            InconclusiveReason::TooFew { needed: Some(n) } => {
                format!("about {n} repeats on each side would show {margin}")
            }
            InconclusiveReason::TooNoisy { noise } => format!(
                "with noise of {} from repeat to repeat, {MOST} on each side would not show {margin}",
                per_cent(*noise)
            ),
            InconclusiveReason::OnTheEdge => {
                format!("too close to the {margin} margin for more repeats to help")
            }
            InconclusiveReason::Suspect(audits) => format!("suspect ({})", audits.join(", ")),
            InconclusiveReason::NoRatio => "a value is 0, which has no ratio".to_owned(),
        }
    }

    /// The direction, where that is known.
    fn so_far(&self, why: &InconclusiveReason) -> String {
        if matches!(why, InconclusiveReason::Suspect(_) | InconclusiveReason::NoRatio) {
            return String::new();
        }
        let Some(interval) = self.interval.filter(|i| !i.contains(1.0)) else {
            return String::new();
        };
        let Interval { low, .. } = interval;
        let faster = (low > 1.0) == self.measure.higher_is_better();
        let by = self.distance().unwrap_or_default();
        format!("{} by {by}; ", if faster { "faster" } else { "slower" })
    }
}

/// A margin in per cent: `5 %`, `2.5 %`.
fn margin_text(margin: f64) -> String {
    format!("{} %", (margin * 1e4).round() / 1e2)
}

impl Missing {
    /// In a sentence.
    pub fn text(&self) -> String {
        let Self { run, stack, workload, error } = self;
        match error {
            Some(error) => format!("{workload} on {stack} failed in {run}: {error}"),
            None => format!("{workload} on {stack} has not run in {run}"),
        }
    }
}

impl Unmatched {
    /// One sentence per kind of thing; none where all is matched.
    pub fn sentences(&self) -> Vec<String> {
        let names = |all: &[String]| list(all.iter().map(String::as_str), NAMES);
        let mut sentences: Vec<String> = [
            ("Stacks only in A", &self.stacks_only_in_a),
            ("Stacks only in B", &self.stacks_only_in_b),
            ("Workloads only in A", &self.workloads_only_in_a),
            ("Workloads only in B", &self.workloads_only_in_b),
            ("Figures only in B", &self.figures_only_in_b),
        ]
        .into_iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(what, all)| format!("{what}: {}.", names(all)))
        .collect();
        if self.not_asked > 0 {
            let (figures, are) = if self.not_asked == 1 {
                ("1 figure of B".to_owned(), "is")
            } else {
                (format!("{} figures of B", self.not_asked), "are")
            };
            sentences.push(format!(
                "Not compared, because none of B's questions asks for it: {figures} {are} left out."
            ));
        }
        sentences
    }
}

impl Versus {
    /// All figures, worst first: slower ones, what is inconclusive, faster ones, the rest; among
    /// each the largest change for the worse first, of the faster ones the fastest.
    pub fn worst_first(&self) -> Vec<&Pair> {
        let rank = |pair: &Pair| match &pair.change {
            Change::Slower => 0,
            Change::Inconclusive(_) => 1,
            Change::Faster => 2,
            Change::Equivalent => 3,
            Change::Identical => 4,
        };
        let mut all: Vec<&Pair> = self.pairs.iter().collect();
        let first = |pair: &Pair| match pair.change {
            Change::Faster => -pair.worse_by(),
            _ => pair.worse_by(),
        };
        all.sort_by(|x, y| rank(x).cmp(&rank(y)).then(first(y).total_cmp(&first(x))));
        all
    }

    /// How many figures are of each change: slower, faster, equivalent, identical, inconclusive.
    pub fn counts(&self) -> [usize; 5] {
        let words = ["slower", "faster", "equivalent", "identical", "inconclusive"];
        words.map(|word| self.pairs.iter().filter(|p| p.change.word() == word).count())
    }

    /// The counts in a sentence: 'Of 12 figures 1 is slower, 2 are faster, …'.
    pub fn headline(&self) -> String {
        self.headline_of("B against A")
    }

    /// The same, with what is compared in words.
    pub(crate) fn headline_of(&self, compared: &str) -> String {
        let [slower, faster, equivalent, identical, inconclusive] = self.counts();
        let margin = margin_text(self.margin);
        let within = format!("equivalent within {margin}");
        let parts: Vec<String> = [
            (slower, "slower"),
            (inconclusive, "inconclusive"),
            (faster, "faster"),
            (equivalent, within.as_str()),
            (identical, "identical"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {} {what}", if n == 1 { "is" } else { "are" }))
        .collect();
        let mut text = if self.pairs.is_empty() {
            format!("{compared}: no figure was measured in both.")
        } else {
            format!(
                "{compared}: of {}, {}.",
                disklab_units::count(self.pairs.len(), "figure"),
                list(parts.iter().map(String::as_str), 5)
            )
        };
        if slower == 0 && !self.pairs.is_empty() {
            let rest = if inconclusive > 0 {
                " Nothing is shown to be slower."
            } else {
                " Nothing is slower."
            };
            text.push_str(rest);
        }
        if !self.missing.is_empty() {
            let n = self.missing.len();
            text.push_str(&format!(
                " {} in one of the runs.",
                if n == 1 {
                    "1 cell is missing".to_owned()
                } else {
                    format!("{n} cells are missing")
                }
            ));
        }
        text
    }
}
