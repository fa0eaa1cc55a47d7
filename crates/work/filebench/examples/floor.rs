//! What the system calls alone allow: the file server's and the mail server's calls,
//! and nothing else, compared with our own figures, in paired, interleaved runs.
//!
//! ```sh
//! cargo run --release -p disklab-filebench --example floor -- [BLOCKS [SECONDS [FILES]]]
//! ```
//!
//! Each thread has files of its own, of which one is not there, and draws names by itself: no file
//! set, no locks, no clock, no counters but one. Nothing that makes the same calls can
//! be much faster, so that what a program could gain at most over another is known. The
//! ratio has the interval of the blocks' logarithms (Student's t).

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{IoSliceMut, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use disklab_exec::Interrupt;
use disklab_filebench::{ContentKind, FilebenchFigures, Options, RunProgress, SessionContext, run};
use disklab_stats::paired_ratio;
use disklab_wml::random::{Rng, Uniform, gamma};
use disklab_wml::{Overrides, Personality, find_personality};

/// Memory, so that calls count and not a disk.
const PLACE: &str = "/dev/shm";
/// Shape of the sizes' distribution, as in the personalities (`gamma:1500`).
const SHAPE: f64 = 1.5;
/// `iosize` of both personalities, bytes.
const PIECE: usize = 1 << 20;
/// Bytes that stay in the processor's nearest cache, as our reads have it.
const SINK: usize = 64 << 10;

/// One personality, stripped to its calls.
struct Case {
    name: &'static str,
    threads: usize,
    /// Mean size of its files, bytes.
    mean: f64,
    /// Flowops of an iteration, as Filebench counts them.
    flowops: u64,
    iteration: fn(&mut Actor<'_>) -> std::io::Result<()>,
}

const CASES: [Case; 4] = [
    Case { name: "fileserver", threads: 1, mean: 131_072.0, flowops: 11, iteration: file_server },
    Case { name: "fileserver", threads: 50, mean: 131_072.0, flowops: 11, iteration: file_server },
    Case { name: "varmail", threads: 1, mean: 16_384.0, flowops: 13, iteration: mail },
    Case { name: "varmail", threads: 16, mean: 16_384.0, flowops: 13, iteration: mail },
];

/// What a thread has.
struct Actor<'a> {
    names: &'a [PathBuf],
    sizes: &'a [usize],
    zeros: &'a [u8],
    sink: Vec<u8>,
    rng: Rng,
    /// Which of its files is not there: the next to be made.
    missing: usize,
}

impl Actor<'_> {
    fn draw(&mut self, below: usize) -> usize {
        (self.rng.next_u64() % below as u64) as usize
    }

    /// Any of its files but the one that is not there.
    fn other(&mut self) -> &Path {
        let away = 1 + self.draw(self.names.len() - 1);
        &self.names[(self.missing + away) % self.names.len()]
    }

    fn create(&mut self) -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(&self.names[self.missing])
    }

    fn delete(&mut self) -> std::io::Result<()> {
        let away = 1 + self.draw(self.names.len() - 1);
        self.missing = (self.missing + away) % self.names.len();
        fs::remove_file(&self.names[self.missing])
    }

    /// Up to 16 KiB are appended, as `meanappendsize=16k` has it.
    fn append(&mut self, file: &mut File) -> std::io::Result<()> {
        let length = self.draw(16 << 10) + 1;
        file.seek(SeekFrom::End(0))?;
        file.write_all(&self.zeros[..length])
    }

    fn open(&mut self) -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.other())
    }

    fn read_whole(&mut self, file: &mut File) -> std::io::Result<()> {
        let base = self.sink.as_mut_ptr();
        loop {
            // SAFETY: all slices are the same memory of SINK bytes, which outlives the
            // call, and nobody looks at it.
            let mut slices: [IoSliceMut<'_>; PIECE / SINK] = std::array::from_fn(|_| {
                IoSliceMut::new(unsafe { std::slice::from_raw_parts_mut(base, SINK) })
            });
            if file.read_vectored(&mut slices)? < PIECE {
                return Ok(());
            }
        }
    }
}

fn file_server(actor: &mut Actor<'_>) -> std::io::Result<()> {
    let drawn = actor.draw(actor.sizes.len());
    let size = actor.sizes[drawn];
    let mut file = actor.create()?;
    for from in (0..size).step_by(PIECE) {
        file.write_all(&actor.zeros[..PIECE.min(size - from)])?;
    }
    drop(file);
    let mut file = actor.open()?;
    actor.append(&mut file)?;
    drop(file);
    let mut file = actor.open()?;
    actor.read_whole(&mut file)?;
    drop(file);
    actor.delete()?;
    fs::metadata(actor.other()).map(drop)
}

fn mail(actor: &mut Actor<'_>) -> std::io::Result<()> {
    let mut file = actor.create()?;
    actor.append(&mut file)?;
    file.sync_all()?;
    drop(file);
    let mut file = actor.open()?;
    actor.read_whole(&mut file)?;
    actor.append(&mut file)?;
    file.sync_all()?;
    drop(file);
    let mut file = actor.open()?;
    actor.read_whole(&mut file)?;
    drop(file);
    actor.delete()
}

fn bare(case: &Case, seconds: u64, files: usize) -> Result<f64, Box<dyn Error>> {
    let directory = tempfile::tempdir_in(PLACE)?;
    let mut rng = Rng::stream(1, 0);
    let mut draw = || (gamma(&mut rng, SHAPE, case.mean / SHAPE) as usize).clamp(1, 64 * PIECE);
    let sizes: Vec<usize> = std::iter::repeat_with(&mut draw).take(files).collect();
    let zeros = vec![0; PIECE];
    // Twenty names to a directory, three deep, as a file set of this width makes them.
    let place = |i: usize| {
        directory.path().join(format!("{}/{}/{}", i % 20, i / 20 % 20, i / 400)).join(i.to_string())
    };
    let names: Vec<PathBuf> = (0..files).map(place).collect();
    for (name, &size) in names.iter().zip(&sizes) {
        fs::create_dir_all(name.parent().ok_or("a file lies in a directory")?)?;
        let mut file = File::create(name)?;
        for from in (0..size).step_by(PIECE) {
            file.write_all(&zeros[..PIECE.min(size - from)])?;
        }
    }
    let (over, iterations) = (AtomicBool::new(false), AtomicU64::new(0));
    let begin = Instant::now();
    let work = |thread: usize, names: &[PathBuf]| -> std::io::Result<()> {
        let rng = Rng::stream(2, thread as u64);
        let sink = vec![0; SINK];
        let mut actor = Actor { names, sizes: &sizes, zeros: &zeros, sink, rng, missing: 0 };
        fs::remove_file(&names[0])?;
        let mut done = 0;
        while !over.load(Ordering::Relaxed) {
            (case.iteration)(&mut actor)?;
            done += 1;
        }
        iterations.fetch_add(done, Ordering::Relaxed);
        Ok(())
    };
    let work = &work;
    let share = files.div_ceil(case.threads);
    std::thread::scope(|scope| {
        let shares = names.chunks(share).enumerate();
        let workers: Vec<_> =
            shares.map(|(thread, names)| scope.spawn(move || work(thread, names))).collect();
        std::thread::sleep(Duration::from_secs(seconds));
        over.store(true, Ordering::Relaxed);
        workers.into_iter().try_for_each(|one| one.join().unwrap_or(Ok(())))
    })?;
    let iterations = iterations.load(Ordering::Relaxed);
    Ok((iterations * case.flowops) as f64 / begin.elapsed().as_secs_f64())
}

fn native(case: &Case, seconds: u64, files: usize, seed: u64) -> Result<f64, Box<dyn Error>> {
    let directory = tempfile::tempdir_in(PLACE)?;
    let built_in = find_personality(case.name).ok_or("no such personality")?;
    let variables = [("nfiles", files), ("nthreads", case.threads), ("meandirwidth", 20)];
    let overrides = Overrides {
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_string())).to_vec(),
        run_time: Some(Duration::from_secs(seconds)),
    };
    let personality = Personality::read(&built_in.source(), &overrides)?;
    let context = SessionContext {
        directory: directory.path().to_owned(),
        seed,
        interrupt: Interrupt::new(),
        progress: RunProgress::silent(),
    };
    let options = Options { content: ContentKind::Zeros, ..Options::default() };
    let report = run(&personality, &context, &options)?;
    Ok(report.runs.first().map_or(0.0, FilebenchFigures::operations_per_second))
}

fn compare() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let mut number = |otherwise| numbers.next().unwrap_or(Ok(otherwise));
    let (blocks, seconds, files) = (number(6)?.max(1), number(5)?.max(1), number(10_000)?);
    let files = usize::try_from(files.max(100))?;
    for case in &CASES {
        let mut pairs = Vec::new();
        for block in 0..blocks {
            let own_first = block % 2 == 0;
            let own = if own_first { native(case, seconds, files, block)? } else { 0.0 };
            let least = bare(case, seconds, files)?;
            let own = if own_first { own } else { native(case, seconds, files, block)? };
            pairs.push((own, least));
        }
        let mut bare: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        bare.sort_by(f64::total_cmp);
        let median = bare[bare.len() / 2];
        let ratio = paired_ratio(&pairs).ok_or("no ratio of these figures")?;
        let interval = ratio.interval.map_or((f64::NAN, f64::NAN), |i| (i.low, i.high));
        println!(
            "{:<11} {:>3} threads: bare calls {median:.0} operations/s; ours {:.2} times that [{:.2}, {:.2}]",
            case.name, case.threads, ratio.centre, interval.0, interval.1
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("floor: {error}");
            ExitCode::FAILURE
        }
    }
}
