//! Request queues in the lab: each is what the kernel makes of such a drive in a machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use disklab_drive::{IoScheduler, QueueLimits, SHIPPED, shipped};

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;

/// What a disk of the lab holds at a time: the entries of its ring.
const RING: u64 = 256;

/// The most drives of a shell.
const DISKS: usize = 26;

/// What each disk's queue says, as `NAME FILE VALUE`, and how many of 48 reads are with the
/// last disk at a time.
const SCRIPT: &str = r#"
for disk in /sys/block/vd*; do
    for file in rotational logical_block_size physical_block_size optimal_io_size \
        discard_granularity write_cache fua scheduler nr_requests wbt_lat_usec read_ahead_kb; do
        echo "${disk##*/} $file $(cat "$disk/queue/$file")"
    done
done
n=0
while [ $n -lt 48 ]; do
    dd if=/dev/vdb of=/dev/null bs=4k count=1 skip=$((n * 100000)) iflag=direct status=none &
    n=$((n + 1))
done
sleep 0.001
read -r reads writes < /sys/block/vdb/inflight
echo "vdb inflight $reads"
wait
"#;

/// How many flushes reach each disk of eight programs that make 20 durable writes each.
const FLUSHES: &str = r#"
writers() {
    for writer in 1 2 3 4 5 6 7 8; do
        dd if=/dev/zero of=$1 bs=4k count=20 seek=$((writer * 1000)) oflag=direct,dsync status=none &
    done
    wait
}
for disk in vda vdb; do
    writers /dev/$disk
    read -r line < /sys/block/$disk/stat
    echo "$disk flushes $(echo $line | cut -d' ' -f16)"
done
"#;

/// What a RAID 6 has to read while Btrfs writes a file sequentially, and what Btrfs says of crc32c.
const ARRAY: &str = r#"
mdadm --create /dev/md0 --run --quiet --assume-clean --level=6 --raid-devices=4 /dev/vd[a-d]
mkfs.btrfs -q /dev/md0 > /dev/null
mkdir /tmp/array && mount /dev/md0 /tmp/array
count() {
    sum=0
    for disk in /sys/block/vd[a-d]; do
        read -r reads merged sectors rest < "$disk/stat"
        sum=$((sum + sectors / 2))
    done
}
count && before=$sum
dd if=/dev/urandom of=/tmp/array/file bs=1M count=256 conv=fsync status=none
count && echo "read $((sum - before)) KiB"
dmesg | grep -o 'using crc32c.*'
umount /tmp/array && mdadm --stop --quiet /dev/md0
"#;

/// What a shell in the lab prints whose drives are these models.
fn printed(kernel: &std::path::Path, models: &[&str], script: &str) -> String {
    let place = tempfile::tempdir().expect("temp");
    let mut command = assert_cmd::Command::cargo_bin("disklab").expect("the program is built");
    command.args(["lab", "shell", "--kernel"]).arg(kernel).env("XDG_CACHE_HOME", place.path());
    command.args(["--memory", "1GiB"]);
    for model in models {
        command.args(["--drives", model]);
    }
    command.args(["-c", script]).current_dir(place.path()).timeout(Duration::from_secs(300));
    let output = command.assert().success();
    String::from_utf8_lossy(&output.get_output().stdout).into_owned()
}

/// What the queue of a drive with these limits shows in the lab. Two things cannot be reported over
/// virtio: that a write may be made durable by itself (`fua`), and more requests than its ring
/// has entries.
fn expected(limits: QueueLimits) -> Vec<(&'static str, String)> {
    let (unsorted, requests) = match limits.scheduler {
        IoScheduler::None => (true, limits.requests.min(RING)),
        IoScheduler::MqDeadline => (false, limits.requests),
    };
    let number = |value: u64| value.to_string();
    vec![
        ("rotational", number(u64::from(limits.rotational))),
        ("logical_block_size", number(limits.logical_bytes)),
        ("physical_block_size", number(limits.physical_bytes)),
        ("optimal_io_size", number(limits.optimal_bytes)),
        ("discard_granularity", number(limits.discard_granularity)),
        ("write_cache", if limits.write_back { "write back" } else { "write through" }.to_owned()),
        ("fua", "0".to_owned()),
        ("scheduler", if unsorted { "[none]" } else { "[mq-deadline]" }.to_owned()),
        ("nr_requests", number(requests)),
        // wbt_default_latency_nsec in block/blk-wbt.c
        ("wbt_lat_usec", if limits.rotational { "75000" } else { "2000" }.to_owned()),
        ("read_ahead_kb", "128".to_owned()),
    ]
}

/// As many models in a guest as it can have disks. The deepest of them decides how many tags
/// virtio has.
#[test]
fn every_models_queue_is_as_in_a_machine() {
    let Some(kernel) = kernel() else { return };
    let models: Vec<&str> = SHIPPED.iter().map(|(id, _)| *id).collect();
    for models in models.chunks(DISKS) {
        let text = printed(&kernel, models, SCRIPT);
        let mut found: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for line in text.lines() {
            if let [disk, file, value] = line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                found.insert((disk, file), value);
            }
        }
        let mut wrong = String::new();
        for (id, letter) in models.iter().zip('a'..='z') {
            let disk = format!("vd{letter}");
            for (file, value) in expected(shipped(id).expect(id).queue_limits()) {
                let reported = found.get(&(disk.as_str(), file)).copied().unwrap_or("nothing");
                if !(reported == value || (file == "scheduler" && reported.contains(&value))) {
                    let _ = writeln!(wrong, "{id}: {file} is '{reported}', not '{value}'");
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong}\n{text}");
    }
}

/// Next to an NVMe drive a SATA disk is given 32 requests at a time, and no more.
#[test]
fn a_disk_next_to_a_deeper_one_is_given_what_it_takes() {
    let Some(kernel) = kernel() else { return };
    let text = printed(&kernel, &["samsung-980-1tb", "st3500418as"], SCRIPT);
    let in_flight = text.lines().find_map(|line| line.strip_prefix("vdb inflight "));
    assert_eq!(in_flight, Some("32"), "{text}");
}

/// An NVMe drive has a hardware queue for each processor, in which a program's flushes are alone; those
/// who sync a SATA drive share them.
#[test]
fn programs_share_flushes_where_they_share_a_hardware_queue() {
    let Some(kernel) = kernel() else { return };
    let text = printed(&kernel, &["samsung-980-1tb", "samsung-870evo-1tb"], FLUSHES);
    let flushes = |disk: &str| -> u64 {
        let found = text.lines().find_map(|l| l.strip_prefix(disk)?.strip_prefix(" flushes "));
        found.and_then(|number| number.trim().parse().ok()).expect(&text)
    };
    // Each write has one in place of FUA, which virtio does not know, and that of `O_DSYNC`.
    assert_eq!(flushes("vda"), 320, "{text}");
    assert!((40..=120).contains(&flushes("vdb")), "{text}");
}

/// With crc32c of its own a processor checksums where it writes, and stripes come whole. Workers,
/// to whom Btrfs leaves it otherwise, write piece by piece: 17 MiB were read of such an array.
#[test]
fn btrfs_writes_whole_stripes() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.btrfs"]) {
        return;
    }
    let text = printed(&kernel, &["hdn721010ale604:4:20GB"], ARRAY);
    assert!(text.contains("using crc32c (crc32c-intel) checksum algorithm"), "{text}");
    let read = text.lines().find_map(|line| line.strip_prefix("read ")?.strip_suffix(" KiB"));
    let read: u64 = read.and_then(|kib| kib.parse().ok()).expect(&text);
    assert!(read < 2048, "{read} KiB");
}
