//! How much memory the guest was given.

use std::fs;

/// In bytes, by the kernel's command line: what the kernel counts depends on its parts.
pub(super) fn memory_bytes() -> Option<u64> {
    given(&fs::read_to_string("/proc/cmdline").ok()?)
}

/// The bytes of `mem=1048576K` (arch/um/kernel/physmem.c).
fn given(command_line: &str) -> Option<u64> {
    let word = command_line.split_whitespace().find_map(|word| word.strip_prefix("mem="))?;
    let kilobytes: u64 = word.strip_suffix('K')?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_kernels_command_line() {
        assert_eq!(given("mem=1048576K root=/dev/root ro"), Some(1 << 30));
        for line in ["", "root=/dev/root", "mem=1G", "mem=K", "mem=99999999999999999999K"] {
            assert_eq!(given(line), None, "{line}");
        }
    }
}
