//! Stacks as people call them.

use std::collections::BTreeSet;

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

/// A sentence in which stacks are called so. An id that could be a word of the sentence, such
/// as `one`, stays as it is.
pub(crate) fn with_labels(sentence: &str, ids: &BTreeSet<&str>) -> String {
    let words = sentence.split(' ').map(|word| {
        let id = word.trim_end_matches([',', '.', ';', ':']);
        if !id.contains(['/', '-']) || !ids.contains(id) {
            return word.to_owned();
        }
        label(id) + &word[id.len()..]
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, label, with_labels};

    #[test]
    fn a_sentence_names_stacks_as_people_do() {
        let ids = BTreeSet::from(["single/ext4", "btrfs-raid1", "one", "raid5/xfs"]);
        for (sentence, expected) in [
            (
                "If one did not, any of single/ext4, raid5/xfs and btrfs-raid1 would do.",
                "If one did not, any of One drive · ext4, RAID 5 · XFS and Btrfs RAID 1 would do.",
            ),
            ("btrfs-raid10 leads  it.", "btrfs-raid10 leads  it."),
            ("", ""),
        ] {
            assert_eq!(with_labels(sentence, &ids), expected);
        }
    }

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
