//! More threads than a block queue has tags: all of them get their turn.

use std::path::Path;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;

/// Virtual seconds of each case.
const SECONDS: u32 = 60;
/// A thread makes more than the median's reads over this: what chance leaves of some 200 reads in
/// 60 s. It was one read in all.
const FAIR_SHARE: u64 = 2;
/// The reads of all threads together are within a twentieth of those of as many threads as
/// there are tags: the drive has as many in flight, and reads other places.
const SAME_THROUGHPUT: u64 = 20;

/// What is run: a scheduler, and threads that read 4 KiB at random offsets, each one after
/// the other.
struct Case {
    scheduler: &'static str,
    threads: usize,
}

/// `none` has the drive's 32 tags, the others have twice as many.
const CASES: [Case; 6] = [
    Case { scheduler: "none", threads: 32 },
    Case { scheduler: "none", threads: 64 },
    Case { scheduler: "mq-deadline", threads: 64 },
    Case { scheduler: "mq-deadline", threads: 128 },
    Case { scheduler: "kyber", threads: 64 },
    Case { scheduler: "kyber", threads: 128 },
];

fn script() -> String {
    let mut script = String::new();
    for Case { scheduler, threads } in CASES {
        script += &format!(
            "echo {scheduler} > /sys/block/vda/queue/scheduler
             fio --name=reader --filename=/dev/vda --size=8T --rw=randread --bs=4k --direct=1 \
             --ioengine=psync --thread --numjobs={threads} --time_based --runtime={SECONDS} \
             --norandommap --output-format=json --output=/tmp/result >/dev/null
             echo case; grep '\"total_ios\"' /tmp/result\n"
        );
    }
    script
}

/// What the script prints.
fn output(kernel: &Path, more: &[&str]) -> String {
    let place = tempfile::tempdir().expect("temp");
    let mut command = assert_cmd::Command::cargo_bin("disklab").expect("the program is built");
    command.args(["lab", "shell", "--drives", "hgst-10tb", "--seed", "3", "--kernel"]).arg(kernel);
    command.env("XDG_CACHE_HOME", place.path()).current_dir(place.path());
    let output = command.args(["-c", &script()]).args(more).assert().success();
    String::from_utf8_lossy(&output.get_output().stdout).into_owned()
}

/// The reads of each thread, in ascending order, for each case.
fn reads(output: &str) -> Vec<Vec<u64>> {
    let cases = output.split("case").skip(1);
    cases
        .map(|case| {
            let totals = case.lines().filter_map(|line| line.split_once("\"total_ios\" :"));
            let totals = totals.map(|(_, n)| n.trim().trim_end_matches(',').parse().expect("n"));
            // Of each thread reads, writes, discards and flushes.
            let mut reads: Vec<u64> = totals.step_by(4).collect();
            reads.sort_unstable();
            reads
        })
        .collect()
}

#[test]
fn no_waiter_for_a_tag_starves() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["fio"]) {
        return;
    }
    let reads = reads(&output(&kernel, &[]));
    assert_eq!(reads.len(), CASES.len());
    let mut fitting = 0;
    for (case, reads) in CASES.iter().zip(&reads) {
        let Case { scheduler, threads } = case;
        assert_eq!(reads.len(), *threads, "{scheduler}");
        let total: u64 = reads.iter().sum();
        let (least, median) = (reads[0], reads[threads / 2]);
        assert!(least * FAIR_SHARE > median, "{scheduler}, {threads} threads: {reads:?}");
        let tags = if *scheduler == "none" { 32 } else { 64 };
        if *threads == tags {
            fitting = total;
        }
        let difference = total.abs_diff(fitting);
        assert!(difference * SAME_THROUGHPUT < fitting, "{scheduler}: {fitting}, {total}");
    }
}
