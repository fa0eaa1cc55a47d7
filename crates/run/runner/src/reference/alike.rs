//! The lab's stack that is like what a directory lies on.

use disklab_drive::{DriveFile, Transport};
use disklab_measure::{BlockDevice, Foundation, FoundationLevel, host_of, identity, volume_of};
use disklab_probe::Siblings;
use disklab_stack::find_layer;
use disklab_study::{DriveRequest, DriveRequests};
use disklab_units::{Bytes, count};

/// md's number of the layout near2 (md(4); kernel: drivers/md/raid10.c, `setup_geo`).
const NEAR_2: &str = "258";

/// A stack and its drives, as a study has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LikeStack {
    /// Layers, bottom-up.
    pub layers: String,
    /// Models, counts and sizes.
    pub drives: DriveRequests,
    /// The names of drives that no model is known of.
    pub by_class: Vec<String>,
}

/// The stack that is like `found`. `named` are the drives as the user says, who knows what a
/// virtual disk or a controller's volume lies on.
pub(super) fn like_stack(
    found: &Foundation,
    named: Option<&DriveRequests>,
) -> Result<LikeStack, String> {
    if let Some(why) = &found.hidden {
        return Err(why.clone());
    }
    let layers = layers(found)?;
    if let Some(named) = named {
        let (given, there) = (named.0.iter().map(|r| r.count).sum::<u64>(), found.drives.len());
        if given != there as u64 {
            let there = count(there, "drive");
            return Err(format!("--drives names {given}, and the directory lies on {there}"));
        }
        return Ok(LikeStack { layers, drives: named.clone(), by_class: Vec::new() });
    }
    let mut drives: Vec<DriveRequest> = Vec::new();
    let mut by_class = Vec::new();
    for device in &found.drives {
        let (file, is_model) = model(device)?;
        if !is_model {
            let name = identity(device).model.unwrap_or_else(|| device.name().to_owned());
            if !by_class.contains(&name) {
                by_class.push(name);
            }
        }
        let size = Bytes(device.size_bytes().min(file.capacity()));
        let request = DriveRequest { model: file.id, count: 1, size: Some(size) };
        match drives.last_mut() {
            Some(last) if (&last.model, last.size) == (&request.model, request.size) => {
                last.count += 1;
            }
            _ => drives.push(request),
        }
    }
    Ok(LikeStack { layers, drives: DriveRequests(drives), by_class })
}

/// The layers, bottom-up.
fn layers(found: &Foundation) -> Result<String, String> {
    let mut all = Vec::new();
    for level in found.levels.iter().rev() {
        let (name, options) = match level {
            FoundationLevel::Partition => ("partition".to_owned(), String::new()),
            FoundationLevel::Encryption => ("crypt".to_owned(), String::new()),
            FoundationLevel::Volume => ("lvm".to_owned(), String::new()),
            FoundationLevel::Array { level, chunk, layout, .. } => {
                if level == "raid10" && layout.as_deref().is_some_and(|layout| layout != NEAR_2) {
                    return Err("the array is a RAID 10 that is not laid out as near2".to_owned());
                }
                let chunk = match chunk {
                    0 => String::new(),
                    bytes => format!("[chunk={}K]", bytes / 1024),
                };
                (format!("md-{level}"), chunk)
            }
        };
        known(&name)?;
        all.push(format!("{name}{options}"));
    }
    let top = match &found.profile {
        Some(profile) => format!("{}-{profile}", found.file_system),
        None => found.file_system.clone(),
    };
    known(&top)?;
    all.push(top);
    Ok(all.join("/"))
}

fn known(layer: &str) -> Result<(), String> {
    let there = find_layer(layer).map(|_| ());
    there.ok_or_else(|| format!("the lab has no layer '{layer}'"))
}

/// The model of a drive, or else the nearest of its class, and whether it is its own.
fn model(device: &BlockDevice) -> Result<(DriveFile, bool), String> {
    let name = device.name();
    let elsewhere = host_of(device)
        .map(|host| {
            format!("{name} is a virtual disk ({host}), of which its host knows the drives")
        })
        .or_else(|| volume_of(device).map(|what| format!("{name} is {what}")));
    if let Some(why) = elsewhere {
        return Err(format!("{why}; --drives MODEL:COUNT says what it lies on"));
    }
    let names: Vec<String> = identity(device).model.into_iter().collect();
    let siblings = Siblings::of(&names);
    if let Some(file) = siblings.by_name() {
        return Ok((file.clone(), true));
    }
    let rotates = device.attribute("queue/rotational").as_deref() == Some("1");
    let transport = if name.starts_with("nvme") { Transport::Nvme } else { Transport::Sata };
    let like = siblings.of_class(rotates, transport, device.size_bytes());
    let file = like.ok_or_else(|| format!("no model is like {name}"))?;
    Ok((file.clone(), false))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use disklab_measure::fabricated::Fabricated;
    use disklab_measure::foundation;

    use super::*;

    fn machine(model: &str) -> (tempfile::TempDir, Fabricated) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        for (n, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
            let n = n as u32;
            tree.drive(name, (8, 16 * n), name);
            tree.partition(name, &format!("{name}1"), (8, 16 * n + 1));
            tree.set(name, "device/model", model).set(name, "queue/rotational", "1");
        }
        tree.stacked("md0", (9, 0), &["sda1", "sdb1", "sdc1"]).set("md0", "md/level", "raid5");
        tree.set("md0", "md/raid_disks", "3").set("md0", "md/chunk_size", "65536");
        tree.mount((9, 0), "/dev/md0", "/srv", "xfs").mount((8, 1), "/dev/sda1", "/one", "ext4");
        (directory, tree)
    }

    fn like(tree: &Fabricated, at: &str, named: Option<&str>) -> Result<LikeStack, String> {
        let found = foundation(&tree.root(), Path::new(at)).expect("mounted");
        like_stack(&found, named.map(|text| text.parse().expect("drives")).as_ref())
    }

    #[test]
    fn an_array_of_a_known_model_is_a_stack_of_the_lab() {
        let (_directory, tree) = machine("WDC WD40EFRX-68N32N0");
        let found = like(&tree, "/srv", None).expect("known");
        assert_eq!(found.layers, "partition/md-raid5[chunk=64K]/xfs");
        assert_eq!(found.drives.words(), "3 × wd40efrx-68n32n0 (1 TB)");
        assert_eq!(found.by_class, [""; 0]);
    }

    #[test]
    fn an_unknown_drive_is_stood_for_by_one_of_its_class() {
        let (_directory, tree) = machine("NOBODYS DRIVE");
        let found = like(&tree, "/one", None).expect("a class");
        assert_eq!(found.layers, "partition/ext4");
        assert_eq!(found.by_class, ["NOBODYS DRIVE"]);
        let file = disklab_drive::shipped(&found.drives.0[0].model).expect("shipped");
        assert!(file.rotates());
        tree.set("sda", "queue/rotational", "0");
        let found = like(&tree, "/one", None).expect("a class");
        let file = disklab_drive::shipped(&found.drives.0[0].model).expect("shipped");
        assert_eq!((file.rotates(), file.transport()), (false, Transport::Sata));
    }

    #[test]
    fn what_the_lab_cannot_be_like_says_why() {
        let (_directory, tree) = machine("QEMU HARDDISK");
        let why = like(&tree, "/one", None).expect_err("virtual");
        assert!(why.contains("virtual disk (QEMU)") && why.contains("--drives"), "{why}");
        let named = like(&tree, "/one", Some("wd-red-pro-22tb")).expect("named");
        assert_eq!(named.drives.words(), "1 × wd-red-pro-22tb");
        let why = like(&tree, "/srv", Some("wd-red-pro-22tb:2")).expect_err("three");
        assert!(why.contains("names 2") && why.contains("3 drives"), "{why}");
        tree.set("md0", "md/level", "raid10").set("md0", "md/layout", "513");
        assert!(like(&tree, "/srv", None).expect_err("far").contains("near2"));
        tree.mount((8, 17), "/dev/sdb1", "/ntfs", "ntfs3");
        assert!(like(&tree, "/ntfs", None).expect_err("none").contains("no layer 'ntfs3'"));
    }
}
