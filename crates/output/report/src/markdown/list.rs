//! Lists.

use std::fmt::Write as _;

use super::escape::text as escape;

pub(super) fn list(md: &mut String, sentences: &[String]) {
    for sentence in sentences {
        let _ = writeln!(md, "- {}", escape(sentence));
    }
    if !sentences.is_empty() {
        md.push('\n');
    }
}
