//! Faults of drives, as the guest's kernel and its arrays and file systems meet them.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use disklab_drive::{DriveFault, Nanos};
use disklab_lab::{DiskFaults, DiskOptions, DiskReport};

use crate::support::stacks::{boot, zfs};
use crate::support::{Outcome, kernel, run, steady};

/// A fault, and the number of its disk, from 0: `unreadable|on=sectors 8`.
pub(crate) type Fault = (usize, &'static str);

/// Disks of so many MiB each, with faults that count from the guest's start.
pub(crate) fn disks(count: usize, mib: u64, faults: &[Fault]) -> Vec<DiskOptions> {
    let mut disks = steady(count, mib, 100_000);
    for (number, disk) in disks.iter_mut().enumerate() {
        let own = faults.iter().filter(|(of, _)| *of == number);
        let own = own.map(|(_, text)| fault(text, (mib << 11, disk.physical_bytes))).collect();
        disk.faults = Some(DiskFaults::from_start(own));
    }
    disks
}

fn fault(text: &str, size: (u64, u32)) -> DriveFault {
    let mut words = text.split('|');
    let does = words.next().unwrap();
    let clause = |word: &str| {
        let (word, value) = word.split_once('=').unwrap_or(("", word));
        (word.to_owned(), value.to_owned())
    };
    let clauses: Vec<_> = words.map(clause).collect();
    DriveFault::new(does, &clauses, size, 7).unwrap()
}

/// What a guest does with disks of 256 MiB, the first of which fails; `None` if there is no kernel.
fn guest(count: usize, faults: &[Fault], script: &str) -> Option<Outcome> {
    guest_on(disks(count, 256, faults), script)
}

/// What a guest does with these disks.
pub(crate) fn guest_on(disks: Vec<DiskOptions>, script: &str) -> Option<Outcome> {
    let kernel = kernel()?;
    for program in ["mdadm", "mkfs.btrfs", "mkfs.ext4"] {
        if disklab_exec::find_program(program).is_none() {
            eprintln!("skipped: needs {program}");
            return None;
        }
    }
    let script = format!("{WORDS}{script}");
    let outcome = run(kernel, &script, disks, |options| {
        options.memory_bytes = 512 << 20;
    });
    outcome.report();
    Some(outcome)
}

/// `random DIRECTORY`: 40 files of random bytes, and their sums. `check DIRECTORY` reads them again.
const WORDS: &str = r#"
random() {
    mkdir -p $1
    for n in $(seq 40); do head -c 1000000 /dev/urandom > $1/$n; done
    (cd $1; sha256sum * > /run/sums)
    sync
    echo 3 > /proc/sys/vm/drop_caches
}
check() {
    echo 3 > /proc/sys/vm/drop_caches
    (cd $1; sha256sum -c /run/sums > /run/checked 2>/dev/null)
    echo $2.same=$(grep -c ': OK' /run/checked)
    echo $2.other=$(grep -c ': FAILED$' /run/checked)
    echo $2.unread=$(grep -c ': FAILED open or read' /run/checked)
}
md() {
    level=$1; shift
    mdadm --create /dev/md0 --run --assume-clean --level=$level --raid-devices=$# $* 2>/dev/null
}
"#;

fn report_of(outcome: &Outcome, disk: usize) -> &DiskReport {
    outcome.report().disks[disk].as_ref().unwrap()
}

#[test]
fn a_sector_that_cannot_be_read_is_an_error_to_its_reader_only() {
    // In the second MiB.
    let bad = (0, "unreadable|on=sectors 2056, 2148");
    let script = "
        for at in 0 1 2; do
            dd if=/dev/vda of=/tmp/$at bs=1M count=1 skip=$at iflag=direct 2>/tmp/said
            echo read.$at=$?
            grep -q 'Input/output error' /tmp/said && echo error.$at=yes || echo error.$at=no
        done
        dd if=/dev/zero of=/dev/vda bs=4k count=256 seek=256 oflag=direct conv=notrunc 2>/dev/null
        dd if=/dev/vda of=/dev/null bs=1M count=1 skip=1 iflag=direct 2>/dev/null
        echo fixed=$?";
    let Some(outcome) = guest(1, &[bad], script) else { return };
    for (at, (code, error)) in [("0", "no"), ("1", "yes"), ("0", "no")].into_iter().enumerate() {
        assert_eq!(outcome.word(&format!("read.{at}")), code, "{at}: {}", outcome.console);
        assert_eq!(outcome.word(&format!("error.{at}")), error, "{at}: {}", outcome.console);
    }
    assert_eq!(outcome.word("fixed"), "0", "a write fixes it");
    assert!(outcome.report().virtual_time > Nanos(7_000_000_000), "it tried");
}

#[test]
fn arrays_read_the_other_drives_and_fix_the_sector() {
    for (level, count) in [("1", 2), ("5", 3), ("6", 4), ("10", 4)] {
        let script = format!(
            "
            md {level} $(ls /dev/vd? | head -{count})
            dd if=/dev/urandom of=/dev/md0 bs=1M count=64 oflag=direct 2>/dev/null
            sleep $((60 - $(cut -d. -f1 /proc/uptime)))
            for n in 1 2 3; do dd if=/dev/md0 of=/dev/null bs=1M count=64 iflag=direct 2>/dev/null; done
            echo through-md=$?
            echo degraded=$(cat /sys/block/md0/md/degraded)
            echo corrected=$(cat /sys/block/md0/md/dev-vda/errors)
            echo check > /sys/block/md0/md/sync_action
            while [ $(cat /sys/block/md0/md/sync_action) = check ]; do sleep 1; done
            mdadm --stop /dev/md0 2>/dev/null
            dd if=/dev/vda of=/dev/null bs=1M iflag=direct 2>/dev/null
            echo alone=$?"
        );
        let bad = (0, "unreadable|5 sectors|within=2 % to 10 %|at=60 s|tries=100 ms");
        let Some(outcome) = guest(count, &[bad], &script) else { return };
        assert_eq!(outcome.word("through-md"), "0", "RAID {level}: {}", outcome.console);
        assert_eq!(outcome.word("degraded"), "0", "a bad sector does not kick a drive out");
        assert!(outcome.number("corrected") > 0.0, "RAID {level}: {}", outcome.console);
        assert_eq!(outcome.word("alone"), "0", "RAID {level}: {}", outcome.console);
    }
}

#[test]
fn an_array_continues_without_a_dead_drive_and_a_file_system_alone_does_not() {
    let script = "
        md 5 /dev/vda /dev/vdb /dev/vdc
        mkfs.ext4 -q /dev/md0; mount /dev/md0 /mnt; random /mnt/files
        sleep $((60 - $(cut -d. -f1 /proc/uptime)))
        check /mnt/files raid5
        touch /mnt/more; sync; echo raid5.write=$?
        echo degraded=$(cat /sys/block/md0/md/degraded)
        umount /mnt; mdadm --stop /dev/md0 2>/dev/null";
    let Some(outcome) = guest(3, &[(0, "dies|at=60 s")], script) else { return };
    assert_eq!(outcome.number("raid5.same"), 40.0, "{}", outcome.console);
    assert_eq!((outcome.word("raid5.write"), outcome.word("degraded")), ("0", "1"));
    let script = "
        mkfs.ext4 -q /dev/vda; mount /dev/vda /mnt; random /mnt/files
        sleep $((60 - $(cut -d. -f1 /proc/uptime)))
        check /mnt/files alone";
    let Some(outcome) = guest(1, &[(0, "dies|at=60 s")], script) else { return };
    assert!(outcome.number("alone.unread") >= 39.0, "{}", outcome.console);
    assert!(report_of(&outcome, 0).faults[0].requests > 0);
}

#[test]
fn a_drive_that_was_away_comes_back_by_its_bitmap() {
    let script = "
        mdadm --create /dev/md0 --run --assume-clean --level=1 --raid-devices=2 --bitmap=internal \
            /dev/vda /dev/vdb 2>/dev/null
        mkfs.ext4 -q /dev/md0; mount /dev/md0 /mnt
        sleep $((60 - $(cut -d. -f1 /proc/uptime)))
        random /mnt/files
        echo degraded=$(cat /sys/block/md0/md/degraded)
        sleep 120
        mdadm /dev/md0 --remove failed >/dev/null 2>&1
        mdadm /dev/md0 --re-add /dev/vda >/dev/null 2>&1
        sleep 20
        echo again=$(cat /sys/block/md0/md/degraded)
        mdadm /dev/md0 --fail /dev/vdb >/dev/null 2>&1
        check /mnt/files back";
    let Some(outcome) = guest(2, &[(0, "away|at=60 s|for=90 s")], script) else { return };
    assert_eq!(
        (outcome.word("degraded"), outcome.word("again")),
        ("1", "0"),
        "{}",
        outcome.console
    );
    assert_eq!(outcome.number("back.same"), 40.0, "{}", outcome.console);
}

#[test]
fn slow_and_stalling_drives_are_felt() {
    let script = r#"
        for disk in vda vdb vdc; do
            dd if=/dev/$disk of=/dev/null bs=4k count=5000 iflag=direct 2>&1 |
                sed -n "s/.*copied, \([0-9.]*\) s.*/$disk=\1/p"
        done"#;
    let faults = [(1, "slow|by=4"), (2, "stalls|for=50 ms|every=100 ms")];
    let Some(outcome) = guest(3, &faults, script) else { return };
    let [sound, slow, stalls] = ["vda", "vdb", "vdc"].map(|disk| outcome.number(disk));
    assert!((3.8..4.2).contains(&(slow / sound)), "{sound} and {slow} s");
    assert!((1.8..2.2).contains(&(stalls / sound)), "{sound} and {stalls} s");
}

/// What each reader returns of content that changed beneath it.
#[test]
fn rot_is_noticed_by_sums_alone() {
    const ROT: Fault = (0, "rots|400 bytes|at=60 s");
    let make = |make: &str| {
        format!(
            "{make}; random /mnt/files
            sleep $((60 - $(cut -d. -f1 /proc/uptime)))
            check /mnt/files read"
        )
    };
    let Some(outcome) = guest(1, &[ROT], &make("mkfs.ext4 -q /dev/vda; mount /dev/vda /mnt"))
    else {
        return;
    };
    assert!(outcome.number("read.other") > 5.0, "ext4 returns it: {}", outcome.console);
    assert_eq!(report_of(&outcome, 0).faults[0].bytes, 400);
    let btrfs = "mkfs.btrfs -q -d single -m dup /dev/vda; mount /dev/vda /mnt";
    let Some(outcome) = guest(1, &[ROT], &make(btrfs)) else { return };
    assert!(outcome.number("read.unread") > 5.0, "Btrfs refuses it: {}", outcome.console);
    assert_eq!(outcome.number("read.other"), 0.0, "{}", outcome.console);
    let btrfs = make("mkfs.btrfs -q -d raid1 -m raid1 /dev/vda /dev/vdb; mount /dev/vda /mnt")
        + "
            btrfs scrub start -B /mnt >/dev/null 2>&1
            btrfs scrub start -B /mnt | sed -n 's/.*no errors found.*/scrubbed=clean/p'
            echo counted=$(btrfs device stats /mnt | sed -n 's/.*vda..corruption_errs *//p')";
    let Some(outcome) = guest(2, &[ROT], &btrfs) else { return };
    assert_eq!(outcome.number("read.same"), 40.0, "from the mirror: {}", outcome.console);
    assert_eq!(outcome.word("scrubbed"), "clean", "{}", outcome.console);
    assert!(outcome.number("counted") > 0.0, "{}", outcome.console);
}

#[test]
fn a_pool_counts_rot_and_fixes_it() {
    let Some(zfs) = zfs() else { return };
    let script = r#"
        for disk in vda vdb; do echo 2048,,L | sfdisk -q /dev/$disk; done
        zpool create -m /mnt pool mirror /dev/vda1 /dev/vdb1 && random /mnt/files
        sleep $((60 - $(cut -d. -f1 /proc/uptime)))
        check /mnt/files read
        zpool scrub -w pool
        echo counted=$(zpool status -p pool | awk '$1 ~ /vda/ { print $5 }')
        echo errors=$(zpool status pool | sed -n 's/^errors: \(No\).*/\1/p')
        zpool export pool"#;
    let rot = (0, "rots|400 bytes|at=60 s");
    let outcome = boot(zfs, &format!("{WORDS}{script}"), disks(2, 256, &[rot]), |_| {});
    outcome.report();
    assert_eq!(outcome.number("read.same"), 40.0, "{}", outcome.console);
    assert!(outcome.number("counted") > 0.0, "{}", outcome.console);
    assert_eq!(outcome.word("errors"), "No", "{}", outcome.console);
}

#[test]
fn lost_and_misdirected_writes_are_found_by_a_mirror_that_has_sums() {
    for fault in ["loses|3 writes|after=40 requests", "misdirects|3 writes|after=40 requests"] {
        let script = "
            mkfs.btrfs -q -d raid1 -m raid1 /dev/vda /dev/vdb; mount /dev/vda /mnt
            random /mnt/files
            check /mnt/files read
            btrfs scrub start -B /mnt >/dev/null 2>&1
            btrfs scrub start -B /mnt | sed -n 's/.*no errors found.*/scrubbed=clean/p'";
        let Some(outcome) = guest(2, &[(0, fault)], script) else { return };
        assert_eq!(report_of(&outcome, 0).faults[0].requests, 3, "{fault}");
        assert_eq!(outcome.number("read.same"), 40.0, "{fault}: {}", outcome.console);
        assert_eq!(outcome.word("scrubbed"), "clean", "{fault}: {}", outcome.console);
    }
}
