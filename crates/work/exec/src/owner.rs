//! A mark in the environment of every program, by which programs that outlive
//! disklab can be told from others.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

/// The variable that holds [`owner`] in the environment of every program that an
/// [`Executor`](crate::Executor) starts, and of what these start in turn.
pub const OWNER_VARIABLE: &str = "DISKLAB_OWNER";

/// A word for this process: no other process, before or after, has the same. A
/// process id alone comes again, and means another process in a container.
pub fn owner() -> &'static str {
    static OWNER: OnceLock<String> = OnceLock::new();
    // The standard library seeds this from the system's source of randomness.
    OWNER.get_or_init(|| {
        let random = RandomState::new().build_hasher().finish();
        // Of one length: the guest's kernel keeps a path with it, whose length counts in its memory.
        format!("{:07}-{random:016x}", std::process::id())
    })
}
