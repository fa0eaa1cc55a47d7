//! Words for errors.

use std::fmt::Display;

/// ' (did you mean 'x'?)' where one of `known` is close to `word`, else nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), k))
        .filter(|(distance, k)| *distance <= 1 + k.len() / 4)
        .min()
        .map_or_else(String::new, |(_, k)| format!(" (did you mean '{k}'?)"))
}

/// `'a', 'b' or 'c'`.
pub fn one_of<T: Display>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| format!("'{w}'")).collect();
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
