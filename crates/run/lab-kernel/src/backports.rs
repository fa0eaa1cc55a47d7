//! Fetching the source of a newer Linux from Debian's backports, which the user's own
//! package sources need not name.

use std::path::{Path, PathBuf};

use disklab_exec::Executor;

use super::apt::{self, Apt, Wanted};
use super::linux::LinuxVersion;
use super::source::unpack_package;
use super::{AptProblem, KernelError};

/// The newest version of the source's package. Its lists are fetched into `directory`, which
/// belongs to disklab; the user's own sources lie below `root`, which is `/` but in tests.
///
/// # Errors
/// [`KernelError::NoBackport`] if there is none.
pub(super) fn newest(
    version: LinuxVersion,
    directory: &Path,
    root: &Path,
    executor: &Executor,
) -> Result<String, KernelError> {
    Ok(lists(version, directory, root, executor)?.1)
}

/// Fetches the package with that version and unpacks it below `to`: the path of its tarball.
///
/// # Errors
/// [`KernelError::NoBackport`] if it cannot be fetched.
pub(super) fn fetch(
    version: LinuxVersion,
    directory: &Path,
    to: &Path,
    executor: &Executor,
) -> Result<PathBuf, KernelError> {
    let (apt, newest) = lists(version, directory, Path::new("/"), executor)?;
    let package = version.package();
    let answer = apt.run("apt-get", &["download", &format!("{package}={newest}")])?;
    if answer.code != 0 {
        let complaints = apt::complaints(&answer);
        let source = AptProblem::NotDownloaded { package, version: newest, complaints };
        return Err(KernelError::NoBackport { package, source });
    }
    unpack_package(package, &apt.downloads(), to, executor)
}

/// An apt of our own with the lists of backports, and the newest version in them.
fn lists<'e>(
    version: LinuxVersion,
    directory: &Path,
    root: &Path,
    executor: &'e Executor,
) -> Result<(Apt<'e>, String), KernelError> {
    let package = version.package();
    let suite = version.backports().unwrap_or_default();
    let refuse = |source| KernelError::NoBackport { package, source };
    let mut archives = apt::archives(root).map_err(refuse)?;
    archives.dedup_by(|a, b| a.uri == b.uri);
    let wanted = |_: &_| Wanted { suites: vec![suite.to_owned()], component: "main" };
    let apt = Apt::new(directory, &archives, wanted, executor)?;
    let answer = apt.run("apt-get", &["update"])?;
    let list = apt.run("apt-cache", &["madison", package])?.text();
    first(&list, package).map(|newest| (apt, newest)).ok_or_else(|| {
        refuse(AptProblem::NotFound {
            package: package.to_owned(),
            suites: vec![suite.to_owned()],
            complaints: apt::complaints(&answer),
        })
    })
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn newest_version_is_named_first() {
        let madison = "linux-source-7.3 | 7.3.5-1~bpo13+1 | http://d/debian trixie-backports/main\n\
                       linux-source-7.3 | 7.3.4-1~bpo13+1 | http://d/debian trixie-backports/main\n";
        assert_eq!(first(madison, "linux-source-7.3").as_deref(), Some("7.3.5-1~bpo13+1"));
        assert_eq!(first(madison, "linux-source-7.2"), None);
        assert_eq!(first("linux-source-7.3 | \n", "linux-source-7.3"), None);
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
