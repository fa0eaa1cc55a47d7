//! What the kernel counts when it compares the members of an array.

/// As a sentence has it. `raid1.c` (`process_checks`) counts what a member cannot read, by 64 KiB, and then writes anew,
/// as if it were different; the other levels do not.
pub(crate) fn differ_words(sectors: &str, level: &str) -> String {
    match (sectors.trim(), level.trim()) {
        (sectors, "raid1") if sectors != "0" => {
            format!("{sectors} sectors differ, or a read of them failed")
        }
        (sectors, _) => format!("{sectors} sectors differ"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mirror_cannot_read_is_not_said_to_differ() {
        for (sectors, level, words) in [
            ("0\n", "raid1\n", "0 sectors differ"),
            ("128\n", "raid1\n", "128 sectors differ, or a read of them failed"),
            ("8", "raid5_ls", "8 sectors differ"),
        ] {
            assert_eq!(differ_words(sectors, level), words);
        }
    }
}
