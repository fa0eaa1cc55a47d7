//! Where the guest's process may write: its own directories, and nowhere else. It reads all
//! but devices.
//!
//! The guest's root is this machine's, read-only; but a guest can mount the host
//! again. So the kernel's process is confined by Landlock, which holds whatever
//! the guest does, also for root.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, Scope,
};

use super::ConfinementSupport;
use crate::LabError;

/// With truncation, from Linux 6.2 on. Older systems enforce what they know.
const WRITING: ABI = ABI::V3;
/// Signals to processes that are not confined alike, from Linux 6.12 on.
const SIGNALS: ABI = ABI::V6;

/// What is done to a directory that can be written to. Devices are not made there: root's
/// guest could make one for a drive of this machine, and write to it.
fn within_writable() -> BitFlags<AccessFs> {
    AccessFs::from_write(WRITING) & !(AccessFs::MakeChar | AccessFs::MakeBlock) | AccessFs::ReadFile
}

/// What can be read: all but the devices. What is read from a terminal, its user's
/// programs miss, and some devices do something when they are opened.
fn readable() -> Vec<PathBuf> {
    const OF_DEV: [&str; 4] = ["/dev/random", "/dev/urandom", "/dev/zero", "/dev/shm"];
    let root = Path::new("/");
    // A root that cannot be listed is read as a whole.
    let Ok(entries) = std::fs::read_dir(root) else { return vec![root.to_owned()] };
    let all = entries.flatten().map(|entry| entry.path());
    all.filter(|path| path != Path::new("/dev")).chain(OF_DEV.map(PathBuf::from)).collect()
}

/// Rules by which only what is in `writable` can be changed, and only the sockets in
/// `sockets` be connected to.
pub(super) fn only(
    support: ConfinementSupport,
    writable: &[&Path],
    sockets: Option<&Path>,
) -> Result<RulesetCreated, LabError> {
    let failed =
        |what: String, e: String| LabError::System { what, source: std::io::Error::other(e) };
    let confine = || "confine the kernel to its directories".to_owned();
    let handled = AccessFs::from_write(WRITING) | AccessFs::ResolveUnix | AccessFs::ReadFile;
    let scope = if support.keeps_signals() { Scope::from_all(SIGNALS) } else { BitFlags::EMPTY };
    let mut rules = Ruleset::default()
        .handle_access(handled)
        .and_then(|rules| if scope.is_empty() { Ok(rules) } else { rules.scope(scope) })
        .and_then(Ruleset::create)
        .map_err(|e| failed(confine(), e.to_string()))?;
    // The consoles that are not used write to /dev/null.
    let null_access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::ReadFile;
    let null = (Path::new("/dev/null"), null_access);
    let places = writable.iter().map(|place| (*place, within_writable()));
    let connects = sockets.map(|place| (place, BitFlags::from(AccessFs::ResolveUnix)));
    for (path, access) in places.chain([null]).chain(connects) {
        let what = || format!("let the kernel write to '{}'", path.display());
        let place = PathFd::new(path).map_err(|e| failed(what(), e.to_string()))?;
        rules = rules
            .add_rule(PathBeneath::new(place, access))
            .map_err(|e| failed(confine(), e.to_string()))?;
    }
    // What cannot be opened, such as a link that leads nowhere, cannot be read either.
    for place in readable().into_iter().filter_map(|path| PathFd::new(path).ok()) {
        let readable = PathBeneath::new(place, AccessFs::ReadFile);
        rules = rules.add_rule(readable).map_err(|e| failed(confine(), e.to_string()))?;
    }
    Ok(rules)
}
