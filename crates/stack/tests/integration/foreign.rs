//! What is not ours is left alone, and what is held by others is reported.

use std::fs::File;
use std::path::PathBuf;

use crate::support::{LOOPS, Rig, can, output, stack};
use disklab_exec::Invocation;
use disklab_stack::{Need, Undo, mounts};
use disklab_units::Bytes;

impl Rig {
    fn folder(&mut self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        self.ledger.enter(Undo::RemoveFolder(path.clone())).expect("enter");
        std::fs::create_dir(&path).expect("folder");
        path
    }

    fn mount_tmpfs(&mut self, path: &std::path::Path) {
        self.ledger.enter(Undo::Unmount(path.to_owned())).expect("enter");
        let mount = Invocation::new("mount").args(["-t", "tmpfs", "none"]).arg(path);
        self.executor.check(&mount).expect("mount");
    }

    /// Takes down one thing, as if it had been entered last.
    fn undo(&mut self, undo: Undo) -> Vec<String> {
        let mark = self.ledger.mark();
        self.ledger.enter(undo).expect("enter");
        let errors = self.ledger.take_down_to(mark, &self.executor);
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
    let mut rig = Rig::new(0, Bytes::ZERO);
    let (ours, theirs) = (rig.folder("a mount\\040"), rig.folder("a mount"));
    for path in [&ours, &theirs, &ours] {
        rig.mount_tmpfs(path);
    }
    assert_eq!((mounts_at(&ours), mounts_at(&theirs)), (2, 1), "one is mounted twice");
    assert!(rig.undo(Undo::Unmount(ours.clone())).is_empty());
    assert_eq!((mounts_at(&ours), mounts_at(&theirs)), (0, 1));
    // A folder of a mount is no mount.
    let inside = theirs.join("inside");
    std::fs::create_dir(&inside).expect("folder");
    assert!(rig.undo(Undo::Unmount(inside)).is_empty());
    assert_eq!(mounts_at(&theirs), 1);
}

#[test]
fn only_exactly_that_loop_device_goes() {
    if !can(&LOOPS) {
        return;
    }
    let mut rig = Rig::new(0, Bytes::ZERO);
    rig.attach("disk", Bytes::mib(1));
    rig.attach("disk1", Bytes::mib(1));
    let before = rig.standing();
    assert_eq!(before.len(), 2);
    assert!(rig.undo(Undo::DetachLoop(rig.path().join("dis"))).is_empty());
    assert_eq!(rig.standing(), before);
    // The backing file's name gets ' (deleted)' in sysfs.
    std::fs::remove_file(rig.path().join("disk")).expect("remove");
    assert!(rig.undo(Undo::DetachLoop(rig.path().join("disk"))).is_empty());
    assert_eq!(rig.standing(), [rig.path().join("disk1").display().to_string()]);
}

#[test]
fn another_table_and_another_btrfs_stay() {
    let needs = [stack("partition/btrfs", 1).needs(), LOOPS.to_vec()].concat();
    if !can(&needs) {
        return;
    }
    let mut rig = Rig::new(2, Bytes::mib(200));
    let [table, btrfs] = [rig.drives[0].clone(), rig.drives[1].clone()];
    let other = "01234567-89ab-4cde-8f01-23456789abcd".to_owned();
    let sfdisk = Invocation::new("sfdisk")
        .args(["--quiet", "--no-tell-kernel"])
        .arg(&table)
        .stdin("label: gpt\n,\n");
    rig.executor.check(&sfdisk).expect("sfdisk");
    let mkfs = Invocation::new("mkfs.btrfs").arg("--quiet").arg(&btrfs);
    rig.executor.check(&mkfs).expect("mkfs");
    let tag = |tag: &str, device: &PathBuf| {
        let device = device.display().to_string();
        output("blkid", &["-p", "-o", "value", "-s", tag, &device]).trim().to_owned()
    };
    let (guid, uuid) = (tag("PTUUID", &table), tag("UUID", &btrfs));
    let devices = vec![btrfs.clone(), table.clone()];
    let remove_other = [
        Undo::RemovePartitions { device: table.clone(), guid: other.clone() },
        Undo::RemovePartitions { device: btrfs.clone(), guid: other.clone() },
        Undo::RemoveBtrfs { uuid: other, devices: devices.clone() },
    ];
    for undo in remove_other {
        assert!(rig.undo(undo).is_empty());
    }
    assert_eq!((tag("PTUUID", &table), tag("UUID", &btrfs)), (guid.clone(), uuid.clone()));
    // And with their own ids they go.
    assert!(rig.undo(Undo::RemovePartitions { device: table, guid }).is_empty());
    assert!(rig.undo(Undo::RemoveBtrfs { uuid, devices }).is_empty());
    for drive in &rig.drives {
        let probe = Invocation::new("blkid").arg("--probe").arg(drive);
        assert_eq!(rig.executor.run(&probe).expect("blkid").code, 2);
    }
}

#[test]
fn a_mount_that_is_held_is_detached_and_reported() {
    if !can(&[Need::Root]) {
        return;
    }
    let mut rig = Rig::new(0, Bytes::ZERO);
    let path = rig.folder("held");
    rig.mount_tmpfs(&path);
    // This process is the one that must not be killed.
    let open = File::create(path.join("open")).expect("file");
    let errors = rig.undo(Undo::Unmount(path.clone()));
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
    let mut rig = Rig::new(0, Bytes::ZERO);
    let mark = rig.ledger.mark();
    let device = rig.attach("held", Bytes::mib(1));
    let open = File::open(&device).expect("open");
    let errors = rig.ledger.take_down_to(mark, &rig.executor);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("still in use"), "{errors:?}");
    assert!(rig.ledger.mark() > mark, "to be tried again");
    drop(open);
    rig.take_down_to(mark);
    assert!(rig.standing().is_empty());
}
