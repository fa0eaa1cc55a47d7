//! Whether the configuration has what the lab needs.
//!
//! Kconfig drops an option whose dependencies are not met, and one it does not
//! know, without a word.

use std::collections::BTreeMap;

/// What every kernel of the lab has: `kernel/lab.config`, as Kconfig writes it.
pub(super) const FRAGMENT: &str = include_str!("../../../../kernel/lab.config");

/// Where a configuration differs from what was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Wanted options that are not there, or have another value.
    pub missing: Vec<String>,
    /// Unwanted ones that are there.
    pub unwanted: Vec<String>,
}

/// Compares a `.config` with the fragment that it was made from.
pub(super) fn compare(fragment: &str, config: &str) -> Differences {
    let have: BTreeMap<&str, &str> = settings(config).collect();
    let mut differences = Differences::default();
    for (name, value) in settings(fragment) {
        let found = have.get(name).copied().unwrap_or("n");
        if found == value {
            continue;
        }
        if value == "n" {
            differences.unwanted.push(name.to_owned());
        } else {
            differences.missing.push(format!("{name}={value}"));
        }
    }
    differences
}

/// Names and values; the value of an option that is off is `n`.
pub(super) fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("# ").and_then(|l| l.strip_suffix(" is not set")) {
            return name.starts_with("CONFIG_").then_some((name, "n"));
        }
        let (name, value) = line.split_once('=')?;
        name.starts_with("CONFIG_").then_some((name, value))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::variant::PLAIN;
    use super::*;

    #[test]
    fn dropped_options_are_named() {
        let fragment = "# why\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_C=8\nCONFIG_D=y\n\
                        # CONFIG_E is not set\n# CONFIG_F is not set\n# CONFIG_G is not set\n";
        let config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=7\nCONFIG_E=y\nCONFIG_F=n\n";
        let differences = compare(fragment, config);
        assert_eq!(differences.missing, ["CONFIG_B=y", "CONFIG_C=8", "CONFIG_D=y"]);
        assert_eq!(differences.unwanted, ["CONFIG_E"]);
    }

    /// What two parts are built on, each of which may be there without the other.
    const SHARED: [&str; 2] = ["CONFIG_SCSI", "CONFIG_BLK_DEV_SD"];

    #[test]
    fn the_fragments_name_each_option_once() {
        let mut seen = BTreeMap::new();
        let all = PLAIN.fragment();
        for (name, value) in settings(&all) {
            assert!(
                value == "y" || value == "n",
                "{name}={value}: the lab has no modules, so an option is on or off"
            );
            let before = seen.insert(name, value);
            let is_shared = before == Some(value) && SHARED.contains(&name);
            assert!(before.is_none() || is_shared, "{name} stands there twice");
        }
        for name in ["CONFIG_UML_TIME_TRAVEL_SUPPORT", "CONFIG_VIRTIO_UML", "CONFIG_HOSTFS"] {
            assert_eq!(seen.get(name), Some(&"y"), "{name}");
        }
    }

    #[test]
    fn a_kernel_that_was_built_has_nothing_unwanted() {
        let kernel = super::super::find(&super::super::cache_directory(), super::super::Parts::ALL);
        let config = kernel.and_then(|k| std::fs::read_to_string(k.with_file_name("config")).ok());
        let Some(config) = config else {
            eprintln!("skipped: needs the lab's kernel (disklab lab build)");
            return;
        };
        assert_eq!(compare(&PLAIN.fragment(), &config), Differences::default());
    }

    #[test]
    fn every_line_of_the_fragment_means_something() {
        for line in PLAIN.fragment().lines().filter(|l| l.contains("CONFIG_")) {
            let comment = line.starts_with("# ") && !line.ends_with(" is not set");
            assert!(comment || settings(line).count() == 1, "'{line}' says nothing");
        }
    }

    proptest! {
        #[test]
        fn hostile_text_is_only_text(fragment in "\\PC*", config in ".*") {
            let differences = compare(&fragment, &config);
            prop_assert!(differences.missing.len() <= fragment.lines().count());
        }

        #[test]
        fn a_configuration_has_all_of_itself(
            lines in proptest::collection::btree_map("CONFIG_[A-Z0-9_]{1,8}", "[ymn]|\"[a-z=]*\"", 0..20)
        ) {
            let text: String = lines.iter().map(|(k, v)| format!("{k}={v}\n")).collect();
            prop_assert_eq!(compare(&text, &text), Differences::default());
            let missing = compare(&text, "").missing.len();
            prop_assert_eq!(missing, lines.values().filter(|v| *v != "n").count());
        }
    }
}
