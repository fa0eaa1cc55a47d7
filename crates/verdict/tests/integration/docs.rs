//! The table of docs/audits.md is that of the audits. `UPDATE=1` writes it anew.

use std::path::Path;

const BEGIN: &str = "<!-- The audits: written by `UPDATE=1 cargo test -p disklab-verdict --test integration docs`. -->\n";
const END: &str = "<!-- The end of the audits. -->\n";

#[test]
fn the_documentation_has_every_audit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audits.md");
    let text = std::fs::read_to_string(&path).expect("docs/audits.md");
    let (before, rest) = text.split_once(BEGIN).expect("the mark where the audits begin");
    let (_, after) = rest.split_once(END).expect("the mark where they end");
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", disklab_verdict::audits_markdown());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
    } else {
        assert!(
            text == wanted,
            "docs/audits.md is not up to date: UPDATE=1 cargo test -p disklab-verdict --test integration docs"
        );
    }
}
