//! A command line to be run.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program with its arguments and surroundings.
#[derive(Debug, Clone)]
pub struct Invocation {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) save_as: Option<String>,
    pub(crate) uninterruptible: bool,
    pub(crate) output_to: Option<PathBuf>,
    pub(crate) inherited: Vec<RawFd>,
}

impl Invocation {
    /// `program`, without arguments. `LC_ALL=C` is always set, so that output
    /// can be parsed.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: vec![("LC_ALL".to_owned(), "C".to_owned())],
            stdin: Vec::new(),
            timeout: None,
            save_as: None,
            uninterruptible: false,
            output_to: None,
            inherited: Vec::new(),
        }
    }

    /// Lets it inherit this descriptor, which it knows by its number. It must be open when the
    /// program is started.
    #[must_use]
    pub fn inherits(mut self, descriptor: &impl AsRawFd) -> Self {
        self.inherited.push(descriptor.as_raw_fd());
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_string_lossy().into_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        for arg in args {
            self = self.arg(arg);
        }
        self
    }

    /// Runs it in this directory.
    #[must_use]
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.cwd = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.env.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Gives it this standard input; without, it reads an empty one.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Stops it after this long: it is asked to end, and killed with all that it started
    /// where it does not within seconds.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Keeps its output as `NAME.out` and `NAME.err` in the executor's raw directory.
    #[must_use]
    pub fn save_as(mut self, name: &str) -> Self {
        self.save_as = Some(name.to_owned());
        self
    }

    /// Lets it finish even if the user asked to stop: for teardown.
    #[must_use]
    pub fn uninterruptible(mut self) -> Self {
        self.uninterruptible = true;
        self
    }

    /// Appends its standard output and its standard error to this file, where
    /// they can be read while it runs; [`Finished`](crate::Finished) has neither
    /// then.
    #[must_use]
    pub fn output_to(mut self, path: impl AsRef<Path>) -> Self {
        self.output_to = Some(path.as_ref().to_owned());
        self
    }

    /// Program and arguments.
    pub fn argv(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.args).cloned().collect()
    }

    /// The command line as one would type it.
    pub fn command_line(&self) -> String {
        disklab_sample::command_line(&self.argv())
    }
}
