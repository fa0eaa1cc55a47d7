//! Starting the kernel's process, and seeing that it ends.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use disklab_exec::{OWNER_VARIABLE, close_inherited, owner};
use disklab_lab_guest::{DiskTransport, GUEST, kept_memory};
use disklab_sample::TraceEntry;
use disklab_units::Bytes;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getppid, kill_process_group, pidfd_open,
    set_parent_process_death_signal, setrlimit, setsid,
};

use crate::confinement::{Confinement, ConfinementSupport, Supervisor};
use crate::console::{self, NO_MAPPING, NO_MEMORY, PANIC, tail};
use crate::guest_memory::{self, GuestMemory, MEMORY_VARIABLE, MemoryFile};
use crate::options::LabOptions;
use crate::place::WorkDir;
use crate::queue_words::queue_words;
use crate::{LabError, MappingLimit, Sockets};

const WATCH: &str = "watch the kernel's process";

/// virtio's number of a device that is such a disk: `VIRTIO_ID_BLOCK`, `VIRTIO_ID_SCSI`.
fn virtio_id(transport: DiskTransport) -> u32 {
    match transport {
        DiskTransport::Block => 2,
        DiskTransport::Scsi => 8,
    }
}

/// The kernel's process. It is killed when this goes.
#[derive(Debug)]
pub(crate) struct KernelProcess {
    child: Child,
    pidfd: OwnedFd,
    console: PathBuf,
    guest_memory: Bytes,
    status: Option<ExitStatus>,
    memory: Option<GuestMemory>,
    memory_file: Option<MemoryFile>,
    supervisor: Option<Supervisor>,
    _place: WorkDir,
}

impl KernelProcess {
    /// Starts it. [`disklab_exec::Executor`] is not used because it waits for the
    /// program's end, and this one only runs while it is served.
    pub fn start(options: &LabOptions, line: Option<OwnedFd>) -> Result<Self, LabError> {
        let failed = |source| LabError::Kernel { path: options.kernel.clone(), source };
        let kernel = options.kernel.canonicalize().map_err(failed)?;
        let arguments = arguments(options, line.is_some());
        guest_memory::sweep();
        let place = WorkDir::new(options)?;
        let mut command = Command::new(&kernel);
        // Nothing of this machine's environment may reach the guest.
        command
            .args(&arguments)
            .current_dir(place.path())
            .env_clear()
            .env("HOME", ".")
            .env(OWNER_VARIABLE, owner());
        let mut memory_bytes = options.memory_bytes;
        if keeps_memory(options) {
            command.envs(kept_memory::environment(memory_bytes));
            memory_bytes = kept_memory::file_bytes(memory_bytes);
        }
        let (memory, memory_file) = GuestMemory::new(memory_bytes, &kernel).unzip();
        let memory_path = memory.as_ref().map_or(options.directory.as_path(), GuestMemory::path);
        command.env("TMPDIR", memory_path);
        if let Some(file) = memory.as_ref().and_then(GuestMemory::file) {
            command.env(MEMORY_VARIABLE, file.to_string());
        }
        let mut writable = vec![options.directory.as_path(), place.path(), memory_path];
        writable.extend(options.writable.iter().map(PathBuf::as_path));
        let support = ConfinementSupport::of_this_system();
        let (confinement, channel) = Confinement::new(support, &writable, &options.directory)?;
        let console = options.directory.join(console::FILE);
        let what = format!("make '{}'", console.display());
        let file = File::create(&console).map_err(LabError::system(what.clone()))?;
        let again = file.try_clone().map_err(LabError::system(what))?;
        command.stdin(line.map_or_else(Stdio::null, Stdio::from)).stdout(file).stderr(again);
        let inherited = memory.as_ref().map(GuestMemory::inherited).unwrap_or_default();
        close_inherited(&mut command);
        die_with_us(&mut command, confinement, inherited);
        options.trace.push(TraceEntry {
            at_seconds: options.trace.now_seconds(),
            argv: std::iter::once(kernel.display().to_string()).chain(arguments).collect(),
            cwd: Some(place.path().display().to_string()),
            status: "started".to_owned(),
            elapsed_seconds: 0.0,
        });
        let child = command.spawn().map_err(failed)?;
        // Closes the child's end here, and lets go of the filters.
        drop(command);
        let watch = || {
            let pid = process(&child).ok_or(LabError::system(WATCH)(Errno::SRCH))?;
            let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(LabError::system(WATCH))?;
            let disks = options.disks.len();
            Ok((pidfd, Supervisor::new(channel.as_ref(), pid, &options.directory, disks)?))
        };
        match watch() {
            Ok((pidfd, supervisor)) => {
                if channel.is_some() && supervisor.is_none() {
                    report_unsupervised();
                }
                let status = None;
                let memory_file = memory_file.flatten();
                Ok(Self {
                    child,
                    pidfd,
                    console,
                    guest_memory: Bytes(options.memory_bytes),
                    status,
                    memory,
                    memory_file,
                    supervisor,
                    _place: place,
                })
            }
            Err(e) => {
                end(&child);
                Err(e)
            }
        }
    }

    /// What decides those calls of its process that are supervised: until it is served,
    /// they wait.
    pub fn take_supervisor(&mut self) -> Option<Supervisor> {
        self.supervisor.take()
    }

    /// Becomes readable when the process ends.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Its process.
    pub fn pid(&self) -> Option<Pid> {
        process(&self.child)
    }

    /// Takes away the place for the guest's memory, which by now is a file without a
    /// name: nothing stays behind then even where we are killed.
    pub fn has_memory(&mut self) {
        self.memory = None;
    }

    /// The file of the guest's memory, for the caller that sees its end.
    pub fn take_memory_file(&mut self) -> Option<MemoryFile> {
        self.memory_file.take()
    }

    /// Waits for the end of a process that ends by itself, and says whether the
    /// guest was powered off.
    pub fn finish(&mut self) -> Result<(), LabError> {
        let status = self.child.wait().map_err(LabError::system("wait for the kernel"))?;
        self.status = Some(status);
        if status.success() {
            return Ok(());
        }
        let console = self.console_tail();
        let limit = MappingLimit::of_this_system();
        let mappings = limit.and_then(|limit| limit.remedy(self.guest_memory));
        if console.contains(NO_MAPPING) {
            return Err(LabError::NoMapping { remedy: mappings, console });
        }
        if NO_MEMORY.iter().any(|words| console.contains(words)) {
            let memory_bytes = self.guest_memory.0;
            return Err(LabError::GuestMemory { memory_bytes, mappings, console });
        }
        if console.contains(PANIC) {
            return Err(LabError::Panic { console });
        }
        let status = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        };
        Err(LabError::Ended { status, console })
    }

    /// Ends it, whatever it does.
    pub fn stop(&mut self) {
        end(&self.child);
        self.status = self.child.wait().ok();
    }

    /// The last lines of the console.
    pub fn console_tail(&self) -> String {
        tail(&self.console)
    }
}

impl Drop for KernelProcess {
    fn drop(&mut self) {
        end(&self.child);
        if self.status.is_none() {
            let _ = self.child.wait();
        }
    }
}

fn process(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Kills the process and those that stand for the guest's programs: all are in
/// one session, which is theirs alone.
fn end(child: &Child) {
    if let Some(pid) = process(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Whether the first program gives back what the kernel has set aside.
fn keeps_memory(options: &LabOptions) -> bool {
    options.init_arguments.first().is_some_and(|word| word == GUEST)
}

/// The kernel's command line.
fn arguments(options: &LabOptions, line: bool) -> Vec<String> {
    let mut words = vec![
        format!("mem={}K", options.memory_bytes >> 10),
        "root=/dev/root".to_owned(),
        "rootfstype=hostfs".to_owned(),
        "rootflags=/".to_owned(),
        // What is written goes to file systems that the guest mounts over it.
        "ro".to_owned(),
        "con=null".to_owned(),
        // Without, the kernel puts it behind the first program's arguments.
        "console=tty0".to_owned(),
        "con0=null,fd:1".to_owned(),
        "uml_dir=.".to_owned(),
        "umid=kernel".to_owned(),
        // It must end where it would start again.
        "noreboot".to_owned(),
        "panic=-1".to_owned(),
        // The same addresses in every run.
        "norandmaps".to_owned(),
        // The same randomness: `kernel/patches/entropy.patch`.
        format!("entropy={}", options.seed),
        format!("time-travel=ext:{}", Sockets::CALENDAR),
    ];
    if line {
        words.push("con1=fd:0,fd:0".to_owned());
    }
    for (index, disk) in options.disks.iter().enumerate() {
        let id = virtio_id(disk.transport);
        words.push(format!("virtio_uml.device={}:{id}", Sockets::disk(index)));
    }
    words.extend(queue_words(&options.disks));
    words.extend(options.kernel_arguments.iter().cloned());
    // Through the host's /proc, which the root shows: the kernel mixes its command line
    // into its randomness, so that no path that may differ between runs and machines
    // can be on it.
    words.push(format!("init={}", WorkDir::first_program()));
    if !options.init_arguments.is_empty() {
        words.push("--".to_owned());
        words.extend(options.init_arguments.iter().cloned());
    }
    words
}

/// Has the kernel's process killed when this one dies, even by `kill -9`, gives it
/// a session of its own, what it is to inherit, has it lie at the same addresses in every
/// run, and confines it.
#[allow(unsafe_code)]
fn die_with_us(command: &mut Command, mut confinement: Confinement, inherited: Vec<RawFd>) {
    let parent = getpid();
    // SAFETY: between fork and exec only async-signal-safe system calls are made.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // It may have died before this, and then no signal comes.
            if getppid() != Some(parent) {
                return Err(Errno::SRCH.into());
            }
            setsid()?;
            for fd in &inherited {
                // It is open: the parent waits until this process's program starts.
                fcntl_setfd(BorrowedFd::borrow_raw(*fd), FdFlags::empty())?;
            }
            // A panicking kernel aborts; its memory would be the core.
            setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
            // Some containers forbid it; addresses of the kernel's own stack
            // then differ between runs, which nothing should depend on.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(confinement.confine()?)
        });
    }
}

/// Reports, once for all guests of this process, that a protection is missing which this kernel
/// has: a process has one supervisor, and a container may have taken that place.
fn report_unsupervised() {
    static REPORT: std::sync::Once = std::sync::Once::new();
    REPORT.call_once(|| {
        tracing::error!(
            "a hostile guest could connect to your services' sockets: the container that disklab \
             runs in supervises system calls itself, so that the lab cannot; start the container \
             without a seccomp listener to close this"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_not_there_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let options = LabOptions::new("/no/such/kernel", directory.path(), "/bin/sh");
        let error = KernelProcess::start(&options, None).unwrap_err().to_string();
        assert!(error.contains("/no/such/kernel"), "{error}");
        assert!(error.contains("disklab lab build"), "{error}");
    }
}
