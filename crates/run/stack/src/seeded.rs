//! UUIDs and keys from a seed, so that two runs with the same seed make the
//! same thing, and a thing that was made can be told from one of the same name.

use sha2::{Digest, Sha256};

use crate::LayerContext;

/// A UUID, version 4 in form (RFC 9562), that depends on the context's seed, tag and branch and on
/// `what` alone.
pub(crate) fn uuid(context: &LayerContext<'_>, what: &str) -> String {
    let text = format!("{}/{}/{}{what}", context.seed, context.tag, context.branch);
    let mut bytes: Vec<u8> = Sha256::digest(text).iter().take(16).copied().collect();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// An LVM UUID: 32 letters and digits in groups of 6-4-4-4-4-4-6
/// (`lib/uuid/uuid.c` in LVM2).
pub(crate) fn lvm_uuid(uuid: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut text = String::new();
    for (index, byte) in Sha256::digest(uuid).iter().enumerate() {
        if (6..=26).contains(&index) && (index - 6) % 4 == 0 {
            text.push('-');
        }
        text.push(char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
    }
    text
}

/// A key of 64 hexadecimal digits. Not a secret: the run holds it.
pub(crate) fn key(uuid: &str) -> String {
    hex(&Sha256::digest(uuid))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_depends_on_all_that_tells_things_apart() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = disklab_exec::Executor::default();
        let mut ledger = crate::Ledger::open(directory.path()).expect("a ledger");
        let mut of = |seed, tag: &str, branch: &str, what: &str| {
            let path = directory.path();
            let mut context = LayerContext::new(&executor, &mut ledger, path, tag, seed);
            context.branch = branch.to_owned();
            uuid(&context, what)
        };
        let all = [
            of(1, "a1", "", "array"),
            of(2, "a1", "", "array"),
            of(1, "a2", "", "array"),
            of(1, "a1", "journal:", "array"),
            of(1, "a1", "", "pool"),
        ];
        // SHA-256 of '1/a1/array', with the bits of version 4.
        assert_eq!(all[0], "cca8e560-a442-4ce5-b935-cfd6665bb24a");
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }

    #[test]
    fn forms() {
        let lvm = lvm_uuid("a");
        let groups: Vec<_> = lvm.split('-').map(str::len).collect();
        assert_eq!(groups, [6, 4, 4, 4, 4, 4, 6], "{lvm}");
        assert_ne!(lvm, lvm_uuid("b"));
        assert_eq!(key("a").len(), 64);
    }
}
