//! Versions of the programs that a study may use.

use std::time::Duration;

use disklab_exec::{Executor, Invocation};

use disklab_sample::Tool;

/// A program that hangs while it tells its version is left alone.
const LIMIT: Duration = Duration::from_secs(10);

/// How a program tells its version: its arguments, and the word that marks the
/// line; empty for the first line. Some write it to standard error, and some
/// end with an error all the same.
struct Teller {
    program: &'static str,
    args: &'static [&'static str],
    mark: &'static str,
}

const fn teller(
    program: &'static str,
    args: &'static [&'static str],
    mark: &'static str,
) -> Teller {
    Teller { program, args, mark }
}

/// All programs that [`tool_versions`] asks. The options are from the programs'
/// man pages.
const TELLERS: &[Teller] = &[
    teller("fio", &["--version"], ""),
    teller("dd", &["--version"], ""),
    teller("cp", &["--version"], ""),
    teller("rm", &["--version"], ""),
    teller("tar", &["--version"], ""),
    teller("rsync", &["--version"], "version"),
    teller("hdparm", &["-V"], "hdparm"),
    teller("smartctl", &["--version"], "smartctl"),
    teller("nvme", &["version"], "version"),
    teller("mkfs.ext4", &["-V"], "mke2fs"),
    teller("mkfs.xfs", &["-V"], "version"),
    teller("mkfs.btrfs", &["--version"], "btrfs-progs"),
    teller("mkfs.f2fs", &["-V"], "mkfs.f2fs"),
    teller("mkfs.nilfs2", &["-V"], "mkfs.nilfs2"),
    teller("mkfs.jfs", &["-V"], "mkfs.jfs"),
    teller("mkreiserfs", &["-V"], "mkreiserfs"),
    teller("mkfs.fat", &["--help"], "mkfs.fat"),
    teller("mkfs.exfat", &["-V"], "version"),
    teller("mkfs.ntfs", &["--version"], "mkntfs"),
    teller("mkfs.bcachefs", &["--version"], ""),
    teller("btrfs", &["--version"], "btrfs-progs"),
    teller("mdadm", &["--version"], "mdadm"),
    teller("lvm", &["version"], "LVM version"),
    teller("dmsetup", &["version"], "Library version"),
    teller("cryptsetup", &["--version"], "cryptsetup"),
    teller("integritysetup", &["--version"], "integritysetup"),
    // The second line is that of the module, which may not be loaded.
    teller("zpool", &["version"], "zfs-"),
    teller("zfs", &["version"], "zfs-"),
    teller("mount", &["--version"], "util-linux"),
    teller("losetup", &["--version"], "util-linux"),
    teller("blkid", &["--version"], "util-linux"),
    teller("wipefs", &["--version"], "util-linux"),
    teller("sfdisk", &["--version"], "util-linux"),
];

/// What `program` says of its version. One that is not in disklab's table is
/// asked with `--version`. `None` where it is missing or says nothing that looks
/// like a version.
pub fn tool_version(executor: &Executor, program: &str) -> Option<Tool> {
    let unknown = teller("", &["--version"], "");
    let known = TELLERS.iter().find(|teller| teller.program == program);
    let teller = known.unwrap_or(&unknown);
    let asked = Invocation::new(program).args(teller.args).timeout(LIMIT);
    let finished = executor.run(&asked).ok()?;
    if known.is_none() && finished.code != 0 {
        return None;
    }
    let version = version_line(&finished.text(), teller.mark)
        .or_else(|| version_line(&finished.error_text(), teller.mark))?;
    Some(Tool { name: program.to_owned(), version })
}

/// The versions of all programs in the table that are installed.
pub fn tool_versions(executor: &Executor) -> Vec<Tool> {
    TELLERS.iter().filter_map(|teller| tool_version(executor, teller.program)).collect()
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
    fn programs_here_tell_their_versions() {
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
    fn no_program_stands_twice_in_the_table() {
        let mut names: Vec<_> = TELLERS.iter().map(|teller| teller.program).collect();
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
