//! Why apt gives no package.

/// Why apt gives no package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AptProblem {
    /// Its programs are not here.
    #[error("there is no {} here to fetch Debian's packages", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// Nothing is known of Debian.
    #[error("the package sources of this machine name no archive of Debian")]
    NoArchive,
    /// The archives do not have it, or cannot be reached.
    #[error("no {package} was found in {}", suites.join(", "))]
    NotFound {
        /// What was looked for: 'zfs-dkms 2.3 or later'.
        package: String,
        /// Where: each suite, with the component unless it is `main`.
        suites: Vec<String>,
        /// apt's complaints, or nothing.
        complaints: String,
    },
    /// It is there, and cannot be fetched.
    #[error("{package} {version} cannot be downloaded")]
    NotDownloaded {
        /// Name of the Debian package.
        package: &'static str,
        /// The one that was chosen from the archives' lists.
        version: String,
        /// apt's complaints, or nothing.
        complaints: String,
    },
}

impl AptProblem {
    /// apt's complaints, for the end of a message; empty if it has none.
    pub(super) fn answer(&self) -> String {
        match self {
            Self::NotFound { complaints, .. } | Self::NotDownloaded { complaints, .. }
                if !complaints.is_empty() =>
            {
                format!(". apt says:\n{complaints}")
            }
            _ => String::new(),
        }
    }
}
