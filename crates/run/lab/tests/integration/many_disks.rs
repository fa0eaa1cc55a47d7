//! As many disks as a shelf has, and how many requests each is given at a time.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use crate::support::{kernel, run, steady};
use disklab_lab::{Lab, LabError, LabOptions, MOST_DISKS, OptionsProblem};

#[test]
fn a_guest_has_128_disks_that_all_answer() {
    let Some(kernel) = kernel() else { return };
    // Each is asked alone, then all at once.
    let script = "
        for disk in /sys/block/vd*; do
            dd if=/dev/${disk##*/} of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null && echo answer
        done
        for disk in /sys/block/vd*; do
            dd if=/dev/${disk##*/} of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null &
        done
        wait
        echo disks=$(ls -d /sys/block/vd* | wc -l)
        for disk in /sys/block/vd*; do cat $disk/serial; echo; done | sort -u | grep -c LAB | sed s/^/serials=/";
    let outcome = run(kernel, script, steady(MOST_DISKS, 64, 100_000), |options| {
        options.memory_bytes = 512 << 20;
    });
    let report = outcome.report();
    assert_eq!(outcome.console.matches("answer").count(), MOST_DISKS, "{}", outcome.console);
    assert_eq!(outcome.word("disks"), "128");
    assert_eq!(outcome.word("serials"), "128");
    let reads = report.disks.iter().map(|disk| disk.as_ref().map_or(0, |disk| disk.requests));
    assert!(reads.min().is_some_and(|least| least >= 21), "{:?}", report.disks);
}

#[test]
fn more_disks_than_that_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = LabOptions::new("/bin/true", directory.path(), "/bin/true");
    options.disks = steady(MOST_DISKS + 1, 64, 1);
    let Err(LabError::Options(OptionsProblem::Disks(129))) = Lab::start(options) else {
        panic!("129 disks are not refused");
    };
}

/// The usual way to switch NCQ off: of sixteen readers, so many requests are with the disk.
#[test]
fn queue_depth_is_where_scsi_disks_have_it() {
    let Some(kernel) = kernel() else { return };
    let script = "
        depth=/sys/block/vda/device/queue_depth
        readers() {
            for reader in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
                dd if=/dev/vda of=/dev/null bs=4k count=100 skip=$((reader * 100)) iflag=direct \\
                    2>/dev/null &
            done
            sleep 0.05
            read reads writes < /sys/block/vda/inflight
            wait
            echo $1=$reads
        }
        echo deepest=$(cat $depth)
        readers all
        echo 1 > $depth
        echo depth=$(cat $depth)
        readers one
        echo 0 > $depth 2>/dev/null || echo 1000000 > $depth 2>/dev/null || echo refused=yes
        echo still=$(cat $depth)
        echo 32 > $depth
        readers again";
    let outcome = run(kernel, script, disks(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("deepest"), "32");
    assert_eq!(outcome.word("depth"), "1");
    assert_eq!((outcome.word("refused"), outcome.word("still")), ("yes", "1"));
    let [all, one, again] = ["all", "one", "again"].map(|key| outcome.number(key));
    assert_eq!(one, 1.0);
    assert!(all >= 15.0 && again >= 15.0, "{all} and {again} of 16 in flight");
}

fn disks() -> Vec<disklab_lab::DiskOptions> {
    let mut disks = steady(1, 64, 100_000);
    disks[0].queue_depth = Some(32);
    disks
}
