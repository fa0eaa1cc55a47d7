//! The kernel's working folder: from inside, it is the same in every run.
//!
//! The guest's kernel keeps the paths that it looks up, so that their lengths and depths
//! count in its memory. All that it looks up on the host therefore has a short name in a
//! folder whose own path has as many parts, as short, on any machine.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use disklab_lab_guest::{KERNEL_DIRECTORY, LAB_ON_HOST, launcher, on_host};
use rustix::fs::StatVfsMountFlags;

use crate::guest_memory::{NamedFolder, PARENTS};
use crate::options::LabOptions;
use crate::{LabError, Sockets};

/// The program that the kernel starts.
const FIRST_PROGRAM: &str = "first-program";
/// The link to the folder of the guest's first program, and where it is mounted.
const PROGRAM_FOLDER: &str = "program-directory";
const PROGRAM_PLACE: &str = "program";
/// The link to that program: a program finds on its stack the path that it was started
/// by, and a longer one moves all that follows.
const NEXT_PROGRAM: &str = "next-program";
/// Links, a program of one page and the kernel's own files.
const BYTES: u64 = 1 << 20;

/// The folder. It goes when this does.
#[derive(Debug)]
pub(crate) struct WorkDir(NamedFolder);

impl WorkDir {
    /// Makes it for a lab. Where none of the folders will do, it is in the lab's own, and
    /// figures that depend on each page of memory differ between folders.
    pub fn new(options: &LabOptions) -> Result<Self, LabError> {
        let folder = PARENTS
            .iter()
            .map(Path::new)
            .filter(|parent| executes(parent))
            .find_map(|parent| NamedFolder::within(parent, BYTES))
            .or_else(|| NamedFolder::within(&options.folder, 0));
        let what = "create a working directory for the kernel, in /dev/shm or /var/tmp";
        let missing = || LabError::system(what)(io::Error::from(io::ErrorKind::PermissionDenied));
        let place = Self(folder.ok_or_else(missing)?);
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
        let lab = options.folder.canonicalize()?;
        let disks = (0..options.disks.len()).map(Sockets::disk);
        for socket in disks.chain([Sockets::CALENDAR.to_owned()]) {
            symlink(lab.join(&socket), here.join(&socket))?;
        }
        symlink(&lab, here.join(LAB_ON_HOST))?;
        for (name, folder) in &options.shown {
            symlink(folder.canonicalize()?, here.join(name))?;
        }
        let program = options.init.canonicalize()?;
        // It is a file, so it has both.
        let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        symlink(folder, here.join(PROGRAM_FOLDER))?;
        fs::create_dir(here.join(PROGRAM_PLACE))?;
        let place = format!("{KERNEL_DIRECTORY}/{PROGRAM_PLACE}");
        // Relative: the guest follows it, to what it mounts there.
        symlink(Path::new(PROGRAM_PLACE).join(name), here.join(NEXT_PROGRAM))?;
        let next = format!("{KERNEL_DIRECTORY}/{NEXT_PROGRAM}");
        let first = here.join(FIRST_PROGRAM);
        fs::write(
            &first,
            launcher(&on_host(PROGRAM_FOLDER).display().to_string(), &place, next.as_bytes()),
        )?;
        fs::set_permissions(first, Permissions::from_mode(0o755))
    }
}

/// Whether programs can be executed there.
fn executes(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|s| !s.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// Names in the working folder that are not for [`LabOptions::shown`].
pub(crate) fn is_taken(name: &str) -> bool {
    let own = [FIRST_PROGRAM, NEXT_PROGRAM, PROGRAM_FOLDER, PROGRAM_PLACE, LAB_ON_HOST];
    // Of the kernel's own, and of the folder's lock.
    let others = [Sockets::CALENDAR, "kernel", "lock"];
    own.contains(&name) || others.contains(&name) || name.starts_with("disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_short_name_at_a_path_of_one_shape() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("a folder, with a name".repeat(8));
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
