//! What of OpenZFS must change for a clock that is frozen while the processor
//! works.
//!
//! At its start, OpenZFS measures which of its implementations of checksums and of
//! RAID-Z's parity is the fastest, each "for 1 ms". In virtual time that never
//! ends. Each is called once instead, and the last one is taken for the fastest,
//! as OpenZFS does itself outside of a kernel (`fletcher_4_benchmark`).

use std::fs;
use std::path::Path;

use super::super::{KernelError, ZfsProblem};

/// A replacement in one of OpenZFS's files.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Edit {
    /// The file, in OpenZFS's directory `module`.
    pub file: &'static str,
    /// What stands there.
    pub find: &'static str,
    /// How often.
    pub times: usize,
    /// What is to stand there.
    pub replace: &'static str,
}

pub(in super::super) const EDITS: &[Edit] = &[
    Edit {
        file: "zcommon/zfs_fletcher.c",
        find: "} while (run_time_ns < FLETCHER_4_BENCH_NS);",
        times: 1,
        // Each seems to be faster than the one before.
        replace: "} while (0); run_time_ns = FLETCHER_4_BENCH_NS / (i + 1);",
    },
    Edit {
        file: "zfs/vdev_raidz_math.c",
        find: "} while (t_diff < BENCH_NS);",
        times: 1,
        replace: "} while (0); t_diff = BENCH_NS / (impl + 1);",
    },
    Edit {
        file: "zfs/zfs_chksum.c",
        find: "} while (run_time_ns < MSEC2NSEC(1));",
        times: 1,
        replace: "} while (0); run_time_ns = MSEC2NSEC(1);",
    },
    Edit {
        file: "zfs/zfs_chksum.c",
        // SHA-256, SHA-512 and BLAKE3: of equals, the last.
        find: "if (cs->bs256k > max)",
        times: 3,
        replace: "if (cs->bs256k >= max)",
    },
];

/// Makes all edits in `module`, a directory of OpenZFS's.
///
/// # Errors
/// Where a file is not as the edit expects it: it would not do its work.
pub(super) fn apply(edits: &[Edit], module: &Path) -> Result<(), KernelError> {
    for edit in edits {
        let path = module.join(edit.file);
        let text = fs::read_to_string(&path).map_err(KernelError::io("cannot read", &path))?;
        let changed = edit.applied(&text).map_err(|times| KernelError::ZfsSource {
            path: path.clone(),
            source: ZfsProblem::NotAsEdited { find: edit.find, found: times, expected: edit.times },
        })?;
        fs::write(&path, changed).map_err(KernelError::io("cannot write", &path))?;
    }
    Ok(())
}

impl Edit {
    /// The changed text, or how often the old one stands there instead.
    fn applied(&self, text: &str) -> Result<String, usize> {
        let times = text.matches(self.find).count();
        if times == self.times { Ok(text.replace(self.find, self.replace)) } else { Err(times) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_with_other_text_is_refused() {
        let directory = tempfile::tempdir().expect("temp");
        let edit = [Edit { file: "a.c", find: "old", times: 2, replace: "new" }];
        let missing = apply(&edit, directory.path()).expect_err("no file");
        assert!(missing.to_string().contains("a.c"), "{missing}");
        let file = directory.path().join("a.c");
        fs::write(&file, "old, old").expect("file");
        apply(&edit, directory.path()).expect("applied");
        assert_eq!(fs::read_to_string(&file).expect("file"), "new, new");
        let error = apply(&edit, directory.path()).expect_err("nothing to change");
        assert!(error.is_usage_error());
        let KernelError::ZfsSource {
            source: ZfsProblem::NotAsEdited { find: "old", found: 0, expected: 2 },
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(fs::read_to_string(&file).expect("file"), "new, new");
    }

    #[test]
    fn no_edit_undoes_another() {
        for edit in EDITS {
            assert!(!edit.replace.contains(edit.find), "{}", edit.find);
            assert!(!edit.replace.contains('\n'), "line numbers in messages stay");
        }
    }

    proptest! {
        #[test]
        fn all_places_change_or_none(parts in prop::collection::vec("[a-z]{0,5}", 1..6)) {
            let edit = Edit { file: "", find: "OLD", times: parts.len() - 1, replace: "NEW" };
            prop_assert_eq!(edit.applied(&parts.join("OLD")), Ok(parts.join("NEW")));
            let more = format!("OLD{}", parts.join("OLD"));
            prop_assert_eq!(edit.applied(&more), Err(parts.len()));
        }
    }
}
