//! Every shipped drive passes its checks.

use disklab_drive::{Kind, shipped};
use disklab_validation::{CHECKS, Outcome, check};

use crate::all;

pub fn no_shipped_drive_misses_a_figure() {
    let mut missed = Vec::new();
    for drive in all() {
        let id = &drive.file.id;
        assert!(!drive.checked.is_empty(), "{id} has no checks");
        for checked in &drive.checked {
            missed.extend(checked.missed().map(|figure| format!("{id}: {figure:?}")));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A load that a drive is too small for leaves no chart; those that ship are not.
pub fn every_kind_of_drive_has_all_its_charts() {
    for drive in all() {
        let wanted: &[&str] = match drive.file.kind {
            Kind::Hdd(_) => &["seek", "position", "depth", "span", "destage"],
            Kind::Smr(_) => &["seek", "position", "depth", "span", "cliff", "chunks", "sequential"],
            Kind::Ssd(_) => &["amplification", "flash-depth", "flash-sequential", "flash-random"],
        };
        let charts = drive.checked.iter().flat_map(|checked| &checked.outcome.charts);
        assert_eq!(charts.map(|chart| chart.id).collect::<Vec<_>>(), wanted, "{}", drive.file.id);
    }
}

pub fn the_same_again_gives_the_same() {
    let file = shipped("st3500418as").expect("a shipped drive");
    let before = all().iter().find(|drive| drive.file == file).expect("it is there");
    assert_eq!(check(&file), before.checked);
}

#[test]
fn checks_have_names_of_their_own_and_say_what_they_do() {
    let mut seen = std::collections::BTreeSet::new();
    for check in CHECKS {
        assert!(seen.insert(check.id), "'{}' is the name of two checks", check.id);
        assert!(check.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", check.id);
        assert!(check.about.ends_with('.') && check.title.len() > 3, "{}", check.id);
    }
}

fn outcome(id: &str, drive: &str) -> Outcome {
    let file = shipped(drive).expect("a shipped drive");
    let check = CHECKS.iter().find(|check| check.id == id).expect("a gate");
    (check.run)(&file).expect("a hard disk")
}

pub fn charts_have_names_of_their_own() {
    for drive in all() {
        let mut seen = std::collections::BTreeSet::new();
        for chart in drive.checked.iter().flat_map(|checked| &checked.outcome.charts) {
            assert!(seen.insert(chart.id), "{} has two charts '{}'", drive.file.id, chart.id);
        }
    }
}

/// A check that cannot be missed is none: a drive that is not what its file says is
/// found out.
#[test]
fn a_wrong_model_is_caught() {
    let file = shipped("md04aca400").expect("a shipped drive");
    let mechanics = file.mechanics().expect("a hard disk").clone();
    let right = outcome("seek", "md04aca400");
    for figure in &right.figures {
        assert!(figure.is_met(), "{figure:?}");
    }
    let slower = disklab_drive::hdd::Parameters { rpm: 5400, ..mechanics };
    let slower = disklab_drive::DriveFile { kind: Kind::Hdd(slower), ..file };
    let wrong = (CHECKS[0].run)(&slower).expect("a hard disk");
    let pairs = right.figures.iter().zip(&wrong.figures);
    assert!(pairs.filter(|(r, w)| r.unit == "IOPS" && w.model < 0.95 * r.model).count() > 0);
}
