//! How near disklab's own engine comes to fio, from runs of
//! `crates/disklab/tests/studies/fio-parity.toml`: for each job and figure the ratio of
//! the native engine's to fio's, paired over the blocks, with its interval.
//!
//! `fio_parity RUN…` prints a table in Markdown; several runs are taken together. It
//! ends with 1 where an interval reaches beyond 0.97–1.03, or a job has none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use disklab_sample::Sample;
use disklab_stats::paired_ratio;
use disklab_store::Run;

/// Within these bounds the two are taken for the same.
const LOW: f64 = 0.97;
const HIGH: f64 = 1.03;

/// The figures that are compared.
const FIGURES: [&str; 4] = ["throughput", "mean", "median", "99th percentile"];

/// One figure of an engine in a block, for each of [`FIGURES`].
type Figures = [f64; FIGURES.len()];

/// By job: by (run, block) what the native engine and what fio got.
type Jobs = BTreeMap<String, BTreeMap<(usize, u32), [Option<Figures>; 2]>>;

fn main() -> ExitCode {
    let runs: Vec<String> = std::env::args().skip(1).collect();
    if runs.is_empty() {
        eprintln!("usage: fio_parity RUN…");
        return ExitCode::from(2);
    }
    let mut jobs = Jobs::new();
    for (number, run) in runs.iter().enumerate() {
        if let Err(error) = read(number, Path::new(run), &mut jobs) {
            eprintln!("fio_parity: {run}: {error}");
            return ExitCode::from(2);
        }
    }
    let (table, outside) = table(&jobs);
    print!("{table}");
    println!("\nOutside of {LOW}–{HIGH}: {outside}.");
    if outside == 0 && !jobs.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(number: usize, run: &Path, jobs: &mut Jobs) -> Result<(), disklab_store::StoreError> {
    Run::open(run)?.for_each_sample(|record, sample| {
        let engines = ["native", "fio"];
        let Some((job, engine)) = record.cell.levels.workload.rsplit_once('-') else { return };
        let Some(engine) = engines.iter().position(|e| *e == engine) else { return };
        let blocks = jobs.entry(job.to_owned()).or_default();
        blocks.entry((number, record.cell.block)).or_default()[engine] = figures(&sample);
    })
}

fn figures(sample: &Sample) -> Option<Figures> {
    let figure = sample.steps.first()?.figures.first()?;
    let latency = figure.latency.as_ref()?;
    let at = |share: f64| latency.histogram.quantile(share) as f64;
    Some([figure.bytes_per_second?, latency.mean_ns, at(0.5), at(0.99)])
}

/// The table, and how many intervals are not within the bounds.
fn table(jobs: &Jobs) -> (String, usize) {
    let mut text = format!("| job | blocks | {} |\n|---|---|", FIGURES.join(" | "));
    text.push_str(&"---|".repeat(FIGURES.len()));
    text.push('\n');
    let mut outside = 0;
    for (job, blocks) in jobs {
        let pairs: Vec<(Figures, Figures)> =
            blocks.values().filter_map(|[native, fio]| Some(((*native)?, (*fio)?))).collect();
        let _ = write!(text, "| {job} | {} |", pairs.len());
        for figure in 0..FIGURES.len() {
            let of: Vec<(f64, f64)> =
                pairs.iter().map(|(native, fio)| (native[figure], fio[figure])).collect();
            let ratio = paired_ratio(&of);
            let interval = ratio.and_then(|ratio| ratio.interval);
            let within = interval.is_some_and(|i| i.lies_within(LOW, HIGH));
            outside += usize::from(!within);
            let mark = if within { "" } else { " **!**" };
            match (ratio, interval) {
                (Some(ratio), Some(i)) => {
                    let _ =
                        write!(text, " {:.3} ({:.3}–{:.3}){mark} |", ratio.centre, i.low, i.high);
                }
                (Some(ratio), None) => {
                    let _ = write!(text, " {:.3} (once){mark} |", ratio.centre);
                }
                (None, _) => text.push_str(" – |"),
            }
        }
        text.push('\n');
    }
    (text, outside)
}
