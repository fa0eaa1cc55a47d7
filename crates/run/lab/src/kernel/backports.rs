//! Fetching the source of a newer Linux from Debian's backports, which the user's own
//! package sources need not name.

use std::path::{Path, PathBuf};

use disklab_exec::Executor;

use super::KernelError;
use super::apt::{self, Apt};
use super::archives::{self, Archive};
use super::linux::LinuxVersion;
use super::source::unpack_package;

/// The newest version of the source's package. Its lists are fetched into `folder`, which
/// belongs to disklab; the user's own sources lie below `root`, which is `/` but in tests.
///
/// # Errors
/// [`KernelError::NoBackport`] if there is none.
pub(super) fn newest(
    version: LinuxVersion,
    folder: &Path,
    root: &Path,
    executor: &Executor,
) -> Result<String, KernelError> {
    Ok(lists(version, folder, root, executor)?.1)
}

/// Fetches the package with that version and unpacks it below `to`: the path of its tarball.
///
/// # Errors
/// [`KernelError::NoBackport`] if it cannot be fetched.
pub(super) fn fetch(
    version: LinuxVersion,
    folder: &Path,
    to: &Path,
    executor: &Executor,
) -> Result<PathBuf, KernelError> {
    let (apt, newest) = lists(version, folder, Path::new("/"), executor)?;
    let package = version.package();
    let answer = apt.run("apt-get", &["download", &format!("{package}={newest}")])?;
    if answer.code != 0 {
        let why = format!("{newest} cannot be downloaded");
        return Err(KernelError::NoBackport { package, why, said: apt::said(&answer) });
    }
    unpack_package(package, &apt.downloads(), to, executor)
}

/// An apt of our own with the lists of backports, and the newest version in them.
fn lists<'e>(
    version: LinuxVersion,
    folder: &Path,
    root: &Path,
    executor: &'e Executor,
) -> Result<(Apt<'e>, String), KernelError> {
    let package = version.package();
    let suite = version.backports().unwrap_or_default();
    let refuse = |why: String, said| KernelError::NoBackport { package, why, said };
    if let Some(why) = apt::missing() {
        return Err(refuse(why, String::new()));
    }
    let mut archives = archives::of_user(root, archives::codename(root).as_deref());
    archives.dedup_by(|a, b| a.uri == b.uri);
    if archives.is_empty() {
        let why = "the package sources of this machine name no archive of Debian";
        return Err(refuse(why.to_owned(), String::new()));
    }
    let apt = Apt::new(folder, &archives, |archive| paragraph(archive, suite), executor)?;
    let answer = apt.run("apt-get", &["update"])?;
    let list = apt.run("apt-cache", &["madison", package])?.text();
    match first(&list, package) {
        Some(newest) => Ok((apt, newest)),
        None => Err(refuse(format!("{suite} has none"), apt::said(&answer))),
    }
}

/// An archive's backports in our sources.
fn paragraph(archive: &Archive, suite: &str) -> String {
    let Archive { uri, signed_by, .. } = archive;
    let key = signed_by.as_ref().map(|key| format!("Signed-By: {key}\n")).unwrap_or_default();
    format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n{key}\n")
}

/// The first version in the answer of `apt-cache madison`, which names the newest first.
fn first(madison: &str, package: &str) -> Option<String> {
    let mut lines = madison.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim);
        (cells.next() == Some(package)).then(|| cells.next()).flatten()
    });
    lines.find(|version| !version.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    const VERSION: LinuxVersion = LinuxVersion::V7_3;

    #[test]
    fn newest_version_is_named_first() {
        let madison = "linux-source-7.3 | 7.3.5-1~bpo13+1 | http://d/debian trixie-backports/main\n\
                       linux-source-7.3 | 7.3.4-1~bpo13+1 | http://d/debian trixie-backports/main\n";
        assert_eq!(first(madison, "linux-source-7.3").as_deref(), Some("7.3.5-1~bpo13+1"));
        assert_eq!(first(madison, "linux-source-7.2"), None);
        assert_eq!(first("linux-source-7.3 | \n", "linux-source-7.3"), None);
    }

    #[test]
    fn archive_keeps_its_key_and_gives_main_alone() {
        let archive = Archive {
            uri: "http://d/debian".into(),
            suite: "bookworm".into(),
            signed_by: Some("/k.gpg".into()),
        };
        assert_eq!(
            paragraph(&archive, "trixie-backports"),
            "Types: deb\nURIs: http://d/debian\nSuites: trixie-backports\nComponents: main\n\
             Signed-By: /k.gpg\n\n"
        );
    }

    #[test]
    fn an_archive_that_cannot_be_reached_is_reported() {
        if let Some(why) = apt::missing() {
            eprintln!("skipped: needs apt ({why})");
            return;
        }
        let root = tempfile::tempdir().expect("temp");
        let folder = root.path().join("apt");
        let refusal = || {
            let error = newest(VERSION, &folder, root.path(), &Executor::default());
            let error = error.expect_err("nothing");
            assert!(error.is_usage_error(), "{error}");
            error.to_string()
        };
        assert!(refusal().contains("name no archive of Debian"));
        fs::create_dir_all(root.path().join("etc/apt")).expect("folder");
        let none = format!("deb file:{}/none stable main\n", root.path().display());
        fs::write(root.path().join("etc/apt/sources.list"), none).expect("file");
        let text = refusal();
        assert!(text.contains("linux-source-7.3") && text.contains("trixie-backports has none"));
        assert!(text.contains("apt says:\nE:") || text.contains("apt says:\nW:"), "{text}");
    }

    proptest! {
        #[test]
        fn hostile_answers_are_only_text(text in "(\\PC|\n|[|]|linux-source-7\\.3 | 7\\.){0,40}") {
            if let Some(version) = first(&text, "linux-source-7.3") {
                prop_assert!(!version.is_empty() && text.contains(&version));
            }
        }
    }
}
