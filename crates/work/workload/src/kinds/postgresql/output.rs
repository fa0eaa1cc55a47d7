//! What pgbench says.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use disklab_sample::LatencyHistogram;

use crate::{OutputProblem, WorkloadError};

/// What pgbench tells at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PgbenchOutput {
    /// Transactions that were done.
    pub processed: u64,
    /// Transactions that were not; counted since PostgreSQL 15.
    pub failed: u64,
    /// Transactions per second, without the time that connecting took.
    pub per_second: f64,
}

/// Reads it. Before PostgreSQL 14 there are two rates, of which the last leaves out
/// connecting; since then there is one.
pub(super) fn output_of(text: &str) -> Result<PgbenchOutput, WorkloadError> {
    let after = |start: &str| text.lines().rev().find_map(|line| line.strip_prefix(start));
    let number = |start: &str| {
        after(start).and_then(|rest| {
            let digits = rest.trim().split(['/', ' ']).next()?;
            digits.parse::<u64>().ok()
        })
    };
    let wrong = |expected| {
        let found = text.lines().last().unwrap_or_default().to_owned();
        WorkloadError::output("pgbench", OutputProblem::Unexpected { expected, found })
    };
    let processed = number("number of transactions actually processed:")
        .filter(|n| *n > 0)
        .ok_or_else(|| wrong("a number of transactions"))?;
    let per_second = after("tps = ")
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
        .filter(|rate| rate.is_finite() && *rate > 0.0)
        .ok_or_else(|| wrong("transactions per second"))?;
    let failed = number("number of failed transactions:").unwrap_or(0);
    Ok(PgbenchOutput { processed, failed, per_second })
}

/// The latencies in the files that `pgbench --log` has left in `directory`: one for each
/// of its threads.
pub(super) fn latencies(directory: &Path) -> Result<LatencyHistogram, WorkloadError> {
    let mut histogram = LatencyHistogram::new();
    let cannot = "cannot read pgbench's log";
    for entry in std::fs::read_dir(directory).map_err(WorkloadError::io(cannot, directory))? {
        let path = entry.map_err(WorkloadError::io(cannot, directory))?.path();
        let file = File::open(&path).map_err(WorkloadError::io(cannot, &path))?;
        for line in BufReader::new(file).lines() {
            let line = line.map_err(WorkloadError::io(cannot, &path))?;
            match latency(&line) {
                Some(Some(ns)) => histogram.record(ns, 1),
                Some(None) => {}
                None => {
                    let expected = "a number, a number and a time in its log";
                    let problem = OutputProblem::Unexpected { expected, found: line };
                    return Err(WorkloadError::output("pgbench", problem));
                }
            }
        }
    }
    Ok(histogram)
}

/// The latency of one line of the log, in nanoseconds: `client transaction time
/// script seconds microseconds`, the time in microseconds, or a word where it was
/// not done (pgbench(1), 'Per-Transaction Logging').
fn latency(line: &str) -> Option<Option<u64>> {
    let mut fields = line.split_whitespace();
    fields.next()?.parse::<u64>().ok()?;
    fields.next()?.parse::<u64>().ok()?;
    let time = fields.next()?;
    if time.bytes().all(|b| b.is_ascii_lowercase()) {
        return Some(None);
    }
    time.parse::<u64>().ok()?.checked_mul(1000).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEW: &str = "pgbench (15.14)\nscaling factor: 1\nnumber of clients: 4\n\
        number of transactions actually processed: 1508\n\
        number of failed transactions: 3 (0.199%)\nlatency average = 5.296 ms\n\
        initial connection time = 8.1 ms\ntps = 755.229 (without initial connection time)\n";
    const OLD: &str = "number of transactions actually processed: 1508/2000\n\
        tps = 700.1 (including connections establishing)\n\
        tps = 755.229 (excluding connections establishing)\n";

    #[test]
    fn several_versions_are_understood() {
        let expected = PgbenchOutput { processed: 1508, failed: 3, per_second: 755.229 };
        assert_eq!(output_of(NEW).expect("new"), expected);
        assert_eq!(output_of(OLD).expect("old"), PgbenchOutput { failed: 0, ..expected });
    }

    #[test]
    fn other_ends_are_errors() {
        for (text, part) in [
            ("", "number of transactions"),
            ("number of transactions actually processed: 0\ntps = 0", "number of transactions"),
            ("number of transactions actually processed: 5\ntps = nan", "per second"),
            ("number of transactions actually processed: 5\ntps = 0.0", "per second"),
        ] {
            let error = output_of(text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn logs_of_all_threads_are_read() {
        let directory = tempfile::tempdir().expect("temp");
        std::fs::write(
            directory.path().join("log.7"),
            "0 199 2241 0 1175850568 995598\n1 3 failed 0 1 2\n",
        )
        .expect("log");
        std::fs::write(directory.path().join("log.7.1"), "2 1 5000 0 1 2 17\n").expect("log");
        let histogram = latencies(directory.path()).expect("logs");
        assert_eq!(histogram.count(), 2);
        assert!((histogram.quantile(1.0) as f64 / 5e6 - 1.0).abs() < 0.001);
        std::fs::write(directory.path().join("log.7.2"), "2 1 -5 0 1 2\n").expect("log");
        assert!(latencies(directory.path()).expect_err("negative").to_string().contains("'2 1 -5"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", line in "[0-9a-z .-]{0,40}", at in 0_usize..300, to in any::<char>()) {
            let _ = (output_of(&text), latency(&line));
            let mut mutated: Vec<char> = NEW.chars().collect();
            let at = at % mutated.len();
            mutated[at] = to;
            if let Ok(output_of) = output_of(&mutated.iter().collect::<String>()) {
                prop_assert!(output_of.per_second.is_finite() && output_of.processed > 0);
            }
        }
    }
}
