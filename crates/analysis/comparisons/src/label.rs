//! Names of figures without what distinguishes them.

/// `text` without `part`, and without the separator next to it:
/// `dd-4k-dsync` without `4k` is `dd-dsync`.
pub(crate) fn without(text: &str, part: &str) -> String {
    if part.is_empty() {
        return text.to_owned();
    }
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let bounded = |at: &usize| {
        !word(text[..*at].chars().next_back()) && !word(text[at + part.len()..].chars().next())
    };
    let Some(at) =
        text.match_indices(part).map(|(at, _)| at).find(bounded).or_else(|| text.rfind(part))
    else {
        return text.to_owned();
    };
    let separator = |c: char| "-_.=+ ".contains(c);
    let (head, tail) = (&text[..at], &text[at + part.len()..]);
    let (head, tail) = match (head.ends_with(separator), tail.starts_with(separator)) {
        (true, _) => (head.trim_end_matches(separator), tail),
        (false, true) => (head, tail.trim_start_matches(separator)),
        (false, false) => (head, tail),
    };
    format!("{head}{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_is_cut_out_with_its_separator() {
        for (text, part, expected) in [
            ("dd-4k-dsync", "4k", "dd-dsync"),
            ("dd-4k", "4k", "dd"),
            ("4k-dd", "4k", "dd"),
            ("raid1-1", "1", "raid1"),
            ("raid1-x1", "9", "raid1-x1"),
            ("a4k-b-4k", "4k", "a4k-b"),
            ("4kb-4k", "4k", "4kb"),
            ("ab", "", "ab"),
        ] {
            assert_eq!(without(text, part), expected, "{text} without {part}");
        }
    }

    proptest! {
        #[test]
        fn cutting_never_panics_and_never_grows(text in "\\PC{0,20}", part in "\\PC{0,4}") {
            prop_assert!(without(&text, &part).len() <= text.len());
        }
    }
}
