//! Writing rows and summary.

use super::{FlowopCounts, Output, OutputFormat, OutputRow};

/// 2²⁰, upstream's MB.
const MB: f64 = 1_048_576.0;

impl Output {
    /// 'Per-Operation Breakdown' and the rows, in the reverse of the order given,
    /// as upstream prints them: give them as they are defined.
    pub fn breakdown(&self, rows: &[OutputRow]) -> String {
        let mut text = "Per-Operation Breakdown".to_owned();
        for row in rows.iter().rev() {
            text.push('\n');
            text.push_str(&self.row(row));
        }
        text
    }

    /// A line of the table of flowops, with Filebench's columns.
    pub fn row(&self, row: &OutputRow) -> String {
        let counts = &row.counts;
        let start = format!(
            "{:<20} {}ops {:>8.0}ops/s {:>5.1}mb/s",
            row.name,
            self.count(counts.operations),
            counts.operations as f64 / self.seconds,
            counts.bytes as f64 / MB / self.seconds,
        );
        let mean = per(counts.latency_ns, counts.operations) / 1e6;
        let shortest = match (counts.operations, self.strict) {
            (0, true) if self.format != OutputFormat::V149 => u64::MAX,
            (0, _) => 0,
            _ => counts.shortest_ns,
        };
        let (short, long) = (shortest as f64 / 1e6, counts.longest_ns as f64 / 1e6);
        let mut text = match self.format {
            OutputFormat::V15 => format!("{start} {mean:>8.3}ms/op [{short:.3}ms - {long:>5.3}ms]"),
            OutputFormat::V15Alpha => {
                format!("{start} {mean:>8.1}ms/op [{short:.2}ms - {long:>5.2}ms]")
            }
            OutputFormat::V149 => format!(
                "{start} {mean:>8.1}ms/op {:>8.0}us/op-cpu [{}ms - {}ms]",
                per(counts.processor_ns, counts.operations) / 1e3,
                shortest / 1_000_000,
                counts.longest_ns / 1_000_000,
            ),
        };
        if let Some(histogram) = &row.histogram {
            text.push_str("\t[ ");
            for n in histogram {
                text.push_str(&format!("{n} "));
            }
            text.push(']');
        }
        text
    }

    /// The summary of all I/O, as it is in the log after `elapsed` seconds since
    /// the program began.
    pub fn summary(&self, all: &FlowopCounts, elapsed: f64) -> String {
        let operations = self.count(all.operations);
        let rate = |n: u64| n as f64 / self.seconds;
        let (each, reads, writes) = (rate(all.operations), rate(all.reads), rate(all.writes));
        let speed = all.bytes as f64 / MB / self.seconds;
        let mean = per(all.latency_ns, all.operations) / 1e6;
        match self.format {
            OutputFormat::V15 | OutputFormat::V15Alpha => {
                let mean = if self.format == OutputFormat::V15 {
                    format!("{mean:>5.3}")
                } else {
                    format!("{mean:>5.1}")
                };
                format!(
                    "{elapsed:>4.3}: IO Summary: {operations:>5} ops {each:>5.3} ops/s \
                     {reads:.0}/{writes:.0} rd/wr {speed:>5.1}mb/s {mean}ms/op"
                )
            }
            OutputFormat::V149 => format!(
                "{elapsed:>4.3}: IO Summary: {operations:>5} ops, {each:>5.3} ops/s, \
                 ({reads:.0}/{writes:.0} r/w), {speed:>5.1}mb/s, {:>6.0}us cpu/op, {mean:>5.1}ms latency",
                per(all.processor_ns, all.operations) / 1e3,
            ),
        }
    }

    /// Upstream counts in an `int`.
    fn count(&self, n: u64) -> i64 {
        if self.strict { i64::from(n as i32) } else { i64::try_from(n).unwrap_or(i64::MAX) }
    }
}

/// The line of the log, after `elapsed` seconds, that says that a run ended before its
/// time. All versions have the same; upstream breaks it before the reason.
pub fn stopped_early(why: &str, elapsed: f64) -> String {
    // One line, whatever a name or an error of the system holds.
    let why: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{elapsed:>4.3}: WARNING! Run stopped early: {why}")
}

fn per(sum: u64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { sum as f64 / n as f64 }
}
