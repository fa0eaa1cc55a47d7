//! The kinds of work that are charged for.

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeCost {
    /// Its word in processor files.
    pub word: &'static str,
    /// Its parameter of the lab's kernel, behind [`PARAMETERS`].
    pub parameter: &'static str,
    /// How it is counted.
    pub unit: CostUnit,
}

/// How work is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostUnit {
    /// A time for each piece of it, in the table `[each]`.
    Each,
    /// A rate at which bytes are worked off, in the table `[rates]`.
    Rate,
}

/// What the parameters on the kernel's command line begin with
/// (`arch/um/kernel/charge.c` of the patched kernel).
pub const PARAMETERS: &str = "charge.";

const fn each(word: &'static str, parameter: &'static str) -> ChargeCost {
    ChargeCost { word, parameter, unit: CostUnit::Each }
}

const fn rate(word: &'static str, parameter: &'static str) -> ChargeCost {
    ChargeCost { word, parameter, unit: CostUnit::Rate }
}

/// All of them. A new one is a line here and one in the kernel.
pub const COSTS: [ChargeCost; 16] = [
    // All but reading a clock, which is none elsewhere (vDSO).
    each("system-call", "syscall"),
    // A request to a block device, and again for each that a layer makes of it;
    // with its interrupt and the change to another task.
    each("bio", "bio"),
    each("request", "request"),
    // Between programs and kernel, and into md's stripe cache.
    rate("copy", "copy"),
    // CRC-32 and CRC-32C by tables: Btrfs, and the metadata of ext4 and XFS.
    rate("crc32", "crc32"),
    rate("xxhash", "xxhash"),
    rate("sha256", "sha256"),
    rate("blake2b", "blake2b"),
    // Bytes of sources, of which each is combined with the parity.
    rate("xor", "xor"),
    // Bytes of data, from which P and Q are computed together.
    rate("raid6", "pq"),
    // Bytes before compression, as all that follow.
    rate("zlib", "zlib"),
    rate("zlib-decompress", "zlib_decompress"),
    rate("lzo", "lzo"),
    rate("lzo-decompress", "lzo_decompress"),
    rate("zstd", "zstd"),
    rate("zstd-decompress", "zstd_decompress"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_kernel_has_a_parameter_for_each_and_no_other() {
        let patch = include_str!("../../../../kernel/patches/processor.patch");
        let found: BTreeSet<&str> = patch
            .lines()
            .filter_map(|line| line.strip_prefix("+COST("))
            .filter_map(|line| line.split(',').next())
            .collect();
        let known: BTreeSet<&str> = COSTS.iter().map(|cost| cost.parameter).collect();
        assert_eq!(found, known);
        assert_eq!(known.len(), COSTS.len());
        let words: BTreeSet<&str> = COSTS.iter().map(|cost| cost.word).collect();
        assert_eq!(words.len(), COSTS.len());
    }
}
