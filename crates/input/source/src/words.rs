//! Words for errors.

use std::borrow::Cow;
use std::fmt::Display;

/// ' (did you mean 'x'?)' where one of `known` is close to `word`, else nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .filter_map(|k| {
            let most = 1 + k.len() / 4;
            // The distance takes time and memory in proportion to the word, however long.
            let may_be_close = word.len().abs_diff(k.len()) <= 4 * most;
            let distance = may_be_close.then(|| strsim::damerau_levenshtein(word, k))?;
            (distance <= most).then_some((distance, k))
        })
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

/// A message of about this many characters at most: its beginning, which says what is wrong, and
/// its end, which says what to do. A value between them may be a whole file.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let front = text.char_indices().nth(most / 2).map_or(text.len(), |(at, _)| at);
    let behind = text.char_indices().nth_back(most / 2).map_or(0, |(at, _)| at);
    let left_out = behind.saturating_sub(front);
    Cow::Owned(format!("{} […{left_out} bytes…] {}", &text[..front], &text[behind..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_message_keeps_its_beginning_and_its_end() {
        let text = format!("unknown option '{}'; expected 'rw'", "ä".repeat(1 << 20));
        let shown = shortened(&text, 200);
        assert!(shown.starts_with("unknown option 'ää"), "{shown}");
        assert!(shown.contains("ä […2096814 bytes…] ä"), "{shown}");
        assert!(shown.ends_with("ää'; expected 'rw'"), "{shown}");
        assert!(shown.chars().count() < 240);
        for text in ["", "short", "exactly"] {
            assert_eq!(shortened(text, 7), text);
        }
        assert_eq!(shortened(&"é".repeat(7), 7), "é".repeat(7), "characters, not bytes");
    }

    #[test]
    fn a_word_without_end_is_close_to_none() {
        let word = "r".repeat(10 << 20);
        assert_eq!(did_you_mean(&word, ["rw", "readwrite"]), "");
        assert_eq!(did_you_mean("redwrite", ["rw", "readwrite"]), " (did you mean 'readwrite'?)");
        assert_eq!(did_you_mean("größe", ["grösse"]), " (did you mean 'grösse'?)");
    }
}
