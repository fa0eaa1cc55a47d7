//! BorgBackup's commands, and what it says.

use disklab_exec::Invocation;
use disklab_units::Bytes;
use serde::Deserialize;

use crate::{WorkContext, WorkloadError};

/// The program and the Debian package that has it. `borg import-tar` came with 1.2
/// (its change log, 1.2.0a2), which Debian has since version 12.
pub(super) const BORG: (&str, &str) = ("borg", "borgbackup");

/// Directories in the directory of the cell: the repository, and what Borg keeps of its
/// own (caches, configuration), which would else go to the user's home.
pub(super) const REPOSITORY: &str = "repository";
pub(super) const BASE: &str = "borg-base";

/// Segments of a repository, which are its files: `max_segment_size` in
/// borg/constants.py.
pub(super) const SEGMENT: Bytes = Bytes(500 << 20);

/// How a repository is encrypted: `borg help init`.
pub(super) const ENCRYPTIONS: [(&str, &str); 3] =
    [("none", "none"), ("repokey", "repokey"), ("repokey-blake2", "repokey-blake2")];

/// Has the C library keep memory that Borg gave back, and not ask the kernel for it anew
/// with each chunk (mallopt(3)). A page that is used for the first time takes a guest of
/// the lab some 25 µs of the machine's time, and Borg made 430 such pages for each MB of a
/// backup; with these it makes 45. Nothing else follows from it.
const MALLOC: [(&str, &str); 3] = [
    ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
    ("MALLOC_TRIM_THRESHOLD_", "4294967296"),
    ("MALLOC_TOP_PAD_", "16777216"),
];

/// A Borg command that runs in the directory of the cell and asks nobody.
pub(super) fn borg(context: &WorkContext<'_>, command: &str) -> Invocation {
    let mut borg = Invocation::new(BORG.0)
        .arg(command)
        .cwd(context.directory)
        .env("BORG_BASE_DIR", &context.directory.join(BASE).display().to_string())
        .env("BORG_PASSPHRASE", "disklab")
        .env("BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK", "yes")
        .env("BORG_RELOCATED_REPO_ACCESS_IS_OK", "yes");
    // What a user may have set for repositories of their own.
    for variable in ["BORG_CACHE_DIR", "BORG_CONFIG_DIR", "BORG_SECURITY_DIR", "BORG_KEYS_DIR"] {
        let directory = context.directory.join(BASE).join(variable.to_ascii_lowercase());
        borg = borg.env(variable, &directory.display().to_string());
    }
    if context.executor.guest().is_some() {
        // CPU time is free there, and this is all it takes.
        borg = borg.env("BORG_SELFTEST", "disabled");
        for (variable, value) in MALLOC {
            borg = borg.env(variable, value);
        }
    }
    borg
}

/// The name of a copy: they count from 1.
pub(super) fn copy_name(number: u64) -> String {
    format!("copy-{number}")
}

/// Where Borg keeps a copy.
pub(super) fn archive(number: u64) -> String {
    format!("{REPOSITORY}::{}", copy_name(number))
}

/// Whether Borg's `--compression` takes this (`borg help compression`).
pub(super) fn is_compression(text: &str) -> bool {
    let mut words = text.split(',').peekable();
    if words.peek() == Some(&"auto") {
        words.next();
    }
    let (name, level) = (words.next().unwrap_or_default(), words.next());
    let levels = match name {
        "none" | "lz4" => return level.is_none(),
        "zstd" => 1..=22,
        "zlib" | "lzma" => 0..=9,
        _ => return false,
    };
    let level = level.is_none_or(|level| {
        level.bytes().all(|b| b.is_ascii_digit())
            && level.parse().is_ok_and(|level: u32| levels.contains(&level))
    });
    level && words.next().is_none()
}

/// What all archives of a repository are together, the archives' own lists of
/// files included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Stored {
    /// Bytes that were backed up.
    pub total_size: u64,
    /// The same, compressed.
    pub total_csize: u64,
    /// Of that, what is kept: each chunk once.
    pub unique_csize: u64,
}

#[derive(Deserialize)]
struct Info {
    cache: InfoCache,
}

#[derive(Deserialize)]
struct InfoCache {
    stats: Stored,
}

/// What `borg info --json` says.
pub(super) fn stored(text: &str) -> Result<Stored, WorkloadError> {
    serde_json::from_str(text)
        .map(|info: Info| info.cache.stats)
        .map_err(|error| WorkloadError::output("borg", error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use disklab_exec::{BootClock, Executor, GuestFacts, Interrupt};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::context;

    #[test]
    fn compressions_are_known() {
        for good in
            ["none", "lz4", "zstd", "zstd,22", "zlib,0", "lzma,9", "auto,zstd,3", "auto,lz4"]
        {
            assert!(is_compression(good), "{good}");
        }
        for bad in
            ["", "auto", "lz4,1", "zstd,0", "zstd,23", "zlib,+1", "zstd,3,4", "bzip2", "lz4 x"]
        {
            assert!(!is_compression(bad), "{bad}");
        }
    }

    #[test]
    fn only_the_lab_changes_how_it_computes() {
        let directory = tempfile::tempdir().expect("temp");
        let facts = GuestFacts { versions: BTreeMap::new(), clock: BootClock::read() };
        for executor in [Executor::new(Interrupt::new()), Executor::in_guest(facts)] {
            let command =
                format!("{:?}", borg(&context(&executor, directory.path(), None), "create"));
            let in_lab = executor.guest().is_some();
            assert_eq!(command.contains("MALLOC_"), in_lab, "{command}");
            assert_eq!(command.contains("BORG_SELFTEST"), in_lab, "{command}");
        }
    }

    #[test]
    fn its_figures_are_understood() {
        let text = r#"{"cache": {"path": "x", "stats": {"total_chunks": 14,
            "total_csize": 13500036, "total_size": 13500000, "total_unique_chunks": 13,
            "unique_csize": 12001173, "unique_size": 12001945}}, "encryption": {"mode": "none"}}"#;
        let stored = stored(text).expect("valid");
        assert_eq!((stored.total_size, stored.total_csize), (13_500_000, 13_500_036));
        assert_eq!(stored.unique_csize, 12_001_173);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", word in "(auto,)?[a-z0-9]{0,5}(,[0-9]{0,30})?") {
            let _ = stored(&text);
            let _ = is_compression(&text);
            let _ = is_compression(&word);
        }
    }
}
