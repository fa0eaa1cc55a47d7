//! Operations per second against Filebench itself, in paired, interleaved runs.
//!
//! ```sh
//! cargo run --release -p disklab-filebench --example against_upstream -- \
//!     [PATH-TO-FILEBENCH [BLOCKS [SECONDS [FILES]]]]
//! ```
//!
//! Filebench 1.5-alpha3 works only without address randomisation: build it with
//! `CFLAGS="-O2 -fno-pie" LDFLAGS=-no-pie`, and install it (`make install`); it is run
//! by `setarch -R`. Without a path only our own figures are measured.
//!
//! Each block runs every workload and number of threads with both programs, in
//! random order, on a fresh tree of 10,000 files in /dev/shm; both write zeros. The
//! ratio has the interval of the blocks' logarithms (Student's t).

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use disklab_exec::Interrupt;
use disklab_filebench::{ContentKind, FilebenchFigures, Options, RunProgress, SessionContext, run};
use disklab_stats::{CONFIDENCE, median_ranks, paired_ratio};
use disklab_wml::output::parse_summary;
use disklab_wml::random::{Rng, Uniform};
use disklab_wml::{Overrides, Personality, find_personality};

/// Memory, so that the programs count and not a disk.
const PLACE: &str = "/dev/shm";
/// Workload, threads, and how many times as fast disklab's shall be.
const CASES: [(&str, u64, Option<f64>); 6] = [
    ("fileserver", 1, None),
    ("fileserver", 16, None),
    ("fileserver", 50, Some(2.0)),
    ("varmail", 1, None),
    ("varmail", 16, Some(1.5)),
    ("varmail", 50, None),
];

/// What is compared, and how long.
struct Plan {
    filebench: Option<PathBuf>,
    blocks: usize,
    seconds: u64,
    files: u64,
}

impl Plan {
    fn from_args() -> Result<Self, Box<dyn Error>> {
        let mut args = std::env::args_os().skip(1);
        let filebench = args.next().map(PathBuf::from);
        let mut number = |otherwise: u64| match args.next() {
            Some(arg) => arg.to_string_lossy().parse().map_err(|e| format!("{arg:?}: {e}")),
            None => Ok(otherwise),
        };
        let blocks = usize::try_from(number(6)?)?.max(1);
        Ok(Self { filebench, blocks, seconds: number(10)?, files: number(10_000)? })
    }
}

fn main() -> ExitCode {
    match Plan::from_args().and_then(|plan| compare(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("against_upstream: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(plan: &Plan) -> Result<(), Box<dyn Error>> {
    let program = plan.filebench.as_deref();
    // By case and block: disklab's, Filebench's.
    let mut rates = vec![Vec::with_capacity(plan.blocks); CASES.len()];
    let mut rng = Rng::stream(1, 0);
    for block in 0..plan.blocks {
        let mut now = [(0.0, 0.0); CASES.len()];
        let mut order: Vec<(usize, Option<&Path>)> =
            (0..CASES.len()).map(|case| (case, None)).collect();
        order.extend(program.into_iter().flat_map(|p| (0..CASES.len()).map(move |c| (c, Some(p)))));
        for i in (1..order.len()).rev() {
            order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        for (case, theirs) in order {
            let (name, threads, _) = CASES[case];
            let directory = tempfile::tempdir_in(PLACE)?;
            let pair = &mut now[case];
            match theirs {
                Some(program) => pair.1 = upstream(program, plan, name, threads, directory.path())?,
                None => pair.0 = native(plan, name, threads, directory.path(), block as u64)?,
            }
        }
        rates.iter_mut().zip(now).for_each(|(rates, pair)| rates.push(pair));
        println!("block {} of {}", block + 1, plan.blocks);
    }
    for ((name, threads, wanted), pairs) in CASES.iter().zip(&rates) {
        let mut own: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
        own.sort_by(f64::total_cmp);
        // The interval of the median: its k-th smallest and largest value.
        let k = median_ranks(own.len(), CONFIDENCE).map_or(1, |ranks| ranks.k).clamp(1, own.len());
        let (low, high) = (own[k - 1], own[own.len() - k]);
        print!("{name:<11} {threads:>3} threads: {low:.0} to {high:.0} operations/s");
        if let Some(ratio) = paired_ratio(pairs) {
            let interval = ratio.interval.map_or((f64::NAN, f64::NAN), |i| (i.low, i.high));
            print!(
                "; {:.2} times Filebench's [{:.2}, {:.2}]",
                ratio.centre, interval.0, interval.1
            );
            if let Some(wanted) = wanted {
                print!(", wanted {wanted}");
            }
        }
        println!();
    }
    Ok(())
}

fn native(
    plan: &Plan,
    name: &str,
    threads: u64,
    directory: &Path,
    seed: u64,
) -> Result<f64, Box<dyn Error>> {
    let built_in = find_personality(name).ok_or("no such personality")?;
    let variables = [("nfiles", plan.files.to_string()), ("nthreads", threads.to_string())];
    let overrides = Overrides {
        variables: variables.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        run_time: Some(Duration::from_secs(plan.seconds)),
    };
    let personality = Personality::read(&built_in.source(), &overrides)?;
    let context = SessionContext {
        directory: directory.to_owned(),
        seed,
        interrupt: Interrupt::new(),
        progress: RunProgress::silent(),
    };
    let options = Options { content: ContentKind::Zeros, ..Options::default() };
    let report = run(&personality, &context, &options)?;
    Ok(report.runs.first().map_or(0.0, FilebenchFigures::operations_per_second))
}

/// The same script, with its variables set in it: Filebench takes none from outside.
fn upstream(
    program: &Path,
    plan: &Plan,
    name: &str,
    threads: u64,
    directory: &Path,
) -> Result<f64, Box<dyn Error>> {
    let built_in = find_personality(name).ok_or("no such personality")?;
    let set = |line: &str| {
        let variable = line.strip_prefix("set $").and_then(|rest| rest.split_once('='));
        match variable.map(|(name, _)| name) {
            Some("dir") => format!("set $dir={}", directory.display()),
            Some("nfiles") => format!("set $nfiles={}", plan.files),
            Some("nthreads") => format!("set $nthreads={threads}"),
            Some("runtime") => format!("set $runtime={}", plan.seconds),
            _ => line.to_owned(),
        }
    };
    let text: Vec<String> = built_in.text.lines().map(set).collect();
    let script = directory.join("script.f");
    std::fs::write(&script, text.join("\n") + "\n")?;
    // In a namespace of its own it cannot change the machine's limit of shared memory.
    let mut command = Command::new("unshare");
    command.args(["--ipc", "setarch", "-R"]).arg(program).arg("-f").arg(&script);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    // Filebench ends with 0 also where it has stopped before its time.
    let whole = output.status.success() && !complaints.contains("stopped early");
    let summary = said.lines().find_map(parse_summary).filter(|_| whole);
    Ok(summary.ok_or_else(|| format!("Filebench failed:\n{said}{complaints}"))?.per_second)
}
