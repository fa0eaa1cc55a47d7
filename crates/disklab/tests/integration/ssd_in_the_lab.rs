//! Solid-state drives in the lab: the kernel takes them for such, and what it
//! discards reaches the model.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;

/// Says what is found as `name value`.
const SCRIPT: &str = r#"
say() { echo "$1 $2"; }
queue() { cat "/sys/block/$1/queue/$2"; }
say ssd-rotates "$(queue vda rotational)"
say disk-rotates "$(queue vdb rotational)"
say disk-discards "$(queue vdb discard_max_bytes)"
# Field 12 of a disk's counters: requests to discard.
discards() { awk '{print $12}' /sys/block/vda/stat; }
# Nanoseconds of 256 reads, one after the other, with gaps: sequential ones are read ahead.
reads() { a=$(date +%s%N)
    for at in $(seq 0 8 2040); do
        dd if=/dev/vda of=/dev/null bs=4k skip="$at" count=1 iflag=direct status=none
    done
    b=$(date +%s%N); echo $((b - a)); }
dd if=/dev/urandom of=/dev/vda bs=1M count=8 oflag=direct status=none; sync
say reads-of-data "$(reads)"
blkdiscard /dev/vda
say reads-of-nothing "$(reads)"
say zeros "$(cmp -n 8388608 /dev/vda /dev/zero && echo yes)"
mkfs.btrfs -q /dev/vda; mount /dev/vda /mnt
say btrfs "$(grep -c 'btrfs.*[, ]ssd' /proc/mounts)"
before=$(discards); fstrim /mnt; say fstrim $(($(discards) - before)); umount /mnt
mkfs.ext4 -q -F /dev/vda; mount -o discard /dev/vda /mnt
dd if=/dev/zero of=/mnt/f bs=1M count=64 status=none; sync
before=$(discards); rm /mnt/f; sync; sleep 10; say online $(($(discards) - before)); umount /mnt
"#;

#[test]
fn the_kernel_sees_no_rotation_and_discards_reach_the_drive() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["mkfs.btrfs", "mkfs.ext4", "blkdiscard", "fstrim"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let mut command = assert_cmd::Command::cargo_bin("disklab").expect("the program is built");
    command.args(["lab", "shell", "--kernel"]).arg(kernel).env("XDG_CACHE_HOME", place.path());
    command.args(["--memory", "512MiB", "--drives", "nvme:1:20GB", "--drives", "st3500418as"]);
    command.args(["-c", SCRIPT]).current_dir(place.path()).timeout(Duration::from_secs(300));
    let output = command.assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let found: BTreeMap<&str, &str> = text.lines().filter_map(|l| l.split_once(' ')).collect();
    let is = |name: &str, value: &str| assert_eq!(found.get(name), Some(&value), "{text}");
    is("ssd-rotates", "0");
    is("disk-rotates", "1");
    is("disk-discards", "0");
    is("zeros", "yes");
    is("btrfs", "1");
    let number = |name: &str| {
        let value = found.get(name).and_then(|value| value.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    assert!(number("fstrim") > 0.0 && number("online") > 0.0, "{text}");
    // With the flash some 63 µs, without it some 23.
    let ratio = number("reads-of-data") / number("reads-of-nothing");
    assert!((2.0..3.5).contains(&ratio), "{ratio}: {text}");
}
