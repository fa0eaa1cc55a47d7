//! Figures that another program measured, of which little else is known.

use disklab_units::count;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "imported",
    severity: Severity::Warning,
    detects: "imported figures, without the drives' part in them",
    evidence: "the bench, and samples without drives' counters",
    remedy: "run the study with disklab, or look at the drives' own counters",
    reproducer: Reproducer::Import("a result file of Phoronix"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if !evidence.is_import() {
        return Vec::new();
    }
    let is_unseen =
        |index: &usize| evidence.groups[*index].observations.iter().any(|o| o.drives.is_empty());
    let unseen: Vec<usize> = (0..evidence.groups.len()).filter(is_unseen).collect();
    if unseen.is_empty() {
        return Vec::new();
    }
    let knows_drives = evidence.cells.iter().any(|cell| !cell.environment.drives.is_empty());
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "{} imported without the drives' own counters: reads from memory, data that were \
             compressed away, and writes that had not reached the drives would not be noticed.",
            match unseen.len() {
                1 => "1 figure was".to_owned(),
                n => format!("{} were", count(n, "figure")),
            }
        ),
        advice: if knows_drives {
            "Measure again with `disklab run`, which counts what each drive does."
        } else {
            "Say which drives these are (`disklab import --drives hdd:4`): then figures that they \
             cannot give are found; or measure again with `disklab run`, which counts what each \
             drive does."
        }
        .to_owned(),
        groups: unseen,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    #[test]
    fn only_imported_figures_without_counters_are_reported() {
        let mut fixture = RunFixture::new("");
        let write = || step("dd-4k", vec![figure(Direction::Write, 1 << 20, 1.0)]);
        fixture.sample("single/ext4", "dd-4k", 0, vec![write()]);
        assert_eq!(fixture.findings(AUDIT.name), []);
        fixture.info.bench = "import".parse().unwrap();
        let found = fixture.findings(AUDIT.name);
        assert_eq!(found.len(), 1);
        assert!(found[0].text.starts_with("1 figure was imported"), "{}", found[0].text);
        let mut fixture = RunFixture::new("");
        fixture.info.bench = "import".parse().unwrap();
        fixture.sample("single/ext4", "dd-4k", 0, vec![on_drives(write(), &[(0, 1 << 20)])]);
        assert_eq!(fixture.findings(AUDIT.name), [], "fio may tell the drives' sectors");
    }

    #[test]
    fn drives_are_asked_for_where_none_is_known() {
        use disklab_sample::{DriveState, Environment, Sample};
        for (drives, asks) in [(vec![], true), (vec![DriveState::default()], false)] {
            let mut fixture = RunFixture::new("");
            fixture.info.bench = "import".parse().unwrap();
            for workload in ["dd-4k", "dd-1M"] {
                let steps = vec![step("s", vec![figure(Direction::Write, 1 << 20, 1.0)])];
                let environment = Environment { drives: drives.clone(), ..Environment::default() };
                let sample = Sample { steps, environment, ..Sample::default() };
                fixture.full_sample("single/ext4", workload, 0, sample);
            }
            let found = fixture.findings(AUDIT.name).remove(0);
            assert!(found.text.starts_with("2 figures were imported"), "{}", found.text);
            assert_eq!(found.advice.contains("--drives"), asks, "{}", found.advice);
        }
    }
}
