//! What is wrong with a source that was named or fetched.

use std::io;
use std::path::PathBuf;

/// Why the lab's kernel cannot be built from a source.
#[derive(Debug, thiserror::Error)]
pub enum LinuxProblem {
    /// The system's reason.
    #[error("cannot read '{}': {source}", file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is another program's.
    #[error("its Makefile is not that of a Linux kernel")]
    NotLinux,
    /// User-Mode Linux has no time of its own there.
    #[error("Linux {release} has no time travel; take Linux 6.12 or later")]
    NoTimeTravel {
        /// Its version.
        release: String,
    },
    /// The lab's calendar is shared memory, which came with Linux 6.11.
    #[error("Linux {release} has no shared calendar of time travel; Linux 6.12 and later have")]
    NoCalendar {
        /// Its version.
        release: String,
    },
    /// It is not whole.
    #[error("'{part}' of Linux {release} is missing; unpack or clone it whole")]
    Incomplete {
        /// What is missing.
        part: &'static str,
        /// Its version.
        release: String,
    },
    /// The kernel's makefiles refuse it for a build elsewhere.
    #[error(
        "it has been built in ('{built}' is there); `make -C {} ARCH=um mrproper` cleans it, with \
         its .config",
        directory.display()
    )]
    Built {
        /// What shows it.
        built: &'static str,
        /// The source.
        directory: PathBuf,
    },
    /// apt-get ended well, and nothing is there.
    #[error("`apt-get download {package}` left no package there")]
    NoPackage {
        /// What apt-get was to download.
        package: String,
    },
    /// The package has no source in it.
    #[error("the package {package} has no '{file}'")]
    NotInPackage {
        /// What was downloaded and unpacked.
        package: String,
        /// What it should have.
        file: String,
    },
}

/// Why OpenZFS cannot be built in from a source, or its programs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ZfsProblem {
    /// The system's reason.
    #[error("cannot read '{}': {source}", file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is another program's.
    #[error("its META is not OpenZFS's")]
    NotOpenZfs,
    /// It does not know the lab's Linux.
    #[error("it is OpenZFS {version}; 2.3 was the first for Linux 6.12")]
    TooOld {
        /// Of the source that was found.
        version: String,
    },
    /// It comes from version control.
    #[error("it has no 'configure'; `./autogen.sh` makes it, and releases have it")]
    NoConfigure,
    /// It was configured for another kernel.
    #[error("it has been built in ('zfs_config.h' is there); `make distclean` cleans it")]
    Built,
    /// The lab changes lines that are not as they were.
    #[error(
        "`{find}` stands there {found} times, where the lab changes {expected}; take OpenZFS 2.3"
    )]
    NotAsEdited {
        /// The line.
        find: &'static str,
        /// How often it is there.
        found: usize,
        /// How often it should be.
        expected: usize,
    },
    /// The package has no source in it.
    #[error("the package zfs-dkms has no source in it")]
    NotInPackage,
    /// The packages have no such program.
    #[error("its packages have no {0}")]
    NoProgram(&'static str),
    /// The packages have no libraries.
    #[error("its packages have no libraries")]
    NoLibraries,
    /// Libraries of no known package.
    #[error("its programs need {}, which is not here", .0.join(", "))]
    LibrariesMissing(Vec<String>),
}
