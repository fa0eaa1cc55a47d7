//! Figures with too few repeats for an interval that says much.

use disklab_units::count;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "few-repeats",
    severity: Severity::Warning,
    detects: "figures measured once or twice",
    evidence: "the number of repeats",
    remedy: "at least three repeats, better six",
    reproducer: Reproducer::Lab("one repeat"),
    check,
};

/// With two observations a t interval is 12.7 standard errors wide to each side,
/// with three 4.3.
const ENOUGH: usize = 3;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let few: Vec<usize> = (0..evidence.groups.len())
        .filter(|g| evidence.groups[*g].observations.len() < ENOUGH)
        .collect();
    if few.is_empty() {
        return Vec::new();
    }
    let all = evidence.groups.len();
    let once = few.iter().filter(|g| evidence.groups[**g].observations.len() == 1).count();
    let twice = few.len() - once;
    let text = if once == all {
        "Every figure was measured once: there are no intervals, and no verdicts.".to_owned()
    } else if twice == all {
        "Every figure was measured twice: intervals of two are very wide.".to_owned()
    } else {
        let listed = [(once, "once"), (twice, "twice")]
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, times)| {
                format!("{n} {} measured {times}", if *n == 1 { "was" } else { "were" })
            })
            .collect::<Vec<_>>();
        format!("Of {}, {}.", count(all, "figure"), listed.join(" and "))
    };
    vec![Detection {
        severity: Severity::Warning,
        text,
        advice: "Run the study with at least three repeats, better six: then an interval needs no \
                 assumption about the distribution."
            .to_owned(),
        groups: few,
    }]
}

#[cfg(test)]
mod tests {
    use crate::testing::RunFixture;

    #[test]
    fn once_and_twice_are_reported() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6]);
        let text =
            |fixture: &RunFixture| fixture.findings("few-repeats").first().map(|f| f.text.clone());
        assert!(text(&fixture).is_some_and(|t| t.starts_with("Every figure was measured once")));
        fixture.repeats("raid1/ext4", "dd-4k", &[1e6, 1e6]);
        fixture.repeats("raid1/ext4", "dd-1M", &[1e6, 1e6, 1e6]);
        assert_eq!(
            text(&fixture).as_deref(),
            Some("Of 3 figures, 1 was measured once and 1 was measured twice.")
        );
        assert_eq!(fixture.findings("few-repeats")[0].groups, [0, 1]);
    }

    #[test]
    fn three_are_enough() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        assert_eq!(fixture.findings("few-repeats"), []);
    }

    #[test]
    fn two_of_everything_are_few() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6]);
        fixture.repeats("raid1/ext4", "dd-4k", &[1e6, 1e6]);
        let texts = fixture.texts("few-repeats");
        assert_eq!(texts, ["Every figure was measured twice: intervals of two are very wide."]);
    }
}
