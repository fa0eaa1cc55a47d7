//! Text that comes from files and goes to people.
//!
//! Titles, names, models of drives, messages of other programs: their authors may have
//! put in what a terminal obeys (escape sequences), what turns a line around (bidirectional
//! controls), or what nobody sees. None of it reaches a terminal or a report as it is:
//! whatever prints or renders passes its whole text through here, last.

use std::borrow::Cow;

/// Whether a character acts instead of showing, or shows nothing: controls, bidirectional
/// ones, separators of lines and paragraphs, and format characters of no script. Line breaks
/// and tabs are none, nor are the joiners that scripts need.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Unicode Standard Annex 9: marks, embeddings, overrides, isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        '\u{200b}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

/// The text with hidden characters shown as `\u{1b}`. A carriage return before a line break
/// belongs to it, and stays.
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, |out, c| out.extend(c.escape_unicode()))
}

/// A JSON document with hidden characters escaped as JSON does it: it means the same.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    shown(text, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn shown(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let is_hidden_at = |at: usize, c: char| {
        is_hidden(c) && !(c == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n'))
    };
    let Some((first, _)) = text.char_indices().find(|(at, c)| is_hidden_at(*at, *c)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices() {
        if is_hidden_at(first + at, c) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected) in [
            ("\u{1b}]0;owned\u{7}", "\\u{1b}]0;owned\\u{7}"),
            ("a\u{9b}2Jb", "a\\u{9b}2Jb"),
            ("abc\rxyz\r\n", "abc\\u{d}xyz\r\n"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("naïve\t読む\n", "naïve\t読む\n"),
            ("a\u{e0041}b\u{200b}", "a\\u{e0041}b\\u{200b}"),
            ("\u{7f}\u{0}", "\\u{7f}\\u{0}"),
        ] {
            assert_eq!(printable(text), expected, "{text:?}");
        }
        assert_eq!(printable_json("\"\u{e0041}\u{7f}\""), "\"\\udb40\\udc41\\u007f\"");
    }

    proptest! {
        #[test]
        fn nothing_hidden_remains(text in any::<String>()) {
            for shown in [printable(&text), printable_json(&text)] {
                let rest = shown.replace("\r\n", "\n");
                prop_assert!(!rest.chars().any(is_hidden), "{rest:?}");
            }
            let once = printable(&text).into_owned();
            prop_assert_eq!(printable(&once), once.as_str());
        }

        #[test]
        fn json_means_the_same(text in any::<String>()) {
            let json = serde_json::to_string(&text).expect("a string");
            let again: String = serde_json::from_str(&printable_json(&json)).expect("JSON");
            prop_assert_eq!(again, text);
        }
    }
}
