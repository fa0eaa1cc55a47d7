//! What is not ours is left alone, and what is held by others is reported.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::support::{LOOPS, LoopFixture, can, output, stack};
use disklab_exec::Invocation;
use disklab_stack::{Need, Undo, mounts, undo};
use disklab_units::Bytes;

impl LoopFixture {
    fn directory(&mut self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        self.ledger.enter(undo::RemoveDirectory(path.clone())).expect("enter");
        std::fs::create_dir(&path).expect("directory");
        path
    }

    fn mount_tmpfs(&mut self, path: &std::path::Path) {
        self.ledger.enter(undo::Unmount(path.to_owned())).expect("enter");
        let mount = Invocation::new("mount").args(["-t", "tmpfs", "none"]).arg(path);
        self.executor.check(&mount).expect("mount");
    }

    /// Tears down one thing, as if it had been entered last.
    fn undo(&mut self, undo: impl Into<Undo>) -> Vec<String> {
        let mark = self.ledger.mark();
        self.ledger.enter(undo).expect("enter");
        let errors = self.ledger.tear_down_to(mark, &self.executor);
        errors.iter().map(ToString::to_string).collect()
    }
}

fn mounts_at(path: &std::path::Path) -> usize {
    mounts().expect("mounts").iter().filter(|m| m.mount_point == path).count()
}

#[test]
fn only_exactly_that_mount_goes() {
    if !can(&[Need::Root]) {
        return;
    }
    let mut fixture = LoopFixture::new(0, Bytes::ZERO);
    let (own, theirs) = (fixture.directory("a mount\\040"), fixture.directory("a mount"));
    for path in [&own, &theirs, &own] {
        fixture.mount_tmpfs(path);
    }
    assert_eq!((mounts_at(&own), mounts_at(&theirs)), (2, 1), "one is mounted twice");
    assert!(fixture.undo(undo::Unmount(own.clone())).is_empty());
    assert_eq!((mounts_at(&own), mounts_at(&theirs)), (0, 1));
    // A directory of a mount is no mount.
    let inside = theirs.join("inside");
    std::fs::create_dir(&inside).expect("directory");
    assert!(fixture.undo(undo::Unmount(inside)).is_empty());
    assert_eq!(mounts_at(&theirs), 1);
}

#[test]
fn only_exactly_that_loop_device_goes() {
    if !can(&LOOPS) {
        return;
    }
    let mut fixture = LoopFixture::new(0, Bytes::ZERO);
    fixture.attach("disk", Bytes::mib(1));
    fixture.attach("disk1", Bytes::mib(1));
    let before = fixture.leftovers();
    assert_eq!(before.len(), 2);
    assert!(fixture.undo(undo::DetachLoop(fixture.path().join("dis"))).is_empty());
    assert_eq!(fixture.leftovers(), before);
    // The backing file's name gets ' (deleted)' in sysfs.
    std::fs::remove_file(fixture.path().join("disk")).expect("remove");
    assert!(fixture.undo(undo::DetachLoop(fixture.path().join("disk"))).is_empty());
    assert_eq!(fixture.leftovers(), [fixture.path().join("disk1").display().to_string()]);
}

#[test]
fn another_table_and_another_btrfs_stay() {
    let needs = [stack("partition/btrfs", 1).needs(), LOOPS.to_vec()].concat();
    if !can(&needs) {
        return;
    }
    let mut fixture = LoopFixture::new(2, Bytes::mib(200));
    let [table, btrfs] = [fixture.drives[0].clone(), fixture.drives[1].clone()];
    let other = "01234567-89ab-4cde-8f01-23456789abcd".to_owned();
    let sfdisk = Invocation::new("sfdisk")
        .args(["--quiet", "--no-tell-kernel"])
        .arg(&table)
        .stdin("label: gpt\n,\n");
    fixture.executor.check(&sfdisk).expect("sfdisk");
    let mkfs = Invocation::new("mkfs.btrfs").arg("--quiet").arg(&btrfs);
    fixture.executor.check(&mkfs).expect("mkfs");
    let tag = |tag: &str, device: &PathBuf| {
        let device = device.display().to_string();
        output("blkid", &["-p", "-o", "value", "-s", tag, &device]).trim().to_owned()
    };
    let (guid, uuid) = (tag("PTUUID", &table), tag("UUID", &btrfs));
    let devices = vec![btrfs.clone(), table.clone()];
    let partitions = |device: &Path, guid: &str| {
        let (device, guid) = (device.to_owned(), guid.to_owned());
        Undo::from(undo::RemovePartitions { device, guid, count: 1 })
    };
    let remove_other = [
        partitions(&table, &other),
        partitions(&btrfs, &other),
        undo::RemoveBtrfs { uuid: other, devices: devices.clone() }.into(),
    ];
    for undo in remove_other {
        assert!(fixture.undo(undo).is_empty());
    }
    assert_eq!((tag("PTUUID", &table), tag("UUID", &btrfs)), (guid.clone(), uuid.clone()));
    // And with their own ids they go.
    assert!(fixture.undo(partitions(&table, &guid)).is_empty());
    assert!(fixture.undo(undo::RemoveBtrfs { uuid, devices }).is_empty());
    for drive in &fixture.drives {
        let probe = Invocation::new("blkid").arg("--probe").arg(drive);
        assert_eq!(fixture.executor.run(&probe).expect("blkid").code, 2);
    }
}

#[test]
fn a_mount_that_is_held_is_detached_and_reported() {
    if !can(&[Need::Root]) {
        return;
    }
    let mut fixture = LoopFixture::new(0, Bytes::ZERO);
    let path = fixture.directory("held");
    fixture.mount_tmpfs(&path);
    // This process is the one that must not be killed.
    let open = File::create(path.join("open")).expect("file");
    let errors = fixture.undo(undo::Unmount(path.clone()));
    assert_eq!(errors.len(), 1, "{errors:?}");
    let this = format!("process {}", std::process::id());
    assert!(errors[0].contains("still in use") && errors[0].contains(&this), "{errors:?}");
    assert_eq!(mounts_at(&path), 0);
    drop(open);
}

#[test]
fn a_loop_device_that_is_held_stays_entered() {
    if !can(&LOOPS) {
        return;
    }
    let mut fixture = LoopFixture::new(0, Bytes::ZERO);
    let mark = fixture.ledger.mark();
    let device = fixture.attach("held", Bytes::mib(1));
    let open = File::open(&device).expect("open");
    let errors = fixture.ledger.tear_down_to(mark, &fixture.executor);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("still in use"), "{errors:?}");
    assert!(fixture.ledger.mark() > mark, "to be tried again");
    drop(open);
    fixture.tear_down_to(mark);
    assert!(fixture.leftovers().is_empty());
}
