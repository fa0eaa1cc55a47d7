//! What stacks of all kinds are, as far as that is known before anything is touched. A change that
//! means to change nothing changes none of it; another shows here what it changes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_units::Bytes;

use crate::test_support::spec;
use crate::undo::*;
use crate::{DeviceState, FirstPass, FormatWrites, Need, Stack, Volume};

/// Stacks, and on how many drives. The last drive is half as large as the others.
const STACKS: &[(&str, usize)] = &[
    ("ext4", 1),
    ("ext4[lazy-init=off]", 1),
    ("ext4[lazy-init=wait, block-size=1K, mount=\"noatime\"]", 1),
    ("xfs", 1),
    ("xfs[block-size=1K, mkfs=\"-m reflink=0\"]", 1),
    ("f2fs", 1),
    ("nilfs2", 1),
    ("nilfs2[cleaner]", 1),
    ("partition[start=60%]/xfs", 1),
    ("partition[start=2MiB, size=5G]/ext4", 1),
    ("queue[scheduler=none, requests=64, read-ahead=0]/ext4", 1),
    ("crypt/ext4", 1),
    ("crypt[discard, sector-size=4K]/xfs", 1),
    ("integrity/ext4", 1),
    ("integrity[algorithm=sha256, mode=bitmap, sector-size=4K]/ext4", 1),
    ("integrity[mode=direct]/md-raid1/ext4", 2),
    ("ext4/loop-file[size=20G]/xfs", 1),
    ("ext4/loop-file[size=20G, allocate=full]/btrfs", 1),
    ("btrfs", 1),
    ("btrfs[compress=zstd:3, csum=sha256]", 1),
    ("btrfs-single", 3),
    ("btrfs-dup", 1),
    ("btrfs-raid0", 3),
    ("btrfs-raid1", 3),
    ("btrfs-raid1c3", 4),
    ("btrfs-raid1c4", 4),
    ("btrfs-raid10", 4),
    ("btrfs-raid5[metadata=raid1]", 4),
    ("btrfs-raid6[metadata=raid1c3]", 5),
    ("md-linear/ext4", 3),
    ("md-raid0/xfs", 3),
    ("md-raid1/ext4", 2),
    ("md-raid1[resync=wait]/ext4", 3),
    ("md-raid4/ext4", 4),
    ("md-raid5/ext4", 4),
    ("md-raid5[resync=wait, chunk=64K]/btrfs", 4),
    ("md-raid5{journal=5}/ext4", 5),
    ("md-raid6{journal=5-6/md-raid1,spare=7}/xfs", 7),
    ("md-raid5[width=3]/md-raid0/ext4", 6),
    ("md-raid6/ext4", 5),
    ("partition[start=60%]/md-raid5[resync=wait]/ext4", 4),
    ("queue[read-ahead=4M]/md-raid1[resync=wait]/ext4", 2),
    ("md-raid10/ext4", 4),
    ("md-raid10[layout=far2]/xfs", 4),
    ("shr/ext4", 4),
    ("shr2/btrfs", 5),
    ("lvm/ext4", 3),
    ("lvm[stripes=2, size=200G]/ext4", 2),
    ("lvm-thin/xfs", 2),
    ("lvm-thin[chunk=256K, size=9T]/ext4", 2),
    ("lvm-raid1/ext4", 2),
    ("lvm-raid5/ext4", 4),
    ("lvm-raid6/ext4", 5),
    ("lvm-raid10/ext4", 4),
    ("zfs", 3),
    ("zfs[compression=off, recordsize=16K]", 1),
    ("zfs-mirror", 3),
    ("zfs-mirror[width=2]", 4),
    ("zfs-raidz1", 4),
    ("zfs-raidz1{log=5, cache=6}", 6),
    ("zfs-raidz2[ashift=12]", 5),
    ("zfs-raidz3", 6),
    ("zfs-raidz1/zvol/ext4", 4),
    ("zfs/zvol[volblocksize=8K, size=100G, count=2]/md-raid1/xfs", 2),
    ("zfs-draid1", 5),
    ("zfs-draid2[spares=1]", 7),
    ("crypt/md-raid6/lvm/xfs", 5),
];

fn volume(said: &mut String, volume: &Volume) {
    let Volume { size, loss, drive_writes, redundancy, small_write } = volume;
    let (tolerates, parts) = (volume.tolerates(), loss.parts_in_all());
    let lost = format!("{:?} {tolerates} of {parts}", loss.drives());
    let small = (small_write.reads, small_write.writes);
    writeln!(said, "  {size:?} {lost} {drive_writes:.4?} {redundancy:?} {small:?}")
        .expect("a text");
}

fn writes(said: &mut String, of: &FormatWrites) {
    writeln!(said, "  makes {:.0?} in {:.0}", of.bytes, of.requests).expect("a text");
    for pass in &of.passes {
        let FirstPass { layer, kind, length, read, written, zeros } = pass;
        let bytes = format!("{length:.0} long, {read:.0} read, {written:.0} written");
        let of = if *zeros { " of zeros" } else { "" };
        writeln!(said, "    {layer} {kind:?} {bytes}{of}").expect("a text");
    }
}

#[test]
fn stacks_are_what_they_were() {
    let mut said = String::new();
    for (text, drives) in STACKS {
        writeln!(said, "{text} on {drives}").expect("a text");
        let stack = match spec(text, *drives).and_then(|spec| Stack::parse(&spec)) {
            Ok(stack) => stack,
            Err(error) => {
                writeln!(said, "  {error}").expect("a text");
                continue;
            }
        };
        let mut sizes = vec![Bytes(4_000_787_030_016); *drives];
        sizes[drives - 1] = Bytes(2_000_398_934_016);
        for shape in [stack.shape(&sizes), stack.shape_of_first(&sizes, Bytes::gib(9))] {
            match shape {
                Ok(shape) => volume(&mut said, &shape),
                Err(why) => writeln!(said, "  {why}").expect("a text"),
            }
        }
        let modelled = DeviceState { reads_zeros: true, simulated: true };
        writes(&mut said, &stack.format_writes(&sizes, DeviceState::default()));
        writes(&mut said, &stack.format_writes(&sizes, modelled));
        let cares = [
            Care::Fail,
            Care::Replace,
            Care::TakeSpare,
            Care::PassFrom,
            Care::Rebuild,
            Care::Scrub,
        ];
        let can: Vec<Care> = cares.into_iter().filter(|care| stack.can(*care)).collect();
        let inputs: Vec<&str> = stack.inputs().iter().map(|input| input.name).collect();
        let needs: Vec<String> = stack.needs().iter().map(Need::to_string).collect();
        writeln!(
            said,
            "  {} {:?} {:?} imported {} moves {} spread {} inputs {inputs:?}\n  {}",
            stack.describe(),
            stack.kept_writes(),
            can,
            stack.is_imported(),
            stack.moves_what_is_used(),
            stack.has_spread_spare(),
            needs.join(", ")
        )
        .expect("a text");
        for sentence in stack.keeps_in_memory() {
            writeln!(said, "  {sentence}").expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}

/// An entry of each kind; those of devices are on `devices`.
fn entries(devices: &[PathBuf]) -> Vec<Undo> {
    let file = Path::new("/srv/runs/disklab7/disk-1.img").to_owned();
    let device = devices[0].clone();
    let mapping = DeviceMapping {
        name: "disklab-7-1".into(),
        device: device.clone(),
        uuid: "0d3f8a6e-5a1c-4b7e-9f25-5a0e3b1c7d42".into(),
        incarnation: "boot/8:0/12".into(),
    };
    let integrity = DeviceMapping { uuid: String::new(), ..mapping.clone() };
    let (name, uuid) = ("disklab-7".to_owned(), "11111111-2222-4333-8444-555555555555".to_owned());
    let volumes = devices.iter().zip(["pv-1", "pv-2"]).map(|(at, uuid)| (at.clone(), uuid.into()));
    let queue = RestoreQueue {
        device: device.clone(),
        instance: "12".into(),
        setting: QueueSetting::ReadAhead,
        value: "128".into(),
    };
    let array =
        StopArray { name: name.clone(), uuid: uuid.clone(), members: devices.to_vec(), others: 1 };
    vec![
        Unmount("/srv/runs/disklab7/mnt".into()).into(),
        RemoveDirectory("/srv/runs/disklab7/mnt".into()).into(),
        RemoveTree("/srv/runs/disklab7".into()).into(),
        RestoreWriteCache { device: device.clone(), serial: "K1AAAAA1".into(), on: true }.into(),
        EndProgram { pid: 4711, started: 123_456 }.into(),
        queue.into(),
        WipeDrive { device: device.clone(), serial: None, mark: uuid.clone() }.into(),
        RemoveFile(file.clone()).into(),
        DetachLoop(file).into(),
        RemovePartitions { device, guid: uuid.clone(), count: 2 }.into(),
        RemoveBtrfs { uuid, devices: devices.to_vec() }.into(),
        array.into(),
        RemoveVolumeGroup { name: name.clone(), mark: "mark-7".into(), volumes: volumes.collect() }
            .into(),
        CloseCrypt(mapping).into(),
        CloseIntegrity(integrity).into(),
        DestroyPool { name, mark: "mark-8".into(), devices: devices.to_vec() }.into(),
    ]
}

#[test]
fn entries_of_a_ledger_are_what_they_were() {
    let all = entries(&["/dev/no-drive".into(), "/dev/disk/by-id/none".into()]);
    let mut said = String::new();
    for (number, entry) in all.iter().enumerate() {
        let json = serde_json::to_string(entry).expect("JSON");
        assert_eq!(serde_json::from_str::<Undo>(&json).expect("an entry"), *entry);
        let inside: Vec<usize> = (0..all.len()).filter(|n| entry.contains(&all[*n])).collect();
        writeln!(
            said,
            "{number} {entry}: {json}\n  by {:?} at {:?}, with the boot {}, integrity {:?}, holds {inside:?}, {:?}",
            entry.marks(),
            entry.paths(),
            entry.ends_with_boot(),
            entry.integrity().map(|mapping| &mapping.name),
            entry.check(),
        )
        .expect("a text");
    }
    insta::assert_snapshot!(said);
}

// A volume is in its pool by its path.
#[test]
fn what_is_on_devices_holds_what_is_built_on_them() {
    let Some(device) = BlockDevice::all(&SystemRoot::here()).first().map(BlockDevice::node) else {
        eprintln!("skipped: needs a block device");
        return;
    };
    let on = |device: PathBuf| entries(&[device, "/dev/none".into()]);
    let volume =
        |path: &str| Undo::from(RemoveBtrfs { uuid: "u".into(), devices: vec![path.into()] });
    for (entry, elsewhere) in on(device.clone()).iter().zip(on("/dev/nothing".into())) {
        let there = Undo::from(RemoveBtrfs { uuid: "u".into(), devices: vec![device.clone()] });
        let devices = entry.paths().contains(&device.as_path());
        let setting = matches!(entry, Undo::RestoreWriteCache(_) | Undo::RestoreQueue(_));
        let pool = matches!(entry, Undo::DestroyPool(_));
        assert_eq!(entry.contains(&there), devices && !setting && !pool, "{entry}");
        assert!(!elsewhere.contains(&there), "{elsewhere}");
        assert_eq!(entry.contains(&volume("/dev/zvol/disklab-7/v1")), pool, "{entry}");
        assert!(!entry.contains(&volume("/dev/zvol/disklab-77/v1")), "{entry}");
    }
}
