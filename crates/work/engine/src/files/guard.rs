//! What jobs must not touch: looked at before anything is, and again when it is opened.
//!
//! A job file names paths, and behind a path there may be somebody's data: a block device,
//! under its own name or a link's, a file that is swap space or the data of a loop device.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use disklab_jobfile::{Engine, Job};
use disklab_measure::{FileUses, SystemRoot};

use super::device_access::{DeviceAccess, Untouchable};
use super::{FileTarget, targets};
use crate::context::JobContext;
use crate::error::EngineError;

/// Finds what jobs must not touch. Nothing is written.
///
/// # Errors
/// [`EngineError::Untouchable`] with the first such file.
pub fn preflight(jobs: &[Job], context: &JobContext) -> Result<(), EngineError> {
    if matches!(context.devices, DeviceAccess::Any) {
        return Ok(());
    }
    let uses = FileUses::now(&SystemRoot::here());
    for job in jobs.iter().filter(|job| job.engine != Engine::Null) {
        for target in distinct(job, context) {
            check_target(job, &target, &uses, context)
                .map_err(|why| EngineError::Untouchable { path: target.path.clone(), why })?;
        }
    }
    Ok(())
}

/// The block devices that jobs write to, each path once.
pub fn written_devices(jobs: &[Job], context: &JobContext) -> Vec<PathBuf> {
    let mut devices: Vec<PathBuf> = Vec::new();
    let writes = |job: &&Job| job.pattern.access.writes && job.engine != Engine::Null;
    for job in jobs.iter().filter(writes) {
        for FileTarget { path, .. } in distinct(job, context) {
            let there = fs::metadata(&path);
            if there.is_ok_and(|there| there.file_type().is_block_device())
                && !devices.contains(&path)
            {
                devices.push(path);
            }
        }
    }
    devices
}

/// The files of a job, each once: clones share those with fixed names. Of those, the part
/// that reaches furthest counts.
fn distinct(job: &Job, context: &JobContext) -> Vec<FileTarget> {
    let mut all: Vec<FileTarget> =
        (0..job.process.clones).flat_map(|clone| targets(job, clone, context)).collect();
    all.sort_by_key(|target| std::cmp::Reverse(target.extent.end()));
    let mut known = HashSet::new();
    all.retain(|target| known.insert(target.path.clone()));
    all
}

fn check_target(
    job: &Job,
    target: &FileTarget,
    uses: &FileUses,
    context: &JobContext,
) -> Result<(), Untouchable> {
    let there = match fs::metadata(&target.path) {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_in_dev(&target.path) => {
            return Err(Untouchable::NoDevice);
        }
        Err(_) if context.read_only => return Err(Untouchable::ReadOnly),
        // It is made, or what is wrong is told when it is opened.
        Err(_) => return Ok(()),
    };
    context.devices.check_kind(&there, job.pattern.access.writes)?;
    if context.read_only && changes(job, &there, target) {
        return Err(Untouchable::ReadOnly);
    }
    match changes(job, &there, target).then(|| uses.at(&target.path)).flatten() {
        Some(used) => Err(Untouchable::InUse(used)),
        None => Ok(()),
    }
}

/// Whether a job changes or removes a file, be it only to make it as long as it reads.
fn changes(job: &Job, there: &Metadata, target: &FileTarget) -> bool {
    let opening = &job.opening;
    let lays_out = there.is_file() && !opening.create_on_open && there.len() < target.extent.end();
    job.pattern.access.writes
        || opening.append
        || opening.unlink
        || opening.unlink_each_loop
        || lays_out
}

/// Whether a file of this path would lie among the device nodes.
fn is_in_dev(path: &Path) -> bool {
    // Directories on the way would be made, too.
    let there = path.ancestors().skip(1).find(|directory| directory.exists());
    let directory = there.and_then(|directory| directory.canonicalize().ok());
    directory.is_some_and(|directory| {
        directory.starts_with("/dev") && !directory.starts_with("/dev/shm")
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use disklab_jobfile::{Policy, Runner};
    use disklab_source::Source;

    use super::super::device_access::HeldDevice;
    use super::*;

    /// A job as `disklab fio` reads it: its files may be anywhere.
    fn jobs(options: &str) -> Vec<Job> {
        let text = format!("[job]\nsize=64k\n{options}\n");
        let source = Arc::new(Source { name: "test.fio".to_owned(), text });
        let policy = Policy { runner: Runner::Native, directory: true };
        disklab_jobfile::parse(&source, policy).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Only looks: the devices are those of this machine, and no test may hurt them.
    fn refused(options: &str, context: &JobContext) -> String {
        let error = preflight(&jobs(options), context).expect_err(options);
        assert!(matches!(error, EngineError::Untouchable { .. }), "{error}");
        error.to_string()
    }

    /// A block device of this machine, if it has one.
    fn block_device() -> Option<PathBuf> {
        let nodes = fs::read_dir("/sys/class/block").ok()?.flatten();
        let mut nodes = nodes.map(|entry| Path::new("/dev").join(entry.file_name()));
        nodes.find(|node| fs::metadata(node).is_ok_and(|there| there.file_type().is_block_device()))
    }

    #[test]
    fn writing_to_a_block_device_is_refused_under_each_of_its_names() {
        let Some(device) = block_device() else {
            eprintln!("skipped: needs a block device");
            return;
        };
        let directory = tempfile::tempdir().expect("temp");
        symlink(&device, directory.path().join("link")).expect("linked");
        symlink("link", directory.path().join("again")).expect("linked");
        let context = JobContext::new(directory.path(), 1);
        let shown = device.display().to_string();
        let name = shown.trim_start_matches("/dev/");
        for options in [
            format!("rw=write\nfilename={shown}"),
            format!("rw=randrw\nfilename={shown}\nnumjobs=3"),
            "rw=write\nfilename=link".to_owned(),
            "rw=write\nfilename=x:again".to_owned(),
            format!("rw=write\ndirectory=/dev\nfilename={name}"),
            format!("rw=write\nfilename=/dev/../dev/./{name}\ncreate_on_open=1"),
            format!("rw=write\nfilename={shown}\nfile_append=1"),
        ] {
            let text = refused(&options, &context);
            assert!(text.contains("is not touched: it is a block device"), "{options}: {text}");
        }
        assert!(!directory.path().join("x").exists(), "the other file was made");
        assert!(directory.path().join("link").is_symlink(), "the link was removed");
    }

    #[test]
    fn a_device_behind_a_path_that_changed_is_not_written_to() {
        let Some(device) = block_device() else {
            eprintln!("skipped: needs a block device");
            return;
        };
        let Ok(file) = File::open(&device) else {
            eprintln!("skipped: needs root");
            return;
        };
        let error = DeviceAccess::default().check_open(&file).expect_err("refused");
        assert!(error.to_string().contains("it is a block device"), "{error}");
        assert!(DeviceAccess::Any.check_open(&file).is_ok());
        let held = HeldDevice::new(file.try_clone().expect("duplicated")).expect("a device");
        assert!(DeviceAccess::Only(vec![Arc::new(held)]).check_open(&file).is_ok());
        assert!(HeldDevice::new(tempfile::tempfile().expect("temp")).is_err());
    }

    #[test]
    fn pipes_and_character_devices_other_than_null_are_refused() {
        let directory = tempfile::tempdir().expect("temp");
        let context = JobContext::new(directory.path(), 1);
        let pipe = directory.path().join("pipe");
        let name = std::ffi::CString::new(pipe.display().to_string()).expect("a name");
        // SAFETY: the name ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(refused("rw=read\nfilename=pipe", &context).contains("it is a pipe"));
        for rw in ["read", "write"] {
            let text = refused(&format!("rw={rw}\nfilename=/dev/tty"), &context);
            assert!(text.contains("it is a character device"), "{text}");
        }
        assert!(preflight(&jobs("rw=write\nfilename=/dev/null"), &context).is_ok());
    }

    #[test]
    fn no_file_is_made_among_the_devices() {
        let directory = tempfile::tempdir().expect("temp");
        let context = JobContext::new(directory.path(), 1);
        for rw in ["read", "write"] {
            let text = refused(&format!("rw={rw}\nfilename=/dev/disklab-none"), &context);
            assert!(text.contains("there is no such device"), "{text}");
        }
        assert!(!Path::new("/dev/disklab-none").exists());
    }

    #[test]
    fn a_node_is_not_removed_by_a_job_that_unlinks() {
        let directory = tempfile::tempdir().expect("temp");
        let context = JobContext::new(directory.path(), 1);
        symlink("/dev/null", directory.path().join("null")).expect("linked");
        let jobs = jobs("rw=write\nfilename=null\nunlink=1");
        assert!(crate::run(&jobs, &context).is_ok());
        assert!(directory.path().join("null").is_symlink(), "the link to a device was removed");
    }
}
