//! Stacks as a user types them: 'raid5 btrfs', 'RAID 10 · ext4', `zfs-raidz1`.

use disklab_source::did_you_mean;

/// A name is not that of one stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StackNameError {
    /// It fits several.
    #[error("'{name}' may be {}; name one of them", candidates.join(", "))]
    Ambiguous {
        /// As it was typed.
        name: String,
        /// Ids of the stacks that it fits.
        candidates: Vec<String>,
    },
    /// It fits none.
    #[error("the run has no stack '{name}'{hint}; it has {}", known.join(", "))]
    Unknown {
        /// As it was typed.
        name: String,
        /// What may have been meant, or nothing.
        hint: String,
        /// Ids of all stacks.
        known: Vec<String>,
    },
}

/// The stack that a name means, of these ids and labels. Whole names go before names in another
/// order, and these before parts of names.
///
/// # Errors
/// [`StackNameError`] if it fits several stacks or none.
pub(super) fn stack_named(
    name: &str,
    stacks: &[(String, String)],
) -> Result<usize, StackNameError> {
    if let Some(at) = stacks.iter().position(|(id, label)| id == name || label == name) {
        return Ok(at);
    }
    let wanted = words(name);
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    // The words in their order; in any; some of them.
    let fits = |known: &[String], loosely: usize| match loosely {
        0 => known == wanted,
        1 => sorted(known) == sorted(&wanted),
        _ => !wanted.is_empty() && wanted.iter().all(|word| known.contains(word)),
    };
    for loosely in 0..3 {
        let is_meant = |at: &usize| {
            let (id, label) = &stacks[*at];
            fits(&words(id), loosely) || fits(&words(label), loosely)
        };
        let found: Vec<usize> = (0..stacks.len()).filter(is_meant).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(*one),
            several => {
                let candidates = several.iter().map(|at| stacks[*at].0.clone()).collect();
                return Err(StackNameError::Ambiguous { name: name.to_owned(), candidates });
            }
        }
    }
    let known: Vec<String> = stacks.iter().map(|(id, _)| id.clone()).collect();
    let hint = did_you_mean(&name.to_lowercase(), known.iter().map(String::as_str));
    Err(StackNameError::Unknown { name: name.to_owned(), hint, known })
}

/// Words in lower case; 'RAID 10' and 'RAID-Z1' are one word each.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let level = word.strip_prefix('z').unwrap_or(word);
        let is_level = level.chars().all(|c| c.is_ascii_digit());
        match words.last_mut() {
            Some(last) if last == "raid" && is_level => last.push_str(word),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::first_screen::label;

    const IDS: [&str; 8] = [
        "single/ext4",
        "raid1/btrfs",
        "raid5/btrfs",
        "raid10/ext4",
        "raid10/xfs",
        "btrfs-raid1",
        "btrfs-raid10",
        "zfs-raidz1",
    ];

    fn named(name: &str) -> Result<&'static str, StackNameError> {
        let stacks: Vec<_> = IDS.iter().map(|id| ((*id).to_owned(), label(id))).collect();
        stack_named(name, &stacks).map(|at| IDS[at])
    }

    #[test]
    fn stacks_are_named_as_users_type_them() {
        for (name, expected) in [
            ("raid5 btrfs", "raid5/btrfs"),
            ("RAID 5", "raid5/btrfs"),
            ("RAID 10 · ext4", "raid10/ext4"),
            ("xfs on raid 10", ""),
            ("xfs raid 10", "raid10/xfs"),
            ("btrfs raid1", "btrfs-raid1"),
            ("raid1 btrfs", "raid1/btrfs"),
            ("one drive", "single/ext4"),
            ("single", "single/ext4"),
            ("ZFS RAID-Z1", "zfs-raidz1"),
            ("raidz1", "zfs-raidz1"),
        ] {
            assert_eq!(named(name).unwrap_or(""), expected, "{name}");
        }
    }

    #[test]
    fn other_names_are_answered_with_what_there_is() {
        let error = named("RAID 10").expect_err("three").to_string();
        let expected = "'RAID 10' may be raid10/ext4, raid10/xfs, btrfs-raid10; name one of them";
        assert_eq!(error, expected);
        let error = named("raid5/btrsf").expect_err("none").to_string();
        assert!(error.contains("did you mean 'raid5/btrfs'"), "{error}");
        assert!(matches!(named(""), Err(StackNameError::Unknown { .. })));
    }

    proptest! {
        #[test]
        fn any_name_is_answered(name in "\\PC{0,30}") {
            let _ = named(&name);
        }

        #[test]
        fn ids_and_labels_name_their_stack(at in 0..IDS.len()) {
            prop_assert_eq!(named(IDS[at]), Ok(IDS[at]));
            prop_assert_eq!(named(&label(IDS[at])), Ok(IDS[at]));
        }
    }
}
