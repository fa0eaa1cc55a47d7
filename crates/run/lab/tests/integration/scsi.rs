//! Disks that are SCSI disks, of which the kernel does not wait for ever.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use disklab_drive::shipped;
use disklab_lab::DiskOptions;
use disklab_lab_guest::DiskTransport;

use crate::failing_drives::{Fault, disks, guest_on};
use crate::support::Outcome;

/// A guest with SCSI disks of 256 MiB.
fn guest(count: usize, faults: &[Fault], script: &str) -> Option<Outcome> {
    let scsi = |disk| DiskOptions { transport: DiskTransport::Scsi, queue_depth: Some(32), ..disk };
    guest_on(disks(count, 256, faults).into_iter().map(scsi).collect(), script)
}

#[test]
fn a_disk_is_what_its_drive_is() {
    let script = "
        cd /sys/block/sda
        echo sectors=$(cat size) depth=$(cat device/queue_depth) timeout=$(cat device/timeout)
        echo physical=$(cat queue/physical_block_size) rotates=$(cat queue/rotational)
        echo fua=$(cat queue/fua)
        echo discards=$(cat queue/discard_max_bytes) zeroes=$(cat queue/write_zeroes_max_bytes)
        echo cache=$(tr ' ' _ < queue/write_cache)
        for file in device/scsi_disk/*/cache_type; do echo 'write through' > $file; done
        echo then=$(tr ' ' _ < queue/write_cache)
        cd /
        for disk in sda sdb sdaa; do
            echo $disk=$(tr -cd '[:alnum:]' < /sys/block/$disk/device/vpd_pg80)
        done
        head -c 5000000 /dev/urandom > /tmp/data; sum=$(sha256sum < /tmp/data)
        mkfs.ext4 -q /dev/sda; mount -o discard /dev/sda /mnt
        cp /tmp/data /mnt/data; umount /mnt; mount /dev/sda /mnt
        [ \"$(sha256sum < /mnt/data)\" = \"$sum\" ] && echo same=yes";
    let model = shipped("samsung-870evo-1tb").unwrap();
    let disk = |number| DiskOptions {
        transport: DiskTransport::Scsi,
        ..DiskOptions::of(&model, number, format!("LAB{number}"))
    };
    let Some(outcome) = guest_on((0..27).map(disk).collect(), script) else { return };
    let word = |key| outcome.word(key);
    assert_eq!((word("sectors"), word("depth"), word("timeout")), ("1953525168", "32", "30"));
    assert_eq!((word("physical"), word("rotates"), word("fua")), ("512", "0", "0"));
    assert_eq!(word("discards"), "1073741824");
    assert_eq!(word("zeroes"), "0", "the kernel sends no WRITE SAME to SATA drives");
    assert_eq!((word("cache"), word("then")), ("write_back", "write_through"));
    assert_eq!((word("sda"), word("sdb"), word("sdaa")), ("LAB0", "LAB1", "LAB26"));
    assert_eq!(word("same"), "yes");
}

/// RAID 1 of two disks of which the first cannot read sectors, and is read by md.
const MIRROR: &str = "
    md 1 /dev/sda /dev/sdb
    dd if=/dev/zero of=/dev/md0 bs=1M count=64 oflag=direct 2>/dev/null
    sleep $((60 - $(cut -d. -f1 /proc/uptime)))
    since=$(date +%s%N)
    for n in 1 2; do dd if=/dev/md0 of=/dev/null bs=1M count=64 iflag=direct 2>/dev/null; done
    echo read=$? seconds=$((($(date +%s%N) - since) / 1000000000))
    echo degraded=$(cat /sys/block/md0/md/degraded) state=$(cat /sys/block/sda/device/state)
    echo corrected=$(cat /sys/block/md0/md/dev-sda/errors)
    mdadm --stop /dev/md0 2>/dev/null";

/// A sector that the drive tries to read for so long.
macro_rules! bad {
    ($tries:literal) => {
        concat!("unreadable|1 sectors|within=2 % to 10 %|at=60 s|tries=", $tries)
    };
}

/// The table of docs/guide/failures.md.
#[test]
fn the_kernel_gives_a_drive_up_that_tries_for_longer_than_its_timer() {
    for (bad, timeout, seconds, degraded, state) in [
        (bad!("7 s"), 30, 14..=15, "0", "running"),
        // It answers each reset in time, and the kernel asks it again, six times.
        (bad!("40 s"), 30, 475..=485, "0", "running"),
        (bad!("120 s"), 30, 90..=92, "1", "offline"),
        (bad!("120 s"), 180, 240..=241, "0", "running"),
    ] {
        let timer = format!("echo {timeout} > /sys/block/sda/device/timeout; {MIRROR}");
        let Some(outcome) = guest(2, &[(0, bad)], &timer) else { return };
        let (word, case) = (|key| outcome.word(key), format!("{bad}, {timeout} s"));
        assert_eq!((word("read"), word("degraded")), ("0", degraded), "{case}");
        assert_eq!(word("state"), state, "{case}");
        let took: u64 = word("seconds").parse().unwrap();
        assert!(seconds.contains(&took), "{case}: {took}\n{}", outcome.console);
        let is_corrected = outcome.number("corrected") > 0.0;
        assert_eq!(is_corrected, degraded == "0", "{case}: {}", outcome.console);
    }
}

#[test]
fn a_dead_drive_is_kicked_at_once() {
    let Some(outcome) = guest(2, &[(0, "dies|at=60 s")], MIRROR) else { return };
    let word = |key| outcome.word(key);
    assert_eq!((word("read"), word("degraded"), word("state")), ("0", "1", "running"));
    assert!(outcome.number("seconds") < 5.0);
}
