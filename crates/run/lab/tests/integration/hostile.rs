//! A hostile guest: its root mounts the host again, and tries to harm what is there.
//!
//! (What its kernel's process could do beyond is played without a guest, in the crate's
//! own tests: `confinement::tests`.)

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::support::{kernel, run};
use disklab_lab::{ConfinementSupport, LabError};

/// Attempts at the user's directory, at /mnt, and at the lab's own, at /run/lab.
const ATTEMPTS: &[(&str, &str)] = &[
    ("chmod", "chmod 4755 /mnt/old"),
    ("chmod-root", "mount -o remount,rw / && chmod 4755 $user/old"),
    ("chown", "chown 1:1 /mnt/old"),
    ("times", "touch -d 2001-01-01 /mnt/old"),
    ("write", "echo x >> /mnt/old"),
    ("truncate", "truncate -s 0 /mnt/old"),
    ("create", "echo x > /mnt/new"),
    ("make-directory", "mkdir /mnt/directory"),
    ("link", "ln -s /etc /mnt/link"),
    ("fifo", "mkfifo /mnt/fifo"),
    ("remove", "rm -f /mnt/old"),
    ("rename", "mv /mnt/old /mnt/other"),
    ("device", "mknod /run/lab/device b 7 0"),
    ("own-chmod", "chmod 4755 /run/lab/mine"),
    ("own-chown", "chown 1:1 /run/lab/mine"),
    ("own-times", "touch -d 2001-01-01 /run/lab/mine"),
];

fn skipped() -> bool {
    let support = ConfinementSupport::of_this_system();
    let missing = support.missing();
    if !missing.is_empty() {
        eprintln!("skipped: needs full confinement: {}", missing.join("; "));
    }
    !missing.is_empty()
}

/// Mode, owner, times and length of all in a directory, by name.
fn state(directory: &Path) -> BTreeMap<String, (u32, u32, u32, i64, i64, u64)> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let state = entries.map(|entry| {
        let m = fs::symlink_metadata(entry.path()).expect("metadata");
        let state = (m.mode(), m.uid(), m.gid(), m.mtime(), m.ctime_nsec(), m.len());
        (entry.file_name().to_string_lossy().into_owned(), state)
    });
    state.collect()
}

#[test]
fn a_hostile_guest_changes_nothing_of_the_users() {
    let Some(kernel) = kernel() else { return };
    if skipped() {
        return;
    }
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("old"), "content").unwrap();
    let before = state(user.path());
    let mut script = format!(
        "
        user={}
        mount -t hostfs -o $user none /mnt
        mkdir /run/lab; mount -t hostfs -o /proc/self/cwd/lab/. none /run/lab
        echo mine > /run/lab/mine && echo own-file=made
        ln -s $user/old /run/lab/link && echo own-link=made
        echo read=$(cat /mnt/old)\n",
        user.path().display()
    );
    for (name, attempt) in ATTEMPTS {
        script.push_str(&format!("({attempt}) 2>&1 && echo {name}=done || echo {name}=refused\n"));
    }
    let outcome = run(kernel, &script, Vec::new(), |_| {});
    outcome.report();
    for (name, _) in ATTEMPTS {
        assert_eq!(outcome.word(name), "refused", "{name}: {}", outcome.console);
    }
    assert_eq!(state(user.path()), before);
    assert_eq!(fs::read_to_string(user.path().join("old")).unwrap(), "content");
    // What it may do: write to the lab's own directory, and, as documented, read.
    assert_eq!((outcome.word("own-file"), outcome.word("own-link")), ("made", "made"));
    assert_eq!(outcome.word("read"), "content");
}

/// What a shell's `9>>file` opens for disklab is not the guest's to write to.
#[test]
fn guest_inherits_nothing_of_the_callers() {
    let Some(kernel) = kernel() else { return };
    let file = tempfile::tempfile().unwrap();
    let kept = rustix::io::fcntl_dupfd_cloexec(&file, 700).unwrap();
    rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    let number = kept.as_raw_fd();
    let script = format!(
        "mount -t hostfs -o /proc/self/fd none /mnt
        [ -e /mnt/0 ] && echo own=there
        [ -h /mnt/{number} ] && echo callers=there || echo callers=gone"
    );
    let outcome = run(kernel, &script, Vec::new(), |_| {});
    outcome.report();
    assert_eq!((outcome.word("own"), outcome.word("callers")), ("there", "gone"));
}

/// The console that an error quotes is not what the guest put in its place.
#[test]
fn a_swapped_console_is_not_followed() {
    let Some(kernel) = kernel() else { return };
    let user = tempfile::tempdir().unwrap();
    let secret = user.path().join("secret");
    fs::write(&secret, "the user's secret").unwrap();
    for swap in [format!("ln -s {}", secret.display()), "mkfifo".to_owned()] {
        let script = format!(
            "
            mkdir /run/lab; mount -t hostfs -o /proc/self/cwd/lab/. none /run/lab
            rm /run/lab/console; {swap} /run/lab/console; sync
            echo c > /proc/sysrq-trigger"
        );
        // The test's own look at the console would wait for the pipe.
        let outcome = crate::support::run_unread(kernel.clone(), &script);
        let error = outcome.expect_err("it panics");
        assert!(matches!(error, LabError::Ended { .. } | LabError::Panic { .. }), "{error}");
        assert!(error.to_string().contains("cannot read"), "{error}");
        assert!(!error.to_string().contains("the user's secret"), "{error}");
    }
}

const MEMORY: u64 = 256 << 20;

/// The memory of guests that have ended, as this process keeps it.
fn spare_memory() -> Vec<File> {
    let descriptors = fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    descriptors
        .filter(|fd| {
            fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().ends_with(" (deleted)"))
        })
        .filter_map(|fd| File::open(fd.path()).ok())
        .filter(|file| file.metadata().is_ok_and(|m| m.is_file() && m.len() == MEMORY))
        .collect()
}

fn holds(file: File, text: &str) -> bool {
    let grep = Command::new("grep").args(["-qaz", text]).stdin(file).status();
    grep.expect("grep runs").success()
}

/// A guest has the memory of an earlier one. Its kernel clears what it gives to programs, and
/// has no device that shows memory.
#[test]
fn a_guests_programs_see_nothing_in_the_memory_of_an_earlier_one() {
    let Some(kernel) = kernel() else { return };
    // No script has it as one word: hostfs would bring it into memory.
    let word = "word=the-earlier; word=$word-secret\n";
    let write = format!("{word} yes $word | head -c 100M > /run/file; echo wrote=$?");
    let look = format!(
        "{word} fallocate -l 100M /run/file && echo space=yes
        grep -qaz $word /run/file && echo found=yes || echo found=no
        for file in /dev/mem /dev/kmem /dev/port /proc/kcore; do
            [ ! -e $file ] || echo there=$file
        done"
    );
    let earlier = run(kernel.clone(), &write, Vec::new(), |_| {});
    assert_eq!(earlier.word("wrote"), "0");
    earlier.report();
    let spare = spare_memory();
    if spare.is_empty() {
        eprintln!("skipped: needs kernel/patches/memory.patch and a file system with huge pages");
        return;
    }
    assert!(spare.into_iter().all(|file| holds(file, "the-earlier-secret")));
    let later = run(kernel, &look, Vec::new(), |_| {});
    later.report();
    // It is one file: what else the kernel makes files for does not matter here.
    assert!(!later.console.contains("UML_MEMORY_FD"), "{}", later.console);
    assert_eq!((later.word("space"), later.word("found")), ("yes", "no"));
    assert!(!later.console.contains("there="), "{}", later.console);
    // It was the same memory.
    assert_eq!(spare_memory().len(), 1);
}
