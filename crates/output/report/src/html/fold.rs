//! What is folded until it is asked for.

use maud::{Markup, html};

/// A long table is folded; one up to this many rows stands open.
pub(super) const OPEN_ROWS: usize = 12;

/// A section that shows its heading until it is asked for: what a person needs first is above.
pub(crate) fn fold(id: &str, title: &str, open: bool, body: &Markup) -> Markup {
    html! {
        section.folded id=(id) {
            details.fold open[open] {
                summary { h2 { (title) } }
                (body)
            }
        }
    }
}
