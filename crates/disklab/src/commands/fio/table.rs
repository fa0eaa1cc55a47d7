//! What jobs did, for people.

use std::fmt::Write as _;

use disklab_engine::{DirectionReport, EngineReport, JobReport};
use disklab_units::{BytesPerSecond, show_duration, show_nanoseconds, significant};

/// A block of lines for each job.
pub fn table(report: &EngineReport) -> String {
    let mut text = String::new();
    for job in &report.jobs {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", head(job));
        for (word, done) in [("read", &job.read), ("write", &job.write)] {
            if done.operations > 0 {
                line(&mut text, word, done);
            }
        }
        if let Some(sync) = &job.sync {
            let _ = writeln!(text, "  sync   {}", latencies(sync));
        }
        if job.verified.0 > 0 {
            let _ = writeln!(
                text,
                "  verify {} blocks compared, {} wrong",
                job.verified.0, job.verified.1
            );
        }
        let operations = job.read.operations + job.write.operations;
        let used = cpu(job.user_ns + job.system_ns, job.elapsed_ns, operations);
        let _ = writeln!(text, "  cpu    {used}");
    }
    text
}

/// The kernel counts a thread's CPU time when its clock ticks; a job may end between two ticks.
fn cpu(cpu_ns: u64, elapsed_ns: u64, operations: u64) -> String {
    if cpu_ns == 0 {
        return "too short to be measured".to_owned();
    }
    let cpu = cpu_ns as f64;
    format!(
        "{} % of one processor, {} per I/O",
        significant(100.0 * cpu / elapsed_ns.max(1) as f64, 3),
        show_nanoseconds(cpu / operations.max(1) as f64)
    )
}

fn head(job: &JobReport) -> String {
    let clones = if job.clones > 1 { format!(", {} clones", job.clones) } else { String::new() };
    format!(
        "{}: {}, depth {}{clones}, {}",
        job.name,
        job.engine,
        job.depth,
        show_duration(std::time::Duration::from_nanos(job.elapsed_ns))
    )
}

fn line(text: &mut String, word: &str, done: &DirectionReport) {
    let latency = done.total.as_ref().map(latencies).unwrap_or_default();
    let _ = writeln!(
        text,
        "  {word:6} {} ({}), {} IOPS; {latency}",
        BytesPerSecond(done.bytes_per_second()).si(),
        BytesPerSecond(done.bytes_per_second()).iec(),
        significant(done.operations_per_second(), 4),
    );
}

fn latencies(latency: &disklab_sample::Latency) -> String {
    let at = |share: f64| show_nanoseconds(latency.histogram.quantile(share) as f64);
    format!(
        "latency median {}, 99 % {}, 99.9 % {}, longest {}",
        at(0.5),
        at(0.99),
        at(0.999),
        show_nanoseconds(latency.max_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_that_no_tick_counted_is_not_zero() {
        assert_eq!(cpu(0, 900_000, 256), "too short to be measured");
        assert_eq!(cpu(450_000, 900_000, 256), "50.0 % of one processor, 1.76 µs per I/O");
    }
}
