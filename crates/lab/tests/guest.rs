//! Real kernels, in virtual time.

mod support;

use support::{kernel, run, steady};

#[test]
fn a_guest_prints_and_powers_off() {
    let Some(kernel) = kernel() else { return };
    let outcome = run(kernel, "echo said=hello", Vec::new(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("said"), "hello");
}

#[test]
fn an_hour_of_sleep_takes_no_time() {
    let Some(kernel) = kernel() else { return };
    let script = "a=$(date +%s); sleep 3600; b=$(date +%s); echo slept=$((b - a)) year=$(date +%Y)";
    let outcome = run(kernel, script, Vec::new(), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("slept"), "3600");
    assert_eq!(outcome.word("year"), "2026");
    assert!(report.real_time.as_secs() < 60, "{:?}", report.real_time);
}

#[test]
fn a_disk_keeps_what_file_systems_write() {
    let Some(kernel) = kernel() else { return };
    let script = "
        cat /sys/block/vda/size /sys/block/vda/serial /sys/block/vda/queue/physical_block_size
        dd if=/dev/urandom of=/tmp/data bs=1M count=8 2>/dev/null
        for fs in ext4 xfs btrfs; do
            mkfs.$fs -q /dev/vda >/dev/null 2>&1 || mkfs.$fs -f -q /dev/vda || mkfs.$fs -F -q /dev/vda
            mount -t $fs /dev/vda /mnt || echo $fs does not mount
            cp /tmp/data /mnt/data; umount /mnt; mount -t $fs /dev/vda /mnt
            cmp /tmp/data /mnt/data && echo $fs=same
            umount /mnt
        done";
    let outcome = run(kernel, script, steady(1, 1024, 0), |_| {});
    let report = outcome.report();
    for fs in ["ext4", "xfs", "btrfs"] {
        assert_eq!(outcome.word(fs), "same");
    }
    assert!(outcome.console.contains("2097152\nLAB00000\n4096\n"), "{}", outcome.console);
    let disk = report.disks[0].as_ref().unwrap();
    assert!(disk.requests > 100, "{}", disk.requests);
}

#[test]
fn reads_take_the_drives_time() {
    let Some(kernel) = kernel() else { return };
    let script = "
        a=$(date +%s%N); dd if=/dev/vda of=/dev/null bs=4k count=1000 iflag=direct 2>/dev/null
        b=$(date +%s%N); echo took=$((b - a))";
    let outcome = run(kernel, script, steady(1, 100, 5_000_000), |_| {});
    outcome.report();
    // A thousand reads of 5 ms; starting dd and reading the clock cost little.
    let took = outcome.number("took") / 1e9;
    assert!((5.0..5.01).contains(&took), "{took}");
}
