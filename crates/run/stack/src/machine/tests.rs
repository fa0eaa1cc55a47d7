use super::*;
use crate::needs_words;

/// A machine with these files.
fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
    let directory = tempfile::tempdir().expect("temp");
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(path, text).expect("file");
    }
    let machine = Machine::at(directory.path(), false);
    (directory, machine)
}

const RELEASE: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.1-test\n");

#[test]
fn an_empty_machine_has_nothing() {
    let (_directory, machine) = machine(&[]);
    let needs = known_needs();
    assert_eq!(machine.missing(&needs), needs);
}

#[test]
fn registered_features_count() {
    let (_directory, machine) = machine(&[
        ("proc/filesystems", "nodev\tsysfs\n\text4\nnodev\tzfs\n"),
        (
            "proc/mdstat",
            "Personalities : [raid1] [raid6] [raid5] [raid4] \nunused devices: <none>\n",
        ),
        ("proc/misc", "237 loop-control\n236 device-mapper\n"),
        ("dev/loop-control", ""),
        ("sys/module/dm_crypt/refcnt", "0"),
    ]);
    for need in [
        Need::FileSystem("ext4"),
        Need::Zfs,
        Need::Md("raid5"),
        Need::Md("raid1"),
        Need::DeviceMapper("linear"),
        Need::DeviceMapper("crypt"),
        Need::Loop,
    ] {
        assert!(machine.has(&need), "{need}");
    }
    for need in [
        Need::FileSystem("ext"),
        Need::FileSystem("xfs"),
        Need::Md("raid0"),
        Need::DeviceMapper("integrity"),
        Need::Root,
    ] {
        assert!(!machine.has(&need), "{need}");
    }
}

#[test]
fn a_module_of_the_running_kernel_counts() {
    let (_directory, machine) = machine(&[
        RELEASE,
        (
            "lib/modules/6.12.1-test/modules.dep",
            "kernel/fs/xfs/xfs.ko.xz: kernel/lib/libcrc32c.ko.xz\n\
             kernel/drivers/md/dm-mod.ko:\nkernel/drivers/md/dm-integrity.ko: kernel/drivers/md/dm-mod.ko\n\
             kernel/drivers/md/md-mod.ko:\nkernel/drivers/md/raid456.ko: x\n\
             kernel/drivers/block/loop.ko.zst:\n",
        ),
        ("lib/modules/6.12.1-test/modules.builtin", "kernel/fs/f2fs/f2fs.ko\n"),
        ("lib/modules/6.11.0/modules.dep", "kernel/fs/nilfs2/nilfs2.ko:\n"),
    ]);
    for need in [
        Need::FileSystem("xfs"),
        Need::FileSystem("f2fs"),
        Need::Md("raid6"),
        Need::DeviceMapper("integrity"),
        Need::Loop,
    ] {
        assert!(machine.has(&need), "{need}");
    }
    for need in [
        Need::FileSystem("nilfs2"),
        Need::FileSystem("libcrc32c"),
        Need::Md("raid10"),
        Need::DeviceMapper("crypt"),
    ] {
        assert!(!machine.has(&need), "{need}");
    }
}

#[test]
fn answers_are_remembered() {
    let (directory, machine) = machine(&[("proc/filesystems", "\text4\n")]);
    assert!(machine.has(&Need::FileSystem("ext4")));
    std::fs::remove_file(directory.path().join("proc/filesystems")).expect("remove");
    assert!(machine.has(&Need::FileSystem("ext4")));
    assert!(!machine.has(&Need::FileSystem("xfs")));
}

#[test]
fn a_program_must_be_executable() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, machine) = machine(&[("usr/sbin/mdadm", "#!"), ("usr/bin/readme", "text")]);
    let program = directory.path().join("usr/sbin/mdadm");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("mode");
    assert!(machine.has(&Need::Program { name: "mdadm", package: "mdadm" }));
    assert!(!machine.has(&Need::Program { name: "readme", package: "none" }));
}

#[test]
fn needs_read_as_a_sentence() {
    assert_eq!(needs_words(&[]), "");
    assert_eq!(needs_words(&[Need::Md("raid5")]), "needs md (raid5) in the kernel");
    assert_eq!(
        needs_words(&[Need::Zfs, Need::Loop, Need::Root]),
        "needs ZFS in the kernel, loop devices and root"
    );
}

#[test]
fn every_kind_tells_its_needs_without_options() {
    let source = Arc::new(Source { name: String::new(), text: String::new() });
    for kind in LAYERS {
        let place = Location { source: Arc::clone(&source), span: 0..0 };
        let spec = LayerSpec {
            name: kind.name.to_owned(),
            options: Vec::new(),
            inputs: Vec::new(),
            place,
        };
        assert!((kind.parse)(&spec).is_ok(), "{}", kind.name);
    }
}
