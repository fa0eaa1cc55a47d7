//! Properties of pools and data sets, told apart: `zpool create` wants `-o` for
//! the one and `-O` for the other (zpoolprops(7), zfsprops(7)).

use disklab_units::Bytes;

use disklab_cell::LayerSpec;
use disklab_source::{SourceError, did_you_mean, one_of};

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
    effect: Effect,
}

/// What a property does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It may change figures.
    Figures,
    /// It is set, and changes no figure.
    None,
    /// disklab decides it, so it is not set.
    NotSet,
}

/// What a property may be.
#[derive(Debug)]
enum Values {
    Words(&'static [&'static str]),
    Number(u32, u32),
    PowerOfTwo(Bytes, Bytes),
    Compression,
    /// Any word.
    Any,
}

const ON_OFF: Values = Values::Words(&["on", "off"]);
const CACHE: Values = Values::Words(&["all", "none", "metadata"]);

/// The ciphers of native encryption (zfsprops(7), `encryption`).
const CIPHERS: Values = Values::Words(&[
    "on",
    "off",
    "aes-128-ccm",
    "aes-192-ccm",
    "aes-256-ccm",
    "aes-128-gcm",
    "aes-192-gcm",
    "aes-256-gcm",
]);

/// The properties that a study may set: those that matter for speed, and those that lines of
/// `zpool create` often have.
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
    property(ENCRYPTION, Owner::Both, CIPHERS),
    plain(
        "acltype",
        Owner::FileSystem,
        Values::Words(&["off", "noacl", "nfsv4", "posix", "posixacl"]),
    ),
    plain("aclinherit", Owner::FileSystem, Values::Any),
    plain("aclmode", Owner::FileSystem, Values::Any),
    plain(
        "normalization",
        Owner::FileSystem,
        Values::Words(&["none", "formC", "formD", "formKC", "formKD"]),
    ),
    plain(
        "casesensitivity",
        Owner::FileSystem,
        Values::Words(&["sensitive", "insensitive", "mixed"]),
    ),
    plain("utf8only", Owner::FileSystem, ON_OFF),
    plain("devices", Owner::FileSystem, ON_OFF),
    plain("exec", Owner::FileSystem, ON_OFF),
    plain("setuid", Owner::FileSystem, ON_OFF),
    plain("nbmand", Owner::FileSystem, ON_OFF),
    plain("overlay", Owner::FileSystem, ON_OFF),
    plain("vscan", Owner::FileSystem, ON_OFF),
    plain("snapdir", Owner::FileSystem, Values::Words(&["hidden", "visible", "disabled"])),
    plain("snapdev", Owner::Both, Values::Words(&["hidden", "visible"])),
    plain("autoexpand", Owner::Pool, ON_OFF),
    plain("autoreplace", Owner::Pool, ON_OFF),
    plain("delegation", Owner::Pool, ON_OFF),
    plain("listsnapshots", Owner::Pool, ON_OFF),
    plain("failmode", Owner::Pool, Values::Words(&["wait", "continue", "panic"])),
    plain("comment", Owner::Pool, Values::Any),
    plain("compatibility", Owner::Pool, Values::Any),
    not_set("cachefile", Owner::Pool),
    not_set("altroot", Owner::Pool),
    not_set("multihost", Owner::Pool),
    not_set("mountpoint", Owner::FileSystem),
    not_set("canmount", Owner::FileSystem),
    not_set("sharenfs", Owner::FileSystem),
    not_set("sharesmb", Owner::FileSystem),
    not_set("keyformat", Owner::Both),
    not_set("keylocation", Owner::Both),
    not_set("pbkdf2iters", Owner::Both),
];

/// Native encryption.
pub(super) const ENCRYPTION: &str = "encryption";

const fn property(name: &'static str, owner: Owner, values: Values) -> Property {
    Property { name, owner, values, effect: Effect::Figures }
}

const fn plain(name: &'static str, owner: Owner, values: Values) -> Property {
    Property { name, owner, values, effect: Effect::None }
}

const fn not_set(name: &'static str, owner: Owner) -> Property {
    Property { name, owner, values: Values::Any, effect: Effect::NotSet }
}

/// Properties of any name: features of a pool, and users' own (zpool-features(7), zfsprops(7),
/// 'User Properties').
fn of_any_name(key: &str) -> Option<(Owner, Effect)> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.:@".contains(c);
    if !key.chars().all(fits) || key.starts_with('-') {
        return None;
    }
    match key.strip_prefix("feature@") {
        Some(_) => Some((Owner::Pool, Effect::Figures)),
        None if key.contains(':') => Some((Owner::Both, Effect::NotSet)),
        None => None,
    }
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
            Self::Any => !value.is_empty() && value.chars().all(|c| !c.is_control()),
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Words(words) => one_of(words.iter().copied()),
            Self::Number(low, high) => format!("an integer from {low} to {high}"),
            Self::PowerOfTwo(low, high) => format!("a power of two from {low} to {high}"),
            Self::Any => "a value".to_owned(),
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
pub(in crate::layers) struct Properties(Vec<Setting>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    name: String,
    owner: Owner,
    value: String,
    effect: Effect,
}

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
            if properties.get(name).is_some() {
                return Err(spec.error(format!("{}: `{name}` is set twice", spec.name)));
            }
            let free = of_any_name(name).filter(|(owner, _)| owners.contains(owner));
            if let Some((owner, effect)) = free {
                let (name, value) = (name.to_owned(), value.to_owned());
                properties.0.push(Setting { name, owner, value, effect });
                continue;
            }
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
            let Property { owner, effect, .. } = *property;
            let (name, value) = (name.to_owned(), property.values.written(value));
            properties.0.push(Setting { name, owner, value, effect });
        }
        Ok(properties)
    }

    /// The value of a property, as ZFS reads it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|set| set.name == name).map(|set| set.value.as_str())
    }

    /// The size that a property is set to.
    pub fn size(&self, name: &str) -> Option<Bytes> {
        self.get(name).and_then(size)
    }

    /// Arguments that set them: `pool` for the pool's, `other` for all others.
    pub fn args(&self, pool: &str, other: &str) -> Vec<String> {
        let pools = self.args_of(|owner| owner == Owner::Pool, pool);
        pools.into_iter().chain(self.args_of(|owner| owner != Owner::Pool, other)).collect()
    }

    /// Arguments that set those of the owners asked for.
    pub fn args_of(&self, of: impl Fn(Owner) -> bool, flag: &str) -> Vec<String> {
        let set = self.0.iter().filter(|set| of(set.owner) && set.effect != Effect::NotSet);
        set.flat_map(|set| [flag.to_owned(), format!("{}={}", set.name, set.value)]).collect()
    }

    /// Whether data are encrypted by ZFS itself.
    pub fn is_encrypted(&self) -> bool {
        self.get(ENCRYPTION).is_some_and(|cipher| cipher != "off")
    }

    /// What to say of those that change no figure.
    pub fn notes(&self) -> Vec<String> {
        let named = |effect| {
            let of_kind = self.0.iter().filter(|set| set.effect == effect);
            let words = of_kind.map(|set| format!("{}={}", set.name, set.value));
            Some(words.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
        };
        let set =
            named(Effect::None).map(|words| format!("set, without effect on figures: {words}"));
        let not = named(Effect::NotSet).map(|words| {
            format!("not set, without effect on figures, as disklab decides them: {words}")
        });
        set.into_iter().chain(not).collect()
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
    fn options_without_effect_are_accepted_and_named() {
        let text = "zfs[ashift=12,acltype=posixacl,xattr=sa,normalization=formD,canmount=off,\
                    autoexpand=on,com.sun:auto-snapshot=true,feature@lz4_compress=enabled]";
        let properties = Properties::parse(&spec(text), &[], POOL).expect("properties");
        assert_eq!(
            properties.args("-o", "-O").join(" "),
            "-o ashift=12 -o autoexpand=on -o feature@lz4_compress=enabled -O acltype=posixacl \
             -O xattr=sa -O normalization=formD"
        );
        assert_eq!(
            properties.notes(),
            [
                "set, without effect on figures: acltype=posixacl, normalization=formD, \
                 autoexpand=on",
                "not set, without effect on figures, as disklab decides them: canmount=off, \
                 com.sun:auto-snapshot=true",
            ]
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
            ("zfs[normalization=formX]", "'none', 'formC'"),
            ("zfs[encryption=rot13]", "'aes-256-gcm'"),
            ("zfs[comment]", "`comment`: expected a value, found ''"),
            ("zfs[a:b=1,a:b=2]", "`a:b` is set twice"),
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
