//! What file names tell where nobody else does: the stack.

use std::path::Path;

use crate::reading::stack_id_of;

/// Parts of a name that tell no stack: numbers of repeats, and the programs' own names.
const WORDS: [&str; 26] = [
    "fio",
    "dd",
    "hdparm",
    "bonnie",
    "bonnie++",
    "sysbench",
    "hyperfine",
    "elbencho",
    "filebench",
    "iozone",
    "diskspd",
    "crystaldiskmark",
    "kdiskmark",
    "phoronix",
    "composite",
    "time",
    "bench",
    "benchmark",
    "result",
    "results",
    "output",
    "out",
    "log",
    "test",
    "run",
    "rep",
];

/// The stack that a file's name tells. Where the files lie in several directories, these are
/// the stacks; else what is left of the name without the workload, the number of a
/// repeat and the program's name: `ext4-randread-2.json` is of `ext4`. None where
/// nothing is left.
pub(crate) fn stack_of(path: &Path, workload: &str, several_directories: bool) -> Option<String> {
    let directory = || {
        let name = path.parent()?.file_name()?.to_str()?;
        Some(stack_id_of(name))
    };
    if several_directories && let Some(directory) = directory() {
        return Some(directory);
    }
    let stem = path.file_stem()?.to_string_lossy().to_lowercase();
    let workload = workload.to_lowercase();
    let rest = match word_at(&stem, &workload) {
        Some(at) => format!("{} {}", &stem[..at], &stem[at + workload.len()..]),
        None => stem,
    };
    let of_workload: Vec<&str> = workload.split(['-', '_', '+', '.']).collect();
    let kept: Vec<&str> = rest
        .split(|c: char| c.is_whitespace() || "-_.#()".contains(c))
        .filter(|part| !part.is_empty() && !is_repeat(part) && !WORDS.contains(part))
        .filter(|part| !of_workload.contains(part))
        .collect();
    if kept.is_empty() { directory() } else { Some(stack_id_of(&kept.join("-"))) }
}

/// Where a name occurs in another without being a part of a longer word there: the job `r` is not
/// in 'xfs-mirror'.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let mut found = text.match_indices(word).filter(|_| !word.is_empty());
    found.find_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        (apart(before.chars().next_back()) && apart(behind.chars().next())).then_some(at)
    })
}

/// `2`, `run2`, `r02`.
fn is_repeat(part: &str) -> bool {
    let digits = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &part[..part.len() - digits.len()];
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ["", "r", "run", "rep", "repeat", "test", "n", "try"].contains(&letters)
}

/// What stands before 'read' or 'write' in one word: `randread`, `seqwrite`.
const FRONTS: [&str; 11] =
    ["", "rand", "rnd", "random", "seq", "sequential", "re", "bwd", "stride", "f", "p"];

/// Whether a name says that data were read, or that they were written; none where it
/// says both or neither. 'threads' and 'ready' are other words.
pub(crate) fn direction_in(name: &str) -> Option<disklab_sample::Direction> {
    let words = words(name);
    let says = |ends: &[&str]| {
        words.iter().any(|word| {
            let front = ends.iter().find_map(|end| word.strip_suffix(end));
            front.is_some_and(|front| FRONTS.contains(&front))
        })
    };
    let reads = says(&["read", "reads", "reading", "reader", "readers", "rd"]);
    let writes = says(&["write", "writes", "writing", "written", "writer", "writers", "wr"]);
    match (reads, writes) {
        (true, false) => Some(disklab_sample::Direction::Read),
        (false, true) => Some(disklab_sample::Direction::Write),
        _ => None,
    }
}

/// The words of a name in small letters: also where one begins with a capital, as in `SeqRead`.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for c in name.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphabetic() { c } else { ' ' });
        before = c;
    }
    spaced.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_without_the_workload_are_stacks() {
        for (path, workload, several, stack) in [
            ("ext4-randread-2.json", "randread", false, Some("ext4")),
            ("results/btrfs_fio_run3.json", "randread", false, Some("btrfs")),
            ("raid5-btrfs.1.txt", "dd-64k", false, Some("raid5-btrfs")),
            ("ext4/randread-1.json", "randread", true, Some("ext4")),
            ("ext4/fio-1.json", "randread", false, Some("ext4")),
            ("a/xfs-1.json", "randread", true, Some("a")),
            ("EXT4-seq-write-q8.txt", "seq-write-q8", false, Some("ext4")),
            ("xfs-mirror.json", "r", false, Some("xfs-mirror")),
            ("xfs-r-mirror.r.json", "r", false, Some("xfs-mirror")),
            ("ext4-mixed.json", "m", false, Some("ext4-mixed")),
            ("1.json", "randread", false, None),
            ("fio.json", "fio", false, None),
        ] {
            assert_eq!(stack_of(Path::new(path), workload, several).as_deref(), stack, "{path}");
        }
    }

    #[test]
    fn names_tell_directions() {
        assert_eq!(direction_in("dd-Write-1M"), Some(Direction::Write));
        assert_eq!(direction_in("read"), Some(Direction::Read));
        assert_eq!(direction_in("readwrite"), None);
        assert_eq!(direction_in("dd"), None);
        for name in
            ["dd-4threads", "Threads: 4", "ready", "spreadsheet", "overwriteable", "thread1"]
        {
            assert_eq!(direction_in(name), None, "{name}");
        }
        for name in
            ["4kRandRead", "seqread-q8", "rand_reads", "dd-read-1", "READ", "nas.rd", "reread"]
        {
            assert_eq!(direction_in(name), Some(Direction::Read), "{name}");
        }
        for name in ["SeqWrite", "randwrite4k", "rewrite", "written"] {
            assert_eq!(direction_in(name), Some(Direction::Write), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_gives_an_id_or_none(path in "\\PC{0,40}", workload in "\\PC{0,12}", several: bool) {
            if let Some(stack) = stack_of(Path::new(&path), &workload, several) {
                prop_assert!(!stack.is_empty() && stack.is_ascii());
            }
        }
    }
}
