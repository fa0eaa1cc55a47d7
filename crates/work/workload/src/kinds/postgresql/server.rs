//! A cluster in the directory of the cell, and the server while it runs.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use disklab_exec::{ExecError, Executor, Finished, Interrupt, Invocation};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};

use super::programs::{Programs, User, is_root};
use crate::WorkloadError;

/// The cluster's directory, in the directory of the cell. Its socket lies in it too:
/// the directory is for the server's user alone.
pub(super) const DIRECTORY: &str = "cluster";

/// The cluster's directory, as the programs are told: all of them are started in it. So
/// the way to it need not be open to the server's user, and no path is longer than
/// the 107 bytes that a socket may have (unix(7)).
pub(super) const HERE: &str = "/proc/self/cwd";

/// The number in the socket's name.
pub(super) const PORT: &str = "5432";
/// The cluster's owner, and the database.
pub(super) const ROLE: &str = "disklab";
pub(super) const DATABASE: &str = "postgres";

/// How long a server may take to be ready or to end; the latter writes what a
/// checkpoint writes.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long one that is asked to end at once may take. Its processes are killed after
/// 5 s (SIGKILL_CHILDREN_AFTER_SECS in PostgreSQL's postmaster.c).
const AT_ONCE: Duration = Duration::from_secs(20);
/// How long between two looks.
const POLL: Duration = Duration::from_millis(20);

/// A cluster of databases.
#[derive(Debug)]
pub(super) struct Cluster {
    directory: PathBuf,
    programs: Programs,
    /// Who runs the programs, where it is not the user of disklab.
    pub user: Option<User>,
}

impl Cluster {
    /// The one that [`Cluster::make`] has made.
    ///
    /// # Errors
    /// [`WorkloadError::NoUser`] if disklab is run by root and the system has no other user for it.
    pub fn at(directory: &Path) -> Result<Self, WorkloadError> {
        let user = if is_root() {
            Some(User::instead_of_root().ok_or(WorkloadError::NoUser)?)
        } else {
            None
        };
        Ok(Self { directory: directory.join(DIRECTORY), programs: Programs::find(), user })
    }

    /// Makes one.
    ///
    /// # Errors
    /// [`WorkloadError::NoUser`], or what initdb printed.
    pub fn make(directory: &Path, executor: &Executor) -> Result<Self, WorkloadError> {
        let cluster = Self::at(directory)?;
        fs::create_dir(&cluster.directory)
            .map_err(WorkloadError::io("cannot make", &cluster.directory))?;
        cluster.hand_over(&cluster.directory)?;
        let initdb = cluster
            .program("initdb")
            .args(["-D", HERE, "-U", ROLE, "-A", "trust", "-E", "UTF8", "--no-locale", "-N"])
            .save_as("initdb");
        executor.check(&initdb)?;
        Ok(cluster)
    }

    /// Makes a directory private to the user of the programs.
    fn hand_over(&self, directory: &Path) -> Result<(), WorkloadError> {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
            .map_err(WorkloadError::io("cannot set the permissions of", directory))?;
        if let Some(user) = &self.user {
            chown(directory, Some(user.uid), Some(user.gid))
                .map_err(WorkloadError::io("cannot change the owner of", directory))?;
        }
        Ok(())
    }

    /// A directory for the programs to write to, which goes when it is dropped: in
    /// `place`, or where temporary files lie.
    ///
    /// # Errors
    /// [`WorkloadError::Io`] if it cannot be made, or given to the user of the server.
    pub fn private_directory(
        &self,
        place: Option<&Path>,
    ) -> Result<PrivateDirectory, WorkloadError> {
        let place = place.map_or_else(std::env::temp_dir, Path::to_owned);
        let cannot = "cannot create a directory in";
        fs::create_dir_all(&place).map_err(WorkloadError::io(cannot, &place))?;
        let directory = tempfile::Builder::new()
            .prefix("pgbench-")
            .tempdir_in(&place)
            .map_err(WorkloadError::io(cannot, &place))?;
        self.hand_over(directory.path())?;
        // Not closed on exec: programs reach it by this, whatever the way to it.
        let handle =
            rustix::fs::open(directory.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
                .map_err(|e| WorkloadError::io("cannot open", directory.path())(e.into()))?;
        Ok(PrivateDirectory { directory, handle })
    }

    /// One of PostgreSQL's programs, started in the cluster's directory.
    pub fn program(&self, name: &str) -> Invocation {
        let path = self.programs.path(name);
        let invocation = match &self.user {
            None => Invocation::new(path.display().to_string()),
            // Who changes users loses the wish to die with the parent (prctl(2)), so
            // it is told again.
            Some(user) => Invocation::new("setpriv")
                .arg(format!("--reuid={}", user.uid))
                .arg(format!("--regid={}", user.gid))
                .args(["--clear-groups", "--pdeathsig=KILL", "--"])
                .arg(path),
        };
        invocation.cwd(&self.directory)
    }

    /// The process and the state of a server that runs, from the lines of its
    /// `postmaster.pid` (utils/pidfile.h in PostgreSQL's sources).
    fn state(&self) -> Option<(i32, String)> {
        let text = fs::read_to_string(self.directory.join("postmaster.pid")).ok()?;
        let mut lines = text.lines();
        let process = lines.next()?.trim().parse().ok().filter(|pid| *pid > 1)?;
        let state = lines.nth(6).unwrap_or_default().trim().to_owned();
        Some((process, state))
    }
}

/// A directory that only the user of the programs may use.
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    directory: tempfile::TempDir,
    handle: OwnedFd,
}

impl PrivateDirectory {
    /// Its path here.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// What programs that get its path must inherit.
    pub fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Its path for programs that are started.
    pub fn path_for_programs(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }
}

/// A server that runs; it is stopped when this is dropped.
#[derive(Debug)]
pub(super) struct Server<'c> {
    cluster: &'c Cluster,
    thread: Option<JoinHandle<Result<Finished, ExecError>>>,
    /// Raised to have it killed.
    kill: Interrupt,
}

impl<'c> Server<'c> {
    /// Starts it, and returns when it takes connections.
    ///
    /// # Errors
    /// Where it ends instead, or the user asked to stop.
    pub fn start(
        cluster: &'c Cluster,
        settings: &[String],
        executor: &Executor,
    ) -> Result<Self, WorkloadError> {
        let mut invocation = cluster
            .program("postgres")
            .args(["-D", HERE, "-k", HERE, "-p", PORT])
            .args(["-c", "listen_addresses="])
            .save_as("postgres");
        for setting in settings {
            invocation = invocation.args(["-c", setting]);
        }
        // The same account of programs, but another wish to stop: Ctrl-C must not
        // kill the server before its clients are gone.
        let kill = Interrupt::new();
        let mut own = executor.clone();
        own.interrupt = kill.clone();
        let thread = std::thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(move || own.run(&invocation))
            .map_err(WorkloadError::Thread)?;
        let mut server = Self { cluster, thread: Some(thread), kill };
        server.await_ready(executor)?;
        Ok(server)
    }

    fn await_ready(&mut self, executor: &Executor) -> Result<(), WorkloadError> {
        let began = Instant::now();
        loop {
            executor.interrupt.sleep(POLL)?;
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(self.ended());
            }
            if self.cluster.state().is_some_and(|(_, state)| state == "ready") {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(WorkloadError::ServerNotReady(PATIENCE));
            }
        }
    }

    /// Why it has ended by itself.
    fn ended(&mut self) -> WorkloadError {
        let finished = self.thread.take().and_then(|thread| thread.join().ok());
        match finished.map(|finished| finished.and_then(Finished::success)) {
            Some(Err(error)) => error.into(),
            _ => WorkloadError::ServerEnded,
        }
    }

    /// Stops it in order: what it holds is written.
    ///
    /// # Errors
    /// Where it has ended before, or does not end in order.
    pub fn stop(mut self, executor: &Executor) -> Result<(), WorkloadError> {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Err(self.ended());
        }
        self.signal(Signal::INT);
        let began = Instant::now();
        while !self.has_ended() && began.elapsed() < PATIENCE {
            executor.interrupt.sleep(POLL)?;
        }
        if !self.has_ended() {
            return Err(WorkloadError::ServerRuns(PATIENCE));
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(finished)) => Ok(finished?.success().map(|_| ())?),
            _ => Ok(()),
        }
    }

    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// INT is a fast shutdown, QUIT an immediate one (postgres(1)).
    fn signal(&self, signal: Signal) {
        if let Some(process) = self.cluster.state().and_then(|(pid, _)| Pid::from_raw(pid)) {
            let _ = kill_process(process, signal);
        }
    }
}

impl Drop for Server<'_> {
    /// Whatever has happened, no process of it stays: first it is told to end at
    /// once, then killed.
    fn drop(&mut self) {
        let began = Instant::now();
        while !self.has_ended() && began.elapsed() < AT_ONCE {
            // Again and again: a server that only starts has no file yet.
            self.signal(Signal::QUIT);
            std::thread::sleep(POLL);
        }
        self.kill.raise();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
