//! Reports from outside: what a reader, a browser, a forum or a program gets.

mod browser;
mod data;
mod gather;
mod hostile;
mod html;
mod markdown;
mod numbers;
mod published;
mod published_pages;
mod reader;
mod refuting;
mod support;
mod versus;
mod wellformed;

use std::sync::LazyLock;

use disklab_report::Report;

/// A small report with two repeats, made once. Only one workload has
/// histograms: they are what takes time.
fn small() -> Report {
    static SMALL: LazyLock<Report> = LazyLock::new(|| {
        let mut report = support::made(2, 2, "loop", 2);
        for group in &mut report.analysis.groups {
            group.latency =
                group.latency.take().filter(|_| group.key.levels.workload == "randread-4K");
        }
        report
    });
    SMALL.clone()
}
