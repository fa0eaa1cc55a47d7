//! All that decides what a build makes, and the key of its place in the cache.

use sha2::{Digest, Sha256};

use super::digest::{hex, short};
use super::make::ARGUMENTS;
use super::parts::Parts;
use super::patches::Patch;
use super::source::NAMED_SOURCE;
use super::variant::Variant;

/// Changed by hand where this program builds differently from the same inputs.
const METHOD: &str = "2";

/// How the kernel's objects are compiled, besides what its Makefiles say: `KCFLAGS` in
/// `kernel/make-arguments`. `-O1` in place of `-O2` takes a quarter less of the build's time, and
/// the kernel runs nearly as fast. All of it lies below 2 GiB (`START` in arch/um/Makefile), so that calls
/// need no address of 64 bits, as those of the large model in arch/x86/Makefile.um do; and copies of a few
/// bytes need no call (docs/internals/lab-speed.md). `headers/cc` knows the last one.
const FLAGS: &str = "-mcmodel=small -fbuiltin -O1";

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
    /// The name of its directory in the cache.
    pub fn key(&self) -> String {
        short(&Sha256::digest(self.text()))
    }

    /// The text of the directory's file `recipe`, for people and for [`parts_of`].
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\n{PARTS}{}\nsource {}\ncompiler {} {FLAGS}\n",
            configuration(&self.variant, self.patches),
            self.variant.parts,
            self.source,
            self.compiler
        );
        if let Some(openzfs) = &self.openzfs {
            text += &format!("openzfs {openzfs}\n");
        }
        text
    }

    /// The parts of the kernel that was made by a file `recipe`, where that is this one, or
    /// would be with more parts; of any OpenZFS if none is named here.
    pub fn parts_covered_by(&self, text: &str) -> Option<Parts> {
        let parts = parts_in(text).filter(|parts| parts.contain(self.variant.parts))?;
        let larger = Self { variant: self.variant.with(parts), ..self.clone() };
        text.starts_with(&larger.text()).then_some(parts)
    }

    /// All that decides what its objects are, but for the options, on which `make` knows
    /// what depends: a tree of objects serves all recipes that have this in common.
    /// `scripts/kernel` writes the same.
    pub fn tree_text(&self) -> String {
        let mut patches = Sha256::new();
        for patch in self.patches {
            patches.update(patch.text);
        }
        let patches = hex(&patches.finalize());
        let Self { source, compiler, .. } = self;
        format!("source {source}\ncompiler {compiler} {FLAGS}\npatches {patches}\n")
    }
}

/// What the line with a recipe's parts begins with.
const PARTS: &str = "parts ";

fn parts_in(text: &str) -> Option<Parts> {
    text.lines().nth(1)?.strip_prefix(PARTS)?.parse().ok()
}

/// The parts of the kernel that was made by a file `recipe`, where it has those of the
/// variant and all that they need, of any package of the source; not of a source that the user
/// named.
pub(super) fn parts_of(text: &str, variant: &Variant, patches: &[Patch]) -> Option<Parts> {
    let source = text.lines().find_map(|line| line.strip_prefix("source "))?;
    // Of what is somebody's own work, only they know when it is meant.
    if source.starts_with(NAMED_SOURCE) {
        return None;
    }
    let parts = parts_in(text).filter(|parts| parts.contain(variant.parts))?;
    let same = text.lines().next() == Some(&configuration(&variant.with(parts), patches));
    same.then_some(parts)
}

fn configuration(variant: &Variant, patches: &[Patch]) -> String {
    let mut hash = Sha256::new();
    for part in [METHOD, ARGUMENTS, &variant.fragment()] {
        hash.update(part);
        hash.update([0]);
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::patches::PATCHES_6_12;
    use super::super::variant::PLAIN;
    use super::super::zfs::Edit;
    use super::*;

    const PATCHED: &[Patch] = &[Patch { name: "a.patch", text: "--- a\n" }];
    const OTHERWISE: &[Patch] = &[Patch { name: "a.patch", text: "--- b\n" }];
    const EDITED: &[Edit] = &[Edit { file: "a.c", find: "a", times: 1, replace: "b" }];

    fn plain() -> Recipe {
        Recipe {
            variant: Variant { base: "CONFIG_A=y\n", parts: Parts::NONE, ..PLAIN },
            patches: &[],
            source: "linux-source-6.12 6.12.117-1".into(),
            compiler: "gcc 12".into(),
            openzfs: None,
        }
    }

    #[test]
    fn scripts_know_the_same_patches_and_arguments() {
        let series = include_str!("../../../../kernel/patches/series");
        assert!(series.lines().eq(PATCHES_6_12.iter().map(|patch| patch.name)), "{series}");
        let flags = format!("KCFLAGS={FLAGS}");
        assert!(ARGUMENTS.lines().any(|argument| argument == flags), "{ARGUMENTS}");
        let compiler = include_str!("../../../../kernel/headers/cc");
        let last = FLAGS.rsplit(' ').next().expect("a flag");
        assert!(compiler.contains(&format!("\n    {last}) common=common ;;\n")));
    }

    #[test]
    fn every_input_changes_the_key() {
        let variant = plain().variant;
        let others = [
            plain(),
            Recipe { variant: Variant { base: "CONFIG_A=y\nCONFIG_B=y\n", ..variant }, ..plain() },
            Recipe { variant: variant.with(Parts::ALL), ..plain() },
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
        let parts = |variant: Variant, patches| parts_of(&recipe.text(), &variant, patches);
        assert_eq!(parts(variant, recipe.patches), Some(Parts::NONE));
        assert_eq!(parts(variant, &[]), None);
        assert_eq!(parts(Variant { base: "CONFIG_A=n\n", ..variant }, recipe.patches), None);
        assert_eq!(parts(Variant { edits: EDITED, ..variant }, recipe.patches), None);
        assert_eq!(parts_of("", &variant, recipe.patches), None);
    }

    #[test]
    fn kernel_with_more_parts_covers_what_is_needed() {
        let with = |parts: &str| Recipe {
            variant: plain().variant.with(parts.parse().expect("parts")),
            ..plain()
        };
        let (small, large) = (with("ext4"), with("ext4 xfs"));
        assert_eq!(small.parts_covered_by(&large.text()), Some(large.variant.parts));
        assert_eq!(large.parts_covered_by(&small.text()), None);
        assert_eq!(with("btrfs").parts_covered_by(&large.text()), None);
        let parts = parts_of(&large.text(), &small.variant, &[]);
        assert_eq!(parts, Some(large.variant.parts));
        // Its options are not those that it says.
        let lies = large.text().replace("parts ext4 xfs", "parts ext4 xfs btrfs");
        assert_eq!(parts_of(&lies, &small.variant, &[]), None);
        assert_eq!(small.tree_text(), large.tree_text());
        let other = Recipe { compiler: "gcc 14".into(), ..small.clone() };
        assert_ne!(small.tree_text(), other.tree_text());
        assert_ne!(small.tree_text(), Recipe { patches: PATCHED, ..small.clone() }.tree_text());
    }

    #[test]
    fn any_openzfs_will_do_where_none_is_named() {
        let named = Recipe { openzfs: Some("OpenZFS 2.3.2".into()), ..plain() };
        let other = Recipe { openzfs: Some("OpenZFS 2.3.20".into()), ..plain() };
        let covers = |one: &Recipe, by: &Recipe| one.parts_covered_by(&by.text()).is_some();
        assert!(covers(&plain(), &named));
        assert!(covers(&named, &named));
        assert!(!covers(&named, &other) && !covers(&other, &named));
        assert!(!covers(&named, &plain()));
        let compiler = Recipe { compiler: "gcc 13".into(), ..plain() };
        assert!(!covers(&compiler, &named));
    }
}
