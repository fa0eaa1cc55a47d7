//! What a directory lies on, in words.

use disklab_measure::{Foundation, FoundationLevel};
use disklab_units::{count, list};

/// Models in a list.
const MODELS: usize = 4;

/// 'XFS on LUKS on RAID 5 of 4 × WDC WD40EFRX'.
pub(super) fn lies_on(found: &Foundation) -> String {
    let mut words = file_system(found);
    if let Some(part) = &found.bound {
        words.push_str(&format!(" (its directory {part})"));
    }
    if let Some(share) = &found.share {
        return format!("a share of {} ({})", share.server, share.protocol);
    }
    for level in &found.levels {
        match level {
            FoundationLevel::Partition => {}
            FoundationLevel::Encryption => words.push_str(" on LUKS or dm-crypt"),
            FoundationLevel::Volume => words.push_str(" on LVM"),
            FoundationLevel::Array { level, members, missing, .. } => {
                words.push_str(&format!(" on {}", raid(level)));
                if *missing > 0 {
                    words.push_str(&format!(" with {missing} of {members} members missing"));
                }
            }
        }
    }
    let models = found.models().into_iter().map(|(name, number)| match number {
        1 => name,
        number => format!("{number} × {name}"),
    });
    let models: Vec<String> = models.collect();
    if !models.is_empty() {
        let models = list(models.iter().map(String::as_str), MODELS);
        let joint = if found.drives.len() > 1 { "over" } else { "on" };
        words.push_str(&format!(" {joint} {models}"));
    }
    match &found.hidden {
        Some(why) => format!("{words}: {why}"),
        None => words,
    }
}

fn file_system(found: &Foundation) -> String {
    let name = match found.file_system.as_str() {
        "xfs" => "XFS",
        "btrfs" => "Btrfs",
        other => other,
    };
    match &found.profile {
        Some(profile) => {
            format!("{name} ({profile} of {})", count(found.drives.len(), "device"))
        }
        None => name.to_owned(),
    }
}

/// `raid5` as people write it.
fn raid(level: &str) -> String {
    level.strip_prefix("raid").map_or_else(|| format!("md ({level})"), |n| format!("RAID {n}"))
}
