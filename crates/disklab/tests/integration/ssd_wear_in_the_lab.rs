//! What a solid-state drive writes to its flash, in the samples and in the report.

use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;

/// A drive so small that a test fills it, without an SLC cache.
const DRIVE: &str = r#"
id = "small"
name = "A small SSD"
model = "Small SSD"
kind = "ssd"
capacity = 268435456
sectors = "4Kn"
[flash]
channels = 2
dies-per-channel = 1
cell-bits = 3
page = "32 KiB"
block-pages = 32
spare = 0.1
map-unit = "4 KiB"
read-4k = "60 µs"
read-page = "60 µs"
read-spread = "0 µs"
program = "700 µs"
erase = "3 ms"
channel-rate = "800 MB/s"
[buffer]
size = "256 KiB"
write-cache = true
power-loss-protection = true
flush-overhead = "1 ms"
[interface]
link = "550 MB/s"
full-duplex = false
queue-depth = 32
command = "10 µs"
read-overhead = "10 µs"
large-read-overhead = "10 µs"
write-overhead = "10 µs"
write-overhead-4k = "0 µs"
discard-gib = "4 ms"
write-zeroes = false
"#;

/// The file takes three quarters of the flash; in order it is written once, at random
/// three times over.
const STUDY: &str = r#"
id = "wear"
title = "What wears a solid-state drive"
repeats = 1
[[drives]]
model = "./small.toml"
size = "268435456"
[stacks]
"single/ext4" = "ext4"
[[workloads]]
id = "in-order"
fio = { rw = "write", bs = "1M", size = "200M", ioengine = "libaio", iodepth = 4, direct = 1 }
[[workloads]]
id = "at-random"
fio = { rw = "randwrite", bs = "4k", size = "200M", io_size = "600M", ioengine = "libaio", iodepth = 16, direct = 1, overwrite = 1, norandommap = 1 }
[[questions]]
ask = "How fast?"
workloads = ["in-order", "at-random"]
measure = "throughput"
"#;

#[test]
fn random_writes_are_amplified() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("small.toml"), DRIVE).expect("drive");
    let mut in_order = None;
    let mut at_random = None;
    for (workload, sample) in samples(home.path(), STUDY, &["--seed", "1"]) {
        let [drive] = sample.steps[0].drives.as_slice() else { panic!("one drive") };
        let written = drive.medium_write_bytes.expect("the drive tells") as f64;
        let amplification = written / drive.write_bytes as f64;
        match workload.as_str() {
            "in-order" => in_order = Some(amplification),
            _ => at_random = Some(amplification),
        }
    }
    // The file system's own pages, and the last of them, are not all full.
    let in_order = in_order.expect("measured");
    assert!((0.98..1.03).contains(&in_order), "{in_order}");
    // With a quarter of the flash free: FIFO's closed form gives 1.8 to 2.3.
    let at_random = at_random.expect("measured");
    assert!((1.3..2.6).contains(&at_random), "{at_random}");
    let page = std::fs::read_to_string(home.path().join("run/report.html")).expect("a report");
    assert!(page.contains("inside drives"), "no column");
    assert!(page.contains(&format!("{at_random:.2}×")), "no figure");
}
