//! Markdown: a whole post, and its tables.

use disklab_report::{ReportFormat, TextStyle, render};

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
    assert!(md.chars().count() <= 6000, "nobody reads a post of {} characters", md.len());
}

#[test]
fn a_post_is_short_and_has_the_answers_and_the_command() {
    for (layouts, file_systems) in [(1, 1), (5, 1), (6, 4), (9, 4)] {
        let report = support::made(layouts, file_systems, "lab", 3);
        let md = render(&report, ReportFormat::Markdown);
        check_tables(&md);
        assert!(md.chars().count() <= 6000, "{layouts}: {}", md.chars().count());
        assert!(md.contains("\n`disklab run"), "{md}");
        for recommendation in &report.analysis.recommendations {
            let title = recommendation.purpose.short;
            let decided = !recommendation.decisions.is_empty();
            assert_eq!(md.contains(&format!("| {title} ")), decided, "{title} {md}");
        }
    }
}

/// The page, the post and the JSON name the same stack with the same figure.
#[test]
fn all_forms_name_the_same_stack_with_the_same_figure() {
    let report = support::made(6, 4, "lab", 3);
    let page = render(&report, ReportFormat::Html);
    let md = render(&report, ReportFormat::Markdown);
    let json: serde_json::Value =
        serde_json::from_str(&render(&report, ReportFormat::Json)).expect("JSON");
    let screen = disklab_report::first_screen(&report, "report.html", TextStyle::default());
    let cards: Vec<&str> = page.split("class=\"answer\"").skip(1).collect();
    let mut seen = 0;
    for (recommendation, of_json) in report
        .analysis
        .recommendations
        .iter()
        .zip(json["recommendations"].as_array().expect("an array"))
    {
        for (decision, of_json) in
            recommendation.decisions.iter().zip(of_json["classes"].as_array().expect("an array"))
        {
            assert_eq!(of_json["take"], decision.take.as_str());
            assert_eq!(
                of_json["how_sure"],
                decision.how_sure(recommendation, &str::to_owned).as_str()
            );
            let (short, value) = (recommendation.purpose.short, decision.values());
            let value = value.unwrap_or_else(|| "by all its figures".to_owned());
            let first = decision.figures.first().map_or(&value, |figure| &figure.value);
            let is_card = |card: &&&str| {
                card.contains(short) && card.to_lowercase().contains(&first.to_lowercase())
            };
            assert!(cards.iter().any(|card| is_card(&card)), "{short} {value}");
            let value = value.trim_start_matches("by ");
            assert!(md.contains(value), "{short} {value} {md}");
            seen += 1;
        }
    }
    assert!(seen > 0 && !screen.is_empty());
}
