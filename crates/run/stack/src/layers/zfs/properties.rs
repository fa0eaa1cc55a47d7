//! Properties of pools and data sets, told apart: `zpool create` wants `-o` for
//! the one and `-O` for the other (zpoolprops(7), zfsprops(7)).

use disklab_units::Bytes;

use disklab_source::{SourceError, did_you_mean, one_of};
use disklab_study::LayerSpec;

/// What a property belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::layers) enum Owner {
    Pool,
    FileSystem,
    /// File systems and volumes.
    Both,
    /// Volumes.
    Volume,
}

#[derive(Debug)]
struct Property {
    name: &'static str,
    owner: Owner,
    values: Values,
}

/// What a property may be.
#[derive(Debug)]
enum Values {
    Words(&'static [&'static str]),
    Number(u32, u32),
    PowerOfTwo(Bytes, Bytes),
    Compression,
}

const ON_OFF: Values = Values::Words(&["on", "off"]);
const CACHE: Values = Values::Words(&["all", "none", "metadata"]);

/// The properties that a study may set: those that matter for speed.
const PROPERTIES: &[Property] = &[
    property("ashift", Owner::Pool, Values::Number(9, 16)),
    property("autotrim", Owner::Pool, ON_OFF),
    property("recordsize", Owner::FileSystem, Values::PowerOfTwo(Bytes(512), Bytes::mib(16))),
    property("volblocksize", Owner::Volume, Values::PowerOfTwo(Bytes(512), Bytes::mib(16))),
    property("compression", Owner::Both, Values::Compression),
    property(
        "checksum",
        Owner::Both,
        Values::Words(&[
            "on",
            "off",
            "fletcher2",
            "fletcher4",
            "sha256",
            "sha512",
            "skein",
            "edonr",
            "blake3",
        ]),
    ),
    property("atime", Owner::FileSystem, ON_OFF),
    property("relatime", Owner::FileSystem, ON_OFF),
    property("sync", Owner::Both, Values::Words(&["standard", "always", "disabled"])),
    property("primarycache", Owner::Both, CACHE),
    property("secondarycache", Owner::Both, CACHE),
    property("prefetch", Owner::Both, CACHE),
    property("direct", Owner::FileSystem, Values::Words(&["standard", "always", "disabled"])),
    property("logbias", Owner::Both, Values::Words(&["latency", "throughput"])),
    property("copies", Owner::Both, Values::Number(1, 3)),
    property("dedup", Owner::Both, Values::Words(&["on", "off", "verify", "sha256", "blake3"])),
    property("xattr", Owner::FileSystem, Values::Words(&["on", "off", "sa", "dir"])),
    property(
        "dnodesize",
        Owner::FileSystem,
        Values::Words(&["legacy", "auto", "1k", "2k", "4k", "8k", "16k"]),
    ),
    property("redundant_metadata", Owner::Both, Values::Words(&["all", "most", "some", "none"])),
];

const fn property(name: &'static str, owner: Owner, values: Values) -> Property {
    Property { name, owner, values }
}

impl Values {
    fn allow(&self, value: &str) -> bool {
        match self {
            Self::Words(words) => words.contains(&value),
            Self::Number(low, high) => value.parse().is_ok_and(|n| (*low..=*high).contains(&n)),
            Self::PowerOfTwo(low, high) => {
                size(value).is_some_and(|n| n.0.is_power_of_two() && n >= *low && n <= *high)
            }
            Self::Compression => is_compression(value),
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Words(words) => one_of(words.iter().copied()),
            Self::Number(low, high) => format!("an integer from {low} to {high}"),
            Self::PowerOfTwo(low, high) => format!("a power of two from {low} to {high}"),
            Self::Compression => {
                "a compression such as lz4, zstd, zstd-3, gzip-6 or off".to_owned()
            }
        }
    }

    /// As ZFS reads it: sizes as plain numbers.
    fn written(&self, value: &str) -> String {
        match (self, size(value)) {
            (Self::PowerOfTwo(..), Some(size)) => size.0.to_string(),
            _ => value.to_owned(),
        }
    }
}

fn size(text: &str) -> Option<Bytes> {
    text.parse().ok()
}

/// Whether `word` names a compression (zfsprops(7), `compression`).
fn is_compression(word: &str) -> bool {
    const PLAIN: [&str; 8] = ["on", "off", "lz4", "lzjb", "zle", "gzip", "zstd", "zstd-fast"];
    let level = |prefix: &str, high: u32| {
        let level = word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        level.is_some_and(|n: u32| (1..=high).contains(&n) && !word.contains('+'))
    };
    PLAIN.contains(&word) || level("gzip-", 9) || level("zstd-", 19) || level("zstd-fast-", 1000)
}

/// The properties that a layer sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::layers) struct Properties(Vec<(&'static str, Owner, String)>);

impl Properties {
    /// Reads the options of `spec` but for those in `own`, which the layer reads
    /// itself; `owners` says what may be set. A word alone is a compression.
    ///
    /// # Errors
    /// Where an option is unknown, set twice, or has an odd value.
    pub fn parse(spec: &LayerSpec, own: &[&str], owners: &[Owner]) -> Result<Self, SourceError> {
        let known = || PROPERTIES.iter().filter(|p| owners.contains(&p.owner));
        let mut properties = Self::default();
        for (key, value) in &spec.options {
            if own.contains(&key.as_str()) {
                continue;
            }
            let (name, value) = match value {
                None if is_compression(key) => ("compression", key.as_str()),
                None => (key.as_str(), ""),
                Some(value) => (key.as_str(), value.as_str()),
            };
            let property = known().find(|p| p.name == name).ok_or_else(|| {
                let names = own.iter().copied().chain(known().map(|p| p.name));
                spec.error(format!(
                    "'{key}' is not an option of {}{}; expected a compression or {}",
                    spec.name,
                    did_you_mean(key, names.clone()),
                    one_of(names)
                ))
            })?;
            if !property.values.allow(value) {
                return Err(spec.error(format!(
                    "{}: `{name}`: expected {}, found '{value}'",
                    spec.name,
                    property.values.expected()
                )));
            }
            if properties.get(name).is_some() {
                return Err(spec.error(format!("{}: `{name}` is set twice", spec.name)));
            }
            properties.0.push((property.name, property.owner, property.values.written(value)));
        }
        Ok(properties)
    }

    /// The value of a property, as ZFS reads it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _, _)| *n == name).map(|(_, _, value)| value.as_str())
    }

    /// The size that a property is set to.
    pub fn size(&self, name: &str) -> Option<Bytes> {
        self.get(name).and_then(size)
    }

    /// Arguments that set them: `pool` for the pool's, `other` for all others.
    pub fn args(&self, pool: &str, other: &str) -> Vec<String> {
        let arg = |(name, owner, value): &(&str, Owner, String)| {
            let flag = if *owner == Owner::Pool { pool } else { other };
            [flag.to_owned(), format!("{name}={value}")]
        };
        self.0.iter().flat_map(arg).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::tests::spec;

    const POOL: &[Owner] = &[Owner::Pool, Owner::FileSystem, Owner::Both];

    #[test]
    fn pool_and_data_set_are_distinguished() {
        let properties =
            Properties::parse(&spec("zfs[ashift=12,lz4,recordsize=1M,atime=off]"), &[], POOL);
        assert_eq!(
            properties.expect("properties").args("-o", "-O").join(" "),
            "-o ashift=12 -O compression=lz4 -O recordsize=1048576 -O atime=off"
        );
    }

    #[test]
    fn compressions() {
        for word in ["on", "off", "lz4", "zstd", "zstd-19", "zstd-fast-10", "gzip-1", "zle"] {
            assert!(is_compression(word), "{word}");
        }
        for word in ["", "zstd-20", "zstd-", "gzip-0", "gzip-+1", "lz5", "zstd--1"] {
            assert!(!is_compression(word), "{word}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, words) in [
            ("zfs[ashift=8]", "`ashift`: expected an integer from 9 to 16, found '8'"),
            ("zfs[recordsize=100K]", "a power of two from 512 B to 16 MiB"),
            ("zfs[volblocksize=16K]", "'volblocksize' is not an option of zfs"),
            ("zfs[lz4,compression=off]", "`compression` is set twice"),
            ("zfs[atime]", "`atime`: expected 'on' or 'off', found ''"),
            ("zfs[recordsze=1M]", "did you mean 'recordsize'"),
            ("zfs[sync=never]", "'standard', 'always' or 'disabled'"),
        ] {
            let error = Properties::parse(&spec(text), &[], POOL).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }

    proptest! {
        #[test]
        fn no_option_panics(key in ".{0,12}", value in prop::option::of(".{0,12}")) {
            let mut spec = spec("zfs");
            spec.options = vec![(key, value)];
            let _ = Properties::parse(&spec, &["width"], POOL);
        }
    }
}
