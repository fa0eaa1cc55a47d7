//! Text that stays text in Markdown.

/// The text with everything escaped that CommonMark or its tables would take
/// for markup, on one line.
pub(crate) fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    let words = raw.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    for (index, word) in words.enumerate() {
        if index > 0 {
            escaped.push(' ');
        }
        for (at, c) in word.char_indices() {
            // These make lists, headings and numbers at the beginning of a line
            // only; elsewhere a backslash would just look odd.
            let begins = index == 0
                && ((at == 0 && "#+-=".contains(c))
                    || (".)".contains(c) && word[at..].len() == 1 && is_number(&word[..at])));
            if begins || "\\`*_<>[]|~&$".contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
    }
    escaped
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The text as a code span, with as many backticks around it as it takes. A
/// table cell would end at '|' even so: it has no place in one.
pub(crate) fn code(raw: &str) -> String {
    let line = raw.split(['\n', '\r']).collect::<Vec<_>>().join(" ");
    let (mut longest, mut current) = (0, 0);
    for c in line.chars() {
        current = if c == '`' { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    let fence = "`".repeat(longest + 1);
    // A backtick at an end would join the fence.
    let pad =
        if line.starts_with('`') || line.ends_with('`') || line.is_empty() { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_defused() {
        assert_eq!(text("raid5/btrfs[csum]"), "raid5/btrfs\\[csum\\]");
        assert_eq!(text("<script>|x`\ny"), "\\<script\\>\\|x\\` y");
        assert_eq!(text("# dd -f 1-2"), "\\# dd -f 1-2");
        assert_eq!(text("1. of 2. x"), "1\\. of 2. x");
        assert_eq!(text("0.1.0"), "0.1.0");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
    }

    proptest! {
        #[test]
        fn no_line_break_and_no_bare_mark_remains(raw in "[a-z|`<>\\\\*\n\r\u{2028}_\\[\\] ]*") {
            let escaped = text(&raw);
            prop_assert_eq!(escaped.lines().count() <= 1, true);
            let mut characters = escaped.chars();
            while let Some(c) = characters.next() {
                if c == '\\' {
                    characters.next();
                } else {
                    prop_assert!(!"|`<>*_[]".contains(c), "{escaped}");
                }
            }
        }
    }
}
