//! What stacks of all kinds are, as far as that is known before anything is touched. A change that
//! means to change nothing changes none of it; another shows here what it changes.

use std::fmt::Write;

use disklab_cell::Care;
use disklab_units::Bytes;

use crate::test_support::spec;
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
