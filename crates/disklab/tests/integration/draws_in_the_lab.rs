//! What two equal stacks of one run share in the lab, and what repeats do not.

use crate::lab_support::kernel::kernel;
use disklab_sample::Sample;
use disklab_store::Run;

/// Two stacks that are the same but for their names. Where the journal stands to the file
/// decides what a commit takes, so that each unit of a drive has another figure.
const STUDY: &str = r#"
id = "aa"
title = "Two equal stacks"
repeats = 2
[[drives]]
model = "hgst-10tb"
size = "10 TB"
[stacks]
a = "partition/ext4"
b = "partition/ext4"
[[workloads]]
id = "commits"
dd = { direction = "write", bs = "4k", count = 32, flags = "dsync" }
"#;

/// Nanoseconds that the commits took, by block and stack.
fn elapsed(draws: &str) -> [[u64; 2]; 2] {
    let temp = tempfile::tempdir().expect("temp");
    crate::lab_support::run::samples(
        temp.path(),
        &STUDY.replace("repeats", &format!("{draws}\nrepeats")),
        &["--seed", "5"],
    );
    let mut all = [[0; 2]; 2];
    Run::open(&temp.path().join("run"))
        .expect("a run")
        .for_each_sample(|record, sample: Sample| {
            let stack = usize::from(record.cell.levels.stack == "b");
            all[record.cell.block as usize][stack] =
                sample.steps.iter().map(|step| step.elapsed_ns).sum();
        })
        .expect("samples");
    assert!(all.iter().flatten().all(|ns| *ns > 0), "{all:?}");
    all
}

/// Random reads of the file systems that can spread a file, in one place and over half of the drive.
const READS: &str = r#"
id = "places"
title = "Where a file lies"
repeats = 1
[[drives]]
model = "hdn721010ale604"
size = "10 TB"
[stacks]
btrfs = "partition/btrfs"
ext4 = "partition/ext4"
xfs = "partition/xfs"
[[workloads]]
id = "reads"
fio = { ioengine = "psync", direct = 1, rw = "randread", bs = "4k", size = "160M", io_size = "1M" }
"#;

/// Reads a second, by stack.
fn reads(study: &str) -> std::collections::BTreeMap<String, f64> {
    let temp = tempfile::tempdir().expect("temp");
    crate::lab_support::run::samples(temp.path(), study, &["--seed", "5"]);
    let mut all = std::collections::BTreeMap::new();
    Run::open(&temp.path().join("run"))
        .expect("a run")
        .for_each_sample(|record, sample: Sample| {
            let rate = 256e9 / sample.steps[0].elapsed_ns as f64;
            all.insert(record.cell.levels.stack.clone(), rate);
        })
        .expect("samples");
    all
}

/// An arm that moves over half of the drive takes its time: a seek over a sixth of all tracks, and
/// half of a revolution of 8.3 ms, are some 11 ms.
#[test]
fn a_spread_file_is_read_as_slowly_as_half_of_the_drive() {
    let Some(_) = kernel() else { return };
    let (near, far) = (reads(READS), reads(&format!("spread = '50 %'\n{READS}")));
    assert_eq!(far.len(), 3, "{far:?}");
    for (stack, far) in &far {
        assert!((70.0..115.0).contains(far), "{stack}: {far} reads a second");
        assert!(near[stack] > 1.4 * far, "{stack}: {} in one place, {far}", near[stack]);
    }
}

#[test]
fn equal_stacks_share_their_draws_unless_the_study_says_apart() {
    let Some(_) = kernel() else { return };
    let [first, second] = elapsed("");
    assert_eq!(first[0], first[1], "the same units of the drives and the same work");
    assert_ne!(first[0], second[0], "another repeat has other units");
    let [first, second] = elapsed("draws = 'apart'");
    assert!(first[0] != first[1] && second[0] != second[1], "an A/A study shows something");
}
