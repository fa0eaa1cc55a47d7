//! What was measured, as Filebench shows it.

use disklab_wml::Dialect;
use disklab_wml::output::{
    FlowopCounts, HISTOGRAM_BUCKETS, Output, OutputFormat, OutputRow, bucket, stopped_early,
};

use crate::{Counted, FilebenchFigures};

impl FilebenchFigures {
    /// Rows and summary as Filebench shows them, in the format of the script's
    /// dialect. With `strict`, also its flaws. `histograms` shows one for each row
    /// (`enable lathist`). Of a run that ended before its time the warning comes first
    /// with which Filebench says so: a copy of the text keeps it, too.
    pub fn text(&self, strict: bool, histograms: bool) -> String {
        let format = match self.dialect {
            Dialect::V15 => OutputFormat::V15,
            Dialect::V149 => OutputFormat::V149,
        };
        // The formats divide by it.
        let seconds = self.seconds().max(1e-9);
        let output = Output { format, strict, seconds };
        let rows: Vec<OutputRow> = self
            .rows
            .iter()
            .map(|row| OutputRow {
                name: row.name.clone(),
                counts: counts(&row.counted),
                histogram: histograms.then(|| buckets(&row.counted)),
            })
            .collect();
        let all = FlowopCounts {
            reads: self.reads.operations,
            writes: self.writes.operations,
            ..counts(&self.summary)
        };
        let elapsed = seconds + self.warm_up_ns as f64 / 1e9;
        let early = self.stopped_early.as_deref();
        let warning = early.map_or_else(String::new, |why| stopped_early(why, elapsed) + "\n");
        format!("{warning}{}\n{}\n", output.breakdown(&rows), output.summary(&all, elapsed))
    }
}

fn counts(counted: &Counted) -> FlowopCounts {
    FlowopCounts {
        operations: counted.operations,
        bytes: counted.bytes,
        latency_ns: counted.total_ns,
        shortest_ns: counted.min_ns,
        longest_ns: counted.max_ns,
        ..FlowopCounts::default()
    }
}

fn buckets(counted: &Counted) -> [u64; HISTOGRAM_BUCKETS] {
    let mut buckets = [0_u64; HISTOGRAM_BUCKETS];
    for (ns, count) in counted.histogram.bins() {
        if let Some(entries) = buckets.get_mut(bucket(ns)) {
            *entries = entries.saturating_add(count);
        }
    }
    buckets
}
