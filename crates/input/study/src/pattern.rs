//! Patterns over ids. Ids contain brackets, so the shell's globs won't do.

/// Whether `text` matches `pattern`, in which `*` stands for any characters and
/// `?` for one.
pub fn matches(pattern: &str, text: &str) -> bool {
    // Most are ids, and all figures are asked about each.
    if !pattern.contains(['*', '?']) {
        return pattern == text;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where the last '*' stands, and how much text it has swallowed so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, swallowed)) = star {
            star = Some((at, swallowed + 1));
            p = at + 1;
            t = swallowed + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Whether a pattern is of this cell: of STACK:WORKLOAD, or, without a ':', of either.
pub fn selects(pattern: &str, stack: &str, workload: &str) -> bool {
    matches(pattern, &format!("{stack}:{workload}"))
        || !pattern.contains(':') && (matches(pattern, stack) || matches(pattern, workload))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("raid5/*", "raid5/btrfs[csum]", true),
            ("*[csum]", "raid5/btrfs[csum]", true),
            ("raid?/ext4", "raid6/ext4", true),
            ("raid?/ext4", "raid10/ext4", false),
            ("*a*b*c", "xxaxxbxxbxxc", true),
            ("", "", true),
            ("*", "", true),
            ("ext4", "ext", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
