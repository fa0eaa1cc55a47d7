//! The steps of a build.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_exec::{ExecError, Executor, Finished, Invocation};

use super::KernelError;
use super::backports;
use super::cache_files::{APT, CONFIG, KERNEL, LOG, PROGRAMS, RECIPE, remove};
use super::failure::lines_of_failure;
use super::headers;
use super::left_out;
use super::linux::LinuxVersion;
use super::make::{age, make};
use super::options;
use super::patches::Patch;
use super::progress::{BuildProgress, BuildStep, Compilation, Tail};
use super::recipe::Recipe;
use super::source::{self, Origin};
use super::tree;
use super::variant::PLAIN;
use super::zfs::{self, Openzfs, ZfsSource};

/// Half of the source is for other machines and for devices that the guest does
/// not have. Their Kconfig files are needed, their programs are not. A pattern of tar a line.
const NOT_UNPACKED: &str = include_str!("../../../../kernel/not-unpacked");
/// How often the log is read for progress.
const POLL: Duration = Duration::from_millis(200);

/// A build that runs.
pub(super) struct Build<'a> {
    /// Where it happens.
    pub workshop: &'a Path,
    /// The log, which outlives it.
    pub log: &'a Path,
    /// It names the OpenZFS once that is fetched.
    pub recipe: Recipe,
    /// Where OpenZFS comes from, if the kernel is to have it.
    pub zfs: Option<&'a ZfsSource>,
    /// The patches that a source which the user named did not take.
    pub left_out: Vec<Patch>,
    pub executor: &'a Executor,
    pub progress: &'a mut dyn FnMut(BuildProgress),
}

impl Build<'_> {
    /// Does all steps and returns a directory with all that is to be kept.
    pub fn run(&mut self, origin: &Origin) -> Result<PathBuf, KernelError> {
        let (made, out) = (self.workshop.join("made"), tree::objects(self.workshop));
        remove(&made).map_err(KernelError::io("cannot remove", &made))?;
        for directory in [&made, &out] {
            fs::create_dir_all(directory).map_err(KernelError::io("cannot make", directory))?;
        }
        // First, because it is what most often is not available.
        let openzfs = self.openzfs(&made)?;
        let tree = self.source(origin)?;
        if let Some(openzfs) = openzfs {
            self.integrate(&openzfs, &tree, &out)?;
        }
        self.configure(&tree, &out, &self.recipe.variant.fragment())?;
        // Precompiled headers are tried with the default's packaged source only.
        let is_packaged = !matches!(origin, Origin::Tree(_));
        let is_default = self.recipe.variant.version == LinuxVersion::default();
        self.compile(&tree, &out, is_packaged && is_default)?;
        for (from, to) in
            [(out.join("linux"), KERNEL), (out.join(".config"), CONFIG), (self.log.to_owned(), LOG)]
        {
            fs::copy(&from, made.join(to)).map_err(KernelError::io("cannot copy", &from))?;
        }
        let recipe = made.join(RECIPE);
        let text = self.recipe.text() + &left_out::line(&self.left_out);
        fs::write(&recipe, text).map_err(KernelError::io("cannot write", &recipe))?;
        Ok(made)
    }

    /// Has OpenZFS ready, if the kernel is to have it, and its programs in `made`.
    fn openzfs(&mut self, made: &Path) -> Result<Option<Openzfs>, KernelError> {
        let Some(source) = self.zfs else { return Ok(None) };
        let Self { workshop, log, executor, progress, .. } = self;
        let openzfs =
            source.get(workshop, &made.join(PROGRAMS), executor, progress, &|invocation| {
                step(invocation, log, executor)
            })?;
        self.recipe.openzfs = Some(openzfs.identity.clone());
        Ok(Some(openzfs))
    }

    /// Puts OpenZFS into the kernel's source.
    fn integrate(&mut self, openzfs: &Openzfs, tree: &Path, out: &Path) -> Result<(), KernelError> {
        let plain = PLAIN.of(self.recipe.variant.version);
        self.configure(tree, out, &plain.fragment())?;
        (self.progress)(BuildProgress::of(BuildStep::ConfigureZfs));
        let edits = self.recipe.variant.edits;
        zfs::into_kernel(&openzfs.tree, edits, tree, out, &|i| self.step(i))
    }

    /// Has the source ready in a directory.
    fn source(&mut self, origin: &Origin) -> Result<PathBuf, KernelError> {
        let tarball = match origin {
            Origin::Tree(directory) => return self.named_source(directory),
            Origin::Tarball(tarball) => Some(tarball.clone()),
            Origin::Package | Origin::Backports => None,
        };
        let version = self.recipe.variant.version;
        let (tree, is_there) = tree::source_directory(self.workshop)?;
        if is_there {
            return Ok(tree);
        }
        let tarball = match tarball {
            Some(tarball) => tarball,
            None => {
                (self.progress)(BuildProgress::of(BuildStep::Fetch));
                match origin {
                    Origin::Backports => {
                        let apt = self.workshop.join(APT);
                        backports::fetch(version, &apt, self.workshop, self.executor)?
                    }
                    _ => source::fetch(version.package(), self.workshop, self.executor)?,
                }
            }
        };
        (self.progress)(BuildProgress::of(BuildStep::Unpack));
        self.unpack(&tarball, &tree)?;
        tree::unpacked(self.workshop)?;
        Ok(tree)
    }

    /// A copy of a source that the user named, with the patches that it takes.
    fn named_source(&mut self, directory: &Path) -> Result<PathBuf, KernelError> {
        (self.progress)(BuildProgress::of(BuildStep::Unpack));
        // What was copied in part, or has been patched, is copied again: which patches it took is
        // not written down.
        let _ = fs::remove_file(self.workshop.join(tree::UNPACKED));
        let (tree, _) = tree::source_directory(self.workshop)?;
        source::copy(directory, &tree, &|invocation| self.step(invocation))?;
        self.left_out.clear();
        for patch in self.recipe.patches {
            if self.would_patch(&tree, patch, "--forward")? {
                self.patch(&tree, patch)?;
            } else if !self.would_patch(&tree, patch, "--reverse")? {
                self.left_out.push(*patch);
            }
        }
        Ok(tree)
    }

    /// Whether a source takes a patch as it is, or has it (in reverse).
    fn would_patch(&self, tree: &Path, patch: &Patch, way: &str) -> Result<bool, KernelError> {
        let only = ["--batch", "--dry-run", "--fuzz=0", "-p1", way, "-d"];
        let patch = Invocation::new("patch").args(only).arg(tree).stdin(patch.text);
        Ok(self.executor.run(&patch)?.code == 0)
    }

    fn patch(&self, tree: &Path, patch: &Patch) -> Result<(), KernelError> {
        tracing::debug!(patch.name, "patch");
        let invocation = Invocation::new("patch").args(["--batch", "-p1", "-d"]).arg(tree);
        self.step(invocation.stdin(patch.text))?;
        patch.files().try_for_each(|file| age(&tree.join(file)))
    }

    fn unpack(&self, tarball: &Path, tree: &Path) -> Result<(), KernelError> {
        let tar = Invocation::new("tar")
            .args(NOT_UNPACKED.lines().map(|pattern| format!("--exclude={pattern}")))
            .args(["--no-same-owner", "--strip-components=1", "-xJf"])
            .arg(tarball)
            .arg("-C")
            .arg(tree);
        self.step(tar)?;
        self.recipe.patches.iter().try_for_each(|patch| self.patch(tree, patch))
    }

    fn configure(&mut self, tree: &Path, out: &Path, fragment: &str) -> Result<(), KernelError> {
        (self.progress)(BuildProgress::of(BuildStep::Configure));
        let wanted = self.workshop.join("lab.config");
        fs::write(&wanted, fragment).map_err(KernelError::io("cannot write", &wanted))?;
        let all = format!("KCONFIG_ALLCONFIG={}", wanted.display());
        self.step(make(tree, out).arg(all).arg("allnoconfig"))?;
        let config = out.join(".config");
        let text = fs::read_to_string(&config).map_err(KernelError::io("cannot read", &config))?;
        let differences = options::compare(fragment, &text);
        for name in &differences.unwanted {
            // It makes the kernel larger, not wrong.
            tracing::debug!("{name} is on all the same");
        }
        if differences.missing.is_empty() {
            return Ok(());
        }
        let makefile = fs::read_to_string(tree.join("Makefile")).unwrap_or_default();
        Err(KernelError::Options {
            release: source::release(&makefile).unwrap_or_default(),
            options: differences.missing,
        })
    }

    fn compile(&mut self, tree: &Path, out: &Path, known: bool) -> Result<(), KernelError> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let mut make = make(tree, out);
        if known {
            let compiler = headers::compiler(self.workshop)?;
            make = make.arg(format!("CC={}", compiler.display()));
        }
        let make = make.arg(format!("-j{jobs}")).arg("linux").output_to(self.log);
        let mut log = Tail::open(self.log).map_err(KernelError::io("cannot read", self.log))?;
        log.more();
        let variant = self.recipe.variant;
        let objects_of = |parts| variant.with(parts).objects();
        let expected = tree::begin(self.workshop, variant.parts, objects_of);
        let mut compilation = Compilation::new(expected);
        let mut reported = None;
        let progress = &mut *self.progress;
        let finished = watched(self.executor, &make, || {
            compilation.take(&log.more());
            let now = compilation.progress();
            if reported.replace(now) != Some(now) {
                progress(now);
            }
        })?;
        judge(&finished, self.log)
    }

    fn step(&self, invocation: Invocation) -> Result<(), KernelError> {
        step(invocation, self.log, self.executor)
    }
}

/// Runs a program whose output goes to the log.
fn step(invocation: Invocation, log: &Path, executor: &Executor) -> Result<(), KernelError> {
    judge(&executor.run(&invocation.output_to(log))?, log)
}

fn judge(finished: &Finished, log: &Path) -> Result<(), KernelError> {
    if finished.code == 0 {
        return Ok(());
    }
    let bytes = fs::read(log).unwrap_or_default();
    Err(KernelError::Failed {
        command: finished.command.clone(),
        code: finished.code,
        log: log.to_owned(),
        lines: lines_of_failure(&String::from_utf8_lossy(&bytes)),
    })
}

/// Runs a program and calls `look` again and again while it runs.
fn watched(
    executor: &Executor,
    invocation: &Invocation,
    mut look: impl FnMut(),
) -> Result<Finished, ExecError> {
    std::thread::scope(|scope| {
        // The thread lives as long as the program, which dies with it.
        let running = scope.spawn(|| executor.run(invocation));
        while !running.is_finished() {
            std::thread::sleep(POLL);
            look();
        }
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
