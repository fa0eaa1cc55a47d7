//! The pages of docs/generated about published results are those that the committed rows give.
//! `UPDATE=1` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use disklab_published::{
    AcceptedBand, Catalogue, RowComparison, RowStatus, RowTally, comparisons_of_csv, rows_csv,
};
use disklab_report::published_pages;
use disklab_source::Source;

const UPDATE: &str = "UPDATE=1 cargo test -p disklab-report --test integration published_pages";
const ROWS: &str = "published/rows.csv";

/// A generated part begins after a line of this, and ends before a line of the other, or with
/// its page.
const BEGIN: &str = "<!-- generated from ";
const END: &str = "<!-- end of the generated part -->";

fn generated_page(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/generated").join(page)
}

fn read(page: &str) -> String {
    let path = generated_page(page);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn catalogue() -> Catalogue {
    Catalogue::shipped().unwrap_or_else(|e| panic!("{e}"))
}

fn committed() -> Vec<RowComparison> {
    let source = Source { name: ROWS.to_owned(), text: read(ROWS) };
    comparisons_of_csv(&catalogue(), source).unwrap_or_else(|e| panic!("{e}"))
}

/// The page with its generated part replaced.
fn spliced(page: &str, old: &str, generated: &str) -> String {
    let mut lines = old.lines();
    let mut new: Vec<&str> = Vec::new();
    for line in lines.by_ref() {
        new.push(line);
        if line.starts_with(BEGIN) {
            break;
        }
    }
    assert!(new.last().is_some_and(|line| line.starts_with(BEGIN)), "{page}: no '{BEGIN}' line");
    let rest: Vec<&str> = lines.skip_while(|line| *line != END).collect();
    let mut text = format!("{}\n\n{}", new.join("\n"), generated.trim_end());
    text.push('\n');
    if !rest.is_empty() {
        text.push_str(&format!("\n{}\n", rest.join("\n")));
    }
    text
}

fn check(page: &str, new: &str) {
    let old = read(page);
    if old == new {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(generated_page(page), new).expect("written");
        return;
    }
    let line = old.lines().zip(new.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or_else(|| old.lines().count().min(new.lines().count())) + 1;
    panic!("docs/generated/{page} differs from what its rows give, line {line}; {UPDATE}");
}

#[test]
fn published_pages_are_what_the_committed_rows_give() {
    let comparisons = committed();
    check(ROWS, &rows_csv(&comparisons));
    let pages = published_pages(&catalogue(), &comparisons);
    let mut generated = vec![("published.md".to_owned(), pages.summary)];
    generated
        .extend(pages.studies.into_iter().map(|(s, text)| (format!("published/{s}.md"), text)));
    generated.push(("published/findings.md".to_owned(), pages.findings));
    for (page, text) in generated {
        check(&page, &spliced(&page, &read(&page), &text));
    }
}

/// The README tells how many rows of those that count are reproduced.
#[test]
fn readme_has_the_counts_of_the_committed_rows() {
    let tally = committed().iter().fold(RowTally::default(), |all, c| all.plus(c.tally));
    let said = format!("{} of {}", tally.reproduced, tally.countable);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (before, after) = readme.split_once(" figures are reproduced").expect("its sentence");
    let (before, old) = before.rsplit_once(": ").expect("the numbers");
    if old != said && std::env::var_os("UPDATE").is_some() {
        let new = format!("{before}: {said} figures are reproduced{after}");
        fs::write(path, new).expect("written");
        return;
    }
    assert_eq!(old, said, "README.md: {UPDATE}");
}

#[test]
fn committed_rows_have_every_study() {
    let studies: Vec<String> = committed().into_iter().map(|c| c.study).collect();
    let catalogue = catalogue();
    for row in &catalogue.rows {
        assert!(studies.contains(&row.study), "{ROWS} lacks {}", row.study);
    }
}

/// As far as the digits of the table go.
#[test]
fn committed_statuses_follow_from_the_measured_values() {
    for judged in committed().iter().flat_map(|comparison| &comparison.rows) {
        let (Some(band), Some(measured)) = (AcceptedBand::of(&judged.row), judged.measured) else {
            let status = judged.status;
            assert!(matches!(status, RowStatus::NotRun | RowStatus::NothingPublished));
            continue;
        };
        let holds = band.holds(measured.centre);
        assert_eq!(
            holds,
            judged.status == RowStatus::Reproduced,
            "{} {}",
            judged.row.study,
            judged.row.id
        );
    }
}

#[test]
fn generated_parts_are_replaced_between_their_marks() {
    let page = format!("# A\n\n{BEGIN}x -->\n\nold\n\n{END}\n\nafter\n");
    let new = spliced("a.md", &page, "new\n\n");
    assert_eq!(new, format!("# A\n\n{BEGIN}x -->\n\nnew\n\n{END}\n\nafter\n"));
    assert_eq!(spliced("a.md", &new, "new\n\n"), new);
}
