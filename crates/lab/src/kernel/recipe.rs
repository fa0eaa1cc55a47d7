//! All that decides what a build makes, and the key of its place in the cache.

use sha2::{Digest, Sha256};

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
pub(super) const PATCHES: &[Patch] = &[Patch {
    name: "entropy.patch",
    text: include_str!("../../../../kernel/patches/entropy.patch"),
}];

/// All that decides what a build makes.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub fragment: &'static str,
    pub patches: &'static [Patch],
    pub source: String,
    pub compiler: String,
}

impl Recipe {
    /// The name of its folder in the cache.
    pub fn key(&self) -> String {
        short(&Sha256::digest(self.text()))
    }

    /// What stands in the folder's file `recipe`, for people and for [`matches`].
    pub fn text(&self) -> String {
        format!(
            "{}\nsource {}\ncompiler {}\n",
            configuration(self.fragment, self.patches),
            self.source,
            self.compiler
        )
    }
}

/// Whether a file `recipe` is of this configuration, whatever the source.
pub(super) fn matches(text: &str, fragment: &str, patches: &[Patch]) -> bool {
    text.lines().next() == Some(&configuration(fragment, patches))
}

fn configuration(fragment: &str, patches: &[Patch]) -> String {
    let mut hash = Sha256::new();
    hash.update(METHOD);
    hash.update([0]);
    hash.update(fragment);
    for patch in patches {
        hash.update([0]);
        hash.update(patch.name);
        hash.update([0]);
        hash.update(patch.text);
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

    use super::*;

    const PATCHED: &[Patch] = &[Patch { name: "a.patch", text: "--- a\n" }];
    const OTHERWISE: &[Patch] = &[Patch { name: "a.patch", text: "--- b\n" }];

    #[test]
    fn every_input_changes_the_key() {
        let plain = Recipe {
            fragment: "CONFIG_A=y\n",
            patches: &[],
            source: "linux-source-6.12 6.12.117-1".into(),
            compiler: "gcc 12".into(),
        };
        let others = [
            plain.clone(),
            Recipe { fragment: "CONFIG_A=y\nCONFIG_B=y\n", ..plain.clone() },
            Recipe { patches: PATCHED, ..plain.clone() },
            Recipe { patches: OTHERWISE, ..plain.clone() },
            Recipe { source: "linux-source-6.12 6.12.118-1".into(), ..plain.clone() },
            Recipe { compiler: "gcc 14".into(), ..plain.clone() },
        ];
        let keys: BTreeSet<String> = others.iter().map(Recipe::key).collect();
        assert_eq!(keys.len(), others.len(), "{keys:?}");
        assert!(keys.iter().all(|key| key.len() == 16));
        assert_eq!(plain.key(), others[0].key());
    }

    #[test]
    fn a_kernel_of_another_source_still_has_the_configuration() {
        let recipe = Recipe {
            fragment: "CONFIG_A=y\n",
            patches: PATCHED,
            source: "any".into(),
            compiler: "any".into(),
        };
        assert!(matches(&recipe.text(), recipe.fragment, recipe.patches));
        assert!(!matches(&recipe.text(), recipe.fragment, &[]));
        assert!(!matches(&recipe.text(), "CONFIG_A=n\n", recipe.patches));
        assert!(!matches("", recipe.fragment, recipe.patches));
    }
}
