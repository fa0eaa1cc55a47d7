//! An image file that is attached to no loop device, as after a reboot.

use std::path::Path;

use disklab_exec::{Executor, Invocation, find_program};
use serde::Deserialize;

use super::super::btrfs::Superblock;
use super::super::{Marks, Obstacle, UnseenContent};
use super::signatures::{BlkidSignature, failed, others, signatures};
use crate::StackError;

/// What `sfdisk --json` prints.
#[derive(Debug, Deserialize)]
struct Output {
    partitiontable: Table,
}

#[derive(Debug, Deserialize)]
struct Table {
    #[serde(default = "usual_sector")]
    sectorsize: u64,
    #[serde(default)]
    partitions: Vec<Partition>,
}

#[derive(Debug, Deserialize)]
struct Partition {
    node: String,
    start: u64,
    size: u64,
}

fn usual_sector() -> u64 {
    512
}

/// What in the file is not ours, or cannot be inspected.
///
/// # Errors
/// [`StackError`] if a program cannot be run: the caller leaves the image alone then.
pub(crate) fn image(
    path: &Path,
    marks: &Marks,
    executor: &Executor,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = others(path, marks, executor)?;
    for signature in signatures(path, executor)? {
        match signature.kind.as_str() {
            "gpt" | "dos" => {
                for partition in partitions(path, executor)? {
                    found.extend(in_partition(path, &partition, marks, executor)?);
                }
                break;
            }
            kind => found.extend(closed(path, kind, || members_at(path, 0))),
        }
    }
    Ok(found)
}

/// How many devices the Btrfs has that begins there.
fn members_at(path: &Path, start: u64) -> u64 {
    Superblock::at(path, start).map_or(u64::MAX, |block| block.members)
}

/// What holds more than can be seen without assembling it. The key of a LUKS that
/// we made is known to nobody else. `members` are those of a Btrfs.
fn closed(on: &Path, kind: &str, members: impl FnOnce() -> u64) -> Option<Obstacle> {
    let content = match kind {
        "btrfs" if members() > 1 => UnseenContent::BtrfsMember,
        "linux_raid_member" => UnseenContent::RaidMember,
        "LVM2_member" => UnseenContent::PhysicalVolume,
        "zfs_member" => UnseenContent::PoolMember,
        _ => return None,
    };
    Some(Obstacle::Unseen { on: on.to_owned(), content })
}

fn partitions(path: &Path, executor: &Executor) -> Result<Vec<(String, u64, u64)>, StackError> {
    if find_program("sfdisk").is_none() {
        return Err(StackError::NoSfdisk(path.to_owned()));
    }
    let list = Invocation::new("sfdisk").arg("--json").arg(path).uninterruptible();
    let text = executor.check(&list).map_err(failed)?.text();
    let output: Output = serde_json::from_str(&text).map_err(|source| StackError::OutputJson {
        command: format!("sfdisk --json {}", path.display()),
        source,
    })?;
    let Table { sectorsize, partitions } = output.partitiontable;
    let bytes = |sectors: u64| sectors.saturating_mul(sectorsize);
    Ok(partitions.into_iter().map(|p| (p.node, bytes(p.start), bytes(p.size))).collect())
}

fn in_partition(
    path: &Path,
    (node, start, size): &(String, u64, u64),
    marks: &Marks,
    executor: &Executor,
) -> Result<Vec<Obstacle>, StackError> {
    let blkid = Invocation::new("blkid")
        .args(["--probe", "--output", "export"])
        .args(["--offset", &start.to_string(), "--size", &size.to_string()])
        .arg(path)
        .uninterruptible();
    let done = executor.run(&blkid).map_err(failed)?;
    let on = Path::new(node);
    match done.code {
        0 => {}
        // blkid(8): nothing was found.
        2 => return Ok(Vec::new()),
        _ => {
            let content = UnseenContent::Ambivalent;
            return Ok(vec![Obstacle::Unseen { on: on.to_owned(), content }]);
        }
    }
    let text = done.text();
    let field = |name: &str| {
        let value = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix('='));
        value.map(str::to_owned)
    };
    let Some(kind) = field("TYPE") else { return Ok(Vec::new()) };
    let mut found: Vec<_> = closed(on, &kind, || members_at(path, *start)).into_iter().collect();
    let signature = BlkidSignature::new(kind, field("UUID"), field("LABEL"));
    if !signature.is_own(path, marks) {
        found.insert(0, signature.obstacle(on));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_in_an_image_is_looked_into() {
        const TABLE: &str = "0E9C0E5A-6F1D-4F5C-9D0C-2D7A3B1C4E5F";
        const THEIRS: &str = "11111111-2222-4333-8444-555555555555";
        if ["blkid", "sfdisk", "mkfs.ext4"].iter().any(|name| find_program(name).is_none()) {
            eprintln!("skipped: needs blkid, sfdisk and mkfs.ext4");
            return;
        }
        let file = tempfile::NamedTempFile::new().expect("temp");
        file.as_file().set_len(16 << 20).expect("a sparse file");
        let executor = Executor::default();
        let found = |marks: &Marks| image(file.path(), marks, &executor).expect("inspected");
        let mut marks = Marks::default();
        assert_eq!(found(&marks), [], "nothing is on it");
        let table = format!("label: gpt\nlabel-id: {TABLE}\nstart=2048, size=16384\n");
        let sfdisk = Invocation::new("sfdisk").arg("--quiet").arg(file.path()).stdin(table);
        executor.check(&sfdisk).expect("a table");
        assert_eq!(found(&marks).len(), 1, "the table");
        marks.add(TABLE);
        assert_eq!(found(&marks), [], "an empty partition");
        let format = Invocation::new("mkfs.ext4")
            .args(["-q", "-F", "-U", THEIRS, "-E", "offset=1048576"])
            .arg(file.path())
            .arg("8M");
        executor.check(&format).expect("a file system");
        let theirs = found(&marks);
        assert_eq!(theirs.len(), 1, "{theirs:?}");
        assert!(theirs[0].to_string().contains(THEIRS), "{}", theirs[0]);
        marks.add(THEIRS);
        assert_eq!(found(&marks), []);
    }

    #[test]
    fn members_of_what_is_not_assembled_say_what_to_do() {
        let of = |kind| closed(Path::new("/x.img"), kind, || 2);
        for (kind, content, remedy) in [
            ("linux_raid_member", UnseenContent::RaidMember, "mdadm --assemble"),
            ("LVM2_member", UnseenContent::PhysicalVolume, "vgchange -ay"),
            ("zfs_member", UnseenContent::PoolMember, "zpool import"),
            ("btrfs", UnseenContent::BtrfsMember, "losetup"),
        ] {
            let found = of(kind).expect(kind);
            let on = Path::new("/x.img").to_owned();
            assert_eq!(found, Obstacle::Unseen { on, content });
            assert!(found.to_string().contains(remedy), "{found}");
        }
        assert_eq!(of("ext4"), None);
        assert_eq!(closed(Path::new("/x.img"), "btrfs", || 1), None);
    }
}
