//! Checking what was written, by us and by fio.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use crate::common::{jobs, run_text};
use disklab_engine::{EngineReport, IoFailure, JobContext, Mismatch, run};

fn run_in(directory: &Path, text: &str) -> EngineReport {
    run(&jobs(text), &JobContext::new(directory, 1)).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs fio in a directory; none where it is not installed, else whether it was content.
fn fio(directory: &Path, text: &str) -> Option<bool> {
    fs::write(directory.join("job.fio"), text).expect("written");
    let run = Command::new("fio")
        .current_dir(directory)
        .args(["--output=/dev/null", "job.fio"])
        .output()
        .ok()?;
    Some(run.status.success())
}

/// Damages one byte.
fn damage(directory: &Path, at: u64) {
    let file =
        fs::OpenOptions::new().read(true).write(true).open(directory.join("f")).expect("file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("read");
    file.write_all_at(&[byte[0] ^ 0x40], at).expect("written");
}

const KINDS: [&str; 19] = [
    "verify=crc32c",
    "verify=crc32",
    "verify=crc64",
    "verify=crc16",
    "verify=crc7",
    "verify=md5",
    "verify=md5\nverify_interval=512",
    "verify=sha1",
    "verify=sha256",
    "verify=sha512",
    "verify=sha3-224",
    "verify=sha3-256",
    "verify=sha3-384",
    "verify=sha3-512",
    "verify=xxhash",
    "verify=crc32c\nverify_interval=1k",
    "verify=crc32c\nverify_interval=4k\nverify_offset=200",
    "verify=meta",
    "verify=pattern\nverify_pattern=0xdeadbeef",
];

#[test]
fn written_blocks_are_verified() {
    for kind in KINDS {
        let engines = ["psync", "io_uring\niodepth=8", "libaio\niodepth=8"];
        // How blocks are checked does not depend on the checksum.
        let all = kind.contains("crc32c") || kind.contains("pattern");
        for engine in &engines[..if all { 3 } else { 1 }] {
            let (_directory, report) = run_text(&format!(
                "[w]\nioengine={engine}\nrw=randwrite\nbs=8k\nsize=256k\n{kind}\n"
            ));
            let job = &report.jobs[0];
            assert_eq!(job.error, None, "{kind}");
            assert_eq!((job.verified, job.write.operations), ((32, 0), 32), "{kind} {engine}");
            assert_eq!(job.read.operations, 0, "reading back is not the job's reading");
        }
    }
}

#[test]
fn a_backlog_is_checked_on_the_way_and_do_verify_can_be_off() {
    let (_directory, report) =
        run_text("[w]\nrw=write\nbs=4k\nsize=128k\nverify=crc32c\nverify_backlog=8\n");
    assert_eq!(report.jobs[0].verified, (32, 0));
    let (_directory, report) =
        run_text("[w]\nrw=write\nbs=4k\nsize=128k\nverify=crc32c\ndo_verify=0\n");
    assert_eq!(report.jobs[0].verified, (0, 0));
}

#[test]
fn a_damaged_block_is_found() {
    let directory = tempfile::tempdir().expect("temp");
    let common = "[j]\nfilename=f\nbs=4k\nsize=64k\nverify=crc32c\n";
    run_in(directory.path(), &format!("{common}rw=write\n"));
    let clean = run_in(directory.path(), &format!("{common}rw=randread\n"));
    assert_eq!((clean.jobs[0].error.clone(), clean.jobs[0].verified), (None, (16, 0)));
    damage(directory.path(), 3 * 4096 + 2000);
    for engine in ["psync", "io_uring\niodepth=4"] {
        let text = format!("{common}rw=read\nioengine={engine}\n");
        let found = run_in(directory.path(), &text);
        let failure = found.jobs[0].error.clone().expect("damaged");
        assert_eq!(failure.errno(), libc::EILSEQ);
        let IoFailure::Damaged { mismatch: Mismatch::Header { offset: 12288, fault }, .. } =
            &failure
        else {
            panic!("{failure}")
        };
        assert!(fault.to_string().contains("has another Crc32c than was stored"), "{failure}");
        let text = format!("{text}continue_on_error=verify\n");
        let passed = run_in(directory.path(), &text);
        assert_eq!(passed.jobs[0].error, None);
        assert_eq!((passed.jobs[0].verified, passed.jobs[0].passed_over), ((16, 1), 1));
    }
}

#[test]
fn fio_and_disklab_verify_each_others_files() {
    // What fio stores as SHA-256 and SHA-512 is not that.
    for kind in KINDS.iter().filter(|kind| !matches!(**kind, "verify=sha256" | "verify=sha512")) {
        let directory = tempfile::tempdir().expect("temp");
        let common = format!("[j]\nfilename=f\nbs=8k\nsize=256k\n{kind}\n");
        let report = run_in(directory.path(), &format!("{common}rw=write\n"));
        assert_eq!(report.jobs[0].error, None, "{kind}");
        let Some(content) = fio(directory.path(), &format!("{common}rw=read\n")) else {
            eprintln!("skipped: needs fio");
            return;
        };
        assert!(content, "fio on ours: {kind}");
        damage(directory.path(), 16384);
        damage(directory.path(), 16384 + 200);
        assert_eq!(fio(directory.path(), &format!("{common}rw=read\n")), Some(false), "{kind}");

        let directory = tempfile::tempdir().expect("temp");
        assert_eq!(fio(directory.path(), &format!("{common}rw=write\ndo_verify=0\n")), Some(true));
        let report = run_in(directory.path(), &format!("{common}rw=read\n"));
        assert_eq!(report.jobs[0].error, None, "ours on fio's: {kind}");
        assert_eq!(report.jobs[0].verified, (32, 0));
    }
}
