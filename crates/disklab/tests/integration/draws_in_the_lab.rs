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
            let stack = usize::from(record.cell.stack == "b");
            all[record.cell.block as usize][stack] =
                sample.steps.iter().map(|step| step.elapsed_ns).sum();
        })
        .expect("samples");
    assert!(all.iter().flatten().all(|ns| *ns > 0), "{all:?}");
    all
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
