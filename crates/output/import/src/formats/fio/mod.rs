//! What fio prints: its JSON, its text for people, and its terse lines.

mod documents;
mod figures;
mod flushes;
mod json;
mod json_figures;
mod report;
#[cfg(test)]
mod tests;
mod work;

pub(super) use json::JSON;
