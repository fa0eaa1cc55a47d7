//! Words of the sentences about a directory.

/// With a capital letter.
pub(super) fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// 'a third', of what is named before.
pub(super) fn part(share: f64) -> String {
    const PARTS: [(f64, &str); 6] = [
        (0.6, "three fifths"),
        (0.5, "half"),
        (0.333, "a third"),
        (0.25, "a quarter"),
        (0.2, "a fifth"),
        (0.1, "a tenth"),
    ];
    if share < 0.08 {
        return format!("{} %", disklab_units::significant(share * 100.0, 1));
    }
    let far = |of: f64| (share / of).ln().abs();
    let nearest = PARTS.iter().min_by(|a, b| far(a.0).total_cmp(&far(b.0)));
    nearest.map_or_else(String::new, |(_, word)| (*word).to_owned())
}
