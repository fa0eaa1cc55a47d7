//! Unmounting, whatever still uses the file system.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::Invocation;

use super::users::{Holder, kill_users};
use super::{Hand, as_kernel_shows};
use crate::StackError;
use crate::mounts::mounts;

/// How long to go on trying before the last resort. Killed processes end within
/// milliseconds, except where they wait for a slow disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// Unmounts what is mounted at exactly `path`, all of it where mounts are
/// stacked.
pub(super) fn unmount(path: &Path, hand: &mut Hand<'_>) -> Result<bool, StackError> {
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
        failure = hand.executor.check(&umount).err();
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
        holders = kill_users(&path);
        if began.elapsed() >= PATIENCE {
            break;
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(500));
    }
    let lazy = Invocation::new("umount").args(["-c", "-l"]).arg(&path).uninterruptible();
    for _ in 0..left {
        hand.executor
            .check(&lazy)
            .map_err(|source| StackError::Program { layer: "unmount".to_owned(), source })?;
    }
    if mounted_at(&path)? > 0 {
        return Err(StackError::Other(format!("{} cannot be unmounted", path.display())));
    }
    let why = failure.map_or_else(String::new, |e| format!(": {e}"));
    hand.complaints.push(StackError::Other(format!(
        "{} was still in use{} and was only detached; its devices stay busy until that ends{why}",
        path.display(),
        by_whom(&path, &holders),
    )));
    Ok(true)
}

fn mounted_at(path: &Path) -> Result<usize, StackError> {
    Ok(mounts()?.iter().filter(|m| m.mount_point == path).count())
}

/// ' by …', as far as that is known.
fn by_whom(path: &Path, holders: &[Holder]) -> String {
    let mut words: Vec<String> = holders.iter().map(Holder::to_string).collect();
    let below =
        |m: &&disklab_measure::Mount| m.mount_point != path && m.mount_point.starts_with(path);
    words.extend(
        mounts()
            .unwrap_or_default()
            .iter()
            .filter(below)
            .map(|m| format!("the mount at {}", m.mount_point.display())),
    );
    if words.is_empty() { String::new() } else { format!(" by {}", words.join(", ")) }
}
