//! Where the kernel's source comes from.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use disklab_exec::{Executor, Invocation, find_program};
use sha2::{Digest, Sha256};

use super::digest::short;
use super::linux::LinuxVersion;
use super::{KernelError, LinuxProblem};

/// What the identity of a source that the user named begins with.
pub(super) const NAMED_SOURCE: &str = "Linux ";

/// Files of which a source that is whole has all: one from each part that the lab's
/// kernel is made of, so that half a source is told before minutes of building.
const PARTS: [&str; 8] = [
    "arch/x86/um/Makefile",
    "block/Makefile",
    "drivers/md/Makefile",
    "fs/ext4/Makefile",
    "kernel/Makefile",
    "lib/Makefile",
    "mm/Makefile",
    "scripts/kconfig/Makefile",
];

/// Where the kernel's source comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinuxSource {
    /// Debian's package of a version, such as `linux-source-6.12`: as it is installed, or
    /// fetched with the user's own package sources, or else from Debian's backports.
    Debian(LinuxVersion),
    /// An unpacked source, Linux 6.12 or later, in which nothing was built. It is
    /// only read.
    Tree(PathBuf),
}

/// A source that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The version whose options it takes.
    pub version: LinuxVersion,
    /// What it is, so exactly that another source has another identity; of a package in
    /// Debian's backports, as far as that is known before their lists are fetched.
    pub identity: String,
    pub origin: Origin,
}

/// What has to be done to have the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// Unpack this.
    Tarball(PathBuf),
    /// Fetch the package, then unpack it.
    Package,
    /// The same from Debian's backports, with lists of our own.
    Backports,
    /// Use this directory.
    Tree(PathBuf),
}

impl LinuxSource {
    /// Looks for the source; `root` is `/` but in tests.
    pub(super) fn find(&self, root: &Path, executor: &Executor) -> Result<Found, KernelError> {
        match self {
            Self::Debian(version) => debian(*version, root, executor),
            Self::Tree(directory) => tree(directory),
        }
    }
}

/// What a package of a source installs.
fn tarball_of(package: &str) -> String {
    format!("usr/src/{package}.tar.xz")
}

fn debian(version: LinuxVersion, root: &Path, executor: &Executor) -> Result<Found, KernelError> {
    let package = version.package();
    let tarball = root.join(tarball_of(package));
    let found = |identity, origin| Found { version, identity, origin };
    if let Ok(metadata) = fs::metadata(&tarball) {
        // The size tells a tarball that was put there by hand from the package's.
        let installed = installed_version(package, executor)?;
        let installed = installed.unwrap_or_else(|| "unknown".to_owned());
        let identity = format!("{package} {installed}, {} bytes", metadata.len());
        return Ok(found(identity, Origin::Tarball(tarball)));
    }
    match available_version(package, executor)? {
        Some(available) => Ok(found(format!("{package} {available}, fetched"), Origin::Package)),
        None if version.backports().is_some() => Ok(found(package.to_owned(), Origin::Backports)),
        None => Err(KernelError::NoSource { tarball, package }),
    }
}

fn installed_version(package: &str, executor: &Executor) -> Result<Option<String>, KernelError> {
    if find_program("dpkg-query").is_none() {
        return Ok(None);
    }
    let query = Invocation::new("dpkg-query").args(["-W", "-f=${Version}", package]);
    let answer = executor.run(&query)?;
    let version = answer.text().trim().to_owned();
    Ok((answer.code == 0 && !version.is_empty()).then_some(version))
}

/// What `apt-get download` would fetch, according to lists that are here already.
fn available_version(package: &str, executor: &Executor) -> Result<Option<String>, KernelError> {
    if ["apt-cache", "apt-get", "dpkg-deb"].iter().any(|p| find_program(p).is_none()) {
        return Ok(None);
    }
    let show = Invocation::new("apt-cache").args(["show", "--no-all-versions", package]);
    let answer = executor.run(&show)?;
    Ok((answer.code == 0).then(|| version_field(&answer.text())).flatten())
}

/// The field `Version` of a package's description (deb-control(5)).
fn version_field(text: &str) -> Option<String> {
    let version = text.lines().find_map(|line| line.strip_prefix("Version:"))?.trim();
    (!version.is_empty()).then(|| version.to_owned())
}

/// Fetches the package into `directory`, without root and with the user's own
/// sources, and says where its tarball is then.
pub(super) fn fetch(
    package: &str,
    directory: &Path,
    executor: &Executor,
) -> Result<PathBuf, KernelError> {
    executor.check(&Invocation::new("apt-get").args(["download", package]).cwd(directory))?;
    unpack_package(package, directory, directory, executor)
}

/// Unpacks the one package in `directory` below `to`.
pub(super) fn unpack_package(
    package: &str,
    directory: &Path,
    to: &Path,
    executor: &Executor,
) -> Result<PathBuf, KernelError> {
    let wrong = |source| KernelError::Source { path: directory.to_owned(), source };
    let archive = fs::read_dir(directory)
        .map_err(KernelError::io("cannot read", directory))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|e| e == "deb"))
        .ok_or_else(|| wrong(LinuxProblem::NoPackage { package: package.to_owned() }))?;
    executor.check(&Invocation::new("dpkg-deb").arg("-x").arg(&archive).arg(to))?;
    fs::remove_file(&archive).map_err(KernelError::io("cannot remove", &archive))?;
    let tarball = to.join(tarball_of(package));
    if tarball.is_file() {
        return Ok(tarball);
    }
    let file = tarball_of(package);
    Err(wrong(LinuxProblem::NotInPackage { package: package.to_owned(), file }))
}

fn tree(directory: &Path) -> Result<Found, KernelError> {
    let wrong = |source| KernelError::Source { path: directory.to_owned(), source };
    let unreadable = |file: &Path| {
        let file = file.to_owned();
        move |source| wrong(LinuxProblem::Io { file, source })
    };
    let resolved = directory.canonicalize().map_err(unreadable(directory))?;
    let read =
        |name: &str| fs::read_to_string(resolved.join(name)).map_err(unreadable(Path::new(name)));
    let makefile = read("Makefile")?;
    let release = release(&makefile).ok_or_else(|| wrong(LinuxProblem::NotLinux))?;
    if !read("arch/um/Kconfig")?.contains("config UML_TIME_TRAVEL_SUPPORT") {
        return Err(wrong(LinuxProblem::NoTimeTravel { release }));
    }
    // The lab's calendar is shared memory: Linux 6.11 was the first to have it.
    let header = "include/uapi/linux/um_timetravel.h";
    if !read(header)?.contains("um_timetravel_schedshm") {
        return Err(wrong(LinuxProblem::NoCalendar { release }));
    }
    if let Some(part) = PARTS.iter().find(|part| !resolved.join(part).is_file()) {
        return Err(wrong(LinuxProblem::Incomplete { part, release }));
    }
    // Makefiles refuse it for a build elsewhere (outputmakefile in the Makefile).
    for built in [".config", "include/config", "arch/x86/include/generated"] {
        if resolved.join(built).exists() {
            return Err(wrong(LinuxProblem::Built { built, directory: resolved }));
        }
    }
    let digest = digest(&resolved)?;
    Ok(Found {
        version: LinuxVersion::like(&release),
        identity: format!("{NAMED_SOURCE}{release}, files {digest}"),
        origin: Origin::Tree(resolved),
    })
}

/// The version that a kernel's Makefile begins with.
pub(super) fn release(makefile: &str) -> Option<String> {
    let value = |name: &str| {
        makefile.lines().take(20).find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let number = |name| value(name).filter(|v| v.parse::<u32>().is_ok());
    let (major, minor) = (number("VERSION")?, number("PATCHLEVEL")?);
    let patch = number("SUBLEVEL").map(|p| format!(".{p}")).unwrap_or_default();
    Some(format!("{major}.{minor}{patch}{}", value("EXTRAVERSION").unwrap_or_default()))
}

/// Names, sizes and times of change of all files: reading them would take longer,
/// and to edit a source changes these.
pub(super) fn digest(directory: &Path) -> Result<String, KernelError> {
    let mut hash = Sha256::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(path) = directories.pop() {
        let unreadable = |source: std::io::Error| KernelError::Source {
            path: directory.to_owned(),
            source: LinuxProblem::Io { file: path.clone(), source },
        };
        let mut entries: Vec<_> =
            fs::read_dir(&path).and_then(Iterator::collect::<Result<_, _>>).map_err(unreadable)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if entry.file_name() == ".git" {
                continue;
            }
            let metadata = entry.metadata().map_err(unreadable)?;
            if metadata.is_dir() {
                directories.push(entry.path());
                continue;
            }
            let changed = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
            let name = entry.path();
            let name = name.strip_prefix(directory).unwrap_or(&name);
            let nanos = changed.unwrap_or_default().as_nanos();
            hash.update(format!("{}\0{}\0{nanos}\n", name.display(), metadata.len()));
        }
    }
    Ok(short(&hash.finalize()))
}

/// Copies a source to the directory `to`, new or empty, where it can be changed, without its
/// history.
pub(super) fn copy(
    directory: &Path,
    to: &Path,
    run: &dyn Fn(Invocation) -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    fs::create_dir_all(to).map_err(KernelError::io("cannot make", to))?;
    let mut copy = Invocation::new("cp").args(["-R", "--preserve=mode,timestamps,links", "-t"]);
    copy = copy.arg(to).arg("--");
    for entry in fs::read_dir(directory).map_err(KernelError::io("cannot read", directory))? {
        let entry = entry.map_err(KernelError::io("cannot read", directory))?;
        if entry.file_name() != ".git" {
            copy = copy.arg(entry.path());
        }
    }
    run(copy)
}

#[cfg(test)]
mod tests;
