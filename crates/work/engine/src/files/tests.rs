use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

use super::*;
use crate::testing::job;

/// A directory next to this program: on a disk, as a rule, where /tmp may be memory.
fn on_disk() -> tempfile::TempDir {
    let program = std::env::current_exe().expect("program");
    tempfile::tempdir_in(program.parent().expect("directory")).expect("temp")
}

/// The flags of a job's only file.
fn flags(options: &str) -> libc::c_int {
    let directory = on_disk();
    let context = JobContext::new(directory.path(), 1);
    let job = job(&format!("size=64k\n{options}"));
    lay_out_job(&job, &context).expect("laid out");
    let files = OpenFiles::new(&job, targets(&job, 0, &context), &context.devices).expect("opened");
    // SAFETY: plain numbers.
    unsafe { libc::fcntl(files.descriptor(0).expect("open"), libc::F_GETFL) }
}

#[test]
fn files_are_opened_as_the_job_says() {
    let has = |options: &str, flag: libc::c_int| flags(options) & flag == flag;
    assert!(has("rw=write\nsync=1", libc::O_SYNC));
    assert!(
        has("rw=write\nsync=dsync", libc::O_DSYNC) && !has("rw=write\nsync=dsync", libc::O_SYNC)
    );
    assert!(!has("rw=write", libc::O_DSYNC));
    assert!(has("rw=write", libc::O_RDWR) && !has("rw=read", libc::O_RDWR));
    assert!(!has("rw=read", libc::O_DIRECT));
    assert!(has("rw=read\ndirect=1", libc::O_DIRECT));
}

/// Pages of a file in the page cache.
fn cached(path: &Path) -> usize {
    let file = File::open(path).expect("file");
    let length = file.metadata().expect("length").len() as usize;
    let mut pages = vec![0_u8; length.div_ceil(4096)];
    // SAFETY: a mapping of the file's length, of which only residency is asked.
    unsafe {
        let fd = file.as_raw_fd();
        let start =
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        assert_ne!(start, libc::MAP_FAILED);
        assert_eq!(libc::mincore(start, length, pages.as_mut_ptr()), 0);
        libc::munmap(start, length);
    }
    pages.iter().filter(|page| **page & 1 == 1).count()
}

#[test]
fn the_page_cache_is_dealt_with_as_the_job_says() {
    let directory = on_disk();
    let context = JobContext::new(directory.path(), 1);
    let path = directory.path().join("f");
    let open = |options: &str| {
        let job = job(&format!("rw=randread\nsize=1m\nfilename=f\n{options}"));
        lay_out_job(&job, &context).expect("laid out");
        OpenFiles::new(&job, targets(&job, 0, &context), &context.devices).expect("opened")
    };
    drop(open("invalidate=0"));
    let all = cached(&path);
    drop(open("invalidate=1"));
    let left = cached(&path);
    if left == all {
        eprintln!("skipped: needs a file system whose page cache can be dropped");
        return;
    }
    assert_eq!((all, left), (256, 0));
    drop(open("pre_read=1\ninvalidate=0"));
    assert_eq!(cached(&path), 256);
}

#[test]
fn room_is_reserved_as_the_job_says() {
    let directory = on_disk();
    let context = JobContext::new(directory.path(), 1);
    for (how, length, reserved) in [
        ("none", 0, false),
        ("truncate", 1 << 20, false),
        ("native", 1 << 20, true),
        ("posix", 1 << 20, true),
        ("keep", 0, true),
    ] {
        let job = job(&format!("rw=write\nsize=1m\nfilename={how}\nfallocate={how}"));
        if let Err(error) = lay_out_job(&job, &context) {
            eprintln!("skipped: needs fallocate={how} ({error})");
            continue;
        }
        let there = fs::metadata(directory.path().join(how)).expect("file");
        assert_eq!(there.len(), length, "{how}");
        let blocks = std::os::unix::fs::MetadataExt::blocks(&there);
        assert_eq!(blocks >= 2048, reserved, "{how}: {blocks}");
    }
}
