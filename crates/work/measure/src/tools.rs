//! Versions of the programs that a study may use.

use std::time::Duration;

use disklab_exec::{Executor, Invocation};

use disklab_sample::Tool;

/// A program that hangs while it tells its version is left alone.
const LIMIT: Duration = Duration::from_secs(10);

/// How a program tells its version: its arguments, and the word that marks the
/// line; empty for the first line. Some write it to standard error, and some
/// end with an error all the same.
struct VersionQuery {
    program: &'static str,
    args: &'static [&'static str],
    mark: &'static str,
}

const fn query(
    program: &'static str,
    args: &'static [&'static str],
    mark: &'static str,
) -> VersionQuery {
    VersionQuery { program, args, mark }
}

/// All programs that [`tool_versions`] asks. The options are from the programs'
/// man pages.
const VERSION_QUERIES: &[VersionQuery] = &[
    query("fio", &["--version"], ""),
    query("dd", &["--version"], ""),
    query("cp", &["--version"], ""),
    query("rm", &["--version"], ""),
    query("tar", &["--version"], ""),
    query("rsync", &["--version"], "version"),
    query("hdparm", &["-V"], "hdparm"),
    query("smartctl", &["--version"], "smartctl"),
    query("nvme", &["version"], "version"),
    query("mkfs.ext4", &["-V"], "mke2fs"),
    query("mkfs.xfs", &["-V"], "version"),
    query("mkfs.btrfs", &["--version"], "btrfs-progs"),
    query("mkfs.f2fs", &["-V"], "mkfs.f2fs"),
    query("mkfs.nilfs2", &["-V"], "mkfs.nilfs2"),
    query("mkfs.jfs", &["-V"], "mkfs.jfs"),
    query("mkreiserfs", &["-V"], "mkreiserfs"),
    query("mkfs.fat", &["--help"], "mkfs.fat"),
    query("mkfs.exfat", &["-V"], "version"),
    query("mkfs.ntfs", &["--version"], "mkntfs"),
    query("mkfs.bcachefs", &["--version"], ""),
    query("btrfs", &["--version"], "btrfs-progs"),
    query("mdadm", &["--version"], "mdadm"),
    query("lvm", &["version"], "LVM version"),
    query("dmsetup", &["version"], "Library version"),
    query("cryptsetup", &["--version"], "cryptsetup"),
    query("integritysetup", &["--version"], "integritysetup"),
    // The second line is that of the module, which may not be loaded.
    query("zpool", &["version"], "zfs-"),
    query("zfs", &["version"], "zfs-"),
    query("mount", &["--version"], "util-linux"),
    query("losetup", &["--version"], "util-linux"),
    query("blkid", &["--version"], "util-linux"),
    query("wipefs", &["--version"], "util-linux"),
    query("sfdisk", &["--version"], "util-linux"),
];

/// What `program` says of its version. One that is not in disklab's table is
/// asked with `--version`. `None` where it is missing or says nothing that looks
/// like a version.
pub fn tool_version(executor: &Executor, program: &str) -> Option<Tool> {
    let unknown = query("", &["--version"], "");
    let known = VERSION_QUERIES.iter().find(|query| query.program == program);
    let query = known.unwrap_or(&unknown);
    let asked = Invocation::new(program).args(query.args).timeout(LIMIT);
    let finished = executor.run(&asked).ok()?;
    if known.is_none() && finished.code != 0 {
        return None;
    }
    let version = version_line(&finished.text(), query.mark)
        .or_else(|| version_line(&finished.error_text(), query.mark))?;
    Some(Tool { name: program.to_owned(), version })
}

/// The versions of all programs in the table that are installed.
pub fn tool_versions(executor: &Executor) -> Vec<Tool> {
    VERSION_QUERIES.iter().filter_map(|query| tool_version(executor, query.program)).collect()
}

/// The first line that has `mark` and a digit in it.
fn version_line(text: &str, mark: &str) -> Option<String> {
    let fits = |line: &&str| line.contains(mark) && line.contains(|c: char| c.is_ascii_digit());
    let line = text.lines().map(str::trim).find(fits)?;
    // A program of no use may print a page in one line.
    Some(line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn installed_programs_report_their_versions() {
        let executor = Executor::new(Interrupt::new());
        let dd = tool_version(&executor, "dd").expect("dd is everywhere");
        assert!(dd.version.starts_with("dd "), "{dd:?}");
        // Not in the table.
        let ls = tool_version(&executor, "ls").expect("ls is everywhere");
        assert!(ls.version.starts_with("ls "), "{ls:?}");
        assert_eq!(tool_version(&executor, "no-such-tool"), None);
        assert_eq!(tool_version(&executor, "false"), None);
    }

    #[test]
    fn the_line_with_the_version_is_found() {
        let lvm = "  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185\n";
        assert_eq!(
            version_line(lvm, "LVM version").as_deref(),
            Some("LVM version: 2.03.16(2) (2022-05-18)")
        );
        assert_eq!(
            version_line("warning: old\nmke2fs 1.47.0 (5-Feb-2023)\n", "mke2fs").as_deref(),
            Some("mke2fs 1.47.0 (5-Feb-2023)")
        );
        assert_eq!(version_line("usage: x [-y]\n", ""), None);
    }

    #[test]
    fn no_program_is_listed_twice() {
        let mut names: Vec<_> = VERSION_QUERIES.iter().map(|query| query.program).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    proptest! {
        #[test]
        fn hostile_output_gives_one_short_line(text in "(\\PC|\n){0,400}") {
            if let Some(line) = version_line(&text, "") {
                prop_assert!(!line.contains('\n') && line.chars().count() <= 200);
            }
        }
    }
}
