//! Cells of CSV files. A spreadsheet computes a cell that begins like a formula, and a formula
//! can read other files and start programs. Titles, names of stacks and models of drives may come
//! from anybody.

use std::borrow::Cow;

/// What formulas begin with, in the width of East Asian characters too
/// (OWASP, 'CSV Injection').
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// What some programs skip before they look for a formula.
const SKIPPED: [char; 3] = ['\t', '\r', '\n'];

/// The text for a cell of a CSV file. What a spreadsheet would compute has an apostrophe in
/// front, which makes it a text there. A number is one, negative or not.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of which [`csv_cell`] made a cell.
pub fn text_of_csv_cell(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(text.trim_start_matches('\'')) => text,
        _ => cell,
    }
}

fn is_formula(text: &str) -> bool {
    (text.starts_with(SKIPPED) || text.trim_start().starts_with(FORMULA)) && !is_number(text)
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c)) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_become_texts_and_numbers_stay_numbers() {
        for text in [
            "=HYPERLINK(\"http://x\",\"y\")",
            "+1+1",
            "-2+3",
            "-",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "\n1",
            " =1",
            "\u{a0}@x",
            "＝1+1",
            "-1 ",
            "'=1",
        ] {
            assert_eq!(csv_cell(text), format!("'{text}"), "{text:?}");
        }
        for text in ["", "-1", "+1.5", "-2e-9", "a=1", "raid5/ext4", "'", "it's", "1-2", " a"] {
            assert_eq!(csv_cell(text), text);
        }
    }

    proptest! {
        #[test]
        fn cells_begin_no_formula_and_come_back(text in "['=+@\t\r\n -]{0,3}(\\PC){0,8}|-?[0-9.e]{1,6}") {
            let cell = csv_cell(&text);
            prop_assert!(!is_formula(&cell), "{cell:?}");
            prop_assert_eq!(text_of_csv_cell(&cell), text.as_str());
        }
    }
}
