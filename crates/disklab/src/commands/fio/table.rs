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
        let cpu = (job.user_ns + job.system_ns) as f64;
        let operations = (job.read.operations + job.write.operations).max(1) as f64;
        let _ = writeln!(
            text,
            "  cpu    {} % of one processor, {} per I/O",
            significant(100.0 * cpu / job.elapsed_ns.max(1) as f64, 3),
            show_nanoseconds(cpu / operations)
        );
    }
    text
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
