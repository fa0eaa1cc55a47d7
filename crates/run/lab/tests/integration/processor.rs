//! The kernel charges for CPU time if its command line says so, and
//! changes nothing where it does not.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use crate::support::{Outcome, kernel, run, steady};
use disklab_exec::find_program;

/// Time of one request of the disks, in ns.
const LATENCY: u64 = 5_000_000;

/// Says how long a script took, in ns of virtual time.
fn timed(prepare: &str, work: &str) -> String {
    format!(
        "{prepare}
        begin=$(date +%s%N)
        {work}
        end=$(date +%s%N)
        echo elapsed=$((end - begin))"
    )
}

/// Boots a guest with three disks that runs a script under these charges.
fn boot(kernel: &Path, script: &str, charges: &[&str]) -> Outcome {
    run(kernel.to_path_buf(), script, steady(3, 1 << 10, LATENCY), |options| {
        options.memory_bytes = 512 << 20;
        options.kernel_arguments.extend(charges.iter().map(|c| format!("charge.{c}")));
    })
}

/// How much longer the work takes under these charges, in ns.
fn extra(kernel: &Path, prepare: &str, work: &str, charges: &[&str]) -> f64 {
    let script = timed(prepare, work);
    let free = boot(kernel, &script, &[]).number("elapsed");
    boot(kernel, &script, charges).number("elapsed") - free
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}");
}

/// The kernel, if all programs that the test needs are there.
fn kernel_and(programs: &[&str]) -> Option<PathBuf> {
    for program in programs {
        if find_program(program).is_none() {
            eprintln!("skipped: needs {program}");
            return None;
        }
    }
    kernel()
}

#[test]
fn charges_of_nothing_change_nothing() {
    let Some(kernel) = kernel() else { return };
    let script = timed(
        "",
        "dd if=/dev/zero of=/dev/vda bs=64k count=50 oflag=direct 2>/dev/null
        dd if=/dev/vda of=/tmp/f bs=1M count=8 2>/dev/null",
    );
    let free = boot(&kernel, &script, &[]);
    let zero = boot(&kernel, &script, &["copy=0", "bio=0", "syscall=0", "processors=8"]);
    assert_eq!(free.number("elapsed"), zero.number("elapsed"));
    assert_eq!(free.report().virtual_time, zero.report().virtual_time);
}

#[test]
fn each_piece_and_each_kib_is_charged() {
    let Some(kernel) = kernel() else { return };
    let direct = "dd if=/dev/zero of=/dev/vda bs=64k count=50 oflag=direct 2>/dev/null";
    near(extra(&kernel, "", direct, &["bio=1000000"]), 50e6);
    near(extra(&kernel, "", direct, &["request=1000000"]), 50e6);
    let copied = "dd if=/dev/zero of=/tmp/f bs=1M count=16 2>/dev/null";
    near(extra(&kernel, "", copied, &["copy=10000"]), 16.0 * 1024.0 * 10_000.0);
    // Two for each block, and dd's and the shell's own.
    let many = "dd if=/dev/zero of=/dev/null bs=1k count=2000 2>/dev/null";
    let calls = extra(&kernel, "", many, &["syscall=10000"]) / 10_000.0;
    assert!((4000.0..5000.0).contains(&calls), "{calls} system calls");
}

#[test]
fn the_disks_continue_while_the_processor_works() {
    let Some(kernel) = kernel() else { return };
    // 40 × 5 ms of a disk, and 160 ms of copying, at once.
    let script = timed(
        "",
        "dd if=/dev/zero of=/dev/vda bs=64k count=40 oflag=direct 2>/dev/null &
        dd if=/dev/zero of=/tmp/f bs=64k count=250 2>/dev/null
        wait",
    );
    let elapsed = boot(&kernel, &script, &["copy=10000"]).number("elapsed");
    assert!((200e6..300e6).contains(&elapsed), "{elapsed} ns");
}

#[test]
fn kernel_threads_share_the_processors() {
    let Some(kernel) = kernel_and(&["losetup"]) else { return };
    // What a loop device is asked, a kernel thread asks of the disk.
    let prepare = "losetup --direct-io=on /dev/loop0 /dev/vda";
    let work = "dd if=/dev/zero of=/dev/loop0 bs=64k count=50 oflag=direct 2>/dev/null";
    near(extra(&kernel, prepare, work, &["bio=1000000"]), 100e6);
    near(extra(&kernel, prepare, work, &["bio=1000000", "processors=4"]), 62.5e6);
}

#[test]
fn checksums_of_btrfs_are_charged() {
    let Some(kernel) = kernel_and(&["mkfs.btrfs"]) else { return };
    let prepare = "mkfs.btrfs -q /dev/vda >/dev/null && mount /dev/vda /mnt";
    let work = "dd if=/dev/zero of=/mnt/f bs=1M count=32 oflag=direct 2>/dev/null";
    let charged = extra(&kernel, prepare, work, &["crc32=10000"]);
    let data = 32.0 * 1024.0 * 10_000.0;
    // Its metadata are checksummed too.
    assert!((data..1.5 * data).contains(&charged), "{charged} ns, {data} for the data");
}

#[test]
fn compression_of_btrfs_is_charged() {
    let Some(kernel) = kernel_and(&["mkfs.btrfs"]) else { return };
    for word in ["zlib", "lzo", "zstd"] {
        let prepare =
            format!("mkfs.btrfs -q /dev/vda >/dev/null && mount -o compress={word} /dev/vda /mnt");
        let work = "dd if=/dev/zero of=/mnt/f bs=1M count=8 2>/dev/null; sync";
        let script = timed(&prepare, work);
        let elapsed = boot(&kernel, &script, &[&format!("{word}=100000")]).number("elapsed");
        let data = 8.0 * 1024.0 * 100_000.0;
        // The disk writes what was compressed before, and that is little.
        assert!((data..1.5 * data).contains(&elapsed), "{word}: {elapsed} ns of {data}");
    }
}

#[test]
fn parity_of_md_is_charged() {
    let Some(kernel) = kernel_and(&["mdadm"]) else { return };
    let prepare = "mdadm --create /dev/md0 --level=5 --raid-devices=3 --chunk=64 \
        --assume-clean --run /dev/vda /dev/vdb /dev/vdc >/dev/null 2>&1";
    let work = "dd if=/dev/zero of=/dev/md0 bs=1M count=8 oflag=direct 2>/dev/null";
    let charged = extra(&kernel, prepare, work, &["xor=10000"]);
    let data = 8.0 * 1024.0 * 10_000.0;
    // Full stripes: each block of data goes into the parity once.
    assert!((0.9 * data..1.5 * data).contains(&charged), "{charged} ns, {data} for the data");
}
