//! Running a study in which a mistake is made on purpose, and what audits find.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use disklab_audits::{AUDITS, Finding, Reproducer, Severity};
use disklab_decision::analyse;
use disklab_store::Run;

/// The findings of a run, by audit.
pub type Found = BTreeMap<&'static str, Vec<Finding>>;

/// `disklab run` of `study`, whose home is `home`. The run's directory is `run` in it.
pub fn command(home: &Path, study: &str, arguments: &[&str]) -> Command {
    std::fs::write(home.join("study.toml"), study).expect("a file");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.args(["run", "study.toml", "--seed", "1", "--out", "run"]).args(arguments);
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    command
}

/// What a run found that ended well, or with a severe finding.
pub fn findings(home: &Path, output: &Output) -> Found {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    let failed: Vec<_> = said.lines().filter(|line| line.contains("FAILED")).collect();
    assert!(failed.is_empty(), "error: {failed:?}\n{said}");
    found_in(&home.join("run"))
}

pub fn found_in(run: &Path) -> Found {
    let analysis = analyse(&Run::open(run).expect("a run")).expect("an analysis");
    let mut found = Found::new();
    for finding in analysis.findings {
        found.entry(finding.audit).or_default().push(finding);
    }
    found
}

/// Asserts that each audit that says so finds the mistake.
pub fn assert_found(found: &Found, is_meant: impl Fn(&str, Reproducer) -> bool) {
    let meant = AUDITS.iter().filter(|audit| is_meant(audit.name, audit.reproducer));
    let missed: Vec<_> = meant.map(|a| a.name).filter(|name| !found.contains_key(name)).collect();
    let texts: Vec<_> = found.values().flatten().map(|f| (f.audit, &f.text)).collect();
    assert!(missed.is_empty(), "{missed:?} found nothing; others: {texts:#?}");
}

/// Asserts that a finding of this severity has all these words.
pub fn assert_says(found: &Found, audit: &str, severity: Severity, words: &[&str]) {
    let all = found.get(audit).map_or(&[][..], Vec::as_slice);
    let fits = |f: &Finding| f.severity == severity && words.iter().all(|w| f.text.contains(w));
    let texts: Vec<_> = found.values().flatten().map(|f| (f.audit, &f.text)).collect();
    assert!(all.iter().any(fits), "{audit}, {words:?}: {all:#?}; all: {texts:#?}");
}
