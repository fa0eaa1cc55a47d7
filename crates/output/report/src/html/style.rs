//! The page's style sheet: colours from the palette, the rest from `style.css`.

use super::answer::CHOICES;
use crate::chart::{DARK, LIGHT, SERIES};

const REST: &str = include_str!("style.css");

/// The whole sheet. Dark colours are used where the system asks for them or the
/// reader chooses them; print is always light.
pub(crate) fn sheet() -> String {
    let (light, dark) = (LIGHT.variables(), DARK.variables());
    let series: String = (0..SERIES).map(|n| format!(".s{n}{{--c:var(--s{n})}}")).collect();
    // Of each class of drives that may fail only the chosen one shows.
    let chosen: String = (0..CHOICES)
        .map(|n| {
            format!(".first:has(#may-{n}:checked) .answers.chosen:not(.may-{n}){{display:none}}")
        })
        .collect();
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\
         @media screen{{\
         :root:has(#theme-light:checked){{color-scheme:light;{light}}}\
         :root:has(#theme-dark:checked){{color-scheme:dark;{dark}}}\
         }}{series}{REST}{chosen}"
    )
}
