//! Unmounting, whatever still uses the file system.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::Invocation;
use disklab_measure::Mount;
use serde::{Deserialize, Serialize};

use super::users::{Holder, kill_users, users_of};
use super::{Marks, Obstacle, Teardown, TeardownContext, UnseenContent, inspect, pool};
use crate::StackError;
use crate::mounts::{as_kernel_shows, mounts};

/// How long to keep trying before the last resort. Killed processes end within
/// milliseconds, except where they wait for a slow disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// Unmount a directory, killing whatever still uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmount(pub PathBuf);

impl Teardown for Unmount {
    /// Unmounts what is mounted at exactly `path`, all of it where mounts are
    /// stacked.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let path = &self.0;
        let path = as_kernel_shows(path);
        let mut left = mounted_at(&path)?;
        if left == 0 {
            return Ok(false);
        }
        let began = Instant::now();
        let mut nap = Duration::from_millis(20);
        let mut holders;
        let mut failure;
        loop {
            let umount = Invocation::new("umount").arg("-c").arg(&path).uninterruptible();
            failure = context.executor.check(&umount).err();
            let now = mounted_at(&path)?;
            if now == 0 {
                return Ok(true);
            }
            if failure.is_none() && now < left {
                left = now;
                continue;
            }
            left = now;
            // fio's forked workers, for one, survive a `kill -9` of disklab.
            holders = if context.by_force { kill_users(&path) } else { users_of(&path) };
            if began.elapsed() >= PATIENCE {
                break;
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(500));
        }
        if !context.by_force {
            let by = by_whom(&path, &holders);
            return Err(StackError::InUse { path, by });
        }
        let lazy = Invocation::new("umount").args(["-c", "-l"]).arg(&path).uninterruptible();
        for _ in 0..left {
            context
                .executor
                .check(&lazy)
                .map_err(|source| StackError::Program { layer: "unmount".to_owned(), source })?;
        }
        if mounted_at(&path)? > 0 {
            return Err(StackError::StillMounted(path));
        }
        let by = by_whom(&path, &holders);
        context.complaints.push(StackError::OnlyDetached {
            path,
            by,
            source: failure.map(Box::new),
        });
        Ok(true)
    }

    /// Why what is mounted at `path` is to stay: it is another file system, is used, or
    /// holds what the run did not make.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let path = &self.0;
        let shown = as_kernel_shows(path);
        let here: Vec<Mount> = mounts()?.into_iter().filter(|m| m.mount_point == shown).collect();
        let mut found = Vec::new();
        for mount in &here {
            match is_own(mount, marks, context) {
                Ok(true) => {}
                Ok(false) => found.push(Obstacle::Mount {
                    source: mount.source.clone(),
                    at: mount.mount_point.clone(),
                }),
                Err(error) => {
                    let content = UnseenContent::Mounted(error.into());
                    found.push(Obstacle::Unseen { on: path.to_owned(), content });
                }
            }
        }
        if !here.is_empty() && found.is_empty() {
            found = inspect::submounts(&shown)?;
            found.extend(inspect::entries(&shown, marks)?);
            found.extend(inspect::processes(&shown));
        }
        Ok(found)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        self.tear_down(context).map(|_| ())
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0]
    }

    fn ends_with_boot(&self) -> bool {
        true
    }
}

impl fmt::Display for Unmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the mount at {}", self.0.display())
    }
}

/// Whether the file system that is mounted is one that the run made.
fn is_own(mount: &Mount, marks: &Marks, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    if mount.fs_type == "zfs" {
        return pool::is_own_file_system(&mount.source.to_string_lossy(), marks, context);
    }
    if !mount.source.is_absolute() {
        return Ok(false);
    }
    inspect::has_own(&mount.source, marks, context)
}

fn mounted_at(path: &Path) -> Result<usize, StackError> {
    Ok(mounts()?.iter().filter(|m| m.mount_point == path).count())
}

/// ' by …', as far as that is known.
fn by_whom(path: &Path, holders: &[Holder]) -> Vec<String> {
    let mut words: Vec<String> = holders.iter().map(Holder::to_string).collect();
    let below = |m: &&Mount| m.mount_point != path && m.mount_point.starts_with(path);
    words.extend(
        mounts()
            .unwrap_or_default()
            .iter()
            .filter(below)
            .map(|m| format!("the mount at {}", m.mount_point.display())),
    );
    words
}
