//! Archives that are not there: what the two that fetch from Debian say of them.

use std::fs;
use std::path::Path;

use disklab_exec::Executor;

use super::linux::LinuxVersion;
use super::{AptProblem, KernelError, backports, zfs};

/// What fetches a package, with its lists in a directory and the user's sources below another.
type Fetch = fn(&Path, &Path) -> KernelError;

fn backport(directory: &Path, root: &Path) -> KernelError {
    backports::newest(LinuxVersion::V7_3, directory, root, &Executor::default())
        .expect_err("nothing")
}

fn openzfs(directory: &Path, root: &Path) -> KernelError {
    zfs::fetch(directory, root, &Executor::default()).expect_err("nothing")
}

fn problem(error: KernelError) -> AptProblem {
    assert!(error.is_usage_error(), "{error}");
    match error {
        KernelError::NoBackport { package: "linux-source-7.3", source } => source,
        KernelError::NoZfs(problem) => problem,
        other => panic!("{other}"),
    }
}

/// What is said of an archive that cannot be reached; none without apt.
fn unreached(fetch: Fetch) -> Option<(String, Vec<String>)> {
    let root = tempfile::tempdir().expect("temp");
    let directory = root.path().join("apt");
    match problem(fetch(&directory, root.path())) {
        AptProblem::Missing(programs) => {
            assert!(!programs.is_empty());
            eprintln!("skipped: needs {}", programs.join(", "));
            return None;
        }
        problem => assert_eq!(problem, AptProblem::NoArchive),
    }
    fs::create_dir_all(root.path().join("etc/apt")).expect("directory");
    let none = format!("deb file:{}/none stable main\n", root.path().display());
    fs::write(root.path().join("etc/apt/sources.list"), none).expect("file");
    let problem = problem(fetch(&directory, root.path()));
    let answer = problem.answer();
    let AptProblem::NotFound { package, suites, complaints } = problem else {
        panic!("{problem}");
    };
    assert!(complaints.starts_with("E:") || complaints.starts_with("W:"), "{complaints}");
    assert!(answer.starts_with(". apt says:\n"), "{answer}");
    Some((package, suites))
}

#[test]
fn backports_that_cannot_be_reached_are_reported() {
    let Some((package, suites)) = unreached(backport) else { return };
    assert_eq!(package, "linux-source-7.3");
    assert_eq!(suites, ["trixie-backports"]);
}

#[test]
fn an_archive_without_openzfs_is_reported() {
    let Some((package, suites)) = unreached(openzfs) else { return };
    assert_eq!(package, "zfs-dkms 2.3 or later");
    assert_eq!(suites, ["stable/contrib", "stable-backports/contrib"]);
}
