//! Why there is no kernel.

use std::io;
use std::path::{Path, PathBuf};

use disklab_exec::{ExecError, Interrupted, NamedPathError};

use super::{AptProblem, LinuxProblem, ZfsProblem};

/// What is wrong with a kernel that the user named.
#[derive(Debug, thiserror::Error)]
pub enum NamedProblem {
    /// It is something else.
    #[error("not a file")]
    NotAFile,
    /// It cannot be started.
    #[error("not executable")]
    NotExecutable,
    /// The system's reason.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why the lab's kernel could not be built.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// User-Mode Linux does not exist for this machine's processor.
    #[error(
        "there is no User-Mode Linux, which the lab is, for '{0}', only for x86-64. What is measured on \
         this machine itself works here: `disklab run` and `plan` with --on dir:PATH, --on loop or --on \
         disks:/dev/disk/by-id/…"
    )]
    Machine(String),
    /// Programs or headers that the build needs are not installed.
    #[error(
        "building the lab's kernel needs {}, which {} not installed. On Debian: \
         apt-get install {}",
        what.join(", "),
        if what.len() == 1 { "is" } else { "are" },
        packages.join(" ")
    )]
    Tools {
        /// What is missing.
        what: Vec<&'static str>,
        /// The Debian packages that have them.
        packages: Vec<&'static str>,
    },
    /// There is no kernel source on this machine, and none can be fetched.
    #[error(
        "there is no kernel source: '{tarball}' does not exist, and apt-get cannot fetch the \
         package {package}. On Debian 12 and later: apt-get install {package}; elsewhere name \
         the directory of an unpacked Linux 6.12 or later"
    )]
    NoSource {
        /// Where the package would have put it.
        tarball: PathBuf,
        /// Name of the Debian package.
        package: &'static str,
    },
    /// Debian's backports have no source of a newer version, or cannot be reached.
    #[error(
        "the package {package} is not installed and cannot be fetched: {source}. On Debian 13 \
         with backports: apt-get install {package}; elsewhere put its '{package}.tar.xz' into \
         '/usr/src'{}",
        source.answer()
    )]
    NoBackport {
        /// Name of the Debian package.
        package: &'static str,
        /// What is in the way.
        source: AptProblem,
    },
    /// The kernel that the user named cannot be used.
    #[error("{by} '{}': {why}; name a User-Mode Linux program, such as `disklab lab build` makes", path.display())]
    Named {
        /// The option or variable.
        by: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        why: NamedProblem,
    },
    /// Another user may have put anything where kernels are kept.
    #[error(
        "the lab's kernel and its build run with your rights: {0} (XDG_CACHE_HOME says where kernels \
         are kept)"
    )]
    Untrusted(#[source] NamedPathError),
    /// The named directory cannot be built from.
    #[error("'{path}' is not a kernel source for the lab: {source}")]
    Source {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        source: LinuxProblem,
    },
    /// OpenZFS is not here and cannot be fetched.
    #[error(
        "OpenZFS for the lab's kernel is not available: {0}. On Debian 12 and 13 apt fetches it, \
         with a network; elsewhere name the directory of an unpacked OpenZFS 2.3 or later{answer}",
        answer = .0.answer()
    )]
    NoZfs(#[source] AptProblem),
    /// This OpenZFS cannot be built in.
    #[error("'{path}' is not an OpenZFS for the lab: {source}")]
    ZfsSource {
        /// Where it is, or the part of it that is wrong.
        path: PathBuf,
        /// What is wrong with it.
        source: ZfsProblem,
    },
    /// The kernel's makefiles cannot work in a directory of this name.
    #[error(
        "the kernel cannot be built in or from '{0}': its makefiles take no spaces and no \
         colons in a path (XDG_CACHE_HOME says where kernels are kept)"
    )]
    Path(PathBuf),
    /// The build would fill the file system.
    #[error(
        "building the lab's kernel needs {needed_mib} MiB in '{path}', where {free_mib} MiB are \
         free (XDG_CACHE_HOME says where kernels are kept)"
    )]
    Space {
        /// The cache directory.
        path: PathBuf,
        /// What is needed, in MiB.
        needed_mib: u64,
        /// What is there, in MiB.
        free_mib: u64,
    },
    /// This source does not have all that the lab needs.
    #[error("Linux {release} as configured lacks what the lab needs: {}", options.join(", "))]
    Options {
        /// Its version.
        release: String,
        /// The options that did not end up in the configuration.
        options: Vec<String>,
    },
    /// A program of the build failed.
    #[error("`{command}` failed ({code}); all of its output is in '{log}', of which:\n{lines}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit code.
        code: i32,
        /// The build log.
        log: PathBuf,
        /// Those of its lines that say why, or the last ones.
        lines: String,
    },
    /// A program could not be run, or the user asked to stop.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A file or directory could not be made or used.
    #[error("{what} '{path}': {source}")]
    Io {
        /// What was tried, such as 'cannot make'.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl From<Interrupted> for KernelError {
    fn from(stop: Interrupted) -> Self {
        Self::Exec(stop.into())
    }
}

impl KernelError {
    /// For `map_err`: the system refused `what` on `path`.
    pub(super) fn io<E: Into<io::Error>>(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source: source.into() }
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Exec(ExecError::Interrupted(_)))
    }

    /// Whether the user has to change or install something first: nothing was
    /// built, and the exit code is 2.
    pub fn is_usage_error(&self) -> bool {
        matches!(
            self,
            Self::Machine(_)
                | Self::Tools { .. }
                | Self::NoSource { .. }
                | Self::NoBackport { .. }
                | Self::Source { .. }
                | Self::NoZfs(_)
                | Self::ZfsSource { .. }
                | Self::Path(_)
                | Self::Space { .. }
                | Self::Options { .. }
                | Self::Named { .. }
                | Self::Untrusted(_)
        )
    }
}
