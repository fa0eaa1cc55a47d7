//! All that decides what a build makes, and the key of its place in the cache.

use sha2::{Digest, Sha256};

use super::variant::Variant;

/// Changed by hand where this program builds differently from the same inputs.
const METHOD: &str = "1";

/// A change to Debian's source. A named tree is taken as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    /// The file's name in `kernel/patches`.
    pub name: &'static str,
    /// The patch, for `patch -p1`.
    pub text: &'static str,
}

/// The patches, in their order.
pub(super) const PATCHES: &[Patch] = &[
    Patch { name: "entropy.patch", text: include_str!("../../../../kernel/patches/entropy.patch") },
    Patch { name: "clock.patch", text: include_str!("../../../../kernel/patches/clock.patch") },
    Patch { name: "devices.patch", text: include_str!("../../../../kernel/patches/devices.patch") },
    Patch {
        name: "processor.patch",
        text: include_str!("../../../../kernel/patches/processor.patch"),
    },
    Patch { name: "speed.patch", text: include_str!("../../../../kernel/patches/speed.patch") },
    Patch {
        name: "registers.patch",
        text: include_str!("../../../../kernel/patches/registers.patch"),
    },
    Patch { name: "way.patch", text: include_str!("../../../../kernel/patches/way.patch") },
];

/// All that decides what a build makes.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub variant: Variant,
    pub patches: &'static [Patch],
    pub source: String,
    pub compiler: String,
    /// What OpenZFS is. It is not known before it is fetched.
    pub openzfs: Option<String>,
}

impl Recipe {
    /// The name of its folder in the cache.
    pub fn key(&self) -> String {
        short(&Sha256::digest(self.text()))
    }

    /// What stands in the folder's file `recipe`, for people and for [`matches`].
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\nsource {}\ncompiler {}\n",
            configuration(&self.variant, self.patches),
            self.source,
            self.compiler
        );
        if let Some(openzfs) = &self.openzfs {
            text += &format!("openzfs {openzfs}\n");
        }
        text
    }

    /// Whether a file `recipe` is of this one, and of any OpenZFS where none is
    /// named here.
    pub fn covers(&self, text: &str) -> bool {
        text.starts_with(&self.text())
    }
}

/// Whether a file `recipe` is of this configuration, whatever the source.
pub(super) fn matches(text: &str, variant: &Variant, patches: &[Patch]) -> bool {
    text.lines().next() == Some(&configuration(variant, patches))
}

fn configuration(variant: &Variant, patches: &[Patch]) -> String {
    let mut hash = Sha256::new();
    hash.update(METHOD);
    hash.update([0]);
    hash.update(variant.fragment);
    for patch in patches {
        hash.update([0]);
        hash.update(patch.name);
        hash.update([0]);
        hash.update(patch.text);
    }
    for edit in variant.edits {
        for part in [edit.file, edit.find, edit.replace] {
            hash.update([0]);
            hash.update(part);
        }
    }
    format!("configuration {}", short(&hash.finalize()))
}

/// The first 64 bits in hexadecimal: keys are not secrets, and few.
pub(super) fn short(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::variant::PLAIN;
    use super::super::zfs::Edit;
    use super::*;

    const PATCHED: &[Patch] = &[Patch { name: "a.patch", text: "--- a\n" }];
    const OTHERWISE: &[Patch] = &[Patch { name: "a.patch", text: "--- b\n" }];
    const EDITED: &[Edit] = &[Edit { file: "a.c", find: "a", times: 1, replace: "b" }];

    fn plain() -> Recipe {
        Recipe {
            variant: Variant { fragment: "CONFIG_A=y\n", ..PLAIN },
            patches: &[],
            source: "linux-source-6.12 6.12.117-1".into(),
            compiler: "gcc 12".into(),
            openzfs: None,
        }
    }

    #[test]
    fn every_input_changes_the_key() {
        let variant = plain().variant;
        let others = [
            plain(),
            Recipe {
                variant: Variant { fragment: "CONFIG_A=y\nCONFIG_B=y\n", ..variant },
                ..plain()
            },
            Recipe { variant: Variant { edits: EDITED, ..variant }, ..plain() },
            Recipe { patches: PATCHED, ..plain() },
            Recipe { patches: OTHERWISE, ..plain() },
            Recipe { source: "linux-source-6.12 6.12.118-1".into(), ..plain() },
            Recipe { compiler: "gcc 14".into(), ..plain() },
            Recipe { openzfs: Some("zfs-dkms 2.3.2-2".into()), ..plain() },
            Recipe { openzfs: Some("zfs-dkms 2.3.3-1".into()), ..plain() },
        ];
        let keys: BTreeSet<String> = others.iter().map(Recipe::key).collect();
        assert_eq!(keys.len(), others.len(), "{keys:?}");
        assert!(keys.iter().all(|key| key.len() == 16));
        assert_eq!(plain().key(), others[0].key());
    }

    #[test]
    fn a_kernel_of_another_source_still_has_the_configuration() {
        let recipe = Recipe { patches: PATCHED, source: "any".into(), ..plain() };
        let variant = recipe.variant;
        assert!(matches(&recipe.text(), &variant, recipe.patches));
        assert!(!matches(&recipe.text(), &variant, &[]));
        let other = Variant { fragment: "CONFIG_A=n\n", ..variant };
        assert!(!matches(&recipe.text(), &other, recipe.patches));
        let edited = Variant { edits: EDITED, ..variant };
        assert!(!matches(&recipe.text(), &edited, recipe.patches));
        assert!(!matches("", &variant, recipe.patches));
    }

    #[test]
    fn any_openzfs_will_do_where_none_is_named() {
        let named = Recipe { openzfs: Some("OpenZFS 2.3.2".into()), ..plain() };
        let other = Recipe { openzfs: Some("OpenZFS 2.3.20".into()), ..plain() };
        assert!(plain().covers(&named.text()));
        assert!(named.covers(&named.text()));
        assert!(!named.covers(&other.text()) && !other.covers(&named.text()));
        assert!(!named.covers(&plain().text()));
        let compiler = Recipe { compiler: "gcc 13".into(), ..plain() };
        assert!(!compiler.covers(&named.text()));
    }
}
