//! Lists in words.

pub(crate) use disklab_units::count;

/// `a`, `a and b`, `a, b and c`; beyond `most` the rest is counted.
pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    // Naming one more is no longer than '1 more'.
    if items.len() > most + 1 {
        let (shown, rest) = items.split_at(most);
        return format!("{} and {} more", shown.join(", "), rest.len());
    }
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut() {
        assert_eq!(list([], 3), "");
        assert_eq!(list(["a"], 3), "a");
        assert_eq!(list(["a", "b", "c", "d"], 3), "a, b, c and d");
        assert_eq!(list(["a", "b", "c", "d", "e"], 3), "a, b, c and 2 more");
    }
}
