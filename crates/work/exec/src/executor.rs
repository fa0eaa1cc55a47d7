//! The one place where programs are started.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
};

use crate::capture::capture;
use crate::inherited::keep;
use crate::wait::{GRACE, Reason, wait};
use crate::{
    ExecError, GuestFacts, Interrupt, Interrupted, Invocation, OWNER_VARIABLE, Trace,
    close_inherited, find_program, owner,
};
use disklab_sample::TraceEntry;

/// No more than this much of a program's output is read back: 256 MiB.
const OUTPUT_LIMIT: u64 = 256 << 20;

/// Starts programs, one at a time, and keeps account. Clones share the trace
/// and the interrupt flag.
#[derive(Debug, Clone, Default)]
pub struct Executor {
    /// What has run.
    pub trace: Trace,
    /// Raised when the user wants to stop.
    pub interrupt: Interrupt,
    raw: Option<PathBuf>,
    guest: Option<GuestFacts>,
}

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit code; 128 + signal where a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// Wall-clock time from start to end.
    pub elapsed: Duration,
    /// CPU time in user space, waited-for children included.
    pub user: Duration,
    /// CPU time in the kernel on its behalf.
    pub system: Duration,
    /// Largest resident set of one process, in KiB.
    pub max_rss_kib: u64,
    /// The command line.
    pub command: String,
}

impl Finished {
    /// Standard output as text; bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text; bytes that are no UTF-8 are replaced.
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Adds the time that another program took after this one: wall clock and
    /// processor.
    pub fn add_time(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.user += other.user;
        self.system += other.system;
    }

    /// # Errors
    /// [`ExecError::Failed`] where the exit code is not 0.
    pub fn success(self) -> Result<Self, ExecError> {
        if self.code == 0 {
            return Ok(self);
        }
        let stderr = self.error_text();
        let shown = if stderr.trim().is_empty() { self.text() } else { stderr };
        Err(ExecError::Failed {
            command: self.command,
            status: status_words(self.code),
            stderr: tail(&shown, 2000),
        })
    }
}

/// The program of an invocation, in a process group of its own: Ctrl-C reaches disklab only, which
/// then decides what to stop.
fn command(
    path: PathBuf,
    invocation: &Invocation,
    stdin: Stdio,
    stdout: &File,
    stderr: &File,
) -> io::Result<Command> {
    let mut command = Command::new(path);
    command
        .args(&invocation.args)
        .envs(invocation.env.iter().map(|(k, v)| (k, v)))
        .env(OWNER_VARIABLE, owner())
        .stdin(stdin)
        .process_group(0);
    match &invocation.output_to {
        Some(path) => {
            let file = File::options().append(true).create(true).open(path)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        None => {
            command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        }
    }
    if let Some(directory) = &invocation.cwd {
        command.current_dir(directory);
    }
    Ok(command)
}

fn status_words(code: i32) -> String {
    match code {
        0 => "0".to_owned(),
        129.. => format!("signal {}", code - 128),
        _ => format!("exit code {code}"),
    }
}

fn tail(text: &str, chars: usize) -> String {
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(chars);
    text.chars().skip(skip).collect()
}

impl Executor {
    /// An executor that watches `interrupt`.
    pub fn new(interrupt: Interrupt) -> Self {
        Self { interrupt, ..Self::default() }
    }

    /// One of a lab's guest, whose end is that of all programs in it. They are not tied to this one,
    /// and so the standard library starts them by posix_spawn(3), without a copy of this one's page
    /// tables: a twelfth of the CPU time of `first-look`. Nothing is inherited there. What a program has left behind when it
    /// exceeds its time limit stays until then.
    pub fn in_guest(facts: GuestFacts) -> Self {
        Self { guest: Some(facts), ..Self::default() }
    }

    /// What is known of the guest of the lab in which it runs, where it does. There the drives are
    /// models, whose own memories can be emptied too, and work that fails late has cost nothing.
    pub fn guest(&self) -> Option<&GuestFacts> {
        self.guest.as_ref()
    }

    /// What `PROGRAM --version` prints.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), where it has to be started for that.
    pub fn version_line(&self, program: &'static str) -> Result<String, ExecError> {
        match self.guest().and_then(|guest| guest.versions.get(program)) {
            Some(known) => Ok(known.clone()),
            None => Ok(self.check(&Invocation::new(program).arg("--version"))?.text()),
        }
    }

    /// One with a trace of its own that keeps raw outputs in `directory`.
    #[must_use]
    pub fn with_raw(&self, directory: &Path) -> Self {
        Self { trace: Trace::default(), raw: Some(directory.to_owned()), ..self.clone() }
    }

    /// The directory for raw outputs, if there is one.
    pub fn raw_directory(&self) -> Option<&Path> {
        self.raw.as_deref()
    }

    /// Runs a program to its end, whatever its exit code.
    ///
    /// # Errors
    /// Where it is missing, cannot be started, exceeds its time limit, or the
    /// user asked to stop.
    pub fn run(&self, invocation: &Invocation) -> Result<Finished, ExecError> {
        self.run_with(invocation, || input(invocation), |_| {})
    }

    /// As [`Executor::check`]; `confine` is called in the child before the program is there.
    ///
    /// # Errors
    /// As for [`Executor::check`], and those of `confine`.
    ///
    /// # Safety
    /// `confine` makes none but async-signal-safe calls: see [`CommandExt::pre_exec`].
    #[allow(unsafe_code)]
    pub unsafe fn check_confined(
        &self,
        invocation: &Invocation,
        confine: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<Finished, ExecError> {
        // SAFETY: as the caller says.
        let prepare = |command: &mut Command| unsafe {
            command.pre_exec(confine);
        };
        self.run_with(invocation, || input(invocation), prepare)?.success()
    }

    /// As [`Executor::run`]; what the program reads from `stdin` is made when it is
    /// known to be there, and closed here once it has started.
    fn run_with(
        &self,
        invocation: &Invocation,
        stdin: impl FnOnce() -> io::Result<Stdio>,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Finished, ExecError> {
        if !invocation.uninterruptible {
            self.interrupt.check()?;
        }
        let program = &invocation.program;
        let path = find_program(program).ok_or_else(|| ExecError::Missing(program.clone()))?;
        let pipe = |source| ExecError::Pipe { program: program.clone(), source };
        let mut stdout = capture("stdout").map_err(pipe)?;
        let mut stderr = capture("stderr").map_err(pipe)?;
        let stdin = stdin().map_err(pipe)?;
        let mut command = command(path, invocation, stdin, &stdout, &stderr).map_err(pipe)?;
        if self.guest.is_none() {
            tie(&mut command);
        }
        keep(&mut command, invocation.inherited.clone());
        prepare(&mut command);
        let at_seconds = self.trace.now_seconds();
        let began = Instant::now();
        tracing::debug!(command = invocation.command_line(), "run");
        let child = command
            .spawn()
            .map_err(|source| ExecError::Start { program: program.clone(), source })?;
        // With it goes the reading end of a pipe, so that who feeds a program that
        // has died learns of it.
        drop(command);
        let interrupt = (!invocation.uninterruptible).then_some(&self.interrupt);
        let ended = wait(child.id(), invocation.timeout, interrupt, GRACE).map_err(pipe)?;
        let elapsed = began.elapsed();
        let code = ended.status.code().unwrap_or_else(|| 128 + ended.status.signal().unwrap_or(0));
        self.trace.push(entry(invocation, at_seconds, code, elapsed));
        let finished = Finished {
            code,
            stdout: read_back(&mut stdout).map_err(pipe)?,
            stderr: read_back(&mut stderr).map_err(pipe)?,
            elapsed,
            user: ended.user,
            system: ended.system,
            max_rss_kib: ended.max_rss_kib,
            command: invocation.command_line(),
        };
        if let (Some(directory), Some(name)) = (&self.raw, &invocation.save_as) {
            save(directory, name, &finished).map_err(pipe)?;
        }
        match ended.reason {
            Reason::Exited => Ok(finished),
            Reason::Interrupted => Err(Interrupted.into()),
            Reason::TimedOut => Err(ExecError::TimedOut {
                command: finished.command,
                limit: invocation.timeout.unwrap_or_default(),
            }),
        }
    }

    /// Runs a program that goes into the background by itself, such as a file system's
    /// daemon, and leaves there what it has started: the caller ends it. Returns
    /// what `ready` makes of its standard output, once it makes something of it.
    ///
    /// # Errors
    /// As [`Executor::check`]; where `ready` finds nothing within `patience`, too.
    pub fn start_daemon<T>(
        &self,
        invocation: &Invocation,
        patience: Duration,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ExecError> {
        self.interrupt.check()?;
        let program = &invocation.program;
        let path = find_program(program).ok_or_else(|| ExecError::Missing(program.clone()))?;
        let pipe = |source| ExecError::Pipe { program: program.clone(), source };
        let output = capture("stdout").map_err(pipe)?;
        let mut command = Command::new(path);
        command
            .args(&invocation.args)
            .envs(invocation.env.iter().map(|(k, v)| (k, v)))
            .env(OWNER_VARIABLE, owner())
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(pipe)?)
            .stderr(Stdio::null())
            .process_group(0);
        let at_seconds = self.trace.now_seconds();
        let began = Instant::now();
        tracing::debug!(command = invocation.command_line(), "start");
        if self.guest.is_none() {
            close_inherited(&mut command);
        }
        // Not `wait`, which ends the whole group.
        let status = command
            .status()
            .map_err(|source| ExecError::Start { program: program.clone(), source })?;
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        self.trace.push(entry(invocation, at_seconds, code, began.elapsed()));
        let command = invocation.command_line();
        loop {
            let text = so_far(&output).map_err(pipe)?;
            if code != 0 {
                let status = status_words(code);
                return Err(ExecError::Failed { command, status, stderr: tail(&text, 2000) });
            }
            if let Some(found) = ready(&text) {
                return Ok(found);
            }
            if began.elapsed() >= patience {
                return Err(ExecError::TimedOut { command, limit: patience });
            }
            self.interrupt.sleep(Duration::from_millis(20))?;
        }
    }

    /// Runs a program and asks for exit code 0.
    ///
    /// # Errors
    /// As [`Executor::run`], and where the exit code is not 0.
    pub fn check(&self, invocation: &Invocation) -> Result<Finished, ExecError> {
        self.run(invocation)?.success()
    }

    /// Runs a program whose standard input is what `feed` writes, on a thread of its
    /// own, while the program runs; asks for exit code 0. Whatever the invocation
    /// itself gives as standard input is left out.
    ///
    /// A program may end before it has read everything: `feed` then gets an error of
    /// kind [`io::ErrorKind::BrokenPipe`], should return it, and it counts for
    /// nothing.
    ///
    /// # Errors
    /// As [`Executor::check`], and where `feed` fails otherwise.
    pub fn check_fed(
        &self,
        invocation: &Invocation,
        feed: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
    ) -> Result<Finished, ExecError> {
        let pipe = |source| ExecError::Pipe { program: invocation.program.clone(), source };
        let (reader, mut writer) = io::pipe().map_err(pipe)?;
        // As large as everybody may have it (pipe-max-size in proc(5)): fewer turns.
        // A smaller one does as well.
        let _ = rustix::pipe::fcntl_setpipe_size(&writer, 1 << 20);
        std::thread::scope(|scope| {
            let feeding = scope.spawn(move || feed(&mut writer));
            let finished = self.run_with(invocation, || Ok(Stdio::from(reader)), |_| {});
            let fed = feeding.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
            let finished = finished?.success()?;
            match fed {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(pipe(error)),
                _ => Ok(finished),
            }
        })
    }
}

/// A program that has run, for the trace.
fn entry(invocation: &Invocation, at_seconds: f64, code: i32, elapsed: Duration) -> TraceEntry {
    TraceEntry {
        at_seconds,
        argv: invocation.argv(),
        cwd: invocation.cwd.as_ref().map(|c| c.display().to_string()),
        status: status_words(code),
        elapsed_seconds: elapsed.as_secs_f64(),
    }
}

/// A program's standard input.
fn input(invocation: &Invocation) -> io::Result<Stdio> {
    if invocation.stdin.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = capture("stdin")?;
    file.write_all(&invocation.stdin).and_then(|()| file.rewind())?;
    Ok(Stdio::from(file))
}

/// Has the kernel kill the child when disklab dies, even by `kill -9`, and hand the
/// child's orphans to the child, so that they can be found while it lives. The child inherits
/// no descriptor that is not its own.
#[allow(unsafe_code)]
pub(crate) fn tie(command: &mut Command) {
    close_inherited(command);
    let parent = getpid();
    // SAFETY: between fork and exec only async-signal-safe system calls are made.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // Since Linux 3.4; what descends from a program may be missed without.
            let _ = set_child_subreaper(Some(getpid()));
            // It may have died before this, and then no signal comes.
            if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
        });
    }
}

/// What a daemon has written into its output until now, 64 KiB at most. It writes on
/// where it was: reading moves nothing.
fn so_far(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 64 << 10];
    let mut read = 0;
    while let n @ 1.. = file.read_at(&mut bytes[read..], read as u64)? {
        read += n;
    }
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

fn read_back(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(OUTPUT_LIMIT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn save(directory: &Path, name: &str, finished: &Finished) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for (ending, bytes) in [("out", &finished.stdout), ("err", &finished.stderr)] {
        if !bytes.is_empty() {
            std::fs::write(directory.join(format!("{name}.{ending}")), bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::BootClock;

    fn executor() -> Executor {
        Executor::new(Interrupt::new())
    }

    #[test]
    fn output_and_trace_are_kept() {
        let facts = GuestFacts { versions: BTreeMap::new(), clock: BootClock::read() };
        for executor in [executor(), Executor::in_guest(facts)] {
            let directory = tempfile::tempdir().expect("temp");
            let executor = executor.with_raw(directory.path());
            let echo = Invocation::new("echo").arg("two words").save_as("greeting");
            let finished = executor.check(&echo).expect("echo");
            assert_eq!(finished.text(), "two words\n");
            assert_eq!(
                std::fs::read_to_string(directory.path().join("greeting.out")).expect("raw"),
                "two words\n"
            );
            let trace = executor.trace.take();
            assert_eq!(trace.len(), 1);
            assert_eq!(trace[0].command_line(), "echo 'two words'");
            assert_eq!(trace[0].status, "0");
        }
    }

    #[test]
    fn a_daemon_continues() {
        let executor = executor();
        let minute = Duration::from_secs(60);
        let sh = |script: &str| Invocation::new("sh").args(["-c", script]);
        let number = |text: &str| -> Option<i32> {
            let (number, _) = text.strip_prefix("PID=")?.split_once('\n')?;
            number.parse().ok()
        };
        // It tells its number when the one that started it has ended.
        let script = "setsid sh -c 'sleep 0.1; echo PID=$$; exec sleep 1000' &";
        let pid = executor.start_daemon(&sh(script), minute, number).expect("a daemon");
        executor.check(&Invocation::new("true")).expect("true");
        assert!(std::path::Path::new(&format!("/proc/{pid}")).exists(), "it goes on");
        assert_eq!(executor.trace.take()[0].status, "0");
        let pid = rustix::process::Pid::from_raw(pid).expect("pid");
        rustix::process::kill_process(pid, Signal::KILL).expect("killed");
        let failed = executor.start_daemon(&sh("echo no; exit 3"), minute, number);
        assert!(matches!(failed, Err(ExecError::Failed { .. })), "{failed:?}");
        let silent = executor.start_daemon(&sh("exit 0"), Duration::ZERO, number);
        assert!(matches!(silent, Err(ExecError::TimedOut { .. })), "{silent:?}");
        let none = executor.start_daemon(&Invocation::new("no-such-program"), minute, number);
        assert!(matches!(none, Err(ExecError::Missing(_))), "{none:?}");
    }

    #[test]
    fn output_can_go_to_a_file_in_its_order() {
        let directory = tempfile::tempdir().expect("temp");
        let log = directory.path().join("log");
        std::fs::write(&log, "before\n").expect("log");
        let sh = Invocation::new("sh").args(["-c", "echo one; echo two >&2; echo three"]);
        let finished = executor().check(&sh.output_to(&log)).expect("sh");
        assert_eq!(std::fs::read_to_string(&log).expect("log"), "before\none\ntwo\nthree\n");
        assert!(finished.stdout.is_empty() && finished.stderr.is_empty());
        let nowhere = Invocation::new("true").output_to(directory.path().join("no/such"));
        let error = executor().run(&nowhere).expect_err("no directory");
        assert!(matches!(error, ExecError::Pipe { .. }), "{error}");
    }

    #[test]
    fn programs_are_marked() {
        let env = executor().check(&Invocation::new("env")).expect("env");
        let mark = format!("{OWNER_VARIABLE}={}", owner());
        assert!(env.text().lines().any(|line| line == mark), "{}", env.text());
    }

    #[test]
    fn standard_input_reaches_the_program() {
        let cat = Invocation::new("cat").stdin("in and out");
        assert_eq!(executor().check(&cat).expect("cat").text(), "in and out");
    }

    #[test]
    fn a_program_can_be_fed_more_than_a_pipe_holds() {
        let wc = Invocation::new("wc").arg("-c");
        let feed = |to: &mut dyn Write| (0..100).try_for_each(|_| to.write_all(&[7; 100_000]));
        assert_eq!(executor().check_fed(&wc, feed).expect("wc").text().trim(), "10000000");
        let missing = Invocation::new("no-such-tool");
        let error = executor().check_fed(&missing, feed).expect_err("missing");
        assert!(matches!(error, ExecError::Missing(_)), "{error}");
    }

    #[test]
    fn feeder_learns_that_the_program_has_ended() {
        let endless = |to: &mut dyn Write| loop {
            to.write_all(&[7; 100_000])?;
        };
        let head = Invocation::new("head").args(["-c", "3"]);
        assert_eq!(executor().check_fed(&head, endless).expect("head").stdout, [7; 3]);
        let error = executor().check_fed(&Invocation::new("false"), endless).expect_err("false");
        assert!(matches!(error, ExecError::Failed { .. }), "{error}");
        let cat = Invocation::new("cat");
        let failing = |_: &mut dyn Write| Err(io::Error::other("nothing to give"));
        let error = executor().check_fed(&cat, failing).expect_err("nothing to give");
        assert!(error.to_string().contains("nothing to give"), "{error}");
    }

    #[test]
    fn failure_says_what_the_program_said() {
        let ls = Invocation::new("ls").arg("/no/such/place");
        let error = executor().check(&ls).expect_err("must fail").to_string();
        assert!(error.contains("`ls /no/such/place` failed"), "{error}");
        assert!(error.contains("No such file"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = executor().check(&Invocation::new("no-such-tool")).expect_err("missing");
        assert!(matches!(error, ExecError::Missing(name) if name == "no-such-tool"));
    }

    #[test]
    fn a_time_limit_kills_the_whole_group() {
        let sh = Invocation::new("sh")
            .args(["-c", "sleep 1000 & echo $!; wait"])
            .timeout(Duration::from_millis(300));
        let executor = executor();
        let directory = tempfile::tempdir().expect("temp");
        let executor = executor.with_raw(directory.path());
        let error = executor.run(&sh.save_as("sh")).expect_err("must time out");
        assert!(matches!(error, ExecError::TimedOut { .. }), "{error}");
        let pid = std::fs::read_to_string(directory.path().join("sh.out")).expect("pid");
        let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
        for _ in 0..100 {
            let gone = std::fs::read_to_string(&stat).map_or(true, |s| s.contains(") Z "));
            if gone {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the worker {pid} outlived its group");
    }

    #[test]
    fn an_interrupt_stops_it() {
        let executor = executor();
        let raiser = executor.interrupt.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            raiser.raise();
        });
        let error = executor.run(&Invocation::new("sleep").arg("1000")).expect_err("stopped");
        assert!(matches!(error, ExecError::Interrupted(_)));
        thread.join().expect("thread");
        let cleanup = Invocation::new("true").uninterruptible();
        assert_eq!(executor.check(&cleanup).expect("cleanup still runs").code, 0);
    }

    #[test]
    fn cpu_time_includes_children() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let sh = Invocation::new("sh").args(["-c", &format!("sh -c '{busy}'; true")]);
        let finished = executor().check(&sh).expect("busy loop");
        assert!(finished.user + finished.system > Duration::from_millis(10));
    }
}
