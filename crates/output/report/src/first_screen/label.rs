//! Stacks as people call them.

/// Words of ids, and what people write.
const WORDS: [(&str, &str); 14] = [
    ("single", "One drive"),
    ("one", "One drive"),
    ("linear", "JBOD"),
    ("raid0", "RAID 0"),
    ("raid1", "RAID 1"),
    ("raid4", "RAID 4"),
    ("raid5", "RAID 5"),
    ("raid6", "RAID 6"),
    ("raid10", "RAID 10"),
    ("shr", "SHR"),
    ("btrfs", "Btrfs"),
    ("xfs", "XFS"),
    ("zfs", "ZFS"),
    ("nilfs2", "NILFS2"),
];

/// `raid10/ext4` as 'RAID 10 · ext4', `btrfs-raid1` as 'Btrfs RAID 1'; options, and words
/// that nobody knows, stay as they are.
pub(crate) fn label(id: &str) -> String {
    id.split('/').map(part).collect::<Vec<_>>().join(" · ")
}

fn part(part: &str) -> String {
    let (name, options) = part.split_at(part.find('[').unwrap_or(part.len()));
    let known = |word: &str| WORDS.iter().find(|(id, _)| *id == word).map(|(_, name)| *name);
    let words: Vec<&str> = name.split('-').collect();
    if words.iter().all(|word| known(word).is_none()) {
        return part.to_owned();
    }
    let words: Vec<&str> = words.into_iter().map(|word| known(word).unwrap_or(word)).collect();
    format!("{}{options}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn stacks_are_named_as_people_do() {
        for (id, expected) in [
            ("raid10/ext4", "RAID 10 · ext4"),
            ("single/xfs", "One drive · XFS"),
            ("btrfs-raid1", "Btrfs RAID 1"),
            ("zfs-raidz1", "ZFS raidz1"),
            ("raid5/btrfs[compress=zstd]", "RAID 5 · Btrfs[compress=zstd]"),
            ("my-own-stack", "my-own-stack"),
            ("", ""),
        ] {
            assert_eq!(label(id), expected);
        }
    }
}
