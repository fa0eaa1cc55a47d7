//! Published and measured results, in all forms.

use disklab_published::{Catalogue, CellFate, MeasuredRun, MeasuredValue, RowComparison, compare};
use disklab_report::{Report, ReportFormat, published_text, render};
use disklab_source::Source;

use crate::{support, wellformed};

const ROWS: &str = "\
study,id,kind,subject,baseline,workload,metric,unit,value,low,high,cpu_bound,note
synology-2018,seq,value,single/ext4,,read,throughput,MB/s,180,,,no,
synology-2018,odd|<id>,value,single/ext4,,read,throughput,kB/s,9000,,,no,a <note>
synology-2018,csum,ratio,single/btrfs[csum],single/ext4,read,throughput,,0.5,,,yes,
synology-2018,raid,order,jbod/ext4,single/ext4,read,throughput,,0,,,no,
synology-2018,gone,value,shr9/ext4,,read,throughput,MB/s,180,,,no,
synology-2018,silent,value,single/btrfs,,read,throughput,MB/s,,,,no,not measurable
";
const MAPPING: &str = r#"
[[rule]]
study = "synology-2018"
figure = "read-1M:*:read"
measure = "throughput"
"#;
const FINDINGS: &str = r#"
[[finding]]
study = "synology-2018"
rows = ["odd*"]
cause = "software"
why = "The published unit is <wrong>."
evidence = "A drive of 9 MB/s."
"#;

pub fn published_rows(mut report: Report) -> Report {
    let source = |name: &str, text: &str| Source { name: name.into(), text: text.into() };
    let catalogue = Catalogue::read(
        source("p.csv", ROWS),
        source("m.toml", MAPPING),
        source("f.toml", FINDINGS),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let cells: Vec<CellFate> = Vec::new();
    report.published = compare(
        &catalogue,
        &MeasuredRun {
            study: &report.study,
            groups: &report.analysis.groups,
            cells: &cells,
            left_out: &[],
            processor_charged: false,
            scale: 0.5,
        },
    );
    report
}

fn comparison(report: &Report) -> &RowComparison {
    report.published.as_ref().expect("something was published")
}

#[test]
fn the_page_draws_and_tells_each_row() {
    let report = published_rows(support::made(2, 3, "lab", 3));
    let html = render(&report, ReportFormat::Html);
    let elements = wellformed::elements(&html).unwrap_or_else(|e| panic!("{e}"));
    let class = |element: &wellformed::Element| {
        element.attributes.iter().find(|(n, _)| n == "class").map(|(_, v)| v.clone())
    };
    let marks = elements.iter().filter(|e| class(e).as_deref() == Some("mark")).count();
    // Four rows have a measured and a published figure.
    assert_eq!(marks, 4);
    for text in ["id=\"published\"", "reproduced, not counted", "no stack 'shr9/ext4'"] {
        assert!(html.contains(text), "{text}");
    }
    assert!(html.contains("The published unit is &lt;wrong&gt;. Evidence: A drive of 9 MB/s."));
}

#[test]
fn a_page_of_a_study_of_which_nothing_was_published_has_no_such_section() {
    let html = render(&support::made(2, 2, "lab", 1), ReportFormat::Html);
    assert!(!html.contains("id=\"published\""));
}

#[test]
fn the_post_counts_and_says_why() {
    let report = published_rows(support::made(2, 3, "lab", 3));
    let tally = comparison(&report).tally;
    assert_eq!((tally.rows, tally.countable, tally.not_run), (6, 4, 1));
    assert_eq!((tally.cpu_bound, tally.without_value), (1, 1));
    let md = render(&report, ReportFormat::Markdown);
    for text in [
        "## Published and measured results: synology-2018",
        "6 rows published, 4 counted",
        "Sizes were scaled by 0.500",
        "odd\\|\\<id\\>",
        "Evidence: A drive of 9 MB/s.",
    ] {
        assert!(md.contains(text), "{text}\n{md}");
    }
}

/// ZFS's rm returns at once or waits for a transaction group: 16 µs, 17 µs and 1.5 s.
#[test]
fn an_interval_that_says_nothing_is_not_shown() {
    let report = published_rows(support::made(2, 3, "lab", 3));
    let mut one = comparison(&report).clone();
    for (high, shown) in
        [(1_000.0, "100 MB/s (50.0–1000)"), (9e12, "100 MB/s (3 repeats, no interval)")]
    {
        let value = MeasuredValue { centre: 100.0, interval: Some((50.0, high)), n: 3 };
        one.rows[0].measured = Some(value);
        let text = published_text(std::slice::from_ref(&one));
        assert!(text.contains(shown), "{shown}\n{text}");
    }
}

#[test]
fn several_studies_are_counted_together() {
    let report = published_rows(support::made(2, 3, "lab", 1));
    let one = comparison(&report).clone();
    assert!(!published_text(std::slice::from_ref(&one)).contains("| all "));
    let text = published_text(&[one.clone(), one]);
    let all = text.lines().find(|line| line.starts_with("| all ")).expect("a sum");
    let cells: Vec<&str> = all.split('|').map(str::trim).collect();
    assert_eq!(cells[2..4], ["12", "8"]);
}

#[test]
fn json_has_the_published_rows() {
    let report = published_rows(support::made(2, 3, "lab", 3));
    let json: serde_json::Value =
        serde_json::from_str(&render(&report, ReportFormat::Json)).expect("JSON");
    let rows = json["published"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[1]["finding"]["evidence"], "A drive of 9 MB/s.");
    assert_eq!(rows[5]["status"], "nothing-published");
    assert_eq!(json["published"]["tally"]["countable"], 4);
    let without = render(&support::made(2, 2, "lab", 1), ReportFormat::Json);
    let without: serde_json::Value = serde_json::from_str(&without).expect("JSON");
    assert!(without["published"].is_null());
}
