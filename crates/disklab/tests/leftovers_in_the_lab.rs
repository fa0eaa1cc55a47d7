//! What the user made on arrays, volume groups and mappings of a killed run stays, on
//! drives of the lab's guests: few machines have all these layers.
#![allow(missing_docs)]

mod lab_support;

use lab_support::boot;

const STUDY: (&str, &str) = ("leftovers.toml", include_str!("lab_support/leftovers.toml"));
/// The UUID of the user's file system, as in the script.
const THEIRS: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn a_file_system_of_the_users_on_layers_of_a_killed_run_stays() {
    let script = include_str!("lab_support/leftovers.sh");
    let Some((guest, ())) = boot(script, &[STUDY], &[128, 128, 128], |_| ()) else { return };
    assert!(!guest.console.contains("not the user's"), "{}", guest.console);
    for layout in ["md", "lvm", "crypt", "integrity"] {
        guest.said(&format!("killed-{layout}"), &[137]);
        let left = guest.case(&format!("left-{layout}"));
        assert_eq!(left.code, 0, "{layout}: {}", left.stderr);
        for word in [THEIRS, "--discard", "--keep"] {
            assert!(left.stdout.contains(word), "{layout}: no '{word}' in {}", left.stdout);
        }
        let discarded = guest.case(&format!("discarded-{layout}"));
        assert_eq!(discarded.code, 0, "{layout}: {}", discarded.stderr);
        assert_eq!(discarded.standing_after(), "", "{layout}");
    }
}
