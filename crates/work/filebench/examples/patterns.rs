//! What the mail server's calls cost the kernel, and what other patterns of calls would cost that
//! do the same I/O: CPU time of an iteration, in paired, interleaved rounds.
//!
//! ```sh
//! cargo run --release -p disklab-filebench --example patterns -- [ROUNDS [ITERATIONS]]
//! ```
//!
//! Each iteration creates, appends, syncs and closes a file; opens, reads, appends, syncs and
//! closes another; opens, reads and closes a third; deletes one. CPU time is measured, not
//! the clock, so that other programs on the machine hardly matter.

use std::error::Error;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use disklab_stats::paired_ratio;
use disklab_wml::random::{Rng, Uniform};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{IoUring, opcode};
use rustix::fs::{Mode, OFlags, openat, unlinkat};

/// Memory, so that calls count and not a disk.
const PLACE: &str = "/dev/shm";
const FILES: usize = 1000;
/// Bytes of a file at the beginning, and at most of an append.
const SIZE: usize = 16 << 10;
const BUFFER: usize = 64 << 10;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A way to do one iteration.
struct Pattern {
    name: &'static str,
    iterate: fn(&mut Context) -> Result<()>,
}

const PATTERNS: [Pattern; 4] = [
    Pattern { name: "open by path, lseek and write (as Filebench)", iterate: by_path },
    Pattern { name: "open by path, pwrite at a known end", iterate: at_known_end },
    Pattern { name: "open below an open directory, pwrite", iterate: below_directory },
    Pattern { name: "io_uring, linked chains on registered files", iterate: by_ring },
];

struct Context {
    names: Vec<PathBuf>,
    paths: Vec<CString>,
    leaves: Vec<CString>,
    directories: Vec<File>,
    /// Bytes of each file; the next to be created has none.
    sizes: Vec<usize>,
    missing: usize,
    rng: Rng,
    zeros: Vec<u8>,
    sink: Vec<u8>,
    ring: IoUring,
}

impl Context {
    fn new(directory: &Path) -> Result<Self> {
        let directory_of = |i: usize| directory.join(format!("{}/{}", i % 10, i / 10 % 10));
        let mut context = Self {
            names: (0..FILES).map(|i| directory_of(i).join(i.to_string())).collect(),
            paths: Vec::new(),
            leaves: Vec::new(),
            directories: Vec::new(),
            sizes: vec![SIZE; FILES],
            missing: 0,
            rng: Rng::stream(1, 0),
            zeros: vec![0; BUFFER],
            sink: vec![0; BUFFER],
            ring: IoUring::new(16)?,
        };
        context.ring.submitter().register_files_sparse(2)?;
        for (i, name) in context.names.iter().enumerate() {
            fs::create_dir_all(directory_of(i))?;
            context.paths.push(CString::new(name.as_os_str().as_bytes())?);
            context.leaves.push(CString::new(i.to_string())?);
            context.directories.push(File::open(directory_of(i))?);
            if i > 0 {
                fs::write(name, &context.zeros[..SIZE])?;
            }
        }
        context.sizes[0] = 0;
        Ok(context)
    }

    fn draw(&mut self, below: usize) -> usize {
        (self.rng.next_u64() % below as u64) as usize
    }

    /// Any file but the one that is not there.
    fn other(&mut self) -> usize {
        (self.missing + 1 + self.draw(FILES - 1)) % FILES
    }

    /// The length of an append. A file that has become large stays as it is, by a byte.
    fn length(&mut self, file: usize) -> usize {
        let length = self.draw(SIZE) + 1;
        let length = if self.sizes[file] + length > BUFFER { 1 } else { length };
        self.sizes[file] += length;
        length
    }

    /// The next one to delete, which is then the one that is created.
    fn next_missing(&mut self) -> usize {
        self.missing = self.other();
        self.sizes[self.missing] = 0;
        self.missing
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_CLOEXEC);
    options
}

fn by_path(context: &mut Context) -> Result<()> {
    let append = |context: &mut Context, file: &mut File, index: usize| -> Result<()> {
        let length = context.length(index);
        file.seek(SeekFrom::End(0))?;
        file.write_all(&context.zeros[..length])?;
        Ok(file.sync_all()?)
    };
    let read = |context: &mut Context, file: &mut File| -> Result<()> {
        while file.read(&mut context.sink)? > 0 {}
        Ok(())
    };
    let new = context.missing;
    let mut file = options().create_new(true).open(&context.names[new])?;
    append(context, &mut file, new)?;
    drop(file);
    let index = context.other();
    let mut file = options().open(&context.names[index])?;
    read(context, &mut file)?;
    append(context, &mut file, index)?;
    drop(file);
    let index = context.other();
    let mut file = options().open(&context.names[index])?;
    read(context, &mut file)?;
    drop(file);
    let old = context.next_missing();
    Ok(fs::remove_file(&context.names[old])?)
}

/// Appends at the length that is known, and reads once.
fn with_files(
    context: &mut Context,
    open: impl Fn(&Context, usize, bool) -> Result<File>,
    remove: impl Fn(&Context, usize) -> Result<()>,
) -> Result<()> {
    let append = |context: &mut Context, file: &File, index: usize| -> Result<()> {
        let end = context.sizes[index] as u64;
        let length = context.length(index);
        file.write_all_at(&context.zeros[..length], end)?;
        Ok(file.sync_all()?)
    };
    let new = context.missing;
    let file = open(context, new, true)?;
    append(context, &file, new)?;
    drop(file);
    let index = context.other();
    let file = open(context, index, false)?;
    file.read_at(&mut context.sink, 0)?;
    append(context, &file, index)?;
    drop(file);
    let index = context.other();
    let file = open(context, index, false)?;
    file.read_at(&mut context.sink, 0)?;
    drop(file);
    let old = context.next_missing();
    remove(context, old)
}

fn at_known_end(context: &mut Context) -> Result<()> {
    with_files(
        context,
        |context, index, create| Ok(options().create_new(create).open(&context.names[index])?),
        |context, index| Ok(fs::remove_file(&context.names[index])?),
    )
}

fn below_directory(context: &mut Context) -> Result<()> {
    with_files(
        context,
        |context, index, create| {
            let flags = OFlags::RDWR | OFlags::CLOEXEC;
            let flags = if create { flags | OFlags::CREATE | OFlags::EXCL } else { flags };
            let directory = &context.directories[index];
            let mode = Mode::from_raw_mode(0o644);
            Ok(openat(directory, context.leaves[index].as_c_str(), flags, mode)?.into())
        },
        |context, index| {
            let directory = &context.directories[index];
            let flags = rustix::fs::AtFlags::empty();
            Ok(unlinkat(directory, context.leaves[index].as_c_str(), flags)?)
        },
    )
}

/// Each chain is one call: open into a slot, read, append, sync, close.
fn by_ring(context: &mut Context) -> Result<()> {
    let new = context.missing;
    chain(context, new, true, false, true)?;
    let index = context.other();
    chain(context, index, false, true, true)?;
    let index = context.other();
    chain(context, index, false, true, false)?;
    let old = context.next_missing();
    let directory = Fd(context.directories[old].as_raw_fd());
    let remove = opcode::UnlinkAt::new(directory, context.leaves[old].as_ptr()).build();
    submit(context, vec![remove])
}

fn chain(
    context: &mut Context,
    index: usize,
    create: bool,
    read: bool,
    append: bool,
) -> Result<()> {
    let slot = Fixed(0);
    let flags = libc::O_RDWR | if create { libc::O_CREAT | libc::O_EXCL } else { 0 };
    let directory: RawFd = context.directories[index].as_raw_fd();
    let mut entries = vec![
        opcode::OpenAt::new(Fd(directory), context.leaves[index].as_ptr())
            .flags(flags)
            .mode(0o644)
            .file_index(Some(DestinationSlot::try_from_slot_target(0).map_err(|_| "a slot")?))
            .build(),
    ];
    if read {
        let length = context.sizes[index].max(1) as u32;
        entries.push(opcode::Read::new(slot, context.sink.as_mut_ptr(), length).build());
    }
    if append {
        let end = context.sizes[index] as u64;
        let length = context.length(index) as u32;
        let write = opcode::Write::new(slot, context.zeros.as_ptr(), length);
        entries.push(write.offset(end).build());
        entries.push(opcode::Fsync::new(slot).build());
    }
    entries.push(opcode::Close::new(slot).build());
    submit(context, entries)
}

fn submit(context: &mut Context, entries: Vec<Entry>) -> Result<()> {
    let number = entries.len();
    for (at, entry) in entries.into_iter().enumerate() {
        let entry = if at + 1 < number { entry.flags(Flags::IO_LINK) } else { entry };
        // SAFETY: names, buffers and descriptors live as long as the context, and this
        // function returns when all entries have completed.
        unsafe { context.ring.submission().push(&entry)? };
    }
    context.ring.submit_and_wait(number)?;
    for completion in context.ring.completion() {
        if completion.result() < 0 {
            return Err(std::io::Error::from_raw_os_error(-completion.result()).into());
        }
    }
    Ok(())
}

/// Seconds of user and kernel time of this process and its threads.
fn processor_time() -> (f64, f64) {
    // SAFETY: the structure is plain numbers, and lives through the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn measure(pattern: &Pattern, iterations: usize) -> Result<(f64, f64)> {
    let directory = tempfile::tempdir_in(PLACE)?;
    let mut context = Context::new(directory.path())?;
    let before = processor_time();
    for _ in 0..iterations {
        (pattern.iterate)(&mut context)?;
    }
    let after = processor_time();
    let each = |after: f64, before: f64| (after - before) / iterations as f64 * 1e6;
    Ok((each(after.0, before.0), each(after.1, before.1)))
}

fn compare() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let mut number = |otherwise| numbers.next().unwrap_or(Ok(otherwise));
    let (rounds, iterations) = (number(7)?.max(2), number(20_000)?.max(100));
    let mut all = vec![Vec::new(); PATTERNS.len()];
    for round in 0..rounds {
        for step in 0..PATTERNS.len() {
            let which = (step + round) % PATTERNS.len();
            all[which].push(measure(&PATTERNS[which], iterations)?);
        }
    }
    for (pattern, times) in PATTERNS.iter().zip(&all) {
        let pairs: Vec<(f64, f64)> = times
            .iter()
            .zip(&all[0])
            .map(|(own, first)| (own.0 + own.1, first.0 + first.1))
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| times.iter().map(of).sum::<f64>() / rounds as f64;
        let (user, system) = (mean(|t| t.0), mean(|t| t.1));
        print!("{:<48} {user:>6.1} + {system:>6.1} µs", pattern.name);
        match paired_ratio(&pairs).and_then(|ratio| Some((ratio.centre, ratio.interval?))) {
            Some((centre, i)) => println!("  {centre:.2} [{:.2}, {:.2}]", i.low, i.high),
            None => println!(),
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("patterns: {error}");
            ExitCode::FAILURE
        }
    }
}
