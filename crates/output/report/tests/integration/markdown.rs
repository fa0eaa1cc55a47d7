//! Markdown: a whole post, and its tables.

use disklab_report::{ReportFormat, render};

use crate::support;

#[test]
fn a_post() {
    insta::assert_snapshot!(render(&support::made(2, 2, "loop", 3), ReportFormat::Markdown));
}

#[test]
fn a_post_of_a_run_without_repeats() {
    insta::assert_snapshot!(render(&support::made(2, 1, "lab", 1), ReportFormat::Markdown));
}

/// Cells of a table's line; '|' in them is escaped.
pub fn cells(line: &str) -> usize {
    let mut cells = 0;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '|' => cells += 1,
            _ => {}
        }
    }
    cells
}

/// Whether all lines of each table have as many cells.
pub fn check_tables(md: &str) {
    let mut width = None;
    for line in md.lines() {
        if line.starts_with('|') {
            let cells = cells(line);
            assert_eq!(*width.get_or_insert(cells), cells, "{line}");
        } else {
            width = None;
        }
    }
}

#[test]
fn tables_are_whole_and_not_too_wide() {
    let md = render(&support::report("loop", 3), ReportFormat::Markdown);
    check_tables(&md);
    let widest = md.lines().filter(|l| l.starts_with('|')).map(|l| l.chars().count()).max();
    assert!(widest.is_some_and(|w| w <= 170), "{widest:?}");
    assert!(md.len() < 40_000, "a forum takes no post of {} bytes", md.len());
}

#[test]
fn a_common_reason_for_no_recommendation_is_given_once() {
    let mut report = support::made(4, 1, "lab", 1);
    for (number, stack) in report.info.stacks.iter_mut().enumerate() {
        stack.tolerates = u32::from(number % 2 == 0);
    }
    let md = render(&report, ReportFormat::Markdown);
    let at = md.find("## Which one for what?").expect("a section");
    let section = md[at..].split("\n\n").nth(1).expect("what it says");
    assert_eq!(section.matches("measured once").count(), 1, "{section}");
    assert!(section.starts_with("- No recommendation for "), "{section}");
}
