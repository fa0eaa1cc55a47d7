//! The table of docs/generated/audits.md.

use std::fmt::Write as _;

use crate::Severity;
use crate::audits::AUDITS;

/// All audits as a Markdown table, with their number before it: name, what each detects,
/// how severe its findings can be, its evidence, what to do, and its reproducer.
pub fn audits_markdown() -> String {
    let mut text = format!("There are {} audits.\n\n", AUDITS.len());
    text += "| audit | detects | at most | evidence | what to do | reproducer |\n";
    text += "|---|---|---|---|---|---|\n";
    for audit in AUDITS {
        let severity = match audit.severity {
            Severity::Severe => "severe",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {severity} | {} | {} | {} |",
            audit.name,
            cell(audit.detects),
            cell(audit.evidence),
            cell(audit.remedy),
            cell(&audit.reproducer.words())
        );
    }
    text
}

/// A text within a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_audit_has_its_line() {
        let text = audits_markdown();
        for audit in AUDITS {
            let line = text.lines().find(|l| l.starts_with(&format!("| `{}` |", audit.name)));
            let cells = line.expect(audit.name).matches(" | ").count();
            assert_eq!(cells, 5, "{}", audit.name);
        }
    }
}
