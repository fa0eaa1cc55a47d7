//! The page of claims under drives whose uncertain values were moved.

use maud::{Markup, html};

use crate::chart::moved::{self as picture, MovedClaim};
use crate::html::document;

/// The page: a title, sentences below it, and a picture of the claims that change and one of
/// those that do not. `note` stands between the two, as a command to copy.
pub fn moved_page(
    title: &str,
    sentences: &[String],
    claims: &[MovedClaim],
    note: Option<(&str, &str)>,
) -> String {
    let (change, stay): (Vec<&MovedClaim>, Vec<&MovedClaim>) =
        claims.iter().partition(|claim| claim.changes);
    let main = html! {
        header { h1 { (title) } }
        section id="summary" {
            h2 { "In short" }
            ul { @for sentence in sentences { li { (sentence) } } }
        }
        (section("changes", "Claims that change", &change))
        @if let Some((words, command)) = note.filter(|_| !change.is_empty()) {
            p { (words) }
            pre { code { (command) } }
        }
        (section("stays", "Claims that do not", &stay))
    };
    document(title, env!("CARGO_PKG_VERSION"), &main, &html! {})
}

fn section(id: &str, heading: &str, claims: &[&MovedClaim]) -> Markup {
    html! {
        section id=(id) {
            h2 { (heading) }
            (picture::chart(claims))
        }
    }
}
