//! Making the members of a new array agree.
//!
//! Members that all read as zeros agree already: copies are equal, the XOR of
//! zeros is zero, and so is RAID 6's second syndrome, a sum of products in
//! GF(2^8) (H. P. Anvin, 'The mathematics of RAID-6'). Then `--assume-clean` is
//! honest. With anything else on the drives it is not: parity that was never
//! right stays wrong under small writes, and a mirror gives back one thing or
//! another.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Md, Resync};
use crate::wait::nap;
use crate::{LayerContext, StackError};

/// In KiB/s, beyond any drive: the kernel's own limits of 1 MB/s alongside other
/// I/O and 200 MB/s without would make the wait longer for nothing.
const UNLIMITED: &str = "10000000";

/// How long an array may be idle without its members agreeing before that
/// counts as a failure: the kernel begins a moment after the array starts.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

impl Md {
    /// Waits for the resync of `array`, or says why none is needed.
    pub(super) fn agree(
        &self,
        array: &str,
        resync: Resync,
        context: &mut LayerContext<'_>,
    ) -> Result<(), StackError> {
        let why = if self.resync.is_some() { "as asked" } else { "as the lab makes none" };
        match (resync, context.below.reads_zeros) {
            (Resync::Skip, true) => context.note(
                self.layer,
                "no first resync: the members read as zeros, so their copies and parity agree",
            ),
            (Resync::Skip, false) => context.note(
                self.layer,
                format!(
                    "no first resync, {why}, on members that may hold anything: copies and parity \
                     of what is not written may disagree, so a drive failure could lose data; \
                     speeds are not affected"
                ),
            ),
            (Resync::Wait, _) => {
                let directory = Path::new("/sys/block").join(array).join("md");
                self.wait(&directory, context)?;
                context.note(self.layer, "resynced before the first use");
            }
        }
        Ok(())
    }

    fn wait(&self, directory: &Path, context: &LayerContext<'_>) -> Result<(), StackError> {
        let limits = ["sync_speed_max", "sync_speed_min"].map(|name| directory.join(name));
        set(&limits, UNLIMITED)?;
        let mut idle_since = None;
        loop {
            match Progress::read(directory)? {
                Progress::Done => break,
                Progress::AtWork => idle_since = None,
                Progress::Idle => {
                    if idle_since.get_or_insert_with(Instant::now).elapsed() > IDLE_LIMIT {
                        return Err(StackError::MembersDiffer { layer: self.layer.to_owned() });
                    }
                }
            }
            nap(context, self.layer)?;
        }
        set(&limits, "system")
    }
}

fn set(files: &[PathBuf], value: &str) -> Result<(), StackError> {
    for file in files {
        std::fs::write(file, value).map_err(|e| StackError::io("cannot write", file, e))?;
    }
    Ok(())
}

/// How far a resync is.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    Done,
    AtWork,
    /// Nothing is running, but members are missing or not in step.
    Idle,
}

impl Progress {
    fn read(directory: &Path) -> Result<Self, StackError> {
        let read = |name: &str| {
            let path = directory.join(name);
            std::fs::read_to_string(&path).map_err(|e| StackError::io("cannot read", &path, e))
        };
        Ok(Self::of(&read("sync_action")?, &read("degraded")?, &read("resync_start")?))
    }

    /// From the words of `/sys/block/md*/md` (kernel: `Documentation/admin-guide/md.rst`).
    fn of(sync_action: &str, degraded: &str, resync_start: &str) -> Self {
        match (sync_action.trim(), degraded.trim(), resync_start.trim()) {
            ("idle", "0", "none") => Self::Done,
            ("idle" | "frozen", _, _) => Self::Idle,
            _ => Self::AtWork,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_states_are_parsed() {
        for (action, degraded, start, progress) in [
            ("idle\n", "0\n", "none\n", Progress::Done),
            ("resync\n", "0\n", "none\n", Progress::AtWork),
            ("recover\n", "1\n", "none\n", Progress::AtWork),
            ("idle\n", "1\n", "none\n", Progress::Idle),
            ("idle\n", "0\n", "0\n", Progress::Idle),
        ] {
            assert_eq!(Progress::of(action, degraded, start), progress, "{action}{degraded}");
        }
    }
}
