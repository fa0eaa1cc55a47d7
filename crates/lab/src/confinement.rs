//! What the guest may change on this machine: its own folders, and no more.
//!
//! The guest's root is this machine's, read-only; but a guest can mount the host
//! again. So the kernel's process is confined by Landlock, which holds whatever
//! the guest does, also for root.

use std::path::Path;

use landlock::{
    ABI, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
};

use crate::LabError;

/// With truncation, from Linux 6.2 on. Older systems enforce what they know.
const KNOWN: ABI = ABI::V3;

/// The version of this system's Landlock (landlock(7)); `None` where it has none, or
/// it is switched off. Guests are then confined by their read-only root alone, which
/// one that mounts the host again gets around.
#[allow(unsafe_code)]
pub fn landlock_version() -> Option<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION` (`include/uapi/linux/landlock.h`).
    const VERSION: libc::c_uint = 1;
    let attributes = std::ptr::null::<libc::c_void>();
    // SAFETY: asked for its version, the call takes no attributes.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attributes, 0_usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Rules by which only `folders` can be written to.
pub(crate) fn only(folders: &[&Path]) -> Result<RulesetCreated, LabError> {
    let writing = AccessFs::from_write(KNOWN);
    let failed =
        |what: String, e: String| LabError::System { what, source: std::io::Error::other(e) };
    let confine = || "confine the kernel to its folders".to_owned();
    let mut rules = Ruleset::default()
        .handle_access(writing)
        .and_then(Ruleset::create)
        .map_err(|e| failed(confine(), e.to_string()))?;
    // The consoles that are not used write to /dev/null.
    let null = (Path::new("/dev/null"), writing & AccessFs::from_file(KNOWN));
    for (path, access) in folders.iter().map(|f| (*f, writing)).chain([null]) {
        let what = || format!("let the kernel write to '{}'", path.display());
        let place = PathFd::new(path).map_err(|e| failed(what(), e.to_string()))?;
        rules = rules
            .add_rule(PathBeneath::new(place, access))
            .map_err(|e| failed(confine(), e.to_string()))?;
    }
    Ok(rules)
}
