//! What fio prints: its JSON, its text for people, and its terse lines.

mod amounts;
mod documents;
mod figures;
mod flushes;
mod json;
mod json_figures;
mod report;
mod reports;
mod terse;
#[cfg(test)]
mod tests;
mod text;
mod text_lines;
#[cfg(test)]
mod text_tests;
mod work;

pub(super) use json::JSON;
pub(super) use terse::TERSE;
pub(super) use text::TEXT;
