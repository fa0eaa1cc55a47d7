//! Stacks on loop devices of this machine's kernel: made, written to, taken
//! down, nothing left.

use std::io::Write;
use std::path::Path;

use crate::support::{LOOPS, LoopFixture, can, output, stack};
use disklab_exec::Invocation;
use disklab_stack::mounts;
use disklab_units::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Makes a stack, writes a file in it, looks at it with `look`, tears it down.
fn made_and_torn_down(
    text: &str,
    drives: usize,
    size: Bytes,
    look: impl FnOnce(&LoopFixture, &Path),
) {
    let stack = stack(text, drives);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(drives, size);
    let before = fixture.leftovers();
    assert_eq!(before.len(), drives);
    // Twice, as cells follow each other on the same drives.
    let mark = fixture.ledger.mark();
    fixture.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
    fixture.tear_down_to(mark);
    assert_eq!(fixture.leftovers(), before, "{text}");
    let made = fixture.make(&stack).unwrap_or_else(|e| panic!("{text}, again: {e}"));
    let mut file = std::fs::File::create(made.directory.join("file")).expect("file");
    file.write_all(&vec![7; 3 << 20]).expect("write");
    file.sync_all().expect("sync");
    drop(file);
    look(&fixture, &made.directory);
    match drives {
        1 => assert!(made.device.is_some(), "{text}"),
        _ => assert_eq!(made.device, None, "{text}"),
    }
    let promised = stack.shape(&vec![size; drives]).expect("shape").size;
    holds(&made.directory, promised, text);
    fixture.tear_down_to(0);
    assert!(fixture.leftovers().is_empty(), "{text}: {:?}", fixture.leftovers());
    let left: Vec<_> = std::fs::read_dir(fixture.path()).expect("directory").flatten().collect();
    assert_eq!(left.len(), 1, "{text}: only the empty state directory, not {left:?}");
}

/// The file system has room for 9 tenths of what was promised, and for 12 tenths
/// it has not.
fn holds(directory: &Path, promised: Bytes, text: &str) {
    let path = directory.join("large");
    let file = std::fs::File::create(&path).expect("file");
    let allocate = |factor| {
        let size = promised.scaled(factor, Bytes::mib(1)).0;
        fallocate(&file, FallocateFlags::empty(), 0, size)
    };
    match allocate(0.9) {
        // ext4 with data=journal, and NILFS2, have no fallocate.
        Err(Errno::OPNOTSUPP) => {}
        other => {
            assert_eq!(other, Ok(()), "{text}: {promised} promised");
            assert_eq!(allocate(1.2), Err(Errno::NOSPC), "{text}: {promised} promised");
        }
    }
}

fn mounted(directory: &Path) -> (String, String) {
    let mounts = mounts().expect("mounts");
    let mount = mounts.iter().find(|m| m.mount_point == directory).expect("a mount");
    let options = output("findmnt", &["-n", "-o", "OPTIONS", &directory.display().to_string()]);
    (mount.fs_type.clone(), options)
}

/// The layer at the top is what is mounted, with this option.
fn mounts_as(text: &str, file_system: &str, option: &str) {
    made_and_torn_down(text, 1, Bytes::mib(600), |_, directory| {
        let (found, options) = mounted(directory);
        assert_eq!(found, file_system, "{text}");
        assert!(options.contains(option), "{text}: {options}");
    });
}

#[test]
fn ext4() {
    mounts_as(
        "ext4[noatime,data=journal,block-size=1K,mkfs=-O ^dir_index -E stride=16]",
        "ext4",
        "noatime",
    );
}

#[test]
fn queues_are_set_and_set_back() {
    let text = "queue[max-request=64K,read-ahead=256K]/ext4";
    let read = |fixture: &LoopFixture| {
        let name = fixture.drives[0].file_name().expect("a node").to_owned();
        ["max_sectors_kb", "read_ahead_kb"].map(|file| {
            let path = Path::new("/sys/block").join(&name).join("queue").join(file);
            std::fs::read_to_string(path).expect("sysfs").trim().to_owned()
        })
    };
    let stack = stack(text, 1);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(600));
    let before = read(&fixture);
    let mark = fixture.ledger.mark();
    fixture.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(read(&fixture), ["64", "256"]);
    fixture.tear_down_to(mark);
    assert_eq!(read(&fixture), before);
    // Volumes have no scheduler.
    let wrong = crate::support::stack("lvm/queue[requests=64]/ext4", 1);
    if can(&wrong.needs()) {
        let error = fixture.make(&wrong).expect_err("no scheduler").to_string();
        assert!(error.contains("it has no such setting"), "{error}");
        fixture.tear_down_to(mark);
    }
}

#[test]
fn ext4_writes_no_inode_tables_in_the_background() {
    mounts_as("ext4", "ext4", "noinit_itable");
}

#[test]
fn ext4_waits_for_its_lazy_initialisation() {
    // A discarded device reads as zeros, and mkfs then leaves nothing to do.
    let text = "ext4[lazy-init=wait,mkfs=-E nodiscard]";
    made_and_torn_down(text, 1, Bytes::gib(2), |fixture, _| {
        assert!(fixture.notes[0].1.contains("waited for"), "{:?}", fixture.notes);
        let dump = output("dumpe2fs", &[&fixture.drives[0].display().to_string()]);
        let groups = dump.lines().filter(|line| line.contains("(Blocks")).count();
        assert_eq!(groups, 16);
        assert_eq!(dump.matches("ITABLE_ZEROED").count(), groups, "{dump}");
    });
}

#[test]
fn xfs() {
    mounts_as("xfs[block-size=1K,nodiratime]", "xfs", "nodiratime");
}

#[test]
fn btrfs() {
    mounts_as("btrfs[compress=zlib,csum=sha256,nodesize=4K]", "btrfs", "compress=zlib");
}

#[test]
fn nilfs2() {
    mounts_as("nilfs2", "nilfs2", "rw");
}

#[test]
fn f2fs() {
    mounts_as("f2fs[noatime]", "f2fs", "noatime");
}

#[test]
fn partition() {
    made_and_torn_down("partition[start=2MiB]/ext4", 1, Bytes::mib(200), |fixture, _| {
        let drive = fixture.drives[0].display().to_string();
        let partition = format!("{drive}p1");
        let start = output("partx", &["-g", "-o", "START,NR", &drive]);
        assert_eq!(start.split_whitespace().collect::<Vec<_>>(), ["4096", "1"]);
        assert!(Path::new(&partition).exists());
    });
}

#[test]
fn partitions_on_several_drives() {
    made_and_torn_down("partition/btrfs-raid1", 2, Bytes::mib(300), |fixture, directory| {
        let shown = output("btrfs", &["filesystem", "show", &directory.display().to_string()]);
        for drive in &fixture.drives {
            assert!(shown.contains(&format!("{}p1", drive.display())), "{shown}");
        }
    });
}

#[test]
fn a_file_system_in_a_file_on_a_file_system() {
    made_and_torn_down(
        "xfs/loop-file[size=100M]/ext4",
        1,
        Bytes::mib(600),
        |fixture, directory| {
            assert_eq!(mounted(directory).0, "ext4");
            let note =
                fixture.notes.iter().find(|(about, _)| about == "loop-file").expect("a note");
            assert!(note.1.contains("sparse") && note.1.contains("direct I/O"), "{note:?}");
        },
    );
    let text = "btrfs/loop-file[size=64M,allocate=full]/ext4";
    made_and_torn_down(text, 1, Bytes::mib(600), |fixture, _| {
        let note = fixture.notes.iter().find(|(about, _)| about == "loop-file").expect("a note");
        assert!(note.1.contains("fallocate"), "{note:?}");
    });
}

/// `btrfs filesystem df` names these profiles.
fn btrfs_profiles(text: &str, data: &str, metadata: &str) {
    made_and_torn_down(text, 4, Bytes::mib(600), |fixture, directory| {
        let df = Invocation::new("btrfs").args(["filesystem", "df"]).arg(directory);
        let shown = fixture.executor.check(&df).expect("df").text();
        assert!(shown.contains(&format!("Data, {data}: ")), "{text}: {shown}");
        assert!(shown.contains(&format!("Metadata, {metadata}: ")), "{text}: {shown}");
    });
}

#[test]
fn btrfs_without_copies() {
    btrfs_profiles("btrfs-single", "single", "RAID1");
    btrfs_profiles("btrfs-dup", "DUP", "DUP");
    btrfs_profiles("btrfs-raid0", "RAID0", "RAID1");
}

#[test]
fn btrfs_with_copies() {
    btrfs_profiles("btrfs-raid1", "RAID1", "RAID1");
    btrfs_profiles("btrfs-raid1c3", "RAID1C3", "RAID1C3");
    btrfs_profiles("btrfs-raid1c4", "RAID1C4", "RAID1C4");
    btrfs_profiles("btrfs-raid10[metadata=raid1]", "RAID10", "RAID1");
}

#[test]
fn btrfs_with_parity() {
    btrfs_profiles("btrfs-raid5", "RAID5", "RAID1");
    btrfs_profiles("btrfs-raid6", "RAID6", "RAID1C3");
}

#[test]
fn a_partly_made_stack_is_torn_down() {
    let stack = stack("partition/ext4[no-such-option]", 1);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(100));
    let before = fixture.leftovers();
    let mark = fixture.ledger.mark();
    let error = fixture.make(&stack).expect_err("no such mount option");
    assert!(error.to_string().starts_with("ext4: `mount "), "{error}");
    assert!(!error.is_interrupt());
    fixture.tear_down_to(mark);
    assert_eq!(fixture.leftovers(), before);
    assert!(!Path::new(&format!("{}p1", fixture.drives[0].display())).exists());
    let table = Invocation::new("blkid").arg("--probe").arg(&fixture.drives[0]);
    assert_eq!(fixture.executor.run(&table).expect("blkid").code, 2, "no signature is left");
}

#[test]
fn an_interrupt_stops_the_making_but_not_the_teardown() {
    let stack = stack("ext4", 1);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(100));
    fixture.executor.interrupt.raise();
    let error = fixture.make(&stack).expect_err("interrupted");
    assert!(error.is_interrupt(), "{error}");
    fixture.tear_down_to(0);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_device_in_use_is_not_wiped() {
    let stack = stack("ext4", 1);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(100));
    let made = fixture.make(&stack).expect("made");
    std::fs::write(made.directory.join("precious"), "x").expect("write");
    let error = fixture.make(&stack).expect_err("it is mounted");
    assert!(error.to_string().contains("wipefs"), "{error}");
    assert!(made.directory.join("precious").exists());
}

/// What was unmounted and detached is found again, but not through a link that took a file's name.
#[test]
fn a_loop_file_is_found_again_and_a_link_is_not_followed() {
    let stack = stack("partition/ext4/loop-file[size=32M]/ext4", 1);
    if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(128));
    let made = fixture.make(&stack).expect("made");
    std::fs::write(made.directory.join("file"), "kept").expect("write");
    let own = made.directory.parent().expect("the stack's directory").to_owned();
    let stop = |fixture: &LoopFixture, device: Option<&Path>| {
        for name in ["mnt-2", "mnt"] {
            let directory = own.join(name);
            if let Some(device) = device.filter(|_| name == "mnt") {
                output("losetup", &["--detach", &device.display().to_string()]);
            }
            output("umount", &[&directory.display().to_string()]);
            std::fs::remove_dir(directory).expect("removed");
        }
        output("partx", &["--delete", &fixture.drives[0].display().to_string()]);
    };
    stop(&fixture, made.device.as_deref());
    let made = fixture.build(|drives, context| stack.assemble(drives, context)).expect("found");
    assert_eq!(std::fs::read_to_string(made.directory.join("file")).expect("read"), "kept");
    // Another user's file takes its name.
    let theirs = fixture.path().join("theirs");
    std::fs::write(&theirs, vec![7; 32 << 20]).expect("write");
    let image = std::fs::read_dir(own.join("mnt")).expect("mnt").flatten();
    let image = image.map(|e| e.path()).find(|p| p.extension().is_some()).expect("the image");
    std::fs::remove_file(&image).expect("removed");
    std::os::unix::fs::symlink(&theirs, &image).expect("link");
    stop(&fixture, made.device.as_deref());
    let error = fixture.build(|drives, context| stack.assemble(drives, context));
    let error = error.expect_err("a link").to_string();
    assert!(error.starts_with("loop-file: the file ") && error.contains("is not on"), "{error}");
    fixture.tear_down_to(0);
    assert!(std::fs::read(&theirs).expect("there") == vec![7; 32 << 20], "untouched");
}
