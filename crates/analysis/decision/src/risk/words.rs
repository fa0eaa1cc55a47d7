//! The risk in words.

use std::fmt::Write;

use disklab_risk::{FailureRate, HazardInput, PUBLISHED_YEARS, Uncertain};
use disklab_units::{count, show_seconds, significant};

use super::table::{RebuildSource, RiskTable, StackRisk};

/// Whatever is rarer is decided by what no such simulation knows.
const LEAST: f64 = 1e-9;

/// A chance with no more digits than it deserves: `6 %`, `0.02 %`, `1 in 300,000`.
fn chance_words(chance: f64) -> String {
    if chance <= 0.0 {
        return "none".to_owned();
    }
    if chance < LEAST {
        return "under 1 in a billion".to_owned();
    }
    if chance >= 0.9995e-4 {
        return format!("{} %", significant(chance * 100.0, if chance < 0.095 { 1 } else { 2 }));
    }
    format!("1 in {}", short_number(first_digit(1.0 / chance)))
}

/// 486 is some 500.
fn first_digit(number: f64) -> f64 {
    let size = 10_f64.powf(number.log10().floor());
    (number / size).round() * size
}

/// `300,000`, `2 million`, `50 billion`.
fn short_number(number: f64) -> String {
    for (size, word) in [(1e9, "billion"), (1e6, "million")] {
        if number >= size {
            return format!("{} {word}", significant(number / size, 1));
        }
    }
    let digits = format!("{number:.0}");
    let (thousands, rest) = digits.split_at(digits.len().saturating_sub(3));
    if thousands.is_empty() { rest.to_owned() } else { format!("{thousands},{rest}") }
}

fn between(value: &Uncertain, words: fn(f64) -> String) -> String {
    if value.is_exact() {
        return words(value.value);
    }
    format!("{} [{}, {}]", words(value.value), words(value.low), words(value.high))
}

fn hours(hours: f64) -> String {
    show_seconds(hours * 3600.0)
}

fn one_in(bits: f64) -> String {
    format!("{bits:e}")
}

fn share(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

impl StackRisk {
    /// How long it lacks redundancy once a drive has failed.
    pub fn exposed_words(&self) -> String {
        let words = |exposed: Uncertain| format!("{}{}", self.least(), hours(exposed.value));
        self.exposed.map_or("never".to_owned(), words)
    }

    /// How long the rebuild alone takes.
    pub fn rebuild_words(&self) -> String {
        match self.rebuild.value {
            // A bound of 16 h 41 min would say more than it knows.
            value if self.source == RebuildSource::OnePass && value >= 2.0 => {
                format!("{}{:.0} h", self.least(), value.floor())
            }
            value => format!("{}{}", self.least(), hours(value)),
        }
    }

    fn least(&self) -> &'static str {
        match self.source {
            RebuildSource::OnePass => "at least ",
            RebuildSource::Measured | RebuildSource::ByUser => "",
        }
    }

    /// Which of the values that are not certain changes the chance to lose something most; none if
    /// none is.
    pub fn decided_by(&self) -> Option<&'static str> {
        self.chance.swings.first().map(|swing| match swing.input {
            HazardInput::Failures => "how many drives fail",
            HazardInput::Replacement => "how soon a drive is replaced",
            HazardInput::Rebuild => "how long the rebuild takes",
            HazardInput::Unreadable => "how often a sector cannot be read",
        })
    }

    /// That chance at the ends of the value.
    fn decided_between(&self) -> String {
        let ends = self.chance.swings.first();
        let ends = ends.map(|s| [s.at_low.min(s.at_high), s.at_low.max(s.at_high)]);
        let [a, b] = ends.unwrap_or_default().map(chance_words);
        format!("the chance that {} loses any data is between {a} and {b}", self.stack)
    }

    /// The chance to lose something.
    pub fn some_words(&self) -> String {
        between(&self.chance.some, chance_words)
    }

    /// The chance to lose all.
    pub fn all_words(&self) -> String {
        between(&self.chance.all, chance_words)
    }

    /// The same without its interval, where there is little room.
    pub fn all_alone_words(&self) -> String {
        chance_words(self.chance.all.value)
    }

    /// What a table shows of it, but for its name.
    fn row(&self) -> [String; 5] {
        [
            format!("{} of {}", self.tolerates, self.drives),
            self.exposed_words(),
            self.some_words(),
            self.all_words(),
            chance_words(self.formula),
        ]
    }
}

/// Stacks of which the same is to be said, in one name: `raid5/*, shr/ext4`.
fn together(stacks: &[&StackRisk]) -> String {
    let layout = |stack: &&StackRisk| match stack.stack.split_once('/') {
        Some((layout, _)) => layout.to_owned(),
        None => stack.stack.clone(),
    };
    let names = stacks.chunk_by(|a, b| layout(a) == layout(b)).map(|same| match same {
        [one] => one.stack.clone(),
        several => several.first().map(layout).unwrap_or_default() + "/*",
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The first of some names, and how many more there are.
fn some_of(names: &str) -> String {
    let all: Vec<&str> = names.split(", ").collect();
    match all.as_slice() {
        [a, b, c, _, rest @ ..] => format!("{a}, {b}, {c} and {} more", rest.len() + 1),
        _ => names.to_owned(),
    }
}

impl RiskTable {
    /// For how long: '5 years'.
    pub fn term_words(&self) -> String {
        years(self.terms.years)
    }

    /// All of it, for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("What may be lost in {}\n", years(self.terms.years));
        for (name, value) in self.assumptions() {
            let _ = writeln!(text, "  {name:<15}{value}");
        }
        text.push('\n');
        let title = [
            "stack",
            "may fail",
            "redundant again",
            "loses something",
            "loses all",
            "usual formula",
        ];
        let mut rows = vec![title.map(str::to_owned).to_vec()];
        let all: Vec<&StackRisk> = self.stacks.iter().collect();
        for same in all.chunk_by(|a, b| a.row() == b.row()) {
            let row = same.first().map(|stack| stack.row()).unwrap_or_default();
            rows.push([together(same)].into_iter().chain(row).collect());
        }
        let widths: Vec<usize> = (0..6)
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        for (stack, why) in &self.left_out {
            let _ = writeln!(text, "  {stack}: left out, as {why}");
        }
        text.push('\n');
        for line in self.notes() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// What it rests on: a name and a value each.
    pub fn assumptions(&self) -> Vec<(&'static str, String)> {
        let mut lines: Vec<(&str, String)> = Vec::new();
        lines.extend(self.failures().into_iter().map(|line| ("failures", line)));
        let wait = between(&self.replaced_after, hours);
        let after = if self.terms.spares == 0 {
            format!("{wait} after a drive failed (--replaced-after)")
        } else {
            format!(
                "at once by {}, replaced after {wait}",
                count(self.terms.spares as usize, "spare")
            )
        };
        lines.push(("replaced", after));
        let bits = between(&self.bits_per_unreadable, one_in);
        lines.push(("read errors", format!("1 bit in {bits} read (--unreadable)")));
        let mut sources: Vec<&str> = self
            .stacks
            .iter()
            .filter(|s| s.tolerates > 0)
            .map(|s| match s.source {
                RebuildSource::Measured => "as measured in the run",
                RebuildSource::OnePass => {
                    "at least one pass over what is copied; disklab rebuild measures it"
                }
                RebuildSource::ByUser => "as given with --rebuild",
            })
            .collect();
        sources.sort_unstable();
        sources.dedup();
        if !sources.is_empty() {
            lines.push(("rebuild", sources.join(", or ")));
        }
        lines.push((
            "used",
            format!(
                "{} of the space: ZFS and Btrfs rebuild no more (--used)",
                share(self.terms.used)
            ),
        ));
        lines
    }

    /// How many drives fail, and where that comes from.
    fn failures(&self) -> Vec<String> {
        let a_year = |rate: &Uncertain| format!("{} a year", between(rate, share));
        if let Some(given) = self.terms.failures {
            return vec![format!("{}, as given", a_year(&Uncertain::exact(given)))];
        }
        let table = format!("Backblaze, {PUBLISHED_YEARS}");
        let is_known = |model: &&str| FailureRate::of_model(model).is_some();
        let models = self.models.iter().map(String::as_str);
        let (known, others): (Vec<&str>, Vec<&str>) = models.partition(is_known);
        let of_known = known
            .iter()
            .map(|model| format!("{} ({model} at {table})", a_year(&self.rate_of(model))));
        let of_others = others.first().map(|other| {
            let not = format!("{} not among them", others.join(", "));
            format!("{} (all models at {table}; {not})", a_year(&self.rate_of(other)))
        });
        of_known.chain(of_others).collect()
    }

    /// What decides, how it stands to the usual formula, and what it does not know.
    pub fn notes(&self) -> Vec<String> {
        let redundant = || self.stacks.iter().filter(|stack| stack.tolerates > 0);
        let mut lines = Vec::new();
        let mut causes: Vec<&str> = redundant().filter_map(StackRisk::decided_by).collect();
        causes.sort_unstable();
        causes.dedup();
        for cause in causes {
            let by_it: Vec<&StackRisk> =
                redundant().filter(|stack| stack.decided_by() == Some(cause)).collect();
            let Some(first) = by_it.first() else { continue };
            let (names, ends) = (some_of(&together(&by_it)), first.decided_between());
            lines.push(format!("What {names} may lose depends most on {cause}: {ends}."));
        }
        let times = |stack: &StackRisk| stack.chance.some.value / stack.formula;
        let most = redundant().max_by(|a, b| times(a).total_cmp(&times(b)));
        if let Some(most) = most.filter(|most| times(most) > 2.0) {
            let times = short_number(first_digit(times(most)));
            lines.push(format!(
                "The usual formula knows whole drives alone, not the sectors that a rebuild cannot \
                 read: what it says of {} is {times} times too small.",
                most.stack
            ));
        }
        lines.push(
            "Not in these chances: drives of one batch that fail together, a controller or power \
             supply that takes all with it, fire, theft, mistakes. A RAID does not replace a backup."
                .to_owned(),
        );
        lines
    }
}

fn years(years: f64) -> String {
    if years == 1.0 { "a year".to_owned() } else { format!("{years} years") }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use disklab_risk::HazardSwing;

    use super::*;

    #[test]
    fn chances_have_no_more_digits_than_they_deserve() {
        for (chance, expected) in [
            (0.0, "none"),
            (0.2634, "26 %"),
            (0.0612, "6 %"),
            (0.00312, "0.3 %"),
            (0.000_23, "0.02 %"),
            (0.000_031, "1 in 30,000"),
            (3.3e-7, "1 in 3 million"),
            (1.0e-9, "1 in 1 billion"),
            (9.9e-10, "under 1 in a billion"),
        ] {
            assert_eq!(chance_words(chance), expected);
        }
    }

    fn risk(stack: &str, source: RebuildSource, rebuild: f64) -> StackRisk {
        let none = Uncertain::exact(0.0);
        StackRisk {
            stack: stack.to_owned(),
            drives: 4,
            tolerates: 1,
            exposed: Some(Uncertain::exact(rebuild + 2.0)),
            rebuild: Uncertain::exact(rebuild),
            source,
            chance: disklab_risk::LossChance { all: none, some: none, swings: Vec::new() },
            formula: 0.0,
        }
    }

    #[test]
    fn a_bound_says_no_more_than_it_knows() {
        for (source, hours, rebuild, exposed) in [
            (RebuildSource::OnePass, 16.7, "at least 16 h", "at least 18 h 42 min"),
            (RebuildSource::OnePass, 2.0, "at least 2 h", "at least 4 h 00 min"),
            (RebuildSource::OnePass, 1.5, "at least 1 h 30 min", "at least 3 h 30 min"),
            (RebuildSource::Measured, 16.7, "16 h 42 min", "18 h 42 min"),
            (RebuildSource::ByUser, 1.5, "1 h 30 min", "3 h 30 min"),
        ] {
            let risk = risk("raid5/ext4", source, hours);
            assert_eq!((&*risk.rebuild_words(), &*risk.exposed_words()), (rebuild, exposed));
        }
        let never = StackRisk { exposed: None, ..risk("raid0/ext4", RebuildSource::ByUser, 0.0) };
        assert_eq!(never.exposed_words(), "never");
    }

    #[test]
    fn what_decides_a_chance_is_named() {
        let mut words = HashSet::new();
        for input in [
            HazardInput::Failures,
            HazardInput::Replacement,
            HazardInput::Rebuild,
            HazardInput::Unreadable,
        ] {
            let mut risk = risk("raid5/ext4", RebuildSource::ByUser, 1.0);
            assert_eq!(risk.decided_by(), None);
            let swing = |input| HazardSwing { input, at_low: 0.2, at_high: 0.1 };
            risk.chance.swings = vec![swing(input), swing(HazardInput::Failures)];
            let decided = risk.decided_by().expect("a value");
            assert!(decided.starts_with("how "), "{decided}");
            words.insert(decided);
            assert_eq!(
                risk.decided_between(),
                "the chance that raid5/ext4 loses any data is between 10 % and 20 %"
            );
        }
        assert_eq!(words.len(), 4);
    }

    #[test]
    fn long_lists_of_stacks_are_short() {
        let names = |stacks: &[&str]| {
            let all = stacks.iter().map(|stack| risk(stack, RebuildSource::ByUser, 1.0));
            let all: Vec<StackRisk> = all.collect();
            together(&all.iter().collect::<Vec<_>>())
        };
        assert_eq!(
            names(&["raid5/ext4", "raid5/xfs", "shr/ext4", "zfs-raidz1"]),
            "raid5/*, shr/ext4, zfs-raidz1"
        );
        assert_eq!(some_of("a, b, c"), "a, b, c");
        assert_eq!(
            [some_of("a, b, c, d"), some_of("a, b, c, d, e")],
            ["a, b, c and 1 more", "a, b, c and 2 more"]
        );
    }

    #[test]
    fn large_numbers_have_a_word() {
        for (number, expected) in [
            (7.0, "7"),
            (999.0, "999"),
            (1000.0, "1,000"),
            (300_000.0, "300,000"),
            (1e6, "1 million"),
            (2e9, "2 billion"),
        ] {
            assert_eq!(short_number(number), expected);
        }
        assert_eq!(
            [first_digit(486.0), first_digit(4.86), first_digit(1000.0)],
            [500.0, 5.0, 1000.0]
        );
        assert_eq!([years(1.0), years(5.0)], ["a year", "5 years"]);
    }
}
