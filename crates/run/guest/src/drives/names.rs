//! How udev writes what a drive says of itself (systemd 252, `src/shared/udev-util.c`).

/// Characters besides letters and digits that a name below `/dev` may hold
/// (`allow_listed_char_for_devnode`).
const ALLOWED: &str = "#+-.:=@_";

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || ALLOWED.contains(c)
}

/// Without spaces at the ends, and one underscore for each run of them within
/// (`udev_replace_whitespace`).
pub fn replace_whitespace(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join("_")
}

/// An underscore for whatever a name may not hold, slashes and quotes included
/// (`udev_replace_chars`). What looks like an encoded byte (`\x2f`) stays, as with udev.
pub fn replace_chars(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\\' && rest.peek() == Some(&'x') {
            name.push_str("\\x");
            rest.next();
        } else {
            name.push(if is_allowed(c) || !c.is_ascii() { c } else { '_' });
        }
    }
    name
}

/// `\x20` for a space, and so for each byte that a name may not hold (`encode_devnode_name`).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if is_allowed(c) || !c.is_ascii() {
            encoded.push(c);
        } else {
            encoded.push_str(&format!("\\x{:02x}", u32::from(c)));
        }
    }
    encoded
}

/// Both of the former, as `ata_id` and `scsi_id` name a model.
pub fn word(text: &str) -> String {
    replace_chars(&replace_whitespace(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_udev() {
        assert_eq!(word("  WDC  WD40EFRX-68N32N0 "), "WDC_WD40EFRX-68N32N0");
        assert_eq!(word("a/b\"c'd$e%f?g,h;i"), "a_b_c_d_e_f_g_h_i");
        assert_eq!(word("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(word("x\\x2fy\\z\n"), "x\\x2fy_z");
        assert_eq!(encode("HGST H/D\\ "), "HGST\\x20H\\x2fD\\x5c\\x20");
        assert_eq!(encode("a\nE:ID=1"), "a\\x0aE:ID=1");
    }

    proptest! {
        #[test]
        fn names_stay_in_their_directory_and_line(text in "[\\PC\n\t/\\\\]{0,60}") {
            for name in [word(&text), encode(&text)] {
                prop_assert!(!name.contains(['/', '\n', ' ', '\0']), "{name:?}");
            }
        }
    }
}
