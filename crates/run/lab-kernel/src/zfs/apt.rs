//! Fetching OpenZFS with apt, as nobody's packages.
//!
//! Debian has OpenZFS in the component `contrib`, which most machines' sources do
//! not list, and for Debian 12 a version for this kernel only in its backports.

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, Invocation};

use super::super::apt::{self, Apt, Wanted};
use super::super::archives::Archive;
use super::super::{AptProblem, KernelError};

/// The source of the kernel's part.
const SOURCE: &str = "zfs-dkms";
const PROGRAMS: &str = "zfsutils-linux";
/// Where Debian keeps both.
const COMPONENT: &str = "contrib";
/// The series that the lab's edits were made for and proven with. Linux 6.12 came
/// into OpenZFS with 2.3 (its release notes).
pub(super) const SERIES: (u32, u32) = (2, 3);
/// OpenZFS, fetched.
#[derive(Debug)]
pub(in super::super) struct Packages {
    /// Its version in Debian.
    pub version: String,
    /// What the packages would install, below this directory.
    pub unpacked: PathBuf,
}

/// Fetches and unpacks OpenZFS below `directory`, which exists and belongs to disklab. The user's
/// own sources lie below `root`, which is `/` but in tests.
///
/// # Errors
/// [`KernelError::NoZfs`] if it is not available.
pub(in super::super) fn fetch(
    directory: &Path,
    root: &Path,
    executor: &Executor,
) -> Result<Packages, KernelError> {
    let archives = apt::archives(root).map_err(KernelError::NoZfs)?;
    let apt = Apt::new(directory, &archives, wanted, executor)?;
    let answer = apt.run("apt-get", &["update"])?;
    let Some(version) = version_in(&apt)? else {
        let mut suites: Vec<String> = archives.iter().flat_map(|a| wanted(a).suites).collect();
        suites.dedup();
        let (major, minor) = SERIES;
        return Err(KernelError::NoZfs(AptProblem::NotFound {
            package: format!("{SOURCE} {major}.{minor} or later"),
            suites: suites.iter().map(|suite| format!("{suite}/{COMPONENT}")).collect(),
            complaints: apt::complaints(&answer),
        }));
    };
    let unpacked = download(&apt, &version)?;
    Ok(Packages { version, unpacked })
}

/// The best version that has both parts.
fn version_in(apt: &Apt<'_>) -> Result<Option<String>, KernelError> {
    let list = apt.run("apt-cache", &["madison", SOURCE, PROGRAMS])?;
    Ok(best(&list.text()))
}

fn download(apt: &Apt<'_>, version: &str) -> Result<PathBuf, KernelError> {
    let exact = |name: &str| format!("{name}={version}");
    let depends = apt.run("apt-cache", &["depends", &exact(PROGRAMS)])?.text();
    let mut packages = vec![exact(SOURCE), exact(PROGRAMS)];
    packages.extend(libraries(&depends).map(exact));
    let mut args = vec!["download"];
    args.extend(packages.iter().map(String::as_str));
    let answer = apt.run("apt-get", &args)?;
    if answer.code != 0 {
        return Err(KernelError::NoZfs(AptProblem::NotDownloaded {
            package: SOURCE,
            version: version.to_owned(),
            complaints: apt::complaints(&answer),
        }));
    }
    let unpacked = apt.directory.join("unpacked");
    let downloads = apt.downloads();
    for entry in fs::read_dir(&downloads).map_err(KernelError::io("cannot read", &downloads))? {
        let package = entry.map_err(KernelError::io("cannot read", &downloads))?.path();
        let unpack = Invocation::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked);
        apt.executor.check(&unpack)?;
    }
    Ok(unpacked)
}

/// A release and its backports.
fn wanted(archive: &Archive) -> Wanted {
    let suite = &archive.suite;
    Wanted { suites: vec![suite.clone(), format!("{suite}-backports")], component: COMPONENT }
}

/// The best version in the answer of `apt-cache madison`: of the proven series, or
/// else the newest later one. A version that lacks either part does not count.
fn best(madison: &str) -> Option<String> {
    let mut versions: [Vec<&str>; 2] = Default::default();
    for line in madison.lines() {
        let mut cells = line.split('|').map(str::trim);
        let (Some(package), Some(version)) = (cells.next(), cells.next()) else { continue };
        for (name, list) in [SOURCE, PROGRAMS].iter().zip(&mut versions) {
            if *name == package {
                list.push(version);
            }
        }
    }
    let [sources, programs] = versions;
    let known = sources.into_iter().filter(|version| programs.contains(version));
    let rated = known.filter_map(|version| {
        let release = release(version)?;
        let series = (release.0, release.1);
        (series >= SERIES).then_some(((series == SERIES, release), version))
    });
    // apt names the newest of equals first.
    rated.rev().max_by_key(|(rating, _)| *rating).map(|(_, version)| version.to_owned())
}

/// The three numbers of an OpenZFS version, such as `2.3.2-2~bpo12+2`.
pub(super) fn release(version: &str) -> Option<(u32, u32, u32)> {
    let upstream = version.split(['-', '~', '+']).next()?;
    let mut numbers = upstream.split('.').map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

/// The libraries of the same archive that `apt-cache depends` names. Others stand
/// in brackets, as no package that this apt knows.
fn libraries(depends: &str) -> impl Iterator<Item = &str> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .filter(|name| name.starts_with("lib"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MADISON: &str =
        "  zfs-dkms | 2.3.2-2~bpo12+2 | http://d/debian bookworm-backports/contrib
  zfs-dkms | 2.1.11-1+deb12u1 | http://d/debian bookworm/contrib amd64 Packages
zfsutils-linux | 2.3.2-2~bpo12+2 | http://d/debian bookworm-backports/contrib
zfsutils-linux | 2.1.11-1+deb12u1 | http://d/debian bookworm/contrib amd64 Packages
";

    fn both(versions: &[&str]) -> String {
        let line = |(package, version)| format!("{package} | {version} | here\n");
        let lines =
            [SOURCE, PROGRAMS].into_iter().flat_map(|p| versions.iter().map(move |v| (p, v)));
        lines.map(line).collect()
    }

    #[test]
    fn the_proven_series_is_preferred() {
        assert_eq!(best(MADISON).as_deref(), Some("2.3.2-2~bpo12+2"));
        for (versions, expected) in [
            (&["2.4.1-1", "2.3.9-1", "2.3.10-2", "2.3.10-1"] as &[&str], Some("2.3.10-2")),
            (&["2.10.0-1", "2.4.1-1"], Some("2.10.0-1")),
            (&["2.2.7-1", "2.1.11-1"], None),
            (&["2.3", "x", ""], None),
        ] {
            assert_eq!(best(&both(versions)).as_deref(), expected, "{versions:?}");
        }
        assert_eq!(best("zfs-dkms | 2.3.2-2 | here\n"), None, "the programs are not there");
    }

    #[test]
    fn only_libraries_of_the_same_archive() {
        let text = "zfsutils-linux\n  PreDepends: <init-system-helpers>\n  Depends: libnvpair3linux\n  \
                    Depends: <libc6>\n  Depends: <python3>\n |Recommends: libx\n  Breaks: zfs-dkms\n";
        assert_eq!(libraries(text).collect::<Vec<_>>(), ["libnvpair3linux"]);
    }

    proptest! {
        #[test]
        fn hostile_answers_are_only_text(text in "(\\PC|\n|[|]|zfs-dkms | 2\\.3\\.){0,40}") {
            if let Some(version) = best(&text) {
                prop_assert!(release(&version).is_some_and(|r| (r.0, r.1) >= SERIES));
            }
            prop_assert!(libraries(&text).all(|name| name.starts_with("lib")));
        }
    }
}
