//! The kernel's working directory: from inside, it is the same in every run.
//!
//! The guest's kernel keeps the paths that it looks up, so that their lengths and depths
//! count in its memory. All that it looks up on the host therefore has a short name in a
//! directory whose own path has as many parts, as short, on any machine.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use disklab_lab_guest::{KERNEL_DIRECTORY, LAB_ON_HOST, launcher, on_host};
use rustix::fs::StatVfsMountFlags;

use crate::guest_memory::{NamedDirectory, PARENTS};
use crate::options::LabOptions;
use crate::{LabError, Sockets};

/// The program that the kernel starts.
const FIRST_PROGRAM: &str = "first-program";
/// The link to the directory of the guest's first program, and where it is mounted.
const PROGRAM_DIRECTORY: &str = "program-directory";
const PROGRAM_PLACE: &str = "program";
/// The link to that program: a program finds on its stack the path that it was started
/// by, and a longer one moves all that follows.
const NEXT_PROGRAM: &str = "next-program";
/// Links, a program of one page and the kernel's own files.
const BYTES: u64 = 1 << 20;

/// The directory. It goes when this does.
#[derive(Debug)]
pub(crate) struct WorkDir(NamedDirectory);

impl WorkDir {
    /// Makes it for a lab. Where none of the directories will do, it is in the lab's own, and
    /// figures that depend on each page of memory differ between directories.
    pub fn new(options: &LabOptions) -> Result<Self, LabError> {
        let directory = PARENTS
            .iter()
            .map(Path::new)
            .filter(|parent| executes(parent))
            .find_map(|parent| NamedDirectory::within(parent, BYTES))
            .or_else(|| NamedDirectory::within(&options.directory, 0));
        let what = "create a working directory for the kernel, in /dev/shm or /var/tmp";
        let missing = || LabError::system(what)(io::Error::from(io::ErrorKind::PermissionDenied));
        let place = Self(directory.ok_or_else(missing)?);
        let what = format!("fill the kernel's working directory '{}'", place.path().display());
        place.fill(options).map_err(LabError::system(what))?;
        Ok(place)
    }

    /// Its path on the host.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// What the kernel is to start.
    pub fn first_program() -> String {
        format!("{KERNEL_DIRECTORY}/{FIRST_PROGRAM}")
    }

    fn fill(&self, options: &LabOptions) -> io::Result<()> {
        let here = self.path();
        let lab = options.directory.canonicalize()?;
        let disks = (0..options.disks.len()).map(Sockets::disk);
        for socket in disks.chain([Sockets::CALENDAR.to_owned()]) {
            symlink(lab.join(&socket), here.join(&socket))?;
        }
        symlink(&lab, here.join(LAB_ON_HOST))?;
        for (name, directory) in &options.shown {
            symlink(directory.canonicalize()?, here.join(name))?;
        }
        let program = options.init.canonicalize()?;
        // It is a file, so it has both.
        let (Some(directory), Some(name)) = (program.parent(), program.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        symlink(directory, here.join(PROGRAM_DIRECTORY))?;
        fs::create_dir(here.join(PROGRAM_PLACE))?;
        let place = format!("{KERNEL_DIRECTORY}/{PROGRAM_PLACE}");
        // Relative: the guest follows it, to what it mounts there.
        symlink(Path::new(PROGRAM_PLACE).join(name), here.join(NEXT_PROGRAM))?;
        let next = format!("{KERNEL_DIRECTORY}/{NEXT_PROGRAM}");
        let first = here.join(FIRST_PROGRAM);
        fs::write(
            &first,
            launcher(&on_host(PROGRAM_DIRECTORY).display().to_string(), &place, next.as_bytes()),
        )?;
        fs::set_permissions(first, Permissions::from_mode(0o755))
    }
}

/// Whether programs can be executed there.
fn executes(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|s| !s.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// Names in the working directory that are not for [`LabOptions::shown`].
pub(crate) fn is_taken(name: &str) -> bool {
    let own = [FIRST_PROGRAM, NEXT_PROGRAM, PROGRAM_DIRECTORY, PROGRAM_PLACE, LAB_ON_HOST];
    // Of the kernel's own, and of the directory's lock.
    let others = [Sockets::CALENDAR, "kernel", "lock"];
    own.contains(&name) || others.contains(&name) || name.starts_with("disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_short_name_at_a_path_of_one_shape() {
        let directory = tempfile::tempdir().unwrap();
        let long = directory.path().join("a directory, with a name".repeat(8));
        fs::create_dir(&long).unwrap();
        let mut options = LabOptions::new("/k", &long, "/bin/sh");
        options.shown = vec![("raw", long.clone())];
        let place = WorkDir::new(&options).unwrap();
        let path = place.path().to_owned();
        assert_eq!(fs::read_link(path.join("raw")).unwrap(), long.canonicalize().unwrap());
        assert!(path.join(FIRST_PROGRAM).is_file());
        // Names of up to 39 bytes lie in the kernel's own entries
        // (`include/linux/dcache.h`, DNAME_INLINE_LEN).
        let parts: Vec<usize> = path.components().map(|c| c.as_os_str().len()).collect();
        if path.starts_with(&long) {
            eprintln!("skipped: needs /dev/shm or /var/tmp, where programs can be executed");
        } else {
            assert!(parts.len() == 4 && parts.iter().all(|length| *length < 40), "{parts:?}");
        }
        drop(place);
        assert!(!path.exists());
        assert!(long.exists(), "links are not followed");
    }
}
