//! Which cells have no figure of their steady part.

use disklab_audits::{Group, NotSteadyCells, Unsteady, figure_id};
use disklab_units::list;

/// Names in a list.
const NAMES: usize = 12;

/// What an answer about these groups should say of it.
pub(crate) fn unsteady_sentences(unsteady: &Unsteady, groups: &[&Group]) -> Vec<String> {
    let named = |of: fn(&NotSteadyCells) -> usize| {
        let stacks = groups.iter().filter_map(|group| {
            let counts = unsteady.of(&group.key)?;
            let all = group.observations.len() + counts.never + counts.unknown;
            let number = of(&counts);
            let several = groups.iter().any(|g| g.key.levels.workload != group.key.levels.workload);
            let work = several.then(|| format!(" with {}", figure_id(&[], &group.key)));
            let cells = match number {
                1 if all == 1 => "its only cell".to_owned(),
                number if number == all => format!("all {all} cells"),
                number => format!("{number} of {all} cells"),
            };
            let stack = &group.key.levels.stack;
            (number > 0).then(|| format!("{stack}{} ({cells})", work.unwrap_or_default()))
        });
        let stacks: Vec<String> = stacks.collect();
        (!stacks.is_empty()).then(|| list(stacks.iter().map(String::as_str), NAMES))
    };
    let never = named(|counts| counts.never)
        .map(|names| format!("Did not become steady, and so has no figure here: {names}."));
    let unknown = named(|counts| counts.unknown).map(|names| {
        format!(
            "Whether and when it became steady is not known for {names}: too short, or run by a \
             program that reports only the whole, as fio itself does."
        )
    });
    never.into_iter().chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, Steadiness, Step, Trend};

    use crate::testing::{RunFixture, figure, step};

    const ASK: &str = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\n\
                       measure = \"throughput\"\npart = \"steady\"\n\
                       [[questions]]\nask = \"all?\"\nworkloads = \"dd-4k\"\n\
                       measure = \"throughput\"";

    /// One whose whole has 3 MB/s and whose steady part 1 MB/s.
    fn with_trend(trend: Option<Trend>) -> Step {
        let write = |mb: u64| figure(Direction::Write, mb * 1_000_000, 1.0);
        let steadiness = trend.map(|trend| Steadiness {
            interval_ns: 1,
            intervals: 60,
            trend,
            steady_from_ns: 20,
            snia_from_ns: None,
            used_from_ns: 0,
        });
        Step { steadiness, steady: vec![write(1)], ..step("dd-4k", vec![write(3)]) }
    }

    #[test]
    fn a_question_for_the_steady_part_gets_its_figures() {
        let mut fixture = RunFixture::new(ASK);
        for (stack, trend) in [
            ("single/ext4", Some(Trend::Slowdown)),
            ("single/btrfs", Some(Trend::Flat)),
            ("raid1/ext4", Some(Trend::NotSteady)),
            ("raid1/btrfs", None),
        ] {
            for block in 0..2 {
                fixture.sample(stack, "dd-4k", block, vec![with_trend(trend)]);
            }
        }
        let analysis = fixture.analyse();
        let figures = |answer: usize| -> Vec<(&str, f64)> {
            let points = analysis.answers[answer].points.iter();
            points
                .map(|p| {
                    (analysis.groups[p.group].key.levels.stack.as_str(), p.estimate.centre / 1e6)
                })
                .collect()
        };
        assert_eq!(figures(0), [("single/ext4", 1.0), ("single/btrfs", 3.0)]);
        assert_eq!(figures(1).len(), 4);
        assert!(figures(1).iter().all(|(_, rate)| *rate == 3.0));
        let said = &analysis.sentences[0];
        assert!(said.iter().any(|s| s.contains("For the steady part of")), "{said:?}");
        let last: Vec<&str> = said[said.len() - 2..].iter().map(String::as_str).collect();
        assert_eq!(
            last[0],
            "Did not become steady, and so has no figure here: raid1/ext4 (all 2 cells)."
        );
        assert!(
            last[1].starts_with("Whether and when it became steady is not known for raid1/btrfs")
        );
        // Findings of a whole are those of its part.
        for finding in &analysis.findings {
            let of = |part| {
                finding.groups.iter().filter(|g| analysis.groups[**g].key.part == part).count()
            };
            let steady = of(disklab_study::Part::Steady);
            assert!(steady <= of(disklab_study::Part::Whole), "{finding:?}");
        }
    }

    #[test]
    fn unsteady_cells_alone_have_one_sentence() {
        let mut fixture = RunFixture::new(ASK);
        fixture.sample("single/ext4", "dd-4k", 0, vec![with_trend(Some(Trend::NotSteady))]);
        let analysis = fixture.analyse();
        assert_eq!(
            analysis.sentences[0],
            ["Did not become steady, and so has no figure here: single/ext4 (its only cell)."]
        );
    }

    #[test]
    fn cells_that_are_not_steady_are_counted() {
        let mut fixture = RunFixture::new(ASK);
        for (block, trend) in [Trend::NotSteady, Trend::Flat, Trend::Flat].into_iter().enumerate() {
            fixture.sample("single/ext4", "dd-4k", block as u32, vec![with_trend(Some(trend))]);
        }
        let said = fixture.analyse().sentences.remove(0).concat();
        assert!(said.contains("has no figure here: single/ext4 (1 of 3 cells)."), "{said}");
    }

    #[test]
    fn steady_parts_need_a_question() {
        let mut fixture = RunFixture::new("");
        fixture.sample("single/ext4", "dd-4k", 0, vec![with_trend(Some(Trend::Slowdown))]);
        assert_eq!(fixture.analyse().groups.len(), 1);
    }
}
