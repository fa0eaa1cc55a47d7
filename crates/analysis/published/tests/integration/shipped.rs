//! What is shipped, compared with the studies that are shipped.

use disklab_published::{AcceptedBand, Catalogue, MeasuredStep, NoFigure, RowKind};
use disklab_study::{Study, load, matches};

const STUDIES: [(&str, &str); 5] = [
    ("synology-2018", include_str!("../../../../../studies/synology-2018.toml")),
    ("xpenology-2023", include_str!("../../../../../studies/xpenology-2023.toml")),
    ("btrfs-raid1", include_str!("../../../../../studies/btrfs-raid1.toml")),
    ("qiita-2014", include_str!("../../../../../studies/qiita-2014.toml")),
    ("smr-2015", include_str!("../../../../../studies/smr-2015.toml")),
];

fn catalogue() -> Catalogue {
    Catalogue::shipped().unwrap_or_else(|e| panic!("{e}"))
}

fn studies() -> Vec<Study> {
    STUDIES
        .iter()
        .map(|(id, text)| load(&format!("{id}.toml"), text).unwrap_or_else(|e| panic!("{e}")))
        .collect()
}

#[test]
fn all_rows_are_there() {
    let catalogue = catalogue();
    let counts: Vec<usize> = STUDIES.iter().map(|(id, _)| catalogue.rows_of(id).count()).collect();
    assert_eq!(counts, [99, 13, 15, 56, 39]);
    assert_eq!(catalogue.rows.len(), 222);
}

/// Every row names a cell that its study plans, or the mapping says why not.
#[test]
fn every_row_has_a_cell_of_its_study() {
    let catalogue = catalogue();
    let studies = studies();
    let mut mapped = 0;
    for row in &catalogue.rows {
        let study = studies.iter().find(|s| s.id == row.study).expect("a shipped study");
        for stack in [Some(&row.subject), row.baseline.as_ref()].into_iter().flatten() {
            let target = match catalogue.target(row, stack) {
                Ok(target) => target,
                Err(why) => {
                    assert!(matches!(why, NoFigure::Rule(_)), "{} {}: {why}", row.study, row.id);
                    continue;
                }
            };
            let name = target.stack.as_deref().unwrap_or(stack);
            let at = study
                .stack_index(name)
                .unwrap_or_else(|| panic!("{} {}: no stack {name}", row.study, row.id));
            let planned = study.workloads.iter().enumerate().any(|(index, workload)| {
                matches(&target.workload, &workload.id) && !study.is_excluded(at, index)
            });
            assert!(planned, "{} {}: {name} does not run {}", row.study, row.id, target.workload);
            mapped += 1;
        }
    }
    assert!(mapped >= 222, "{mapped}");
}

/// Units are those of what is measured; ratios and orders have none.
#[test]
fn every_value_has_a_unit_of_its_measurement() {
    let catalogue = catalogue();
    for row in catalogue.rows.iter().filter(|row| row.kind == RowKind::Value) {
        let Ok(target) = catalogue.target(row, &row.subject) else { continue };
        let unit = target.unit.as_deref().unwrap_or(&row.unit);
        assert!(target.measure.unit_size(unit).is_some(), "{} {}: {unit}", row.study, row.id);
        assert!(target.measure != MeasuredStep::Completes);
    }
}

#[test]
fn every_published_value_reproduces_its_own_row() {
    for row in &catalogue().rows {
        let Some(value) = row.value.filter(|_| row.kind != RowKind::Order) else { continue };
        assert!(
            AcceptedBand::of(row).is_some_and(|band| band.holds(value)),
            "{} {}",
            row.study,
            row.id
        );
    }
}

/// A pattern that fits no row is a mistake, and so is a finding or a rule that another
/// one before it hides.
#[test]
fn every_rule_and_every_finding_is_about_a_row() {
    let catalogue = catalogue();
    for finding in &catalogue.findings {
        for pattern in &finding.rows {
            let hit = catalogue
                .rows
                .iter()
                .any(|row| matches(pattern, &row.id) && catalogue.finding(row) == Some(finding));
            assert!(hit, "{}: '{pattern}' is about no row", finding.study);
        }
    }
    for rule in &catalogue.rules {
        let hit = catalogue.rows.iter().any(|row| {
            let stacks = [Some(&row.subject), row.baseline.as_ref()];
            row.study == rule.study
                && stacks.into_iter().flatten().any(|stack| {
                    catalogue.target(row, stack).ok() == rule.target.as_ref().ok()
                        && matches(&rule.workload, &row.workload)
                })
        });
        assert!(hit, "{} {}: no row uses this rule", rule.study, rule.workload);
    }
}
