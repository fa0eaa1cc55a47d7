//! The engine against real fio, on the same files: pairs of runs, interleaved, in
//! random order. Prints ratios (disklab's ÷ fio's) with their 95 % intervals.
//!
//! ```text
//! cargo run --release -p disklab-engine --example against_fio -- \
//!     [--directory /dev/shm] [--pairs 7] [--seconds 1] [--all | FILTER]
//! ```
//!
//! On memory, I/Os per second and CPU time per I/O tell what the programs
//! themselves cost. On a real or throttled drive, throughput and latencies have to
//! be the same.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use disklab_engine::{EngineReport, JobContext, run};
use disklab_jobfile::{Policy, parse};
use disklab_source::Source;
use disklab_stats::paired_ratio;
use serde_json::Value;

/// One run of one program.
#[derive(Debug, Clone, Copy)]
struct Run {
    ios_per_second: f64,
    cpu_ns_per_io: f64,
    median_ns: f64,
    p99_ns: f64,
}

struct Settings {
    directory: PathBuf,
    pairs: usize,
    seconds: f64,
    all: bool,
    extra: Vec<String>,
    filter: Option<String>,
}

fn settings() -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings {
        directory: PathBuf::from("/dev/shm"),
        pairs: 7,
        seconds: 1.0,
        all: false,
        extra: Vec::new(),
        filter: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--directory" => settings.directory = value()?.into(),
            "--pairs" => settings.pairs = value()?.parse()?,
            "--seconds" => settings.seconds = value()?.parse()?,
            "--option" => settings.extra.push(value()?),
            "--all" => settings.all = true,
            _ => settings.filter = Some(word),
        }
    }
    Ok(settings)
}

/// The jobs that are compared: name and options.
fn cases(settings: &Settings) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    let engines: &[(&str, u32)] = if settings.all {
        &[("psync", 1), ("libaio", 32), ("io_uring", 32)]
    } else {
        &[("psync", 1)]
    };
    for (engine, depth) in engines {
        for rw in ["randread", "read", "randwrite", "write"] {
            for clones in [1, 4] {
                cases.push((
                    format!("{engine} {rw} depth {depth}, {clones} jobs"),
                    format!("ioengine={engine}\niodepth={depth}\nrw={rw}\nnumjobs={clones}"),
                ));
            }
        }
    }
    cases
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = settings()?;
    let directory = tempfile_in(&settings.directory)?;
    println!("ours / fio's: 95 % intervals of {} pairs", settings.pairs);
    println!(
        "{:36} {:>24} {:>24} {:>24} {:>24}",
        "", "I/Os per second", "CPU per I/O", "median", "p99"
    );
    // The order is drawn, so that what drifts hits both alike.
    let mut draw = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos() | 1;
    for (name, options) in cases(&settings) {
        if settings.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let ms = (settings.seconds * 1000.0) as u64;
        let text = format!(
            "[global]\nbs=4k\nsize=256m\nruntime={ms}ms\ntime_based\ngroup_reporting\n\
             thread\nlat_percentiles=1\ninvalidate=0\nfilename_format=f$jobnum\n{}\n[job]\n{options}\n",
            settings.extra.join("\n"),
        );
        let (mut a, mut b) = (Vec::new(), Vec::new());
        native(&text, &directory)?;
        for _ in 0..settings.pairs {
            draw ^= draw << 13;
            draw ^= draw >> 17;
            draw ^= draw << 5;
            if draw % 2 == 0 {
                a.push(native(&text, &directory)?);
                b.push(fio(&text, &directory)?);
            } else {
                b.push(fio(&text, &directory)?);
                a.push(native(&text, &directory)?);
            }
        }
        let ratio = |value: fn(&Run) -> f64| {
            let pairs: Vec<(f64, f64)> =
                a.iter().zip(&b).map(|(a, b)| (value(a), value(b))).collect();
            match paired_ratio(&pairs) {
                None => "nothing".to_owned(),
                Some(ratio) => {
                    let interval = ratio.interval.map_or_else(String::new, |interval| {
                        format!(" [{:.3}, {:.3}]", interval.low, interval.high)
                    });
                    format!("{:.3}{interval}", ratio.centre)
                }
            }
        };
        println!(
            "{name:36} {:>24} {:>24} {:>24} {:>24}",
            ratio(|run| run.ios_per_second),
            ratio(|run| run.cpu_ns_per_io),
            ratio(|run| run.median_ns),
            ratio(|run| run.p99_ns),
        );
        let mean = |runs: &[Run], value: fn(&Run) -> f64| {
            runs.iter().map(value).sum::<f64>() / runs.len() as f64
        };
        println!(
            "{:36} {:>24} {:>24} {:>24} {:>24}",
            "  (means: ours, fio's)",
            format!("{:.0}, {:.0}", mean(&a, |r| r.ios_per_second), mean(&b, |r| r.ios_per_second)),
            format!(
                "{:.0}, {:.0} ns",
                mean(&a, |r| r.cpu_ns_per_io),
                mean(&b, |r| r.cpu_ns_per_io)
            ),
            format!("{:.0}, {:.0} ns", mean(&a, |r| r.median_ns), mean(&b, |r| r.median_ns)),
            format!("{:.0}, {:.0} ns", mean(&a, |r| r.p99_ns), mean(&b, |r| r.p99_ns)),
        );
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

fn tempfile_in(directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let directory = directory.join(format!("against-fio-{}", std::process::id()));
    std::fs::create_dir(&directory)?;
    Ok(directory)
}

fn native(text: &str, directory: &Path) -> Result<Run, Box<dyn Error>> {
    let source = Arc::new(Source { name: "job.fio".to_owned(), text: text.to_owned() });
    let jobs = parse(&source, Policy::default())?;
    let report = run(&jobs, &JobContext::new(directory, 1))?;
    if let Some(error) = report.jobs.iter().find_map(|job| job.error.clone()) {
        return Err(error.into());
    }
    reading(&report_json(&report))
}

fn report_json(report: &EngineReport) -> Value {
    report.to_fio_json()
}

fn fio(text: &str, directory: &Path) -> Result<Run, Box<dyn Error>> {
    let job = directory.join("job.fio");
    std::fs::write(&job, text)?;
    let output = Command::new("fio")
        .current_dir(directory)
        .args(["--output-format=json+", "job.fio"])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').ok_or("fio wrote no report")?;
    reading(&serde_json::from_str(&text[start..])?)
}

/// Both reports are read by the same code.
fn reading(report: &Value) -> Result<Run, Box<dyn Error>> {
    let job = report["jobs"].get(0).ok_or("a report without jobs")?;
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let side = if number(&job["read"]["total_ios"]) > 0.0 { &job["read"] } else { &job["write"] };
    let ios = number(&side["total_ios"]);
    // Of the time of one clone; with threads, fio gives the mean of the clones.
    let clones = number(&job["job options"]["numjobs"]).max(1.0);
    let clones = match job["job options"]["numjobs"].as_str() {
        Some(text) => text.parse().unwrap_or(clones),
        None => clones,
    };
    let cpu = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0;
    let runtime_ns = number(&side["runtime"]) * 1e6;
    Ok(Run {
        ios_per_second: number(&side["iops"]),
        cpu_ns_per_io: cpu * runtime_ns * clones / ios.max(1.0),
        median_ns: number(&side["lat_ns"]["percentile"]["50.000000"]),
        p99_ns: number(&side["lat_ns"]["percentile"]["99.000000"]),
    })
}
