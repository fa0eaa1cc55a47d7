//! Command lines as one would type them.

use std::borrow::Cow;

/// Joins words, quoting those that a shell would take apart. `if=/dev/zero`
/// stays as it is, where stricter quoting would hide the familiar look.
pub fn command_line<S: AsRef<str>>(words: &[S]) -> String {
    let quoted: Vec<Cow<'_, str>> = words.iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(" ")
}

fn quote(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        Cow::Borrowed(word)
    } else {
        shell_words::quote(word)
    }
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        assert_eq!(command_line(&["dd", "if=/dev/zero", "of=a b"]), "dd if=/dev/zero 'of=a b'");
        assert_eq!(command_line(&["echo", "", "$x", "a'b"]), r#"echo '' '$x' 'a'\''b'"#);
    }
}
