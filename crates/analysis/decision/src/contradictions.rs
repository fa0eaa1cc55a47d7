//! What in a summary does not go one way: a stack that is better in one thing and worse in
//! another, and severe findings that no other sentence names.

use disklab_audits::{Finding, Severity, describe};
use disklab_comparisons::{Comparison, ComparisonOutcome, StandingClaims, ratio};
use disklab_study::Measure;
use disklab_units::{count, list};

use crate::sentences::{AnswerWriter, strength};

/// So many stacks are told.
const LISTED: usize = 2;
/// At most so many names in a list.
const NAMES: usize = 6;

/// A stack next to one baseline, with what tells most for it and against it.
struct Mixed<'a> {
    stack: &'a str,
    baseline: &'a str,
    better: Option<(usize, &'a Comparison)>,
    worse: Option<(usize, &'a Comparison)>,
}

impl Mixed<'_> {
    /// How strong the weaker side is, and both in a clause; `None` if there is one side only.
    fn in_words(&self, writers: &[AnswerWriter<'_>]) -> Option<(f64, String)> {
        let (better, worse) = (self.better?, self.worse?);
        let in_words = |(writer, c): (usize, &Comparison)| {
            let writer = &writers[writer];
            let key = &writer.groups[c.group].key;
            let noun = describe(writer.study, writer.groups, key).full();
            format!("{noun} ({})", ratio(c.ratio, c.interval))
        };
        let text = format!(
            "{} against {}: better in {}, worse in {}",
            self.stack,
            self.baseline,
            in_words(better),
            in_words(worse)
        );
        Some((strength(better.1.interval).min(strength(worse.1.interval)), text))
    }
}

/// Stacks that are significantly better than a baseline in one figure and significantly worse
/// than the same in another, strongest first. `sure` are the comparisons without doubt, each with
/// the index of its teller; only what stands among all of the run is told.
pub(crate) fn mixed<'a>(
    writers: &'a [AnswerWriter<'_>],
    sure: impl Iterator<Item = (usize, &'a Comparison)>,
    screen: &StandingClaims,
) -> Option<String> {
    let mut all: Vec<Mixed<'a>> = Vec::new();
    for (writer, comparison) in sure {
        // Waiting and throughput of one figure often go different ways; that is reported by
        // their questions. What is reported here is one figure against another.
        if writers[writer].answer.measure == Measure::Missed
            || !screen.stands(writers[writer].answer.measure, comparison)
        {
            continue;
        }
        let (stack, baseline) = (comparison.stack.as_str(), comparison.baseline.as_str());
        let at = all.iter().position(|m| (m.stack, m.baseline) == (stack, baseline));
        let at = at.unwrap_or_else(|| {
            all.push(Mixed { stack, baseline, better: None, worse: None });
            all.len() - 1
        });
        let place = match comparison.outcome {
            ComparisonOutcome::Better => &mut all[at].better,
            ComparisonOutcome::Worse => &mut all[at].worse,
            _ => continue,
        };
        if place.is_none_or(|(_, old)| strength(old.interval) < strength(comparison.interval)) {
            *place = Some((writer, comparison));
        }
    }
    let mut contradictions: Vec<(f64, String)> =
        all.iter().filter_map(|mixed| mixed.in_words(writers)).collect();
    if contradictions.is_empty() {
        return None;
    }
    contradictions.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = contradictions.len().saturating_sub(LISTED);
    let shown: Vec<String> =
        contradictions.into_iter().take(LISTED).map(|(_, text)| text).collect();
    let rest =
        if more > 0 { format!("; {} likewise", count(more, "more stack")) } else { String::new() };
    Some(format!("Trade-offs: {}{rest}.", shown.join("; ")))
}

/// Names severe findings that the other sentences do not.
pub(crate) fn severe(findings: &[Finding], sentences: &[String]) -> Option<String> {
    let mut audits: Vec<&str> = Vec::new();
    for finding in findings.iter().filter(|f| f.severity == Severity::Severe) {
        let named = sentences.iter().any(|sentence| sentence.contains(finding.audit));
        if !named && !audits.contains(&finding.audit) {
            audits.push(finding.audit);
        }
    }
    (!audits.is_empty()).then(|| {
        format!(
            "Before you rely on these figures, read the severe findings: {}.",
            list(audits, NAMES)
        )
    })
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use crate::testing::{RunFixture, figure, step};

    const ASK: &str = "[[questions]]\nask = \"a?\"\nworkloads = \"dd-4k\"\n\
                       [[questions]]\nask = \"b?\"\nworkloads = \"dd-1M\"";

    fn summary(second: [f64; 4]) -> Vec<String> {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[180e3, 178e3, 182e3, 181e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20.5e3, 20.7e3, 20.9e3, 20.6e3]);
        fixture.repeats("single/ext4", "dd-1M", &[100e6, 101e6, 99e6, 100e6]);
        fixture.repeats("single/btrfs", "dd-1M", &second);
        fixture.analyse().summary
    }

    #[test]
    fn mixed_results_show_both_intervals() {
        let got = summary([200e6, 201e6, 199e6, 202e6]);
        let mixed = got.iter().find(|s| s.starts_with("Trade-offs")).expect("mixed");
        assert!(
            mixed.starts_with(
                "Trade-offs: single/btrfs against single/ext4: better in 1 MiB synchronous \
                 writes (dd-1M) (2.0"
            ),
            "{mixed}"
        );
        assert_eq!(mixed.matches('[').count(), 2, "{mixed}");
    }

    #[test]
    fn consistent_results_are_not_called_mixed() {
        for second in [[50e6, 51e6, 49e6, 50e6], [100e6, 140e6, 70e6, 120e6]] {
            let got = summary(second);
            assert!(!got.iter().any(|s| s.starts_with("Trade-offs")), "{got:?}");
        }
    }

    /// What is waited for and what is missed often go different ways.
    #[test]
    fn missed_deadlines_are_no_trade_off() {
        let ask = ASK.replace("\"dd-1M\"", "\"fio\"\nmeasure = \"missed\"");
        let mut fixture = RunFixture::new(&ask);
        fixture.repeats("single/ext4", "dd-4k", &[180e3, 178e3, 182e3, 181e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20.5e3, 20.7e3, 20.9e3, 20.6e3]);
        for (stack, missed) in [("single/ext4", 900), ("single/btrfs", 20)] {
            for block in 0..4 {
                let mut read = figure(Direction::Read, 1 << 20, 1.0);
                read.missed = Some(missed + u64::from(block));
                fixture.sample(stack, "fio", block, vec![step("fio", vec![read])]);
            }
        }
        let got = fixture.analyse().summary;
        assert!(got.iter().any(|s| s.contains("misses")), "{got:?}");
        assert!(!got.iter().any(|s| s.starts_with("Trade-offs")), "{got:?}");
    }

    #[test]
    fn severe_findings_are_named_once() {
        let finding = |audit| disklab_audits::Finding {
            audit,
            severity: disklab_audits::Severity::Severe,
            text: String::new(),
            advice: String::new(),
            groups: Vec::new(),
        };
        let all = [finding("swapping"), finding("swapping"), finding("holes")];
        assert_eq!(
            super::severe(&all, &["Left out (holes)".to_owned()]).as_deref(),
            Some("Before you rely on these figures, read the severe findings: swapping.")
        );
        assert_eq!(super::severe(&all[2..], &["holes".to_owned()]), None);
        let mild =
            disklab_audits::Finding { severity: disklab_audits::Severity::Note, ..finding("x") };
        assert_eq!(super::severe(&[mild], &[]), None);
    }
}
