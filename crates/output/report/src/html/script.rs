//! The page's script, and the policy that lets this one run and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// What it says.
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// The page's policy (W3C, Content Security Policy Level 3): nothing is loaded, whatever a
/// name in the run contains. Pictures are made of charts, to be saved.
pub(crate) fn policy() -> String {
    let digest = STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    )
}

#[cfg(test)]
mod tests {
    use super::SCRIPT;

    #[test]
    fn the_script_ends_where_the_page_says() {
        assert!(!SCRIPT.contains("</"));
    }
}
