//! JSON and CSV: complete, and exactly what was stored.

use disklab_report::{ReportFormat, render};
use serde_json::Value;

use crate::support;

#[test]
fn csv_of_few_observations() {
    let mut report = support::made(1, 1, "loop", 2);
    report.analysis.groups.truncate(2);
    insta::assert_snapshot!(render(&report, ReportFormat::Csv).replace("\r\n", "\n"));
}

#[test]
fn csv_has_a_line_per_observation() {
    let report = support::made(3, 2, "loop", 3);
    let csv = render(&report, ReportFormat::Csv);
    let observations: usize = report.analysis.groups.iter().map(|g| g.observations.len()).sum();
    assert_eq!(csv.lines().count(), 1 + observations);
    assert!(csv.lines().all(|l| l.split(',').count() == 24));
}

#[test]
fn json_holds_every_observation_exactly() {
    let report = support::made(2, 2, "loop", 3);
    let json: Value = serde_json::from_str(&render(&report, ReportFormat::Json)).expect("JSON");
    assert_eq!(json["schema"], "disklab-report");
    assert_eq!(json["version"], 3);
    assert_eq!(json["simulated"], false);
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(report.cells.len()));
    for (group, stored) in
        json["groups"].as_array().expect("groups").iter().zip(&report.analysis.groups)
    {
        assert_eq!(group["stack"], stored.key.levels.stack.as_str());
        for (o, stored) in
            group["observations"].as_array().expect("some").iter().zip(&stored.observations)
        {
            // Written exactly; serde_json reads to within the last bit.
            let (read, kept) = (o["throughput_bytes_per_second"].as_f64(), stored.throughput);
            let same = read.zip(kept).is_some_and(|(a, b)| (a / b - 1.0).abs() < 1e-15);
            assert!(same, "{read:?} {kept:?}");
            assert_eq!(o["drive_write_bytes"].as_u64(), Some(stored.drive_write));
            assert_eq!(o["drives"].as_array().map(Vec::len), Some(stored.drives.len()));
        }
        let histogram: disklab_sample::LatencyHistogram =
            serde_json::from_value(group["latency"]["hdr_histogram_v2_deflate_base64"].clone())
                .expect("a histogram");
        assert_eq!(Some(histogram), stored.latency);
    }
    for (answer, stored) in
        json["answers"].as_array().expect("some").iter().zip(&report.analysis.answers)
    {
        for (point, stored) in answer["points"].as_array().expect("some").iter().zip(&stored.points)
        {
            let read = point["estimate"]["centre"].as_f64().unwrap_or_default();
            assert!((read / stored.estimate.centre - 1.0).abs() < 1e-15, "{read}");
        }
    }
    assert!(json["facts"]["traces"][0]["entries"][0]["argv"][0].is_string());
}

/// The number in a bar's label is the stored one, within its three digits.
#[test]
fn bar_labels_match_stored_values() {
    let report = support::made(2, 2, "loop", 3);
    let html = render(&report, ReportFormat::Html);
    let labels: Vec<f64> = html
        .split("class=\"value\">")
        .skip(1)
        .filter_map(|part| part.split(' ').next()?.parse().ok())
        .collect();
    let stored: Vec<f64> = report.analysis.answers[..2]
        .iter()
        .flat_map(|a| a.points.iter().map(|p| p.estimate.centre / 1e6))
        .collect();
    for (label, stored) in labels.iter().zip(&stored) {
        assert!((label / stored - 1.0).abs() < 0.0051, "{label} {stored}");
    }
    assert!(labels.len() > stored.len());
}
